//! What may stand inside a record, beyond being XML.
//!
//! `oai_dc` and MARCXML are held to their schema here, others to their content
//! model ([`crate::model`]) if they have one; all are asked for the right root.

use std::cell::RefCell;

use stook_oai::Excerpt;

use crate::dublin_core::{DC_NAMESPACE, Element, Language, OAI_DC_NAMESPACE};
use crate::fault::{Problem, short};
use crate::format::Format;
use crate::marc::MARCXML_NAMESPACE;
use crate::model::{Checker, Seen};
use crate::namespaces::XSI;
use crate::scan::{Attribute, is_space, unescape};

use super::marc::Marc;
use super::walk::{declared_prefix, split};

/// The namespace of the protocol itself, which a payload may not use.
const OAI_PMH_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";

/// The rules of one fragment.
pub(super) enum Content<'c> {
    /// A record of any other format. The walk lends its nodes while it asks, so the checker changes behind a shared
    /// reference.
    Record(&'c Format, RefCell<Checker>),
    /// A record of `oai_dc`.
    DublinCore(&'c Format),
    /// A record of MARCXML, under whichever prefix.
    Marc(&'c Format, Marc),
    /// An about container.
    About,
    /// What stands in a description or an about container, held to its model if it has one.
    Container(RefCell<Checker>),
}

/// An element as the rules see it.
pub(super) struct Node<'n, 'a> {
    pub(super) name: &'a str,
    pub(super) namespace: &'n str,
    pub(super) local: &'a str,
    pub(super) attributes: &'n [Attribute<'a>],
    /// 0 for the root.
    pub(super) depth: usize,
    /// What a prefix stands for on this element.
    pub(super) resolve: &'n dyn Fn(&str) -> Option<&'n str>,
}

impl<'c> Content<'c> {
    pub(super) fn of(format: &'c Format) -> Self {
        if format.namespace == OAI_DC_NAMESPACE {
            Self::DublinCore(format)
        } else if format.namespace == MARCXML_NAMESPACE && format.accepts_root(MARCXML_NAMESPACE, "record") {
            Self::Marc(format, Marc::default())
        } else {
            Self::Record(format, RefCell::default())
        }
    }

    pub(super) fn element(&self, node: &Node<'_, '_>) -> Result<(), Problem> {
        match (self, node.depth) {
            (Self::Record(format, checker), depth) => {
                if depth == 0 {
                    root_of(format, node)?;
                }
                checker.borrow_mut().start(&seen(node)).map_err(Problem::Content)
            }
            (Self::DublinCore(format), 0) => {
                root_of(format, node)?;
                only_attributes(node, |prefix, local| {
                    local == "schemaLocation" && (node.resolve)(prefix) == Some(XSI)
                })
            }
            (Self::DublinCore(_), 1) => dublin_core_element(node),
            (Self::DublinCore(_), _) => Err(Problem::NestedElement(short(node.name))),
            (Self::Marc(format, _), 0) => root_of(format, node),
            (Self::Marc(_, marc), _) => marc.element(node),
            (Self::About, 0) if matches!(node.namespace, "" | OAI_PMH_NAMESPACE) => {
                Err(Problem::NoNamespace(short(node.name)))
            }
            (Self::About, _) => Ok(()),
            (Self::Container(checker), _) => checker.borrow_mut().start(&seen(node)).map_err(Problem::Content),
        }
    }

    /// Text as it is written, inside `depth` elements.
    pub(super) fn text(&self, raw: &str, depth: usize) -> Result<(), Problem> {
        match self {
            Self::DublinCore(_) if depth == 1 && !unescape(raw).bytes().all(is_space) => {
                Err(Problem::TextBetweenElements)
            }
            Self::Marc(_, marc) => marc.text(raw, depth),
            Self::Record(_, checker) | Self::Container(checker) => {
                checker.borrow_mut().text(raw).map_err(Problem::Content)
            }
            _ => Ok(()),
        }
    }

    /// The end of the element that stood inside `depth` others.
    pub(super) fn end(&self, depth: usize) -> Result<(), Problem> {
        match self {
            Self::Marc(_, marc) => marc.end(depth),
            Self::Record(_, checker) | Self::Container(checker) => checker.borrow_mut().end().map_err(Problem::Content),
            _ => Ok(()),
        }
    }
}

/// An element as content models see it.
fn seen<'n, 'a>(node: &Node<'n, 'a>) -> Seen<'n, 'a> {
    Seen {
        name: node.name,
        namespace: node.namespace,
        local: node.local,
        attributes: node.attributes,
        resolve: node.resolve,
    }
}

fn root_of(format: &Format, node: &Node<'_, '_>) -> Result<(), Problem> {
    if format.accepts_root(node.namespace, node.local) {
        return Ok(());
    }
    let expected: Vec<_> = format
        .roots
        .iter()
        .map(|root| expanded(&root.namespace, &root.name))
        .collect();
    Err(Problem::WrongRoot {
        format: format.prefix.to_string(),
        found: expanded(node.namespace, node.local),
        expected: expected.join(" or "),
    })
}

fn expanded(namespace: &str, local: &str) -> String {
    let namespace = match namespace {
        "" => "without a namespace".to_owned(),
        _ => format!("of the namespace {}", Excerpt(namespace)),
    };
    match local {
        "" => format!("any element {namespace}"),
        _ => format!("<{}> {namespace}", short(local)),
    }
}

fn dublin_core_element(node: &Node<'_, '_>) -> Result<(), Problem> {
    if node.namespace != DC_NAMESPACE || Element::from_local_name(node.local).is_none() {
        return Err(Problem::NotDublinCore(short(node.name)));
    }
    only_attributes(node, |prefix, local| prefix == "xml" && local == "lang")?;
    for attribute in node.attributes.iter().filter(|attribute| attribute.name == "xml:lang") {
        let value = unescape(attribute.value);
        if Language::parse(&*value).is_err() {
            return Err(Problem::BadLanguage(short(&value)));
        }
    }
    Ok(())
}

/// Refuses attributes other than declarations and those `allowed`.
fn only_attributes(node: &Node<'_, '_>, allowed: impl Fn(&str, &str) -> bool) -> Result<(), Problem> {
    for attribute in node.attributes {
        let (prefix, local) = split(attribute.name);
        if declared_prefix(attribute.name).is_none() && !allowed(prefix, local) {
            return Err(Problem::ForeignAttribute {
                element: short(node.name),
                attribute: short(attribute.name),
            });
        }
    }
    Ok(())
}
