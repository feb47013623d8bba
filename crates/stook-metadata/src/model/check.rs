//! Holding a record to its model, element by element, while it is being read.
//!
//! A breach is no end: whoever wants to know of more than one goes on. What may not stand there is passed over, with all
//! that is inside.

use std::borrow::Cow;
use std::collections::HashSet;

use super::breach::{Breach, Wrong};
use super::form::{self, trim};
use super::{Attribute, Child, Inside, Kind, Model, Value, hint, of_root};
use crate::fault::short;
use crate::fragment::{declared_prefix, split};
use crate::namespaces::XSI;
use crate::scan::{self, is_space, is_unprefixed_name, unescape};

/// An element as its start tag tells of it.
pub struct Seen<'n, 'a> {
    /// The name as written.
    pub name: &'a str,
    /// The namespace.
    pub namespace: &'n str,
    /// The local name.
    pub local: &'a str,
    /// The attributes, declarations among them.
    pub attributes: &'n [scan::Attribute<'a>],
    /// What a prefix stands for on this element.
    pub resolve: &'n dyn Fn(&str) -> Option<&'n str>,
}

/// How far the walk through a record has come.
#[derive(Debug, Default)]
pub struct Checker {
    open: Vec<Open>,
    /// How often each child of each open element was there, one element's behind the other's.
    counts: Vec<u32>,
    /// The text of the innermost element, if something is asked of it.
    text: String,
    /// Elements that are open inside one where anything may stand.
    free: usize,
    ids: HashSet<String>,
    /// The model of the root, if it is not to be found by its name.
    model: Option<&'static Model>,
}

/// An element that has begun.
#[derive(Debug)]
struct Open {
    model: &'static Model,
    element: &'static Child,
    kind: &'static Kind,
    /// Where its counts begin.
    counts: usize,
    /// The furthest of its children so far.
    reached: usize,
    /// Whether something stood in it that may not.
    has_strangers: bool,
}

impl Checker {
    /// Holds a document to a model, whether or not that is one of records. Another root is left alone.
    #[must_use]
    pub fn of(model: &'static Model) -> Checker {
        Checker {
            model: Some(model),
            ..Checker::default()
        }
    }

    /// An element begins.
    ///
    /// # Errors
    /// When it may not stand there, or not with these attributes.
    pub fn start(&mut self, seen: &Seen<'_, '_>) -> Result<(), Breach> {
        if self.free > 0 {
            self.free += 1;
            return Ok(());
        }
        let inside = self.open.last().map_or(&Inside::Records, |parent| &parent.kind.inside);
        match inside {
            Inside::Anything => self.free = 1,
            Inside::Records => match self.model_of_root(seen) {
                Some(model) => self.enter(model, &model.root, seen)?,
                None => self.free = 1,
            },
            Inside::Text(_) => return Err(self.passed_over(seen, Wrong::OnlyText)),
            Inside::Elements | Inside::Mixed => self.child(seen)?,
        }
        Ok(())
    }

