//! The tag of a MARC field, or the code of a subfield, as a number.
//!
//! A mapping of MARC has hundreds of rules, and nearly every one of them passes by nearly every field. Whether it may be
//! about a field is one look at a bit.

use super::path::{Comparison, Condition, End};

/// Tags come first, then codes.
const TAGS: u16 = 1000;
const ALL: u16 = TAGS + 128;

/// The number of an element that has a tag or a code as they usually are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(u16);

impl Key {
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
    fn written(self) -> (&'static str, String) {
        match self.0.checked_sub(TAGS) {
            None => ("tag", format!("{:03}", self.0)),
            Some(code) => (
                "code",
                char::from_u32(u32::from(code)).map(String::from).unwrap_or_default(),
            ),
        }
    }
}

/// The keys of elements that some conditions may hold for.
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
            let (attribute, value) = key.written();
            // An element has one of both attributes.
            let may_hold = |(about, condition): &(&str, &Condition)| match *about == attribute {
                true => condition.holds_for(&value),
                false => condition.negated,
            };
            if about.iter().all(may_hold) {
                keys.0[usize::from(key.0 / 64)] |= 1 << (key.0 % 64);
            }
        }
        Some(keys)
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.0[usize::from(key.0 / 64)] & (1 << (key.0 % 64)) != 0
    }
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
    use super::super::tree::Element;
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
            "",
        ] {
            let xml = format!("<r><f {element}/></r>");
            let root = Element::read(&xml).unwrap();
            for conditions in &conditions {
                let expected = root
                    .elements()
                    .all(|element| conditions.iter().all(|it| it.holds(element)));
                let path = Path {
                    steps: vec![Step::new(Name::new("", "f"), conditions.clone())],
                    end: End::Element,
                };
                assert_eq!(path.elements(&root).len() == 1, expected, "{element} {conditions:?}");
            }
        }
    }
}
