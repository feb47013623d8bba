//! One captured element, read strictly from its start tag to its end tag.
//!
//! What the envelope's elements hold leaves as text and tags; what `metadata`,
//! `about` and the descriptions hold leaves as XML that stands alone. Every
//! byte passes the same checks, also in XML that is only handed on.

mod hand_on;

use super::error::{ReadError, ReadFault};
use super::leniency::Leniency;
use super::piece::{self, Piece};
use super::scope::Scope;
use super::tag::{Tag, is_space, resolve_reference, split_prefix};
use crate::response::NAMESPACE;
use crate::response::repair::Tolerance;
use crate::xml;

/// The elements inside entries, by which they are known where they are in the
/// wrong namespace.
const NAMES: [&str; 19] = [
    "about",
    "adminEmail",
    "baseURL",
    "compression",
    "datestamp",
    "deletedRecord",
    "description",
    "earliestDatestamp",
    "granularity",
    "header",
    "identifier",
    "metadata",
    "metadataNamespace",
    "metadataPrefix",
    "protocolVersion",
    "repositoryName",
    "schema",
    "setName",
    "setSpec",
];

#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// Where `text` begins in the document.
    start: u64,
    /// How far it has been read.
    at: usize,
    /// The element last opened is empty and ends at once.
    is_empty: bool,
    scope: &'a mut Scope,
    leniency: &'a mut Leniency,
    /// Where the last token begins in `text`.
    offset: usize,
    /// Declarations before this one lie outside the XML being handed on.
    foreign: usize,
    /// Whether XML is being handed on.
    handing_on: bool,
    /// Well-known prefixes that it uses and nobody declares.
    assumed: Vec<(&'static str, &'static str)>,
    /// Whether an element of that XML is in the default namespace from outside.
    needs_default: bool,
}

/// An element that begins.
#[derive(Debug)]
pub(super) struct Opened<'a> {
    pub(super) tag: Tag<'a>,
    namespace: Namespace,
    /// Where its start tag begins.
    offset: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Namespace {
    /// That of the protocol.
    Oai,
    Other,
    None,
}

