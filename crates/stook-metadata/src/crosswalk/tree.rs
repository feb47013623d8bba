//! A record as a tree, for whoever has to look into it.
//!
//! The XML of one record enters, as it was accepted at the door; elements with resolved names leave. Comments and
//! instructions are left out.

use std::borrow::Cow;
use std::rc::Rc;

use super::is_marc_namespace;
use super::key::{Key, Keys};
use super::path::same;
use crate::fault::{Fault, Problem, short};
use crate::find::find;
use crate::fragment::{MAX_DEPTH, declared_prefix, split};
use crate::namespaces::XML;
use crate::scan::{Attribute as Written, Scanner, Token, unescape};

/// One element and everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element<'a> {
    /// The namespace, empty for none.
    pub namespace: Rc<str>,
    /// The name without a prefix.
    pub local: &'a str,
    /// In the order they are written, without declarations.
    pub attributes: Vec<Attribute<'a>>,
    /// In the order of the document.
    pub children: Vec<Child<'a>>,
    pub(super) key: Option<Key>,
    /// Which keys are in it; none where nobody counted.
    pub(super) within: Option<Keys>,
}

/// One attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// The namespace, empty for none.
    pub namespace: Rc<str>,
    /// The name without a prefix.
    pub local: &'a str,
    /// The value, references resolved.
    pub value: Cow<'a, str>,
}

/// What stands in an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Child<'a> {
    /// An element.
    Element(Element<'a>),
    /// Text, references resolved.
    Text(Cow<'a, str>),
}

impl<'a> Element<'a> {
    /// Reads the one element of `xml`.
    ///
    /// # Errors
    /// The first thing that is not XML, or not well formed.
    pub fn read(xml: &'a str) -> Result<Element<'a>, Fault> {
        let mut scanner = Scanner::new(xml);
        let mut declared = Declared::at_the_root();
        // The open elements with the names that close them, and how many declarations were in force before each.
        let mut open: Vec<(Element<'a>, &'a str, usize)> = Vec::new();
        loop {
            let fault = |scanner: &Scanner<'_>, problem| Err(scanner.fault(scanner.token_start(), problem));
            let child = match scanner.next_token()? {
                None => {
                    let problem = match open.last() {
                        Some((_, name, _)) => Problem::NotClosed(short(name)),
                        None => Problem::NoRoot,
                    };
                    return fault(&scanner, problem);
                }
                Some(Token::Start { .. }) if open.len() == MAX_DEPTH => {
                    return fault(&scanner, Problem::TooDeep(MAX_DEPTH));
                }
                Some(Token::Start { name, empty }) => {
                    let before = declared.all.len();
                    let Some(element) = start(name, scanner.attributes(), &mut declared) else {
                        return fault(&scanner, Problem::UndeclaredPrefix(short(name)));
                    };
                    if !empty {
                        open.push((element, name, before));
                        continue;
                    }
                    declared.all.truncate(before);
                    Child::Element(element)
                }
                Some(Token::End { name }) => {
                    let Some((mut element, _, before)) = open.pop().filter(|(_, opened, _)| *opened == name) else {
                        return fault(&scanner, Problem::StrayEndTag(short(name)));
                    };
                    declared.all.truncate(before);
                    element.within = Keys::within(&element);
                    Child::Element(element)
                }
                Some(Token::Text(raw)) => Child::Text(unescape(raw)),
                Some(Token::Section(raw)) => Child::Text(Cow::Borrowed(raw)),
                Some(Token::Comment | Token::Instruction | Token::Declaration) => continue,
            };
            match (open.last_mut(), child) {
                (Some((parent, ..)), child) => parent.push(child),
                (None, Child::Element(root)) => return Ok(root),
                (None, Child::Text(_)) => {}
            }
        }
    }

    fn push(&mut self, child: Child<'a>) {
        if self.children.is_empty() {
            // Most elements have one text in them, or one element, and nothing else.
            self.children.reserve_exact(1);
        }
        self.children.push(child);
    }

    /// The elements directly in it.
    pub fn elements(&self) -> impl Iterator<Item = &Element<'a>> {
        self.children.iter().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, namespace: &str, local: &str) -> Option<&str> {
        let is_it = |attribute: &&Attribute<'_>| {
            attribute.namespace.len() == namespace.len()
                && same(attribute.local, local)
                && *attribute.namespace == *namespace
        };
        self.attributes.iter().find(is_it).map(|attribute| &*attribute.value)
    }

    /// All text in it. What is broken into lines only because the XML is comes as one line, and blanks at the ends
    /// are dropped; not in the fixed fields of MARC, where every blank has its place.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        if self.is_fixed_field() {
            return self.exact_text();
        }
        match &self.children[..] {
            [] => Cow::Borrowed(""),
            [Child::Text(text)] => in_one_line(text),
            _ => Cow::Owned(in_one_line(&self.all_text()).into_owned()),
        }
    }

    /// All text in it with the blanks at its ends, so that characters can be counted; without them only where the
    /// text is broken into lines.
    #[must_use]
    pub fn exact_text(&self) -> Cow<'_, str> {
        let text = match &self.children[..] {
            [Child::Text(text)] => Cow::Borrowed(&**text),
            _ => Cow::Owned(self.all_text()),
        };
        match is_broken(&text) {
            true => Cow::Owned(in_one_line(&text).into_owned()),
            false => text,
        }
    }

    fn is_fixed_field(&self) -> bool {
        matches!(self.local, "leader" | "controlfield") && is_marc_namespace(&self.namespace)
    }

    fn all_text(&self) -> String {
        let mut all = String::new();
        self.gather(&mut all);
        all
    }

    fn gather(&self, all: &mut String) {
        for child in &self.children {
            match child {
                Child::Text(text) => all.push_str(text),
                // Such as br in a description: what is on both sides are two words.
                Child::Element(element) if element.children.is_empty() => all.push('\n'),
                Child::Element(element) => element.gather(all),
            }
        }
    }
}

