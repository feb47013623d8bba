//! What is written is read back the same, and no bytes make a reader panic.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

use std::io::{BufReader, Read};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use stook_oai::response::{
    Echo, EncodingHint, Event, HeaderRef, ReadLimits, RecordsReader, Repaired, ResponseReader, ResponseWriter,
    Tolerated, content_fragment, split_fragment,
};
use stook_oai::{
    Datestamp, DeletedRecord, Description, ErrorCode, Granularity, Header, Identifier, Identify, ListRequest,
    MetadataFormat, MetadataPrefix, OaiError, OaiNamespace, Record, Request, ResumptionToken, Set, SetSpec,
    UtcDatetime,
};

/// Text as it stands in names and messages: anything XML can carry.
fn text() -> impl Strategy<Value = String> {
    "[\\t\\n\\r -~\u{80}-\u{D7FF}\u{E000}-\u{FFFD}😀]{0,20}"
}

/// Text without white space around it, which values do not keep.
fn value() -> impl Strategy<Value = String> {
    text().prop_map(|text| text.trim_matches([' ', '\t', '\n', '\r']).to_owned())
}

fn datestamp() -> impl Strategy<Value = Datestamp> {
    (Datestamp::MIN.unix()..=Datestamp::MAX.unix()).prop_map(|seconds| Datestamp::from_unix(seconds).unwrap())
}

fn granularity() -> impl Strategy<Value = Granularity> {
    prop_oneof![Just(Granularity::Day), Just(Granularity::Second)]
}

fn metadata_prefix() -> impl Strategy<Value = MetadataPrefix> {
    "[A-Za-z0-9_.!~*'()-]{1,12}".prop_map(|text| MetadataPrefix::parse(&text).unwrap())
}

fn set_spec() -> impl Strategy<Value = SetSpec> {
    "[A-Za-z0-9_.!~*'()-]{1,6}(:[A-Za-z0-9_.!~*'()-]{1,6}){0,3}".prop_map(|text| SetSpec::parse(&text).unwrap())
}

fn identifier() -> impl Strategy<Value = Identifier> {
    "\\PC{1,20}".prop_map(|local| OaiNamespace::parse("example.org").unwrap().identifier(&local).unwrap())
}

/// XML of one element that stands alone.
fn element() -> impl Strategy<Value = String> {
    let leaf = text().prop_map(|text| {
        let mut out = Vec::new();
        stook_oai::xml::push_element(&mut out, "e:leaf", &text);
        String::from_utf8(out).unwrap()
    });
    let leaf = prop_oneof![
        leaf,
        Just("<e:metadata/>".to_owned()),
        Just("<!-- </metadata> -->".to_owned())
    ];
    vec(leaf, 0..4).prop_map(|leaves| format!("<e:root xmlns:e=\"urn:e\">{}</e:root>", leaves.concat()))
}

/// Dates that suit each other: in order and of one granularity.
fn dates() -> impl Strategy<Value = (Option<UtcDatetime>, Option<UtcDatetime>)> {
    (option::of(datestamp()), option::of(datestamp()), granularity()).prop_map(|(from, until, granularity)| {
        let (from, until) = match (from, until) {
            (Some(from), Some(until)) => (Some(from.min(until)), Some(from.max(until))),
            other => other,
        };
        let datetime = |datestamp| UtcDatetime::new(datestamp, granularity);
        (from.map(datetime), until.map(datetime))
    })
}

fn list_request() -> impl Strategy<Value = ListRequest> {
    let selection =
        (metadata_prefix(), dates(), option::of(set_spec())).prop_map(|(metadata_prefix, (from, until), set)| {
            ListRequest::Selection {
                metadata_prefix,
                from,
                until,
                set,
            }
        });
    let resume = text().prop_map(|resumption_token| ListRequest::Resume { resumption_token });
    prop_oneof![selection, resume]
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        Just(Request::Identify),
        option::of(identifier()).prop_map(|identifier| Request::ListMetadataFormats {
            identifier: identifier.map(Identifier::into_string)
        }),
        option::of(text()).prop_map(|resumption_token| Request::ListSets { resumption_token }),
        ("[a-z \"'<>&é]{0,9}", metadata_prefix()).prop_map(|(identifier, metadata_prefix)| Request::GetRecord {
            identifier,
            metadata_prefix
        }),
        list_request().prop_map(Request::ListIdentifiers),
        list_request().prop_map(Request::ListRecords),
    ]
}

