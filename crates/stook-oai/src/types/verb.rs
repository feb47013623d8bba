//! The six requests.

use std::fmt;

/// One of the six verbs, in the order of the specification's life of a harvest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// What is this repository?
    Identify,
    /// Which metadata formats does it, or one of its items, have?
    ListMetadataFormats,
    /// Which sets does it have?
    ListSets,
    /// One record.
    GetRecord,
    /// Headers of many records.
    ListIdentifiers,
    /// Many records.
    ListRecords,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Self; 6] = [
        Self::Identify,
        Self::ListMetadataFormats,
        Self::ListSets,
        Self::GetRecord,
        Self::ListIdentifiers,
        Self::ListRecords,
    ];

    /// The verb as it stands in a request, and the name of its response
    /// element.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identify => "Identify",
            Self::ListMetadataFormats => "ListMetadataFormats",
            Self::ListSets => "ListSets",
            Self::GetRecord => "GetRecord",
            Self::ListIdentifiers => "ListIdentifiers",
            Self::ListRecords => "ListRecords",
        }
    }

    /// Reads a verb; case counts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == text)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_six_verbs_are_read_case_sensitively() {
        for verb in Verb::ALL {
            assert_eq!(Verb::parse(verb.as_str()), Some(verb));
            assert_eq!(Verb::parse(&verb.as_str().to_lowercase()), None);
        }
        assert_eq!(Verb::parse(""), None);
        assert_eq!(Verb::parse("Identify "), None);
    }
}
