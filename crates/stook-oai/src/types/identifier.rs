//! The unique identifier of an item.

use super::flaw::{Flaw, illegal_character};
use super::text_type;
use super::uri::{any_uri_flaw, is_scheme, is_uri_byte};

/// Longest identifier accepted, in bytes: what every index and URL can carry.
const LIMIT: usize = 2048;

const ALLOWED: &str = "the characters of a URI (RFC 3986); write others as %HH";

/// The identifier of an item: an absolute URI, compared as it is written.
///
/// Identifiers of the `oai` scheme are not held to the oai-identifier
/// guideline here, because repositories older than that guideline use names
/// such as `oai:arXiv:…`. Make new ones with
/// [`OaiNamespace::identifier`](crate::OaiNamespace::identifier).
///
/// ```
/// use stook_oai::Identifier;
///
/// assert!(Identifier::parse("oai:example.org:map-001").is_ok());
/// assert!(Identifier::parse("map-001").is_err());
/// assert!(Identifier::parse("oai:example.org:map 001").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identifier(pub(super) String);

text_type!(Identifier, InvalidIdentifier, "an identifier");

/// The first fault of `text` as an identifier.
pub(super) fn flaw_of(text: &str) -> Option<Flaw> {
    if text.is_empty() {
        return Some(Flaw::Empty);
    }
    if text.len() > LIMIT {
        return Some(Flaw::TooLong {
            bytes: text.len(),
            limit: LIMIT,
        });
    }
    let Some((_, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        return Some(Flaw::NoScheme);
    };
    if rest.is_empty() {
        return Some(Flaw::Missing("text after its scheme"));
    }
    if let Some(offset) = text.bytes().position(|byte| !is_uri_byte(byte)) {
        return Some(illegal_character(text, offset, ALLOWED));
    }
    any_uri_flaw(text)
}

impl Identifier {
    /// Takes over what a repository uses as an identifier, URI or not: any
    /// text without white space and control characters, of the usual length.
    ///
    /// Only for what was received; an identifier of one's own is read with
    /// [`Identifier::parse`].
    ///
    /// ```
    /// use stook_oai::Identifier;
    ///
    /// assert_eq!(Identifier::as_received("map/001")?.as_str(), "map/001");
    /// assert!(Identifier::as_received("map 001").is_err());
    /// # Ok::<(), stook_oai::InvalidIdentifier>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text, and what is wrong with it.
    pub fn as_received(text: &str) -> Result<Self, InvalidIdentifier> {
        let stray = |character: char| {
            character.is_whitespace() || character.is_control() || !crate::xml::is_xml_char(character)
        };
        let flaw = match flaw_of(text) {
            Some(flaw @ (Flaw::Empty | Flaw::TooLong { .. })) => flaw,
            _ => match text.find(stray) {
                Some(offset) => illegal_character(text, offset, "all but white space and control characters"),
                None => return Ok(Self(text.to_owned())),
            },
        };
        Err(InvalidIdentifier {
            value: text.to_owned(),
            flaw,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_of_any_scheme_are_identifiers() {
        for good in [
            "oai:arXiv.org:cs/0112017",
            "oai:arXiv:cs/0112017",
            "http://hdl.handle.net/10222/12345",
            "urn:nbn:de:101:1-201212153510",
            "info:doi/10.1000/182",
            "oai:example.org:ab%3Ccd",
            "https://example.org/thing#this",
            "http://user@example.org:8080/x?y=z",
        ] {
            assert_eq!(Identifier::parse(good).unwrap().as_str(), good);
        }
    }

    #[test]
    fn text_without_a_scheme_is_refused() {
        for bad in ["map-001", ":map", "1oai:map", "ö:map", "a b:c"] {
            assert_eq!(Identifier::parse(bad).unwrap_err().flaw, Flaw::NoScheme, "{bad}");
        }
        assert_eq!(Identifier::parse("").unwrap_err().flaw, Flaw::Empty);
        assert!(Identifier::parse("oai:").is_err());
    }

    #[test]
    fn characters_outside_uris_are_refused_with_their_place() {
        for bad in [
            "oai:a b", "oai:aüb", "oai:a\"b", "oai:a<b", "oai:a\\b", "oai:a\nb", "oai:a{b",
        ] {
            let flaw = Identifier::parse(bad).unwrap_err().flaw;
            assert!(
                matches!(flaw, Flaw::Character { offset: 5, .. }),
                "{bad:?} gave {flaw:?}"
            );
        }
        assert!(Identifier::parse("oai:a#b#c").is_err());
        assert!(Identifier::parse("oai:a[b]").is_err());
    }

    #[test]
    fn escapes_need_two_hexadecimal_digits() {
        for bad in ["oai:a%", "oai:a%4", "oai:a%4g"] {
            assert_eq!(Identifier::parse(bad).unwrap_err().flaw, Flaw::Escape { offset: 5 });
        }
        assert!(Identifier::parse("oai:a%4f").is_ok());
    }

    #[test]
    fn identifiers_are_bounded() {
        assert!(Identifier::parse(&format!("oai:{}", "x".repeat(2044))).is_ok());
        assert!(Identifier::parse(&format!("oai:{}", "x".repeat(2045))).is_err());
    }

    #[test]
    fn the_message_quotes_the_text() {
        let message = Identifier::parse("map 1").unwrap_err().to_string();
        assert!(message.starts_with("\"map 1\" is not an identifier: "), "{message}");
    }

    #[test]
    fn what_repositories_use_is_taken_over_if_it_has_no_white_space() {
        for odd in ["map-001", "10.1000/182", "oai:x:ä", "100%", "a[b]"] {
            assert!(Identifier::parse(odd).is_err(), "{odd}");
            assert_eq!(Identifier::as_received(odd).unwrap().as_str(), odd);
        }
        for bad in ["", "a b", "a\u{A0}b", "a\u{7}", "\u{FFFE}"] {
            assert!(Identifier::as_received(bad).is_err(), "{bad:?}");
        }
        assert!(Identifier::as_received(&"x".repeat(2049)).is_err());
    }
}
