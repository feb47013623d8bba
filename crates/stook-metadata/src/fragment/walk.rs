//! Nesting and namespaces: the part of well-formedness that needs memory.
//!
//! Tokens enter, in order. What leaves is where the root stands, what it
//! declares, and which declarations it needs from outside.

use std::borrow::Cow;

use crate::fault::{Fault, MOST_TOLD, Problem, short};
use crate::namespaces::{Namespaces, XML, XMLNS};
use crate::scan::{Attribute, Scanner, Token, is_space, split_at_colon, unescape};

use super::content::{Content, Node};

/// Deepest nesting accepted. Common parsers stop at 256, and a record stands
/// four levels down in its response.
pub const MAX_DEPTH: usize = 200;

/// Most declarations in force at once. Looking one up is linear.
pub const MAX_NAMESPACES: usize = 256;

/// What was learned about a fragment without fault.
#[derive(Debug)]
pub(super) struct Walked<'a> {
    /// Byte offset of the root's `<`.
    pub(super) start: usize,
    /// Byte offset behind the last attribute of the root's start tag.
    pub(super) attributes_end: usize,
    /// Byte offset behind the root's end tag.
    pub(super) end: usize,
    /// The attributes of the root, declarations among them.
    pub(super) attributes: Vec<Attribute<'a>>,
    /// Prefixes used inside that only the surroundings declare.
    pub(super) needed: Vec<&'a str>,
}

/// One declaration made inside the fragment.
struct Binding<'a> {
    prefix: &'a str,
    uri: Cow<'a, str>,
    depth: usize,
}

/// Goes through a fragment once.
pub(super) struct Walk<'a, 'c> {
    xml: &'a str,
    scanner: Scanner<'a>,
    around: &'c Namespaces,
    content: Content<'c>,
    open: Vec<&'a str>,
    bindings: Vec<Binding<'a>>,
    needed: Vec<&'a str>,
    /// What the format does not allow, and where the first of it stands.
    wrong: Vec<Problem>,
    first: usize,
}

impl<'a, 'c> Walk<'a, 'c> {
    pub(super) fn new(xml: &'a str, around: &'c Namespaces, content: Content<'c>) -> Self {
        Self {
            xml,
            scanner: Scanner::new(xml),
            around,
            content,
            open: Vec::with_capacity(8),
            bindings: Vec::with_capacity(8),
            needed: Vec::new(),
            wrong: Vec::new(),
            first: 0,
        }
    }

