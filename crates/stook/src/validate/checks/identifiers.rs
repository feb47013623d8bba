//! L: lists of identifiers.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use stook_oai::ErrorCode::{BadArgument, CannotDisseminateFormat, NoRecordsMatch};
use stook_oai::{Excerpt, Identifier};

use crate::validate::document::{Document, Header};
use crate::validate::exchange::{Exchange, Question};
use crate::validate::facts::Facts;
use crate::validate::gather::pages;
use crate::validate::probe::Expect::{Error, SuccessOr};
use crate::validate::probe::{Probe, encoded, fill, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};

const PROBES: &[Probe] = &[
    probe("L-4", "verb=ListIdentifiers", Error(&[BadArgument])),
    probe(
        "L-5",
        "verb=ListIdentifiers&metadataPrefix={prefix2}",
        SuccessOr(&[NoRecordsMatch]),
    ),
    probe(
        "L-6",
        "verb=ListIdentifiers&metadataPrefix=illegal_mdp",
        Error(&[CannotDisseminateFormat]),
    ),
];

/// The list that everything begins with.
const ALL: &str = "verb=ListIdentifiers&metadataPrefix=oai_dc";
/// Pages of it that are looked at.
const MOST_PAGES: usize = 3;
/// Pages of a slice that is compared; what is longer is no slice.
const MOST_PAGES_OF_A_SLICE: usize = 5;

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let first = run.get(ALL)?;
    let verdict = Verdict::unless(run.facts.sample.is_none(), || {
        let came = match first.succeeded() {
            true => "no record that is not deleted".to_owned(),
            false => first.in_short(),
        };
        Found::new(came).on(&first)
    });
    run.judge("L-1", verdict);
    let verdict = headers(&run.facts);
    run.judge("L-2", verdict);
    if run.facts.sample.is_none() && run.wants("L-1") {
        // Nothing more can be asked; the run ends here.
        return Ok(());
    }
    if run.wants("L-3") {
        let (pages, _) = pages(run, ALL, MOST_PAGES)?;
        run.judge("L-3", no_duplicates(&pages));
    }
    run.probe_all(PROBES)?;
    same_as_records(run)?;
    of_a_set(run)
}

/// What every header has.
fn headers(facts: &Facts) -> Verdict {
    if facts.headers.is_empty() {
        return Verdict::not_applicable("no header was seen");
    }
    let mut told = HashSet::new();
    let mut found = Vec::new();
    for seen in &facts.headers {
        let Some(flaw) = flaw(&seen.header) else {
            continue;
        };
        if told.insert(flaw.clone()) {
            found.push(Found::new(flaw).in_answer(seen.exchange));
        }
    }
    Verdict::of(found)
}

fn flaw(header: &Header) -> Option<String> {
    let identifier = Excerpt(&header.identifier);
    match () {
        () if header.identifier.is_empty() => Some("a header without an identifier".to_owned()),
        () if header.datestamp.is_empty() => Some(format!("the header of {identifier} without a datestamp")),
        () => {
            let invalid = Identifier::parse(header.identifier.as_str()).err()?;
            Some(format!(
                "the identifier {identifier}, which is no URI: {}",
                invalid.flaw
            ))
        }
    }
}

fn no_duplicates(pages: &[Arc<Exchange>]) -> Verdict {
    let mut met = HashSet::new();
    let mut found = Vec::new();
    for page in pages {
        for header in page.document().into_iter().flat_map(Document::headers) {
            let is_new = met.insert(header.identifier.clone());
            // What has no identifier is told as that.
            if !is_new && !header.identifier.is_empty() {
                let came = format!("{} twice in one list", Excerpt(&header.identifier));
                found.push(Found::new(came).on(page));
            }
        }
    }
    Verdict::of(found)
}

/// What a header says, in a form that can be compared.
fn said(header: &Header) -> (String, String, bool, BTreeSet<String>) {
    let sets = header.set_specs.iter().cloned().collect();
    (
        header.identifier.clone(),
        header.datestamp.clone(),
        header.deleted,
        sets,
    )
}

/// Both verbs over the same slice: the records with the datestamp of the sample.
fn same_as_records(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("L-7") {
        return Ok(());
    }
    let slice = "metadataPrefix=oai_dc&from={datestamp}&until={datestamp}";
    let slice = match fill(slice, &run.facts) {
        Ok(slice) => slice,
        Err(why) => {
            run.judge("L-7", Verdict::NotApplicable(why));
            return Ok(());
        }
    };
    let mut lists = Vec::new();
    for verb in ["ListIdentifiers", "ListRecords"] {
        let (pages, is_all) = pages(run, &format!("verb={verb}&{slice}"), MOST_PAGES_OF_A_SLICE)?;
        if !is_all && !is_empty(&pages) {
            let why = format!("{verb} of one datestamp has more than {MOST_PAGES_OF_A_SLICE} pages, or no answer");
            run.judge("L-7", Verdict::NotApplicable(why));
            return Ok(());
        }
        lists.push(pages);
    }
    let verdict = match lists.iter().all(|pages| is_empty(pages)) {
        true => Verdict::not_applicable("nothing has the datestamp of the record, which other checks tell"),
        false => compare(&lists[0], &lists[1]),
    };
    run.judge("L-7", verdict);
    Ok(())
}

/// Whether a list has nothing in it, which is an error of its own.
fn is_empty(pages: &[Arc<Exchange>]) -> bool {
    let first = pages.first().and_then(|page| page.document());
    first.is_some_and(|document| document.has_error(NoRecordsMatch))
}

fn compare(identifiers: &[Arc<Exchange>], records: &[Arc<Exchange>]) -> Verdict {
    let headers = |pages: &[Arc<Exchange>]| -> BTreeSet<_> {
        let documents = pages.iter().filter_map(|page| page.document());
        documents
            .flat_map(Document::headers)
            .map(|header| said(&header))
            .collect()
    };
    let (ours, theirs) = (headers(identifiers), headers(records));
    let difference = ours.symmetric_difference(&theirs).next();
    let found = difference.map(|header| {
        let (here, there) = match ours.contains(header) {
            true => ("ListIdentifiers", "ListRecords"),
            false => ("ListRecords", "ListIdentifiers"),
        };
        let came = format!("{} in {here} and not, or otherwise, in {there}", Excerpt(&header.0));
        Found::new(came).on(&identifiers[0]).on(&records[0])
    });
    Verdict::of(found.into_iter().collect())
}

fn of_a_set(run: &mut Run<'_>) -> Result<(), Stop> {
    let listed = run.facts.sets.iter().flatten().map(|set| &set.spec);
    let spec = run
        .facts
        .set_spec
        .as_ref()
        .or_else(|| listed.into_iter().next())
        .cloned();
    match spec {
        Some(spec) => {
            let question = Question::get(format!("{ALL}&set={}", encoded(&spec)));
            run.expect("L-8", question, &SuccessOr(&[NoRecordsMatch]))?;
        }
        None => run.judge("L-8", Verdict::not_applicable("the repository lists no sets")),
    }
    Ok(())
}
