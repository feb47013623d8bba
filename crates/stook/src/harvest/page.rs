//! One answer: bytes → entries and how the page ended.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufRead;

use stook_oai::response::{Event, ReadError, ReadFault, ReadLimits, ResponseReader};
use stook_oai::{Datestamp, Header, Identify, MetadataFormat, OaiError, Record, ResumptionToken, Set};

use super::body::TooMuch;

/// What a page holds.
pub(super) enum Entry {
    /// A document begins: when it was made, if that can be read.
    ResponseDate(Datestamp),
    /// Of ListRecords or GetRecord.
    Record(Record),
    /// Of ListIdentifiers.
    Header(Header),
    /// Of ListSets.
    Set(Set),
    /// Of ListMetadataFormats.
    MetadataFormat(MetadataFormat),
    /// Of Identify.
    Identify(Box<Identify>),
    /// One that cannot be read.
    Broken {
        /// Why.
        reason: String,
        /// Whose it is, if that much could be read.
        identifier: Option<String>,
        /// As it came.
        bytes: Vec<u8>,
    },
}

/// How a page ended.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// When the source made it.
    pub(super) response_date: Option<Datestamp>,
    /// The token behind the entries; an empty one ends the list as none does.
    pub(super) token: Option<ResumptionToken>,
    /// How many entries it holds.
    pub(super) entries: u64,
    /// Errors of the protocol in it.
    pub(super) errors: Vec<OaiError>,
    /// Of the identifiers and dates in it: equal means the same page.
    pub(super) digest: u64,
    /// Bytes, unpacked.
    pub(super) bytes: u64,
}

impl Page {
    /// Where the list goes on.
    pub(super) fn next(&self) -> Option<&str> {
        self.token
            .as_ref()
            .map(|token| token.value.as_str())
            .filter(|value| !value.trim().is_empty())
    }
}

/// Why a page could not be read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// Nothing at all.
    Empty,
    /// It ends in the middle.
    Truncated,
    /// It is a web page.
    Html(String),
    /// More than the settings allow.
    TooMuch(String),
    /// It came too slowly.
    TimedOut,
    /// Anything else.
    Broken(String),
}

/// Reads an answer, handing over its entries as they come.
///
/// # Errors
/// When it cannot be read to its end. What was handed over before is as good as ever.
pub(super) fn read<R: BufRead>(
    body: R,
    limits: ReadLimits,
    on_entry: &mut dyn FnMut(Entry),
) -> Result<Page, Unreadable> {
    let mut reader = ResponseReader::with_limits(body, limits);
    let mut page = Page::default();
    let mut hasher = DefaultHasher::new();
    loop {
        let event = match reader.next() {
            Ok(Some(event)) => event,
            Ok(None) => break,
            Err(error) if error.can_continue() => {
                on_entry(Entry::Broken {
                    reason: error.to_string(),
                    identifier: None,
                    bytes: Vec::new(),
                });
                continue;
            }
            Err(error) => return Err(unreadable(&error)),
        };
        let entry = match event {
            Event::ResponseDate(date) => {
                page.response_date = Some(date);
                on_entry(Entry::ResponseDate(date));
                continue;
            }
            Event::Request { .. } => continue,
            Event::Error(error) => {
                page.errors.push(error);
                continue;
            }
            Event::ResumptionToken(token) => {
                page.token = Some(token);
                continue;
            }
            Event::Identify(identify) => Entry::Identify(identify),
            Event::MetadataFormat(format) => Entry::MetadataFormat(format),
            Event::Set(set) => Entry::Set(set),
            Event::Header(header) => {
                hash(&header, &mut hasher);
                Entry::Header(header)
            }
            Event::Record(record) => {
                hash(&record.header, &mut hasher);
                Entry::Record(record)
            }
        };
        page.entries += 1;
        on_entry(entry);
    }
    page.digest = hasher.finish();
    page.bytes = reader.position();
    Ok(page)
}

fn hash(header: &Header, hasher: &mut DefaultHasher) {
    header.identifier.as_str().hash(hasher);
    header.datestamp.first_second().unix().hash(hasher);
}

fn unreadable(error: &ReadError) -> Unreadable {
    match &error.fault {
        ReadFault::Empty => Unreadable::Empty,
        ReadFault::Truncated => Unreadable::Truncated,
        ReadFault::NotOaiPmh { root, .. } if root.eq_ignore_ascii_case("html") => Unreadable::Html(String::new()),
        ReadFault::Doctype if error.position < 200 => Unreadable::Html("a document with a DOCTYPE".into()),
        ReadFault::Io(io) => match io.kind() {
            _ if io.get_ref().is_some_and(|inner| inner.is::<TooMuch>()) => Unreadable::TooMuch(io.to_string()),
            std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => Unreadable::TimedOut,
            std::io::ErrorKind::UnexpectedEof => Unreadable::Truncated,
            _ if io.to_string().contains("timeout") => Unreadable::TimedOut,
            _ => Unreadable::Truncated,
        },
        ReadFault::TooDeep { .. } => Unreadable::TooMuch(error.to_string()),
        _ => Unreadable::Broken(error.to_string()),
    }
}
