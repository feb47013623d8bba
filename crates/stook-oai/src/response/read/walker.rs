//! A document walked element by element, with one element held in memory when
//! asked for.
//!
//! The envelope of a response is stepped through; an entry in it is captured,
//! as the bytes received, and then read with a [`Cursor`]. A fault inside a
//! captured element is that element's own, because the walk already stands
//! behind it. A lenient walk also gets behind an entry whose tags do not
//! match.

mod faults;
mod recovery;

use std::io::{self, BufRead};

use quick_xml::Reader;
use quick_xml::events::Event;

use super::cursor::Cursor;
use super::error::{ReadError, ReadFault, ReadLimits};
use super::leniency::Leniency;
use super::outline::{Break, Outline};
use super::scope::Scope;
use super::source::{Source, Spent};
use super::tag::{Tag, is_space};
use crate::response::NAMESPACE;
use crate::response::repair::Tolerated;

/// How much is looked at at once for the end of an element. Most entries are
/// smaller, and what is copied beyond their end is copied in vain.
const PIECE_BYTES: usize = 1 << 10;

/// What was met on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// An element begins; `oai` if it is one of the protocol.
    Open { oai: bool },
    /// An element ends.
    Close,
    /// Text that is not white space.
    Text,
    /// `<?xml …?>`
    Declaration,
    /// The end of the document.
    End,
}

#[derive(Debug)]
pub(super) struct Walker<R> {
    reader: Reader<Source<R>>,
    /// The bytes of the last event, or of the captured element.
    buffer: Vec<u8>,
    /// Where `buffer` begins in the document.
    start: u64,
    scope: Scope,
    limits: ReadLimits,
    leniency: Leniency,
    /// The names of the open elements, for a lenient walk.
    names: Vec<String>,
    outline: Outline,
    /// How far a lenient walk may still go back behind broken entries; bounds
    /// the work that a hostile response can make.
    retreat: u64,
}

/// An event of quick-xml without its text, which stays in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Start,
    End,
    Text,
    Declaration,
    Doctype,
    Ignored,
    Eof,
}

impl<R: BufRead> Walker<R> {
    pub(super) fn strict(source: R, limits: ReadLimits) -> Self {
        Self::new(source, limits, Leniency::strict())
    }

    /// The source must hand out whole characters of UTF-8.
    pub(super) fn lenient(source: R, limits: ReadLimits) -> Self {
        Self::new(source, limits, Leniency::lenient())
    }

    fn new(source: R, limits: ReadLimits, leniency: Leniency) -> Self {
        let source = Source::new(source, leniency.is_lenient(), limits.max_response_bytes);
        let mut reader = Reader::from_reader(source);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        // A bare `&` is noticed by the cursor, where it costs one entry only.
        config.allow_dangling_amp = true;
        if leniency.is_lenient() {
            config.check_end_names = false;
            config.allow_unmatched_ends = true;
        }
        Self {
            reader,
            buffer: Vec::new(),
            start: 0,
            scope: Scope::default(),
            limits,
            leniency,
            names: Vec::new(),
            outline: Outline::default(),
            retreat: limits.max_entry_bytes.saturating_mul(2),
        }
    }

    /// Where the bytes come from.
    pub(super) fn source(&self) -> &R {
        self.reader.get_ref().inner()
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.leniency.is_lenient()
    }

    pub(super) fn leniency(&mut self) -> &mut Leniency {
        &mut self.leniency
    }

    /// What a lenient walk has tolerated.
    pub(super) fn tolerated(&self) -> Tolerated {
        self.leniency.tolerated()
    }

