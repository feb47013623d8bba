//! The end of an incomplete list.

use super::Datestamp;

/// The `resumptionToken` element that ends a page of a list.
///
/// What the value means is known only to the repository that made it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResumptionToken {
    /// What to send to receive the next page; empty on the last page.
    pub value: String,
    /// When the value ceases to be accepted.
    pub expiration_date: Option<Datestamp>,
    /// How many entries the whole list has, possibly an estimate.
    pub complete_list_size: Option<u64>,
    /// How many entries were delivered before this page.
    pub cursor: Option<u64>,
}
