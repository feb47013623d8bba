//! Records for tests and measurements.
//!
//! What enters is a number, what leaves is one JSON line as `stook import`
//! reads it. A record is a function of its number alone, so every run, every
//! machine and every peer sees the same repository. Nothing here reads a clock
//! or the system's randomness.

pub(crate) mod marc;
mod words;

use std::io::{self, Write};

use words::{Vocabulary, vocabularies};

/// Holds about 30% of all records, three levels deep.
pub(crate) const BIG_SET: &str = "articles:journal:open";
/// A parent whose records all sit two levels further down.
pub(crate) const PARENT_SET: &str = "photographs";
/// One record in 2,500, spread evenly.
pub(crate) const RARE_SET: &str = "maps:historic:globes";
/// One record in 10,000, spread evenly: the worst case for an index by set.
pub(crate) const RAREST_SET: &str = "maps:historic:portolans";

/// Sets and how many of 100 records they hold; the rest of 100 has none.
const SETS: &[(&str, u64)] = &[
    (BIG_SET, 30),
    ("articles:journal:closed", 9),
    ("articles:proceedings:workshop", 5),
    ("photographs:city:berlin", 7),
    ("photographs:city:praha", 6),
    ("photographs:city:beograd", 5),
    ("photographs:land:alpine", 4),
    ("theses:doctoral:law", 6),
    ("theses:doctoral:medicine", 8),
    ("theses:master:physics", 6),
    ("maps:historic:sheets", 7),
    ("maps:modern:survey", 5),
];

/// Writes records `first..last` to `out`, one JSON line each.
///
/// # Errors
/// Only those of `out`.
pub(crate) fn write(out: &mut impl Write, first: u64, last: u64) -> io::Result<()> {
    let vocabularies = vocabularies();
    let mut line = String::with_capacity(4096);
    for number in first..last {
        line.clear();
        push_record(&mut line, &vocabularies, number);
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Writes every `step`-th record below `last` with another title.
///
/// # Errors
/// Only those of `out`.
pub(crate) fn write_changed(out: &mut impl Write, last: u64, step: usize) -> io::Result<()> {
    let vocabularies = vocabularies();
    let mut line = String::with_capacity(4096);
    for number in (0..last).step_by(step) {
        line.clear();
        push_record(&mut line, &vocabularies, number);
        out.write_all(
            line.replacen("\"title\":[\"", "\"title\":[\"Second edition: ", 1)
                .as_bytes(),
        )?;
    }
    Ok(())
}

/// Writes the deletion of every `step`-th record below `last`.
///
/// # Errors
/// Only those of `out`.
pub(crate) fn write_deletions(out: &mut impl Write, last: u64, step: usize) -> io::Result<()> {
    for number in (0..last).step_by(step) {
        let sets = sets_of(number).join("\",\"");
        let sets = if sets.is_empty() {
            String::new()
        } else {
            format!("\"{sets}\"")
        };
        writeln!(
            out,
            "{{\"identifier\":\"{}\",\"sets\":[{sets}],\"deleted\":true}}",
            local_identifier(number)
        )?;
    }
    Ok(())
}

fn local_identifier(number: u64) -> String {
    format!("record/{number:08}")
}

/// The sets of a record: usually one, sometimes a second, sometimes none.
fn sets_of(number: u64) -> Vec<&'static str> {
    if number % 10_000 == 7_777 {
        return vec![RAREST_SET];
    }
    if number % 2_500 == 1_234 {
        return vec![RARE_SET];
    }
    let mut dice = Dice::new(number ^ 0x5e75);
    let mut sets: Vec<_> = weighted_set(dice.below(100)).into_iter().collect();
    if dice.below(10) == 0 {
        sets.extend(weighted_set(dice.below(100)).filter(|set| !sets.contains(set)));
    }
    sets
}

fn weighted_set(mut roll: u64) -> Option<&'static str> {
    for (set, share) in SETS {
        if roll < *share {
            return Some(set);
        }
        roll -= share;
    }
    None
}

fn push_record(line: &mut String, vocabularies: &[Vocabulary], number: u64) {
    let mut dice = Dice::new(number);
    let words = &vocabularies[dice.index(vocabularies.len())];
    line.push_str("{\"identifier\":\"");
    line.push_str(&local_identifier(number));
    line.push('"');
    push_list(line, "sets", sets_of(number).into_iter().map(str::to_owned));
    push_list(line, "title", [title(&mut dice, words)]);
    let creators = 1 + dice.below(3);
    push_list(line, "creator", (0..creators).map(|_| name(&mut dice, words)));
    push_subjects(line, &mut dice, words);
    let sentences = dice.below(3);
    push_list(line, "description", [text(&mut dice, words, sentences)]);
    push_list(line, "publisher", [dice.pick(words.publishers).to_owned()]);
    if dice.below(4) == 0 {
        push_list(line, "contributor", [name(&mut dice, words)]);
    }
    push_facts(line, &mut dice, words, number);
    line.push_str("}\n");
}

