//! From a record of one format to the tree of another.

use std::borrow::Cow;
use std::collections::HashSet;

use super::mapping::{Mapping, Modifier, NewElement, Other, Rule, Source, Target};
use super::path::{Condition, Name, Path};
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
        let found = self.fill(&self.rules, record, &mut root);
        found.then(|| super::write::write(&root, &self.namespaces))
    }

    /// Fills an element by rules; whether the record had anything to say.
    fn fill<'m>(&'m self, rules: &'m [Rule], from: &'m Element<'m>, into: &mut Made<'m>) -> bool {
        let mut found = false;
        for rule in rules {
            found |= match rule {
                Rule::Value {
                    source,
                    target,
                    changes,
                } => self.values(source, target, changes, from, into),
                Rule::Group {
                    sources,
                    target,
                    conditions,
                    only_first,
                    rules,
                } => {
                    let elements = sources.iter().flat_map(|source| source.elements(from));
                    let fitting = elements.filter(|element| conditions.iter().all(|it| it.holds(element)));
                    let most = if *only_first { 1 } else { usize::MAX };
                    let mut any = false;
                    for element in fitting.take(most) {
                        any |= self.group(target, rules, element, into);
                    }
                    any
                }
                Rule::Copy { source } => {
                    let copied = source.elements(from);
                    let any = !copied.is_empty();
                    into.content.extend(copied.into_iter().map(Content::Copied));
                    any
                }
            };
        }
        found
    }

    /// Makes an element of an element; nothing where there is nothing to say in it.
    fn group<'m>(&'m self, target: &'m Target, rules: &'m [Rule], from: &'m Element<'m>, into: &mut Made<'m>) -> bool {
        let Some((innermost, outer)) = target.elements.split_last() else {
            return self.fill(rules, from, into);
        };
        let mut made = Made::of(innermost);
        if !self.fill(rules, from, &mut made) {
            return false;
        }
        into.content.push(Content::Made(wrapped(made, outer)));
        true
    }

    /// Makes an element or an attribute of every value; whether there was one, constants not counted.
    fn values<'m>(
        &'m self,
        source: &'m Source,
        target: &'m Target,
        changes: &'m [Modifier],
        from: &'m Element<'m>,
        into: &mut Made<'m>,
    ) -> bool {
        let (mut values, counts) = match source {
            Source::Constant(text) => {
                let text = Cow::Borrowed(&**text);
                let value = Value {
                    text,
                    element: Some(from),
                };
                (vec![value], false)
            }
            Source::Paths(paths) => (all_values(paths, from), true),
        };
        let mut kept: Vec<&Name> = Vec::new();
        for change in changes {
            match change {
                Modifier::With(name) => kept.push(name),
                change => self.change(change, &mut values),
            }
        }
        let any = counts && !values.is_empty();
        for value in values {
            let with: Vec<(&Name, &str)> = kept
                .iter()
                .filter_map(|name| Some((*name, name.attribute_of(value.element?)?)))
                .collect();
            put(target, value.text, &with, into);
        }
        any
    }

    fn change<'m>(&'m self, change: &'m Modifier, values: &mut Vec<Value<'m>>) {
        let edit = |values: &mut Vec<Value<'m>>, edit: &dyn Fn(&str) -> String| {
            for value in values.iter_mut() {
                value.text = Cow::Owned(edit(&value.text));
            }
        };
        match change {
            Modifier::Trim(signs) => edit(values, &|text| {
                text.trim_matches(|sign: char| sign.is_whitespace() || signs.contains(sign))
                    .to_owned()
            }),
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
            Modifier::Join(separator) if !values.is_empty() => {
                let element = values.first().and_then(|value| value.element);
                let texts: Vec<&str> = values.iter().map(|value| &*value.text).collect();
                let text = Cow::Owned(texts.join(separator));
                *values = vec![Value { text, element }];
            }
            Modifier::Table(name) => {
                let table = self.tables.get(name);
                values.retain_mut(|value| {
                    let row = table.and_then(|table| table.rows.get(&*value.text));
                    match (row, table.and_then(|table| table.other.as_ref())) {
                        (Some(text), _) | (None, Some(Other::Replaced(text))) => value.text = Cow::Borrowed(text),
                        (None, Some(Other::Kept)) => {}
                        (None, None) => return false,
                    }
                    true
                });
            }
            Modifier::First => values.truncate(1),
            Modifier::Last => {
                let last = values.pop();
                *values = last.into_iter().collect();
            }
            Modifier::Distinct => {
                let mut known = HashSet::new();
                values.retain(|value| known.insert(value.text.clone()));
            }
            Modifier::As(template) => edit(values, &|text| template.replace("{}", text)),
            Modifier::Replace(old, new) => edit(values, &|text| text.replace(&**old, new)),
            Modifier::Upper => edit(values, &str::to_uppercase),
            Modifier::Lower => edit(values, &str::to_lowercase),
            Modifier::Default(text) if values.is_empty() => values.push(Value {
                text: Cow::Borrowed(text),
                element: None,
            }),
            Modifier::When(conditions) => values.retain(|value| conditions.iter().all(|it| holds(it, value))),
            Modifier::Join(_) | Modifier::Default(_) | Modifier::With(_) => {}
        }
        // What is empty says nothing.
        values.retain(|value| !value.text.is_empty());
    }
}

fn all_values<'m>(paths: &'m [Path], from: &'m Element<'m>) -> Vec<Value<'m>> {
    let found = paths.iter().flat_map(|path| path.values(from));
    found
        .map(|found| Value {
            text: found.value,
            element: Some(found.element),
        })
        .collect()
}

/// `.` is the value as it is by now, anything else is looked for in the element it came from.
fn holds(condition: &Condition, value: &Value<'_>) -> bool {
    if condition.path == Path::here() {
        return condition.holds_for(std::iter::once(&*value.text));
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
