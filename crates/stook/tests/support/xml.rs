//! A small document tree, stricter than most: what an independent reader makes of an answer.

use std::ops::Range;

use quick_xml::NsReader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;

/// An element.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub namespace: String,
    pub name: String,
    /// Names as written, values unescaped.
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Node>,
    /// Its own text, without that of its children.
    pub text: String,
    /// Where it stands in the document.
    pub place: Range<usize>,
}

impl Node {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The children of this name.
    pub fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Node> + use<'a> {
        let name = name.to_owned();
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The only child of this name.
    pub fn one(&self, name: &str) -> &Node {
        let found: Vec<&Node> = self.all(name).collect();
        assert_eq!(found.len(), 1, "{} has {} children {name}", self.name, found.len());
        found[0]
    }

    /// The only child there is.
    pub fn only_child(&self) -> &Node {
        assert_eq!(self.children.len(), 1, "children of {}", self.name);
        &self.children[0]
    }

    /// This element and everything in it.
    pub fn visit(&self, see: &mut impl FnMut(&Node)) {
        see(self);
        for child in &self.children {
            child.visit(see);
        }
    }
}

/// Reads a document.
///
/// # Errors
/// What is wrong with it as XML 1.0 of the kind OAI-PMH allows: no document type, no entities but the five.
pub fn parse(document: &str) -> Result<Node, String> {
    if let Some(forbidden) = document.chars().find(|c| !stook_oai::xml::is_xml_char(*c)) {
        return Err(format!("U+{:04X} is not a character of XML", u32::from(forbidden)));
    }
    let mut reader = NsReader::from_str(document);
    reader.config_mut().check_comments = true;
    let mut open: Vec<Node> = vec![Node::default()];
    loop {
        let start = position(&reader);
        let (namespace, event) = reader.read_resolved_event().map_err(|error| error.to_string())?;
        let namespace = match namespace {
            ResolveResult::Bound(namespace) => namespace.0.to_owned(),
            ResolveResult::Unbound => String::new(),
            ResolveResult::Unknown(prefix) => return Err(format!("the prefix {prefix} is not declared")),
        };
        let parent = open.last_mut().unwrap();
        match event {
            Event::Start(tag) => open.push(node(&tag, namespace, start)?),
            Event::Empty(tag) => {
                let mut empty = node(&tag, namespace, start)?;
                empty.place.end = position(&reader);
                parent.children.push(empty);
            }
            Event::End(_) => {
                let mut closed = open.pop().unwrap();
                closed.place.end = position(&reader);
                open.last_mut().unwrap().children.push(closed);
            }
            Event::Text(text) => parent.text.push_str(&text.xml10_content()),
            Event::CData(text) => parent.text.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => parent.text.push(resolve(&reference)?),
            Event::Decl(_) if start == 0 => {}
            Event::Comment(_) | Event::PI(_) => {}
            Event::Decl(_) | Event::DocType(_) => return Err("a declaration where none may be".to_owned()),
            Event::Eof => break,
        }
    }
    let mut document = open.pop().unwrap();
    if !open.is_empty() || document.children.len() != 1 || !document.text.trim().is_empty() {
        return Err("not exactly one root element".to_owned());
    }
    Ok(document.children.remove(0))
}

fn position(reader: &NsReader<&[u8]>) -> usize {
    usize::try_from(reader.buffer_position()).unwrap()
}

fn node(tag: &BytesStart<'_>, namespace: String, start: usize) -> Result<Node, String> {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        if attribute.value.contains('<') {
            return Err("an attribute holds a bare <".to_owned());
        }
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| error.to_string())?;
        attributes.push((attribute.key.into_inner().to_owned(), value.into_owned()));
    }
    Ok(Node {
        namespace,
        name: tag.local_name().into_inner().to_owned(),
        attributes,
        place: start..start,
        ..Node::default()
    })
}

fn resolve(reference: &str) -> Result<char, String> {
    let number = match reference {
        "amp" => return Ok('&'),
        "lt" => return Ok('<'),
        "gt" => return Ok('>'),
        "quot" => return Ok('"'),
        "apos" => return Ok('\''),
        other => other.strip_prefix('#').ok_or(format!("the entity {other}"))?,
    };
    let code = match number.strip_prefix('x') {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None => number.parse(),
    };
    code.ok()
        .and_then(char::from_u32)
        .filter(|c| stook_oai::xml::is_xml_char(*c))
        .ok_or(format!("the reference &{reference};"))
}

#[test]
fn what_is_not_xml_of_the_protocol_is_refused() {
    for bad in [
        "",
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>b",
        "<a>&nbsp;</a>",
        "<a>&#1;</a>",
        "<a b='<'/>",
        "<a b='1' b='2'/>",
        "<p:a/>",
        "<!DOCTYPE a><a/>",
        "<a>\u{1}</a>",
        "<a>&</a>",
    ] {
        assert!(parse(bad).is_err(), "{bad}");
    }
    let good = parse("<?xml version='1.0'?><a x='&lt;&#10;'>1<b/>&amp;<c xmlns='n'>2</c></a>\n").unwrap();
    assert_eq!((good.text.as_str(), good.attribute("x")), ("1&", Some("<\n")));
    assert_eq!(
        (good.one("c").namespace.as_str(), good.one("c").text.as_str()),
        ("n", "2")
    );
}
