//! A set, as ListSets shows it.

use super::SetSpec;

/// One entry of ListSets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Set {
    /// Its path.
    pub spec: SetSpec,
    /// Its name for people.
    pub name: String,
    /// The root element of each `setDescription`, as XML.
    pub descriptions: Vec<String>,
}
