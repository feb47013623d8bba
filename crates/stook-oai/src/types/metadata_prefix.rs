//! The short name of a metadata format.

use super::flaw::{Flaw, UNRESERVED, illegal_character, is_unreserved};
use super::text_type;

/// The name by which requests select a metadata format, such as `oai_dc`.
///
/// ```
/// use stook_oai::MetadataPrefix;
///
/// assert!(MetadataPrefix::parse("oai_dc").is_ok());
/// assert!(MetadataPrefix::parse("oai:dc").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetadataPrefix(String);

text_type!(MetadataPrefix, InvalidMetadataPrefix, "a metadataPrefix");

fn flaw_of(text: &str) -> Option<Flaw> {
    if text.is_empty() {
        return Some(Flaw::Empty);
    }
    let stray = text.bytes().position(|byte| !is_unreserved(byte))?;
    Some(illegal_character(text, stray, UNRESERVED))
}

impl MetadataPrefix {
    /// `oai_dc`, the format every repository has.
    #[must_use]
    pub fn oai_dc() -> Self {
        Self("oai_dc".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreserved_characters_make_a_prefix() {
        for good in ["oai_dc", "MARC21", "a-b.c!d~e*f'g(h)", "0"] {
            assert_eq!(MetadataPrefix::parse(good).unwrap().as_str(), good);
        }
        assert!(MetadataPrefix::parse(MetadataPrefix::oai_dc().as_str()).is_ok());
    }

    #[test]
    fn other_characters_are_refused() {
        for bad in [
            "", "oai dc", "oai:dc", "oai/dc", "oai%20dc", "oai_dc\n", "öai", "a+b", "a,b",
        ] {
            assert!(MetadataPrefix::parse(bad).is_err(), "{bad:?}");
        }
    }
}
