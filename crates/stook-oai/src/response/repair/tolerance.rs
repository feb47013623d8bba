//! The names of what a lenient reader puts up with, and how often it had to.

use std::fmt;

/// Declares the tolerances: one row each, with its name and its sentence.
macro_rules! tolerances {
    ($($variant:ident, $name:literal, $sentence:literal;)+) => {
        /// One thing that real repositories do wrong and that can be read all
        /// the same.
        ///
        /// ```
        /// use stook_oai::response::Tolerance;
        ///
        /// assert_eq!(Tolerance::BareAmpersand.name(), "bare-ampersand");
        /// assert_eq!(Tolerance::parse("bare-ampersand"), Some(Tolerance::BareAmpersand));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Tolerance {
            $(#[doc = $sentence] $variant,)+
        }

        impl Tolerance {
            /// All of them: first those of bytes, then those of structure,
            /// then those of values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name for settings and reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What was found and what became of it, for people.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$variant => $sentence,)+
                }
            }
        }
    };
}

tolerances! {
    // Bytes.
    ControlCharacters, "control-characters", "Characters that XML forbids were removed.";
    InvalidUtf8, "invalid-utf8", "Bytes that are not UTF-8 were replaced by U+FFFD.";
    OtherEncoding, "other-encoding", "The response is declared to be in another encoding than UTF-8; it was converted.";
    WrongEncoding, "wrong-encoding", "The response is not in the encoding that it declares; the real one was found out.";
    WrongCharset, "wrong-charset", "The charset of the HTTP header is not the encoding of the response; it was ignored.";
    BareAmpersand, "bare-ampersand", "An ampersand that begins no reference was escaped.";
    HtmlEntity, "html-entity", "An entity of HTML that XML does not know was replaced by its character.";
    SurrogateReference, "surrogate-reference", "References to halves of a character were put together, or replaced by U+FFFD.";
    ForbiddenReference, "forbidden-reference", "A reference to a character that XML forbids was removed.";
    NestedDeclaration, "nested-declaration", "An XML declaration that does not stand at the beginning was removed.";
    OddDeclaration, "odd-declaration", "The XML declaration could not be understood and was replaced.";
    // Structure.
    LeadingContent, "leading-content", "What stands before the response was ignored.";
    TrailingContent, "trailing-content", "What stands behind the response was ignored.";
    ForeignNamespace, "foreign-namespace", "Elements of the protocol are in another namespace; they were known by their names.";
    MissingNamespace, "missing-namespace", "Elements of the protocol are in no namespace; they were known by their names.";
    UndeclaredPrefix, "undeclared-prefix", "A well-known prefix that is not declared was taken for what it usually means.";
    UnbalancedTags, "unbalanced-tags", "End tags of the envelope are missing or too many.";
    UnexpectedElement, "unexpected-element", "An element that the protocol does not have there was ignored.";
    UnexpectedText, "unexpected-text", "Text where the protocol has none was ignored.";
    EmptyList, "empty-list", "A list has no entries, where the protocol wants an error.";
    EmptyMetadata, "empty-metadata", "A deleted record has a metadata element with nothing in it.";
    MissingRequest, "missing-request", "The response has no request element.";
    // Values.
    MissingResponseDate, "missing-response-date", "The response has no responseDate, or none that can be understood.";
    OddResponseDate, "odd-response-date", "The responseDate is not in the form of the protocol and was normalised.";
    MissingDatestamp, "missing-datestamp", "A header has no datestamp.";
    OddDatestamp, "odd-datestamp", "A datestamp is not in a form of the protocol and was normalised.";
    UnreadableDatestamp, "unreadable-datestamp", "A datestamp could not be understood and was ignored.";
    OddIdentifier, "odd-identifier", "An identifier is not a URI.";
    StatusCase, "status-case", "The status of a header is \"deleted\" in other letters.";
    UnknownStatus, "unknown-status", "The status of a header is not \"deleted\" and was ignored.";
    BadSetSpec, "bad-set-spec", "A setSpec that breaks its grammar was left out.";
    MissingSetName, "missing-set-name", "A set has no setName; its setSpec serves as one.";
    IncompleteFormat, "incomplete-format", "A metadataFormat lacks its schema or its namespace.";
    BadTokenAttribute, "bad-token-attribute", "An attribute of a resumptionToken could not be understood and was left out.";
    UnknownErrorCode, "unknown-error-code", "The code of an error is none of the protocol's, as it is written.";
    OddGranularity, "odd-granularity", "The granularity is not one of the two literals and was taken for the nearer.";
    MissingGranularity, "missing-granularity", "Identify has no granularity that can be understood; days were assumed.";
    OddEarliestDatestamp, "odd-earliest-datestamp", "The earliestDatestamp is missing or not in a form of the protocol; it was normalised, or 1970 assumed.";
    IncompleteIdentify, "incomplete-identify", "Identify lacks something that it must have.";
}

