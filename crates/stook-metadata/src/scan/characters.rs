//! Which characters mean what in XML, and what references stand for.

use std::borrow::Cow;

use crate::clean::reference_code;
use crate::find::find;

/// Bytes at which text or an attribute value may stop being plain: markup,
/// quotation marks, `]`, control characters, and the first byte of U+F000 to
/// U+FFFF, among which are two noncharacters.
pub(super) const IS_SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = !is_space(byte as u8);
        byte += 1;
    }
    special[b'<' as usize] = true;
    special[b'&' as usize] = true;
    special[b'"' as usize] = true;
    special[b'\'' as usize] = true;
    special[b']' as usize] = true;
    special[0xEF] = true;
    special
};

/// White space by XML 1.0 §2.3.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// ASCII bytes of names but for the colon: a table, because names are looked at byte by byte.
pub(super) const IS_PLAIN_IN_NAME: [bool; 256] = {
    let mut name = [false; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        name[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        byte += 1;
    }
    name
};

/// NameStartChar of XML 1.0 §2.3, but for the colon.
pub(super) fn is_name_start(character: char) -> bool {
    matches!(character,
        'A'..='Z' | 'a'..='z' | '_'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// NameChar of XML 1.0 §2.3, colon included.
pub(super) fn is_name_character(character: char) -> bool {
    is_name_start(character)
        || matches!(character,
            ':' | '-' | '.' | '0'..='9' | '\u{B7}'
            | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The character of an entity every XML parser knows.
pub(super) fn predefined(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

/// Resolves the references of a text or an attribute value that the scanner
/// has accepted. What is no reference is left as it is.
///
/// ```
/// assert_eq!(stook_metadata::scan::unescape("R&amp;D &#x2013; caf&#233;"), "R&D – café");
/// ```
#[must_use]
pub fn unescape(raw: &str) -> Cow<'_, str> {
    let Some(first) = find(raw.as_bytes(), |byte| byte == b'&') else {
        return Cow::Borrowed(raw);
    };
    let mut text = String::with_capacity(raw.len());
    text.push_str(&raw[..first]);
    let mut rest = &raw[first..];
    while let Some(behind) = rest.strip_prefix('&') {
        let resolved = behind.split_once(';').and_then(|(inside, after)| {
            let character = match inside.strip_prefix('#') {
                Some(digits) => reference_code(digits).and_then(char::from_u32),
                None => predefined(inside),
            };
            Some((character?, after))
        });
        rest = match resolved {
            Some((character, after)) => {
                text.push(character);
                after
            }
            None => {
                text.push('&');
                behind
            }
        };
        let plain = rest.find('&').unwrap_or(rest.len());
        text.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    Cow::Owned(text)
}
