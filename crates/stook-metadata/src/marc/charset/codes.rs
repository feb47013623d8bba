//! The table of MARC-8 and ISO 5426: what each code stands for.
//!
//! The facts are those of the Library of Congress (MARC-8 code tables, <https://www.loc.gov/marc/specifications/>) and of
//! ISO-IR 53. `codes.bin` was made from what two independent programs, pymarc 5.4 and yaz 5.34, say of every code; where
//! they differ, in 13 ideographs of EACC that the Library has moved since, it follows yaz. `cargo xtask interop marc`
//! compares it with yaz again. Six codes that are in neither but in the records of a large network are added.
//!
//! An entry is six bytes: a key of three, sorted, and a character of three whose highest bit marks a combining one. The
//! key of an ideograph is its code; that of any other is zero, the letter of its set, and its code in seven bits.

/// Basic Latin, which is ASCII and needs no table.
pub(super) const LATIN: u8 = b'B';
/// ANSEL, the extended Latin of MARC-8.
pub(super) const ANSEL: u8 = b'E';
/// The East Asian ideographs, three bytes each.
pub(super) const EACC: u8 = b'1';
/// ISO 5426; a number of our own, because MARC-8 has no letter for it.
pub(super) const ISO_5426: u8 = 1;

static CODES: &[u8] = include_bytes!("codes.bin");
const ENTRY: usize = 6;

/// One code of one set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The final character of the escape sequence to its set: `E` for ANSEL, `1` for East Asian …
    pub set: u8,
    /// The code in seven bits; three of them for East Asian, otherwise the last one counts.
    pub code: [u8; 3],
    /// What it stands for.
    pub character: char,
    /// Whether it is a mark, written before its letter.
    pub combining: bool,
}

/// Every code of MARC-8 that is not ASCII.
pub fn codes() -> impl Iterator<Item = Code> {
    CODES.chunks_exact(ENTRY).filter_map(|entry| {
        let (character, combining) = meaning(entry)?;
        let (set, code) = match *entry {
            [0, set, code, ..] => (set, [0, 0, code]),
            [first, second, third, ..] => (EACC, [first, second, third]),
            _ => return None,
        };
        (set != ISO_5426).then_some(Code {
            set,
            code,
            character,
            combining,
        })
    })
}

/// What a code of a one-byte set stands for, and whether it combines.
pub(super) fn lookup(set: u8, code: u8) -> Option<(char, bool)> {
    find([0, set, code])
}

/// What an ideograph's code stands for.
pub(super) fn ideograph(code: [u8; 3]) -> Option<char> {
    // What begins with zero belongs to the other sets.
    let (character, _) = find(code).filter(|_| code[0] != 0)?;
    Some(character)
}

fn find(key: [u8; 3]) -> Option<(char, bool)> {
    let (mut low, mut high) = (0, CODES.len() / ENTRY);
    while low < high {
        let middle = usize::midpoint(low, high);
        let entry = CODES.get(middle * ENTRY..(middle + 1) * ENTRY)?;
        match entry[..3].cmp(&key) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return meaning(entry),
        }
    }
    None
}

fn meaning(entry: &[u8]) -> Option<(char, bool)> {
    let &[_, _, _, high, middle, low] = entry else {
        return None;
    };
    let number = u32::from_be_bytes([0, high & 0x7F, middle, low]);
    Some((char::from_u32(number)?, high & 0x80 != 0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_table_is_sorted_and_whole() {
        assert_eq!(CODES.len() % ENTRY, 0);
        let keys: Vec<_> = CODES.chunks_exact(ENTRY).map(|entry| &entry[..3]).collect();
        assert!(keys.is_sorted() && keys.windows(2).all(|pair| pair[0] != pair[1]));
        assert!(CODES.chunks_exact(ENTRY).all(|entry| meaning(entry).is_some()));
        let mut counts = BTreeMap::new();
        for code in codes() {
            *counts.entry(char::from(code.set)).or_insert(0) += 1;
        }
        let counts: Vec<_> = counts.into_iter().collect();
        let expected = [
            ('1', 15_745),
            ('2', 78),
            ('3', 83),
            ('4', 90),
            ('E', 63),
            ('N', 94),
            ('Q', 42),
            ('S', 73),
        ];
        assert_eq!(counts[..8], expected);
        assert_eq!(counts[8..], [('b', 14), ('g', 3), ('p', 14)]);
    }

    #[test]
    fn every_code_is_found() {
        for code in codes() {
            let found = match code.set {
                EACC => ideograph(code.code).map(|character| (character, false)),
                set => lookup(set, code.code[2]),
            };
            assert_eq!(found, Some((code.character, code.combining)), "{code:?}");
        }
        assert_eq!(lookup(ANSEL, 0x7F), None);
        assert_eq!(ideograph([0x7E; 3]), None);
    }
}
