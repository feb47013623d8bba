//! What can be wrong with a string that has a grammar.

use std::fmt;

/// The first fault found in an identifier, a setSpec, a metadataPrefix and
/// their like. Offsets count bytes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// There is no text at all.
    Empty,
    /// The text is longer than this program stores.
    TooLong {
        /// Length of the text in bytes.
        bytes: usize,
        /// The longest length accepted.
        limit: usize,
    },
    /// A character that the grammar does not allow at this place.
    Character {
        /// The character.
        found: char,
        /// Where it stands.
        offset: usize,
        /// What the grammar allows, in words.
        allowed: &'static str,
    },
    /// A part between two delimiters is empty.
    EmptyPart {
        /// Where the part would begin.
        offset: usize,
        /// What separates the parts.
        delimiter: char,
    },
    /// A `%` that is not followed by two hexadecimal digits.
    Escape {
        /// Where the `%` stands.
        offset: usize,
    },
    /// A URI must begin with a scheme, such as `oai:`.
    NoScheme,
    /// What follows the `//` of a URI is not a host with an optional user and
    /// port.
    Authority,
    /// Something that must be there is not.
    Missing(&'static str),
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => formatter.write_str("it is empty"),
            Self::TooLong { bytes, limit } => {
                write!(formatter, "it has {bytes} bytes, at most {limit} are accepted")
            }
            Self::Character { found, offset, allowed } => write!(
                formatter,
                "the character {found:?} at offset {offset} is not allowed; allowed are {allowed}"
            ),
            Self::EmptyPart { offset, delimiter } => write!(
                formatter,
                "the part at offset {offset} is empty; parts are separated by single {delimiter:?}"
            ),
            Self::Escape { offset } => write!(
                formatter,
                "the '%' at offset {offset} is not followed by two hexadecimal digits"
            ),
            Self::NoScheme => formatter.write_str("it does not begin with a URI scheme, such as \"oai:\""),
            Self::Authority => formatter.write_str("what follows its \"//\" is not a host, or its port is no number"),
            Self::Missing(what) => write!(formatter, "it has no {what}"),
        }
    }
}

/// `unreserved` of RFC 2396, the alphabet of metadataPrefix and setSpec.
pub(crate) const UNRESERVED: &str = "letters, digits and - _ . ! ~ * ' ( )";

/// Whether a byte is `unreserved` by RFC 2396.
pub(crate) fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')')
}

/// Whether a byte is `reserved` by RFC 2396.
pub(crate) fn is_reserved(byte: u8) -> bool {
    matches!(
        byte,
        b';' | b'/' | b'?' | b':' | b'@' | b'&' | b'=' | b'+' | b'$' | b','
    )
}

/// The flaw of finding the character at `offset`, which must be a boundary.
pub(crate) fn illegal_character(text: &str, offset: usize, allowed: &'static str) -> Flaw {
    let found = text.get(offset..).and_then(|rest| rest.chars().next());
    Flaw::Character {
        found: found.unwrap_or(char::REPLACEMENT_CHARACTER),
        offset,
        allowed,
    }
}
