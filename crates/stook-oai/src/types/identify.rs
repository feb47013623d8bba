//! A repository's description of itself.

use std::fmt;

use super::{Datestamp, Description, Granularity};

/// What a repository promises about deletions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeletedRecord {
    /// Deletions are never shown.
    No,
    /// Every deletion is shown, for ever.
    Persistent,
    /// Deletions may be shown.
    Transient,
}

impl DeletedRecord {
    /// The literal of `Identify/deletedRecord`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Persistent => "persistent",
            Self::Transient => "transient",
        }
    }

    /// Reads the literal of `Identify/deletedRecord`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::No, Self::Persistent, Self::Transient]
            .into_iter()
            .find(|promise| promise.as_str() == text)
    }
}

impl fmt::Display for DeletedRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// The response to Identify. `protocolVersion` is always 2.0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identify {
    /// A name for people.
    pub repository_name: String,
    /// The address that requests are sent to.
    pub base_url: String,
    /// At least one address of somebody responsible; see
    /// [`admin_email_is_valid`](crate::admin_email_is_valid).
    pub admin_emails: Vec<String>,
    /// No datestamp of the repository is earlier.
    pub earliest_datestamp: Datestamp,
    /// What is promised about deletions.
    pub deleted_record: DeletedRecord,
    /// The precision of the repository's datestamps.
    pub granularity: Granularity,
    /// Content codings offered besides identity, such as `gzip`.
    pub compressions: Vec<String>,
    /// Optional containers.
    pub descriptions: Vec<Description>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_about_deletions_have_the_literals_of_identify() {
        for promise in [DeletedRecord::No, DeletedRecord::Persistent, DeletedRecord::Transient] {
            assert_eq!(DeletedRecord::parse(promise.as_str()), Some(promise));
        }
        assert_eq!(DeletedRecord::parse("yes"), None);
    }
}