    fn model_of_root(&self, seen: &Seen<'_, '_>) -> Option<&'static Model> {
        match self.model.filter(|_| self.open.is_empty()) {
            Some(model) => Some(model).filter(|model| model.root.name.is(seen.namespace, seen.local)),
            None => of_root(seen.namespace, seen.local),
        }
    }

    /// Text as it is written.
    ///
    /// # Errors
    /// When it stands where only elements may.
    pub fn text(&mut self, raw: &str) -> Result<(), Breach> {
        let Some(open) = self.open.last().filter(|_| self.free == 0) else {
            return Ok(());
        };
        match &open.kind.inside {
            Inside::Text(value) if value.is_demanding() => self.text.push_str(&unescape(raw)),
            Inside::Elements if !raw.bytes().all(is_space) && !unescape(raw).bytes().all(is_space) => {
                let wrong = match open.kind.children.is_empty() {
                    true => Wrong::NotEmpty,
                    false => Wrong::TextBetween,
                };
                return Err(Breach {
                    place: self.place(),
                    wrong,
                });
            }
            _ => {}
        }
        Ok(())
    }

    /// The innermost element ends.
    ///
    /// # Errors
    /// When something is missing in it, or its text is not what it must be.
    pub fn end(&mut self) -> Result<(), Breach> {
        if self.free > 0 {
            self.free -= 1;
            return Ok(());
        }
        let Some(open) = self.open.last() else {
            return Ok(());
        };
        let breach = self.missing(open).map(|wrong| self.breach(wrong));
        self.counts.truncate(open.counts);
        self.open.pop();
        breach.map_or(Ok(()), Err)
    }

    /// What is wrong with the innermost element, now that all of it is known.
    fn missing(&self, open: &Open) -> Option<Wrong> {
        let counts = &self.counts[open.counts..];
        let missing = open
            .kind
            .children
            .iter()
            .zip(counts)
            .find(|(child, count)| **count < child.least);
        match (missing, &open.kind.inside) {
            (Some((child, 0)), _) if child.least == 1 => {
                let all = open.kind.children.iter().zip(counts);
                let missing = all.filter(|(child, count)| **count == 0 && child.least == 1);
                Some(Wrong::Missing(
                    missing.map(|(child, _)| child.name.shown.clone()).collect(),
                ))
            }
            (Some((child, count)), _) => Some(Wrong::TooFew {
                element: child.name.shown.clone(),
                found: *count,
                least: child.least,
            }),
            (None, Inside::Text(value)) => value.wrong(&self.text),
            _ if open.kind.some && !open.has_strangers && counts.iter().all(|count| *count == 0) => Some(Wrong::Empty(
                hint::listed(open.kind.children.iter().map(|child| &*child.name.shown)),
            )),
            _ => None,
        }
    }

    /// An element inside one that has its elements listed.
    fn child(&mut self, seen: &Seen<'_, '_>) -> Result<(), Breach> {
        let Some(parent) = self.open.last_mut() else {
            return Ok(());
        };
        let children = &parent.kind.children;
        let Some(at) = children
            .iter()
            .position(|child| child.name.is(seen.namespace, seen.local))
        else {
            parent.has_strangers = true;
            let wrong = hint::unknown_element(parent.model, parent.kind, &parent.element.name.shown, seen);
            return Err(self.passed_over(seen, wrong));
        };
        let (model, child) = (parent.model, &children[at]);
        let out_of_order = (parent.kind.in_order && at < parent.reached).then(|| Wrong::OutOfOrder {
            behind: children[parent.reached].name.shown.clone(),
            order: hint::listed(children.iter().map(|child| &*child.name.shown)),
        });
        parent.reached = parent.reached.max(at);
        let count = &mut self.counts[parent.counts + at];
        if *count >= child.most {
            let parent = parent.element.name.shown.clone();
            return Err(self.passed_over(seen, Wrong::Repeated { parent }));
        }
        *count = count.saturating_add(1);
        // It is there all the same, and what is in it counts.
        let out_of_order = out_of_order.map(|wrong| self.breach_inside(seen, wrong));
        let entered = self.enter(model, child, seen);
        out_of_order.map_or(entered, Err)
    }

    fn enter(&mut self, model: &'static Model, element: &'static Child, seen: &Seen<'_, '_>) -> Result<(), Breach> {
        let kind = self.kind_of(model, element, seen);
        let Ok(Some(kind)) = kind else {
            self.free = 1;
            return kind.map(drop);
        };
        self.open.push(Open {
            model,
            element,
            kind,
            counts: self.counts.len(),
            reached: 0,
            has_strangers: false,
        });
        self.counts.resize(self.counts.len() + kind.children.len(), 0);
        self.text.clear();
        self.attributes(model, kind, seen)
    }

    /// What an element is: what its place makes it, or what it says itself. `None` if it says something no model knows.
    fn kind_of(
        &self,
        model: &'static Model,
        element: &'static Child,
        seen: &Seen<'_, '_>,
    ) -> Result<Option<&'static Kind>, Breach> {
        let says = seen.attributes.iter().find(|attribute| {
            let (prefix, local) = split(attribute.name);
            local == "type" && !prefix.is_empty() && (seen.resolve)(prefix) == Some(XSI)
        });
        let Some(says) = says else {
            return Ok(model.kinds.get(element.kind));
        };
        let value = value_of(says);
        let (prefix, local) = split(trim(&value));
        let namespace = (seen.resolve)(prefix).unwrap_or_default();
        if let Some((_, kind)) = model.types.iter().find(|(name, _)| name.is(namespace, local)) {
            return Ok(model.kinds.get(*kind));
        }
        // A type derived by somebody else may allow more than ours; one of a namespace we know all of does not exist.
        let is_name = is_unprefixed_name(local) && (seen.resolve)(prefix).is_some();
        if is_name && model.types.iter().all(|(name, _)| name.namespace != namespace) {
            return Ok(None);
        }
        let known = model.types.iter().map(|(name, _)| &*name.shown);
        let wrong = Wrong::Value {
            found: short(&value),
            remedy: match model.types.is_empty() {
                true => "leave it out".to_owned(),
                false => hint::one_of(&value, known),
            },
        };
        Err(self.breach_inside(seen, wrong).at_attribute(says.name))
    }

    fn attributes(&mut self, model: &Model, kind: &Kind, seen: &Seen<'_, '_>) -> Result<(), Breach> {
        let mut required = 0;
        for attribute in seen.attributes {
            if declared_prefix(attribute.name).is_some() {
                continue;
            }
            let (prefix, local) = split(attribute.name);
            let namespace = match prefix {
                "" => "",
                _ => (seen.resolve)(prefix).unwrap_or_default(),
            };
            if namespace == XSI {
                continue;
            }
            let Some(rule) = kind.attributes.iter().find(|rule| rule.name.is(namespace, local)) else {
                if kind.any_attribute {
                    continue;
                }
                let wrong = hint::unknown_attribute(model, kind, namespace, local);
                return Err(self.breach(wrong).at_attribute(attribute.name));
            };
            required += usize::from(rule.required);
            self.attribute(rule, attribute)?;
        }
        if required == kind.attributes.iter().filter(|rule| rule.required).count() {
            return Ok(());
        }
        let is_there = |rule: &Attribute| {
            let has = |attribute: &scan::Attribute<'_>| split(attribute.name).1 == rule.name.local;
            seen.attributes.iter().any(has)
        };
        let missing = kind.attributes.iter().find(|rule| rule.required && !is_there(rule));
        let name = missing.map_or("", |rule| &rule.name.shown);
        Err(self.breach(Wrong::MissingAttribute).at_attribute(name))
    }

    fn attribute(&mut self, rule: &Attribute, attribute: &scan::Attribute<'_>) -> Result<(), Breach> {
        if !rule.value.is_demanding() {
            return Ok(());
        }
        let value = value_of(attribute);
        if let Some(wrong) = rule.value.wrong(&value) {
            return Err(self.breach(wrong).at_attribute(attribute.name));
        }
        if rule.value.is_id() && !self.ids.insert(trim(&value).to_owned()) {
            return Err(self
                .breach(Wrong::RepeatedId(short(&value)))
                .at_attribute(attribute.name));
        }
        Ok(())
    }

    /// An element that may not stand inside the innermost one: neither it nor anything in it is looked at.
    fn passed_over(&mut self, seen: &Seen<'_, '_>, wrong: Wrong) -> Breach {
        self.free = 1;
        self.breach_inside(seen, wrong)
    }

    /// Something wrong with the innermost element.
    fn breach(&self, wrong: Wrong) -> Breach {
        Breach {
            place: self.place(),
            wrong,
        }
    }

    /// Something wrong with an element that begins inside the innermost one.
    fn breach_inside(&self, seen: &Seen<'_, '_>, wrong: Wrong) -> Breach {
        let parent = self.open.last();
        let known = parent.and_then(|open| {
            let mut children = open.kind.children.iter();
            children.find(|child| child.name.is(seen.namespace, seen.local))
        });
        let is_own = parent.is_none_or(|open| open.model.root.name.namespace == seen.namespace);
        let name = match known {
            Some(child) => child.name.shown.clone(),
            None if is_own => short(seen.local),
            None => short(seen.name),
        };
        let place = match self.place() {
            place if place.is_empty() => name,
            place => format!("{place}/{name}"),
        };
        Breach { place, wrong }
    }

    /// The names of the open elements, the last ones if there are many.
    fn place(&self) -> String {
        const MOST: usize = 8;
        let from = self.open.len().saturating_sub(MOST);
        let names: Vec<&str> = self.open[from..].iter().map(|open| &*open.element.name.shown).collect();
        let before = if from > 0 { "…/" } else { "" };
        format!("{before}{}", names.join("/"))
    }
}