fn token() -> impl Strategy<Value = ResumptionToken> {
    (
        value(),
        option::of(datestamp()),
        option::of(1..u64::MAX),
        option::of(any::<u64>()),
    )
        .prop_map(|(value, expiration_date, complete_list_size, cursor)| ResumptionToken {
            value,
            expiration_date,
            complete_list_size,
            cursor,
        })
}

fn record(granularity: Granularity) -> impl Strategy<Value = (Datestamp, Record)> {
    let content = (element(), vec(element(), 0..3));
    let header = (identifier(), datestamp(), vec(set_spec(), 0..3), any::<bool>());
    (header, content).prop_map(
        move |((identifier, datestamp, set_specs, deleted), (metadata, about))| {
            let header = Header {
                identifier,
                datestamp: UtcDatetime::new(datestamp, granularity),
                odd_datestamp: None,
                set_specs,
                deleted,
            };
            let record = if deleted {
                Record {
                    header,
                    metadata: None,
                    about: Vec::new(),
                }
            } else {
                Record {
                    header,
                    metadata: Some(metadata),
                    about,
                }
            };
            (datestamp, record)
        },
    )
}

fn identify() -> impl Strategy<Value = Identify> {
    let names = (text(), value(), vec(value(), 1..3), vec(value(), 0..3));
    let promises = (
        datestamp(),
        granularity(),
        prop_oneof![
            Just(DeletedRecord::No),
            Just(DeletedRecord::Persistent),
            Just(DeletedRecord::Transient)
        ],
    );
    let descriptions = vec(
        prop_oneof![
            element().prop_map(Description::Xml),
            vec(text(), 0..3).prop_map(|base_urls| Description::Friends { base_urls }),
        ],
        0..3,
    );
    (names, promises, descriptions).prop_map(|(names, (earliest, granularity, deleted_record), descriptions)| {
        let (repository_name, base_url, admin_emails, compressions) = names;
        Identify {
            repository_name,
            base_url,
            admin_emails,
            earliest_datestamp: earliest.truncate(granularity),
            deleted_record,
            granularity,
            compressions,
            descriptions,
        }
    })
}

fn begin(request: &Request) -> ResponseWriter {
    ResponseWriter::new(
        Vec::new(),
        Datestamp::UNIX_EPOCH,
        "https://example.org/oai",
        &Echo::Arguments(request),
    )
}

fn read(response: &[u8]) -> Vec<Event> {
    let mut reader = ResponseReader::new(response);
    let mut events = Vec::new();
    while let Some(event) = reader.next().unwrap() {
        events.push(event);
    }
    events
}

/// The events behind date and request, which a lenient reader finds too,
/// however they arrive, and without having to tolerate anything.
fn answer(response: &[u8]) -> Vec<Event> {
    let mut events = read(response);
    let lenient = format!("{:?}", (events.iter().map(Ok::<_, ()>).collect::<Vec<_>>(), "{}"));
    for size in [1, 10, 100_000] {
        let (outcomes, tolerated) = read_leniently(response, size);
        assert_eq!(format!("{:?}", (outcomes, format!("{tolerated:?}"))), lenient);
    }
    events.split_off(2)
}

/// Every outcome of a lenient reader that gets at most `size` bytes at a time,
/// and what it tolerated.
fn read_leniently(response: &[u8], size: usize) -> (Vec<Result<Event, String>>, Tolerated) {
    let limits = ReadLimits {
        max_entry_bytes: 4096,
        ..ReadLimits::default()
    };
    let source = BufReader::with_capacity(size, response);
    let mut reader = ResponseReader::lenient(source, limits, EncodingHint::default());
    let mut outcomes = Vec::new();
    while let Some(outcome) = reader.next().transpose() {
        outcomes.push(outcome.map_err(|error| format!("{error:?}")));
        // Every outcome but the last takes bytes of its own.
        assert!(outcomes.len() <= response.len() + 1, "{outcomes:?}");
    }
    (outcomes, reader.tolerated())
}

