//! From a record of one format to the tree of another.

use std::borrow::Cow;

use super::mapping::{Mapping, Modifier, NewElement, Rule, Source, Target, Which};
use super::path::Name;
use super::tree::Element;
use crate::fault::Fault;

/// A new element.
pub(super) struct Made<'m> {
    pub(super) name: &'m Name,
    pub(super) attributes: Vec<(&'m Name, Cow<'m, str>)>,
    pub(super) content: Vec<Content<'m>>,
}

/// What stands in a new element.
pub(super) enum Content<'m> {
    Text(Cow<'m, str>),
    Made(Made<'m>),
    Copied(&'m Element<'m>),
}

impl<'m> Made<'m> {
    fn new(name: &'m Name) -> Made<'m> {
        Made {
            name,
            attributes: Vec::new(),
            content: Vec::new(),
        }
    }

    fn of(new: &'m NewElement) -> Made<'m> {
        let attributes = new.attributes.iter();
        Made {
            attributes: attributes
                .map(|(name, value)| (name, Cow::Borrowed(&**value)))
                .collect(),
            ..Made::new(&new.name)
        }
    }

    fn set(&mut self, name: &'m Name, value: Cow<'m, str>) {
        match self.attributes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((name, value)),
        }
    }
}

/// How an element was filled, the emptiest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Filled {
    /// With nothing, or what stands there always: not worth an element.
    #[default]
    ByConstants,
    /// With what is said where the record says nothing: worth an element, but not a record.
    ByDefault,
    /// With what the record says.
    FromRecord,
}

impl Mapping {
    /// Makes the record of the other format; `None` if the record says nothing that it could say.
    ///
    /// # Errors
    /// When `record` is not well-formed XML.
    pub fn apply(&self, record: &str) -> Result<Option<String>, Fault> {
        Ok(self.apply_to(&Element::read(record)?))
    }

    /// The same for a record that was read already.
    #[must_use]
    pub fn apply_to(&self, record: &Element<'_>) -> Option<String> {
        let mut root = Made::new(&self.root);
        let filled = self.fill(&self.rules, record, &mut root)?;
        (filled == Filled::FromRecord).then(|| super::write::write(&root, &self.namespaces))
    }

    /// Fills an element by rules. `None` if something required is missing, and with it what was to be filled.
    fn fill<'m>(&'m self, rules: &'m [Rule], from: &'m Element<'m>, into: &mut Made<'m>) -> Option<Filled> {
        let mut filled = Filled::ByConstants;
        for rule in rules {
            let (by_rule, required) = match rule {
                Rule::Value {
                    source,
                    target,
                    changes,
                    required,
                } => (self.values(source, target, changes, from, into), *required),
                Rule::Group {
                    sources,
                    target,
                    conditions,
                    which,
                    required,
                    rules,
                } => {
                    let elements = sources.iter().flat_map(|source| source.elements(from));
                    let fitting = elements.filter(|element| conditions.iter().all(|it| it.holds(element)));
                    let (skipped, most) = match which {
                        Which::All => (0, usize::MAX),
                        Which::First => (0, 1),
                        Which::Rest => (1, usize::MAX),
                    };
                    let by_group = fitting
                        .skip(skipped)
                        .take(most)
                        .map(|element| self.group(target, rules, element, into))
                        .max();
                    (by_group.unwrap_or_default(), *required)
                }
                Rule::Copy { source } => {
                    let copied = source.elements(from);
                    let by_copy = match copied.is_empty() {
                        true => Filled::ByConstants,
                        false => Filled::FromRecord,
                    };
                    into.content.extend(copied.into_iter().map(Content::Copied));
                    (by_copy, false)
                }
            };
            if required && by_rule == Filled::ByConstants {
                return None;
            }
            filled = filled.max(by_rule);
        }
        Some(filled)
    }

    /// Makes an element of an element; nothing where there is nothing to say in it.
    fn group<'m>(
        &'m self,
        target: &'m Target,
        rules: &'m [Rule],
        from: &'m Element<'m>,
        into: &mut Made<'m>,
    ) -> Filled {
        let Some((innermost, outer)) = target.elements.split_last() else {
            let (attributes, content) = (into.attributes.len(), into.content.len());
            return self.fill(rules, from, into).unwrap_or_else(|| {
                into.attributes.truncate(attributes);
                into.content.truncate(content);
                Filled::ByConstants
            });
        };
        let mut made = Made::of(innermost);
        let filled = self.fill(rules, from, &mut made).unwrap_or_default();
        if filled > Filled::ByConstants {
            into.content.push(Content::Made(wrapped(made, outer)));
        }
        filled
    }

    /// Makes an element or an attribute of every value.
    fn values<'m>(
        &'m self,
        source: &'m Source,
        target: &'m Target,
        changes: &'m [Modifier],
        from: &'m Element<'m>,
        into: &mut Made<'m>,
    ) -> Filled {
        let values = self.means.values(source, changes, from);
        let kept: Vec<&Name> = changes
            .iter()
            .filter_map(|change| match change {
                Modifier::With(name) => Some(name),
                _ => None,
            })
            .collect();
        let filled = match source {
            Source::Paths(_) if values.iter().any(|value| value.element.is_some()) => Filled::FromRecord,
            Source::Paths(_) if !values.is_empty() => Filled::ByDefault,
            _ => Filled::ByConstants,
        };
        for value in values {
            let with: Vec<(&Name, &str)> = kept
                .iter()
                .filter_map(|name| Some((*name, name.attribute_of(value.element?)?)))
                .collect();
            put(target, value.text, &with, into);
        }
        filled
    }
}

fn put<'m>(target: &'m Target, text: Cow<'m, str>, with: &[(&'m Name, &'m str)], into: &mut Made<'m>) {
    let Some((innermost, outer)) = target.elements.split_last() else {
        match &target.attribute {
            Some(name) => into.set(name, text),
            None => into.content.push(Content::Text(text)),
        }
        return;
    };
    let mut made = Made::of(innermost);
    for (name, value) in with {
        made.set(name, Cow::Borrowed(value));
    }
    match &target.attribute {
        Some(name) => made.set(name, text),
        None => made.content = vec![Content::Text(text)],
    }
    into.content.push(Content::Made(wrapped(made, outer)));
}

fn wrapped<'m>(made: Made<'m>, outer: &'m [NewElement]) -> Made<'m> {
    outer.iter().rev().fold(made, |inner, new| Made {
        content: vec![Content::Made(inner)],
        ..Made::of(new)
    })
}
