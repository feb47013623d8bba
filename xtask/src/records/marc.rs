//! Made-up records of MARC for tests and measurements, as a catalogue exports
//! them: some in UTF-8, some in MARC-8, some deleted, one in a hundred damaged.
//!
//! As with the other records, one is a function of its number alone.

mod encode;

use std::io::{self, Write};

use super::words::{Vocabulary, vocabularies};
use super::{Dice, name, phrase, text, title};

pub(crate) use encode::Encoder;

/// Scripts that the vocabulary has no language for, or not with characters that
/// MARC-8 has: two of them written from right to left, with points.
const HEBREW: &[&str] = &["מפה", "עיר", "סֵפֶר", "ים", "הר", "נהר", "דֶרֶך", "גשר"];
const ARABIC: &[&str] = &["خريطة", "مدينة", "كِتَاب", "بحر", "جبل", "نهر", "طريق", "جِسْر"];
const CHINESE: &[&str] = &["地圖", "城市", "圖書", "海", "山", "河", "道路", "橋"];
/// Letters with marks over two of them, with two marks, below, and signs.
const ROMANIZED: &[&str] = &[
    "istorii͡a",
    "t͡serkovʹ",
    "bản đồ",
    "thế kỷ",
    "pan͠galan",
    "ḥikāyāt",
    "ʻilm",
    "ādāb",
    "CO₂",
    "m³",
    "β-γ",
    "ſ",
];

/// What becomes of a record when it is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is published.
    Live,
    /// It is a deletion.
    Deleted,
    /// It goes to the quarantine.
    Lost,
}

/// One record.
pub(crate) struct MarcRecord {
    /// As it should be.
    pub(crate) sound: Vec<u8>,
    /// As it is in the file: the same but for the damage.
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_marc8: bool,
    pub(crate) fate: Fate,
}

/// Writes records `first..last` to `out`, in ISO 2709.
///
/// # Errors
/// Only those of `out`.
pub(crate) fn write(out: &mut impl Write, first: u64, last: u64) -> io::Result<()> {
    let mut generator = Generator::new();
    for number in first..last {
        out.write_all(&generator.record(number).bytes)?;
    }
    Ok(())
}

/// Makes records.
pub(crate) struct Generator {
    vocabularies: Vec<Vocabulary>,
    encoder: Encoder,
}

impl Generator {
    pub(crate) fn new() -> Self {
        Self {
            vocabularies: vocabularies(),
            encoder: Encoder::new(),
        }
    }

    pub(crate) fn record(&mut self, number: u64) -> MarcRecord {
        // Mixed once more: the dice of neighbours roll the same numbers one after the other.
        let mut dice = Dice(Dice::new(number ^ 0x2709).next());
        let is_deleted = dice.below(50) == 0;
        let fields = self.fields(&mut dice, number);
        let marc8 = (dice.below(2) == 0).then(|| self.encode(&fields)).flatten();
        let is_marc8 = marc8.is_some();
        let fields = marc8.unwrap_or_else(|| {
            let bytes = fields.into_iter().map(|(tag, text)| (tag, text.into_bytes()));
            bytes.collect()
        });
        let status = if is_deleted { 'd' } else { dice.pick(&['n', 'c']) };
        let coding = if is_marc8 { ' ' } else { 'a' };
        let sound = iso2709(&format!("{status}{}m {coding}", dice.pick(&['a', 'e', 'k'])), &fields);
        let fate = if is_deleted { Fate::Deleted } else { Fate::Live };
        let (bytes, fate) = match dice.below(100) {
            0 => damaged(&mut dice, &sound, fate),
            _ => (sound.clone(), fate),
        };
        MarcRecord {
            sound,
            bytes,
            is_marc8,
            fate,
        }
    }

    /// Fields as text, with `$` before the code of each subfield written as the
    /// mark it is.
    fn fields(&self, dice: &mut Dice, number: u64) -> Vec<(&'static str, String)> {
        let words = &self.vocabularies[dice.index(self.vocabularies.len())];
        let code = words.language.code;
        let year = 1480 + dice.below(546);
        let romanized = |dice: &mut Dice| dice.pick(ROMANIZED);
        let mut fields = vec![
            ("001", format!("stook{number:08}")),
            ("003", "XX-XxSTO".to_owned()),
            ("005", format!("20260101{:06}.0", number % 240_000)),
            ("008", format!("260101s{year:04}    xx ||||  ||||| 000 0 {code:<3} d")),
            ("020", format!("  \u{1F}a978{:010}", dice.below(10_000_000_000))),
            ("035", format!("  \u{1F}a(XX-XxSTO){number}")),
            ("041", format!("0 \u{1F}a{code}")),
            ("100", format!("1 \u{1F}a{}\u{1F}d{year}-", name(dice, words))),
            (
                "245",
                format!(
                    "10\u{1F}a{} :\u{1F}b{} /\u{1F}c{}.",
                    title(dice, words),
                    romanized(dice),
                    name(dice, words)
                ),
            ),
            (
                "264",
                format!(
                    " 1\u{1F}aLindenau :\u{1F}b{},\u{1F}c{year}.",
                    dice.pick(words.publishers)
                ),
            ),
            (
                "300",
                format!(
                    "  \u{1F}a{} S. :\u{1F}bIll. ;\u{1F}c{} cm",
                    dice.below(900),
                    10 + dice.below(40)
                ),
            ),
        ];
        for _ in 0..dice.below(3) {
            let sentences = dice.below(3);
            fields.push(("520", format!("  \u{1F}a{}", text(dice, words, sentences))));
        }
        for _ in 0..1 + dice.below(4) {
            fields.push((
                "650",
                format!(
                    " 7\u{1F}a{}\u{1F}x{}\u{1F}2local",
                    phrase(dice, words, 2),
                    romanized(dice)
                ),
            ));
        }
        fields.push(("700", format!("1 \u{1F}a{}\u{1F}4aut", name(dice, words))));
        match dice.below(20) {
            0 => fields.push(("880", other_script(dice, HEBREW, "(2/r"))),
            1 => fields.push(("880", other_script(dice, ARABIC, "(3/r"))),
            2..6 => fields.push(("880", other_script(dice, CHINESE, "$1"))),
            _ => {}
        }
        fields.push((
            "856",
            format!("40\u{1F}uhttps://repository.example.org/marc/{number:08}"),
        ));
        fields
    }

