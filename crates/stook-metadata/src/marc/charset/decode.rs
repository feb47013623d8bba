//! From codes to text, value by value: every value begins in the usual sets.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::compose;

use super::codes::{ANSEL, EACC, ISO_5426, LATIN, ideograph, lookup};

const ESCAPE: u8 = 0x1B;

/// Decodes MARC-8.
pub(super) fn marc8(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    decode(bytes, ANSEL)
}

/// Decodes ISO 5426, which knows no escapes.
pub(super) fn iso5426(bytes: &[u8]) -> Result<Cow<'_, str>, usize> {
    match bytes.iter().position(|&byte| byte == ESCAPE) {
        Some(at) => Err(at),
        None => decode(bytes, ISO_5426),
    }
}

fn decode(bytes: &[u8], high: u8) -> Result<Cow<'_, str>, usize> {
    let is_plain = |byte: u8| byte < 0x80 && byte != ESCAPE && byte != b'&';
    if bytes.iter().all(|&byte| is_plain(byte))
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return Ok(Cow::Borrowed(text));
    }
    let mut decoder = Decoder {
        bytes,
        at: 0,
        low: LATIN,
        high,
        marks: String::new(),
        text: String::with_capacity(bytes.len() + 8),
    };
    while decoder.at < bytes.len() {
        decoder.step().ok_or(decoder.at)?;
    }
    // Marks at the end have no letter; where they stand they do no harm.
    decoder.text.push_str(&decoder.marks);
    Ok(Cow::Owned(decoder.text))
}

struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The set that codes below 128 belong to.
    low: u8,
    /// The set that codes from 128 on belong to.
    high: u8,
    /// Marks that wait for their letter.
    marks: String,
    text: String,
}

impl Decoder<'_> {
    /// Reads one code; `None` if it means nothing.
    fn step(&mut self) -> Option<()> {
        let byte = self.bytes[self.at];
        let set = if byte < 0x80 { self.low } else { self.high };
        let (character, combining, length) = match byte {
            ESCAPE => return self.escape(),
            // Blanks and controls are the same in every set.
            ..=0x20 => (char::from(byte), false, 1),
            b'&' if set == LATIN => match self.reference() {
                Some((character, length)) => (character, false, length),
                None => ('&', false, 1),
            },
            // Where an article begins and ends that is not to be sorted, and joiners.
            0x88 => ('\u{98}', false, 1),
            0x89 => ('\u{9C}', false, 1),
            0x8D => ('\u{200D}', false, 1),
            0x8E => ('\u{200C}', false, 1),
            _ if set == EACC && !(0x80..=0xA0).contains(&byte) => {
                let code: [u8; 3] = self.bytes.get(self.at..self.at + 3)?.try_into().ok()?;
                (ideograph(code.map(|byte| byte & 0x7F))?, false, 3)
            }
            0x7F..=0xA0 => return None,
            _ if set == LATIN => (char::from(byte & 0x7F), false, 1),
            _ if is_second_half(set, byte & 0x7F) => {
                self.at += 1;
                return Some(());
            }
            _ => {
                let (character, combining) = lookup(set, byte & 0x7F)?;
                (character, combining, 1)
            }
        };
        if combining {
            self.marks.push(self.double_mark(set, byte).unwrap_or(character));
        } else {
            self.push(character);
        }
        self.at += length;
        Some(())
    }

    /// Adds a letter with the marks that waited for it.
    fn push(&mut self, letter: char) {
        let mut marks = self.marks.chars();
        match (marks.next(), marks.next()) {
            (None, _) => self.text.push(letter),
            (Some(mark), None) => match compose(letter, mark) {
                Some(both) => self.text.push(both),
                None => self.text.extend([letter, mark]),
            },
            _ => self
                .text
                .extend(std::iter::once(letter).chain(self.marks.chars()).nfc()),
        }
        self.marks.clear();
    }

    /// ISO 5426 begins a ligature and a double tilde alike, and tells them apart by how they end.
    fn double_mark(&self, set: u8, byte: u8) -> Option<char> {
        if set != ISO_5426 || byte != 0xDD {
            return None;
        }
        // It ends behind the next letter, which may have marks of its own.
        let near = self.bytes[self.at..].iter().take(8);
        let end = near.into_iter().find(|byte| matches!(byte, 0xDE | 0xDF));
        (end == Some(&0xDF)).then_some('\u{360}')
    }

    /// `&#x4E00;`, which MARC-8 uses for characters it has no code for.
    fn reference(&self) -> Option<(char, usize)> {
        let rest = self.bytes[self.at..].strip_prefix(b"&#x")?;
        let length = rest.iter().take(7).position(|&byte| byte == b';')?;
        let digits = std::str::from_utf8(&rest[..length]).ok()?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        // A separator of ISO 2709 cannot come in by this door.
        (character >= ' ').then_some((character, length + 4))
    }

    /// Reads an escape sequence: which set codes below or from 128 on belong to from now on.
    fn escape(&mut self) -> Option<()> {
        let sequence = &self.bytes[self.at + 1..];
        let (is_high, set, length) = match *sequence {
            [b's', ..] => (false, LATIN, 1),
            [set @ (b'g' | b'b' | b'p'), ..] => (false, set, 1),
            [b'(' | b',', b'!', set, ..] => (false, set, 3),
            [b')' | b'-', b'!', set, ..] => (true, set, 3),
            [b'(' | b',', set, ..] => (false, set, 2),
            [b')' | b'-', set, ..] => (true, set, 2),
            [b'$', b'(' | b',', set, ..] => (false, set, 3),
            [b'$', b')' | b'-', set, ..] => (true, set, 3),
            [b'$', set, ..] => (false, set, 2),
            _ => return None,
        };
        if !matches!(
            set,
            LATIN | ANSEL | EACC | b'g' | b'b' | b'p' | b'N' | b'Q' | b'S' | b'2' | b'3' | b'4'
        ) {
            return None;
        }
        if is_high {
            self.high = set;
        } else {
            self.low = set;
        }
        self.at += 1 + length;
        Some(())
    }
}

/// The second half of a mark over two letters; the first half stands for both.
fn is_second_half(set: u8, code: u8) -> bool {
    matches!((set, code), (ANSEL, 0x6C | 0x7B) | (ISO_5426, 0x5E | 0x5F))
}
