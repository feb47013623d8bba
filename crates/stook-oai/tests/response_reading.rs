//! XML → values: what is understood, what is refused, and what a fault costs.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

use std::io::{BufRead, BufReader, Read};

use stook_oai::response::{Event, ReadError, ReadFault, ReadLimits, RecordsReader, ResponseReader};
use stook_oai::{Datestamp, DeletedRecord, Description, ErrorCode, Granularity, Record, ResumptionToken};

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";

/// A response with everything before the answer.
fn response(answer: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <OAI-PMH xmlns=\"{OAI}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\
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
         <metadata>{metadata}</metadata></record>"
    )
}

/// Every event and every error, to the end.
fn read_all(document: &[u8]) -> Vec<Result<Event, ReadError>> {
    let mut reader = ResponseReader::new(document);
    let mut outcomes = Vec::new();
    while let Some(outcome) = reader.next().transpose() {
        outcomes.push(outcome);
    }
    outcomes
}

/// The events behind date and request, which must be all without fault.
fn answer(document: &str) -> Vec<Event> {
    let mut events: Vec<Event> = read_all(document.as_bytes()).into_iter().map(Result::unwrap).collect();
    assert!(matches!(events[0], Event::ResponseDate(_)), "{:?}", events[0]);
    assert!(matches!(events[1], Event::Request { .. }), "{:?}", events[1]);
    events.split_off(2)
}

fn only_record(document: &str) -> Record {
    match answer(document).as_slice() {
        [Event::Record(record)] => record.clone(),
        other => panic!("{other:?}"),
    }
}

fn faults(document: &[u8]) -> Vec<ReadError> {
    read_all(document).into_iter().filter_map(Result::err).collect()
}

fn only_fault(document: &str) -> ReadError {
    let mut faults = faults(document.as_bytes());
    assert_eq!(faults.len(), 1, "{faults:#?}");
    faults.remove(0)
}

#[test]
fn date_and_request_come_first() {
    let document = format!(
        "<OAI-PMH xmlns='{OAI}'><responseDate> 2024-02-29T12:00:00Z\n</responseDate>\
         <request verb='GetRecord' identifier='a&amp;b' metadataPrefix=\"oai_dc\">http://x/?a&amp;b</request>\
         <error code='idDoesNotExist'/></OAI-PMH>"
    );
    let events: Vec<Event> = read_all(document.as_bytes()).into_iter().map(Result::unwrap).collect();
    assert_eq!(
        events[0],
        Event::ResponseDate(Datestamp::parse("2024-02-29T12:00:00Z").unwrap())
    );
    let argument = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        events[1],
        Event::Request {
            base_url: "http://x/?a&b".to_owned(),
            arguments: vec![
                argument("verb", "GetRecord"),
                argument("identifier", "a&b"),
                argument("metadataPrefix", "oai_dc")
            ],
        }
    );
}

