//! A document as a tree that remembers where everything stood.

use std::ops::Range;
use std::sync::Arc;

use stook_metadata::Namespaces;
use stook_metadata::fault::Problem;
use stook_metadata::scan::{Scanner, Token, unescape};

/// No answer needs more, and a tree is walked by recursion.
const MAX_DEPTH: usize = 200;

/// One element and everything in it.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    /// The namespace, empty for none.
    pub(crate) namespace: Arc<str>,
    /// The name as written, with its prefix.
    pub(crate) name: String,
    /// In the order they are written, without namespace declarations.
    pub(crate) attributes: Vec<Attribute>,
    /// In the order of the document; comments and instructions are left out.
    pub(crate) children: Vec<Node>,
    /// From its start tag to behind its end tag, in the text of the document.
    pub(crate) span: Range<usize>,
}

/// One attribute.
#[derive(Debug, Clone)]
pub(crate) struct Attribute {
    /// The namespace, empty for none.
    pub(crate) namespace: Arc<str>,
    /// The name as written, with its prefix.
    pub(crate) name: String,
    /// The value, references resolved.
    pub(crate) value: String,
}

/// What stands in an element.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Element(Element),
    Text(String),
}

/// What keeps a text from being a tree.
#[derive(Debug, Clone)]
pub(crate) struct Malformed {
    pub(crate) offset: usize,
    pub(crate) reason: String,
    /// The text ends where more should come.
    pub(crate) cut_off: bool,
}

impl Element {
    /// The name without its prefix.
    pub(crate) fn local(&self) -> &str {
        local(&self.name)
    }

    pub(crate) fn is(&self, namespace: &str, local: &str) -> bool {
        &*self.namespace == namespace && self.local() == local
    }

    /// The elements directly in it.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The elements directly in it that have this local name and its own namespace.
    pub(crate) fn named(&self, local: &str) -> impl Iterator<Item = &Element> {
        self.elements()
            .filter(move |element| element.local() == local && element.namespace == self.namespace)
    }

    /// The first of them.
    pub(crate) fn child(&self, local: &str) -> Option<&Element> {
        self.named(local).next()
    }

    /// The text directly in it, with all its blanks.
    pub(crate) fn exact_text(&self) -> String {
        let texts = self.children.iter().filter_map(|node| match node {
            Node::Text(text) => Some(text.as_str()),
            Node::Element(_) => None,
        });
        texts.collect()
    }

    /// The text directly in it, without blanks at its ends.
    pub(crate) fn text(&self) -> String {
        self.exact_text().trim().to_owned()
    }

    /// The text of the first child of this name.
    pub(crate) fn text_of(&self, local: &str) -> Option<String> {
        self.child(local).map(Element::text)
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&self, namespace: &str, local_name: &str) -> Option<&str> {
        let is_it = |attribute: &&Attribute| &*attribute.namespace == namespace && local(&attribute.name) == local_name;
        self.attributes
            .iter()
            .find(is_it)
            .map(|attribute| attribute.value.as_str())
    }

    /// It and everything below it, in the order of the document.
    pub(crate) fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Element)) {
        visit(self);
        for element in self.elements() {
            element.walk(visit);
        }
    }
}

pub(super) fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

/// Reads the one element of a document; also where it ends.
pub(super) fn read(text: &str) -> Result<Element, Malformed> {
    let mut reader = Reader {
        scanner: Scanner::new(text),
        namespaces: Namespaces::none(),
        met: vec![Arc::from("")],
        open: Vec::new(),
    };
    loop {
        if let Some(root) = reader.step()? {
            return Ok(root);
        }
    }
}

struct Reader<'a> {
    scanner: Scanner<'a>,
    namespaces: Namespaces,
    /// Namespaces so far; elements share them.
    met: Vec<Arc<str>>,
    /// The open elements, and how many declarations were in force before each.
    open: Vec<(Element, usize)>,
}

