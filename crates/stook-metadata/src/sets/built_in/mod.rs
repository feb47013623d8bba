//! Rules that come with the program, one file for each profile: `NAME.rules`.

use std::sync::LazyLock;

use super::SetRules;
use crate::format::Formats;

/// By their names.
const TEXTS: &[(&str, &str)] = &[("dini", include_str!("dini.rules"))];

/// The names of all profiles.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

/// The profile of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static SetRules> {
    static ALL: LazyLock<Vec<(&str, SetRules)>> = LazyLock::new(|| {
        let formats = Formats::default();
        let read = |(name, text): &(&'static str, &str)| {
            let rules = SetRules::read(text, &formats).expect("every profile is tested");
            (*name, rules)
        };
        TEXTS.iter().map(read).collect()
    });
    ALL.iter().find(|(known, _)| *known == name).map(|(_, rules)| rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_profile_is_read() {
        for (name, text) in TEXTS {
            SetRules::read(text, &Formats::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(text.starts_with("# "), "{name} says by which recommendation");
            assert!(named(name).is_some());
        }
        assert!(named("nosuch").is_none());
    }
}
