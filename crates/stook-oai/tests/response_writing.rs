//! Values → XML: one golden file for each kind of response.
//!
//! The files in `tests/golden` are valid by the official schemas. After an
//! intended change run the tests with `UPDATE_GOLDEN=1`, read the difference
//! line by line, and validate the files again.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

use std::path::Path;

use stook_oai::response::{Echo, HeaderRef, ResponseWriter, content_fragment};
use stook_oai::{
    CollectionIcon, Datestamp, DeletedRecord, Description, ErrorCode, Granularity, Identify, ListRequest,
    MetadataFormat, MetadataPrefix, MetadataRendering, MimeType, OaiError, OaiNamespace, Policy, Request,
    ResumptionToken, Rights, Set, SetSpec, UtcDatetime,
};

const BASE_URL: &str = "https://example.org/oai?a=1&b=2";

const DC: &str = r#"<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/ http://www.openarchives.org/OAI/2.0/oai_dc.xsd"><dc:title>Übersichtskarte &amp; Plan</dc:title></oai_dc:dc>"#;

const RIGHTS: &str = r#"<rights xmlns="http://www.openarchives.org/OAI/2.0/rights/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/rights/ http://www.openarchives.org/OAI/2.0/rights.xsd"><rightsReference ref="https://creativecommons.org/publicdomain/zero/1.0/"/></rights>"#;

fn at(text: &str) -> Datestamp {
    Datestamp::parse(text).unwrap()
}

fn writer(request: &Request) -> ResponseWriter {
    let now = at("2024-02-29T12:00:00Z");
    ResponseWriter::new(Vec::new(), now, BASE_URL, &Echo::Arguments(request))
}

fn selection() -> ListRequest {
    ListRequest::Selection {
        metadata_prefix: MetadataPrefix::oai_dc(),
        from: Some(UtcDatetime::parse("2024-01-01").unwrap()),
        until: None,
        set: Some(SetSpec::parse("maps:city").unwrap()),
    }
}

fn living(identifier: &str) -> HeaderRef<'_> {
    HeaderRef {
        identifier,
        datestamp: at("2024-01-02T03:04:05Z"),
        set_specs: "maps:city prints",
        deleted: false,
    }
}

fn deleted(identifier: &str) -> HeaderRef<'_> {
    HeaderRef {
        deleted: true,
        set_specs: "maps",
        ..living(identifier)
    }
}

fn assert_golden(name: &str, response: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, response).unwrap();
    }
    let golden = std::fs::read_to_string(&path).expect(name);
    assert_eq!(String::from_utf8_lossy(response), golden, "{name}");
}

#[test]
fn identify_with_every_container() {
    let policy = |text: &str| Policy {
        url: Some("https://example.org/policy".to_owned()),
        text: Some(text.to_owned()),
    };
    let identify = Identify {
        repository_name: "Maps & <Plans>".to_owned(),
        base_url: BASE_URL.to_owned(),
        admin_emails: vec!["oai@example.org".to_owned(), "it@example.org".to_owned()],
        earliest_datestamp: at("1999-12-31T23:59:59Z"),
        deleted_record: DeletedRecord::Persistent,
        granularity: Granularity::Second,
        compressions: vec!["gzip".to_owned(), "zstd".to_owned()],
        descriptions: vec![
            Description::oai_identifier(OaiNamespace::parse("example.org").unwrap(), "50% of 'A & B'").unwrap(),
            Description::Friends {
                base_urls: vec!["https://a.example/oai?x=1&y=2".to_owned(), BASE_URL.to_owned()],
            },
            Description::Branding {
                icon: Some(CollectionIcon {
                    url: "https://example.org/icon.png".to_owned(),
                    link: Some("https://example.org/".to_owned()),
                    title: Some("\"Maps\" & more".to_owned()),
                    width: Some(88),
                    height: Some(31),
                }),
                renderings: vec![MetadataRendering {
                    url: "https://example.org/dc.xsl".to_owned(),
                    metadata_namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/".to_owned(),
                    mime_type: MimeType::parse("text/xsl").unwrap(),
                }],
            },
            Description::Eprints {
                content: Some(policy("Maps")),
                metadata_policy: policy("Free to use"),
                data_policy: Policy {
                    url: None,
                    text: Some("Ask <us>".to_owned()),
                },
                submission_policy: Some(Policy::default()),
                comments: vec!["One".to_owned(), "Two".to_owned()],
            },
            Description::RightsManifest {
                first: Rights::Reference("https://example.org/rights?a&b".to_owned()),
                others: vec![Rights::Definition(DC.to_owned())],
            },
            Description::Xml(
                Description::Branding {
                    icon: None,
                    renderings: Vec::new(),
                }
                .to_xml(),
            ),
        ],
    };
    assert_golden("identify.xml", &writer(&Request::Identify).identify(&identify));
}

#[test]
fn identify_of_a_repository_of_days() {
    let identify = Identify {
        repository_name: "Maps".to_owned(),
        base_url: BASE_URL.to_owned(),
        admin_emails: vec!["oai@example.org".to_owned()],
        earliest_datestamp: at("1999-12-31T23:59:59Z"),
        deleted_record: DeletedRecord::No,
        granularity: Granularity::Day,
        compressions: Vec::new(),
        descriptions: Vec::new(),
    };
    assert_golden("identify_days.xml", &writer(&Request::Identify).identify(&identify));
}

#[test]
fn errors_of_a_request_that_was_understood_keep_its_arguments() {
    let request = Request::GetRecord {
        identifier: "a\"b<c>&\t".to_owned(),
        metadata_prefix: MetadataPrefix::oai_dc(),
    };
    let response = writer(&request).errors(&[OaiError::new(ErrorCode::IdDoesNotExist, "No item is called <that>.")]);
    assert_golden("error_id_does_not_exist.xml", &response);
}