proptest! {
    #[test]
    fn a_request_survives_its_query_string(request in request()) {
        let parsed = Request::parse_query(request.encode().as_bytes(), Granularity::Second);
        prop_assert_eq!(parsed, Ok(request));
    }

    #[test]
    fn the_echo_of_a_request_holds_its_arguments(request in request()) {
        let response = begin(&request).errors(&[OaiError::new(ErrorCode::NoRecordsMatch, "")]);
        let arguments: Vec<(String, String)> = request
            .arguments()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into_owned()))
            .collect();
        let base_url = "https://example.org/oai".to_owned();
        prop_assert_eq!(&read(&response)[1], &Event::Request { base_url, arguments });
    }

    #[test]
    fn errors_survive(message in text()) {
        let errors: Vec<OaiError> =
            ErrorCode::ALL.into_iter().map(|code| OaiError::new(code, message.clone())).collect();
        let response = begin(&Request::Identify).errors(&errors);
        prop_assert_eq!(answer(&response), errors.into_iter().map(Event::Error).collect::<Vec<_>>());
    }

    #[test]
    fn identify_survives(identify in identify()) {
        let response = begin(&Request::Identify).identify(&identify);
        let mut expected = identify;
        for description in &mut expected.descriptions {
            *description = Description::Xml(description.to_xml());
        }
        prop_assert_eq!(answer(&response), vec![Event::Identify(Box::new(expected))]);
    }

    #[test]
    fn formats_survive(formats in vec((metadata_prefix(), value(), value()), 1..4)) {
        let formats: Vec<MetadataFormat> = formats
            .into_iter()
            .map(|(prefix, schema, namespace)| MetadataFormat { prefix, schema, namespace })
            .collect();
        let response = begin(&Request::ListMetadataFormats { identifier: None }).metadata_formats(&formats);
        prop_assert_eq!(answer(&response), formats.into_iter().map(Event::MetadataFormat).collect::<Vec<_>>());
    }

    #[test]
    fn sets_survive(
        sets in vec((set_spec(), text(), vec(element(), 0..3)), 1..4),
        token in option::of(token()),
    ) {
        let mut writer = begin(&Request::ListSets { resumption_token: None }).sets();
        let mut expected = Vec::new();
        for (spec, name, descriptions) in sets {
            let set = Set { spec, name, descriptions };
            writer.set(&set);
            expected.push(Event::Set(set));
        }
        let response = writer.finish(token.as_ref());
        expected.extend(token.map(Event::ResumptionToken));
        prop_assert_eq!(answer(&response), expected);
    }

    #[test]
    fn records_and_headers_survive(
        (granularity, records) in
            granularity().prop_flat_map(|granularity| (Just(granularity), vec(record(granularity), 1..4))),
        token in option::of(token()),
    ) {
        let list = ListRequest::Resume { resumption_token: "x".to_owned() };
        let mut full = begin(&Request::ListRecords(list.clone())).list_records(granularity);
        let mut brief = begin(&Request::ListIdentifiers(list)).list_identifiers(granularity);
        for (datestamp, record) in &records {
            let specs: Vec<&str> = record.header.set_specs.iter().map(SetSpec::as_str).collect();
            let header = HeaderRef {
                identifier: record.header.identifier.as_str(),
                datestamp: *datestamp,
                set_specs: &specs.join(" "),
                deleted: record.header.deleted,
            };
            brief.header(&header);
            full.record(&header, |out| {
                let metadata = record.metadata.as_deref().unwrap();
                out.extend_from_slice(&content_fragment(metadata, &record.about));
            });
        }
        let (full, brief) = (full.finish(token.as_ref()), brief.finish(token.as_ref()));

        let token = token.map(Event::ResumptionToken);
        let headers = records.iter().map(|(_, record)| Event::Header(record.header.clone()));
        prop_assert_eq!(answer(&brief), headers.chain(token.clone()).collect::<Vec<_>>());
        let expected: Vec<Event> =
            records.into_iter().map(|(_, record)| Event::Record(record)).chain(token).collect();
        prop_assert_eq!(answer(&full), expected);
    }

    #[test]
    fn a_fragment_survives(metadata in element(), about in vec(element(), 0..3)) {
        let fragment = content_fragment(&metadata, &about);
        let parts = split_fragment(&fragment).unwrap();
        prop_assert_eq!(parts.metadata, metadata);
        prop_assert_eq!(parts.about, about);
    }

    #[test]
    fn every_date_is_read_as_it_is_written(datestamp in datestamp(), granularity in granularity()) {
        let text = datestamp.format(granularity).to_string();
        let read = UtcDatetime::parse(&text).unwrap();
        prop_assert_eq!(read, UtcDatetime::new(datestamp, granularity));
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn text_of_the_shape_of_a_date_is_a_date_or_refused(text in "[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?") {
        if let Ok(read) = UtcDatetime::parse(&text) {
            prop_assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn any_text_is_parsed_without_panic(text in ".{0,40}") {
        let _ = Identifier::parse(&text);
        let _ = OaiNamespace::parse(&text);
        let _ = MetadataPrefix::parse(&text);
        let _ = SetSpec::parse(&text);
        let _ = UtcDatetime::parse(&text);
    }
}

fn read_without_panic(document: &[u8]) {
    let whole = read_leniently(document, 100_000);
    for size in [1, 3, 50] {
        assert_eq!(read_leniently(document, size), whole, "in pieces of {size}");
    }
    let mut repaired = Repaired::new(document, EncodingHint::default());
    let mut text = String::new();
    repaired.read_to_string(&mut text).unwrap();
    assert!(stook_oai::xml::is_xml_text(&text));
    let mut again = String::new();
    let mut repaired = Repaired::new(text.as_bytes(), EncodingHint::default());
    repaired.read_to_string(&mut again).unwrap();
    let mut reader = ResponseReader::new(document);
    // Every error but the last leaves something behind it, so this ends.
    while !matches!(reader.next(), Ok(None)) {}
    let mut reader = RecordsReader::new(document);
    while !matches!(reader.next(), Ok(None)) {}
}

/// Pieces that make documents which are nearly responses.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'>".to_owned()),
        "</?(OAI-PMH|ListRecords|Identify|ListSets|set|setSpec|record|header|identifier|metadata|about|x)( a='b')? ?/?>",
        Just("<record xmlns='http://www.openarchives.org/OAI/2.0/'>".to_owned()),
        Just("<header><identifier>oai:x.y:1</identifier><datestamp>2001-01-01</datestamp></header>".to_owned()),
        "<!(--|\\[CDATA\\[|DOCTYPE| )?",
        "-->|\\]\\]>|\\?>|>|<|&|;|'|\"|/|<\\?xml ?|&#[0-9x]{0,3};?",
        "&(nbsp|eacute|amp|x)?;?|&#xD83D;|&#xDE00;|&#x?[0-9A-F]{1,4};",
        Just("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>".to_owned()),
        Just("<OAI-PMH><responseDate>2001-01-01 10:00</responseDate><ListRecords>".to_owned()),
        "<resumptionToken>x</resumptionToken>|</record>|<br>|<html>|é",
        "\\PC{0,3}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_read_without_panic(bytes in vec(any::<u8>(), 0..200)) {
        read_without_panic(&bytes);
    }

    #[test]
    fn any_document_that_is_nearly_a_response_is_read_without_panic(
        pieces in vec(piece(), 0..20),
        damage in option::of((any::<proptest::sample::Index>(), any::<u8>())),
    ) {
        let mut document = pieces.concat().into_bytes();
        if let Some((place, byte)) = damage && !document.is_empty() {
            let place = place.index(document.len());
            document[place] = byte;
        }
        read_without_panic(&document);
        let envelope = b"<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><ListRecords>";
        read_without_panic(&[&envelope[..], &document].concat());
    }
}

#[test]
fn the_golden_files_are_read_without_fault() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let mut files = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let response = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!answer(&response).is_empty());
        files += 1;
    }
    assert!(files >= 10, "{files}");
}
