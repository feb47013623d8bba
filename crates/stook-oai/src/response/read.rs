//! The bytes of a response → values, one at a time.
//!
//! A `BufRead` enters; [`Event`]s leave, in the order of the document. One
//! entry (a record, a header, a set …) is in memory at a time, however large
//! the response is, and [`ReadLimits`] bound that entry. The envelope is found
//! by its namespace, whatever prefix it uses.
//!
//! Usually the reader is strict: it accepts well-formed XML 1.0 in UTF-8
//! without a document type, and values that obey their grammar; it repairs
//! nothing. It does not judge what only concerns validators: the order of
//! elements inside an entry, attributes it does not know, whether values fit
//! together. A lenient reader ([`ResponseReader::lenient`]) follows the same
//! rules and puts up with named exceptions to them
//! ([`Tolerance`](super::Tolerance)).
//!
//! A fault inside an entry costs that entry, not the page: the error says
//! where it is, and reading can go on behind it
//! ([`ReadError::can_continue`]). For a strict reader tags that do not match
//! are the end; a lenient one finds where the next entry begins.

mod cursor;
mod entries;
mod error;
mod identify;
mod leniency;
mod outline;
mod piece;
mod records;
mod resync;
mod scope;
mod source;
mod tag;
mod walker;

use std::io::BufRead;

pub use error::{ReadError, ReadFault, ReadLimits};
pub use records::RecordsReader;
pub(super) use tag::Tag;
pub(super) use walker::is_utf8;
use walker::{Step, Walker};

use super::repair::{EncodingHint, Repaired, Tolerance, Tolerated};
use crate::types::{Datestamp, Header, Identify, MetadataFormat, OaiError, Record, ResumptionToken, Set, Verb};

/// A part of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// When the repository answered.
    ResponseDate(Datestamp),
    /// What the repository was asked.
    Request {
        /// The address it knows itself by.
        base_url: String,
        /// The arguments it understood, by name.
        arguments: Vec<(String, String)>,
    },
    /// An error of the protocol.
    Error(OaiError),
    /// An error with a code that the protocol does not have. Only a lenient
    /// reader hands it on.
    UnknownError {
        /// The code; empty if there is none.
        code: String,
        /// The sentence; it may be empty.
        message: String,
    },
    /// The answer to Identify.
    Identify(Box<Identify>),
    /// An entry of ListMetadataFormats.
    MetadataFormat(MetadataFormat),
    /// An entry of ListSets.
    Set(Set),
    /// An entry of ListIdentifiers.
    Header(Header),
    /// An entry of GetRecord or ListRecords.
    Record(Record),
    /// The end of a page.
    ResumptionToken(ResumptionToken),
}

/// Reads one response.
///
/// ```
/// use stook_oai::response::{Event, ResponseReader};
///
/// let response = br#"<o:OAI-PMH xmlns:o="http://www.openarchives.org/OAI/2.0/">
///   <o:responseDate>2002-06-01T19:20:30Z</o:responseDate>
///   <o:request>http://example.org/oai</o:request>
///   <o:error code="badVerb">Which verb?</o:error>
/// </o:OAI-PMH>"#;
///
/// let mut reader = ResponseReader::new(&response[..]);
/// while let Some(event) = reader.next()? {
///     if let Event::Error(error) = event {
///         assert_eq!(error.message, "Which verb?");
///     }
/// }
/// # Ok::<(), stook_oai::response::ReadError>(())
/// ```
#[derive(Debug)]
pub struct ResponseReader<R> {
    walker: Walker<R>,
    place: Place,
    seen: Seen,
    /// The beginning of text before the root element, for a lenient reader.
    preface: Option<String>,
}

/// How much of a document that is no XML an error quotes.
const PREFACE_CHARACTERS: usize = 200;

/// What web servers write notices in.
const NOTICE_ELEMENTS: [&str; 8] = ["b", "br", "div", "font", "hr", "i", "p", "pre"];

/// Where in the envelope the reader stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the root element.
    Start,
    /// Inside `OAI-PMH`.
    Envelope,
    /// Inside the element of a verb.
    Answer(Verb),
    /// Behind the root element.
    End,
    /// Nothing more to read, or nothing more that can be.
    Done,
}

/// What every response must have.
#[derive(Debug, Default)]
struct Seen {
    response_date: bool,
    request: bool,
    answer: bool,
    /// Whether the list at hand has an entry.
    entries: bool,
}

/// An element that becomes an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    ResponseDate,
    Request,
    Error,
    Identify,
    MetadataFormat,
    Set,
    Header,
    Record,
    ResumptionToken,
}

impl Place {
    /// The entry that an element of this name is here, if it may be here.
    fn entry(self, name: &str) -> Option<Entry> {
        use Verb::{GetRecord, ListIdentifiers, ListMetadataFormats, ListRecords, ListSets};

        Some(match (self, name) {
            (Self::Envelope, "responseDate") => Entry::ResponseDate,
            (Self::Envelope, "request") => Entry::Request,
            (Self::Envelope, "error") => Entry::Error,
            (Self::Envelope, "Identify") => Entry::Identify,
            (Self::Answer(ListMetadataFormats), "metadataFormat") => Entry::MetadataFormat,
            (Self::Answer(ListSets), "set") => Entry::Set,
            (Self::Answer(ListIdentifiers), "header") => Entry::Header,
            (Self::Answer(GetRecord | ListRecords), "record") => Entry::Record,
            (Self::Answer(ListSets | ListIdentifiers | ListRecords), "resumptionToken") => Entry::ResumptionToken,
            _ => return None,
        })
    }

