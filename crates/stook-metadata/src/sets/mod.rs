//! Sets by rule: which sets a record is in, told by what it says.
//!
//! [`SetRules`] are read from text once, in the words of a mapping ([`crate::crosswalk`]), and applied to any number of
//! records. A record enters; the sets that the rules put it in leave, in order and each once. Rules that come with the
//! program are in [`built_in`].

mod apply;
pub mod built_in;
mod names;
mod rules;
mod spec;
#[cfg(test)]
mod tests;

use stook_oai::SetSpec;

pub(crate) use names::Names;
pub use rules::{Owned, SetRules};
pub(crate) use rules::{SetRule, Target};

/// Rules find the identifier of a record as the attribute `identifier` of this namespace, at its root.
pub(crate) const OAI_PMH_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";

/// Most sets that rules make for one record. What is made of them is not linear in their number.
pub const MAX_SETS: usize = 1000;

/// A set that a rule put a record in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MadeSet {
    /// The set.
    pub spec: SetSpec,
    /// The value it was made from, where the spec does not show it as it is written.
    pub label: Option<Label>,
}

/// A value as somebody wrote it, and where it stands in a set spec.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    text: String,
    /// As the spec shows it.
    part: String,
    /// The set at whose level it stands; the rule may go on below it.
    spec: SetSpec,
}

impl MadeSet {
    /// The set and those above it, from the top down. What lies above a value is not called by it.
    pub fn lineage(&self) -> impl Iterator<Item = MadeSet> + '_ {
        self.spec.lineage().map(|spec| MadeSet {
            label: self.label.clone().filter(|label| label.spec.contains(&spec)),
            spec,
        })
    }
}

/// Why rules cannot tell the sets of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSets {
    /// The record is no XML.
    #[error(transparent)]
    Fault(#[from] crate::Fault),
    /// Rules that make a set of every word.
    #[error("the rules put it into more than {MAX_SETS} sets")]
    TooMany,
}
