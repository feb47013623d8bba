//! Q: whether records say what they could, by what communities recommend. None of it is about the protocol.

mod profiles;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use stook_metadata::quality::{self, Code};

use crate::validate::document::Document;
use crate::validate::facts::{Facts, SeenRecord};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// So many records are looked at.
const SAMPLE: usize = 50;
/// A share of filled elements below this is worth a word, in per cent.
const COMPLETE: usize = 80;
/// Of values so many characters are shown.
const SHOWN: usize = 80;

/// A record of oai_dc that was read.
struct Described<'a> {
    record: &'a SeenRecord,
    /// Local names and values, with all blanks.
    values: Vec<(String, String)>,
}

type Judge = fn(&[Described<'_>]) -> Verdict;

const CHECKS: &[(&str, Judge)] = &[
    ("Q-1", has_the_minimum),
    ("Q-2", |records| recommended(records, &[Code::DateForm])),
    ("Q-3", |records| recommended(records, &[Code::LanguageCode])),
    ("Q-4", leads_somewhere),
    ("Q-5", |records| recommended(records, &[Code::Characters])),
    ("Q-6", no_placeholders),
    ("Q-7", completeness),
    ("Q-8", plausible_values),
    ("Q-9", plain_values),
];

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    if CHECKS.iter().any(|(id, _)| run.wants(id)) {
        // Nearly always it was asked before.
        run.get("verb=ListRecords&metadataPrefix=oai_dc")?;
    }
    for (id, verdict) in verdicts(&run.facts) {
        run.judge(id, verdict);
    }
    profiles::check(run)
}

fn verdicts(facts: &Facts) -> Vec<(&'static str, Verdict)> {
    let records: Vec<Described<'_>> = facts
        .records
        .iter()
        .filter(|record| record.prefix == "oai_dc" && !record.metadata.is_empty() && !record.header.deleted)
        .filter_map(Described::of)
        .take(SAMPLE)
        .collect();
    let judged = CHECKS.iter().map(|(id, judge)| match records.is_empty() {
        true => (*id, Verdict::not_applicable("no record of oai_dc could be read")),
        false => (*id, judge(&records)),
    });
    judged.collect()
}

impl<'a> Described<'a> {
    fn of(record: &'a SeenRecord) -> Option<Described<'a>> {
        let root = Document::read(record.metadata.as_bytes()).root?;
        let values = root
            .elements()
            .map(|element| (element.local().to_owned(), element.exact_text()))
            .collect();
        Some(Described { record, values })
    }

    /// The values of an element, without blanks at their ends.
    fn values(&self, element: &'a str) -> impl Iterator<Item = &str> {
        let own = self.values.iter().filter(move |(name, _)| name == element);
        own.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    fn has(&self, element: &'a str) -> bool {
        self.values(element).next().is_some()
    }

    fn identifier(&self) -> &str {
        &self.record.header.identifier
    }
}

/// A value, for people.
fn shown(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &value[..end]),
        None => format!("{value:?}"),
    }
}

/// One finding for all records that have a fault: how many, and the first of them as an example.
fn together(records: &[Described<'_>], fault: impl Fn(&Described<'_>) -> Option<String>) -> Option<Found> {
    let faults: Vec<(&Described<'_>, String)> = records
        .iter()
        .filter_map(|record| Some((record, fault(record)?)))
        .collect();
    let (first, example) = faults.first()?;
    let came = format!(
        "{} of {} records, such as {}: {example}",
        faults.len(),
        records.len(),
        first.identifier()
    );
    Some(Found::new(came).in_answer(first.record.exchange))
}

fn verdict(found: Option<Found>) -> Verdict {
    Verdict::of(found.into_iter().collect())
}

/// What `stook quality` would say too.
fn recommended(records: &[Described<'_>], codes: &[Code]) -> Verdict {
    verdict(together(records, |record| {
        let mut example = None;
        let _ = quality::look(&record.record.metadata, &mut |finding| {
            if !codes.contains(&finding.code) {
                return ControlFlow::Continue(());
            }
            let value = shown(finding.value.unwrap_or_default());
            example = Some(format!("{} is {value}", finding.element.as_str()));
            ControlFlow::Break(())
        });
        example
    }))
}

fn has_the_minimum(records: &[Described<'_>]) -> Verdict {
    const MINIMUM: [&str; 5] = ["title", "creator", "date", "type", "identifier"];
    let missing =
        |record: &Described<'_>| -> Vec<&str> { MINIMUM.into_iter().filter(|element| !record.has(element)).collect() };
    let lacking = records.iter().filter(|record| !missing(record).is_empty()).count();
    let found = together(records, |record| {
        let missing = missing(record);
        (!missing.is_empty()).then(|| format!("no {}", missing.join(", no ")))
    });
    // Of some things nobody knows who made them, or when.
    let is_rare = lacking * 100 < records.len() * (100 - COMPLETE);
    verdict(found.map(|found| match is_rare {
        true => found.with_severity(Severity::Info),
        false => found,
    }))
}

fn is_link(value: &str) -> bool {
    value.starts_with("http://") || value.starts_with("https://")
}

/// Each record has a link, and not all the same one.
fn leads_somewhere(records: &[Described<'_>]) -> Verdict {
    let without = together(records, |record| {
        let has_link = record.values("identifier").any(is_link);
        let value = record
            .values("identifier")
            .next()
            .map_or("no identifier".to_owned(), shown);
        (!has_link).then_some(value)
    });
    if without.is_some() {
        return verdict(without);
    }
    let first = records[0]
        .values("identifier")
        .find(|value| is_link(value))
        .unwrap_or_default();
    let is_everywhere = records.len() > 1
        && records
            .iter()
            .all(|record| record.values("identifier").any(|value| value == first));
    Verdict::unless(is_everywhere, || {
        let came = format!("all {} records have the link {}", records.len(), shown(first));
        Found::new(came).in_answer(records[0].record.exchange)
    })
}

/// 123456789 is the prefix that DSpace has until somebody sets one.
fn no_placeholders(records: &[Described<'_>]) -> Verdict {
    verdict(together(records, |record| {
        let mut identifiers = record.values("identifier");
        identifiers
            .find(|value| value.contains("/123456789/") || value.contains("hdl:123456789/"))
            .map(shown)
    }))
}

/// How much of what harvesters show is there.
fn completeness(records: &[Described<'_>]) -> Verdict {
    const WANTED: [&str; 7] = [
        "title",
        "creator",
        "date",
        "identifier",
        "description",
        "publisher",
        "language",
    ];
    let filled: BTreeMap<&str, usize> = WANTED
        .into_iter()
        .map(|element| (element, records.iter().filter(|record| record.has(element)).count()))
        .collect();
    let share = filled.values().sum::<usize>() * 100 / (records.len() * WANTED.len());
    Verdict::unless(share < COMPLETE, || {
        let rare: Vec<String> = filled
            .iter()
            .filter(|(_, count)| **count * 100 < records.len() * COMPLETE)
            .map(|(element, count)| format!("{element} in {count}"))
            .collect();
        let came = format!("{share}% are filled; of {} records {}", records.len(), rare.join(", "));
        Found::new(came).in_answer(records[0].record.exchange)
    })
}

fn plausible_values(records: &[Described<'_>]) -> Verdict {
    verdict(together(records, |record| {
        let shorter = |element: &'static str, least: usize| {
            let mut values = record.values(element);
            values
                .find(|value| !is_long(value, least))
                .map(|value| format!("{element} is {}", shown(value)))
        };
        let bad_doi = || {
            let mut identifiers = record.values("identifier").chain(record.values("relation"));
            identifiers
                .find(|value| is_bad_doi(value))
                .map(|value| format!("{} is no DOI", shown(value)))
        };
        shorter("title", 5).or_else(|| shorter("creator", 3)).or_else(bad_doi)
    }))
}

/// Whether a text has so many letters; one in a script whose signs are words has fewer.
fn is_long(text: &str, least: usize) -> bool {
    let signs = text.chars().filter(|sign| !sign.is_whitespace()).count();
    let is_ideographic = text.chars().any(|sign| u32::from(sign) >= 0x2E80);
    signs >= if is_ideographic { 1 } else { least }
}

/// Something that is called a DOI and has not the form of one: 10., four to nine digits, a slash, something.
fn is_bad_doi(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let beginnings = [
        "doi:",
        "https://doi.org/",
        "http://doi.org/",
        "https://dx.doi.org/",
        "http://dx.doi.org/",
    ];
    let Some(doi) = beginnings.iter().find_map(|beginning| lower.strip_prefix(beginning)) else {
        return false;
    };
    let parts = doi.trim().strip_prefix("10.").and_then(|rest| rest.split_once('/'));
    let is_registrant = |text: &str| {
        let digits = text.split('.').next().unwrap_or_default();
        (4..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    !parts.is_some_and(|(registrant, rest)| is_registrant(registrant) && !rest.is_empty())
}

/// No markup, nothing empty; blanks at the ends are merely untidy.
fn plain_values(records: &[Described<'_>]) -> Verdict {
    let marked = recommended(records, &[Code::Markup, Code::EmptyValue]);
    let untidy = together(records, |record| {
        let values = record.values.iter();
        let mut untidy = values.filter(|(_, value)| !value.trim().is_empty() && value.trim() != value);
        untidy
            .next()
            .map(|(element, value)| format!("{element} is {}", shown(value)))
    });
    match (marked, untidy) {
        (Verdict::Broken(mut found), untidy) => {
            found.extend(untidy.map(|found| found.with_severity(Severity::Rec)));
            Verdict::Broken(found)
        }
        (_, untidy) => verdict(untidy.map(|found| found.with_severity(Severity::Rec))),
    }
}

/// The sets that are listed, by their specs.
fn set_specs(facts: &Facts) -> BTreeSet<&str> {
    facts.sets.iter().flatten().map(|set| set.spec.as_str()).collect()
}
