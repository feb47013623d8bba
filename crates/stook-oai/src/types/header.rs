//! The header of a record.

use super::{Identifier, SetSpec, UtcDatetime};

/// What a record says about itself: whose, from when, in which sets, and
/// whether it still exists.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Header {
    /// The item.
    pub identifier: Identifier,
    /// When the record was created, changed or deleted.
    pub datestamp: UtcDatetime,
    /// The sets of the item.
    pub set_specs: Vec<SetSpec>,
    /// `status="deleted"`
    pub deleted: bool,
}
