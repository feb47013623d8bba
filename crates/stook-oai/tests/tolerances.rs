//! Each tolerance by name: a lenient reader reads it and counts it, a strict
//! one refuses it.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

use std::io::BufReader;

use stook_oai::response::{
    EncodingHint, Event, ReadError, ReadFault, ReadLimits, Repaired, ResponseReader, Tolerance, Tolerated,
};
use stook_oai::{DeletedRecord, Granularity, OddDatestamp, Record};

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";

/// A response with everything before the answer.
fn response(answer: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OAI-PMH xmlns=\"{OAI}\">\
         <responseDate>2024-02-29T12:00:00Z</responseDate>\
         <request verb=\"ListRecords\">https://example.org/oai</request>{answer}</OAI-PMH>"
    )
}

fn records(records: &str) -> String {
    response(&format!("<ListRecords>{records}</ListRecords>"))
}

fn record(number: u32, metadata: &str) -> String {
    format!(
        "<record><header><identifier>oai:example.org:{number}</identifier>\
         <datestamp>2024-01-02T03:04:05Z</datestamp></header>\
         <metadata><m xmlns=\"urn:m\">{metadata}</m></metadata></record>"
    )
}

const IDENTIFY: &str = "<Identify><repositoryName>Maps</repositoryName><baseURL>http://x/</baseURL>\
    <protocolVersion>2.0</protocolVersion><adminEmail>a@b.c</adminEmail>\
    <earliestDatestamp>1999-12-31</earliestDatestamp><deletedRecord>no</deletedRecord>\
    <granularity>YYYY-MM-DDThh:mm:ssZ</granularity></Identify>";

/// What a reader made of a document.
#[derive(Debug)]
struct Reading {
    outcomes: Vec<Result<Event, ReadError>>,
    tolerated: Tolerated,
}

impl Reading {
    fn of(mut reader: ResponseReader<Repaired<impl std::io::BufRead>>) -> Self {
        let mut outcomes = Vec::new();
        while let Some(outcome) = reader.next().transpose() {
            outcomes.push(outcome);
        }
        Self {
            outcomes,
            tolerated: reader.tolerated(),
        }
    }

    fn errors(&self) -> Vec<&ReadError> {
        self.outcomes
            .iter()
            .filter_map(|outcome| outcome.as_ref().err())
            .collect()
    }

    fn events(&self) -> Vec<&Event> {
        self.outcomes
            .iter()
            .filter_map(|outcome| outcome.as_ref().ok())
            .collect()
    }

    fn records(&self) -> Vec<&Record> {
        let events = self.events().into_iter();
        events
            .filter_map(|event| match event {
                Event::Record(record) => Some(record),
                _ => None,
            })
            .collect()
    }

    /// The local parts of the identifiers of its records.
    fn numbers(&self) -> Vec<&str> {
        self.records()
            .into_iter()
            .filter_map(|record| record.header.identifier.as_str().rsplit(':').next())
            .collect()
    }

    fn counts(&self) -> Vec<(Tolerance, u64)> {
        self.tolerated.iter().collect()
    }
}

fn hinted(document: &[u8], hint: EncodingHint<'_>) -> Reading {
    let limits = ReadLimits::default();
    let whole = Reading::of(ResponseReader::lenient(document, limits, hint));
    for size in [1, 7, 1000] {
        let source = BufReader::with_capacity(size, document);
        let pieces = Reading::of(ResponseReader::lenient(source, limits, hint));
        assert_eq!(format!("{pieces:?}"), format!("{whole:?}"), "in pieces of {size}");
    }
    whole
}

fn lenient(document: &[u8]) -> Reading {
    hinted(document, EncodingHint::default())
}

fn strict_accepts(document: &[u8]) -> bool {
    let mut reader = ResponseReader::new(document);
    let mut accepts = true;
    while let Some(outcome) = reader.next().transpose() {
        accepts &= outcome.is_ok();
    }
    accepts
}