impl Tolerance {
    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tolerance| tolerance.name() == name)
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// How often each tolerance was needed.
///
/// ```
/// use stook_oai::response::{Tolerance, Tolerated};
///
/// let mut report = Tolerated::default();
/// report.note(Tolerance::StatusCase);
/// report.note(Tolerance::StatusCase);
/// assert_eq!(report.iter().collect::<Vec<_>>(), [(Tolerance::StatusCase, 2)]);
/// assert_eq!(report.to_string(), "status-case 2");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Tolerated {
    counts: [u64; Tolerance::ALL.len()],
}

impl Default for Tolerated {
    fn default() -> Self {
        Self {
            counts: [0; Tolerance::ALL.len()],
        }
    }
}

impl Tolerated {
    /// Counts one more use.
    pub fn note(&mut self, tolerance: Tolerance) {
        self.note_many(tolerance, 1);
    }

    /// Counts several uses.
    pub fn note_many(&mut self, tolerance: Tolerance, uses: u64) {
        let count = &mut self.counts[tolerance as usize];
        *count = count.saturating_add(uses);
    }

    /// Counts what `other` has counted.
    pub fn add(&mut self, other: &Self) {
        for (tolerance, uses) in other.iter() {
            self.note_many(tolerance, uses);
        }
    }

    /// How often one was needed.
    #[must_use]
    pub fn count(&self, tolerance: Tolerance) -> u64 {
        self.counts[tolerance as usize]
    }

    /// Those that were needed, with how often, in the order of
    /// [`Tolerance::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Tolerance, u64)> + '_ {
        Tolerance::ALL
            .iter()
            .map(|tolerance| (*tolerance, self.count(*tolerance)))
            .filter(|(_, uses)| *uses > 0)
    }

    /// Whether none was needed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl fmt::Debug for Tolerated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

impl fmt::Display for Tolerated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (tolerance, uses)) in self.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(formatter, "{comma}{tolerance} {uses}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_kebab_case_and_each_its_own() {
        let names: HashSet<&str> = Tolerance::ALL.iter().map(|tolerance| tolerance.name()).collect();
        assert_eq!(names.len(), Tolerance::ALL.len());
        for tolerance in Tolerance::ALL {
            let words: String = format!("{tolerance:?}")
                .chars()
                .flat_map(|letter| {
                    let dash = letter.is_ascii_uppercase().then_some('-');
                    dash.into_iter().chain([letter.to_ascii_lowercase()])
                })
                .collect();
            assert_eq!(words.trim_start_matches('-'), tolerance.name());
            assert_eq!(Tolerance::parse(tolerance.name()), Some(*tolerance));
            assert!(tolerance.sentence().ends_with('.'), "{tolerance}");
        }
        assert_eq!(Tolerance::parse("tolerance"), None);
    }

    #[test]
    fn counts_add_up_and_never_overflow() {
        let mut all = Tolerated::default();
        assert!(all.is_empty());
        let mut one = Tolerated::default();
        one.note_many(Tolerance::EmptyList, u64::MAX);
        all.note(Tolerance::EmptyList);
        all.note(Tolerance::StatusCase);
        all.add(&one);
        assert_eq!(all.count(Tolerance::EmptyList), u64::MAX);
        assert_eq!(all.to_string(), format!("empty-list {}, status-case 1", u64::MAX));
    }
}
