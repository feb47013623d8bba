//! The values of a rule: found in the record, then changed word by word.

use std::borrow::Cow;
use std::collections::HashSet;

use super::mapping::{Becomes, Means, Modifier, Source, Table};
use super::path::{Condition, Path, is_like};
use super::texts::{chop, cut_after, date, domain, language, levels, without, without_sorting_marks, year};
use super::tree::Element;

/// A value on its way.
#[derive(Clone)]
pub(crate) struct Value<'m> {
    pub(crate) text: Cow<'m, str>,
    /// Where it came from, if from one place.
    pub(crate) element: Option<&'m Element<'m>>,
}

impl Means {
    /// What a rule finds, changed as it says.
    pub(crate) fn values<'m>(
        &'m self,
        source: &'m Source,
        changes: &'m [Modifier],
        from: &'m Element<'m>,
    ) -> Vec<Value<'m>> {
        let mut values = match source {
            Source::Constant(text) => vec![Value {
                text: Cow::Borrowed(&**text),
                element: Some(from),
            }],
            Source::Paths(paths) => self.found(paths, from),
        };
        for change in changes {
            // Most rules find nothing in most records, and of nothing only a default makes something.
            if !values.is_empty() || matches!(change, Modifier::Default(_)) {
                self.change(change, from, &mut values);
            }
        }
        values
    }

    fn found<'m>(&self, paths: &'m [Path], from: &'m Element<'m>) -> Vec<Value<'m>> {
        let mut all = Vec::new();
        for path in paths {
            path.each(from, &mut |found| {
                let text = match self.drops_sorting_marks {
                    true => without_sorting_marks(found.value),
                    false => found.value,
                };
                all.push(Value {
                    text,
                    element: Some(found.element),
                });
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
            Modifier::Distinct if values.len() > 1 => {
                let mut known = HashSet::new();
                values.retain(|value| known.insert(value.text.clone()));
            }
            Modifier::As(template) => edit(values, |text| template.replace("{}", text)),
            Modifier::Replace(old, new) => edit(values, |text| text.replace(&**old, new)),
            Modifier::Date => edit(values, |text| date(text).unwrap_or_default()),
            Modifier::Year => edit(values, |text| year(text).unwrap_or_default()),
            Modifier::Domain => edit(values, |text| domain(text).unwrap_or_default()),
            Modifier::Levels(separator) => edit(values, |text| levels(text, separator)),
            Modifier::Language => edit(values, |text| language(text).unwrap_or_default()),
            Modifier::Upper => edit(values, str::to_uppercase),
            Modifier::Lower => edit(values, str::to_lowercase),
            Modifier::Default(text) if values.is_empty() => values.push(Value {
                text: Cow::Borrowed(text),
                element: None,
            }),
            Modifier::When(conditions) => values.retain(|value| conditions.iter().all(|it| holds(it, value))),
            Modifier::Join(_) | Modifier::Distinct | Modifier::Default(_) | Modifier::With(_) | Modifier::Required => {}
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
    let number = path.first(from).and_then(|found| found.value.parse().ok());
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
