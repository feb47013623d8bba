use super::*;
use crate::import::options::Shape;
use crate::import::testing::{Enormous, identifiers, options, read_bytes, read_stream, reasons};
use stook_oai::SetSpec;

const DC: &str = "xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/' \
    xmlns:dc='http://purl.org/dc/elements/1.1/'";

fn read(xml: &str) -> Drafted {
    read_bytes("map-001.xml", xml.as_bytes(), &options())
}

fn dc(inside: &str) -> String {
    format!("<oai_dc:dc {DC}>{inside}</oai_dc:dc>")
}

fn marc(number: &str) -> String {
    format!(
        "<record><leader>00000nam a2200000   4500</leader><controlfield tag='003'>X</controlfield>\
         <controlfield tag='001'> {number} </controlfield></record>"
    )
}

fn live(draft: &Draft) -> (&str, &str, &[String]) {
    match &draft.content {
        Content::Live {
            prefix,
            metadata,
            about,
        } => (prefix.as_str(), metadata, about),
        Content::Deleted { .. } => panic!("{draft:?}"),
    }
}

#[test]
fn a_file_of_one_record_names_it() {
    let drafted = read(&format!(
        "<?xml version='1.0'?>\n{}",
        dc("<dc:title>a</dc:title><dc:identifier>x</dc:identifier>")
    ));
    assert_eq!(identifiers(&drafted), ["map-001"]);
    assert_eq!(drafted.drafts[0].place.line, 2);
    assert_eq!(live(&drafted.drafts[0]).0, "oai_dc");
}

#[test]
fn file_names_of_harvesters_are_understood() {
    let name = |file_name: &str| {
        let drafted = read_bytes(file_name, dc("").as_bytes(), &options());
        identifiers(&drafted)[0].to_owned()
    };
    assert_eq!(name("oai:other.org:a%2Fb.oai_dc.xml"), "oai:other.org:a/b");
    assert_eq!(name("oai%3Aother.org%3A1.xml"), "oai:other.org:1");
    assert_eq!(name("a.b.XML.gz"), "a.b");
    assert_eq!(name("50%25.xml"), "50%2525");
    assert_eq!(name("oai_dc.xml"), "oai_dc");
}

#[test]
fn records_in_a_wrapping_name_themselves() {
    let drafted = read(&format!(
        "<collection xmlns='http://www.loc.gov/MARC21/slim'>\n{}\n{}\n<record><leader>00000nam a2200000   4500</leader></record></collection>",
        marc("a1"),
        marc("a2")
    ));
    assert_eq!(identifiers(&drafted), ["a1", "a2"]);
    assert_eq!(drafted.drafts[1].place.line, 3);
    let (prefix, metadata, _) = live(&drafted.drafts[0]);
    assert_eq!(prefix, "marc21");
    assert!(
        metadata.starts_with("<record xmlns=\"http://www.loc.gov/MARC21/slim\""),
        "{metadata}"
    );
    assert!(
        drafted.rejected[0]
            .reason
            .starts_with("there is no field 001, which names the record. Try: --id"),
        "{:?}",
        drafted.rejected
    );
    let unnamed = read(&format!("<w {DC}><oai_dc:dc><dc:title>t</dc:title></oai_dc:dc></w>"));
    assert!(
        unnamed.rejected[0]
            .reason
            .starts_with("the record has no identifier of its own")
    );

    let drafted = read(&format!(
        "<w {DC}><x><oai_dc:dc><dc:title>t</dc:title><dc:identifier/><dc:identifier>one &amp; two</dc:identifier></oai_dc:dc></x></w>"
    ));
    assert_eq!(identifiers(&drafted), ["one%20&%20two"]);
}

#[test]
fn documents_one_after_the_other_are_all_read() {
    let one = |id| {
        format!(
            "<?xml version='1.0'?>{}\n",
            dc(&format!("<dc:identifier>{id}</dc:identifier>"))
        )
    };
    let drafted = read(&format!("{}{}{}", one("a"), one("b"), one("c")));
    assert_eq!(identifiers(&drafted), ["a", "b", "c"]);
}

