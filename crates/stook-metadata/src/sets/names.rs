//! What sets are called, for people.

use std::collections::HashMap;

use stook_oai::SetSpec;

use super::MadeSet;

/// Names by set, and by the beginning and end of sets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    sets: HashMap<String, String>,
    /// What stands before and after the star, and the name, in the order they are written.
    patterns: Vec<(String, String, String)>,
}

impl Names {
    /// Adds a name; says whether it is that of one set.
    pub(crate) fn insert(&mut self, spec: &str, name: String) -> Result<bool, String> {
        let is_spec = |text: &str| SetSpec::parse(text).map(drop).map_err(|flaw| flaw.to_string());
        let Some((before, after)) = spec.split_once('*') else {
            is_spec(spec)?;
            return match self.sets.insert(spec.to_owned(), name) {
                None => Ok(true),
                Some(_) => Err(format!("{spec} has a name already")),
            };
        };
        if after.contains('*') {
            return Err(format!("{spec:?} has more than one star"));
        }
        is_spec(&format!("{before}x{after}"))?;
        self.patterns.push((before.to_owned(), after.to_owned(), name));
        Ok(false)
    }

    /// The name of a set. In one that is for many sets `{}` stands for the value the set was made from, or for what the
    /// star stands for.
    pub(crate) fn of(&self, set: &MadeSet) -> Option<String> {
        let spec = set.spec.as_str();
        if let Some(name) = self.sets.get(spec) {
            return Some(name.clone());
        }
        let by_pattern = self.patterns.iter().find_map(|(before, after, name)| {
            let inside = spec.strip_prefix(before.as_str())?.strip_suffix(after.as_str())?;
            let label = set
                .label
                .as_ref()
                .filter(|label| label.spec == set.spec || label.part == inside);
            let value = label.map_or(inside, |label| &label.text);
            (!inside.is_empty()).then(|| name.replace("{}", value))
        });
        let own = set.label.as_ref().filter(|label| label.spec == set.spec);
        by_pattern.or_else(|| own.map(|label| label.text.clone()))
    }
}
