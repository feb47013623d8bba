//! The unique identifier of an item.

use super::flaw::{Flaw, illegal_character, is_reserved, is_unreserved};
use super::text_type;

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
    let Some((scheme, rest)) = text.split_once(':') else {
        return Some(Flaw::NoScheme);
    };
    if !is_scheme(scheme) {
        return Some(Flaw::NoScheme);
    }
    if rest.is_empty() {
        return Some(Flaw::Missing("text after its scheme"));
    }
    flaw_of_uri_characters(text, scheme.len() + 1)
}

fn is_scheme(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

fn flaw_of_uri_characters(text: &str, start: usize) -> Option<Flaw> {
    let bytes = text.as_bytes();
    let mut fragment_seen = false;
    let mut offset = start;
    while let Some(&byte) = bytes.get(offset) {
        match byte {
            b'%' => {
                let digits = bytes.get(offset + 1..offset + 3);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Some(Flaw::Escape { offset });
                }
                offset += 2;
            }
            b'#' if !fragment_seen => fragment_seen = true,
            b'[' | b']' => {}
            _ if is_unreserved(byte) || is_reserved(byte) => {}
            _ => return Some(illegal_character(text, offset, ALLOWED)),
        }
        offset += 1;
    }
    None
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
            "x:[::1]",
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
    }

    #[test]
    fn escapes_need_two_hexadecimal_digits() {
        for bad in ["oai:a%", "oai:a%4", "oai:a%4g", "oai:a%ü"] {
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
}