#[test]
fn the_prefix_can_be_told() {
    let mut told = options();
    told.prefix = MetadataPrefixFor::marcxml();
    let xml = format!(
        "<c xmlns='http://www.loc.gov/MARC21/slim'>{}{}</c>",
        marc("1"),
        dc("<dc:identifier>2</dc:identifier>")
    );
    let drafted = read_bytes("a.xml", xml.as_bytes(), &told);
    assert_eq!(live(&drafted.drafts[0]).0, "marcxml");
    assert_eq!(live(&drafted.drafts[1]).0, "oai_dc");
}

/// Names the one prefix these tests tell.
struct MetadataPrefixFor;

impl MetadataPrefixFor {
    fn marcxml() -> Option<stook_oai::MetadataPrefix> {
        stook_oai::MetadataPrefix::parse("marcxml").ok()
    }
}

fn response(request: &str, records: &str) -> String {
    format!(
        "<?xml version='1.0' encoding='UTF-8'?>\n<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/' {DC}>\
         <responseDate>2024-01-01T00:00:00Z</responseDate><request {request}>http://x/</request>\
         <ListRecords>\n{records}<resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>"
    )
}

fn oai_record(id: &str, header: &str, rest: &str) -> String {
    format!(
        "<record><header{header}><identifier>{id}</identifier><datestamp>2001</datestamp><setSpec>a</setSpec>\
         <setSpec>b:c</setSpec></header>{rest}</record>\n"
    )
}

#[test]
fn saved_responses_keep_headers_and_containers() {
    let records = [
        oai_record(
            "oai:Other:1",
            "",
            "<metadata><oai_dc:dc><dc:title>a</dc:title></oai_dc:dc></metadata><about><p xmlns='urn:p'/></about><about></about>",
        ),
        oai_record("oai:Other:2", " status='deleted'", ""),
        oai_record("oai:Other:3", " status='Deleted'", ""),
    ];
    let drafted = read(&response(
        "verb='ListRecords' metadataPrefix='oai_dc'",
        &records.concat(),
    ));
    assert_eq!(identifiers(&drafted), ["oai:Other:1", "oai:Other:2", "oai:Other:3"]);
    let (prefix, metadata, about) = live(&drafted.drafts[0]);
    assert_eq!((prefix, about.len()), ("oai_dc", 1));
    assert!(
        metadata.contains("xmlns:dc=") && metadata.contains("xsi:schemaLocation"),
        "{metadata}"
    );
    let sets: Vec<_> = drafted.drafts[1].set_specs.iter().map(SetSpec::as_str).collect();
    assert_eq!(sets, ["a", "b:c"]);
    let oai_dc = Some(stook_oai::MetadataPrefix::oai_dc());
    assert_eq!(drafted.drafts[1].content, Content::Deleted { prefix: oai_dc });
    assert_eq!(drafted.drafts[0].place.line, 3);
}

#[test]
fn the_requested_prefix_decides_between_formats_of_one_root() {
    let metadata = format!(
        "<metadata>{}</metadata>",
        marc("1").replacen("<record", "<record xmlns='http://www.loc.gov/MARC21/slim'", 1)
    );
    let xml = response("metadataPrefix='marcxml'", &oai_record("oai:x:1", "", &metadata));
    let drafted = read(&xml);
    assert_eq!(live(&drafted.drafts[0]).0, "marcxml");
    let xml = response(
        "resumptionToken='x'",
        &(oai_record("oai:x:1", "", &metadata) + &oai_record("oai:x:2", " status='deleted'", "")),
    );
    let drafted = read(&xml);
    assert_eq!(live(&drafted.drafts[0]).0, "marc21");
    assert_eq!(drafted.drafts[1].content, Content::Deleted { prefix: None });
}

