//! Where something stands in a record, and what must hold there.
//!
//! `titleInfo/title`, `name[@type="personal"]/namePart`, `subject/@authority`; for MARC also `245$ab`, `650[2="0"]$a`,
//! `008/35-37`, `leader/6`. Paths lead down from the element at hand and give elements or values, in the order of the
//! document.

use std::borrow::Cow;

use super::key::{Keys, is_about_key};
use super::tree::Element;

/// A way down from an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// Through these elements; none for the element at hand.
    pub steps: Vec<Step>,
    /// To this.
    pub end: End,
}

/// One level down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which elements.
    pub name: Name,
    /// What must hold for them.
    pub conditions: Vec<Condition>,
    /// How many of these, the first ones, the key of an element decides.
    of_keys: usize,
    /// Which keys they leave.
    keys: Option<Keys>,
}

/// The name of an element or attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The namespace.
    pub namespace: String,
    /// The name without a prefix; none for any.
    pub local: Option<String>,
}

/// Where a path ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// At the element.
    Element,
    /// At an attribute of it.
    Attribute(Name),
    /// At some characters of its text, counted from 0, both included.
    Characters(usize, usize),
}

/// Something that holds or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What is looked at.
    pub path: Path,
    /// What one of the values found there must be; none if it is enough that there is one.
    pub test: Option<Test>,
    /// Whether it must not hold.
    pub negated: bool,
}

/// What a value must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// How it is compared.
    pub comparison: Comparison,
    /// With any of these.
    pub with: Vec<String>,
}

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// It is the same.
    Is,
    /// It fits a pattern: `*` stands for anything, `?` for one character, `#` for one digit. Case does not matter.
    Like,
}

/// What a path leads to.
#[derive(Debug, Clone)]
pub struct Found<'e, 'a> {
    /// The element, or the one the value is of.
    pub element: &'e Element<'a>,
    /// The value.
    pub value: Cow<'e, str>,
}

impl Path {
    /// The element at hand.
    #[must_use]
    pub fn here() -> Path {
        Path {
            steps: Vec::new(),
            end: End::Element,
        }
    }

    /// The elements that the path goes through at its end.
    pub fn elements<'e, 'a>(&self, from: &'e Element<'a>) -> Vec<&'e Element<'a>> {
        let mut found = Vec::new();
        walk(&self.steps, from, &mut |element| {
            found.push(element);
            false
        });
        found
    }

    /// Shows each value that the path leads to; empty ones are none.
    pub(super) fn each<'e, 'a>(&self, from: &'e Element<'a>, show: &mut dyn FnMut(Found<'e, 'a>)) {
        self.visit(from, &mut |found| {
            show(found);
            false
        });
    }

    /// The first value that the path leads to.
    pub(super) fn first<'e, 'a>(&self, from: &'e Element<'a>) -> Option<Found<'e, 'a>> {
        let mut first = None;
        self.visit(from, &mut |found| {
            first = Some(found);
            true
        });
        first
    }

    /// Shows each value, until one is what was looked for; whether one was.
    fn visit<'e, 'a>(&self, from: &'e Element<'a>, look: &mut dyn FnMut(Found<'e, 'a>) -> bool) -> bool {
        walk(&self.steps, from, &mut |element| {
            let value = match &self.end {
                End::Element => element.text(),
                End::Attribute(name) => match name.attribute_of(element) {
                    Some(value) => Cow::Borrowed(trimmed(value)),
                    None => return false,
                },
                End::Characters(first, last) => match element.exact_text() {
                    Cow::Borrowed(text) => Cow::Borrowed(cut(text, *first, *last)),
                    Cow::Owned(text) => Cow::Owned(cut(&text, *first, *last).to_owned()),
                },
            };
            !value.trim_start().is_empty() && look(Found { element, value })
        })
    }
}

/// Goes down by these steps and shows each element at the end, until one is what was looked for; whether one was.
fn walk<'e, 'a>(steps: &[Step], from: &'e Element<'a>, look: &mut dyn FnMut(&'e Element<'a>) -> bool) -> bool {
    match steps.split_first() {
        None => look(from),
        Some((step, _)) if !step.may_be_in(from) => false,
        Some((step, rest)) => from
            .elements()
            .any(|element| step.may_be(element) && step.is(element) && walk(rest, element, look)),
    }
}

/// Without blanks at the ends, of which most values have none.
fn trimmed(value: &str) -> &str {
    match value.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => value,
        _ => value.trim(),
    }
}

/// Some characters of a text; what is not there is left out.
fn cut(text: &str, first: usize, last: usize) -> &str {
    let mut starts = text.char_indices().map(|(start, _)| start);
    let start = starts.nth(first).unwrap_or(text.len());
    let end = starts.nth(last.saturating_sub(first)).unwrap_or(text.len());
    text[start..end].trim()
}

impl Step {
    pub(super) fn new(name: Name, mut conditions: Vec<Condition>) -> Step {
        conditions.sort_by_key(|it| !is_about_key(it));
        Step {
            keys: Keys::of(&conditions),
            of_keys: conditions.iter().filter(|it| is_about_key(it)).count(),
            name,
            conditions,
        }
    }

    /// Whether it may be one of the elements in an element.
    fn may_be_in(&self, element: &Element<'_>) -> bool {
        match (&self.keys, &element.within) {
            (Some(keys), Some(within)) => keys.meet(within),
            _ => true,
        }
    }