    /// All fields in MARC-8, if every character is in it.
    fn encode(&self, fields: &[(&'static str, String)]) -> Option<Vec<(&'static str, Vec<u8>)>> {
        fields
            .iter()
            .map(|(tag, field)| {
                let mut bytes = Vec::with_capacity(field.len());
                // Every subfield begins and ends in the usual sets.
                for (index, subfield) in field.split('\u{1F}').enumerate() {
                    if index > 0 {
                        bytes.push(0x1F);
                    }
                    bytes.extend(self.encoder.encode(subfield)?);
                }
                Some((*tag, bytes))
            })
            .collect()
    }
}

fn other_script(dice: &mut Dice, words: &[&str], script: &str) -> String {
    let title: Vec<&str> = (0..4).map(|_| dice.pick(words)).collect();
    format!("10\u{1F}6245-01/{script}\u{1F}a{}", title.join(" "))
}

/// A record with right lengths. `leader` is what stands in positions 5 to 9.
pub(crate) fn iso2709(leader: &str, fields: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut directory, mut data) = (String::new(), Vec::new());
    for (tag, field) in fields {
        directory.push_str(&format!("{tag}{:04}{:05}", field.len() + 1, data.len()));
        data.extend_from_slice(field);
        data.push(0x1E);
    }
    let base = 24 + directory.len() + 1;
    let length = base + data.len() + 1;
    let mut record = format!("{length:05}{leader}22{base:05}7a 4500{directory}\u{1E}").into_bytes();
    record.extend(data);
    record.push(0x1D);
    record
}

/// Damages a record as real files are damaged, and says what becomes of it.
fn damaged(dice: &mut Dice, sound: &[u8], fate: Fate) -> (Vec<u8>, Fate) {
    let mut bytes = sound.to_vec();
    let base = 24 + sound[24..].iter().position(|&byte| byte == 0x1E).unwrap_or(0);
    match dice.below(10) {
        // These can be read all the same.
        0 => bytes[..5].copy_from_slice(b"99999"),
        1 => bytes[..5].copy_from_slice(b"00100"),
        2 => bytes[12..17].copy_from_slice(b"00000"),
        3 => bytes[27 + 12 * 8..31 + 12 * 8].copy_from_slice(b"0007"),
        4 => bytes[9] = if bytes[9] == b'a' { b' ' } else { b'a' },
        5 => bytes.extend_from_slice(b"\r\n"),
        // These cannot.
        6 => {
            bytes.truncate(sound.len() / 2);
            return (bytes, Fate::Lost);
        }
        7 => {
            bytes.remove(base - 5);
            return (bytes, Fate::Lost);
        }
        8 => {
            bytes[24..27].copy_from_slice(b"009");
            return (bytes, Fate::Lost);
        }
        _ => {
            // No byte of any encoding, in the publisher's name.
            let lindenau = sound
                .windows(4)
                .position(|window| window == b"Lind")
                .unwrap_or(base + 1);
            bytes[lindenau] = 0xFF;
            return (bytes, Fate::Lost);
        }
    }
    (bytes, fate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_the_same_every_time_and_of_every_kind() {
        let mut generator = Generator::new();
        let (mut marc8, mut deleted, mut lost, mut damaged) = (0, 0, 0, 0);
        for number in 0..2_000 {
            let record = generator.record(number);
            assert_eq!(record.bytes, generator.record(number).bytes);
            marc8 += u64::from(record.is_marc8);
            deleted += u64::from(record.fate == Fate::Deleted);
            lost += u64::from(record.fate == Fate::Lost);
            damaged += u64::from(record.bytes != record.sound);
        }
        assert!((500..1_200).contains(&marc8), "{marc8}");
        assert!((20..65).contains(&deleted), "{deleted}");
        assert!(
            (10..40).contains(&damaged) && (2..20).contains(&lost),
            "{damaged} {lost}"
        );
    }
}
