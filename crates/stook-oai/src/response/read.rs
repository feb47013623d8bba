//! The bytes of a response → values, one at a time.
//!
//! A `BufRead` enters; [`Event`]s leave, in the order of the document. One
//! entry (a record, a header, a set …) is in memory at a time, however large
//! the response is, and [`ReadLimits`] bound that entry. The envelope is found
//! by its namespace, whatever prefix it uses.
//!
//! The reader is strict: it accepts well-formed XML 1.0 in UTF-8 without a
//! document type, and values that obey their grammar; it repairs nothing. It
//! does not judge what only concerns validators: the order of elements inside
//! an entry, attributes it does not know, whether values fit together.
//!
//! A fault inside an entry costs that entry, not the page: the error says
//! where it is, and reading can go on behind it
//! ([`ReadError::can_continue`]).

mod cursor;
mod entries;
mod error;
mod identify;
mod records;
mod scope;
mod source;
mod tag;
mod walker;

use std::io::BufRead;

pub use error::{ReadError, ReadFault, ReadLimits};
pub use records::RecordsReader;
use walker::{Step, Walker};

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
}

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
        Self {
            walker: Walker::new(source, limits),
            place: Place::Start,
            seen: Seen::default(),
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
            match self.walker.step()? {
                Step::Open { oai } => {
                    if let Some(event) = self.open(oai)? {
                        return Ok(Some(event));
                    }
                }
                Step::Close => self.close()?,
                Step::Text if self.place == Place::Start => return Err(self.walker.text_before_root()),
                Step::Text => return Err(self.walker.unexpected_text(self.place.element())),
                Step::Declaration if self.walker.is_at_start() => {}
                Step::Declaration => return Err(self.walker.late_declaration()),
                Step::End if self.place == Place::Start => return Err(self.walker.empty()),
                Step::End => self.place = Place::Done,
            }
        }
        Ok(None)
    }

    fn open(&mut self, oai: bool) -> Result<Option<Event>, ReadError> {
        let name = self.walker.local_name();
        match self.place {
            Place::Start if oai && name == "OAI-PMH" => {
                self.place = Place::Envelope;
                return Ok(None);
            }
            Place::Start => return Err(self.walker.not_oai_pmh()),
            Place::End | Place::Done => return Err(self.walker.second_root()),
            Place::Envelope | Place::Answer(_) => {}
        }
        if let Some(entry) = self.place.entry(name).filter(|_| oai) {
            self.note(entry);
            return self.read(entry).map(Some);
        }
        let verb = Verb::parse(name).filter(|_| oai && self.place == Place::Envelope);
        if let Some(verb) = verb {
            self.seen.answer = true;
            self.place = Place::Answer(verb);
            return Ok(None);
        }
        Err(self.walker.skip_unexpected(self.place.element()))
    }

    fn close(&mut self) -> Result<(), ReadError> {
        if let Place::Answer(_) = self.place {
            self.place = Place::Envelope;
            return Ok(());
        }
        self.place = Place::End;
        let Seen {
            response_date,
            request,
            answer,
        } = self.seen;
        for (seen, element) in [
            (response_date, "responseDate"),
            (request, "request"),
            (answer, "answer"),
        ] {
            if !seen {
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
            _ => {}
        }
    }

    fn read(&mut self, entry: Entry) -> Result<Event, ReadError> {
        self.walker.read_element(|cursor| {
            let root = cursor.root()?;
            Ok(match entry {
                Entry::ResponseDate => Event::ResponseDate(entries::response_date(cursor)?),
                Entry::Request => entries::request(cursor, &root)?,
                Entry::Error => Event::Error(entries::error(cursor, &root)?),
                Entry::Identify => Event::Identify(Box::new(identify::identify(cursor)?)),
                Entry::MetadataFormat => Event::MetadataFormat(entries::metadata_format(cursor)?),
                Entry::Set => Event::Set(entries::set(cursor)?),
                Entry::Header => Event::Header(entries::header(cursor, &root)?),
                Entry::Record => Event::Record(entries::record(cursor)?),
                Entry::ResumptionToken => Event::ResumptionToken(entries::resumption_token(cursor, &root)?),
            })
        })
    }
}