#[test]
fn every_error_of_a_response_is_read() {
    let document =
        response("<error code='badArgument'>first &lt;fault&gt; <![CDATA[& <]]></error><error code='badVerb'/>");
    let errors: Vec<(ErrorCode, String)> = answer(&document)
        .into_iter()
        .map(|event| match event {
            Event::Error(error) => (error.code, error.message),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        (ErrorCode::BadArgument, "first <fault> & <".to_owned()),
        (ErrorCode::BadVerb, String::new()),
    ];
    assert_eq!(errors, expected);
}

#[test]
fn the_prefix_of_the_envelope_does_not_matter() {
    let document = format!(
        "<o:OAI-PMH xmlns:o='{OAI}'><o:responseDate>2024-02-29T12:00:00Z</o:responseDate>\
         <p:request xmlns:p='{OAI}'>http://x/</p:request><o:ListRecords><o:record>\
         <o:header status='deleted'><o:identifier>oai:x.y:1</o:identifier>\
         <datestamp xmlns='{OAI}'>2024-01-01</datestamp><o:setSpec>a:b</o:setSpec></o:header>\
         </o:record></o:ListRecords></o:OAI-PMH>"
    );
    let record = only_record(&document);
    assert!(record.header.deleted);
    assert_eq!(record.header.datestamp.to_string(), "2024-01-01");
    assert_eq!(record.header.set_specs[0].as_str(), "a:b");
    assert_eq!(record.metadata, None);
}

#[test]
fn metadata_is_handed_on_byte_for_byte() {
    let metadata = "<a:b  xmlns:a = 'urn:a'\n\tc=\"&#x41;&amp;\" ><!-- x --><?p i?>\r\n<![CDATA[<&]]>é&lt;\
                    <a:e /></a:b\n>";
    let record = only_record(&records(&record(1, &format!("\n  {metadata}<!-- outside -->\n"))));
    assert_eq!(record.metadata.as_deref(), Some(metadata));
}

#[test]
fn inherited_namespaces_that_are_used_are_declared_on_the_root() {
    let body = "<dc:dc><dc:title xsi:type=\"v:T\"/></dc:dc>";
    let document = format!(
        "<OAI-PMH xmlns='{OAI}' xmlns:dc='urn:wrong' xmlns:xsi='urn:xsi' xmlns:unused='urn:u'>\
         <responseDate>2024-02-29T12:00:00Z</responseDate><request>http://x/</request>\
         <ListRecords xmlns:v='urn:v'>{}</ListRecords></OAI-PMH>",
        record(1, body).replace("<record>", "<record xmlns:dc='urn:d&amp;c'>")
    );
    let expected = "<dc:dc xmlns:xsi=\"urn:xsi\" xmlns:v=\"urn:v\" xmlns:dc=\"urn:d&amp;c\">\
                    <dc:title xsi:type=\"v:T\"/></dc:dc>";
    assert_eq!(only_record(&document).metadata.as_deref(), Some(expected));
}

#[test]
fn a_namespace_declared_on_the_root_is_not_declared_again() {
    let metadata = "<xsi:a xmlns:xsi=\"urn:own\"/>";
    assert_eq!(
        only_record(&records(&record(1, metadata))).metadata.as_deref(),
        Some(metadata)
    );
}

#[test]
fn the_default_namespace_is_added_only_if_an_element_is_in_it() {
    let inherits = only_record(&records(&record(1, "<x:a xmlns:x=\"urn:x\"><b/></x:a>")));
    let expected = format!("<x:a xmlns=\"{OAI}\" xmlns:x=\"urn:x\"><b/></x:a>");
    assert_eq!(inherits.metadata, Some(expected));

    for metadata in [
        "<a xmlns=\"urn:x\"><b/></a>",
        "<a xmlns=\"\"/>",
        "<x:a xmlns:x=\"urn:x\" b=\"\"/>",
    ] {
        assert_eq!(
            only_record(&records(&record(1, metadata))).metadata.as_deref(),
            Some(metadata)
        );
    }
}

#[test]
fn several_about_containers_are_kept_in_order() {
    let record = record(1, "<a xmlns='u'/>").replace(
        "</record>",
        "<about><b xmlns='u'/></about><about>\n<c xmlns='u'/></about></record>",
    );
    assert_eq!(
        only_record(&records(&record)).about,
        ["<b xmlns='u'/>", "<c xmlns='u'/>"]
    );
}

#[test]
fn headers_formats_and_sets_are_read() {
    let header = "<header><identifier>\noai:x.y:1 </identifier><datestamp>2024-01-01</datestamp></header>";
    let token = "<resumptionToken completeListSize='175' cursor='100' expirationDate='2024-03-01T00:00:00Z'>\n a+b \
                 </resumptionToken>";
    let events = answer(&response(&format!(
        "<ListIdentifiers>{header}{token}</ListIdentifiers>"
    )));
    assert!(matches!(&events[0], Event::Header(header) if header.identifier.as_str() == "oai:x.y:1"));
    let expected = ResumptionToken {
        value: "a+b".to_owned(),
        expiration_date: Some(Datestamp::parse("2024-03-01T00:00:00Z").unwrap()),
        complete_list_size: Some(175),
        cursor: Some(100),
    };
    assert_eq!(events[1], Event::ResumptionToken(expected));

    let format = "<metadataFormat><metadataPrefix>oai_dc</metadataPrefix><schema>http://s</schema>\
                  <metadataNamespace>urn:n</metadataNamespace></metadataFormat>";
    let events = answer(&response(&format!(
        "<ListMetadataFormats>{format}</ListMetadataFormats>"
    )));
    assert!(matches!(&events[0], Event::MetadataFormat(format) if format.namespace == "urn:n"));

    let set = "<set><setSpec>a:b</setSpec><setName>A &amp; B</setName>\
               <setDescription><d xmlns='u'/></setDescription></set>";
    let events = answer(&response(&format!("<ListSets>{set}</ListSets>")));
    assert!(matches!(&events[0], Event::Set(set) if set.name == "A & B" && set.descriptions.len() == 1));
}

#[test]
fn advice_of_a_token_that_cannot_be_read_is_left_out() {
    let token = "<resumptionToken completeListSize='many' cursor='-1' expirationDate='soon'>x</resumptionToken>";
    let events = answer(&records(token));
    let expected = ResumptionToken {
        value: "x".to_owned(),
        expiration_date: None,
        complete_list_size: None,
        cursor: None,
    };
    assert_eq!(events, [Event::ResumptionToken(expected)]);
}

#[test]
fn a_token_of_white_space_is_empty() {
    let events = answer(&records("<resumptionToken>\n  </resumptionToken>"));
    assert!(matches!(&events[0], Event::ResumptionToken(token) if token.value.is_empty()));
}

const IDENTIFY: &str = "<Identify><repositoryName>Maps</repositoryName><baseURL>http://x/</baseURL>\
    <protocolVersion>2.0</protocolVersion><adminEmail>a@b.c</adminEmail>\
    <earliestDatestamp>1999-12-31</earliestDatestamp><deletedRecord>transient</deletedRecord>\
    <granularity>YYYY-MM-DD</granularity><compression>gzip</compression>\
    <description><d xmlns=\"u\"/></description></Identify>";

#[test]
fn identify_is_read_whole() {
    let events = answer(&response(IDENTIFY));
    let [Event::Identify(identify)] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(identify.deleted_record, DeletedRecord::Transient);
    assert_eq!(identify.granularity, Granularity::Day);
    assert_eq!(identify.earliest_datestamp.to_string(), "1999-12-31T00:00:00Z");
    assert_eq!(identify.descriptions, [Description::Xml("<d xmlns=\"u\"/>".to_owned())]);
}

#[test]
fn identify_lacking_a_part_is_refused() {
    for part in [
        "repositoryName",
        "baseURL",
        "protocolVersion",
        "adminEmail",
        "earliestDatestamp",
    ] {
        let start = IDENTIFY.find(&format!("<{part}>")).unwrap();
        let end = IDENTIFY.find(&format!("</{part}>")).unwrap() + part.len() + 3;
        let document = response(&format!("{}{}", &IDENTIFY[..start], &IDENTIFY[end..]));
        let fault = only_fault(&document);
        assert!(
            matches!(fault.fault, ReadFault::Missing { element, .. } if element == part),
            "{fault}"
        );
    }
}

#[test]
fn a_faulty_record_costs_itself_and_not_its_page() {
    let good = |number| record(number, "<a xmlns='u'/>");
    for bad in [
        record(2, "<a xmlns='u'>&nbsp;</a>"),
        record(2, "<a xmlns='u'>x & y</a>"),
        record(2, "<a xmlns='u'>\u{b}</a>"),
        record(2, "<a xmlns='u'>&#11;</a>"),
        record(2, "<a xmlns='u'>]]></a>"),
        record(2, "<a xmlns='u' b='1' b='2'/>"),
        record(2, "<a xmlns='u'><!-- -- --></a>"),
        record(2, "<a xmlns='u'><?xml version='1.0'?></a>"),
        record(2, "<x:a/>"),
        record(2, "<a xmlns='u' x:b=''/>"),
        record(2, ""),
        record(2, "text"),
        record(2, "<a xmlns='u'/><b xmlns='u'/>"),
        good(2).replace("2024-01-02T03:04:05Z", "2024-01-02T03:04:05.000Z"),
        good(2).replace("oai:example.org:2", "example 2"),
        good(2).replace("<header>", "<header status='Deleted'>"),
        good(2).replace("header>", "haeder>"),
        good(2).replace("<metadata>", "<surprise/><metadata>"),
        "<record/>".to_owned(),
        "<record><header/></record>".to_owned(),
        "<header/>".to_owned(),
        "text".to_owned(),
        "<surprise><record/></surprise>".to_owned(),
    ] {
        let document = records(&format!("{}{bad}{}", good(1), good(3)));
        let outcomes = read_all(document.as_bytes());
        assert_eq!(outcomes.len(), 5, "{bad}: {outcomes:#?}");
        let error = outcomes[3].as_ref().unwrap_err();
        assert!(error.can_continue(), "{bad}: {error}");
        let first_byte = document.find(&bad).unwrap() as u64;
        let behind = first_byte + bad.len() as u64;
        assert!((first_byte..=behind).contains(&error.position), "{bad}: {error}");
        for place in [2, 4] {
            assert!(
                matches!(outcomes[place], Ok(Event::Record(_))),
                "{bad}: {:?}",
                outcomes[place]
            );
        }
    }
}

#[test]
fn text_that_is_not_utf8_costs_one_record() {
    let bad = record(2, "<a xmlns='u'>caf?</a>");
    let document = records(&format!(
        "{}{bad}{}",
        record(1, "<a xmlns='u'/>"),
        record(3, "<a xmlns='u'/>")
    ));
    let mut document = document.into_bytes();
    let place = document.iter().rposition(|byte| *byte == b'?').unwrap();
    document[place] = 0xE9;
    let outcomes = read_all(&document);
    assert_eq!(outcomes.len(), 5, "{outcomes:#?}");
    let error = outcomes[3].as_ref().unwrap_err();
    assert!(matches!(error.fault, ReadFault::NotUtf8) && error.can_continue());
    assert!(matches!(outcomes[4], Ok(Event::Record(_))));
}

#[test]
fn documents_that_cannot_be_read_end_the_reading() {
    let good = records(&record(1, "<a xmlns='u'/>"));
    for (document, expected) in [
        (String::new(), "empty"),
        (" \n".to_owned(), "empty"),
        ("<!-- x -->".to_owned(), "empty"),
        ("Service unavailable".to_owned(), "begins with text"),
        ("<html><body>Log in</body></html>".to_owned(), "not an OAI-PMH response"),
        (
            good.replace(OAI, "http://www.openarchives.org/OAI/1.1/"),
            "not an OAI-PMH response",
        ),
        (good.replace("UTF-8", "ISO-8859-1"), "encoding"),
        (good.replace("version=\"1.0\"", "version=\"1.1\""), "version"),
        (format!(" {good}"), "declaration"),
        (good.replace("<OAI-PMH", "<!DOCTYPE OAI-PMH><OAI-PMH"), "DOCTYPE"),
        (good.replace("</record>", "</recrod>"), "not well-formed"),
        (good.replace("</metadata>", ""), "not well-formed"),
        (format!("{good}<again/>"), "another element"),
        (good.replace("<a xmlns='u'/>", "<!DOCTYPE x><a xmlns='u'/>"), "DOCTYPE"),
        (good[..good.len() - 12].to_owned(), "middle"),
        (good[..good.len() / 2].to_owned(), "middle"),
    ] {
        let outcomes = read_all(document.as_bytes());
        let error = outcomes.last().unwrap().as_ref().unwrap_err();
        assert!(error.to_string().contains(expected), "{document}: {error}");
        assert!(!error.can_continue(), "{document}: {error}");
    }
}

#[test]
fn every_truncation_of_a_response_is_noticed() {
    let document = records(&record(1, "<a xmlns='u' b=\"c\"><!-- d --><![CDATA[e]]>&amp;</a>"));
    for length in 0..document.len() {
        let outcomes = read_all(&document.as_bytes()[..length]);
        assert!(outcomes.last().unwrap().is_err(), "{}", &document[..length]);
    }
}

#[test]
fn a_response_without_its_parts_is_noticed() {
    let without = |part: &str, document: &str| {
        let start = document.find(&format!("<{part}")).unwrap();
        let end = document.find(&format!("</{part}>")).unwrap() + part.len() + 3;
        format!("{}{}", &document[..start], &document[end..])
    };
    let document = response("<error code='badVerb'></error>");
    for part in ["responseDate", "request", "error"] {
        let fault = only_fault(&without(part, &document));
        assert!(
            matches!(fault.fault, ReadFault::Missing { parent: "OAI-PMH", .. }),
            "{fault}"
        );
    }
}

#[test]
fn a_notice_behind_the_response_is_a_fault_after_the_last_event() {
    let document = format!("{}PHP Notice: unset", records(&record(1, "<a xmlns='u'/>")));
    let outcomes = read_all(document.as_bytes());
    assert!(matches!(outcomes[2], Ok(Event::Record(_))));
    assert!(matches!(
        outcomes[3].as_ref().unwrap_err().fault,
        ReadFault::UnexpectedText { .. }
    ));
    assert_eq!(outcomes.len(), 4);
}

#[test]
fn a_byte_order_mark_is_allowed() {
    assert_eq!(
        read_all(format!("\u{FEFF}{}", response("<error code='badVerb'/>")).as_bytes()).len(),
        3
    );
    assert!(faults(format!("\u{FEFF}{}", response("<error code='badVerb'/>")).as_bytes()).is_empty());
}

#[test]
fn an_entry_beyond_the_limit_is_refused() {
    let document = records(&format!(
        "{}{}",
        record(1, "<a xmlns='u'/>"),
        record(2, &format!("<a xmlns='u'>{}</a>", "x".repeat(10_000)))
    ));
    let limits = ReadLimits {
        max_entry_bytes: 5_000,
        ..ReadLimits::default()
    };
    let mut reader = ResponseReader::with_limits(document.as_bytes(), limits);
    for _ in 0..3 {
        assert!(reader.next().unwrap().is_some());
    }
    let error = reader.next().unwrap_err();
    assert!(matches!(error.fault, ReadFault::TooLarge { limit: 5_000 }), "{error}");
    assert!(reader.position() < 6_000, "{}", reader.position());
    assert!(reader.next().unwrap().is_none());
}

#[test]
fn an_endless_text_does_not_fill_the_memory() {
    let start = format!("<OAI-PMH xmlns='{OAI}'>");
    let source = BufReader::new(start.as_bytes().chain(std::io::repeat(b' ')));
    let limits = ReadLimits {
        max_entry_bytes: 1 << 20,
        ..ReadLimits::default()
    };
    let error = ResponseReader::with_limits(source, limits).next().unwrap_err();
    assert!(matches!(error.fault, ReadFault::TooLarge { .. }), "{error}");
}

#[test]
fn nesting_beyond_the_limit_is_refused() {
    let nested = |depth| format!("<a xmlns='u'>{}{}</a>", "<b>".repeat(depth), "</b>".repeat(depth));
    // OAI-PMH, ListRecords, record, metadata and a lie around the b.
    assert!(faults(records(&record(1, &nested(251))).as_bytes()).is_empty());
    let fault = only_fault(&records(&record(1, &nested(252))));
    assert!(matches!(fault.fault, ReadFault::TooDeep { limit: 256 }), "{fault}");
    let deep = "<a>".repeat(1000);
    let mut reader = RecordsReader::new(deep.as_bytes());
    assert!(matches!(reader.next().unwrap_err().fault, ReadFault::TooDeep { .. }));
}

/// Hands out one byte at a time, as a slow network might.
struct Trickle<'a>(&'a [u8]);