enum Token<'a> {
    Open(Opened<'a>),
    Close,
    Text(&'a str),
    Reference(char),
    Ignored,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, start: u64, scope: &'a mut Scope, leniency: &'a mut Leniency) -> Self {
        Self {
            text,
            start,
            at: 0,
            is_empty: false,
            scope,
            leniency,
            offset: 0,
            foreign: 0,
            handing_on: false,
            assumed: Vec::new(),
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

    /// Whether this may pass; if so, it is counted.
    pub(super) fn tolerates(&mut self, tolerance: Tolerance) -> bool {
        self.leniency.tolerates(tolerance)
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.leniency.is_lenient()
    }

    /// The name of an element of the protocol; empty for others, unless they
    /// are to be known by their name alone.
    pub(super) fn name_of(&mut self, child: &Opened<'a>) -> &'a str {
        let name = child.tag.name;
        let local = split_prefix(name).map_or(name, |(_, local)| local);
        let tolerance = match child.namespace {
            Namespace::Oai => return local,
            Namespace::Other => Tolerance::ForeignNamespace,
            Namespace::None => Tolerance::MissingNamespace,
        };
        if NAMES.contains(&local) && self.leniency.tolerates_once(tolerance) {
            local
        } else {
            ""
        }
    }

    /// The next child of the element last opened; nothing when that ends.
    pub(super) fn child(&mut self, parent: &'static str) -> Result<Option<Opened<'a>>, ReadError> {
        loop {
            match self.token()? {
                Token::Open(child) => return Ok(Some(child)),
                Token::Close => return Ok(None),
                Token::Text(text) if text.chars().all(is_space) => {}
                // Text beside metadata may be metadata; it is not passed over.
                Token::Text(_) | Token::Reference(_)
                    if parent != "metadata" && self.tolerates(Tolerance::UnexpectedText) => {}
                Token::Text(_) | Token::Reference(_) => {
                    return Err(self.error(ReadFault::UnexpectedText { parent }));
                }
                Token::Ignored => {}
            }
        }
    }

    /// Passes over a child that `parent` should not have, if that is
    /// tolerated.
    pub(super) fn pass_over(&mut self, child: &Opened<'_>, parent: &'static str) -> Result<(), ReadError> {
        let unexpected = self.unexpected(child, parent);
        if self.tolerates(Tolerance::UnexpectedElement) {
            self.skip().map(|_| ())
        } else {
            Err(unexpected)
        }
    }

    /// The text of the element last opened, which holds nothing else.
    pub(super) fn text(&mut self, element: &'static str) -> Result<String, ReadError> {
        let mut collected = String::new();
        let mut open = 1_usize;
        loop {
            match self.token()? {
                Token::Open(child) => {
                    let unexpected = self.unexpected(&child, element);
                    if !self.tolerates(Tolerance::UnexpectedElement) {
                        return Err(unexpected);
                    }
                    open += 1;
                }
                Token::Close if open == 1 => return Ok(collected),
                Token::Close => open -= 1,
                Token::Text(text) => push_normalised(&mut collected, text),
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
        Ok(self.at)
    }

    fn token(&mut self) -> Result<Token<'a>, ReadError> {
        self.offset = self.at;
        if std::mem::take(&mut self.is_empty) {
            self.scope.leave();
            return Ok(Token::Close);
        }
        let (piece, length) = piece::first(&self.text[self.at..]).map_err(|fault| self.error(fault))?;
        self.at += length;
        Ok(match piece {
            Piece::Start { inside, is_empty } => {
                self.is_empty = is_empty;
                Token::Open(self.open(inside)?)
            }
            Piece::End => {
                self.scope.leave();
                Token::Close
            }
            Piece::Text(text) => Token::Text(text),
            Piece::Reference(reference) => match resolve_reference(reference) {
                Some(character) => Token::Reference(character),
                None => return Err(self.error(ReadFault::UnknownReference(format!("&{reference};")))),
            },
            Piece::Ignored => Token::Ignored,
        })
    }

    /// Enters the element whose start tag has just been passed.
    fn open(&mut self, inside: &'a str) -> Result<Opened<'a>, ReadError> {
        let tag = Tag::parse(inside).map_err(|fault| self.error(fault))?;
        self.scope.enter();
        self.scope.declare_all(&tag).map_err(|fault| self.error(fault))?;
        let prefix = split_prefix(tag.name).map_or("", |(prefix, _)| prefix);
        let declaration = self.scope.find(prefix);
        if declaration.is_none() && !prefix.is_empty() {
            self.check_undeclared(prefix)?;
        }
        self.check_attributes(&tag)?;
        let uri = declaration.map(|index| self.scope.uri(index));
        let namespace = match uri {
            Some(NAMESPACE) => Namespace::Oai,
            None | Some("") => Namespace::None,
            Some(_) => Namespace::Other,
        };
        self.note_default(tag.name);
        Ok(Opened {
            tag,
            namespace,
            offset: self.offset,
        })
    }

    /// The prefixes of attributes must be declared too.
    fn check_attributes(&mut self, tag: &Tag<'_>) -> Result<(), ReadError> {
        for attribute in &tag.attributes {
            if let Some((prefix, _)) = split_prefix(attribute.name)
                && prefix != "xmlns"
                && self.scope.find(prefix).is_none()
            {
                self.check_undeclared(prefix)?;
            }
        }
        Ok(())
    }

    /// Only `xml` needs no declaration.
    fn check_undeclared(&mut self, prefix: &str) -> Result<(), ReadError> {
        if prefix == "xml" || self.assumes(prefix) {
            return Ok(());
        }
        Err(self.error(ReadFault::UndeclaredPrefix(prefix.to_owned())))
    }

    fn note_default(&mut self, name: &str) {
        if self.foreign > 0 && split_prefix(name).is_none() {
            let default = self.scope.find("").filter(|index| *index < self.foreign);
            self.needs_default |= default.is_some_and(|index| !self.scope.uri(index).is_empty());
        }
    }

    /// Nothing may stand behind the captured element.
    pub(super) fn finish(&self) -> Result<(), ReadError> {
        if self.at == self.text.len() {
            return Ok(());
        }
        let fault = "the element ends before its end tag".to_owned();
        Err(self.error(ReadFault::NotWellFormed(fault)))
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

/// Appends text with its line ends as XML 1.0 §2.11 wants them.
fn push_normalised(out: &mut String, text: &str) {
    let mut lines = text.split('\r');
    out.extend(lines.next());
    for line in lines {
        out.push('\n');
        out.push_str(line.strip_prefix('\n').unwrap_or(line));
    }
}