/// What prefixes stand for, the innermost declaration last. Elements share the text of their namespace.
struct Declared<'a> {
    all: Vec<(&'a str, Rc<str>)>,
    /// No namespace.
    none: Rc<str>,
}

impl<'a> Declared<'a> {
    fn at_the_root() -> Declared<'a> {
        let none: Rc<str> = Rc::from("");
        Declared {
            all: vec![("xml", Rc::from(XML)), ("", Rc::clone(&none))],
            none,
        }
    }

    fn resolve(&self, prefix: &str) -> Option<Rc<str>> {
        let declaration = self.all.iter().rfind(|(known, _)| *known == prefix);
        declaration.map(|(_, namespace)| Rc::clone(namespace))
    }
}

fn start<'a>(name: &'a str, written: &[Written<'a>], declared: &mut Declared<'a>) -> Option<Element<'a>> {
    for attribute in written {
        if let Some(prefix) = declared_prefix(attribute.name) {
            declared.all.push((prefix, Rc::from(unescape(attribute.value))));
        }
    }
    let (prefix, local) = split(name);
    let namespace = declared.resolve(prefix)?;
    let mut attributes = Vec::with_capacity(written.len());
    for attribute in written.iter().filter(|it| declared_prefix(it.name).is_none()) {
        let (prefix, local) = split(attribute.name);
        attributes.push(Attribute {
            // An attribute without a prefix is in no namespace, whatever the default is.
            namespace: match prefix {
                "" => Rc::clone(&declared.none),
                _ => declared.resolve(prefix)?,
            },
            local,
            value: unescape(attribute.value),
        });
    }
    Some(Element {
        namespace,
        local,
        key: key_of(&attributes),
        attributes,
        children: Vec::new(),
        within: None,
    })
}

/// The key of an element; none if it has several.
fn key_of(attributes: &[Attribute<'_>]) -> Option<Key> {
    let mut keyed = attributes
        .iter()
        .filter(|attribute| attribute.namespace.is_empty() && matches!(attribute.local, "tag" | "code"));
    match (keyed.next(), keyed.next()) {
        (None, _) => Some(Key::NEITHER),
        (Some(attribute), None) => Key::of(attribute.local, &attribute.value),
        (Some(_), Some(_)) => None,
    }
}

/// Whether it is broken into lines.
fn is_broken(text: &str) -> bool {
    find(text.as_bytes(), |byte| matches!(byte, b'\n' | b'\r')).is_some()
}

/// Line breaks and the blanks around them become one space; the ends are trimmed.
fn in_one_line(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if !is_broken(text) {
        return Cow::Borrowed(text);
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    Cow::Owned(lines.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_and_text_is_put_together() {
        let xml = "<a:r xmlns:a='urn:a' xmlns='urn:d'><t xml:lang='de' k='v&amp;w'>x &lt; <b xmlns=''>y</b>\n  z</t>\
                   <!-- c --><e/></a:r>";
        let root = Element::read(xml).unwrap();
        assert_eq!((&*root.namespace, root.local), ("urn:a", "r"));
        let inside: Vec<_> = root.elements().collect();
        assert_eq!((&*inside[0].namespace, inside[0].local), ("urn:d", "t"));
        assert_eq!(inside[0].text(), "x < y z");
        assert_eq!(inside[0].attribute(crate::namespaces::XML, "lang"), Some("de"));
        assert_eq!(inside[0].attribute("", "k"), Some("v&w"));
        assert_eq!(&*inside[0].elements().next().unwrap().namespace, "");
        assert_eq!(&*inside[1].namespace, "urn:d");
        assert_eq!(inside[1].text(), "");
    }

    #[test]
    fn what_is_not_well_formed_is_a_fault() {
        for bad in ["", "text", "<a>", "<a></b>", "<a><b></a></b>", "<p:a/>", "<a b='&x;'/>"] {
            assert!(Element::read(bad).is_err(), "{bad}");
        }
        let deep = "<a>".repeat(10_000);
        assert!(Element::read(&deep).is_err());
    }
}
