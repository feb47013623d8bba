//! R: records and what is in them.

mod metadata;

use std::collections::HashSet;

use stook_metadata::namespaces::XML;
use stook_oai::ErrorCode::{BadArgument, NoRecordsMatch};
use stook_oai::Excerpt;

use super::containers;
use super::get_record::SAMPLE;
use crate::validate::document::{Document, Element, Header};
use crate::validate::exchange::Exchange;
use crate::validate::facts::Facts;
use crate::validate::probe::Expect::{Error, SuccessOr};
use crate::validate::probe::{Probe, fill, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};

const PROBES: &[Probe] = &[
    probe("R-2", "verb=ListRecords", Error(&[BadArgument])),
    probe(
        "R-10",
        "verb=ListRecords&metadataPrefix={prefix2}&from={day}&until={day}",
        SuccessOr(&[NoRecordsMatch]),
    ),
    probe(
        "R-12",
        "verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc",
        Error(&[BadArgument]),
    ),
];

/// A check over an answer with records.
type Check = fn(&Exchange, &Document, &Facts) -> Verdict;

/// What is judged in every answer with records.
const EVERY: &[(&str, Check)] = &[("R-8", abouts), ("R-9", ids), ("R-11", have_metadata)];

/// Attributes that are identifiers within a document, by the namespace of their element, beside xml:id.
const IDS: &[(&str, &str)] = &[
    ("http://www.loc.gov/METS/", "ID"),
    ("http://www.loc.gov/mods/v3", "ID"),
    ("http://www.loc.gov/MARC21/slim", "id"),
    ("http://www.loc.gov/premis/v3", "xmlID"),
    ("http://www.clarin.eu/cmd/1", "id"),
    ("http://www.clarin.eu/cmd/", "id"),
    ("urn:isbn:1-931666-22-9", "id"),
    ("http://ead3.archivists.org/schema/", "id"),
];

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let exchange = run.get("verb=ListRecords&metadataPrefix=oai_dc")?;
    run.judge("R-1", has_records(&exchange));
    run.probe_all(PROBES)?;
    for (id, why) in [
        ("R-8", "no record was seen"),
        ("R-9", "no identifier within a document was seen"),
        ("R-11", "no record that is not deleted was seen"),
    ] {
        run.judge(id, Verdict::not_applicable(why));
    }
    metadata::check(run);
    Ok(())
}

/// What is judged in every answer.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange) {
    let Some(document) = exchange
        .document()
        .filter(|document| document.records().next().is_some())
    else {
        return;
    };
    for (id, check) in EVERY {
        let verdict = check(exchange, document, &run.facts);
        run.judge(id, verdict);
    }
    metadata::every(run, exchange, document);
}

fn has_records(exchange: &Exchange) -> Verdict {
    if !exchange.succeeded() && exchange.errors().is_empty() {
        return Verdict::not_applicable(format!("{}, which other checks tell", exchange.in_short()));
    }
    let mut records = exchange.document().into_iter().flat_map(Document::records);
    Verdict::unless(records.next().is_none(), || {
        Found::new(format!("{} instead of records", exchange.in_short())).on(exchange)
    })
}

/// Whether there should be no metadata; what is there all the same is told as that.
fn is_deleted(record: &Element) -> bool {
    record.child("header").is_some_and(|header| Header::of(header).deleted)
}

/// The identifier of a record, for people.
fn name_of(record: &Element) -> String {
    let header = record.child("header").map(Header::of);
    Excerpt(header.as_ref().map_or("", |header| &header.identifier)).to_string()
}

fn abouts(exchange: &Exchange, document: &Document, _: &Facts) -> Verdict {
    let mut found = Vec::new();
    for record in document.records() {
        let flaws = record
            .named("about")
            .filter_map(|about| Some((about, containers::flaw(about)?)));
        found.extend(flaws.map(|(about, flaw)| {
            let came = format!("{flaw} (record {})", name_of(record));
            Found::new(came).on(exchange).at_line(document.line(about))
        }));
    }
    Verdict::of(found)
}

/// Identifiers within a document are unique in all of it, whichever record they are of.
fn ids(exchange: &Exchange, document: &Document, _: &Facts) -> Verdict {
    let mut met = HashSet::new();
    let mut found = Vec::new();
    for record in document.records() {
        record.walk(&mut |element| {
            for id in ids_of(element) {
                if !met.insert(id.to_owned()) {
                    let came = format!("the identifier {} on two elements of one answer", Excerpt(id));
                    found.push(Found::new(came).on(exchange).at_line(document.line(element)));
                }
            }
        });
    }
    match met.is_empty() {
        true => Verdict::not_applicable("no identifier within a document was seen"),
        false => Verdict::of(found),
    }
}

fn ids_of(element: &Element) -> impl Iterator<Item = &str> {
    let known = IDS.iter().filter(|(namespace, _)| *namespace == &*element.namespace);
    let known = known.filter_map(|(_, name)| element.attribute("", name));
    element.attribute(XML, "id").into_iter().chain(known)
}

fn have_metadata(exchange: &Exchange, document: &Document, facts: &Facts) -> Verdict {
    // The sample record has a check of its own.
    if fill(SAMPLE, facts).is_ok_and(|sample| sample == exchange.question.query) {
        return Verdict::not_applicable("no record that is not deleted was seen");
    }
    let bare = document
        .records()
        .filter(|record| !is_deleted(record) && record.child("metadata").is_none());
    let found = bare.map(|record| {
        let came = format!("the record {} without metadata", name_of(record));
        Found::new(came).on(exchange).at_line(document.line(record))
    });
    Verdict::of(found.collect())
}