#[test]
fn records_cut_out_of_responses_are_read_as_other_tools_store_them() {
    // A record per file, as the `raw` of a record in Sickle gives it.
    let raw = format!(
        "<record xmlns=\"http://www.openarchives.org/OAI/2.0/\" {DC}><header><identifier>oai:x:1</identifier></header>\
         <metadata>{}</metadata></record>",
        dc("<dc:title>a</dc:title>")
    );
    assert_eq!(identifiers(&read(&raw)), ["oai:x:1"]);
    // Several of them, one after the other.
    assert_eq!(identifiers(&read(&format!("{raw}\n{raw}"))).len(), 2);
    // Wrapped by another root without namespaces, as metha-cat does it.
    let cat = format!(
        "<Records xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n<record><header status=\"\">\
         <identifier>oai:x:1</identifier></header><metadata>{}</metadata><about></about></record>\n</Records>",
        dc("")
    );
    assert_eq!(identifiers(&read(&cat)), ["oai:x:1"]);
    // With a prefix on the envelope.
    let prefixed = format!(
        "<o:OAI-PMH xmlns:o='http://www.openarchives.org/OAI/2.0/'><o:GetRecord><o:record><o:header>\
         <o:identifier>oai:x:1</o:identifier></o:header><o:metadata>{}</o:metadata></o:record></o:GetRecord></o:OAI-PMH>",
        dc("")
    );
    assert_eq!(identifiers(&read(&prefixed)), ["oai:x:1"]);
}

#[test]
fn what_a_response_says_beside_its_records_is_no_record() {
    let xml = format!(
        "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><ListSets><set><setSpec>a</setSpec><setDescription>{}\
         </setDescription></set></ListSets></OAI-PMH>",
        dc("<dc:identifier>x</dc:identifier>")
    );
    let drafted = read(&xml);
    assert_eq!(
        (drafted.drafts.len(), drafted.rejected.len(), drafted.finished.len()),
        (0, 0, 1)
    );
}

#[test]
fn a_record_element_without_a_header_is_wrapping() {
    let xml = format!(
        "<records {DC}>\n<record xmlns:q='urn:q'>\n<oai_dc:dc><dc:identifier>1</dc:identifier></oai_dc:dc></record>\
         <record><record>{}</record></record><record><title/></record></records>",
        dc("<dc:identifier>2</dc:identifier>")
    );
    let drafted = read(&xml);
    assert_eq!(identifiers(&drafted), ["1", "2"]);
    assert_eq!(drafted.drafts[0].place.line, 3);
    assert!(drafted.rejected[0].reason.starts_with("the record has no header"));
}

#[test]
fn bad_records_are_rejected_and_the_rest_goes_on() {
    let metadata = |inside: &str| format!("<metadata><oai_dc:dc>{inside}</oai_dc:dc></metadata>");
    let records = [
        oai_record("oai:x:1", "", &metadata("\n<dc:title>a</dc:titel>")),
        oai_record("oai:x:2", "", &metadata("<dc:title>a &nbsp; b</dc:title>")),
        oai_record("not an identifier", "", &metadata("")),
        oai_record("oai:x:4", "", ""),
        oai_record("oai:x:5", "", "<metadata><unknown xmlns='urn:u'/></metadata>"),
        oai_record("oai:x:6", "", &metadata("<dc:title>a</dc:title>")).replace("b:c", "b/c"),
        oai_record("oai:x:7", "", &format!("<metadata>{}{}</metadata>", dc(""), dc(""))),
        oai_record("oai:x:8", "", &metadata("<dc:title>a < b</dc:title>")),
        oai_record("oai:x:9", "", &metadata("<dc:title>fine\u{1}&#x1F;</dc:title>")),
    ];
    let drafted = read(&response("metadataPrefix='oai_dc'", &records.concat()));
    assert_eq!(identifiers(&drafted), ["oai:x:9"]);
    assert_eq!((drafted.cleaned, drafted.dropped), (1, 2));
    let reasons = reasons(&drafted);
    for (reason, expected) in reasons.iter().zip([
        "3: </dc:titel> closes <dc:title> (line 4)",
        "5: the entity &nbsp; is not defined; write the character itself",
        "6: \"not an identifier\" is not an identifier",
        "7: the record has no metadata",
        "8: no format is known whose root is <unknown> of the namespace \"urn:u\"",
        "9: \"b/c\" is not a setSpec",
        "10: there is a second XML element <oai_dc:dc>",
        "11: a \"<\" does not begin a tag",
    ]) {
        assert!(reason.starts_with(expected), "{reason} / {expected}");
    }
    assert_eq!(reasons.len(), 8);
    assert_eq!(drafted.rejected[0].identifier.as_deref(), Some("oai:x:1"));
    assert_eq!(drafted.broken, 0);
}

