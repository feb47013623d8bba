//! Z: deleted records.

use std::collections::HashSet;

use stook_oai::{Datestamp, Excerpt};

use crate::validate::document::{Document, Header};
use crate::validate::exchange::Exchange;
use crate::validate::facts::{Facts, read_datestamp};
use crate::validate::gather::pages;
use crate::validate::probe::encoded;
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// Pages that are read to find a record again.
const MOST_PAGES: usize = 3;
/// So many records, over so many seconds, without one deletion are remarkable.
const LARGE: u64 = 10_000;
const OLD_SECONDS: i64 = 5 * 365 * 86_400;
/// Records of an earlier run that are asked for.
const MOST_ASKED_AGAIN: usize = 20;

/// A check over a deleted record.
type Check = fn(&mut Run<'_>, &Header) -> Result<Verdict, Stop>;

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    run.judge(
        "Z-2",
        Verdict::not_applicable("no deleted record was seen with its record"),
    );
    let checks: [(&str, Check); 3] = [
        ("Z-3", can_be_fetched),
        ("Z-4", shows_its_sets),
        ("Z-5", is_found_by_date),
    ];
    for (id, check) in checks {
        if !run.wants(id) {
            continue;
        }
        let verdict = match run.facts.deleted.clone() {
            None => Verdict::not_applicable("no deleted record was seen"),
            Some(_) if is(&run.facts, "no") => {
                Verdict::not_applicable("there should be no deleted records, which another check tells")
            }
            Some(deleted) => check(run, &deleted)?,
        };
        run.judge(id, verdict);
    }
    Ok(())
}

/// Whether Identify says that of deletions.
fn is(facts: &Facts, support: &str) -> bool {
    let identity = facts.identity.as_ref();
    identity.is_some_and(|identity| identity.deleted_record == support)
}

/// What is judged in every answer.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange) {
    let Some(document) = exchange.document() else {
        return;
    };
    let (mut any, mut found) = (false, Vec::new());
    for record in document.records() {
        let Some(header) = record.child("header").map(Header::of).filter(|header| header.deleted) else {
            continue;
        };
        any = true;
        let parts = ["metadata", "about"].into_iter().filter_map(|name| record.child(name));
        found.extend(parts.map(|part| {
            let came = format!(
                "the deleted record {} with {}",
                Excerpt(&header.identifier),
                part.local()
            );
            Found::new(came).on(exchange).at_line(document.line(part))
        }));
    }
    if any {
        run.judge("Z-2", Verdict::of(found));
    }
}

fn can_be_fetched(run: &mut Run<'_>, deleted: &Header) -> Result<Verdict, Stop> {
    let identifier = encoded(&deleted.identifier);
    let exchange = run.get(&format!("verb=GetRecord&identifier={identifier}&metadataPrefix=oai_dc"))?;
    if !exchange.succeeded() && exchange.errors().is_empty() {
        let why = format!("{}, which other checks tell", exchange.in_short());
        return Ok(Verdict::NotApplicable(why));
    }
    let header = exchange.document().and_then(|document| document.headers().next());
    let found = |came: String| {
        let found = Found::new(came).on(&exchange);
        Verdict::Broken(vec![match is(&run.facts, "persistent") {
            true => found,
            false => found.with_severity(Severity::Warn),
        }])
    };
    Ok(match header {
        Some(header) if header.deleted => Verdict::Holds,
        Some(_) => found("a record that is not deleted, which is listed as deleted".to_owned()),
        None => found(format!(
            "{} for a record that is listed as deleted",
            exchange.in_short()
        )),
    })
}

/// Deleted records are shown with their sets, and in the lists of those sets.
fn shows_its_sets(run: &mut Run<'_>, _: &Header) -> Result<Verdict, Stop> {
    if run.facts.sets.as_ref().is_none_or(Vec::is_empty) {
        return Ok(Verdict::not_applicable("the repository lists no sets"));
    }
    let headers = || run.facts.headers.iter().map(|seen| &seen.header);
    let member = headers()
        .find(|header| header.deleted && !header.set_specs.is_empty())
        .cloned();
    let Some(member) = member else {
        // An item may be in no set; that none of the deleted ones is, while most others are, is no chance.
        let alive: Vec<bool> = headers().filter(|header| !header.deleted).map(in_set).collect();
        let most = alive.iter().filter(|in_set| **in_set).count() * 2 > alive.len();
        let seen = run.facts.headers.iter().find(|seen| seen.header.deleted);
        return Ok(Verdict::unless(most, || {
            let found = Found::new("deleted records without a setSpec, though most others have one");
            match seen {
                Some(seen) => found.in_answer(seen.exchange),
                None => found,
            }
        }));
    };
    let spec = encoded(&member.set_specs[0]);
    Ok(match found_again(run, &member, &format!("&set={spec}"))? {
        Again::Unknown(why) => Verdict::NotApplicable(why),
        Again::Found => Verdict::Holds,
        Again::Missing(exchange) => {
            let came = format!(
                "no deleted record {} in its set {}",
                Excerpt(&member.identifier),
                Excerpt(&member.set_specs[0])
            );
            Verdict::Broken(vec![Found::new(came).in_answer(exchange)])
        }
    })
}

fn in_set(header: &Header) -> bool {
    !header.set_specs.is_empty()
}

