//! Quoting a value of unknown length and content in a message.

use std::fmt;

use crate::xml;

/// The longest quotation, in characters.
const LIMIT: usize = 100;

/// Displays a text in double quotes, at most 100 characters of it, with
/// characters that XML cannot carry shown as U+FFFD.
///
/// Messages about a client's mistake quote what the client sent; neither its
/// length nor its characters may spoil the response or the log.
#[derive(Debug, Clone, Copy)]
pub struct Excerpt<'a>(pub &'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;

        formatter.write_char('"')?;
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(LIMIT) {
            let safe = xml::is_xml_char(character) && (!character.is_control() || character == '\t');
            formatter.write_char(if safe { character } else { char::REPLACEMENT_CHARACTER })?;
        }
        if characters.next().is_some() {
            formatter.write_char('…')?;
        }
        formatter.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_text_is_quoted_whole() {
        assert_eq!(Excerpt("oai_dc").to_string(), "\"oai_dc\"");
    }

    #[test]
    fn long_text_is_cut_at_a_character() {
        let quoted = Excerpt(&"ß".repeat(101)).to_string();
        assert_eq!(quoted, format!("\"{}…\"", "ß".repeat(100)));
        assert_eq!(Excerpt(&"x".repeat(100)).to_string().chars().count(), 102);
    }

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(Excerpt("a\u{0}b\nc").to_string(), "\"a\u{FFFD}b\u{FFFD}c\"");
    }
}