    /// How many elements are open.
    pub(super) fn depth(&self) -> usize {
        self.scope.depth()
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> u64 {
        self.reader.get_ref().position()
    }

    /// Goes on by one event that matters.
    pub(super) fn step(&mut self) -> Result<Step, ReadError> {
        loop {
            self.reader.get_mut().allow(self.limits.max_entry_bytes);
            self.buffer.clear();
            self.start = self.position();
            return Ok(match self.read_event()? {
                Kind::Start => Step::Open { oai: self.enter()? },
                Kind::End if !self.leniency.is_lenient() => {
                    self.scope.leave();
                    Step::Close
                }
                Kind::End if self.close_by_name() => Step::Close,
                Kind::End => continue,
                Kind::Text if self.buffer.iter().all(|byte| is_space(char::from(*byte))) => continue,
                Kind::Text => Step::Text,
                Kind::Declaration => {
                    self.check_declaration()?;
                    Step::Declaration
                }
                Kind::Doctype if self.leniency.is_lenient() && faults::is_doctype_of_html(&self.buffer) => {
                    return Err(self.html());
                }
                Kind::Doctype => return Err(self.fatal(ReadFault::Doctype)),
                Kind::Ignored => continue,
                Kind::Eof if self.scope.depth() > 0 => return Err(self.fatal(ReadFault::Truncated)),
                Kind::Eof => Step::End,
            });
        }
    }

    /// The name, without its prefix, of the element that the last step opened.
    pub(super) fn local_name(&self) -> &str {
        let name = self.qualified_name();
        name.split_once(':').map_or(name, |(_, local)| local)
    }

    /// The start tag of an element that is not captured must be UTF-8, too.
    pub(super) fn check_start_tag(&self) -> Result<(), ReadError> {
        let tag = self.start..self.start + self.buffer.len() as u64;
        match self.reader.get_ref().first_not_utf8(&tag) {
            Some(position) => Err(ReadError::fatal(position, ReadFault::NotUtf8)),
            None => Ok(()),
        }
    }

    /// Captures the element that the last step opened, up to and including its
    /// end, and has it read.
    pub(super) fn read_element<T>(
        &mut self,
        read: impl FnOnce(&mut Cursor<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        self.capture()?;
        let entry = self.start..self.position();
        if let Some(position) = self.reader.get_ref().first_not_utf8(&entry) {
            return Err(ReadError::local(position, ReadFault::NotUtf8).about(&self.buffer));
        }
        let text = as_text(&self.buffer);
        let depth = self.scope.depth();
        let mut cursor = Cursor::new(text, self.start, &mut self.scope, &mut self.leniency);
        let outcome = read(&mut cursor).and_then(|value| cursor.finish().map(|()| value));
        self.scope.leave_to(depth);
        outcome.map_err(|error| error.about(&self.buffer))
    }

    /// Appends to the buffer, which holds the start tag of an element, the
    /// rest of the element.
    fn capture(&mut self) -> Result<(), ReadError> {
        // The cursor will declare the element's namespaces itself.
        self.scope.leave();
        self.names.pop();
        if !self.buffer.ends_with(b"/>") {
            let max_open = self.limits.max_depth - self.scope.depth();
            self.outline.begin(&self.buffer, max_open);
            if let Err(broken) = self.find_end() {
                return Err(self.get_behind(broken));
            }
        }
        self.read_event().map(|_| ())
    }

    /// Appends to the buffer everything up to the end tag of the element in it.
    fn find_end(&mut self) -> Result<(), Break> {
        loop {
            let before = self.buffer.len();
            let source = self.reader.get_mut();
            let fault = match source.fill_buf() {
                Ok([]) => ReadFault::Truncated,
                Ok(available) => {
                    let piece = &available[..available.len().min(PIECE_BYTES)];
                    let length = piece.len();
                    self.buffer.extend_from_slice(piece);
                    source.consume(length);
                    if let Some(end) = self.outline.find_end(&self.buffer)? {
                        source.unread(&self.buffer[end..]);
                        self.buffer.truncate(end);
                        return Ok(());
                    }
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => self.io_fault(&error),
            };
            return Err(Break { offset: before, fault });
        }
    }

    /// Reads one event and appends its bytes to the buffer.
    fn read_event(&mut self) -> Result<Kind, ReadError> {
        let position = self.position();
        let fault = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => return Ok(kind_of(&event)),
            Err(quick_xml::Error::Io(error)) => self.io_fault(&error),
            Err(quick_xml::Error::Syntax(_)) if self.reader.get_mut().is_at_end() => ReadFault::Truncated,
            Err(error) => ReadFault::of_xml(&error),
        };
        Err(ReadError::fatal(position, fault))
    }

    fn io_fault(&self, error: &io::Error) -> ReadFault {
        match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(Spent::Entry) => {
                return ReadFault::TooLarge {
                    limit: self.limits.max_entry_bytes,
                };
            }
            Some(Spent::Response) => {
                return ReadFault::ResponseTooLarge {
                    limit: self.limits.max_response_bytes,
                };
            }
            None => {}
        }
        ReadFault::Io(io::Error::new(error.kind(), error.to_string()))
    }

    /// Declares the namespaces of the start tag in the buffer; whether its
    /// element is one of the protocol.
    fn enter(&mut self) -> Result<bool, ReadError> {
        let start = self.start;
        let fatal = |fault| ReadError::fatal(start, fault);
        if self.scope.depth() == self.limits.max_depth {
            return Err(fatal(ReadFault::TooDeep {
                limit: self.limits.max_depth,
            }));
        }
        self.scope.enter();
        let tag = Tag::parse(inside(&self.buffer)).map_err(fatal)?;
        if self.leniency.is_lenient() {
            self.names.push(tag.name.to_owned());
        }
        self.scope.declare_all(&tag).map_err(fatal)?;
        let prefix = tag.name.split_once(':').map_or("", |(prefix, _)| prefix);
        match self.scope.find(prefix) {
            Some(index) => Ok(self.scope.uri(index) == NAMESPACE),
            None if prefix.is_empty() || self.leniency.is_lenient() => Ok(false),
            None => Err(fatal(ReadFault::UndeclaredPrefix(prefix.to_owned()))),
        }
    }

    fn qualified_name(&self) -> &str {
        let inside = inside(&self.buffer);
        inside.split(is_space).next().unwrap_or(inside)
    }

    fn check_declaration(&self) -> Result<(), ReadError> {
        let text = as_text(&self.buffer);
        let inside = text.trim_start_matches("<?").trim_end_matches("?>");
        let tag = Tag::parse(inside).map_err(|fault| self.fatal(fault))?;
        if tag.attribute("version").as_deref() != Some("1.0") {
            let fault = ReadFault::NotWellFormed("the XML version is not 1.0".to_owned());
            return Err(self.fatal(fault));
        }
        match tag.attribute("encoding") {
            Some(encoding) if !is_utf8(&encoding) => Err(self.fatal(ReadFault::Encoding(encoding.into_owned()))),
            _ => Ok(()),
        }
    }
}

fn kind_of(event: &Event<'_>) -> Kind {
    match event {
        // `Empty` does not occur, because such elements are expanded.
        Event::Start(_) | Event::Empty(_) => Kind::Start,
        Event::End(_) => Kind::End,
        Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) => Kind::Text,
        Event::Comment(_) | Event::PI(_) => Kind::Ignored,
        Event::Decl(_) => Kind::Declaration,
        Event::DocType(_) => Kind::Doctype,
        Event::Eof => Kind::Eof,
    }
}

/// The bytes as text, which the source has made sure they are.
fn as_text(buffer: &[u8]) -> &str {
    simdutf8::basic::from_utf8(buffer).unwrap_or_default()
}

/// What stands between `<` and `>` or `/>` of the tag at the beginning.
fn inside(buffer: &[u8]) -> &str {
    let text = as_text(buffer);
    let inside = text
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'))
        .unwrap_or_default();
    inside.strip_suffix('/').unwrap_or(inside)
}

/// Whether an encoding of this name is UTF-8 or a part of it.
pub(in crate::response) fn is_utf8(encoding: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"]
        .iter()
        .any(|name| encoding.eq_ignore_ascii_case(name))
}
