//! Lists, entry by entry: the hot path of a provider.
//!
//! Entries enter by reference and are appended to the response's buffer; no
//! entry allocates anything but room in it.

use super::write::end_answer;
use crate::types::{Datestamp, Granularity, ResumptionToken, Set, Verb};
use crate::xml::{self, push_attribute, push_element, push_end, push_start};

/// A header as the store holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderRef<'a> {
    /// The item.
    pub identifier: &'a str,
    /// When the record was created, changed or deleted.
    pub datestamp: Datestamp,
    /// The setSpecs of the item, separated by spaces.
    pub set_specs: &'a str,
    /// `status="deleted"`
    pub deleted: bool,
}

/// A ListRecords response in the making.
///
/// The schema wants at least one record: a caller that finds none answers
/// noRecordsMatch instead.
///
/// ```
/// use stook_oai::response::{Echo, HeaderRef, ResponseWriter};
/// use stook_oai::{Datestamp, Granularity};
///
/// let now = Datestamp::UNIX_EPOCH;
/// let writer = ResponseWriter::new(Vec::new(), now, "https://example.org/oai", &Echo::None);
/// let mut records = writer.list_records(Granularity::Day);
/// let header = HeaderRef {
///     identifier: "oai:example.org:map-001",
///     datestamp: now,
///     set_specs: "maps:city prints",
///     deleted: false,
/// };
/// records.record(&header, |out| out.extend_from_slice(b"<metadata><dc/></metadata>"));
/// let response = String::from_utf8(records.finish(None)).unwrap();
/// assert!(response.contains("<setSpec>prints</setSpec></header><metadata><dc/></metadata></record>"));
/// ```
#[derive(Debug)]
pub struct RecordsWriter {
    out: Vec<u8>,
    granularity: Granularity,
    count: usize,
}

impl RecordsWriter {
    pub(super) fn new(out: Vec<u8>, granularity: Granularity) -> Self {
        Self {
            out,
            granularity,
            count: 0,
        }
    }

    /// Appends a record. `content` appends the ready-made
    /// `<metadata>…</metadata>` and `<about>…</about>`, as
    /// [`content_fragment`](super::content_fragment) makes them. It is not
    /// called for a deleted record, which has neither.
    pub fn record(&mut self, header: &HeaderRef<'_>, content: impl FnOnce(&mut Vec<u8>)) {
        push_record(&mut self.out, self.granularity, header, content);
        self.count += 1;
    }

    /// Appends a record whose content may turn out to be unavailable; then the
    /// response is as if the record had not been attempted.
    ///
    /// # Errors
    ///
    /// What `content` returns.
    pub fn try_record<E>(
        &mut self,
        header: &HeaderRef<'_>,
        content: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.out.len();
        let mut outcome = Ok(());
        push_record(&mut self.out, self.granularity, header, |out| outcome = content(out));
        if outcome.is_ok() {
            self.count += 1;
        } else {
            self.out.truncate(start);
        }
        outcome
    }

    /// Bytes of the response so far.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "the envelope is always there")]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Records so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes the bytes written so far, for a response that leaves piece by
    /// piece; what follows continues after them.
    #[must_use]
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Ends the response, with a token if the list is incomplete or was.
    #[must_use]
    pub fn finish(mut self, token: Option<&ResumptionToken>) -> Vec<u8> {
        push_token(&mut self.out, token);
        end_answer(self.out, Verb::ListRecords)
    }
}

/// A ListIdentifiers response in the making; it needs at least one header.
#[derive(Debug)]
pub struct HeadersWriter {
    out: Vec<u8>,
    granularity: Granularity,
    count: usize,
}

impl HeadersWriter {
    pub(super) fn new(out: Vec<u8>, granularity: Granularity) -> Self {
        Self {
            out,
            granularity,
            count: 0,
        }
    }

    /// Appends a header.
    pub fn header(&mut self, header: &HeaderRef<'_>) {
        push_header(&mut self.out, self.granularity, header);
        self.out.push(b'\n');
        self.count += 1;
    }

    /// Bytes of the response so far.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "the envelope is always there")]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Headers so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Ends the response, with a token if the list is incomplete or was.
    #[must_use]
    pub fn finish(mut self, token: Option<&ResumptionToken>) -> Vec<u8> {
        push_token(&mut self.out, token);
        end_answer(self.out, Verb::ListIdentifiers)
    }
}

/// A ListSets response in the making; it needs at least one set.
#[derive(Debug)]
pub struct SetsWriter {
    out: Vec<u8>,
    count: usize,
}

impl SetsWriter {
    pub(super) fn new(out: Vec<u8>) -> Self {
        Self { out, count: 0 }
    }

    /// Appends a set.
    pub fn set(&mut self, set: &Set) {
        let out = &mut self.out;
        push_start(out, "set");
        push_element(out, "setSpec", set.spec.as_str());
        push_element(out, "setName", &set.name);
        for description in &set.descriptions {
            push_start(out, "setDescription");
            out.extend_from_slice(description.as_bytes());
            push_end(out, "setDescription");
        }
        push_end(out, "set");
        out.push(b'\n');
        self.count += 1;
    }

    /// Bytes of the response so far.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "the envelope is always there")]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Sets so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Ends the response, with a token if the list is incomplete or was.
    #[must_use]
    pub fn finish(mut self, token: Option<&ResumptionToken>) -> Vec<u8> {
        push_token(&mut self.out, token);
        end_answer(self.out, Verb::ListSets)
    }
}

pub(super) fn push_record(
    out: &mut Vec<u8>,
    granularity: Granularity,
    header: &HeaderRef<'_>,
    content: impl FnOnce(&mut Vec<u8>),
) {
    out.extend_from_slice(b"<record>");
    push_header(out, granularity, header);
    if !header.deleted {
        content(out);
    }
    out.extend_from_slice(b"</record>\n");
}

fn push_header(out: &mut Vec<u8>, granularity: Granularity, header: &HeaderRef<'_>) {
    out.extend_from_slice(if header.deleted {
        b"<header status=\"deleted\"><identifier>"
    } else {
        b"<header><identifier>"
    });
    xml::push_text(out, header.identifier);
    out.extend_from_slice(b"</identifier><datestamp>");
    header.datestamp.push_to(granularity, out);
    out.extend_from_slice(b"</datestamp>");
    for set_spec in header.set_specs.split_ascii_whitespace() {
        out.extend_from_slice(b"<setSpec>");
        xml::push_text(out, set_spec);
        out.extend_from_slice(b"</setSpec>");
    }
    out.extend_from_slice(b"</header>");
}

fn push_token(out: &mut Vec<u8>, token: Option<&ResumptionToken>) {
    let Some(token) = token else { return };
    out.extend_from_slice(b"<resumptionToken");
    if let Some(date) = token.expiration_date {
        push_attribute(out, "expirationDate", date.format(Granularity::Second).as_str());
    }
    // The schema's positiveInteger has no 0.
    if let Some(size) = token.complete_list_size.filter(|size| *size > 0) {
        push_attribute(out, "completeListSize", &size.to_string());
    }
    if let Some(cursor) = token.cursor {
        push_attribute(out, "cursor", &cursor.to_string());
    }
    out.push(b'>');
    xml::push_text(out, &token.value);
    out.extend_from_slice(b"</resumptionToken>\n");
}
