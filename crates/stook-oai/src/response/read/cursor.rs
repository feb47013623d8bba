//! One captured element, read strictly from its start tag to its end tag.
//!
//! What the envelope's elements hold leaves as text and tags; what `metadata`,
//! `about` and the descriptions hold leaves as XML that stands alone. Every
//! byte passes the same checks, also in XML that is only handed on.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::error::{ReadError, ReadFault};
use super::scope::Scope;
use super::tag::{Tag, is_space, resolve_reference};
use crate::response::NAMESPACE;
use crate::xml;

#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// Where `text` begins in the document.
    start: u64,
    reader: Reader<&'a [u8]>,
    scope: &'a mut Scope,
    /// Where the last token begins in `text`.
    offset: usize,
    /// Declarations before this one lie outside the XML being handed on.
    foreign: usize,
    /// Whether an element of that XML is in the default namespace from outside.
    needs_default: bool,
}

/// An element that begins.
#[derive(Debug)]
pub(super) struct Opened<'a> {
    pub(super) tag: Tag<'a>,
    /// Whether it is one of the protocol.
    pub(super) oai: bool,
    /// Where its start tag begins.
    offset: usize,
}

impl<'a> Opened<'a> {
    /// The name of an element of the protocol; empty for others.
    pub(super) fn oai_name(&self) -> &'a str {
        let name = self.tag.name;
        if self.oai {
            name.split_once(':').map_or(name, |(_, local)| local)
        } else {
            ""
        }
    }
}

