//! What MARC21slim.xsd allows, beyond the elements: leaders, tags, indicators, subfield codes.

use super::defect::Trouble;
use super::record::{Dialect, Leader, Tag};

/// A range of positions of the leader, what may stand there, and how people say that.
struct Positions(usize, usize, fn(u8) -> bool, &'static str);

/// The pattern of the schema, position by position, but for the last four.
const LEADER: &[Positions] = &[
    Positions(0, 5, is_digit_or_blank, "a digit or a blank"),
    Positions(5, 6, is_alphanumeric_or_blank, "a letter, a digit or a blank"),
    Positions(6, 7, |byte| byte.is_ascii_alphanumeric(), "a letter or a digit"),
    Positions(7, 10, is_alphanumeric_or_blank, "a letter, a digit or a blank"),
    Positions(10, 12, |byte| matches!(byte, b'2' | b' '), "2 or a blank"),
    Positions(12, 17, is_digit_or_blank, "a digit or a blank"),
    Positions(17, 20, is_alphanumeric_or_blank, "a letter, a digit or a blank"),
];

fn is_digit_or_blank(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b' '
}

fn is_alphanumeric_or_blank(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b' '
}

/// Whether a leader may be published.
///
/// # Errors
/// The first position that may not.
pub fn check_leader(leader: &Leader, dialect: Dialect) -> Result<(), Trouble> {
    for &Positions(from, to, is_allowed, allowed) in LEADER {
        let wrong = (from..to).find(|&position| !is_allowed(leader.at(position)));
        if let Some(position) = wrong {
            return Err(Trouble::LeaderPosition {
                position,
                found: leader.at(position),
                allowed,
            });
        }
    }
    let end = &leader.as_str()[20..];
    let is_right = match dialect {
        Dialect::Marc21 => matches!(end, "4500" | "    "),
        // The last position is not defined there.
        Dialect::Unimarc => end.starts_with("450") || end == "    ",
    };
    if is_right {
        return Ok(());
    }
    Err(Trouble::LeaderPosition {
        position: 20,
        found: leader.at(20),
        allowed: "4500 from there to the end",
    })
}

/// Whether a tag may stand on a control field (00X) or a data field (any other).
#[must_use]
pub fn is_tag(tag: Tag) -> bool {
    match *tag.as_bytes() {
        [b'0', b'0', last] => last != b'0',
        tag => !tag.iter().any(u8::is_ascii_lowercase) || !tag.iter().any(u8::is_ascii_uppercase),
    }
}

/// Whether a character may be an indicator.
#[must_use]
pub fn is_indicator(byte: u8) -> bool {
    byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b' '
}

/// Whether a character may be a subfield code: any sign of ASCII but `@` and `|`.
#[must_use]
pub fn is_code(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'@' | b'|')
}