#[test]
fn errors_of_a_request_that_was_not_understood_have_no_arguments() {
    let errors = [
        OaiError::new(ErrorCode::BadArgument, "First \u{0}fault"),
        OaiError::new(ErrorCode::BadArgument, "Second fault"),
    ];
    let response = writer(&Request::Identify).errors(&errors);
    assert_golden("error_bad_argument.xml", &response);

    let now = at("2024-02-29T12:00:00Z");
    let without_echo = ResponseWriter::new(Vec::new(), now, BASE_URL, &Echo::None).errors(&errors);
    assert_eq!(response, without_echo);
}

#[test]
fn metadata_formats() {
    let formats = [
        MetadataFormat {
            prefix: MetadataPrefix::oai_dc(),
            schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd".to_owned(),
            namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/".to_owned(),
        },
        MetadataFormat {
            prefix: MetadataPrefix::parse("x").unwrap(),
            schema: "https://example.org/x?a&b".to_owned(),
            namespace: "urn:x".to_owned(),
        },
    ];
    let request = Request::ListMetadataFormats {
        identifier: Some("oai:x.y:1".to_owned()),
    };
    assert_golden("metadata_formats.xml", &writer(&request).metadata_formats(&formats));
}

#[test]
fn sets_with_a_description_and_the_end_of_a_split_list() {
    let mut sets = writer(&Request::ListSets {
        resumption_token: Some("abc".to_owned()),
    })
    .sets();
    sets.set(&Set {
        spec: SetSpec::parse("maps").unwrap(),
        name: "Maps & plans".to_owned(),
        descriptions: vec![DC.to_owned()],
    });
    sets.set(&Set {
        spec: SetSpec::parse("maps:city").unwrap(),
        name: "City maps".to_owned(),
        descriptions: Vec::new(),
    });
    assert_eq!(sets.count(), 2);
    let end = ResumptionToken {
        value: String::new(),
        expiration_date: None,
        complete_list_size: Some(12),
        cursor: Some(10),
    };
    assert_golden("sets.xml", &sets.finish(Some(&end)));
}

#[test]
fn one_record() {
    let request = Request::GetRecord {
        identifier: "oai:example.org:a&b".to_owned(),
        metadata_prefix: MetadataPrefix::oai_dc(),
    };
    let fragment = content_fragment(DC, &[RIGHTS.to_owned(), RIGHTS.to_owned()]);
    let header = living("oai:example.org:a&b");
    let response = writer(&request).get_record(Granularity::Second, &header, |out| out.extend_from_slice(&fragment));
    assert_golden("record.xml", &response);

    let response = writer(&request).get_record(Granularity::Second, &deleted(header.identifier), |_| {
        panic!("a deleted record has no content")
    });
    assert_golden("record_deleted.xml", &response);
}

#[test]
fn a_page_of_records_with_a_token() {
    let mut records = writer(&Request::ListRecords(selection())).list_records(Granularity::Second);
    let fragment = content_fragment(DC, &[]);
    records.record(&living("oai:example.org:1"), |out| out.extend_from_slice(&fragment));
    records.record(&deleted("oai:example.org:2"), |_| {
        panic!("a deleted record has no content")
    });
    assert_eq!(records.count(), 2);
    let next = ResumptionToken {
        value: "<next&>".to_owned(),
        expiration_date: Some(at("2024-03-01T12:00:00Z")),
        complete_list_size: Some(175),
        cursor: Some(0),
    };
    assert_golden("records.xml", &records.finish(Some(&next)));
}

#[test]
fn headers_of_a_repository_of_days() {
    let mut headers = writer(&Request::ListIdentifiers(selection())).list_identifiers(Granularity::Day);
    headers.header(&HeaderRef {
        set_specs: "",
        ..living("oai:example.org:1")
    });
    headers.header(&deleted("oai:example.org:2"));
    assert_eq!(headers.count(), 2);
    assert_golden("headers.xml", &headers.finish(None));
}

#[test]
fn a_record_whose_content_is_unavailable_leaves_no_trace() {
    let write = |attempt: bool| {
        let mut records = writer(&Request::ListRecords(selection())).list_records(Granularity::Second);
        records.record(&living("oai:example.org:1"), |out| {
            out.extend_from_slice(b"<metadata/>")
        });
        if attempt {
            let outcome = records.try_record(&living("oai:example.org:2"), |out| {
                out.extend_from_slice(b"<metadata>half");
                Err("damaged")
            });
            assert_eq!(outcome, Err("damaged"));
        }
        assert_eq!(records.count(), 1);
        records.finish(None)
    };
    assert_eq!(write(true), write(false));
}

#[test]
fn a_list_size_of_zero_is_not_written() {
    let records = writer(&Request::ListRecords(selection())).list_records(Granularity::Second);
    let token = ResumptionToken {
        value: String::new(),
        expiration_date: None,
        complete_list_size: Some(0),
        cursor: None,
    };
    let response = String::from_utf8(records.finish(Some(&token))).unwrap();
    assert!(response.contains("<resumptionToken></resumptionToken>"), "{response}");
}

#[test]
fn a_response_is_appended_to_what_the_buffer_holds() {
    let now = at("2024-02-29T12:00:00Z");
    let echo = Echo::Arguments(&Request::Identify);
    let response =
        ResponseWriter::new(b"before".to_vec(), now, BASE_URL, &echo).errors(&[OaiError::new(ErrorCode::BadVerb, "x")]);
    assert!(response.starts_with(b"before<?xml"));
}