impl Read for Trickle<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = self.0.len().min(into.len()).min(1);
        into[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

impl BufRead for Trickle<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(&self.0[..self.0.len().min(1)])
    }

    fn consume(&mut self, length: usize) {
        self.0 = &self.0[length..];
    }
}

#[test]
fn how_the_bytes_arrive_does_not_matter() {
    let metadata = "<a:b xmlns:a='urn:a' c='>'><!-- <x> --><![CDATA[]]]]>é&lt;<a:e /></a:b >";
    let document = records(&format!("{}{}", record(1, metadata), record(2, "<x/><y/>")));
    let mut reader = ResponseReader::new(Trickle(document.as_bytes()));
    let mut outcomes = Vec::new();
    while let Some(outcome) = reader.next().transpose() {
        outcomes.push(format!("{outcome:?}"));
    }
    let whole: Vec<String> = read_all(document.as_bytes())
        .iter()
        .map(|outcome| format!("{outcome:?}"))
        .collect();
    assert_eq!(outcomes, whole);
}

fn saved_records(document: &str) -> Vec<String> {
    let mut reader = RecordsReader::new(document.as_bytes());
    let mut identifiers = Vec::new();
    while let Some(record) = reader.next().unwrap() {
        identifiers.push(record.header.identifier.into_string());
    }
    identifiers
}

