//! The path of a set in the hierarchy of sets.

use super::flaw::{Flaw, UNRESERVED, illegal_character, is_unreserved};
use super::text_type;

/// A colon-separated path of set names, such as `institution:florida`.
///
/// ```
/// use stook_oai::SetSpec;
///
/// let florida = SetSpec::parse("institution:florida")?;
/// let institution = SetSpec::parse("institution")?;
/// assert_eq!(florida.parent(), Some(institution.clone()));
/// assert!(institution.contains(&florida));
/// # Ok::<(), stook_oai::InvalidSetSpec>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetSpec(String);

text_type!(SetSpec, InvalidSetSpec, "a setSpec");

fn flaw_of(text: &str) -> Option<Flaw> {
    if text.is_empty() {
        return Some(Flaw::Empty);
    }
    let mut offset = 0;
    for element in text.split(':') {
        if element.is_empty() {
            return Some(Flaw::EmptyPart { offset, delimiter: ':' });
        }
        if let Some(stray) = element.bytes().position(|byte| !is_unreserved(byte)) {
            return Some(illegal_character(text, offset + stray, UNRESERVED));
        }
        offset += element.len() + 1;
    }
    None
}

impl SetSpec {
    /// The set directly above this one; none for a top-level set.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (parent, _) = self.0.rsplit_once(':')?;
        Some(Self(parent.to_owned()))
    }

    /// This set and every ancestor, the top-level set first.
    ///
    /// ```
    /// # use stook_oai::SetSpec;
    /// let names: Vec<String> =
    ///     SetSpec::parse("a:b:c")?.lineage().map(|spec| spec.to_string()).collect();
    /// assert_eq!(names, ["a", "a:b", "a:b:c"]);
    /// # Ok::<(), stook_oai::InvalidSetSpec>(())
    /// ```
    pub fn lineage(&self) -> impl Iterator<Item = Self> + '_ {
        self.0
            .match_indices(':')
            .map(|(colon, _)| colon)
            .chain(std::iter::once(self.0.len()))
            .map(|end| Self(self.0[..end].to_owned()))
    }

    /// Whether a record in `other` is selected by `set=` this set: `other` is
    /// this set or lies below it, by whole path elements.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        match other.0.strip_prefix(&self.0) {
            Some(rest) => rest.is_empty() || rest.starts_with(':'),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> SetSpec {
        SetSpec::parse(text).unwrap()
    }

    #[test]
    fn paths_of_unreserved_characters_are_set_specs() {
        for good in ["maps", "maps:city", "a:b:c:d", "-_.!~*'()", "ddc:610", "0"] {
            assert_eq!(spec(good).as_str(), good);
        }
    }

    #[test]
    fn empty_elements_are_refused_with_their_place() {
        for (bad, place) in [(":", 0), (":a", 0), ("a:", 2), ("a::b", 2)] {
            let flaw = SetSpec::parse(bad).unwrap_err().flaw;
            assert_eq!(
                flaw,
                Flaw::EmptyPart {
                    offset: place,
                    delimiter: ':'
                },
                "{bad}"
            );
        }
        assert_eq!(SetSpec::parse("").unwrap_err().flaw, Flaw::Empty);
    }

    #[test]
    fn reserved_and_foreign_characters_are_refused() {
        for bad in ["a b", "a/b", "a%20b", "a+b", "a,b", "a@b", "a:b c", "é", "a:ü", "a\n"] {
            assert!(SetSpec::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_parent_is_the_path_without_its_last_element() {
        assert_eq!(spec("a:b:c").parent(), Some(spec("a:b")));
        assert_eq!(spec("a").parent(), None);
    }

    #[test]
    fn the_lineage_of_a_top_level_set_is_itself() {
        assert_eq!(spec("a").lineage().collect::<Vec<_>>(), [spec("a")]);
    }

    #[test]
    fn a_set_contains_itself_and_its_descendants_by_whole_elements() {
        assert!(spec("a").contains(&spec("a")));
        assert!(spec("a").contains(&spec("a:b:c")));
        assert!(!spec("a").contains(&spec("ab")));
        assert!(!spec("a:b").contains(&spec("a")));
        assert!(!spec("a:b").contains(&spec("a:bc")));
    }
}
