//! Values → the bytes of a response.
//!
//! A buffer, a date, a base URL and the request enter; the same buffer, now
//! holding one complete response, leaves. The envelope is written once and
//! entries are appended to it, so a page costs what copying its bytes costs.
//! Nothing is checked against the schema here except what the types already
//! guarantee: XML handed in as XML is trusted to be one well-formed element.

use super::list::{HeaderRef, HeadersWriter, RecordsWriter, SetsWriter, push_record};
use crate::request::Request;
use crate::types::{Datestamp, Granularity, Identify, MetadataFormat, OaiError, Verb};
use crate::xml::{self, push_attribute, push_element, push_end, push_start};

const PROLOGUE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd">
"#;

/// What the response's `request` element says about the request.
#[derive(Debug, Clone, Copy)]
pub enum Echo<'a> {
    /// The arguments of a request that was understood.
    Arguments(&'a Request),
    /// Nothing but the base URL: the request was not understood.
    None,
}

/// A response of which the envelope is written and the answer is not.
///
/// Each method that writes an answer consumes the writer, because a response
/// has exactly one.
///
/// ```
/// use stook_oai::response::{Echo, ResponseWriter};
/// use stook_oai::{Datestamp, ErrorCode, OaiError};
///
/// let now = Datestamp::from_unix(1_022_959_230).unwrap();
/// let writer = ResponseWriter::new(Vec::new(), now, "https://example.org/oai", &Echo::None);
/// let response = writer.errors(&[OaiError::new(ErrorCode::BadVerb, "The verb is missing.")]);
/// let response = String::from_utf8(response).unwrap();
/// assert!(response.contains("<responseDate>2002-06-01T19:20:30Z</responseDate>"));
/// assert!(response.contains("<request>https://example.org/oai</request>"));
/// assert!(response.contains(r#"<error code="badVerb">The verb is missing.</error>"#));
/// ```
#[derive(Debug)]
pub struct ResponseWriter {
    out: Vec<u8>,
    /// Where the attributes of `request` stand in `out`.
    attributes: std::ops::Range<usize>,
}

impl ResponseWriter {
    /// Begins a response at the end of `out`.
    ///
    /// `base_url` is the repository's own, as Identify gives it, whichever
    /// address the request came to.
    #[must_use]
    pub fn new(mut out: Vec<u8>, response_date: Datestamp, base_url: &str, request: &Echo<'_>) -> Self {
        out.extend_from_slice(PROLOGUE.as_bytes());
        push_start(&mut out, "responseDate");
        response_date.push_to(Granularity::Second, &mut out);
        push_end(&mut out, "responseDate");
        out.extend_from_slice(b"\n<request");
        let attributes_start = out.len();
        if let Echo::Arguments(request) = request {
            for (name, value) in request.arguments() {
                push_attribute(&mut out, name, &value);
            }
        }
        let attributes = attributes_start..out.len();
        out.push(b'>');
        xml::push_text(&mut out, base_url);
        push_end(&mut out, "request");
        out.push(b'\n');
        Self { out, attributes }
    }

    /// Answers with errors; at least one must be given.
    ///
    /// If one of them says that the request was not understood, the `request`
    /// element loses its attributes (§3.2), whatever the writer began with.
    #[must_use]
    pub fn errors(mut self, errors: &[OaiError]) -> Vec<u8> {
        if errors.iter().any(|error| error.code.hides_arguments()) {
            self.out.drain(self.attributes);
        }
        for error in errors {
            self.out.extend_from_slice(b"<error");
            push_attribute(&mut self.out, "code", error.code.as_str());
            self.out.push(b'>');
            xml::push_text(&mut self.out, &error.message);
            push_end(&mut self.out, "error");
            self.out.push(b'\n');
        }
        end_response(self.out)
    }

    /// Answers Identify.
    #[must_use]
    pub fn identify(self, identify: &Identify) -> Vec<u8> {
        let mut out = self.begin(Verb::Identify);
        let mut line = |name: &str, text: &str| {
            push_element(&mut out, name, text);
            out.push(b'\n');
        };
        // The order is the schema's.
        line("repositoryName", &identify.repository_name);
        line("baseURL", &identify.base_url);
        line("protocolVersion", "2.0");
        for email in &identify.admin_emails {
            line("adminEmail", email);
        }
        let earliest = identify.earliest_datestamp.format(identify.granularity);
        line("earliestDatestamp", earliest.as_str());
        line("deletedRecord", identify.deleted_record.as_str());
        line("granularity", identify.granularity.as_str());
        for compression in &identify.compressions {
            line("compression", compression);
        }
        for description in &identify.descriptions {
            push_start(&mut out, "description");
            description.push_to(&mut out);
            push_end(&mut out, "description");
            out.push(b'\n');
        }
        end_answer(out, Verb::Identify)
    }

    /// Answers ListMetadataFormats; at least one format must be given.
    #[must_use]
    pub fn metadata_formats(self, formats: &[MetadataFormat]) -> Vec<u8> {
        let mut out = self.begin(Verb::ListMetadataFormats);
        for format in formats {
            push_start(&mut out, "metadataFormat");
            push_element(&mut out, "metadataPrefix", format.prefix.as_str());
            push_element(&mut out, "schema", &format.schema);
            push_element(&mut out, "metadataNamespace", &format.namespace);
            push_end(&mut out, "metadataFormat");
            out.push(b'\n');
        }
        end_answer(out, Verb::ListMetadataFormats)
    }

    /// Answers ListSets, set by set.
    #[must_use]
    pub fn sets(self) -> SetsWriter {
        SetsWriter::new(self.begin(Verb::ListSets))
    }

    /// Answers GetRecord. `content` appends what [`RecordsWriter::record`]
    /// says; it is not called for a deleted record.
    #[must_use]
    pub fn get_record(
        self,
        granularity: Granularity,
        header: &HeaderRef<'_>,
        content: impl FnOnce(&mut Vec<u8>),
    ) -> Vec<u8> {
        let mut out = self.begin(Verb::GetRecord);
        push_record(&mut out, granularity, header, content);
        end_answer(out, Verb::GetRecord)
    }

    /// Answers ListRecords, record by record, with datestamps of the
    /// repository's granularity.
    #[must_use]
    pub fn list_records(self, granularity: Granularity) -> RecordsWriter {
        RecordsWriter::new(self.begin(Verb::ListRecords), granularity)
    }

    /// Answers ListIdentifiers, header by header, with datestamps of the
    /// repository's granularity.
    #[must_use]
    pub fn list_identifiers(self, granularity: Granularity) -> HeadersWriter {
        HeadersWriter::new(self.begin(Verb::ListIdentifiers), granularity)
    }

    fn begin(self, verb: Verb) -> Vec<u8> {
        let mut out = self.out;
        push_start(&mut out, verb.as_str());
        out.push(b'\n');
        out
    }
}

/// Closes the element of the verb and the response.
pub(super) fn end_answer(mut out: Vec<u8>, verb: Verb) -> Vec<u8> {
    push_end(&mut out, verb.as_str());
    out.push(b'\n');
    end_response(out)
}

fn end_response(mut out: Vec<u8>) -> Vec<u8> {
    push_end(&mut out, "OAI-PMH");
    out.push(b'\n');
    out
}
