//! A new record as XML: declarations at the root, everything escaped.

use std::collections::BTreeMap;

use stook_oai::xml::{push_attribute_value, push_text};

use super::apply::{Content, Made};
use super::tree::{Child, Element};
use super::{KNOWN_NAMESPACES, UNPREFIXED};
use crate::clean;
use crate::namespaces::XML;

/// Writes the root and everything in it.
pub(super) fn write(root: &Made<'_>, declared: &[(String, String)]) -> String {
    let mut prefixes = Prefixes {
        declared,
        used: BTreeMap::new(),
        main: UNPREFIXED
            .contains(&&*root.name.namespace)
            .then(|| root.name.namespace.clone()),
    };
    let mut body = Vec::new();
    for content in &root.content {
        push_content(&mut body, content, &mut prefixes);
    }
    let name = prefixes.element(&root.name.namespace, root.name.local.as_deref().unwrap_or_default());
    let mut attributes = Vec::new();
    push_attributes(
        &mut attributes,
        root.attributes
            .iter()
            .map(|(name, value)| (&*name.namespace, name.local.as_deref().unwrap_or_default(), &**value)),
        &mut prefixes,
    );
    let mut out = format!("<{name}").into_bytes();
    for (uri, prefix) in &prefixes.used {
        let name = if prefix.is_empty() {
            "xmlns".to_owned()
        } else {
            format!("xmlns:{prefix}")
        };
        push_attribute(&mut out, &name, uri);
    }
    out.append(&mut attributes);
    out.push(b'>');
    out.append(&mut body);
    out.extend_from_slice(format!("</{name}>").as_bytes());
    // Only whole strings went in.
    String::from_utf8(out).unwrap_or_default()
}

/// Which prefix stands for which namespace in what is written.
struct Prefixes<'d> {
    declared: &'d [(String, String)],
    /// By namespace; an empty prefix is the default namespace.
    used: BTreeMap<String, String>,
    /// The namespace that is written without a prefix.
    main: Option<String>,
}

impl Prefixes<'_> {
    fn of(&mut self, namespace: &str) -> String {
        if let Some(prefix) = self.used.get(namespace) {
            return prefix.clone();
        }
        // The last declaration is the one that counts: a mapping's own come after those everybody knows.
        let declared = self.declared.iter().rfind(|(_, uri)| uri == namespace);
        let prefix = match declared {
            _ if self.main.as_deref() == Some(namespace) => String::new(),
            Some((prefix, _)) => prefix.clone(),
            None => format!("ns{}", self.used.len() + 1),
        };
        self.used.insert(namespace.to_owned(), prefix.clone());
        prefix
    }

    fn element(&mut self, namespace: &str, local: &str) -> String {
        if namespace.is_empty() {
            return local.to_owned();
        }
        match self.of(namespace) {
            prefix if prefix.is_empty() => local.to_owned(),
            prefix => format!("{prefix}:{local}"),
        }
    }

    fn attribute(&mut self, namespace: &str, local: &str) -> String {
        if namespace.is_empty() {
            return local.to_owned();
        }
        if namespace == XML {
            return format!("xml:{local}");
        }
        // The default namespace does not count for attributes.
        if self.main.as_deref() == Some(namespace) {
            let known = KNOWN_NAMESPACES.iter().find(|(_, uri)| *uri == namespace);
            let prefix = known.map_or("own", |(prefix, _)| prefix);
            return format!("{prefix}:{local}");
        }
        self.element(namespace, local)
    }
}

fn push_content(out: &mut Vec<u8>, content: &Content<'_>, prefixes: &mut Prefixes<'_>) {
    match content {
        Content::Text(text) => push_text(out, &clean::text(text).text),
        Content::Made(made) => {
            let name = prefixes.element(&made.name.namespace, made.name.local.as_deref().unwrap_or_default());
            let attributes = made.attributes.iter();
            let attributes =
                attributes.map(|(name, value)| (&*name.namespace, name.local.as_deref().unwrap_or_default(), &**value));
            push_element(
                out,
                &name,
                attributes,
                prefixes,
                !made.content.is_empty(),
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

fn push_copy(out: &mut Vec<u8>, element: &Element<'_>, prefixes: &mut Prefixes<'_>) {
    let name = prefixes.element(&element.namespace, element.local);
    let attributes = element.attributes.iter();
    let attributes = attributes.map(|attribute| (&*attribute.namespace, attribute.local, &*attribute.value));
    push_element(
        out,
        &name,
        attributes,
        prefixes,
        !element.children.is_empty(),
        |out, prefixes| {
            for child in &element.children {
                match child {
                    Child::Text(text) => push_text(out, &clean::text(text).text),
                    Child::Element(inner) => push_copy(out, inner, prefixes),
                }
            }
        },
    );
}

fn push_element<'x>(
    out: &mut Vec<u8>,
    name: &str,
    attributes: impl Iterator<Item = (&'x str, &'x str, &'x str)>,
    prefixes: &mut Prefixes<'_>,
    has_content: bool,
    content: impl FnOnce(&mut Vec<u8>, &mut Prefixes<'_>),
) {
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    push_attributes(out, attributes, prefixes);
    if !has_content {
        out.extend_from_slice(b"/>");
        return;
    }
    out.push(b'>');
    content(out, prefixes);
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

fn push_attributes<'x>(
    out: &mut Vec<u8>,
    attributes: impl Iterator<Item = (&'x str, &'x str, &'x str)>,
    prefixes: &mut Prefixes<'_>,
) {
    for (namespace, local, value) in attributes {
        push_attribute(out, &prefixes.attribute(namespace, local), &clean::text(value).text);
    }
}

fn push_attribute(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    push_attribute_value(out, value);
    out.push(b'"');
}