    pub(super) fn finish(mut self) -> Result<Walked<'a>, Fault> {
        let walked = self.walk();
        match self.wrong.is_empty() {
            true => walked,
            false => Err(self.wrong_so_far()),
        }
    }

    fn walk(&mut self) -> Result<Walked<'a>, Fault> {
        let mut walked = self.root_start()?;
        while !self.open.is_empty() {
            match self.scanner.next_token()? {
                Some(Token::Start { name, empty }) => self.enter(name, empty)?,
                Some(Token::End { name }) => self.leave(name)?,
                Some(Token::Text(raw) | Token::Section(raw)) => self.text(raw)?,
                Some(_) => {}
                None => {
                    let name = self.open.last().copied().unwrap_or_default();
                    return Err(self.fault_here(Problem::NotClosed(short(name))));
                }
            }
        }
        walked.end = self.scanner.offset();
        self.nothing_follows()?;
        walked.needed = std::mem::take(&mut self.needed);
        Ok(walked)
    }

    /// Reads up to the root's start tag and enters it.
    fn root_start(&mut self) -> Result<Walked<'a>, Fault> {
        loop {
            match self.scanner.next_token()? {
                Some(Token::Start { name, empty }) => {
                    let start = self.scanner.token_start();
                    let tag = &self.xml[start..self.scanner.offset()];
                    let inside = tag.trim_end_matches(['>', '/']).trim_end();
                    let attributes = self.scanner.attributes().to_vec();
                    self.enter(name, empty)?;
                    return Ok(Walked {
                        start,
                        attributes_end: start + inside.len(),
                        end: self.scanner.offset(),
                        attributes,
                        needed: Vec::new(),
                    });
                }
                Some(Token::End { name }) => {
                    return Err(self.fault_here(Problem::StrayEndTag(short(name))));
                }
                Some(Token::Text(text)) if text.bytes().all(is_space) => {}
                Some(Token::Text(_) | Token::Section(_)) => {
                    return Err(self.fault_here(Problem::TextOutsideRoot));
                }
                Some(_) => {}
                None => return Err(self.fault_here(Problem::NoRoot)),
            }
        }
    }

    fn nothing_follows(&mut self) -> Result<(), Fault> {
        while let Some(token) = self.scanner.next_token()? {
            match token {
                Token::Start { name, .. } => {
                    return Err(self.fault_here(Problem::SecondRoot(short(name))));
                }
                Token::End { name } => {
                    return Err(self.fault_here(Problem::StrayEndTag(short(name))));
                }
                Token::Text(text) if text.bytes().all(is_space) => {}
                Token::Text(_) | Token::Section(_) => {
                    return Err(self.fault_here(Problem::TextOutsideRoot));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn enter(&mut self, name: &'a str, empty: bool) -> Result<(), Fault> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.fault_here(Problem::TooDeep(MAX_DEPTH)));
        }
        for index in 0..self.scanner.attributes().len() {
            self.declare(self.scanner.attributes()[index])?;
        }
        let (prefix, local) = split(name);
        self.require(prefix, name)?;
        self.attributes_resolve()?;
        let node = Node {
            name,
            namespace: self.resolve(prefix).unwrap_or_default(),
            local,
            attributes: self.scanner.attributes(),
            depth: self.open.len(),
            resolve: &|prefix| self.resolve(prefix),
        };
        let outcome = self.content.element(&node);
        self.go_on(outcome)?;
        if empty {
            self.forget_bindings();
            self.end()
        } else {
            self.open.push(name);
            Ok(())
        }
    }

    fn leave(&mut self, name: &'a str) -> Result<(), Fault> {
        match self.open.pop() {
            Some(open) if open == name => {
                self.forget_bindings();
                self.end()
            }
            open => {
                let expected = short(open.unwrap_or_default());
                Err(self.fault_here(Problem::WrongEndTag {
                    expected,
                    found: short(name),
                }))
            }
        }
    }

    /// The element inside those that are open has ended.
    fn end(&mut self) -> Result<(), Fault> {
        let outcome = self.content.end(self.open.len());
        self.go_on(outcome)
    }

    fn text(&mut self, raw: &str) -> Result<(), Fault> {
        let outcome = self.content.text(raw, self.open.len());
        self.go_on(outcome)
    }

    /// Takes note of what the format does not allow, so that all of it can be mended at once.
    fn go_on(&mut self, outcome: Result<(), Problem>) -> Result<(), Fault> {
        let Err(problem) = outcome else {
            return Ok(());
        };
        if !problem.is_no_end() {
            return Err(self.fault_here(problem));
        }
        if self.wrong.is_empty() {
            self.first = self.scanner.token_start();
        }
        if !self.wrong.contains(&problem) {
            self.wrong.push(problem);
        }
        match self.wrong.len() < MOST_TOLD {
            true => Ok(()),
            false => Err(self.wrong_so_far()),
        }
    }

    fn wrong_so_far(&self) -> Fault {
        let problem = match &self.wrong[..] {
            [only] => only.clone(),
            several => Problem::Several(several.to_vec()),
        };
        self.scanner.fault(self.first, problem)
    }

    /// Takes note of `xmlns="…"` and `xmlns:prefix="…"`.
    fn declare(&mut self, attribute: Attribute<'a>) -> Result<(), Fault> {
        let Some(prefix) = declared_prefix(attribute.name) else {
            return Ok(());
        };
        let uri = unescape(attribute.value);
        // Namespaces in XML 1.0 §3: what is reserved, and what cannot be undone.
        let forbidden = match prefix {
            "xml" => uri != XML,
            "xmlns" => true,
            "" => uri == XML || uri == XMLNS,
            _ => uri.is_empty() || uri == XML || uri == XMLNS,
        };
        if forbidden {
            let problem = Problem::BadDeclaration(short(attribute.name));
            return Err(self.scanner.fault(attribute.offset, problem));
        }
        if self.bindings.len() == MAX_NAMESPACES {
            let problem = Problem::TooManyNamespaces(MAX_NAMESPACES);
            return Err(self.scanner.fault(attribute.offset, problem));
        }
        self.bindings.push(Binding {
            prefix,
            uri,
            depth: self.open.len(),
        });
        Ok(())
    }

    /// Makes sure that a prefix stands for something, and remembers it if only
    /// the surroundings say what.
    fn require(&mut self, prefix: &'a str, name: &str) -> Result<(), Fault> {
        if prefix == "xml" || self.bindings.iter().any(|binding| binding.prefix == prefix) {
            return Ok(());
        }
        match self.around.resolve(prefix) {
            None => Err(self.fault_here(Problem::UndeclaredPrefix(short(name)))),
            Some("") => Ok(()),
            Some(_) => {
                if !self.needed.contains(&prefix) {
                    self.needed.push(prefix);
                }
                Ok(())
            }
        }
    }

    /// Makes sure that the prefixes of attributes stand for something, and that no two names mean the same attribute.
    fn attributes_resolve(&mut self) -> Result<(), Fault> {
        let mut prefixed = 0;
        for index in 0..self.scanner.attributes().len() {
            let name = self.scanner.attributes()[index].name;
            let (prefix, _) = split(name);
            if !matches!(prefix, "" | "xmlns") {
                self.require(prefix, name)?;
                prefixed += 1;
            }
        }
        if prefixed < 2 {
            return Ok(());
        }
        // Two prefixes for one namespace make one attribute of two names.
        let mut known: Vec<(&str, &str)> = Vec::with_capacity(prefixed);
        for attribute in self.scanner.attributes() {
            let (prefix, local) = split(attribute.name);
            if matches!(prefix, "" | "xmlns") {
                continue;
            }
            let expanded = (local, self.resolve(prefix).unwrap_or_default());
            if known.contains(&expanded) {
                let problem = Problem::RepeatedAttribute(short(attribute.name));
                return Err(self.scanner.fault(attribute.offset, problem));
            }
            known.push(expanded);
        }
        Ok(())
    }

    fn resolve(&self, prefix: &str) -> Option<&str> {
        let inside = self.bindings.iter().rev().find(|binding| binding.prefix == prefix);
        inside.map_or_else(|| self.around.resolve(prefix), |binding| Some(&*binding.uri))
    }

    /// Ends the declarations made by the element that was just closed.
    fn forget_bindings(&mut self) {
        let depth = self.open.len();
        while self.bindings.last().is_some_and(|binding| binding.depth >= depth) {
            self.bindings.pop();
        }
    }

    fn fault_here(&self, problem: Problem) -> Fault {
        self.scanner.fault(self.scanner.token_start(), problem)
    }
}

/// Prefix and local part of a qualified name.
pub(crate) fn split(name: &str) -> (&str, &str) {
    split_at_colon(name).unwrap_or(("", name))
}

/// The prefix that an attribute of this name declares, if it declares any.
pub(crate) fn declared_prefix(attribute: &str) -> Option<&str> {
    match attribute.strip_prefix("xmlns") {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix(':'),
        None => None,
    }
}
