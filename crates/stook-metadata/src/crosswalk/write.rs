//! A new record as XML: declarations at the root, everything escaped.

use std::borrow::Cow;

use stook_oai::xml::{push_attribute_value, push_text};

use super::apply::{Content, Made};
use super::path::Name;
use super::tree::{Child, Element};
use super::{KNOWN_NAMESPACES, UNPREFIXED};
use crate::clean;
use crate::namespaces::XML;

/// Room for the root with its declarations.
const ROOT: usize = 512;
/// Room for what is in it, unless there is much.
const BODY: usize = 4096;

/// Writes the root and everything in it.
pub(super) fn write<'m>(root: &'m Made<'m>, declared: &'m [(String, String)]) -> String {
    let (namespace, local) = parts(root.name);
    let mut prefixes = Prefixes {
        declared,
        used: Vec::new(),
        main: UNPREFIXED.contains(&namespace).then_some(namespace),
    };
    // What is inside comes first: the root declares the namespaces that are met there.
    let mut body = Vec::with_capacity(BODY);
    for content in &root.content {
        push_content(&mut body, content, &mut prefixes);
    }
    let mut name = Vec::new();
    prefixes.push_element_name(&mut name, namespace, local);
    let mut attributes = Vec::new();
    push_attributes(&mut attributes, attributes_of(root), &mut prefixes);
    let mut out = Vec::with_capacity(ROOT + attributes.len() + body.len());
    out.push(b'<');
    out.extend_from_slice(&name);
    prefixes.push_declarations(&mut out);
    out.append(&mut attributes);
    out.push(b'>');
    out.append(&mut body);
    out.extend_from_slice(b"</");
    out.append(&mut name);
    out.push(b'>');
    // Only whole strings went in.
    String::from_utf8(out).unwrap_or_default()
}

fn parts(name: &Name) -> (&str, &str) {
    (&name.namespace, name.local.as_deref().unwrap_or_default())
}

fn attributes_of<'m>(made: &'m Made<'m>) -> impl Iterator<Item = (&'m str, &'m str, &'m str)> {
    made.attributes.iter().map(|(name, value)| {
        let (namespace, local) = parts(name);
        (namespace, local, &**value)
    })
}

/// Which prefix stands for which namespace in what is written.
struct Prefixes<'m> {
    declared: &'m [(String, String)],
    /// Namespaces with their prefixes; an empty prefix is the default namespace. There are few.
    used: Vec<(&'m str, Cow<'m, str>)>,
    /// The namespace that is written without a prefix.
    main: Option<&'m str>,
}

impl<'m> Prefixes<'m> {
    /// The prefix of a namespace, with a colon where there is one.
    fn push(&mut self, out: &mut Vec<u8>, namespace: &'m str) {
        let known = self.used.iter().position(|(used, _)| *used == namespace);
        let at = known.unwrap_or_else(|| {
            self.used.push((namespace, self.new_prefix(namespace)));
            self.used.len() - 1
        });
        let (_, prefix) = &self.used[at];
        if !prefix.is_empty() {
            out.extend_from_slice(prefix.as_bytes());
            out.push(b':');
        }
    }

    fn new_prefix(&self, namespace: &str) -> Cow<'m, str> {
        // The last declaration is the one that counts: a mapping's own come after those everybody knows.
        match self.declared.iter().rfind(|(_, uri)| uri == namespace) {
            _ if self.main == Some(namespace) => Cow::Borrowed(""),
            Some((prefix, _)) => Cow::Borrowed(prefix),
            None => Cow::Owned(format!("ns{}", self.used.len() + 1)),
        }
    }

    fn push_element_name(&mut self, out: &mut Vec<u8>, namespace: &'m str, local: &str) {
        if !namespace.is_empty() {
            self.push(out, namespace);
        }
        out.extend_from_slice(local.as_bytes());
    }

    fn push_attribute_name(&mut self, out: &mut Vec<u8>, namespace: &'m str, local: &str) {
        if namespace == XML {
            out.extend_from_slice(b"xml:");
        } else if self.main == Some(namespace) {
            // The default namespace does not count for attributes.
            let known = KNOWN_NAMESPACES.iter().find(|(_, uri)| *uri == namespace);
            out.extend_from_slice(known.map_or("own", |(prefix, _)| prefix).as_bytes());
            out.push(b':');
        } else if !namespace.is_empty() {
            self.push(out, namespace);
        }
        out.extend_from_slice(local.as_bytes());
    }

    /// In the order of the namespaces, so that like records begin alike.
    fn push_declarations(&mut self, out: &mut Vec<u8>) {
        self.used.sort_unstable();
        for (namespace, prefix) in &self.used {
            out.extend_from_slice(b" xmlns");
            if !prefix.is_empty() {
                out.push(b':');
                out.extend_from_slice(prefix.as_bytes());
            }
            push_value(out, namespace);
        }
    }
}

fn push_content<'m>(out: &mut Vec<u8>, content: &'m Content<'m>, prefixes: &mut Prefixes<'m>) {
    match content {
        Content::Text(text) => push_text(out, &clean::text(text).text),
        Content::Made(made) => {
            let has_content = !made.content.is_empty();
            push_element(
                out,
                parts(made.name),
                attributes_of(made),
                prefixes,
                has_content,
                |out, prefixes| {
                    for content in &made.content {
                        push_content(out, content, prefixes);
                    }
                },
            );
        }
        Content::Copied(element) => push_copy(out, element, prefixes),
    }
}

fn push_copy<'m>(out: &mut Vec<u8>, element: &'m Element<'m>, prefixes: &mut Prefixes<'m>) {
    let attributes = element.attributes.iter();
    let attributes = attributes.map(|attribute| (&*attribute.namespace, attribute.local, &*attribute.value));
    let name = (&*element.namespace, element.local);
    let has_content = !element.children.is_empty();
    push_element(out, name, attributes, prefixes, has_content, |out, prefixes| {
        for child in &element.children {
            match child {
                Child::Text(text) => push_text(out, &clean::text(text).text),
                Child::Element(inner) => push_copy(out, inner, prefixes),
            }
        }
    });
}

fn push_element<'m>(
    out: &mut Vec<u8>,
    (namespace, local): (&'m str, &str),
    attributes: impl Iterator<Item = (&'m str, &'m str, &'m str)>,
    prefixes: &mut Prefixes<'m>,
    has_content: bool,
    content: impl FnOnce(&mut Vec<u8>, &mut Prefixes<'m>),
) {
    out.push(b'<');
    let start = out.len();
    prefixes.push_element_name(out, namespace, local);
    let name = start..out.len();
    push_attributes(out, attributes, prefixes);
    if !has_content {
        out.extend_from_slice(b"/>");
        return;
    }
    out.push(b'>');
    content(out, prefixes);
    out.extend_from_slice(b"</");
    out.extend_from_within(name);
    out.push(b'>');
}

fn push_attributes<'m>(
    out: &mut Vec<u8>,
    attributes: impl Iterator<Item = (&'m str, &'m str, &'m str)>,
    prefixes: &mut Prefixes<'m>,
) {
    for (namespace, local, value) in attributes {
        out.push(b' ');
        prefixes.push_attribute_name(out, namespace, local);
        push_value(out, &clean::text(value).text);
    }
}

fn push_value(out: &mut Vec<u8>, value: &str) {
    out.extend_from_slice(b"=\"");
    push_attribute_value(out, value);
    out.push(b'"');
}