#[test]
fn bytes_that_are_not_utf_8_spoil_only_their_record() {
    let mut bytes = b"<w>".to_vec();
    for title in [&b"a"[..], b"M\xFCller", b"c"] {
        bytes.extend_from_slice(format!("<oai_dc:dc {DC}><dc:identifier>").as_bytes());
        bytes.extend_from_slice(title);
        bytes.extend_from_slice(b"</dc:identifier></oai_dc:dc>");
    }
    bytes.extend_from_slice(b"</w>");
    let drafted = read_bytes("a.xml", &bytes, &options());
    assert_eq!(identifiers(&drafted), ["a", "c"]);
    assert!(drafted.rejected[0].reason.contains("is not UTF-8"));
}

#[test]
fn a_record_that_is_not_utf_8_is_still_known_by_its_header() {
    let metadata = "<metadata><oai_dc:dc><dc:title>M#ller</dc:title></oai_dc:dc></metadata>";
    let mut bytes = response("", &oai_record("oai:x:1", "", metadata)).into_bytes();
    for byte in bytes.iter_mut().filter(|byte| **byte == b'#') {
        *byte = 0xFC;
    }
    let drafted = read_bytes("a.xml", &bytes, &options());
    assert_eq!(drafted.rejected[0].identifier.as_deref(), Some("oai:x:1"));
}

#[test]
fn the_declared_encoding_is_believed() {
    let mut bytes = b"<?xml version='1.0' encoding='ISO-8859-1'?>".to_vec();
    let xml = dc("<dc:title>M#ller</dc:title>");
    bytes.extend(xml.bytes().map(|byte| if byte == b'#' { 0xFC } else { byte }));
    let drafted = read_bytes("a.xml", &bytes, &options());
    assert!(live(&drafted.drafts[0]).1.contains("Müller"));

    let utf_16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
    let bytes = utf_16(&format!(
        "<?xml version='1.0' encoding='UTF-16'?>{}",
        dc("<dc:title>мапа</dc:title>")
    ));
    assert!(
        live(&read_bytes("a.xml", &bytes, &options()).drafts[0])
            .1
            .contains("мапа")
    );

    let unknown = read_bytes("a.xml", b"<?xml version='1.0' encoding='x-nope'?><a/>", &options());
    assert!(unknown.rejected[0].reason.contains("\"x-nope\""));
}

#[test]
fn broken_documents_give_what_they_have_and_say_where_they_break() {
    let record = dc("<dc:identifier>1</dc:identifier>");
    for (xml, expected) in [
        (
            format!("<w>{record}\n<oai_dc:dc {DC}><dc:title>a"),
            "2: the XML ends before <oai_dc:dc> is closed",
        ),
        (format!("<w>{record}\n"), "2: the XML ends before <w> is closed"),
        (
            format!("<w>{record}\n</v>"),
            "2: the XML is broken: </v> closes something else",
        ),
        (format!("<w>{record}\n<!-- "), "2: the XML ends inside a comment"),
        (
            format!("<w>{record}\n<a b=c></a></w>"),
            "2: the XML is broken: the tag <a> is malformed",
        ),
    ] {
        let drafted = read(&xml);
        assert_eq!(identifiers(&drafted), ["1"], "{xml}");
        assert!(
            reasons(&drafted)[0].starts_with(expected),
            "{:?} / {expected}",
            reasons(&drafted)
        );
        assert_eq!((drafted.broken, drafted.finished.len()), (1, 0));
    }
}

