use super::*;
use crate::import::source::Refusal;
use crate::import::testing::{Enormous, identifiers, metadata, options, read_bytes, read_stream, reasons};
use crate::import::{Content, Fields};

fn read(text: &str) -> Drafted {
    read_bytes("records.jsonl", text.as_bytes(), &options())
}

fn only(text: &str) -> String {
    let drafted = read(text);
    assert_eq!(reasons(&drafted), Vec::<String>::new());
    assert_eq!(drafted.drafts.len(), 1);
    metadata(&drafted.drafts[0]).to_owned()
}

#[test]
fn flat_lines_become_dublin_core() {
    let drafted = read(
        r#"{"identifier":"map-001","sets":["maps:city","theses"],"title":"A & B","creator":["Müller","Петровић"],"subject":[{"value":"Karten","lang":"de"}],"date":1750,"dc:identifier":"https://example.org/1"}"#,
    );
    let draft = &drafted.drafts[0];
    assert_eq!(draft.identifier.as_str(), "oai:example.org:map-001");
    assert_eq!(
        draft.set_specs.iter().map(SetSpec::as_str).collect::<Vec<_>>(),
        ["maps:city", "theses"]
    );
    assert_eq!(
        metadata(draft),
        "<dc:title>A &amp; B</dc:title><dc:creator>Müller</dc:creator><dc:creator>Петровић</dc:creator>\
         <dc:subject xml:lang=\"de\">Karten</dc:subject><dc:date>1750</dc:date>\
         <dc:identifier>https://example.org/1</dc:identifier>"
    );
}