/// Dates, types and identifiers: what repeats from record to record.
fn push_facts(line: &mut String, dice: &mut Dice, words: &Vocabulary, number: u64) {
    let year = 1480 + dice.below(546);
    push_list(
        line,
        "date",
        [format!("{year}-{:02}-{:02}", 1 + dice.below(12), 1 + dice.below(28))],
    );
    let (kind, format) = dice.pick(&[
        ("article", "application/pdf"),
        ("doctoralThesis", "application/pdf"),
        ("Image", "image/tiff"),
        ("StillImage", "image/jpeg"),
        ("map", "image/jp2"),
    ]);
    push_list(line, "type", [kind.to_owned()]);
    push_list(line, "format", [format.to_owned()]);
    push_list(
        line,
        "dc:identifier",
        [
            format!(
                "https://repository.example.org/objects/{number:08}?view=full&lang={}",
                words.language.code
            ),
            format!("https://doi.org/10.5072/stook.{:x}", dice.next() >> 32),
        ],
    );
    push_list(line, "language", [words.language.code.to_owned()]);
    if dice.below(3) == 0 {
        push_list(line, "relation", [format!("urn:nbn:de:gbv:{}", dice.next() >> 36)]);
    }
    if dice.below(3) == 0 {
        push_list(
            line,
            "coverage",
            [text(dice, words, 0), format!("{year}/{}", year + 30)],
        );
    }
    push_list(
        line,
        "rights",
        ["https://creativecommons.org/licenses/by/4.0/".to_owned()],
    );
}

fn push_subjects(line: &mut String, dice: &mut Dice, words: &Vocabulary) {
    line.push_str(",\"subject\":[");
    for at in 0..2 + dice.below(3) {
        if at > 0 {
            line.push(',');
        }
        line.push_str("{\"value\":");
        push_json(line, &phrase(dice, words, 2));
        line.push_str(",\"lang\":");
        push_json(line, words.language.code);
        line.push('}');
    }
    line.push(']');
}

fn title(dice: &mut Dice, words: &Vocabulary) -> String {
    let length = 5 + dice.below(6);
    let mut title = phrase(dice, words, length);
    if dice.below(5) == 0 {
        // Markup characters belong into every measurement of escaping.
        title.push_str(" <");
        title.push_str(&phrase(dice, words, 2));
        title.push_str("> & ");
        title.push_str(&phrase(dice, words, 3));
    }
    title
}

fn name(dice: &mut Dice, words: &Vocabulary) -> String {
    let separator = if words.language.space.is_empty() { " " } else { ", " };
    format!(
        "{}{separator}{}",
        dice.pick(&words.surnames),
        dice.pick(&words.given_names)
    )
}

/// A few words, and then `sentences` sentences.
fn text(dice: &mut Dice, words: &Vocabulary, sentences: u64) -> String {
    let mut text = phrase(dice, words, 4);
    for _ in 0..sentences {
        text.push_str(words.language.full_stop);
        text.push_str(words.language.space);
        let length = 8 + dice.below(8);
        text.push_str(&phrase(dice, words, length));
    }
    text
}

fn phrase(dice: &mut Dice, words: &Vocabulary, length: u64) -> String {
    let mut phrase = String::new();
    for at in 0..length {
        if at > 0 {
            phrase.push_str(words.language.space);
        }
        phrase.push_str(dice.pick(&words.words));
    }
    phrase
}

fn push_list(line: &mut String, key: &str, values: impl IntoIterator<Item = String>) {
    line.push_str(",\"");
    line.push_str(key);
    line.push_str("\":[");
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        push_json(line, &value);
    }
    line.push(']');
}

/// The vocabulary holds no control characters, so quotes and backslashes are
/// all that JSON needs escaped.
fn push_json(line: &mut String, text: &str) {
    line.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            line.push('\\');
        }
        line.push(character);
    }
    line.push('"');
}

/// SplitMix64: small, even and the same everywhere.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_json_and_the_same_every_time() {
        let mut once = Vec::new();
        write(&mut once, 0, 500).unwrap();
        let mut twice = Vec::new();
        write(&mut twice, 0, 500).unwrap();
        assert_eq!(once, twice);
        for line in String::from_utf8(once).unwrap().lines() {
            serde_json::from_str::<serde_json::Value>(line).unwrap();
        }
    }

    #[test]
    fn sets_hold_the_shares_they_promise() {
        let mut big = 0;
        let mut rare = 0;
        for number in 0..100_000 {
            let sets = sets_of(number);
            big += usize::from(sets.contains(&BIG_SET));
            rare += usize::from(sets.contains(&RAREST_SET));
        }
        assert!((27_000..36_000).contains(&big), "{big}");
        assert_eq!(rare, 10);
    }
}
