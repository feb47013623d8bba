//! What can be put right mechanically, as a mapping from `oai_dc` to `oai_dc`.
//!
//! The mapping says nothing that was not met: tables have the values that were found, and what is in no table stays as
//! it is. So whoever reads it sees everything it will do.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::several;
use super::types::{DCMI_TYPES, VOCABULARIES};
use super::{Code, characters, dates, languages, markup, says_nothing, types};
use crate::dublin_core::Element;

/// Rows of one table; whoever has more starts with these.
const MAX_ROWS: usize = 10_000;
/// Replacements in one line; more can be read by nobody.
const MAX_REPLACEMENTS: usize = 100;

const HEAD: &str = "\
# Offered by `stook quality`. It does nothing by itself: read it, change it, take out what you do not want, then
#   stook import --mapping FILE records.csv
# A record to which nothing of this applies is published as it was given. In the others, elements come in this order, and
# an element without a line here is left out.
map oai_dc to oai_dc

";

/// What was met that a mapping could put right.
#[derive(Debug, Clone, Default)]
pub struct Fixes {
    elements: BTreeMap<Element, Fix>,
    /// Words and the DCMI types that are meant.
    types: Table,
}

/// What could be done with one element.
#[derive(Debug, Clone, Default)]
struct Fix {
    /// References, that of `&` last; then tags; then characters.
    references: BTreeMap<String, String>,
    tags: BTreeMap<String, String>,
    characters: BTreeMap<String, String>,
    separators: BTreeSet<&'static str>,
    /// Separators that also stand where they separate nothing.
    torn: BTreeSet<&'static str>,
    table: Table,
    /// Values that say nothing.
    nothing: BTreeSet<String>,
}

/// Values and what they should be.
#[derive(Debug, Clone, Default)]
struct Table {
    rows: BTreeMap<String, String>,
    left_out: u64,
}

impl Table {
    fn add(&mut self, value: &str, better: Option<String>) {
        let Some(better) = better else { return };
        // A star would make a pattern of it.
        if value.contains('*') || value == better || self.rows.contains_key(value) {
            return;
        }
        if self.rows.len() == MAX_ROWS {
            self.left_out += 1;
            return;
        }
        self.rows.insert(value.to_owned(), better);
    }

    fn write(&self, name: &str, keeps_others: bool, text: &mut String) {
        if self.rows.is_empty() {
            return;
        }
        let _ = writeln!(text, "\ntable {name}");
        for (value, better) in &self.rows {
            let _ = writeln!(text, "    {} -> {}", quoted(value), quoted(better));
        }
        if keeps_others {
            text.push_str("    * -> *\n");
        }
        if self.left_out > 0 {
            let more = self.left_out;
            let _ = writeln!(
                text,
                "    # {more} times more there was a value for which there is no room here."
            );
        }
    }
}

impl Fixes {
    /// Notes a value, and what could be done with it. Every value has to be noted, those that are fine too: they tell
    /// which signs must not be split by.
    pub(super) fn note(&mut self, element: Element, value: &str, needs_type: bool, only: Option<Code>) {
        let is_wanted = |code| only.is_none_or(|only| only == code);
        let fix = self.elements.entry(element).or_default();
        if says_nothing(value) {
            if is_wanted(Code::EmptyValue) {
                fix.nothing.insert(value.to_owned());
            }
            return;
        }
        let mut text = value.to_owned();
        if is_wanted(Code::Markup) && value.contains(['&', '<']) {
            text = fix.without_markup(&text);
        }
        if is_wanted(Code::Characters) && characters::are_broken(&text) {
            text = fix.with_characters_mended(&text);
        }
        let mut sign = "\n";
        if is_wanted(Code::SeveralValues) {
            if let Some(separated) = several::separated(element, &text) {
                sign = separated.sign;
                fix.separators.insert(sign);
            }
            fix.note_torn(element, &text);
        } else if several::separated(element, &text).is_some() {
            return;
        }
        for part in several::parts(&text, sign) {
            match element {
                Element::Date if is_wanted(Code::DateForm) && !dates::is_recommended(part) => {
                    fix.table.add(part, dates::mended(part));
                }
                Element::Language if is_wanted(Code::LanguageCode) && !languages::is_recommended(part) => {
                    fix.table.add(part, languages::mended(part));
                }
                Element::Type if needs_type => {
                    self.types.add(part, types::mended(part).map(str::to_owned));
                }
                _ => {}
            }
        }
    }

