//! The namespace of oai-identifiers: the middle of `oai:example.org:map-001`.

use super::flaw::{Flaw, illegal_character, is_reserved, is_unreserved};
use super::identifier::{self, Identifier, InvalidIdentifier};
use super::text_type;

/// A domain name of at least two labels that its owner builds identifiers
/// from (guideline oai-identifier, version 2).
///
/// ```
/// use stook_oai::OaiNamespace;
///
/// let namespace = OaiNamespace::parse("example.org")?;
/// assert_eq!(namespace.identifier("map-001")?.as_str(), "oai:example.org:map-001");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OaiNamespace(String);

text_type!(OaiNamespace, InvalidOaiNamespace, "a namespace of oai-identifiers");

fn flaw_of(text: &str) -> Option<Flaw> {
    if text.is_empty() {
        return Some(Flaw::Empty);
    }
    let mut offset = 0;
    let mut labels = 0;
    for label in text.split('.') {
        if let Some(flaw) = flaw_of_label(text, label, offset) {
            return Some(flaw);
        }
        labels += 1;
        offset += label.len() + 1;
    }
    (labels < 2).then_some(Flaw::Missing("dot; it must be a domain name of two or more parts"))
}

fn flaw_of_label(text: &str, label: &str, offset: usize) -> Option<Flaw> {
    let Some(first) = label.bytes().next() else {
        return Some(Flaw::EmptyPart { offset, delimiter: '.' });
    };
    if !first.is_ascii_alphabetic() {
        return Some(illegal_character(text, offset, "letters at the beginning of each part"));
    }
    let stray = label
        .bytes()
        .position(|byte| !byte.is_ascii_alphanumeric() && byte != b'-')?;
    Some(illegal_character(text, offset + stray, "letters, digits and -"))
}

impl OaiNamespace {
    /// The identifier of the item that its owner calls `local`.
    ///
    /// Everything that is not a URI character is escaped (UTF-8, upper-case
    /// hexadecimal), a `%` too: `local` is plain text, never an escaped form,
    /// so two different local names never give the same identifier.
    ///
    /// # Errors
    ///
    /// When `local` is empty or the identifier would be too long.
    ///
    /// ```
    /// # use stook_oai::OaiNamespace;
    /// let namespace = OaiNamespace::parse("example.org")?;
    /// assert_eq!(namespace.identifier("50% Öl")?.as_str(), "oai:example.org:50%25%20%C3%96l");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn identifier(&self, local: &str) -> Result<Identifier, InvalidIdentifier> {
        let mut text = format!("oai:{}:", self.0);
        if local.is_empty() {
            return Err(InvalidIdentifier {
                value: text,
                flaw: Flaw::Missing("local part"),
            });
        }
        for byte in local.bytes() {
            if is_unreserved(byte) || is_reserved(byte) {
                text.push(char::from(byte));
            } else {
                text.push('%');
                text.push(hex_digit(byte >> 4));
                text.push(hex_digit(byte & 0xF));
            }
        }
        match identifier::flaw_of(&text) {
            None => Ok(Identifier(text)),
            Some(flaw) => Err(InvalidIdentifier { value: text, flaw }),
        }
    }

    /// The local part of an identifier of this namespace, as it is written
    /// there; nothing if the identifier belongs elsewhere.
    #[must_use]
    pub fn local_part<'a>(&self, identifier: &'a Identifier) -> Option<&'a str> {
        let rest = identifier.as_str().strip_prefix("oai:")?.strip_prefix(self.as_str())?;
        rest.strip_prefix(':').filter(|local| !local.is_empty())
    }
}

fn hex_digit(nibble: u8) -> char {
    char::from(if nibble < 10 { b'0' + nibble } else { b'A' + nibble - 10 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> OaiNamespace {
        OaiNamespace::parse("example.org").unwrap()
    }

    #[test]
    fn domain_names_of_two_or_more_labels_are_namespaces() {
        for good in ["example.org", "lib-1.uni.example", "ebibpol.p.lodz.pl", "A.b"] {
            assert!(OaiNamespace::parse(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn other_text_is_no_namespace() {
        for bad in [
            "", "arXiv", "a..b", ".a.b", "a.b.", "1a.org", "a.2b", "a_b.org", "a.b:c", "ä.org",
        ] {
            assert!(OaiNamespace::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn uri_characters_are_not_escaped() {
        let local = "aZ9-_.!~*'();/?:@&=+$,";
        let identifier = example().identifier(local).unwrap();
        assert_eq!(identifier.as_str(), format!("oai:example.org:{local}"));
    }

    #[test]
    fn all_other_characters_are_escaped_in_upper_case() {
        let identifier = example().identifier("a b#c[d]é%3f<").unwrap();
        assert_eq!(identifier.as_str(), "oai:example.org:a%20b%23c%5Bd%5D%C3%A9%253f%3C");
    }

    #[test]
    fn an_identifier_needs_a_local_part() {
        assert!(example().identifier("").is_err());
        assert!(example().identifier(&"ü".repeat(1000)).is_err());
    }

    #[test]
    fn the_local_part_is_found_only_in_the_own_namespace() {
        let namespace = example();
        let local = |text| {
            namespace
                .local_part(&Identifier::parse(text).unwrap())
                .map(str::to_owned)
        };
        assert_eq!(local("oai:example.org:a:b"), Some("a:b".to_owned()));
        assert_eq!(local("oai:example.org.uk:a"), None);
        assert_eq!(local("oai:example.org:"), None);
        assert_eq!(local("urn:example.org:a"), None);
    }
}
