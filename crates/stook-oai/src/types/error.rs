//! The protocol's own errors. They are answers, not failures.

use std::fmt;

/// One of the eight error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorCode {
    /// The verb is missing, unknown or repeated.
    BadVerb,
    /// An argument is unknown, missing, repeated or ill-formed.
    BadArgument,
    /// The resumptionToken is not, or no longer, valid.
    BadResumptionToken,
    /// The item or the repository does not have the metadata format.
    CannotDisseminateFormat,
    /// No item has the identifier.
    IdDoesNotExist,
    /// The selection is empty.
    NoRecordsMatch,
    /// The item has no metadata format.
    NoMetadataFormats,
    /// The repository has no sets.
    NoSetHierarchy,
}

impl ErrorCode {
    /// All codes.
    pub const ALL: [Self; 8] = [
        Self::BadVerb,
        Self::BadArgument,
        Self::BadResumptionToken,
        Self::CannotDisseminateFormat,
        Self::IdDoesNotExist,
        Self::NoRecordsMatch,
        Self::NoMetadataFormats,
        Self::NoSetHierarchy,
    ];

    /// The code as it stands in `error/@code`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BadVerb => "badVerb",
            Self::BadArgument => "badArgument",
            Self::BadResumptionToken => "badResumptionToken",
            Self::CannotDisseminateFormat => "cannotDisseminateFormat",
            Self::IdDoesNotExist => "idDoesNotExist",
            Self::NoRecordsMatch => "noRecordsMatch",
            Self::NoMetadataFormats => "noMetadataFormats",
            Self::NoSetHierarchy => "noSetHierarchy",
        }
    }

    /// Reads a code; case counts.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }

    /// Whether a response with this error must not repeat the request's
    /// arguments, because the request itself was not understood (§3.2).
    #[must_use]
    pub fn hides_arguments(self) -> bool {
        matches!(self, Self::BadVerb | Self::BadArgument)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// One `error` of a response: a code, and a sentence for whoever reads it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct OaiError {
    /// What kind of error.
    pub code: ErrorCode,
    /// The sentence; it may be empty.
    pub message: String,
}

impl OaiError {
    /// An error with its sentence.
    #[must_use]
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_they_are_written() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(code));
        }
        assert_eq!(ErrorCode::parse("badGranularity"), None);
    }

    #[test]
    fn only_requests_not_understood_hide_their_arguments() {
        let hiding: Vec<ErrorCode> = ErrorCode::ALL
            .into_iter()
            .filter(|code| code.hides_arguments())
            .collect();
        assert_eq!(hiding, [ErrorCode::BadVerb, ErrorCode::BadArgument]);
    }
}
