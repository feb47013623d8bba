//! A document walked element by element, with one element held in memory when
//! asked for.
//!
//! The envelope of a response is stepped through; an entry in it is captured,
//! as the bytes received, and then read with a [`Cursor`]. A fault inside a
//! captured element is that element's own, because the walk already stands
//! behind it.

use std::io::{self, BufRead, Read};

use quick_xml::Reader;
use quick_xml::events::Event;

use super::cursor::Cursor;
use super::error::{ReadError, ReadFault, ReadLimits};
use super::scope::Scope;
use super::tag::{Tag, is_space};
use crate::response::NAMESPACE;

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
    reader: Reader<Bounded<R>>,
    /// The bytes of the last event, or of the captured element.
    buffer: Vec<u8>,
    /// Where `buffer` begins in the document.
    start: u64,
    scope: Scope,
    limits: ReadLimits,
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
    pub(super) fn new(source: R, limits: ReadLimits) -> Self {
        let allowance = limits.max_entry_bytes;
        let mut reader = Reader::from_reader(Bounded {
            source,
            allowance,
            consumed: 0,
        });
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        // A bare `&` is noticed by the cursor, where it costs one entry only.
        config.allow_dangling_amp = true;
        Self {
            reader,
            buffer: Vec::new(),
            start: 0,
            scope: Scope::default(),
            limits,
        }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> u64 {
        self.reader.get_ref().consumed
    }

    /// Goes on by one event that matters.
    pub(super) fn step(&mut self) -> Result<Step, ReadError> {
        loop {
            self.reader.get_mut().allowance = self.limits.max_entry_bytes;
            self.buffer.clear();
            self.start = self.position();
            return Ok(match self.read_event()? {
                Kind::Start => Step::Open { oai: self.enter()? },
                Kind::End => {
                    self.scope.leave();
                    Step::Close
                }
                Kind::Text if self.buffer.iter().all(|byte| is_space(char::from(*byte))) => continue,
                Kind::Text => Step::Text,
                Kind::Declaration => {
                    self.check_declaration()?;
                    Step::Declaration
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

    /// Captures the element that the last step opened, up to and including its
    /// end, and has it read.
    pub(super) fn read_element<T>(
        &mut self,
        read: impl FnOnce(&mut Cursor<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        self.capture()?;
        let text = str::from_utf8(&self.buffer).map_err(|_| ReadError::local(self.start, ReadFault::NotUtf8))?;
        let depth = self.scope.depth();
        let outcome = read(&mut Cursor::new(text, self.start, &mut self.scope));
        self.scope.leave_to(depth);
        outcome
    }

    fn capture(&mut self) -> Result<(), ReadError> {
        // The cursor will declare the element's namespaces itself.
        self.scope.leave();
        let mut open = 1_usize;
        let mut damaged = None;
        while open > 0 {
            let position = self.position();
            match self.read_event() {
                Ok(Kind::Start) => {
                    open += 1;
                    if self.scope.depth() + open > self.limits.max_depth {
                        let limit = self.limits.max_depth;
                        return Err(ReadError::fatal(position, ReadFault::TooDeep { limit }));
                    }
                }
                Ok(Kind::End) => open -= 1,
                Ok(Kind::Doctype) => return Err(ReadError::fatal(position, ReadFault::Doctype)),
                Ok(Kind::Eof) => return Err(ReadError::fatal(position, ReadFault::Truncated)),
                Ok(Kind::Text | Kind::Declaration | Kind::Ignored) => {}
                Err(error) if error.can_continue() => damaged = damaged.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        damaged.map_or(Ok(()), Err)
    }

    /// Reads one event and appends its bytes to the buffer.
    fn read_event(&mut self) -> Result<Kind, ReadError> {
        let position = self.position();
        let length = self.buffer.len();
        let error = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => return Ok(kind_of(&event)),
            Err(error) => error,
        };
        let fault = match error {
            quick_xml::Error::Io(error) => self.io_fault(&error),
            quick_xml::Error::Encoding(_) => ReadFault::NotUtf8,
            quick_xml::Error::Syntax(_) if self.at_end() => ReadFault::Truncated,
            error => ReadFault::NotWellFormed(error.to_string()),
        };
        // Text that is not UTF-8 spoils nothing else: it ended where markup
        // begins. A tag that is not UTF-8 leaves us without its name.
        let is_text = !matches!(self.buffer.get(length), None | Some(b'<' | b'&'));
        Err(match fault {
            ReadFault::NotUtf8 if is_text => ReadError::local(position, ReadFault::NotUtf8),
            fault => ReadError::fatal(position, fault),
        })
    }

    fn io_fault(&self, error: &io::Error) -> ReadFault {
        if error.get_ref().is_some_and(|inner| inner.is::<AllowanceSpent>()) {
            return ReadFault::TooLarge {
                limit: self.limits.max_entry_bytes,
            };
        }
        ReadFault::Io(io::Error::new(error.kind(), error.to_string()))
    }

    fn at_end(&mut self) -> bool {
        self.reader.get_mut().fill_buf().is_ok_and(<[u8]>::is_empty)
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
        self.scope.declare_all(&tag).map_err(fatal)?;
        let prefix = tag.name.split_once(':').map_or("", |(prefix, _)| prefix);
        match self.scope.find(prefix) {
            Some(index) => Ok(self.scope.uri(index) == NAMESPACE),
            None if prefix.is_empty() => Ok(false),
            None => Err(fatal(ReadFault::UndeclaredPrefix(prefix.to_owned()))),
        }
    }

    fn qualified_name(&self) -> &str {
        let inside = inside(&self.buffer);
        inside.split(is_space).next().unwrap_or(inside)
    }

    fn check_declaration(&self) -> Result<(), ReadError> {
        let text = str::from_utf8(&self.buffer).unwrap_or_default();
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

/// The faults that only the walk can describe.
impl<R: BufRead> Walker<R> {
    /// Whether nothing but a byte order mark stands before the last event.
    pub(super) fn is_at_start(&self) -> bool {
        self.start == 0
    }

    pub(super) fn unexpected_text(&self, parent: &'static str) -> ReadError {
        ReadError::local(self.start, ReadFault::UnexpectedText { parent })
    }

    pub(super) fn missing(&self, element: &'static str, parent: &'static str) -> ReadError {
        ReadError::local(self.start, ReadFault::Missing { element, parent })
    }

    /// Leaves out the element that the last step opened.
    pub(super) fn skip_unexpected(&mut self, parent: &'static str) -> ReadError {
        let element = self.qualified_name().to_owned();
        match self.capture() {
            Err(error) if !error.can_continue() => error,
            _ => ReadError::local(self.start, ReadFault::UnexpectedElement { element, parent }),
        }
    }

    pub(super) fn not_oai_pmh(&self) -> ReadError {
        let name = self.qualified_name();
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let namespace = self.scope.find(prefix).map(|index| self.scope.uri(index));
        let namespace = namespace.unwrap_or_default().to_owned();
        self.fatal(ReadFault::NotOaiPmh {
            root: self.local_name().to_owned(),
            namespace,
        })
    }

    pub(super) fn second_root(&self) -> ReadError {
        let fault = "there is another element behind the root element".to_owned();
        self.fatal(ReadFault::NotWellFormed(fault))
    }

    pub(super) fn late_declaration(&self) -> ReadError {
        let fault = "the XML declaration does not stand at the beginning".to_owned();
        self.fatal(ReadFault::NotWellFormed(fault))
    }

    pub(super) fn empty(&self) -> ReadError {
        self.fatal(ReadFault::Empty)
    }

    fn fatal(&self, fault: ReadFault) -> ReadError {
        ReadError::fatal(self.start, fault)
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

/// What stands between `<` and `>` or `/>` of the tag at the beginning.
fn inside(buffer: &[u8]) -> &str {
    let text = str::from_utf8(buffer).unwrap_or_default();
    let inside = text
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'))
        .unwrap_or_default();
    inside.strip_suffix('/').unwrap_or(inside)
}

fn is_utf8(encoding: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"]
        .iter()
        .any(|name| encoding.eq_ignore_ascii_case(name))
}

/// A source that gives no more than it is allowed to.
///
/// quick-xml collects a whole text or tag before it returns; without a bound
/// here a single endless text would fill the memory.
#[derive(Debug)]
struct Bounded<R> {
    source: R,
    /// How many more bytes may be consumed.
    allowance: u64,
    consumed: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("the entry is too large")]
struct AllowanceSpent;

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(into.len());
        into[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.allowance == 0 {
            return Err(io::Error::other(AllowanceSpent));
        }
        let available = self.source.fill_buf()?;
        let allowed = usize::try_from(self.allowance).unwrap_or(usize::MAX);
        Ok(&available[..available.len().min(allowed)])
    }

    fn consume(&mut self, length: usize) {
        self.source.consume(length);
        let length = length as u64;
        self.allowance = self.allowance.saturating_sub(length);
        self.consumed += length;
    }
}