/// What a strict reader makes of a fixture.
#[derive(Clone, Copy, PartialEq)]
enum Strict {
    Refuses,
    /// It is no fault of the document, or one that the strict reader leaves to
    /// validators.
    Accepts,
}
use Strict::{Accepts, Refuses};

fn good() -> String {
    records(&record(1, "x"))
}

fn with(from: &str, to: &str) -> Vec<u8> {
    let good = good();
    assert!(good.contains(from), "{from}");
    good.replace(from, to).into_bytes()
}

fn identify_with(from: &str, to: &str) -> Vec<u8> {
    assert!(IDENTIFY.contains(from), "{from}");
    response(&IDENTIFY.replace(from, to)).into_bytes()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars()
        .map(|character| u8::try_from(u32::from(character)).unwrap())
        .collect()
}

/// With a byte that is not UTF-8 for each `#`.
fn damaged(text: &str) -> Vec<u8> {
    let damage = |byte| if byte == b'#' { 0xE9 } else { byte };
    text.bytes().map(damage).collect()
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Everything that must be counted for a fixture, the tolerance itself first.
type Fixture = (Tolerance, Strict, Vec<u8>, &'static [(Tolerance, u64)]);

fn fixtures() -> Vec<Fixture> {
    use Tolerance::*;

    let deleted = |status: &str| with("<header>", &format!("<header status=\"{status}\">"));
    let empty_and_deleted = good()
        .replace("<header>", "<header status=\"deleted\">")
        .replace("<m xmlns=\"urn:m\">x</m>", " ");
    let set = |set: &str| response(&format!("<ListSets><set>{set}</set></ListSets>")).into_bytes();
    let format = "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix>\
                  </metadataFormat></ListMetadataFormats>";
    let halves = "&#xD83D;&#xDE00; &#55357; &#xDE00;";
    let token = "</record><resumptionToken completeListSize='many' cursor='-1'>t</resumptionToken>";
    vec![
        (
            ControlCharacters,
            Refuses,
            with(">x<", ">x\u{b}\u{0}\u{FFFE}\u{FFFF}<"),
            &[(ControlCharacters, 4)],
        ),
        (
            InvalidUtf8,
            Refuses,
            damaged(&good().replace(">x<", ">éé#<")),
            &[(InvalidUtf8, 1)],
        ),
        (OtherEncoding, Refuses, utf16(&good()), &[(OtherEncoding, 1)]),
        (
            WrongEncoding,
            Refuses,
            latin1(&good().replace(">x<", ">Café<")),
            &[(WrongEncoding, 1)],
        ),
        (
            BareAmpersand,
            Refuses,
            with(">x<", ">a & b &amp; c&d; &#; &x<"),
            &[(BareAmpersand, 4)],
        ),
        (
            HtmlEntity,
            Refuses,
            with(">x<", ">a&nbsp;b&eacute;<"),
            &[(HtmlEntity, 2)],
        ),
        (
            SurrogateReference,
            Refuses,
            with(">x<", &format!(">{halves}<")),
            &[(SurrogateReference, 3)],
        ),
        (
            ForbiddenReference,
            Refuses,
            with(">x<", ">&#11;&#xFFFF;&#x110000;<"),
            &[(ForbiddenReference, 3)],
        ),
        (
            NestedDeclaration,
            Refuses,
            with("<m ", "<?xml version=\"1.0\"?><m "),
            &[(NestedDeclaration, 1)],
        ),
        (
            OddDeclaration,
            Refuses,
            with("version=\"1.0\"", "version=\"1.1\""),
            &[(OddDeclaration, 1)],
        ),
        (
            LeadingContent,
            Refuses,
            with("<OAI-PMH", "<br /><b>Warning</b>: unset<OAI-PMH"),
            &[(LeadingContent, 1)],
        ),
        (
            TrailingContent,
            Refuses,
            with("</OAI-PMH>", "</OAI-PMH><p>Notice <br>"),
            &[(TrailingContent, 1)],
        ),
        (
            ForeignNamespace,
            Refuses,
            with(OAI, "http://www.openarchives.org/OAI/2.0"),
            &[(ForeignNamespace, 1)],
        ),
        (
            MissingNamespace,
            Refuses,
            with(&format!(" xmlns=\"{OAI}\""), ""),
            &[(MissingNamespace, 1)],
        ),
        (
            UndeclaredPrefix,
            Refuses,
            with(">x<", "><dc:title/><dc:date xsi:type='a'/><"),
            &[(UndeclaredPrefix, 2)],
        ),
        (
            UnbalancedTags,
            Refuses,
            with("</ListRecords>", ""),
            &[(UnbalancedTags, 1)],
        ),
        (
            UnexpectedElement,
            Refuses,
            with("<metadata>", "<x>y</x><metadata>"),
            &[(UnexpectedElement, 1)],
        ),
        (
            UnexpectedText,
            Refuses,
            with("<record>", "<record>\u{FEFF}"),
            &[(UnexpectedText, 1)],
        ),
        (EmptyList, Accepts, records("").into_bytes(), &[(EmptyList, 1)]),
        (
            EmptyMetadata,
            Refuses,
            empty_and_deleted.into_bytes(),
            &[(EmptyMetadata, 1)],
        ),
        (
            MissingRequest,
            Refuses,
            with("<request verb=\"ListRecords\">https://example.org/oai</request>", ""),
            &[(MissingRequest, 1)],
        ),
        (
            MissingResponseDate,
            Refuses,
            with("<responseDate>2024-02-29T12:00:00Z</responseDate>", ""),
            &[(MissingResponseDate, 1)],
        ),
        (
            OddResponseDate,
            Refuses,
            with("12:00:00Z", "12:00:00.25+01:00"),
            &[(OddResponseDate, 1)],
        ),
        (
            MissingDatestamp,
            Refuses,
            with("<datestamp>2024-01-02T03:04:05Z</datestamp>", ""),
            &[(MissingDatestamp, 1)],
        ),
        (
            OddDatestamp,
            Refuses,
            with("03:04:05Z", "03:04:05.678"),
            &[(OddDatestamp, 1)],
        ),
        (
            UnreadableDatestamp,
            Refuses,
            with("2024-01-02T03:04:05Z", "lately"),
            &[(UnreadableDatestamp, 1)],
        ),
        (
            OddIdentifier,
            Refuses,
            with("oai:example.org:1", "10.1/é"),
            &[(OddIdentifier, 1)],
        ),
        (StatusCase, Refuses, deleted("Deleted"), &[(StatusCase, 1)]),
        (UnknownStatus, Refuses, deleted("active"), &[(UnknownStatus, 1)]),
        (
            BadSetSpec,
            Refuses,
            with(
                "</header>",
                "<setSpec>a b</setSpec><setSpec>c</setSpec><setSpec/></header>",
            ),
            &[(BadSetSpec, 2)],
        ),
        (
            MissingSetName,
            Refuses,
            set("<setSpec>a</setSpec>"),
            &[(MissingSetName, 1)],
        ),
        (
            IncompleteFormat,
            Refuses,
            response(format).into_bytes(),
            &[(IncompleteFormat, 1)],
        ),
        (
            BadTokenAttribute,
            Accepts,
            with("</record>", token),
            &[(BadTokenAttribute, 2)],
        ),
        (
            UnknownErrorCode,
            Refuses,
            response("<error code=''>busy</error>").into_bytes(),
            &[(UnknownErrorCode, 1)],
        ),
        (
            OddGranularity,
            Refuses,
            identify_with("YYYY-MM-DDThh", "yyyy-mm-ddThh"),
            &[(OddGranularity, 1)],
        ),
        (
            MissingGranularity,
            Refuses,
            identify_with("<granularity>YYYY-MM-DDThh:mm:ssZ</granularity>", ""),
            &[(MissingGranularity, 1)],
        ),
        (
            OddEarliestDatestamp,
            Refuses,
            identify_with("1999-12-31", "1999"),
            &[(OddEarliestDatestamp, 1)],
        ),
        (
            IncompleteIdentify,
            Refuses,
            identify_with("<adminEmail>a@b.c</adminEmail>", ""),
            &[(IncompleteIdentify, 1)],
        ),
    ]
}

#[test]
fn every_tolerance_is_counted_by_the_lenient_reader_and_refused_by_the_strict_one() {
    let fixtures = fixtures();
    for tolerance in Tolerance::ALL {
        // Said by HTTP, not by the document; it has a test of its own.
        if *tolerance == Tolerance::WrongCharset {
            continue;
        }
        let of_this: Vec<&Fixture> = fixtures.iter().filter(|fixture| fixture.0 == *tolerance).collect();
        let [(_, strict, document, counts)] = of_this.as_slice() else {
            panic!("{tolerance} has {} fixtures", of_this.len());
        };
        let reading = lenient(document);
        assert!(reading.errors().is_empty(), "{tolerance}: {reading:#?}");
        assert_eq!(reading.counts(), *counts, "{tolerance}: {reading:#?}");
        assert_eq!(strict_accepts(document), *strict == Accepts, "{tolerance}");
    }
}

#[test]
fn a_response_without_faults_needs_no_tolerance() {
    for document in [good(), response(IDENTIFY), response("<error code='badVerb'/>")] {
        let reading = lenient(document.as_bytes());
        assert!(
            reading.errors().is_empty() && reading.tolerated.is_empty(),
            "{reading:?}"
        );
    }
}

fn metadata(document: &[u8]) -> String {
    let reading = lenient(document);
    reading.records()[0].metadata.clone().unwrap()
}

#[test]
fn characters_and_references_become_what_they_mean() {
    for (received, kept) in [
        ("a & b", "a &amp; b"),
        ("x&y;", "x&amp;y;"),
        ("&", "&amp;"),
        ("&&amp;", "&amp;&amp;"),
        ("&eacute;&nbsp;&hearts;", "é\u{A0}♥"),
        ("&amp;nbsp;", "&amp;nbsp;"),
        ("&#xD83D;&#xDE00;", "😀"),
        ("&#55357;&#56832;", "😀"),
        ("&#55357; &#56832;", "\u{FFFD} \u{FFFD}"),
        ("&#56832;&#55357;", "\u{FFFD}\u{FFFD}"),
        ("&#128512;&#x1F600;", "&#128512;&#x1F600;"),
        ("&#0;a&#x1F;", "a"),
        ("&#00000000000000000000000000065;", "&#00000000000000000000000000065;"),
        ("a\u{1}b\u{FFFF}c", "abc"),
        (
            "<![CDATA[a & b &nbsp; <?xml version='1.0'?>]]>",
            "<![CDATA[a & b &nbsp; <?xml version='1.0'?>]]>",
        ),
        ("<!-- a & b -->&lt;", "<!-- a & b -->&lt;"),
        ("<?php a & b ?>& c", "<?php a & b ?>&amp; c"),
        ("<![CDATA[a\u{1}b]]>&", "<![CDATA[ab]]>&amp;"),
        ("<a b='x & y'/>", "<a b='x &amp; y'/>"),
        ("Hello! Really?!", "Hello! Really?!"),
    ] {
        let document = with(">x<", &format!(">{received}<"));
        assert_eq!(
            metadata(&document),
            format!("<m xmlns=\"urn:m\">{kept}</m>"),
            "{received}"
        );
    }
}

#[test]
fn the_encoding_is_found_out() {
    let text = good().replace(">x<", ">Dvořák – “Größe”<");
    let kept = "<m xmlns=\"urn:m\">Dvořák – “Größe”</m>";
    assert_eq!(metadata(text.as_bytes()), kept);
    assert_eq!(metadata(&utf16(&text)), kept);
    assert_eq!(metadata(&utf16(&format!("\u{FEFF}{text}"))), kept);
    assert_eq!(metadata(&utf16(&text.replace("UTF-8", "UTF-16"))), kept);
    let latin = "<m xmlns=\"urn:m\">Größe</m>";
    let text = good().replace(">x<", ">Größe<");
    assert_eq!(metadata(&latin1(&text)), latin);
    assert_eq!(metadata(&latin1(&text.replace("UTF-8", "ISO-8859-1"))), latin);
    assert_eq!(metadata(text.replace("UTF-8", "ISO-8859-1").as_bytes()), latin);
    assert_eq!(
        metadata(
            text.replace("<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "")
                .as_bytes()
        ),
        latin
    );
}

#[test]
fn the_charset_of_the_header_counts_only_where_the_document_says_nothing() {
    let charset = |charset| EncodingHint {
        charset: Some(charset),
        ..EncodingHint::default()
    };
    let utf8 = good().replace(">x<", ">é<");
    let reading = hinted(utf8.as_bytes(), charset("iso-8859-1"));
    assert_eq!(reading.counts(), [(Tolerance::WrongCharset, 1)]);
    assert!(reading.records()[0].metadata.as_ref().unwrap().contains('é'));
    let undeclared = utf8.replace(" encoding=\"UTF-8\"", "");
    assert_eq!(
        hinted(undeclared.as_bytes(), charset("koi8-r")).counts(),
        [(Tolerance::WrongCharset, 1)]
    );
    let reading = hinted(&latin1(&undeclared), charset("iso-8859-1"));
    assert!(reading.tolerated.is_empty(), "{reading:?}");
    assert!(reading.records()[0].metadata.as_ref().unwrap().contains('é'));

    let setting = EncodingHint {
        setting: Some("windows-1251"),
        ..EncodingHint::default()
    };
    let reading = hinted(&latin1(&utf8), setting);
    assert_eq!(reading.counts(), [(Tolerance::OtherEncoding, 1)]);
    assert!(reading.records()[0].metadata.as_ref().unwrap().contains('й'));
}

#[test]
fn odd_datestamps_are_kept_as_received_beside_what_they_mean() {
    let header = |datestamp: &str| {
        let document = with("2024-01-02T03:04:05Z", datestamp);
        lenient(&document).records()[0].header.clone()
    };
    let odd = header("2024-01-02 03:04:05.678+02:00");
    assert_eq!(odd.datestamp.to_string(), "2024-01-02T01:04:05Z");
    assert_eq!(odd.datestamp_text(), "2024-01-02 03:04:05.678+02:00");
    assert_eq!(odd.known_datestamp(), Some(odd.datestamp));
    let unreadable = header("lately");
    assert_eq!(
        unreadable.odd_datestamp,
        Some(OddDatestamp::Unreadable("lately".to_owned()))
    );
    assert_eq!(
        (unreadable.known_datestamp(), &*unreadable.datestamp_text()),
        (None, "lately")
    );
    let missing = header("");
    assert_eq!((missing.known_datestamp(), &*missing.datestamp_text()), (None, ""));
    assert_eq!(header("2024-01-02").datestamp_text(), "2024-01-02");
}

#[test]
fn identify_is_completed_with_what_promises_least() {
    let document =
        response("<Identify><protocolVersion>2</protocolVersion><deletedRecord>Persistent</deletedRecord></Identify>");
    let reading = lenient(document.as_bytes());
    let Event::Identify(identify) = reading.events()[2] else {
        panic!("{reading:?}")
    };
    assert_eq!(identify.granularity, Granularity::Day);
    assert_eq!(identify.earliest_datestamp.unix(), 0);
    assert_eq!(identify.deleted_record, DeletedRecord::Persistent);
    let document = response("<Identify/>");
    let reading = lenient(document.as_bytes());
    assert!(
        matches!(reading.events()[2], Event::Identify(identify) if identify.deleted_record == DeletedRecord::Transient)
    );
}

#[test]
fn errors_with_other_codes_are_still_errors() {
    let document =
        response("<error code='NoRecordsMatch'>a</error><error code='busy'>b <i>c</i></error><error>d</error>");
    let reading = lenient(document.as_bytes());
    assert!(reading.errors().is_empty());
    let events = reading.events();
    assert!(matches!(events[2], Event::Error(error) if error.message == "a"));
    let unknown = |code: &str, message: &str| Event::UnknownError {
        code: code.to_owned(),
        message: message.to_owned(),
    };
    assert_eq!(*events[3], unknown("busy", "b c"));
    assert_eq!(*events[4], unknown("", "d"));
}

#[test]
fn namespaces_declared_above_the_record_are_made_explicit() {
    for (place, declared) in [
        ("<OAI-PMH ", "<OAI-PMH "),
        ("<ListRecords>", "<ListRecords >"),
        ("<record>", "<record >"),
    ] {
        let declared = declared.trim_end_matches('>').trim_end();
        let end = if place.ends_with('>') { ">" } else { " " };
        let document = good()
            .replace("<m xmlns=\"urn:m\">x</m>", "<p:m><q:n a=\"p:b\"/></p:m>")
            .replace(place, &format!("{declared} xmlns:p='urn:p' xmlns:q='urn:q'{end}"));
        assert_eq!(
            metadata(document.as_bytes()),
            "<p:m xmlns:p=\"urn:p\" xmlns:q=\"urn:q\"><q:n a=\"p:b\"/></p:m>"
        );
    }
    let document = good()
        .replace(
            &format!("xmlns=\"{OAI}\""),
            &format!("xmlns=\"{OAI}\" xmlns:o=\"{OAI}\""),
        )
        .replace("<metadata>", "<o:metadata xmlns=\"urn:d\">")
        .replace("</metadata>", "</o:metadata>")
        .replace("<m xmlns=\"urn:m\">x</m>", "<m/>");
    assert_eq!(metadata(document.as_bytes()), "<m xmlns=\"urn:d\"/>");
}

#[test]
fn undeclared_prefixes_that_everybody_knows_are_declared() {
    let document = with(
        "<m xmlns=\"urn:m\">x</m>",
        "<oai_dc:dc><dc:title>x</dc:title></oai_dc:dc>",
    );
    assert_eq!(
        metadata(&document),
        "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>x</dc:title></oai_dc:dc>"
    );
    let document = with("<m xmlns=\"urn:m\">x</m>", "<who:knows/>");
    let reading = lenient(&document);
    assert!(matches!(reading.errors()[0].fault, ReadFault::UndeclaredPrefix(_)));
}

#[test]
fn an_envelope_is_known_by_its_names() {
    let prefixed = good()
        .replace(&format!("xmlns=\"{OAI}\""), &format!("xmlns:o=\"{OAI}\""))
        .replace("</", "</o:")
        .replace("</o:m>", "</m>")
        .replace("<m ", "<@m ")
        .replace('<', "<o:")
        .replace("<o:/", "</")
        .replace("<o:?", "<?")
        .replace("<o:@m", "<m")
        .replace("</o:o:", "</o:");
    let reading = lenient(prefixed.as_bytes());
    assert!(
        reading.tolerated.is_empty() && reading.errors().is_empty(),
        "{prefixed}\n{reading:#?}"
    );
    assert_eq!(reading.numbers(), ["1"]);
    let undeclared = prefixed.replace(&format!(" xmlns:o=\"{OAI}\""), "");
    let reading = lenient(undeclared.as_bytes());
    assert_eq!(reading.numbers(), ["1"], "{reading:#?}");
    assert_eq!(reading.counts(), [(Tolerance::MissingNamespace, 1)]);
}

#[test]
fn a_broken_record_costs_itself_and_keeps_its_bytes() {
    let x = ">x<";
    for (name, bad) in [
        ("an unescaped <", record(2, "x").replace(x, ">a < b<")),
        ("a < before a letter", record(2, "x").replace(x, ">a <b<")),
        ("a tag that is not closed", record(2, "<br>")),
        ("a tag that was not opened", record(2, "</i>")),
        ("crossed tags", record(2, "<i><b></i></b>")),
        ("an open quote", record(2, "<a b=\"c>d</a>")),
        ("an open comment", record(2, "<!-- ")),
        ("an open CDATA section", record(2, "<![CDATA[ ")),
        ("a document type", record(2, "<!DOCTYPE y>")),
        ("no end tag of metadata", record(2, "x").replace("</metadata>", "")),
        ("no end tag of record", record(2, "x").replace("</record>", "")),
        ("no end tags", record(2, "x").replace("</m></metadata></record>", "")),
        ("half a record", record(2, "x")[..150].to_owned()),
        (
            "no header",
            "<record><metadata><m xmlns='u'>oai:example.org:2</m></metadata></record>".to_owned(),
        ),
        (
            "no identifier",
            record(2, "x").replace("<identifier>oai:example.org:2</identifier>", ""),
        ),
        (
            "an identifier with space",
            record(2, "x").replace("example.org:2", "example.org: 2"),
        ),
        (
            "no metadata",
            record(2, "x").replace("<metadata><m xmlns=\"urn:m\">x</m></metadata>", ""),
        ),
        ("empty metadata", record(2, "x").replace("<m xmlns=\"urn:m\">x</m>", "")),
        (
            "text for metadata",
            record(2, "x").replace("<m xmlns=\"urn:m\">x</m>", "x"),
        ),
        (
            "two headers",
            record(2, "x").replace("<metadata>", "<header/><metadata>"),
        ),
        (
            "a header instead of a record",
            "<header><identifier>oai:example.org:2</identifier></header>".to_owned(),
        ),
    ] {
        for last in [
            record(3, "y"),
            format!("{}<resumptionToken>t</resumptionToken>", record(3, "y")),
        ] {
            let document = records(&format!("{}{bad}\n{last}", record(1, "x")));
            let reading = lenient(document.as_bytes());
            let errors = reading.errors();
            assert_eq!(errors.len(), 1, "{name}: {reading:#?}");
            assert!(errors[0].can_continue(), "{name}");
            let kept = String::from_utf8_lossy(errors[0].entry().unwrap()).into_owned();
            assert!(
                bad.trim_end_matches("</record>")
                    .starts_with(kept.trim_end().trim_end_matches("</record>")),
                "{name}: {kept}"
            );
            if bad.contains("example.org:2</identifier>") && !bad.contains(": 2<") {
                assert_eq!(errors[0].identifier().as_deref(), Some("oai:example.org:2"), "{name}");
            }
            assert_eq!(reading.numbers(), ["1", "3"], "{name}");
            let tokens = reading
                .events()
                .iter()
                .filter(|event| matches!(event, Event::ResumptionToken(_)))
                .count();
            assert_eq!(tokens, usize::from(last.contains("resumptionToken")), "{name}");
            assert!(!strict_accepts(document.as_bytes()) || name == "no metadata", "{name}");
        }
    }
}

#[test]
fn a_broken_record_with_a_record_of_marc_inside_ends_at_its_own_end() {
    let marc = "<record xmlns='http://www.loc.gov/MARC21/slim'><leader>a<b</leader></record>";
    let document = records(&format!(
        "{}{}{}",
        record(1, marc),
        record(2, marc.replace("a<b", "").as_str()),
        record(3, "")
    ));
    let reading = lenient(document.as_bytes());
    assert_eq!(reading.errors().len(), 1, "{reading:#?}");
    assert_eq!(reading.numbers(), ["2", "3"]);
}

#[test]
fn a_record_beyond_the_limit_costs_itself() {
    let document = records(&format!(
        "{}{}{}",
        record(1, ""),
        record(2, &"x".repeat(100_000)),
        record(3, "")
    ));
    let limits = ReadLimits {
        max_entry_bytes: 5_000,
        ..ReadLimits::default()
    };
    let reading = Reading::of(ResponseReader::lenient(
        document.as_bytes(),
        limits,
        EncodingHint::default(),
    ));
    assert!(matches!(
        reading.errors()[0].fault,
        ReadFault::TooLarge { limit: 5_000 }
    ));
    assert_eq!(reading.errors()[0].entry().unwrap().len(), 64 << 10);
    assert_eq!(reading.numbers(), ["1", "3"]);
    let deep = format!("{}{}", "<b>".repeat(300), "</b>".repeat(300));
    let document = records(&format!("{}{}{}", record(1, ""), record(2, &deep), record(3, "")));
    let reading = lenient(document.as_bytes());
    assert!(matches!(reading.errors()[0].fault, ReadFault::TooDeep { limit: 256 }));
    assert_eq!(reading.numbers(), ["1", "3"]);
    let limits = ReadLimits {
        max_response_bytes: 1_000,
        ..ReadLimits::default()
    };
    let reading = Reading::of(ResponseReader::lenient(
        document.as_bytes(),
        limits,
        EncodingHint::default(),
    ));
    let error = reading.errors()[0];
    assert!(matches!(error.fault, ReadFault::ResponseTooLarge { limit: 1_000 }) && !error.can_continue());
}

#[test]
fn a_truncated_response_says_so_after_everything_before_the_end() {
    let document = records(&format!("{}{}", record(1, "x"), record(2, "y")));
    let start_of_second = document.find("example.org:2").unwrap();
    let root = document.find("<OAI-PMH").unwrap();
    for length in root + 1..document.len() {
        let reading = lenient(&document.as_bytes()[..length]);
        let last = reading
            .errors()
            .pop()
            .unwrap_or_else(|| panic!("{}", &document[..length]));
        assert!(last.is_truncated() && !last.can_continue(), "{length}: {reading:#?}");
        if length > start_of_second {
            assert_eq!(reading.numbers()[0], "1");
        }
    }
}

#[test]
fn what_is_no_response_is_classified() {
    let fault = |document: &str| {
        let mut reading = lenient(document.as_bytes());
        reading.outcomes.pop().unwrap().unwrap_err().fault
    };
    let page = "<html><head><TITLE>\n Log in </TITLE></head><body><br>";
    for page in [
        page.to_owned(),
        format!("<!DOCTYPE html>{page}"),
        format!("<!doctype HTML PUBLIC \"x\">\n{page}"),
    ] {
        assert!(
            matches!(fault(&page), ReadFault::Html { title: Some(title) } if title == "Log in"),
            "{page}"
        );
    }
    assert!(matches!(fault("<HTML>"), ReadFault::Html { title: None }));
    for empty in ["", "  \n", "<?xml version='1.0'?>", "<!-- x -->"] {
        assert!(matches!(fault(empty), ReadFault::Empty), "{empty}");
    }
    assert!(matches!(fault("Database error"), ReadFault::NotXml(text) if text == "Database error"));
    assert!(matches!(fault("<rss version='2.0'><channel/></rss>"), ReadFault::NotOaiPmh { root, .. } if root == "rss"));
    assert!(matches!(
        fault("<!DOCTYPE x [<!ENTITY a 'b'>]><OAI-PMH>&a;</OAI-PMH>"),
        ReadFault::Doctype
    ));
}

#[test]
fn two_responses_in_one_are_the_first() {
    let document = format!("{}{}", good(), records(&record(2, "y")));
    let reading = lenient(document.as_bytes());
    assert_eq!(reading.numbers(), ["1"]);
    assert_eq!(reading.tolerated.count(Tolerance::TrailingContent), 1);
    assert!(reading.errors().is_empty());
}

#[test]
fn tags_without_end_do_not_make_endless_work() {
    // Each record begins a section that only the end of the document closes.
    let bad = record(2, "<![CDATA[").replace("</record>", &format!("{}</record>", "x".repeat(1000)));
    let document = records(&bad.repeat(2_000));
    let limits = ReadLimits {
        max_entry_bytes: 1 << 20,
        ..ReadLimits::default()
    };
    let reading = Reading::of(ResponseReader::lenient(
        document.as_bytes(),
        limits,
        EncodingHint::default(),
    ));
    assert!(!reading.errors().last().unwrap().can_continue());
}