    fn element(self) -> &'static str {
        match self {
            Self::Envelope => "OAI-PMH",
            Self::Answer(verb) => verb.as_str(),
            Self::Start | Self::End | Self::Done => "the document",
        }
    }
}

impl<R: BufRead> ResponseReader<R> {
    /// Reads with the usual limits.
    pub fn new(source: R) -> Self {
        Self::with_limits(source, ReadLimits::default())
    }

    /// Reads with limits of one's own.
    pub fn with_limits(source: R, limits: ReadLimits) -> Self {
        Self::walk(Walker::strict(source, limits))
    }

    fn walk(walker: Walker<R>) -> Self {
        Self {
            walker,
            place: Place::Start,
            seen: Seen::default(),
            preface: None,
        }
    }

    /// The next part of the response; nothing at its end.
    ///
    /// # Errors
    ///
    /// When the response cannot be read, or one part of it is faulty. In the
    /// second case ([`ReadError::can_continue`]) the next call goes on behind
    /// that part; in the first there is nothing more.
    #[expect(clippy::should_implement_trait, reason = "an error need not be the end")]
    pub fn next(&mut self) -> Result<Option<Event>, ReadError> {
        let outcome = self.advance();
        if outcome.as_ref().is_err_and(|error| !error.can_continue()) {
            self.place = Place::Done;
        }
        outcome
    }

