//! One answer: bytes → entries and how the page ended.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufRead;

use stook_oai::response::{EncodingHint, Event, ReadError, ReadFault, ReadLimits, ResponseReader, Tolerated};
use stook_oai::{Datestamp, ErrorCode, Header, Identify, MetadataFormat, OaiError, Record, ResumptionToken, Set};

/// What a page holds.
pub(super) enum Entry {
    /// A document begins: what came of an attempt before it counts no more.
    Begin,
    /// When the document was made.
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
    pub(super) errors: Vec<Failure>,
    /// Of the identifiers and dates in it: equal means the same page.
    pub(super) digest: u64,
    /// Bytes, unpacked.
    pub(super) bytes: u64,
    /// What breaks the protocol and was read all the same.
    pub(super) tolerated: Tolerated,
}

/// An error of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// Its code, if it is one of the protocol's.
    pub(super) code: Option<ErrorCode>,
    /// Code and message, for people.
    pub(super) text: String,
}

impl From<OaiError> for Failure {
    fn from(error: OaiError) -> Failure {
        Failure {
            code: Some(error.code),
            text: format!("{}: {}", error.code.as_str(), error.message),
        }
    }
}

impl Failure {
    /// Whether it means that there is nothing, whatever its code.
    pub(super) fn says_nothing_there(&self) -> bool {
        if self.code == Some(ErrorCode::NoRecordsMatch) {
            return true;
        }
        let text = self.text.to_ascii_lowercase();
        let says = [
            "no record",
            "norecord",
            "no match",
            "no result",
            "empty result",
            "nothing found",
            "nothing match",
        ];
        says.iter().any(|words| text.contains(words))
    }
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
    /// It will be the same another time.
    Forbidden(String),
    /// Anything else.
    Broken(String),
}

/// How a body is to be read.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    /// How much we are willing to hold.
    pub(super) limits: ReadLimits,
    /// Refuse what breaks the protocol.
    pub(super) strict: bool,
    /// What is known about its encoding.
    pub(super) hint: EncodingHint<'a>,
}

/// Reads an answer, handing over its entries as they come.
///
/// # Errors
/// When it cannot be read to its end. What was handed over before is as good as ever.
pub(super) fn read<R: BufRead>(
    body: R,
    reading: Reading<'_>,
    on_entry: &mut dyn FnMut(Entry),
) -> Result<Page, Unreadable> {
    if reading.strict {
        return read_with(&mut ResponseReader::with_limits(body, reading.limits), on_entry);
    }
    let mut reader = ResponseReader::lenient(body, reading.limits, reading.hint);
    let mut page = read_with(&mut reader, on_entry)?;
    page.tolerated = reader.tolerated();
    Ok(page)
}

fn read_with<R: BufRead>(reader: &mut ResponseReader<R>, on_entry: &mut dyn FnMut(Entry)) -> Result<Page, Unreadable> {
    let mut page = Page::default();
    let mut hasher = DefaultHasher::new();
    on_entry(Entry::Begin);
    loop {
        let event = match reader.next() {
            Ok(Some(event)) => event,
            Ok(None) => break,
            Err(error) if error.can_continue() => {
                page.entries += 1;
                on_entry(Entry::Broken {
                    reason: error.fault.to_string(),
                    identifier: error.identifier(),
                    bytes: error.entry().unwrap_or_default().to_vec(),
                });
                continue;
            }
            Err(error) => return Err(unreadable(&error)),
        };
        let entry = match event {
            Event::Request { .. } => continue,
            Event::ResponseDate(date) => {
                page.response_date = Some(date);
                on_entry(Entry::ResponseDate(date));
                continue;
            }
            Event::Error(error) => {
                page.errors.push(Failure::from(error));
                continue;
            }
            Event::UnknownError { code, message } => {
                page.errors.push(Failure {
                    code: None,
                    text: format!("{code:?}: {message}"),
                });
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
        ReadFault::Html { title } => Unreadable::Html(title.clone().unwrap_or_default()),
        ReadFault::NotXml(text) => Unreadable::Html(text.clone()),
        ReadFault::Io(io) => match io.kind() {
            std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => Unreadable::TimedOut,
            _ if io.to_string().contains("timeout") => Unreadable::TimedOut,
            _ => Unreadable::Truncated,
        },
        _ if error.is_truncated() => Unreadable::Truncated,
        ReadFault::TooLarge { .. }
        | ReadFault::TooDeep { .. }
        | ReadFault::ResponseTooLarge { .. }
        | ReadFault::TooManyNamespaces { .. } => Unreadable::TooMuch(error.to_string()),
        ReadFault::Doctype => Unreadable::Forbidden(error.to_string()),
        _ => Unreadable::Broken(error.to_string()),
    }
}
