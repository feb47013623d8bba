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
    pub spec: stook_oai::SetSpec,
    /// The value it was made from, where the spec does not show it as it is written.
    pub label: Option<String>,
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
