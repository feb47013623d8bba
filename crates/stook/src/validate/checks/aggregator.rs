//! AG: what an aggregator must keep in mind, as far as its records show it. An aggregator is known by the provenance that
//! its records carry.

use std::collections::HashSet;

use stook_oai::Granularity;

use crate::validate::document::Document;
use crate::validate::facts::{Facts, SeenRecord, granularity_of, read_datestamp};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

const PROVENANCE: &str = "http://www.openarchives.org/OAI/2.0/provenance";
/// Clocks differ: a local datestamp may be so much before the date that the source's clock showed, in seconds.
const CLOCKS_DIFFER: i64 = 86_400;
const MOST_TOLD: usize = 5;
const NO_AGGREGATOR: &str = "no record that was seen has provenance, so this is no aggregator";

/// A record and where it says that it comes from.
struct Aggregated<'a> {
    record: &'a SeenRecord,
    harvest_date: String,
    altered: bool,
    identifier: String,
    datestamp: String,
    namespace: String,
}

type Judge = fn(&[Aggregated<'_>], &Facts) -> Verdict;

const CHECKS: &[(&str, Judge)] = &[
    ("AG-1", own_datestamps),
    ("AG-2", one_granularity),
    ("AG-3", own_identifiers),
    ("AG-4", true_provenance),
];

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    if !CHECKS.iter().any(|(id, _)| run.wants(id)) {
        return Ok(());
    }
    run.get("verb=ListRecords&metadataPrefix=oai_dc")?;
    let aggregated: Vec<Aggregated<'_>> = run.facts.records.iter().filter_map(Aggregated::of).collect();
    let verdicts: Vec<Verdict> = CHECKS
        .iter()
        .map(|(_, judge)| match aggregated.is_empty() {
            true => Verdict::not_applicable(NO_AGGREGATOR),
            false => judge(&aggregated, &run.facts),
        })
        .collect();
    for ((id, _), verdict) in CHECKS.iter().zip(verdicts) {
        run.judge(id, verdict);
    }
    Ok(())
}

impl<'a> Aggregated<'a> {
    fn of(record: &'a SeenRecord) -> Option<Aggregated<'a>> {
        let mut roots = record
            .about
            .iter()
            .filter_map(|about| Document::read(about.as_bytes()).root);
        let provenance = roots.find(|root| root.is(PROVENANCE, "provenance"))?;
        let origin = provenance.child("originDescription")?;
        let text = |name: &str| origin.text_of(name).unwrap_or_default();
        Some(Aggregated {
            record,
            harvest_date: origin.attribute("", "harvestDate").unwrap_or_default().to_owned(),
            altered: matches!(origin.attribute("", "altered"), Some("true" | "1")),
            identifier: text("identifier"),
            datestamp: text("datestamp"),
            namespace: text("metadataNamespace"),
        })
    }

    fn found(&self, came: String) -> Found {
        Found::new(came).in_answer(self.record.exchange)
    }
}

/// Broken where a record is, a few times at most.
fn each(aggregated: &[Aggregated<'_>], judge: impl Fn(&Aggregated<'_>) -> Option<Found>) -> Verdict {
    Verdict::of(aggregated.iter().filter_map(judge).take(MOST_TOLD).collect())
}

/// A record is stamped when it becomes available here, which is not before it was harvested.
fn own_datestamps(aggregated: &[Aggregated<'_>], _: &Facts) -> Verdict {
    each(aggregated, |one| {
        let own = &one.record.header.datestamp;
        let (here, harvested) = (read_datestamp(own)?, read_datestamp(&one.harvest_date)?);
        let is_copied = *own == one.datestamp;
        // The day of a datestamp may have begun a day before.
        let slack = match granularity_of(own)? {
            Granularity::Day => 2 * CLOCKS_DIFFER,
            Granularity::Second => CLOCKS_DIFFER,
        };
        (here.unix() + slack < harvested.unix()).then(|| {
            let copied = if is_copied { ", copied from its source" } else { "" };
            let identifier = &one.record.header.identifier;
            one.found(format!(
                "{identifier} is stamped {own}{copied}, but was harvested {}",
                one.harvest_date
            ))
        })
    })
}

fn one_granularity(aggregated: &[Aggregated<'_>], facts: &Facts) -> Verdict {
    let own = facts.granularity();
    each(aggregated, |one| {
        let datestamp = &one.record.header.datestamp;
        (granularity_of(datestamp)? != own).then(|| {
            let identifier = &one.record.header.identifier;
            one.found(format!(
                "{identifier} is stamped {datestamp}, in another granularity than Identify says"
            ))
        })
    })
}

/// What was altered is another item than what the identifier names.
fn own_identifiers(aggregated: &[Aggregated<'_>], _: &Facts) -> Verdict {
    each(aggregated, |one| {
        let identifier = &one.record.header.identifier;
        (one.altered && *identifier == one.identifier).then(|| {
            one.found(format!(
                "{identifier} is said to be altered and keeps the identifier of its source"
            ))
        })
    })
}

/// Records from one place all say so, and those of another format than their source's say that they were altered.
fn true_provenance(aggregated: &[Aggregated<'_>], facts: &Facts) -> Verdict {
    let places: HashSet<&str> = aggregated
        .iter()
        .filter_map(|one| namespace_of(&one.record.header.identifier))
        .collect();
    let with: HashSet<*const SeenRecord> = aggregated.iter().map(|one| std::ptr::from_ref(one.record)).collect();
    let silent = facts.records.iter().filter(|record| {
        let place = namespace_of(&record.header.identifier);
        !record.header.deleted
            && place.is_some_and(|place| places.contains(place))
            && !with.contains(&std::ptr::from_ref(*record))
    });
    let mut found: Vec<Found> = silent
        .take(MOST_TOLD)
        .map(|record| {
            let came = format!(
                "{} has no provenance, others of its namespace have",
                record.header.identifier
            );
            Found::new(came)
                .in_answer(record.exchange)
                .with_severity(Severity::Warn)
        })
        .collect();
    let crossed = aggregated.iter().filter_map(|one| {
        let root = Document::read(one.record.metadata.as_bytes()).root?;
        let is_crossed = !one.altered && !one.namespace.is_empty() && *root.namespace != *one.namespace;
        is_crossed.then(|| {
            let (identifier, namespace) = (&one.record.header.identifier, &one.namespace);
            one.found(format!(
                "{identifier} was {namespace:?} at its source and is said not to be altered"
            ))
        })
    });
    found.extend(crossed.take(MOST_TOLD));
    Verdict::of(found)
}

/// The namespace of an oai-identifier.
fn namespace_of(identifier: &str) -> Option<&str> {
    identifier.strip_prefix("oai:")?.split(':').next()
}
