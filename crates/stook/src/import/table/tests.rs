use super::*;
use crate::import::Fields;
use crate::import::source::Refusal;
use crate::import::testing::{Enormous, identifiers, metadata, options, read_bytes, read_stream, reasons};

fn read(text: &str) -> Drafted {
    read_bytes("records.csv", text.as_bytes(), &options())
}

fn refusal(text: &str) -> Refusal {
    read_stream("records.csv", &mut text.as_bytes(), &options()).unwrap_err()
}

#[test]
fn the_delimiter_is_found_from_the_header_row() {
    for delimiter in [',', ';', '\t', '|'] {
        let text = "id,title,creator\n1,a,b\n".replace(',', &delimiter.to_string());
        let drafted = read(&text);
        assert_eq!(
            metadata(&drafted.drafts[0]),
            "<dc:title>a</dc:title><dc:creator>b</dc:creator>",
            "{delimiter}"
        );
    }
}

#[test]
fn a_first_line_that_names_the_delimiter_is_believed() {
    for text in ["sep=;\nid;title\n1;a,b\n", "sep=,\nid,title\n1,\"a,b\"\n"] {
        let drafted = read(text);
        assert_eq!(metadata(&drafted.drafts[0]), "<dc:title>a,b</dc:title>", "{text}");
        assert_eq!(drafted.drafts[0].place.line, 3);
    }
}

#[test]
fn one_cell_may_hold_several_values() {
    let text = "id,subject,sets\n1, a | b||c ,maps:city theses\n";
    let drafted = read(text);
    assert_eq!(
        metadata(&drafted.drafts[0]),
        "<dc:subject>a</dc:subject><dc:subject>b</dc:subject><dc:subject>c</dc:subject>"
    );
    assert_eq!(drafted.drafts[0].set_specs.len(), 2);

    let mut other = options();
    other.separator = ";".into();
    let drafted = read_bytes("a.csv", b"id,subject\n1,a|b; c\n", &other);
    assert_eq!(
        metadata(&drafted.drafts[0]),
        "<dc:subject>a|b</dc:subject><dc:subject>c</dc:subject>"
    );
    other.separator = String::new();
    let drafted = read_bytes("a.csv", b"id,subject\n1,a|b;c\n", &other);
    assert_eq!(metadata(&drafted.drafts[0]), "<dc:subject>a|b;c</dc:subject>");
}

#[test]
fn columns_may_be_repeated_and_have_a_language() {
    let drafted = read("id,DC.Title@de,dc:title@sr-Cyrl,Title,title\n1,a,б,c,d\n");
    assert_eq!(
        metadata(&drafted.drafts[0]),
        "<dc:title xml:lang=\"de\">a</dc:title><dc:title xml:lang=\"sr-Cyrl\">б</dc:title>\
         <dc:title>c</dc:title><dc:title>d</dc:title>"
    );
}

#[test]
fn the_record_is_named_by_id_or_else_by_identifier() {
    let drafted = read("identifier,title\nmap 1|isbn 2,a\n");
    assert_eq!(identifiers(&drafted), ["map%201"]);
    assert_eq!(
        metadata(&drafted.drafts[0]),
        "<dc:identifier>map 1</dc:identifier><dc:identifier>isbn 2</dc:identifier><dc:title>a</dc:title>"
    );
    let drafted = read("title,identifier,Record_ID\na,isbn 2,a|b\n");
    assert_eq!(identifiers(&drafted), ["a%7Cb"]);
    let drafted = read("dc:identifier,title\nurn:isbn:1,a\n");
    assert_eq!(identifiers(&drafted), ["urn:isbn:1"]);
}

#[test]
fn deletions_are_read_in_the_words_people_use() {
    let drafted = read("id,title,deleted\n1,a,yes\n2,b,\n3,c,No\n4,d,TRUE\n5,e,maybe\n");
    let deleted: Vec<_> = drafted
        .drafts
        .iter()
        .map(|draft| draft.content == Content::Deleted { prefix: None })
        .collect();
    assert_eq!(deleted, [true, false, false, true]);
    assert_eq!(
        reasons(&drafted),
        ["6: \"maybe\" in column \"deleted\" is neither yes nor no"]
    );
}

#[test]
fn unknown_columns_refuse_the_import_and_say_what_to_try() {
    let refusal = refusal("id,Titel,creator,Verlag\n1,a,b,c\n");
    assert_eq!(
        refusal.to_string(),
        "records.csv: unknown columns: Titel, Verlag. Try: --map \"Titel\"=title (or another element) for each, \
         --map \"Titel\"= to skip one, or --ignore-unknown to skip them all"
    );
    let mut told = options();
    told.fields = Fields::new(["Titel=title", "Verlag="], false).unwrap();
    let drafted = read_bytes("a.csv", b"id,Titel,creator,Verlag\n1,a,b,c\n", &told);
    assert_eq!(
        metadata(&drafted.drafts[0]),
        "<dc:title>a</dc:title><dc:creator>b</dc:creator>"
    );
    told.fields = Fields::new([], true).unwrap();
    let drafted = read_bytes("a.csv", b"id,Titel,creator,Verlag\n1,a,b,c\n", &told);
    assert_eq!(metadata(&drafted.drafts[0]), "<dc:creator>b</dc:creator>");
}