fn is_found_by_date(run: &mut Run<'_>, deleted: &Header) -> Result<Verdict, Stop> {
    Ok(match found_again(run, deleted, "")? {
        Again::Unknown(why) => Verdict::NotApplicable(why),
        Again::Found => Verdict::Holds,
        Again::Missing(exchange) => {
            let (identifier, datestamp) = (Excerpt(&deleted.identifier), &deleted.datestamp);
            let came = format!("no deleted record {identifier} among those of its datestamp {datestamp}");
            Verdict::Broken(vec![Found::new(came).in_answer(exchange)])
        }
    })
}

/// Whether a record that was listed is in a shorter list too.
enum Again {
    Found,
    /// It is not in the answer of that number.
    Missing(u32),
    /// Why that cannot be known.
    Unknown(String),
}

/// Looks for a header among those of its datestamp.
fn found_again(run: &mut Run<'_>, header: &Header, more: &str) -> Result<Again, Stop> {
    if read_datestamp(&header.datestamp).is_none() {
        return Ok(Again::Unknown("the datestamp of the record cannot be read".to_owned()));
    }
    let datestamp = encoded(&header.datestamp);
    let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={datestamp}&until={datestamp}{more}");
    let (pages, is_all) = pages(run, &query, MOST_PAGES)?;
    let mut headers = pages
        .iter()
        .filter_map(|page| page.document())
        .flat_map(Document::headers);
    if headers.any(|found| found.identifier == header.identifier) {
        return Ok(Again::Found);
    }
    let nothing_matches = pages[0]
        .document()
        .is_some_and(|document| document.has_error(stook_oai::ErrorCode::NoRecordsMatch));
    Ok(match is_all || nothing_matches {
        true => Again::Missing(pages[0].number),
        false => Again::Unknown(format!(
            "it was not found in {} pages, or they were not answered",
            pages.len()
        )),
    })
}

/// What is judged when everything was seen.
pub(super) fn last(run: &mut Run<'_>) -> Result<(), Stop> {
    let verdict = none_if_none_are_told(&run.facts);
    run.judge("Z-1", verdict);
    some_if_they_persist(run)?;
    what_became_of_them(run)
}

fn none_if_none_are_told(facts: &Facts) -> Verdict {
    if !is(facts, "no") {
        return Verdict::not_applicable("Identify does not say that there are no deleted records");
    }
    let seen = facts.headers.iter().find(|seen| seen.header.deleted);
    let found = seen.map(|seen| {
        let identifier = Excerpt(&seen.header.identifier);
        let came = format!("the deleted record {identifier}, though deletedRecord is no");
        Found::new(came).in_answer(seen.exchange)
    });
    Verdict::of(found.into_iter().collect())
}

fn some_if_they_persist(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("Z-6") {
        return Ok(());
    }
    let list = run.get("verb=ListIdentifiers&metadataPrefix=oai_dc")?;
    let token = list.document().and_then(Document::token);
    let told = token.and_then(|token| token.complete_list_size?.trim().parse::<u64>().ok());
    let seen: HashSet<&str> = run.facts.headers.iter().map(|seen| &*seen.header.identifier).collect();
    let size = told.unwrap_or(0).max(seen.len() as u64);
    let now = list.document().and_then(Document::response_date);
    let now = now.as_deref().and_then(read_datestamp);
    let age = |earliest: Datestamp| now.map_or(0, |now| now.unix() - earliest.unix());
    let is_old = run.facts.earliest().is_some_and(|earliest| age(earliest) > OLD_SECONDS);
    let any = run.facts.headers.iter().any(|seen| seen.header.deleted);
    let verdict = match () {
        () if !is(&run.facts, "persistent") => Verdict::not_applicable("Identify does not say that deletions are kept"),
        () if any => Verdict::Holds,
        () if size < LARGE || !is_old => {
            Verdict::not_applicable("the repository is small or young enough to have no deleted record")
        }
        () => {
            let came = format!("no deleted record among those seen, in an old repository of {size} records");
            Verdict::Broken(vec![Found::new(came).on(&list)])
        }
    };
    run.judge("Z-6", verdict);
    Ok(())
}

/// Records that an earlier run met and this one did not are still there, or told to be deleted.
fn what_became_of_them(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("Z-7") {
        return Ok(());
    }
    let Some(earlier) = run.facts.earlier.clone() else {
        let why = "there is no report of an earlier run to compare with";
        run.judge("Z-7", Verdict::not_applicable(why));
        return Ok(());
    };
    if !is(&run.facts, "persistent") {
        let why = "Identify does not say that deletions are kept";
        run.judge("Z-7", Verdict::not_applicable(why));
        return Ok(());
    }
    let seen: HashSet<String> = run
        .facts
        .headers
        .iter()
        .map(|seen| seen.header.identifier.clone())
        .collect();
    let unseen = earlier.iter().filter(|earlier| !seen.contains(&earlier.identifier));
    let mut found = Vec::new();
    for earlier in unseen.take(MOST_ASKED_AGAIN) {
        let identifier = encoded(&earlier.identifier);
        let exchange = run.get(&format!("verb=GetRecord&identifier={identifier}&metadataPrefix=oai_dc"))?;
        if !exchange.errors().is_empty() {
            let came = format!(
                "{} for {}, which was there before",
                exchange.in_short(),
                Excerpt(&earlier.identifier)
            );
            found.push(Found::new(came).on(&exchange));
        }
    }
    let verdict = match earlier.is_empty() {
        true => Verdict::not_applicable("the report of the earlier run names no records"),
        false => Verdict::of(found),
    };
    run.judge("Z-7", verdict);
    Ok(())
}
