//! Where records end in a stream.
//!
//! A record ends where its leader says if the end mark is there too. Where the two disagree, the mark counts, unless
//! another record can be recognised inside the piece: then the piece before it is a record that lost its end.

use crate::find::find;

use super::super::record::Leader;
use super::{FIELD_END, RECORD_END, number};

/// What stands at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// As many bytes that belong to no record: line ends and the like.
    Between(usize),
    /// A record, or what is left of one, of as many bytes.
    Record(usize),
    /// More bytes are needed to tell.
    Unfinished,
}

/// The next piece of a stream, which begins between two records. `at_end` says that no bytes come after these.
///
/// What is called a record may be damaged; [`super::read()`] says so.
#[must_use]
pub fn next(bytes: &[u8], at_end: bool) -> Cut {
    match between(bytes, at_end) {
        0 => {}
        count => return Cut::Between(count),
    }
    if bytes.is_empty() || (bytes.len() < Leader::LENGTH && !at_end) {
        return Cut::Unfinished;
    }
    // The rule, and fast: the mark is where the leader says, and nowhere before.
    let declared = bytes.get(..5).and_then(number).unwrap_or(0);
    let mark = find(bytes, |byte| byte == RECORD_END);
    let Some(end) = mark.map(|mark| mark + 1) else {
        return match at_end {
            true => Cut::Record(embedded(bytes, 1).unwrap_or(bytes.len())),
            false => Cut::Unfinished,
        };
    };
    if end == declared {
        return Cut::Record(end);
    }
    if let Some(inner) = embedded(&bytes[..end], 0) {
        return Cut::Record(inner);
    }
    if declared > end {
        // Perhaps a mark got into a value. What follows tells which end is the right one.
        if bytes.len() < declared + AHEAD && !at_end {
            return Cut::Unfinished;
        }
        let has_mark = bytes.get(declared - 1) == Some(&RECORD_END);
        if has_mark && begins_record(&bytes[declared..]) && !begins_record(&bytes[end..]) {
            return Cut::Record(declared);
        }
    }
    Cut::Record(end)
}

/// How many bytes behind a record are looked at: a leader, and a few line ends before it.
const AHEAD: usize = Leader::LENGTH + 8;

/// How many bytes at the beginning belong to no record: line ends, blanks, what old systems fill the end of a file with.
fn between(bytes: &[u8], at_end: bool) -> usize {
    let belongs = |at: usize| match bytes[at] {
        b'\n' | b'\r' | b'\t' | 0 | 0x1A => false,
        // A leader may begin with blanks in the place of its length.
        b' ' => is_leader(&bytes[at..]) || (bytes.len() < at + Leader::LENGTH && !at_end),
        _ => true,
    };
    (0..bytes.len()).find(|&at| belongs(at)).unwrap_or(bytes.len())
}

/// Whether the rest of a stream begins a record, or is over.
fn begins_record(bytes: &[u8]) -> bool {
    let rest = bytes[..bytes.len().min(AHEAD)].trim_ascii_start();
    rest.is_empty() || is_leader(rest)
}

/// Where another record begins inside a piece: one whose leader gives just the end of the piece, but for what is
/// `missing` there, or is followed by a directory as long as it says.
fn embedded(piece: &[u8], missing: usize) -> Option<usize> {
    // By its last four positions a leader is found quickest.
    let mut from = 1 + Leader::LENGTH - 4;
    while let Some(at) = piece.get(from..)?.windows(3).position(|window| window == b"450") {
        let start = from + at + 4 - Leader::LENGTH;
        let rest = &piece[start..];
        if is_leader(rest) {
            let has_length = number(&rest[..5]) == Some(rest.len() + missing);
            let directory_end = number(&rest[12..17]).and_then(|base| rest.get(base.checked_sub(1)?));
            if has_length || directory_end == Some(&FIELD_END) {
                return Some(start);
            }
        }
        from += at + 3;
    }
    None
}

/// Whether bytes begin like a record: a length, a status and type, `22`, an address, and `4500` or `450 `.
#[must_use]
pub fn is_leader(bytes: &[u8]) -> bool {
    let Some(leader) = bytes.get(..Leader::LENGTH) else {
        return false;
    };
    let is_number = |digits: &[u8]| digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b' ');
    is_number(&leader[..5])
        && leader[5..].iter().all(|byte| (b' '..=b'~').contains(byte))
        && leader[10..12].iter().all(|byte| matches!(byte, b'2' | b' '))
        && is_number(&leader[12..17])
        && leader[20..23] == *b"450"
        && matches!(leader[23], b'0' | b' ')
}