#[test]
fn nothing_is_invented_for_the_element_identifier() {
    assert_eq!(only(r#"{"identifier":"1","title":"a"}"#), "<dc:title>a</dc:title>");
    assert_eq!(
        only(r#"{"id":"1","identifier":"isbn 2","title":"a"}"#),
        "<dc:title>a</dc:title><dc:identifier>isbn 2</dc:identifier>"
    );
}

#[test]
fn a_record_with_two_names_is_rejected() {
    let drafted = read(r#"{"identifier":["1","2"],"title":"a"}"#);
    assert!(reasons(&drafted)[0].starts_with("1: \"identifier\" has several values"));
    assert_eq!(drafted.rejected[0].identifier.as_deref(), Some("oai:example.org:1"));
}

#[test]
fn escapes_and_languages_are_understood() {
    assert_eq!(
        only(r#"{"identifier":"1","title@sr":"\u041c\u0430\u043f\u0430 \"1\"","type":[null,"","  "]}"#),
        "<dc:title xml:lang=\"sr\">Мапа \"1\"</dc:title>"
    );
    assert_eq!(
        only(r#"{"identifier":"1","subject":{"@value":"x","@language":"en_US"}}"#),
        "<dc:subject xml:lang=\"en-US\">x</dc:subject>"
    );
}

#[test]
fn xml_by_format_becomes_a_draft_for_each() {
    let drafted = read(
        r#"{"identifier":"oai:other.org:1","metadata":{"mods":"<mods xmlns='http://www.loc.gov/mods/v3'><note/></mods>","marc21":null},"about":{"mods":["<p xmlns='urn:p'/>"]},"datestamp":"2001-01-01"}"#,
    );
    assert_eq!(identifiers(&drafted), ["oai:other.org:1", "oai:other.org:1"]);
    let Content::Live {
        prefix,
        metadata,
        about,
    } = &drafted.drafts[0].content
    else {
        panic!()
    };
    assert_eq!(prefix.as_str(), "mods");
    assert!(metadata.contains("mods-3-8.xsd"));
    assert_eq!(about, &["<p xmlns='urn:p'/>"]);
    let marc21 = MetadataPrefix::parse("marc21").ok();
    assert_eq!(drafted.drafts[1].content, Content::Deleted { prefix: marc21 });
}

#[test]
fn one_bad_format_does_not_harm_the_others() {
    let drafted = read(
        r#"{"identifier":"1","metadata":{"mods":"<mods/>","nosuch":"<a/>","oai_dc":"<d:dc xmlns:d='http://www.openarchives.org/OAI/2.0/oai_dc/'/>"},"about":{"oai_dc":"<a/>"}}"#,
    );
    assert_eq!(drafted.drafts.len(), 0);
    let reasons = reasons(&drafted);
    assert!(
        reasons[0].starts_with("1: mods: the root is <mods> without a namespace"),
        "{reasons:?}"
    );
    assert!(
        reasons[1].starts_with("1: nosuch: this format is not known"),
        "{reasons:?}"
    );
    assert!(
        reasons[2].starts_with("1: oai_dc: about: an about container needs"),
        "{reasons:?}"
    );
    assert!(
        drafted
            .rejected
            .iter()
            .all(|one| one.identifier.as_deref() == Some("oai:example.org:1"))
    );
}

#[test]
fn deletions_keep_their_sets() {
    for truth in ["true", "\"yes\"", "1", "\"deleted\""] {
        let drafted = read(&format!(
            r#"{{"identifier":"1","sets":"a b","title":"x","deleted":{truth}}}"#
        ));
        assert_eq!(drafted.drafts[0].content, Content::Deleted { prefix: None }, "{truth}");
        assert_eq!(drafted.drafts[0].set_specs.len(), 2);
    }
    assert_eq!(
        only(r#"{"identifier":"1","title":"x","deleted":false}"#),
        "<dc:title>x</dc:title>"
    );
}

#[test]
fn bad_lines_are_rejected_with_their_number_and_the_rest_goes_on() {
    let drafted = read(concat!(
        "{\"identifier\":\"1\",\"title\":\"a\"}\n",
        "\n",
        "{\"identifier\":\"2\",\"title\":\n",
        "{\"title\":\"x\"}\n",
        "{\"identifier\":\"5\",\"sets\":[\"a b/c\"],\"title\":\"x\"}\n",
        "{\"identifier\":\"6\"}\n",
        "[1]\n",
        "{\"identifier\":\"8\",\"title\":\"\\ud800\"}\n",
        "{\"identifier\":\"9\",\"titel\":\"x\"}\n",
        "{\"identifier\":\"10\",\"title\":{\"value\":\"x\",\"lang\":\"not one\"}}\n",
        "{\"identifier\":\"\",\"title\":\"x\"}\n",
        "{\"identifier\":\"12\",\"title\":\"x\",\"metadata\":{\"oai_dc\":null}}\n",
        "{\"identifier\":\"13\",\"title\":\"a\"} {}\n",
        "{\"identifier\":\"14\",\"title\":\"a\"}",
    ));
    assert_eq!(identifiers(&drafted), ["1", "12", "14"]);
    let reasons = reasons(&drafted);
    for (reason, expected) in reasons.iter().zip([
        "3: not a record in JSON: EOF while parsing a value (column ",
        "4: the record has no \"identifier\"",
        "5: \"b/c\" is not a setSpec",
        "6: the record says nothing",
        "7: not a record in JSON: invalid type: sequence, expected an object",
        "8: not a record in JSON: unexpected end of hex escape",
        "9: unknown keys: titel. Try: --map KEY=element",
        "10: not a record in JSON: \"not one\" is not a language tag",
        "11: \"oai:example.org:\" is not an identifier",
        "12: Dublin Core is given twice",
        "13: not a record in JSON: trailing characters",
    ]) {
        assert!(reason.starts_with(expected), "{reason} / {expected}");
    }
    assert_eq!(reasons.len(), 11);
    assert_eq!(drafted.rejected[2].identifier.as_deref(), Some("oai:example.org:5"));
}

#[test]
fn an_unknown_key_in_the_first_line_refuses_the_whole_import() {
    let text = "{\"identifier\":\"1\",\"titel\":\"a\",\"verlag\":\"b\"}\n";
    let refusal = read_stream("a.jsonl", &mut text.as_bytes(), &options()).unwrap_err();
    assert!(matches!(&refusal, Refusal::UnknownNames { names, .. } if names == &["titel", "verlag"]));
    assert!(
        refusal
            .to_string()
            .starts_with("a.jsonl: unknown keys: titel, verlag. Try: --map \"titel\"=title")
    );

    let mut mapped = options();
    mapped.fields = Fields::new(["titel=title"], true).unwrap();
    assert_eq!(
        metadata(&read_bytes("a.jsonl", text.as_bytes(), &mapped).drafts[0]),
        "<dc:title>a</dc:title>"
    );
}

#[test]
fn characters_that_xml_cannot_carry_are_dropped_and_counted() {
    let drafted = read("{\"identifier\":\"1\",\"title\":\"a\\u0000\\u001fb\"}\n{\"identifier\":\"2\",\"title\":\"c\"}");
    assert_eq!(metadata(&drafted.drafts[0]), "<dc:title>ab</dc:title>");
    assert_eq!((drafted.cleaned, drafted.dropped), (1, 2));
}

#[test]
fn a_line_that_is_not_utf_8_is_rejected_alone() {
    let mut bytes =
        b"{\"identifier\":\"1\",\"title\":\"a\"}\n{\"identifier\":\"2\",\"title\":\"M\xFCller\"}\n".to_vec();
    bytes.extend_from_slice("{\"identifier\":\"3\",\"title\":\"Müller\"}".as_bytes());
    let drafted = read_bytes("a.jsonl", &bytes, &options());
    assert_eq!(identifiers(&drafted), ["1", "3"]);
    assert_eq!(
        reasons(&drafted),
        ["2: byte 29 is not UTF-8. Try: --encoding with the right one, such as windows-1252"]
    );
    let mut told = options();
    told.encoding = encoding_rs::Encoding::for_label(b"latin1");
    assert_eq!(
        metadata(&read_bytes("a.jsonl", &bytes, &told).drafts[1]),
        "<dc:title>Müller</dc:title>"
    );
}

#[test]
fn a_line_beyond_the_limit_is_passed_over() {
    let mut small = options();
    small.max_record_bytes = 1000;
    // Longer than a stretch, and shorter than one: both ways of meeting it.
    for times in [2_000, 3_000_000] {
        let mut stream = Enormous {
            before: b"{\"identifier\":\"1\",\"title\":\"a\"}\n{\"identifier\":\"2\",\"title\":\"",
            byte: b'x',
            times,
            after: b"\"}\n{\"identifier\":\"3\",\"title\":\"c\"}\n",
        };
        let drafted = read_stream("a.jsonl", &mut stream, &small).unwrap();
        assert_eq!(identifiers(&drafted), ["1", "3"], "{times}");
        assert_eq!(reasons(&drafted), ["2: the line is longer than 1000 bytes"]);
        assert_eq!(drafted.drafts[1].place.line, 3);
        assert!(drafted.rejected[0].excerpt.starts_with(b"{\"identifier\":\"2\""));
        assert!(drafted.rejected[0].excerpt.len() <= EXCERPT_BYTES);
    }
}

#[test]
fn line_numbers_hold_across_stretches() {
    let text: String = (1..=20_000)
        .map(|n| format!("{{\"identifier\":\"{n}\",\"title\":\"t{n}\"}}\n"))
        .collect();
    let drafted = read(&text);
    assert_eq!(drafted.drafts.len(), 20_000);
    for (draft, number) in drafted.drafts.iter().zip(1..) {
        assert_eq!(draft.place.line, number);
        assert_eq!(draft.identifier.as_str(), format!("oai:example.org:{number}"));
    }
}

#[test]
fn windows_line_ends_are_no_part_of_a_record() {
    assert_eq!(read("{\"identifier\":\"1\",\"title\":\"a\"}\r\n\r\n").drafts.len(), 1);
}