#[test]
fn records_are_found_in_whatever_a_harvester_saved() {
    let in_namespace =
        |number| record(number, "<a xmlns='u'/>").replace("<record>", &format!("<record xmlns='{OAI}'>"));
    let bare = in_namespace(1);
    let marc = "<record xmlns='http://www.loc.gov/MARC21/slim'><leader/></record>";
    for document in [
        bare.clone(),
        format!("<?xml version=\"1.0\"?>\n{bare}"),
        records(&record(1, "<a xmlns='u'/>")),
        format!("<harvest><page n='1'>noise {marc}{bare}</page></harvest>"),
        format!(
            "<o:x xmlns:o='{OAI}'>{}</o:x>",
            record(1, "<a xmlns='u'/>")
                .replace("</", "</o:")
                .replace("<h", "<o:h")
                .replace("<r", "<o:r")
                .replace("<i", "<o:i")
                .replace("<d", "<o:d")
                .replace("<m", "<o:m")
        ),
    ] {
        assert_eq!(saved_records(&document), ["oai:example.org:1"], "{document}");
    }
    let several = format!(
        "<?xml version=\"1.0\"?>{}\n<?xml version=\"1.0\"?>{}",
        in_namespace(1),
        in_namespace(2)
    );
    assert_eq!(saved_records(&several), ["oai:example.org:1", "oai:example.org:2"]);
    assert_eq!(saved_records(""), [""; 0]);
    assert_eq!(saved_records(marc), [""; 0]);
}

#[test]
fn a_faulty_saved_record_costs_itself() {
    let document = records(&format!("<record/>{}", record(2, "<a xmlns='u'/>")));
    let mut reader = RecordsReader::new(document.as_bytes());
    assert!(reader.next().unwrap_err().can_continue());
    assert!(reader.next().unwrap().is_some());
    assert!(reader.next().unwrap().is_none());
}

/// A namespace is handed on with the metadata that uses it.
#[test]
fn bytes_that_are_not_utf8_are_found_in_the_envelope_too() {
    for envelope in [
        &b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/' xmlns:x='urn:\xB6'><responseDate>"[..],
        &b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><ListRecords xmlns:x='urn:\xB6'><record>"[..],
    ] {
        let mut reader = ResponseReader::new(envelope);
        let error = reader.next().unwrap_err();
        assert!(matches!(error.fault, ReadFault::NotUtf8), "{error}");
        assert!(!error.can_continue());
    }
}