    /// The mapping; none if there is nothing that it could put right.
    #[must_use]
    pub fn mapping(&self) -> Option<String> {
        let offers = self.elements.values().any(Fix::offers) || !self.types.rows.is_empty();
        if !offers {
            return None;
        }
        let mut text = HEAD.to_owned();
        for element in Element::ALL {
            self.write_element(element, &mut text);
        }
        for (element, name) in [(Element::Date, "dates"), (Element::Language, "languages")] {
            if let Some(fix) = self.elements.get(&element) {
                fix.table.write(name, true, &mut text);
            }
        }
        self.types.write("types", false, &mut text);
        Some(text)
    }

    fn write_element(&self, element: Element, text: &mut String) {
        let name = element.as_str();
        let fix = self.elements.get(&element).filter(|fix| fix.offers());
        for sign in self.elements.get(&element).into_iter().flat_map(Fix::torn) {
            let sign = quoted(sign);
            let _ = writeln!(
                text,
                "# {name} is not split by {sign}, which stands inside some of the values too."
            );
        }
        let words = fix.map(|fix| fix.words(element)).unwrap_or_default();
        match fix {
            Some(_) => drop(writeln!(text, "{name} -> {name}{words}  with @xml:lang")),
            None => drop(writeln!(text, "copy {name}")),
        }
        if element == Element::Type && !self.types.rows.is_empty() {
            let is_known = DCMI_TYPES.map(|known| format!("\"{known}\"")).join("|");
            let begins = VOCABULARIES.map(|known| format!("\"{known}*\"")).join("|");
            let _ = writeln!(
                text,
                ". => .  when not type = {is_known} and not type like {begins}\n    type -> type{words}  table types  distinct"
            );
        }
    }
}

impl Fix {
    fn without_markup(&mut self, text: &str) -> String {
        let pairs = markup::replacements(text);
        for (old, new) in &pairs {
            let place = match old.starts_with('&') {
                true => &mut self.references,
                false => &mut self.tags,
            };
            if place.len() < MAX_REPLACEMENTS {
                place.insert(old.clone(), new.clone());
            }
        }
        let plain = markup::apply(text, &pairs);
        if self.tags.is_empty() {
            return plain;
        }
        let blanks = markup::BLANKS.iter();
        blanks.fold(plain, |text, (old, new)| text.replace(old, new))
    }

    fn with_characters_mended(&mut self, text: &str) -> String {
        let mut mended = text.to_owned();
        for garbled in characters::garbled(text) {
            mended = mended.replace(&garbled.text, &garbled.meant);
            if self.characters.len() < MAX_REPLACEMENTS {
                self.characters.insert(garbled.text, garbled.meant);
            }
        }
        mended
    }

    fn note_torn(&mut self, element: Element, text: &str) {
        for sign in several::SIGNS.into_iter().chain([" / ", "/", ","]) {
            if text.contains(sign) && several::is_torn_by(element, text, sign) {
                self.torn.insert(sign);
            }
        }
    }

    /// Separators that were met, but cannot be split by.
    fn torn(&self) -> impl Iterator<Item = &'static str> {
        self.separators.intersection(&self.torn).copied()
    }

    fn offers(&self) -> bool {
        !(self.references.is_empty()
            && self.tags.is_empty()
            && self.characters.is_empty()
            && self.separators.is_subset(&self.torn)
            && self.table.rows.is_empty()
            && self.nothing.is_empty())
    }

    /// The words of its line.
    fn words(&self, element: Element) -> String {
        let mut words = String::new();
        let (last, first): (Vec<_>, Vec<_>) = self.references.iter().partition(|(_, meant)| *meant == "&");
        let pairs = first.into_iter().chain(last).chain(&self.tags).chain(&self.characters);
        for (old, new) in pairs {
            let _ = write!(words, "  replace {} {}", quoted(old), quoted(new));
        }
        if !self.tags.is_empty() {
            for (old, new) in markup::BLANKS {
                let _ = write!(words, "  replace {} {}", quoted(old), quoted(new));
            }
            words.push_str("  trim \"\"");
        }
        for sign in self.separators.difference(&self.torn) {
            let _ = write!(words, "  split {}", quoted(sign));
        }
        let table = match element {
            Element::Date => "dates",
            _ => "languages",
        };
        if !self.table.rows.is_empty() {
            let _ = write!(words, "  table {table}");
        }
        // An empty value is left out without being told to.
        let nothing: Vec<String> = self
            .nothing
            .iter()
            .filter(|value| !value.is_empty())
            .map(|value| quoted(value))
            .collect();
        if !nothing.is_empty() {
            let _ = write!(words, "  unless . = {}", nothing.join("|"));
        }
        words
    }
}

/// A text in quotation marks, as mappings are written.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
