//! A record: the metadata of one item in one format.

use super::Header;

/// A header and what it is the header of.
///
/// The XML in it stands alone: each text is one element that declares every
/// namespace it uses, so it can be stored or sent elsewhere as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Record {
    /// The header.
    pub header: Header,
    /// The root element inside `metadata`; none if the record is deleted.
    pub metadata: Option<String>,
    /// The root element of each `about`.
    pub about: Vec<String>,
}