#[test]
fn an_entity_bomb_is_refused_and_a_plain_doctype_passed_over() {
    let bomb = format!(
        "<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;'>]>{}",
        dc("<dc:title>&b;</dc:title>")
    );
    let drafted = read(&bomb);
    assert_eq!(drafted.drafts.len(), 0);
    assert!(reasons(&drafted)[0].contains("document type declaration"));

    let plain = format!(
        "<!DOCTYPE ead PUBLIC '+//ISBN 1-931666-00-8//DTD ead.dtd//EN' 'ead.dtd'>{}",
        dc("")
    );
    assert_eq!(identifiers(&read(&plain)), ["map-001"]);
}

#[test]
fn characters_to_be_dropped_do_not_hide_the_identifier() {
    let drafted = read(&format!(
        "<w>{}</w>",
        dc("<dc:title>a\u{1}&#2;</dc:title><dc:identifier>1</dc:identifier>")
    ));
    assert_eq!(identifiers(&drafted), ["1"]);
    assert_eq!((drafted.cleaned, drafted.dropped), (1, 2));
}

#[test]
fn a_broken_record_is_still_known_by_the_name_of_its_file() {
    let drafted = read(&dc("<dc:title>AT&T</dc:title>"));
    assert_eq!(
        drafted.rejected[0].identifier.as_deref(),
        Some("oai:example.org:map-001")
    );
}

#[test]
fn a_record_of_marc_that_says_it_is_withdrawn_is() {
    let withdrawn = |status: char| {
        let record = marc("1").replace("00000n", &format!("00000{status}"));
        record.replacen("<leader>", "<!-- a -->\n<leader>", 1)
    };
    for (status, is_withdrawn) in [('d', true), ('n', false)] {
        let drafted = read(&format!(
            "<collection xmlns='http://www.loc.gov/MARC21/slim'>{}</collection>",
            withdrawn(status)
        ));
        let is_deleted = matches!(drafted.drafts[0].content, Content::Deleted { prefix: Some(_) });
        assert_eq!(is_deleted, is_withdrawn, "{status} {drafted:?}");
    }
}

#[test]
fn a_document_without_records_is_told() {
    let drafted = read("<html><body/></html>");
    assert!(reasons(&drafted)[0].contains("no record of a known format"));
    assert!(reasons(&drafted)[0].contains("<html> of no namespace"));
    assert_eq!(drafted.broken, 1);
}

#[test]
fn only_oai_records_are_taken_when_told() {
    let mut told = options();
    told.shape = Some(Shape::Oai);
    let drafted = read_bytes("a.xml", dc("").as_bytes(), &told);
    assert_eq!(drafted.drafts.len(), 0);
}

#[test]
fn an_enormous_record_is_passed_over_without_being_held() {
    let mut small = options();
    small.max_record_bytes = 1000;
    let mut stream = Enormous {
        before: b"<w xmlns:o='http://www.openarchives.org/OAI/2.0/oai_dc/' xmlns:d='http://purl.org/dc/elements/1.1/'>\
            <o:dc><d:identifier>1</d:identifier></o:dc>\n<o:dc><d:title>",
        byte: b'x',
        times: 5_000_000,
        after: b"</d:title></o:dc>\n<o:dc><d:identifier>3</d:identifier></o:dc></w>",
    };
    let drafted = read_stream("a.xml", &mut stream, &small).unwrap();
    assert_eq!(identifiers(&drafted), ["1", "3"]);
    assert_eq!(reasons(&drafted), ["2: the record is larger than 1000 bytes"]);
    assert!(drafted.rejected[0].excerpt.starts_with(b"<o:dc><d:title>xxx"));
}

#[test]
fn deep_wrapping_is_bounded() {
    let drafted = read(&"<a>".repeat(100_000));
    assert!(reasons(&drafted)[0].contains("nested too deeply"));
    let declarations: String = (0..200).map(|n| format!(" xmlns:p{n}='urn:{n}'")).collect();
    let many = read(&format!("<a{declarations}>").repeat(3));
    assert!(reasons(&many)[0].contains("more namespaces"));
    let records = read(&"<record>".repeat(100_000));
    assert!(reasons(&records)[0].contains("is closed"));
    let closed = read(&format!("{}{}", "<record>".repeat(50_000), "</record>".repeat(50_000)));
    assert!(
        reasons(&closed)[0].contains("the record has no header"),
        "{:?}",
        reasons(&closed)
    );
}