#[test]
fn xml_has_no_place_in_a_table() {
    assert!(matches!(refusal("id,metadata\n1,<a/>\n"), Refusal::UnknownNames { .. }));
}

#[test]
fn a_table_that_names_no_records_is_refused() {
    assert_eq!(
        refusal("title,creator\na,b\n"),
        Refusal::NoIdentifierColumn("records.csv".into())
    );
}

#[test]
fn bad_rows_are_rejected_with_their_line_and_the_rest_goes_on() {
    let drafted = read(concat!(
        "id,title,sets,\n",
        "1,a,,\n",
        "2,b,\n",
        "3,\"c\nd\",,\n",
        ",e,,\n",
        "5,,x,\n",
        "6,f,a/b,\n",
        ",,,\n",
        "7,g,,stray\n",
        "8,h,,\n",
    ));
    assert_eq!(identifiers(&drafted), ["1", "3", "8"]);
    assert_eq!(drafted.drafts[1].place.line, 4);
    let reasons = reasons(&drafted);
    assert_eq!(reasons[0], "3: the row has 3 cells, the header has 4");
    assert_eq!(reasons[1], "6: the row has no identifier");
    assert_eq!(
        reasons[2],
        "7: the row says nothing: no Dublin Core element has a value"
    );
    assert!(reasons[3].starts_with("8: \"a/b\" is not a setSpec"), "{reasons:?}");
    assert_eq!(reasons[4], "10: \"stray\" stands in a column without a name");
    assert_eq!(reasons.len(), 5);
    assert_eq!(drafted.rejected[0].identifier.as_deref(), Some("oai:example.org:2"));
}

#[test]
fn rows_that_are_not_utf_8_are_rejected_and_windows_1252_can_be_told() {
    let bytes = b"id;title\n1;M\xFCller\n2;b\n";
    let drafted = read_bytes("a.csv", bytes, &options());
    assert_eq!(identifiers(&drafted), ["2"]);
    assert!(
        drafted.rejected[0].reason.contains("--encoding"),
        "{:?}",
        drafted.rejected[0].reason
    );

    let mut told = options();
    told.encoding = Some(encoding_rs::WINDOWS_1252);
    assert_eq!(
        metadata(&read_bytes("a.csv", bytes, &told).drafts[0]),
        "<dc:title>Müller</dc:title>"
    );

    let drafted = read_bytes("a.csv", b"id;M\xFCller\n1;b\n", &options());
    assert_eq!(
        reasons(&drafted)[0].split_once(". Try").unwrap().0,
        "1: the header row is not UTF-8"
    );
    assert_eq!(drafted.broken, 1);
}

#[test]
fn byte_order_marks_are_no_part_of_the_first_column() {
    assert_eq!(
        identifiers(&read_bytes("a.csv", b"\xEF\xBB\xBFid,title\n1,a\n", &options())),
        ["1"]
    );
    let utf_16: Vec<u8> = "\u{FEFF}id,title\n1,ж\n"
        .encode_utf16()
        .flat_map(|unit| unit.to_le_bytes())
        .collect();
    let drafted = read_bytes("a.csv", &utf_16, &options());
    assert_eq!(metadata(&drafted.drafts[0]), "<dc:title>ж</dc:title>");
}

#[test]
fn an_unclosed_quotation_mark_ends_the_table_where_it_stands() {
    let drafted = read("id,title\n1,a\n2,\"b\n3,c\n4,d\n");
    assert_eq!(identifiers(&drafted), ["1"]);
    assert_eq!(drafted.broken, 1);
    assert!(reasons(&drafted)[0].starts_with("3: a quotation mark in this row is never closed"));
}

#[test]
fn an_enormous_row_is_passed_over() {
    let mut small = options();
    small.max_record_bytes = 1000;
    let stream = |before, after| Enormous {
        before,
        byte: b'x',
        times: 5_000_000,
        after,
    };
    let mut plain = stream(b"id,title\n1,a\n2,", b"\n3,c\n");
    let drafted = read_stream("a.csv", &mut plain, &small).unwrap();
    assert_eq!(identifiers(&drafted), ["1", "3"]);
    assert!(reasons(&drafted)[0].starts_with("3: the row is larger than the limit"));
    assert_eq!(drafted.broken, 0);

    let mut quoted = stream(b"id,title\n1,a\n2,\"", b"\n3,c\n");
    let drafted = read_stream("a.csv", &mut quoted, &small).unwrap();
    assert_eq!(identifiers(&drafted), ["1"]);
    assert_eq!(drafted.broken, 1);
}

#[test]
fn a_header_row_alone_is_an_empty_table() {
    let drafted = read("id,title\n");
    assert_eq!((drafted.drafts.len(), drafted.rejected.len()), (0, 0));
    assert_eq!(drafted.finished.len(), 1);
}

#[test]
fn many_rows_keep_their_lines() {
    let text: String = std::iter::once("id,title\n".to_owned())
        .chain((2..30_000).map(|n| format!("{n},t{n}\n")))
        .collect();
    let drafted = read(&text);
    assert_eq!(drafted.drafts.len(), 29_998);
    assert!(
        drafted
            .drafts
            .iter()
            .all(|one| one.identifier.as_str() == format!("oai:example.org:{}", one.place.line))
    );
}