    /// Whether it may be an element, by the key of that: nearly all are passed by so.
    #[inline]
    fn may_be(&self, element: &Element<'_>) -> bool {
        match (&self.keys, element.key) {
            (Some(keys), Some(key)) => keys.has(key),
            _ => true,
        }
    }

    /// Whether it is an element that it may be by the key.
    fn is(&self, element: &Element<'_>) -> bool {
        let decided = element.key.map_or(0, |_| self.of_keys);
        let wanted = self.name.local.as_deref();
        // The namespace last: it is long, and nearly always the same.
        wanted.is_none_or(|wanted| same(wanted, element.local))
            && self.conditions[decided..].iter().all(|it| it.holds(element))
            && *self.name.namespace == *element.namespace
    }
}

impl Name {
    pub(super) fn new(namespace: &str, local: &str) -> Name {
        Name {
            namespace: namespace.to_owned(),
            local: Some(local.to_owned()),
        }
    }

    /// The value of the attribute of this name.
    pub(super) fn attribute_of<'e>(&self, element: &'e Element<'_>) -> Option<&'e str> {
        element.attribute(&self.namespace, self.local.as_deref()?)
    }
}

impl Condition {
    /// Whether it holds for an element.
    #[must_use]
    pub fn holds(&self, element: &Element<'_>) -> bool {
        // The tag of a field or the code of a subfield, as nearly always.
        if let (true, End::Attribute(name)) = (self.path.steps.is_empty(), &self.path.end) {
            let value = name
                .attribute_of(element)
                .map(trimmed)
                .filter(|value| !value.is_empty());
            return value.is_some_and(|value| self.test.as_ref().is_none_or(|test| test.is_passed_by(value)))
                != self.negated;
        }
        let passes = |found: Found<'_, '_>| self.test.as_ref().is_none_or(|test| test.is_passed_by(&found.value));
        self.path.visit(element, &mut { passes }) != self.negated
    }

    /// Whether it holds for a value.
    #[must_use]
    pub fn holds_for(&self, value: &str) -> bool {
        self.test.as_ref().is_none_or(|test| test.is_passed_by(value)) != self.negated
    }
}

impl Test {
    /// Whether a value is as it must be.
    #[must_use]
    pub fn is_passed_by(&self, value: &str) -> bool {
        self.with.iter().any(|wanted| match self.comparison {
            Comparison::Is => same(wanted, value),
            Comparison::Like => is_like(value, wanted),
        })
    }
}

/// Whether two texts are the same. The last byte tells tags, codes and names apart without a call.
pub(super) fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.as_bytes().last() == other.as_bytes().last() && one == other
}

/// Whether a value fits a pattern of `*`, `?` and `#`. Costs at most the product of both lengths.
#[must_use]
pub fn is_like(value: &str, pattern: &str) -> bool {
    let (mut value, mut pattern) = (value.chars(), pattern.chars());
    // What comes after the last star, and what it has not swallowed yet.
    let mut star = None;
    loop {
        let (mut rest, mut others) = (value.clone(), pattern.clone());
        match (others.next(), rest.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                star = Some((value.clone(), others.clone()));
                pattern = others;
            }
            (Some(wanted), Some(sign)) if fits(sign, wanted) => (value, pattern) = (rest, others),
            _ => {
                let Some((swallowing, after)) = &mut star else {
                    return false;
                };
                if swallowing.next().is_none() {
                    return false;
                }
                (value, pattern) = (swallowing.clone(), after.clone());
            }
        }
    }
}

fn fits(sign: char, wanted: char) -> bool {
    match wanted {
        '?' => true,
        _ if sign == wanted => true,
        '#' => sign.is_ascii_digit(),
        _ if sign.is_ascii() && wanted.is_ascii() => sign.eq_ignore_ascii_case(&wanted),
        _ => sign.to_lowercase().eq(wanted.to_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_they_say() {
        for (value, pattern, fits) in [
            ("https://example.org/a", "https://*", true),
            ("HTTP://EXAMPLE.ORG", "http*org", true),
            ("abc", "a?c", true),
            ("abc", "a?", false),
            ("abc", "*", true),
            ("", "*", true),
            ("", "?", false),
            ("aaab", "*a*b", true),
            ("aaac", "*a*b", false),
            ("Ärger", "ä*", true),
            ("2024-05", "####-##", true),
            ("2024-x5", "####-##", false),
            ("C#", "C#", true),
        ] {
            assert_eq!(is_like(value, pattern), fits, "{value} {pattern}");
        }
        assert!(!is_like(&"a".repeat(5_000), &format!("{}b", "*a".repeat(1_000))));
    }

    #[test]
    fn characters_are_counted_and_what_is_not_there_is_left_out() {
        for (text, first, last, found) in [
            ("abcdef", 0, 0, "a"),
            ("abcdef", 1, 3, "bcd"),
            ("abcdef", 4, 9, "ef"),
            ("abcdef", 6, 9, ""),
            ("abcdef", 3, 1, "d"),
            ("äöü ß", 1, 2, "öü"),
            ("äöü ß", 2, 3, "ü"),
            ("", 0, 0, ""),
        ] {
            assert_eq!(cut(text, first, last), found, "{text} {first}-{last}");
        }
    }
}