impl Reader<'_> {
    /// The root, once it is closed.
    fn step(&mut self) -> Result<Option<Element>, Malformed> {
        let token = self.scanner.next_token().map_err(|fault| Malformed {
            offset: fault.offset,
            cut_off: matches!(fault.problem, Problem::CutOff(_) | Problem::NotClosed(_)),
            reason: fault.problem.to_string(),
        })?;
        match token {
            None => Err(self.ends_early()),
            Some(Token::Start { .. }) if self.open.len() == MAX_DEPTH => {
                Err(self.malformed(format!("elements are nested more than {MAX_DEPTH} deep")))
            }
            Some(Token::Start { name, empty }) => {
                let before = self.namespaces.len();
                let element = self.start(name)?;
                self.open.push((element, before));
                Ok(if empty { self.close() } else { None })
            }
            Some(Token::End { name }) => match self.open.last() {
                Some((element, _)) if element.name == name => Ok(self.close()),
                Some((element, _)) => {
                    let reason = format!("</{name}> closes <{}>", element.name);
                    Err(self.malformed(reason))
                }
                None => Err(self.malformed(format!("</{name}> closes nothing"))),
            },
            Some(Token::Text(raw)) => self.text(&unescape(raw)),
            Some(Token::Section(raw)) => self.text(raw),
            Some(Token::Comment | Token::Instruction | Token::Declaration) => Ok(None),
        }
    }

    fn ends_early(&self) -> Malformed {
        let reason = match self.open.last() {
            Some((element, _)) => format!("the document ends before <{}> is closed", element.name),
            None => "there is no XML element".to_owned(),
        };
        Malformed {
            cut_off: true,
            ..self.malformed(reason)
        }
    }

    fn malformed(&self, reason: String) -> Malformed {
        Malformed {
            offset: self.scanner.token_start(),
            reason,
            cut_off: false,
        }
    }

    fn text(&mut self, text: &str) -> Result<Option<Element>, Malformed> {
        match self.open.last_mut() {
            Some((element, _)) => match element.children.last_mut() {
                Some(Node::Text(before)) => before.push_str(text),
                _ => element.children.push(Node::Text(text.to_owned())),
            },
            None if text.trim().is_empty() => {}
            None => return Err(self.malformed("there is text before the XML element".to_owned())),
        }
        Ok(None)
    }

    fn close(&mut self) -> Option<Element> {
        let (mut element, before) = self.open.pop()?;
        element.span.end = self.scanner.offset();
        self.namespaces.truncate(before);
        match self.open.last_mut() {
            Some((parent, _)) => parent.children.push(Node::Element(element)),
            None => return Some(element),
        }
        None
    }

    fn start(&mut self, name: &str) -> Result<Element, Malformed> {
        let written: Vec<(String, String)> = self
            .scanner
            .attributes()
            .iter()
            .map(|attribute| (attribute.name.to_owned(), unescape(attribute.value).into_owned()))
            .collect();
        for (name, value) in &written {
            if let Some(prefix) = declared(name) {
                self.namespaces.declare(prefix, value);
            }
        }
        let mut attributes = Vec::new();
        for (name, value) in written {
            if declared(&name).is_some() {
                continue;
            }
            // An attribute without a prefix is in no namespace, whatever the default is.
            let namespace = match name.split_once(':') {
                Some((prefix, _)) => self.resolve(prefix, &name)?,
                None => Arc::clone(&self.met[0]),
            };
            attributes.push(Attribute { namespace, name, value });
        }
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let start = self.scanner.token_start();
        Ok(Element {
            namespace: self.resolve(prefix, name)?,
            name: name.to_owned(),
            attributes,
            children: Vec::new(),
            span: start..start,
        })
    }

    fn resolve(&mut self, prefix: &str, name: &str) -> Result<Arc<str>, Malformed> {
        let Some(uri) = self.namespaces.resolve(prefix) else {
            return Err(self.malformed(format!("the prefix of {name} is not declared (xmlns:… is missing)")));
        };
        if let Some(known) = self.met.iter().find(|known| ***known == *uri) {
            return Ok(Arc::clone(known));
        }
        let new: Arc<str> = Arc::from(uri);
        self.met.push(Arc::clone(&new));
        Ok(new)
    }
}

/// The prefix that an attribute declares, if it is a declaration.
fn declared(name: &str) -> Option<&str> {
    match name.strip_prefix("xmlns") {
        Some("") => Some(""),
        Some(rest) => rest.strip_prefix(':'),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_know_their_names_texts_and_places() {
        let text = "<o:a xmlns:o='urn:o' xmlns='urn:d'><b k='v'> x &amp; y </b><o:c/></o:a>";
        let root = read(text).unwrap();
        assert!(root.is("urn:o", "a"));
        let b = root.elements().next().unwrap();
        assert!(b.is("urn:d", "b"));
        assert_eq!((b.text().as_str(), b.attribute("", "k")), ("x & y", Some("v")));
        assert_eq!(&text[b.span.clone()], "<b k='v'> x &amp; y </b>");
        assert_eq!(&text[root.child("c").unwrap().span.clone()], "<o:c/>");
        assert_eq!(root.named("b").count(), 0);
    }

    #[test]
    fn what_is_no_tree_says_where_and_why() {
        for (text, offset, cut_off) in [
            ("<a><b></a>", 6, false),
            ("<a><b>", 6, true),
            ("x<a/>", 0, false),
            ("<p:a/>", 0, false),
            ("<a><b", 3, true),
        ] {
            let malformed = read(text).unwrap_err();
            assert_eq!(
                (malformed.offset, malformed.cut_off),
                (offset, cut_off),
                "{text}: {malformed:?}"
            );
        }
        assert!(read(&"<a>".repeat(100_000)).is_err());
    }
}