impl Value {
    /// Whether there is a value that it is not.
    fn is_demanding(&self) -> bool {
        !matches!(self, Self::Form(form) if form.told.is_empty())
    }

    fn is_id(&self) -> bool {
        matches!(self, Self::Form(form) if form.name == form::ID)
    }

    /// What is wrong with a value, if anything.
    fn wrong(&self, value: &str) -> Option<Wrong> {
        let remedy = match self {
            Self::Form(form) if (form.fits)(value) => return None,
            Self::Form(form) => format!("write {}", form.told),
            Self::OneOf { values, trimmed } => {
                let written = if *trimmed { trim(value) } else { value };
                if values.iter().any(|known| known == written) {
                    return None;
                }
                hint::one_of(value, values.iter().map(String::as_str))
            }
        };
        let found = short(value);
        Some(Wrong::Value { found, remedy })
    }
}

/// The value of an attribute. White space in it is blanks, however it is written (XML 1.0, §3.3.3).
fn value_of<'a>(attribute: &scan::Attribute<'a>) -> Cow<'a, str> {
    if attribute.value.contains(['\t', '\r', '\n']) {
        return unescape(&attribute.value.replace(['\t', '\r', '\n'], " "))
            .into_owned()
            .into();
    }
    unescape(attribute.value)
}
