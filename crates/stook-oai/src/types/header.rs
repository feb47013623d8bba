//! The header of a record.

use std::borrow::Cow;

use super::{Identifier, SetSpec, UtcDatetime};

/// What a record says about itself: whose, from when, in which sets, and
/// whether it still exists.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Header {
    /// The item.
    pub identifier: Identifier,
    /// When the record was created, changed or deleted.
    pub datestamp: UtcDatetime,
    /// What was received, where that is no datestamp of the protocol. Only a
    /// lenient reader lets it pass.
    pub odd_datestamp: Option<OddDatestamp>,
    /// The sets of the item.
    pub set_specs: Vec<SetSpec>,
    /// `status="deleted"`
    pub deleted: bool,
}

/// Something else where a datestamp should be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum OddDatestamp {
    /// This text, of which [`Header::datestamp`] is the closest the protocol
    /// has.
    Normalised(String),
    /// This text, which cannot be understood; [`Header::datestamp`] is 1970 and
    /// means nothing.
    Unreadable(String),
    /// Nothing; [`Header::datestamp`] is 1970 and means nothing.
    Missing,
}

impl Header {
    /// The datestamp, if there is one that means something.
    #[must_use]
    pub fn known_datestamp(&self) -> Option<UtcDatetime> {
        match self.odd_datestamp {
            None | Some(OddDatestamp::Normalised(_)) => Some(self.datestamp),
            Some(OddDatestamp::Unreadable(_) | OddDatestamp::Missing) => None,
        }
    }

    /// The datestamp as it was received; empty if there was none.
    #[must_use]
    pub fn datestamp_text(&self) -> Cow<'_, str> {
        match &self.odd_datestamp {
            None => Cow::Owned(self.datestamp.to_string()),
            Some(OddDatestamp::Normalised(text) | OddDatestamp::Unreadable(text)) => Cow::Borrowed(text),
            Some(OddDatestamp::Missing) => Cow::Borrowed(""),
        }
    }
}