enum Token<'a> {
    Open(Opened<'a>),
    Close,
    Text(Cow<'a, str>),
    Reference(char),
    Ignored,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, start: u64, scope: &'a mut Scope) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_comments = true;
        Self {
            text,
            start,
            reader,
            scope,
            offset: 0,
            foreign: 0,
            needs_default: false,
        }
    }

    /// The captured element itself. Must be called first.
    pub(super) fn root(&mut self) -> Result<Opened<'a>, ReadError> {
        if let Some(offset) = xml::first_forbidden(self.text.as_bytes()) {
            self.offset = offset;
            let character = self.text[offset..].chars().next().unwrap_or_default();
            return Err(self.error(ReadFault::ForbiddenCharacter(character)));
        }
        match self.token()? {
            Token::Open(root) => Ok(root),
            _ => Err(self.error(ReadFault::NotWellFormed("an element was expected".to_owned()))),
        }
    }

    /// The next child of the element last opened; nothing when that ends.
    pub(super) fn child(&mut self, parent: &'static str) -> Result<Option<Opened<'a>>, ReadError> {
        loop {
            match self.token()? {
                Token::Open(child) => return Ok(Some(child)),
                Token::Close => return Ok(None),
                Token::Text(text) if text.chars().all(is_space) => {}
                Token::Text(_) | Token::Reference(_) => {
                    return Err(self.error(ReadFault::UnexpectedText { parent }));
                }
                Token::Ignored => {}
            }
        }
    }

    /// The text of the element last opened, which holds nothing else.
    pub(super) fn text(&mut self, element: &'static str) -> Result<String, ReadError> {
        let mut collected = String::new();
        loop {
            match self.token()? {
                Token::Open(child) => return Err(self.unexpected(&child, element)),
                Token::Close => return Ok(collected),
                Token::Text(text) => push_normalised(&mut collected, &text),
                Token::Reference(character) => collected.push(character),
                Token::Ignored => {}
            }
        }
    }

    /// That text without the white space around it, which the schema's types
    /// for URIs and dates do not count, nor does anybody for tokens and names.
    pub(super) fn value(&mut self, element: &'static str) -> Result<String, ReadError> {
        let text = self.text(element)?;
        let trimmed = text.trim_matches(is_space);
        Ok(if trimmed.len() == text.len() {
            text
        } else {
            trimmed.to_owned()
        })
    }

    /// The one element inside the container last opened, as XML that stands
    /// alone: the bytes received, with the namespace declarations it inherits
    /// and uses added to its start tag.
    ///
    /// A prefix counts as used if it occurs before a colon anywhere in the
    /// element, because values such as `xsi:type="dcterms:URI"` use it too.
    pub(super) fn contained(&mut self, container: &'static str) -> Result<String, ReadError> {
        let Some(root) = self.child(container)? else {
            return Err(self.error(ReadFault::Missing {
                element: "element",
                parent: container,
            }));
        };
        self.foreign = self.scope.inherited();
        self.needs_default = false;
        self.note_default(root.tag.name);
        let end = self.skip()?;
        let element = &self.text[root.offset..end];
        let alone = self.stand_alone(&root, element);
        self.foreign = 0;
        match self.child(container)? {
            None => Ok(alone),
            Some(_) => Err(self.error(ReadFault::Repeated {
                element: "element",
                parent: container,
            })),
        }
    }

    /// Goes behind the end of the element last opened and says where that is.
    fn skip(&mut self) -> Result<usize, ReadError> {
        let mut open = 1_usize;
        while open > 0 {
            match self.token()? {
                Token::Open(_) => open += 1,
                Token::Close => open -= 1,
                Token::Text(_) | Token::Reference(_) | Token::Ignored => {}
            }
        }
        Ok(self.reader_offset())
    }

    fn stand_alone(&self, root: &Opened<'_>, element: &str) -> String {
        let mut declarations = Vec::new();
        for (prefix, uri) in self.scope.visible(self.foreign) {
            let used = if prefix.is_empty() {
                self.needs_default
            } else {
                !root.tag.declares(prefix) && mentions(element, prefix)
            };
            if used {
                let colon = if prefix.is_empty() { "" } else { ":" };
                xml::push_attribute(&mut declarations, &format!("xmlns{colon}{prefix}"), uri);
            }
        }
        let name_end = 1 + root.tag.name.len();
        let mut alone = String::with_capacity(element.len() + declarations.len());
        alone.push_str(&element[..name_end]);
        alone.push_str(&String::from_utf8_lossy(&declarations));
        alone.push_str(&element[name_end..]);
        alone
    }

    fn token(&mut self) -> Result<Token<'a>, ReadError> {
        self.offset = self.reader_offset();
        let event = match self.reader.read_event() {
            Ok(event) => event,
            Err(error) => return Err(self.error(ReadFault::of_xml(&error))),
        };
        Ok(match event {
            Event::Start(_) | Event::Empty(_) => Token::Open(self.open()?),
            Event::End(_) => {
                self.scope.leave();
                Token::Close
            }
            Event::Text(text) if text.contains("]]>") => {
                let fault = "\"]]>\" in text must be written as \"]]&gt;\"".to_owned();
                return Err(self.error(ReadFault::NotWellFormed(fault)));
            }
            Event::Text(text) => Token::Text(text.into_inner()),
            Event::CData(text) => Token::Text(text.into_inner()),
            Event::GeneralRef(reference) => match resolve_reference(&reference) {
                Some(character) => Token::Reference(character),
                None => {
                    let reference = format!("&{};", &*reference);
                    return Err(self.error(ReadFault::UnknownReference(reference)));
                }
            },
            Event::Comment(_) | Event::PI(_) => Token::Ignored,
            Event::Decl(_) => {
                let fault = "the XML declaration stands inside an element".to_owned();
                return Err(self.error(ReadFault::NotWellFormed(fault)));
            }
            Event::DocType(_) => return Err(self.error(ReadFault::Doctype)),
            Event::Eof => return Err(self.error(ReadFault::Truncated)),
        })
    }

    /// Enters the element whose start tag the reader has just passed.
    fn open(&mut self) -> Result<Opened<'a>, ReadError> {
        let raw = &self.text[self.offset + 1..self.reader_offset() - 1];
        let tag = Tag::parse(raw.strip_suffix('/').unwrap_or(raw)).map_err(|fault| self.error(fault))?;
        self.scope.enter();
        self.scope.declare_all(&tag).map_err(|fault| self.error(fault))?;
        for attribute in &tag.attributes {
            if attribute.declared_prefix().is_none()
                && let Some((prefix, _)) = attribute.name.split_once(':')
            {
                self.find(prefix)?;
            }
        }
        let oai = match tag.name.split_once(':') {
            Some((prefix, _)) => self.find(prefix)?,
            None => self.scope.find(""),
        };
        let oai = oai.is_some_and(|index| self.scope.uri(index) == NAMESPACE);
        self.note_default(tag.name);
        Ok(Opened {
            tag,
            oai,
            offset: self.offset,
        })
    }

    /// The declaration of a prefix; `xml` needs none.
    fn find(&self, prefix: &str) -> Result<Option<usize>, ReadError> {
        match self.scope.find(prefix) {
            None if prefix != "xml" => Err(self.error(ReadFault::UndeclaredPrefix(prefix.to_owned()))),
            found => Ok(found),
        }
    }

    fn note_default(&mut self, name: &str) {
        if !name.contains(':') && self.foreign > 0 {
            let default = self.scope.find("").filter(|index| *index < self.foreign);
            self.needs_default |= default.is_some_and(|index| !self.scope.uri(index).is_empty());
        }
    }

    fn reader_offset(&self) -> usize {
        // It counts bytes of `text`, whose length is a usize.
        usize::try_from(self.reader.buffer_position()).unwrap_or(self.text.len())
    }

    /// A fault at the last token.
    pub(super) fn error(&self, fault: ReadFault) -> ReadError {
        ReadError::local(self.start + self.offset as u64, fault)
    }

    /// The fault of finding `child` inside `parent`.
    pub(super) fn unexpected(&self, child: &Opened<'_>, parent: &'static str) -> ReadError {
        let element = child.tag.name.to_owned();
        self.error(ReadFault::UnexpectedElement { element, parent })
    }
}

/// Whether `prefix:` occurs in `element`.
fn mentions(element: &str, prefix: &str) -> bool {
    element
        .match_indices(prefix)
        .any(|(at, _)| element[at + prefix.len()..].starts_with(':'))
}

/// Appends text with its line ends as XML 1.0 §2.11 wants them.
fn push_normalised(out: &mut String, text: &str) {
    let mut lines = text.split('\r');
    out.extend(lines.next());
    for line in lines {
        out.push('\n');
        out.push_str(line.strip_prefix('\n').unwrap_or(line));
    }
}
