//! From a record of one format to the tree of another.

use std::borrow::Cow;
use std::collections::HashSet;

use super::mapping::{Becomes, Mapping, Modifier, NewElement, Rule, Source, Table, Target, Which};
use super::path::{Condition, Name, Path, is_like};
use super::texts::{chop, cut_after, date, without, without_sorting_marks, year};
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

/// A value on its way.
#[derive(Clone)]
struct Value<'m> {
    text: Cow<'m, str>,
    /// Where it came from, if from one place.
    element: Option<&'m Element<'m>>,
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
        let mut values = match source {
            Source::Constant(text) => vec![Value {
                text: Cow::Borrowed(&**text),
                element: Some(from),
            }],
            Source::Paths(paths) => self.all_values(paths, from),
        };
        let mut kept: Vec<&Name> = Vec::new();
        for change in changes {
            match change {
                Modifier::With(name) => kept.push(name),
                change => self.change(change, from, &mut values),
            }
        }
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

    fn all_values<'m>(&self, paths: &'m [Path], from: &'m Element<'m>) -> Vec<Value<'m>> {
        let mut all = Vec::new();
        for found in paths.iter().flat_map(|path| path.values(from)) {
            let text = match self.drops_sorting_marks {
                true => without_sorting_marks(found.value),
                false => found.value,
            };
            all.push(Value {
                text,
                element: Some(found.element),
            });
        }
        all
    }

    fn change<'m>(&'m self, change: &'m Modifier, from: &Element<'_>, values: &mut Vec<Value<'m>>) {
        match change {
            Modifier::Trim(signs) => narrow(values, |text| {
                text.trim_matches(|sign: char| sign.is_whitespace() || signs.contains(sign))
            }),
            Modifier::Chop => narrow(values, chop),
            Modifier::Without(beginnings) => narrow(values, |text| without(text, beginnings)),
            Modifier::Take(path) => {
                let count = count(path, from);
                narrow(values, |text| cut_after(text, count).0.trim());
            }
            Modifier::Skip(path) => {
                let count = count(path, from);
                narrow(values, |text| cut_after(text, count).1.trim());
            }
            Modifier::Split(separator) => {
                let parts = |value: &Value<'m>| {
                    let parts = value.text.split(&**separator).map(|part| part.trim().to_owned());
                    let element = value.element;
                    parts
                        .map(|part| Value {
                            text: Cow::Owned(part),
                            element,
                        })
                        .collect::<Vec<_>>()
                };
                *values = values.iter().flat_map(parts).collect();
            }
            Modifier::Join(separator) if values.len() > 1 => {
                let element = values.first().and_then(|value| value.element);
                let texts: Vec<&str> = values.iter().map(|value| &*value.text).collect();
                let text = Cow::Owned(texts.join(separator));
                *values = vec![Value { text, element }];
            }
            Modifier::Table(name) => {
                let table = self.tables.get(name);
                values.retain_mut(|value| match table.and_then(|table| becomes(table, &value.text)) {
                    Some(Becomes::Replaced(text)) => {
                        value.text = Cow::Borrowed(text);
                        true
                    }
                    Some(Becomes::Kept) => true,
                    None => false,
                });
            }
            Modifier::First => values.truncate(1),
            Modifier::Rest => drop(values.drain(..values.len().min(1))),
            Modifier::Last => drop(values.drain(..values.len().saturating_sub(1))),
            Modifier::Distinct => {
                let mut known = HashSet::new();
                values.retain(|value| known.insert(value.text.clone()));
            }
            Modifier::As(template) => edit(values, |text| template.replace("{}", text)),
            Modifier::Replace(old, new) => edit(values, |text| text.replace(&**old, new)),
            Modifier::Date => edit(values, |text| date(text).unwrap_or_default()),
            Modifier::Year => edit(values, |text| year(text).unwrap_or_default()),
            Modifier::Upper => edit(values, str::to_uppercase),
            Modifier::Lower => edit(values, str::to_lowercase),
            Modifier::Default(text) if values.is_empty() => values.push(Value {
                text: Cow::Borrowed(text),
                element: None,
            }),
            Modifier::When(conditions) => values.retain(|value| conditions.iter().all(|it| holds(it, value))),
            Modifier::Join(_) | Modifier::Default(_) | Modifier::With(_) | Modifier::Required => {}
        }
        // What is empty says nothing.
        values.retain(|value| !value.text.is_empty());
    }
}

/// Puts a new text in the place of each.
fn edit(values: &mut [Value<'_>], edit: impl Fn(&str) -> String) {
    for value in values {
        value.text = Cow::Owned(edit(&value.text));
    }
}

/// Keeps a part of each.
fn narrow(values: &mut [Value<'_>], part: impl Fn(&str) -> &str) {
    for value in values {
        match &mut value.text {
            Cow::Borrowed(text) => *text = part(text),
            Cow::Owned(text) => *text = part(text).to_owned(),
        }
    }
}

/// The number that stands there; 0 if there is none.
fn count(path: &Path, from: &Element<'_>) -> usize {
    let number = path.values(from).first().and_then(|found| found.value.parse().ok());
    number.unwrap_or(0)
}

/// What a table makes of a value; none if it drops it.
fn becomes<'t>(table: &'t Table, text: &str) -> Option<&'t Becomes> {
    let pattern = || table.patterns.iter().find(|(pattern, _)| is_like(text, pattern));
    let row = table.rows.get(text).or_else(|| pattern().map(|(_, becomes)| becomes));
    row.or(table.other.as_ref())
}

/// `.` is the value as it is by now, anything else is looked for in the element it came from.
fn holds(condition: &Condition, value: &Value<'_>) -> bool {
    if condition.path == Path::here() {
        return condition.holds_for(&value.text);
    }
    value.element.is_some_and(|element| condition.holds(element))
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
        None => made.content.push(Content::Text(text)),
    }
    into.content.push(Content::Made(wrapped(made, outer)));
}

fn wrapped<'m>(made: Made<'m>, outer: &'m [NewElement]) -> Made<'m> {
    outer.iter().rev().fold(made, |inner, new| {
        let mut around = Made::of(new);
        around.content.push(Content::Made(inner));
        around
    })
}
