//! Where something stands in a record, and what must hold there.
//!
//! `titleInfo/title`, `name[@type="personal"]/namePart`, `subject/@authority`; for MARC also `245$ab`, `650[2="0"]$a`,
//! `008/35-37`, `leader/6`. Paths lead down from the element at hand and give elements or values, in the order of the
//! document.

use std::borrow::Cow;

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
        let mut found = vec![from];
        for step in &self.steps {
            found = found
                .into_iter()
                .flat_map(Element::elements)
                .filter(|element| step.fits(element))
                .collect();
        }
        found
    }

    /// The values that the path leads to; empty ones are none.
    pub fn values<'e, 'a>(&self, from: &'e Element<'a>) -> Vec<Found<'e, 'a>> {
        let value = |element: &'e Element<'a>| {
            let value = match &self.end {
                End::Element => element.text(),
                End::Attribute(name) => Cow::Borrowed(name.attribute_of(element)?.trim()),
                End::Characters(first, last) => cut(&element.exact_text(), *first, *last),
            };
            (!value.trim().is_empty()).then_some(Found { element, value })
        };
        self.elements(from).into_iter().filter_map(value).collect()
    }
}

/// Some characters of a text; what is not there is left out.
fn cut<'v>(text: &str, first: usize, last: usize) -> Cow<'v, str> {
    let cut: String = text.chars().skip(first).take(last + 1 - first.min(last)).collect();
    Cow::Owned(cut.trim().to_owned())
}

impl Step {
    fn fits(&self, element: &Element<'_>) -> bool {
        self.name.fits(&element.namespace, element.local) && self.conditions.iter().all(|it| it.holds(element))
    }
}

impl Name {
    pub(super) fn new(namespace: &str, local: &str) -> Name {
        Name {
            namespace: namespace.to_owned(),
            local: Some(local.to_owned()),
        }
    }

    /// Whether this is the name.
    #[must_use]
    pub fn fits(&self, namespace: &str, local: &str) -> bool {
        self.local.as_deref().is_none_or(|wanted| wanted == local) && self.namespace == namespace
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
        self.holds_for(self.path.values(element).iter().map(|found| &*found.value))
    }

    /// Whether it holds for one of some values.
    pub fn holds_for<'v>(&self, mut values: impl Iterator<Item = &'v str>) -> bool {
        let holds = match &self.test {
            None => values.next().is_some(),
            Some(test) => values.any(|value| test.is_passed_by(value)),
        };
        holds != self.negated
    }
}

impl Test {
    /// Whether a value is as it must be.
    #[must_use]
    pub fn is_passed_by(&self, value: &str) -> bool {
        self.with.iter().any(|wanted| match self.comparison {
            Comparison::Is => wanted == value,
            Comparison::Like => is_like(value, wanted),
        })
    }
}

/// Whether a value fits a pattern of `*`, `?` and `#`. Costs at most the product of both lengths.
#[must_use]
pub fn is_like(value: &str, pattern: &str) -> bool {
    let fold = |text: &str| -> Vec<char> { text.chars().flat_map(char::to_lowercase).collect() };
    let (value, pattern) = (fold(value), fold(pattern));
    let (mut at, mut in_pattern) = (0, 0);
    // Where the last star stands, and what it has swallowed so far.
    let mut star: Option<(usize, usize)> = None;
    while at < value.len() {
        match pattern.get(in_pattern) {
            Some('*') => {
                star = Some((in_pattern, at));
                in_pattern += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == value[at] || (wanted == '#' && value[at].is_ascii_digit()) => {
                at += 1;
                in_pattern += 1;
            }
            _ => {
                let Some((stood, swallowed)) = star else { return false };
                star = Some((stood, swallowed + 1));
                (at, in_pattern) = (swallowed + 1, stood + 1);
            }
        }
    }
    pattern[in_pattern..].iter().all(|&rest| rest == '*')
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
}