    /// Bytes read so far.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.walker.position()
    }

    fn advance(&mut self) -> Result<Option<Event>, ReadError> {
        while self.place != Place::Done {
            let step = self.walker.step();
            if self.place == Place::End && self.walker.is_lenient() {
                self.leave(step);
                break;
            }
            match step? {
                Step::Open { oai } => {
                    if let Some(event) = self.open(oai)? {
                        return Ok(Some(event));
                    }
                }
                Step::Close => self.close()?,
                Step::Text => self.text()?,
                Step::Declaration if self.walker.is_at_start() => {}
                Step::Declaration => return Err(self.walker.late_declaration()),
                Step::End if self.place == Place::Start => return Err(self.nothing_found()),
                Step::End => self.place = Place::Done,
            }
        }
        Ok(None)
    }

    /// Ends a lenient reading behind the root element, whatever is there.
    fn leave(&mut self, step: Result<Step, ReadError>) {
        self.place = Place::Done;
        match step {
            Ok(Step::End) => {}
            // The response was complete before its source failed.
            Err(error) if matches!(error.fault, ReadFault::Io(_)) => {}
            Ok(_) | Err(_) => {
                self.walker.leniency().tolerates(Tolerance::TrailingContent);
            }
        }
    }

    fn text(&mut self) -> Result<(), ReadError> {
        let (tolerance, error) = match self.place {
            Place::Start => (Tolerance::LeadingContent, self.walker.text_before_root()),
            place => (Tolerance::UnexpectedText, self.walker.unexpected_text(place.element())),
        };
        if self.walker.leniency().tolerates_once(tolerance) {
            if self.place == Place::Start && self.preface.is_none() {
                self.preface = Some(self.walker.text().trim().chars().take(PREFACE_CHARACTERS).collect());
            }
            return Ok(());
        }
        Err(error)
    }

    /// The fault of a document without a root element.
    fn nothing_found(&mut self) -> ReadError {
        match self.preface.take() {
            Some(preface) => self.walker.not_xml(preface),
            None => self.walker.empty(),
        }
    }

    fn open(&mut self, oai: bool) -> Result<Option<Event>, ReadError> {
        let known = oai || self.walker.is_lenient();
        let name = self.walker.local_name();
        if self.place == Place::Start {
            return self.open_root(oai).map(|()| None);
        }
        if let Place::End | Place::Done = self.place {
            return Err(self.walker.second_root());
        }
        let entry = self.place.entry(name).filter(|_| known);
        let verb = Verb::parse(name).filter(|_| known && self.place == Place::Envelope);
        if (entry.is_some() || verb.is_some()) && !oai {
            self.walker.note_namespace();
        }
        if let Some(entry) = entry {
            self.note(entry);
            return self.read(entry);
        }
        if let Some(verb) = verb {
            self.walker.check_start_tag()?;
            self.seen.answer = true;
            self.seen.entries = false;
            self.place = Place::Answer(verb);
            return Ok(None);
        }
        let error = self.walker.skip_unexpected(self.place.element());
        // What stands in a list might have been an entry; it is not passed
        // over in silence.
        let harmless = self.place == Place::Envelope && matches!(error.fault, ReadFault::UnexpectedElement { .. });
        if harmless && self.walker.leniency().tolerates(Tolerance::UnexpectedElement) {
            return Ok(None);
        }
        Err(error)
    }

    fn open_root(&mut self, oai: bool) -> Result<(), ReadError> {
        let name = self.walker.local_name();
        let is_ours = name == "OAI-PMH";
        if !self.walker.is_lenient() {
            if !oai || !is_ours {
                return Err(self.walker.not_oai_pmh());
            }
        } else if name.eq_ignore_ascii_case("html") {
            return Err(self.walker.html());
        } else if NOTICE_ELEMENTS.iter().any(|notice| name.eq_ignore_ascii_case(notice)) {
            // A notice of the server before the response.
            let error = self.walker.skip_unexpected("the document");
            if !error.can_continue() {
                return Err(error);
            }
            self.walker.leniency().tolerates_once(Tolerance::LeadingContent);
            self.preface.get_or_insert_default();
            return Ok(());
        } else if !is_ours {
            return Err(self.walker.not_oai_pmh());
        } else if !oai {
            self.walker.note_namespace();
        }
        self.walker.check_start_tag()?;
        self.place = Place::Envelope;
        Ok(())
    }

    fn close(&mut self) -> Result<(), ReadError> {
        if let Place::Answer(_) = self.place {
            self.place = Place::Envelope;
            if !self.seen.entries {
                self.walker.leniency().tolerates(Tolerance::EmptyList);
            }
            // A lenient walk may have left more than one element.
            if self.walker.depth() > 0 {
                return Ok(());
            }
        }
        if self.place == Place::Start {
            // The end of a notice before the response.
            return Ok(());
        }
        self.place = Place::End;
        let lacks = [
            (
                self.seen.response_date,
                "responseDate",
                Some(Tolerance::MissingResponseDate),
            ),
            (self.seen.request, "request", Some(Tolerance::MissingRequest)),
            (self.seen.answer, "answer", None),
        ];
        for (seen, element, tolerance) in lacks {
            let tolerated = |tolerance| self.walker.leniency().tolerates(tolerance);
            if !seen && !tolerance.is_some_and(tolerated) {
                return Err(self.walker.missing(element, "OAI-PMH"));
            }
        }
        Ok(())
    }

    fn note(&mut self, entry: Entry) {
        match entry {
            Entry::ResponseDate => self.seen.response_date = true,
            Entry::Request => self.seen.request = true,
            Entry::Error | Entry::Identify => self.seen.answer = true,
            Entry::MetadataFormat | Entry::Set | Entry::Header | Entry::Record => self.seen.entries = true,
            Entry::ResumptionToken => {}
        }
    }

    /// Reads an entry. It may be tolerated without being an event.
    fn read(&mut self, entry: Entry) -> Result<Option<Event>, ReadError> {
        self.walker.read_element(|cursor| {
            let root = cursor.root()?;
            Ok(Some(match entry {
                Entry::ResponseDate => return Ok(entries::response_date(cursor)?.map(Event::ResponseDate)),
                Entry::Request => entries::request(cursor, &root)?,
                Entry::Error => entries::error(cursor, &root)?,
                Entry::Identify => Event::Identify(Box::new(identify::identify(cursor)?)),
                Entry::MetadataFormat => Event::MetadataFormat(entries::metadata_format(cursor)?),
                Entry::Set => return Ok(entries::set(cursor)?.map(Event::Set)),
                Entry::Header => Event::Header(entries::header(cursor, &root)?),
                Entry::Record => Event::Record(entries::record(cursor)?),
                Entry::ResumptionToken => Event::ResumptionToken(entries::resumption_token(cursor, &root)?),
            }))
        })
    }
}

impl<R: BufRead> ResponseReader<Repaired<R>> {
    /// Reads what real repositories send, and counts what had to be tolerated.
    ///
    /// ```
    /// use stook_oai::response::{EncodingHint, Event, ReadLimits, ResponseReader, Tolerance};
    ///
    /// let response = b"<OAI-PMH><responseDate>2002-06-01 19:20:30</responseDate>
    ///   <request>http://example.org/oai?a&b</request>
    ///   <error code='maintenance'>Back at 8 &ndash; Caf\xE9</error></OAI-PMH>PHP Notice";
    ///
    /// let mut reader =
    ///     ResponseReader::lenient(&response[..], ReadLimits::default(), EncodingHint::default());
    /// let mut events = Vec::new();
    /// while let Some(event) = reader.next()? {
    ///     events.push(event);
    /// }
    /// assert!(matches!(&events[2], Event::UnknownError { code, .. } if code == "maintenance"));
    /// assert_eq!(reader.tolerated().count(Tolerance::TrailingContent), 1);
    /// # Ok::<(), stook_oai::response::ReadError>(())
    /// ```
    pub fn lenient(source: R, limits: ReadLimits, hint: EncodingHint<'_>) -> Self {
        Self::walk(Walker::lenient(Repaired::new(source, hint), limits))
    }

    /// What was tolerated so far, in bytes, structure and values.
    #[must_use]
    pub fn tolerated(&self) -> Tolerated {
        let mut tolerated = self.walker.source().tolerated_before(self.walker.position());
        tolerated.add(&self.walker.tolerated());
        tolerated
    }
}
