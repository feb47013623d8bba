//! A document walked element by element, with one element held in memory when
//! asked for.
//!
//! The envelope of a response is stepped through; an entry in it is captured,
//! as the bytes received, and then read with a [`Cursor`]. A fault inside a
//! captured element is that element's own, because the walk already stands
//! behind it.

use std::io::{self, BufRead};

use quick_xml::Reader;
use quick_xml::events::Event;

use super::cursor::Cursor;
use super::error::{ReadError, ReadFault, ReadLimits};
use super::scope::Scope;
use super::source::{AllowanceSpent, Source};
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
    reader: Reader<Source<R>>,
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
        let mut reader = Reader::from_reader(Source::new(source));
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
        let entry = self.start..self.position();
        if let Some(position) = self.reader.get_ref().first_not_utf8(&entry) {
            return Err(ReadError::local(position, ReadFault::NotUtf8));
        }
        let text = as_text(&self.buffer);
        let depth = self.scope.depth();
        let outcome = read(&mut Cursor::new(text, self.start, &mut self.scope));
        self.scope.leave_to(depth);
        outcome
    }

    fn capture(&mut self) -> Result<(), ReadError> {
        // The cursor will declare the element's namespaces itself.
        self.scope.leave();
        let mut open = 1_usize;
        while open > 0 {
            let position = self.position();
            let fault = match self.read_event()? {
                Kind::Start if self.scope.depth() + open == self.limits.max_depth => ReadFault::TooDeep {
                    limit: self.limits.max_depth,
                },
                Kind::Start => {
                    open += 1;
                    continue;
                }
                Kind::End => {
                    open -= 1;
                    continue;
                }
                Kind::Text | Kind::Declaration | Kind::Ignored => continue,
                Kind::Doctype => ReadFault::Doctype,
                Kind::Eof => ReadFault::Truncated,
            };
            return Err(ReadError::fatal(position, fault));
        }
        Ok(())
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
        if error.get_ref().is_some_and(|inner| inner.is::<AllowanceSpent>()) {
            return ReadFault::TooLarge {
                limit: self.limits.max_entry_bytes,
            };
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

/// The faults that only the walk can describe.
impl<R: BufRead> Walker<R> {
    /// Whether nothing but a byte order mark stands before the last event.
    pub(super) fn is_at_start(&self) -> bool {
        self.start == 0
    }

    pub(super) fn text_before_root(&self) -> ReadError {
        self.fatal(ReadFault::NotWellFormed("the document begins with text".to_owned()))
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
            Err(error) => error,
            Ok(()) => ReadError::local(self.start, ReadFault::UnexpectedElement { element, parent }),
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

/// The bytes as text, which the source has made sure they are.
fn as_text(buffer: &[u8]) -> &str {
    str::from_utf8(buffer).unwrap_or_default()
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

fn is_utf8(encoding: &str) -> bool {
    ["utf-8", "utf8", "us-ascii", "ascii"]
        .iter()
        .any(|name| encoding.eq_ignore_ascii_case(name))
}
