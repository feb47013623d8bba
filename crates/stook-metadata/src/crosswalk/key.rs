//! The tag of a MARC field, or the code of a subfield, as a number.
//!
//! A mapping of MARC has hundreds of rules, and nearly every one of them passes by nearly every field. Whether it may be
//! about a field is one look at a bit, and whether it may be about any field of a record are a few of them.

use super::path::{Comparison, Condition, End};
use super::tree::Element;

/// Tags come first, then codes, then the one of elements that have neither.
const TAGS: u16 = 1000;
const NEITHER: u16 = TAGS + 128;
const ALL: u16 = NEITHER + 1;

/// So many elements in one are worth knowing their keys: a rule that is about none of them passes by all at once.
const MANY: usize = 8;

/// The number of an element that has a tag or a code as they usually are, or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u16);

impl Key {
    /// The key of an element with neither.
    pub(super) const NEITHER: Key = Key(NEITHER);

    /// The key by an attribute that is in no namespace.
    pub(super) fn of(attribute: &str, value: &str) -> Option<Key> {
        let digit = |sign: u8| sign.is_ascii_digit().then(|| u16::from(sign - b'0'));
        match (attribute, value.as_bytes()) {
            ("tag", [hundreds, tens, ones]) => Some(Key(digit(*hundreds)? * 100 + digit(*tens)? * 10 + digit(*ones)?)),
            ("code", [code]) if code.is_ascii_graphic() => Some(Key(TAGS + u16::from(*code))),
            _ => None,
        }
    }

    /// What its attribute says, and which one that is.
    fn written(self) -> Option<(&'static str, String)> {
        match self.0.checked_sub(TAGS) {
            None => Some(("tag", format!("{:03}", self.0))),
            Some(code) => char::from_u32(u32::from(code))
                .filter(char::is_ascii)
                .map(|code| ("code", String::from(code))),
        }
    }
}

/// The keys of elements that some conditions hold for, or that are somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keys(Box<[u64; ALL.div_ceil(64) as usize]>);

impl Keys {
    /// By what conditions say of tags and codes; none if they say nothing.
    pub(super) fn of(conditions: &[Condition]) -> Option<Keys> {
        let about: Vec<(&str, &Condition)> = conditions
            .iter()
            .filter_map(|it| Some((attribute_of(it)?, it)))
            .collect();
        about.first()?;
        // Mostly it is said which ones, and these need not be looked for among all.
        let named = about.iter().find_map(|(attribute, condition)| {
            let test = condition
                .test
                .as_ref()
                .filter(|test| test.comparison == Comparison::Is)?;
            let keys = test.with.iter().map(|value| Key::of(attribute, value));
            (!condition.negated).then(|| keys.flatten().collect::<Vec<_>>())
        });
        let all = || (0..ALL).map(Key).collect();
        let mut keys = Keys(Box::default());
        for key in named.unwrap_or_else(all) {
            let written = key.written();
            // An element has one of both attributes at most.
            let holds = |(about, condition): &(&str, &Condition)| match &written {
                Some((attribute, value)) if about == attribute => condition.holds_for(value),
                _ => condition.negated,
            };
            if about.iter().all(holds) {
                keys.add(key);
            }
        }
        Some(keys)
    }

    /// Those of the elements in an element; none if they are few, or one has no key.
    pub(super) fn within(element: &Element<'_>) -> Option<Keys> {
        if element.children.len() < MANY {
            return None;
        }
        let mut keys = Keys(Box::default());
        for inner in element.elements() {
            keys.add(inner.key?);
        }
        Some(keys)
    }

    fn add(&mut self, key: Key) {
        self.0[usize::from(key.0 / 64)] |= 1 << (key.0 % 64);
    }

    /// Whether some of them are among the others.
    pub(super) fn meet(&self, others: &Keys) -> bool {
        self.0.iter().zip(others.0.iter()).any(|(one, other)| one & other != 0)
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.0[usize::from(key.0 / 64)] & (1 << (key.0 % 64)) != 0
    }
}

/// Whether a condition is about what makes a key, so that the key of an element tells if it holds.
pub(super) fn is_about_key(condition: &Condition) -> bool {
    attribute_of(condition).is_some()
}

/// The attribute that a condition is about, if that makes a key.
fn attribute_of(condition: &Condition) -> Option<&str> {
    match &condition.path.end {
        End::Attribute(name) if condition.path.steps.is_empty() && name.namespace.is_empty() => {
            name.local.as_deref().filter(|local| matches!(*local, "tag" | "code"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::{Name, Path, Step, Test};
    use super::*;

    fn condition(attribute: &str, comparison: Comparison, with: &[&str], negated: bool) -> Condition {
        Condition {
            path: Path {
                steps: Vec::new(),
                end: End::Attribute(Name::new("", attribute)),
            },
            test: Some(Test {
                comparison,
                with: with.iter().map(|&value| value.to_owned()).collect(),
            }),
            negated,
        }
    }

    /// Whatever the conditions and the element: the key must not change what is found.
    #[test]
    fn a_key_only_saves_time() {
        use Comparison::{Is, Like};
        let conditions = [
            vec![condition("tag", Is, &["245", "100"], false)],
            vec![condition("tag", Is, &["245"], true)],
            vec![
                condition("tag", Like, &["5??"], false),
                condition("tag", Is, &["506"], true),
            ],
            vec![condition("tag", Like, &["C*", "24#"], false)],
            vec![condition("code", Is, &["a", "b"], false)],
            vec![
                condition("code", Is, &["a"], true),
                condition("tag", Is, &["245"], true),
            ],
            vec![
                condition("ind1", Is, &["1"], false),
                condition("tag", Like, &["2??"], false),
            ],
            vec![Condition {
                test: None,
                ..condition("tag", Is, &[], true)
            }],
            vec![condition("ind1", Is, &["1"], false)],
            vec![],
        ];
        for element in [
            "tag='245'",
            "tag='100'",
            "tag='506'",
            "tag='599'",
            "tag='CAT'",
            "tag='5990'",
            "tag=' 245'",
            "code='a'",
            "code='b'",
            "code='é'",
            "code=''",
            "code='a' tag='245'",
            "ind1='1'",
            "ind1='1' tag='245'",
            "",
        ] {
            let alone = format!("<r><f {element}/></r>");
            let among_many = format!("<r>{}<f {element}/></r>", "<g tag='001'/>".repeat(MANY));
            for (xml, conditions) in [alone, among_many]
                .iter()
                .flat_map(|xml| conditions.iter().map(move |it| (xml, it)))
            {
                let root = Element::read(xml).unwrap();
                let fields = root.elements().filter(|element| element.local == "f");
                let expected = fields
                    .into_iter()
                    .all(|field| conditions.iter().all(|it| it.holds(field)));
                let path = Path {
                    steps: vec![Step::new(Name::new("", "f"), conditions.clone())],
                    end: End::Element,
                };
                assert_eq!(path.elements(&root).len() == 1, expected, "{element} {conditions:?}");
            }
        }
    }
}
