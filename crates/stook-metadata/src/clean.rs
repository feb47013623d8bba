//! Dropping what XML 1.0 cannot carry: control characters and the two
//! noncharacters U+FFFE and U+FFFF.
//!
//! Text enters; the same text without them leaves, borrowed when nothing had
//! to change. Nothing is replaced by a stand-in: these characters carry no
//! meaning for a reader, they are remains of terminals and exports.

use std::borrow::Cow;

use stook_oai::xml::{first_forbidden, is_xml_char};

use crate::find::find;
use crate::scan::is_space;

/// A text that XML can carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned<'a> {
    /// The text that is left.
    pub text: Cow<'a, str>,
    /// How many characters were dropped.
    pub dropped: usize,
}

impl<'a> Cleaned<'a> {
    fn untouched(text: &'a str) -> Self {
        Self {
            text: Cow::Borrowed(text),
            dropped: 0,
        }
    }
}

/// Cleans a value that will be escaped afterwards; line ends become LF.
///
/// ```
/// let cleaned = stook_metadata::clean::text("Brief\u{1f} an\r\nAnna");
/// assert_eq!(cleaned.text, "Brief an\nAnna");
/// assert_eq!(cleaned.dropped, 1);
/// ```
#[must_use]
pub fn text(value: &str) -> Cleaned<'_> {
    // A carriage return cannot survive a parser (XML 1.0 §2.11), so it is
    // turned into what the parser would make of it. That is no loss.
    let suspect = |byte: u8| (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0xEF;
    match find(value.as_bytes(), suspect) {
        None => return Cleaned::untouched(value),
        // 0xEF begins U+F000 to U+FFFF, of which two are forbidden and many are not.
        Some(at) if first_forbidden(&value.as_bytes()[at..]).is_none() && !value.contains('\r') => {
            return Cleaned::untouched(value);
        }
        Some(_) => {}
    }
    let mut kept = String::with_capacity(value.len());
    let mut dropped = 0;
    let mut characters = value.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                characters.next_if_eq(&'\n');
                kept.push('\n');
            }
            _ if is_xml_char(character) => kept.push(character),
            _ => dropped += 1,
        }
    }
    Cleaned {
        text: Cow::Owned(kept),
        dropped,
    }
}

/// Cleans XML: drops forbidden characters and references to them.
///
/// Markup is not otherwise looked at; a reference inside a comment or a CDATA
/// section, where it would be plain text, goes the same way.
///
/// ```
/// let cleaned = stook_metadata::clean::markup("<a>x&#x1F;y\u{b}</a>");
/// assert_eq!(cleaned.text, "<a>xy</a>");
/// assert_eq!(cleaned.dropped, 2);
/// ```
#[must_use]
pub fn markup(xml: &str) -> Cleaned<'_> {
    let suspect = |byte: u8| (byte < 0x20 && !is_space(byte)) || byte == 0xEF;
    let has_forbidden =
        find(xml.as_bytes(), suspect).is_some_and(|at| first_forbidden(&xml.as_bytes()[at..]).is_some());
    if !has_forbidden && !illegal_references(xml).any(|_| true) {
        return Cleaned::untouched(xml);
    }
    let mut kept = String::with_capacity(xml.len());
    let mut dropped = 0;
    let mut start = 0;
    for (at, length) in illegal_references(xml) {
        dropped += 1 + push_legal(&mut kept, &xml[start..at]);
        start = at + length;
    }
    dropped += push_legal(&mut kept, &xml[start..]);
    Cleaned {
        text: Cow::Owned(kept),
        dropped,
    }
}

/// Appends the characters XML allows and counts the others.
fn push_legal(kept: &mut String, text: &str) -> usize {
    let before = kept.len();
    kept.extend(text.chars().filter(|&character| is_xml_char(character)));
    text.chars().count() - kept[before..].chars().count()
}

/// Offset and length of each character reference that XML forbids.
fn illegal_references(xml: &str) -> impl Iterator<Item = (usize, usize)> {
    /// Longest reference looked at: `&#x` with leading zeros, and `;`.
    const LONGEST: usize = 16;
    xml.match_indices("&#").filter_map(|(at, _)| {
        let rest = &xml.as_bytes()[at + 2..];
        let end = rest.iter().take(LONGEST).position(|&byte| byte == b';')?;
        let digits = xml.get(at + 2..at + 2 + end)?;
        match reference_code(digits) {
            Some(code) if !char::from_u32(code).is_some_and(is_xml_char) => Some((at, end + 3)),
            _ => None,
        }
    })
}

/// The number in `123` or `x7B`, the inside of a character reference.
pub(crate) fn reference_code(digits: &str) -> Option<u32> {
    let (digits, radix) = match digits.strip_prefix('x') {
        Some(hexadecimal) => (hexadecimal, 16),
        None => (digits, 10),
    };
    let all_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    // Too large a number is no character either, which is what matters.
    all_digits.then(|| u32::from_str_radix(digits, radix).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(text("Größe 中文\t\n").text, Cow::Borrowed(_)));
        assert!(matches!(markup("<a>&#10;&amp;&#x41;</a>").text, Cow::Borrowed(_)));
    }

    #[test]
    fn every_forbidden_character_is_dropped_and_counted() {
        let cleaned = text("\u{0}a\u{8}b\u{b}c\u{c}d\u{e}e\u{1f}f\u{fffe}g\u{ffff}");
        assert_eq!((cleaned.text.as_ref(), cleaned.dropped), ("abcdefg", 8));
    }

    #[test]
    fn line_ends_become_line_feeds() {
        assert_eq!(text("a\r\nb\rc\nd\r\r\n").text, "a\nb\nc\nd\n\n");
    }

    #[test]
    fn references_to_forbidden_characters_are_dropped_from_markup() {
        let cleaned = markup("<a>&#0;&#x1f;&#xFFFE;&#xD800;&#99999999999;&#65;&#; &#x;</a>");
        assert_eq!((cleaned.text.as_ref(), cleaned.dropped), ("<a>&#65;&#; &#x;</a>", 5));
    }

    #[test]
    fn markup_keeps_its_line_ends() {
        assert_eq!(markup("<a>\r\n\u{1}</a>").text, "<a>\r\n</a>");
    }
}
