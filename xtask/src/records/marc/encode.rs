//! MARC-8 from text: the table of `stook-metadata` the other way round.
//!
//! Only for what is made up here; nobody should have to write MARC-8 today.

use std::collections::HashMap;

use stook_metadata::marc::charset::{Code, codes};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The set of ASCII and the one of ANSEL, by their escape sequences.
const LATIN: u8 = b'B';
const ANSEL: u8 = b'E';
const EACC: u8 = b'1';

/// Encodes values.
pub(crate) struct Encoder {
    codes: HashMap<char, Code>,
}

impl Encoder {
    pub(crate) fn new() -> Self {
        let mut known: HashMap<char, Code> = HashMap::new();
        for code in codes() {
            // A set of one byte is shorter, and ANSEL needs no escape.
            let rank = |code: &Code| match code.set {
                ANSEL => 0,
                EACC => 2,
                _ => 1,
            };
            let kept = known.entry(code.character).or_insert(code);
            if rank(&code) < rank(kept) {
                *kept = code;
            }
        }
        Self { codes: known }
    }

    /// The value in MARC-8; `None` if a character is not in it.
    pub(crate) fn encode(&self, text: &str) -> Option<Vec<u8>> {
        // What has a code of its own is not taken apart.
        let mut apart = Vec::new();
        for character in text.nfc() {
            match self.codes.contains_key(&character) || character.is_ascii() {
                true => apart.push(character),
                false => apart.extend(std::iter::once(character).nfd()),
            }
        }
        let mut bytes = Vec::with_capacity(text.len());
        let mut set = LATIN;
        let mut rest = &apart[..];
        while let Some((&letter, behind)) = rest.split_first() {
            let count = behind.iter().take_while(|&&mark| is_combining_mark(mark)).count();
            let (marks, behind) = behind.split_at(count);
            for mark in marks {
                self.push(*mark, &mut set, &mut bytes)?;
            }
            self.push(letter, &mut set, &mut bytes)?;
            if let Some(end) = marks.iter().find_map(|mark| second_half(*mark)) {
                // The second half goes before the next letter.
                bytes.push(end);
            }
            rest = behind;
        }
        if set != LATIN {
            push_escape(LATIN, set, &mut bytes);
        }
        Some(bytes)
    }

    fn push(&self, character: char, set: &mut u8, bytes: &mut Vec<u8>) -> Option<()> {
        let (wanted, code) = match self.codes.get(&character) {
            _ if character.is_ascii() => (LATIN, [0, 0, character as u8]),
            Some(code) => (code.set, code.code),
            None => return None,
        };
        if wanted == ANSEL {
            bytes.push(code[2] | 0x80);
            return Some(());
        }
        // A blank is one in every set.
        if wanted != *set && character != ' ' {
            push_escape(wanted, *set, bytes);
            *set = wanted;
        }
        match wanted {
            EACC => bytes.extend_from_slice(&code),
            _ => bytes.push(code[2]),
        }
        Some(())
    }
}

fn second_half(mark: char) -> Option<u8> {
    match mark {
        '\u{361}' => Some(0xEC),
        '\u{360}' => Some(0xFB),
        _ => None,
    }
}

fn push_escape(to: u8, from: u8, bytes: &mut Vec<u8>) {
    match (to, from) {
        (LATIN, b'g' | b'b' | b'p') => bytes.extend_from_slice(b"\x1Bs"),
        (b'g' | b'b' | b'p', _) => bytes.extend_from_slice(&[0x1B, to]),
        (EACC, _) => bytes.extend_from_slice(b"\x1B$1"),
        _ => bytes.extend_from_slice(&[0x1B, b'(', to]),
    }
}

#[cfg(test)]
mod tests {
    use stook_metadata::marc::Charset;

    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let encoder = Encoder::new();
        for text in [
            "Müller & Søn",
            "Žižková",
            "истории, Ђурић",
            "地圖 城市",
            "CO₂ m³ β",
            "istorii͡a",
            "סֵפֶר",
            "thế kỷ",
        ] {
            let bytes = encoder.encode(text).unwrap_or_else(|| panic!("{text}"));
            let decoded = Charset::Marc8.decode(&bytes).unwrap();
            assert_eq!(decoded.nfc().collect::<String>(), text.nfc().collect::<String>());
        }
        assert_eq!(encoder.encode("😀"), None);
    }
}
