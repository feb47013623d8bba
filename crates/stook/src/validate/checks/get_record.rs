//! G: one record.

use std::collections::BTreeSet;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use stook_oai::ErrorCode::{BadArgument, CannotDisseminateFormat, IdDoesNotExist};
use stook_oai::Excerpt;

use crate::validate::document::{Document, Header};
use crate::validate::exchange::Exchange;
use crate::validate::facts::{Facts, granularity_of, read_datestamp};
use crate::validate::probe::Expect::{Error, Success};
use crate::validate::probe::{Probe, encoded, fill, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};

const PROBES: &[Probe] = &[
    probe("G-5", "verb=GetRecord&identifier={id}", Error(&[BadArgument])),
    probe("G-6", "verb=GetRecord&metadataPrefix=oai_dc", Error(&[BadArgument])),
    probe(
        "G-7",
        "verb=GetRecord&identifier={id}&metadataPrefix=really_wrong_mdp",
        Error(&[CannotDisseminateFormat]),
    ),
    probe(
        "G-8",
        "verb=GetRecord&identifier=really_wrong_id&metadataPrefix=oai_dc",
        Error(&[IdDoesNotExist, BadArgument]),
    ),
    probe(
        "G-9",
        "verb=GetRecord&identifier=invalid%22id&metadataPrefix=oai_dc",
        Error(&[IdDoesNotExist, BadArgument]),
    ),
    probe(
        "G-10",
        "verb=GetRecord&identifier=really_wrong_id&metadataPrefix=really_wrong_mdp",
        Error(&[IdDoesNotExist, CannotDisseminateFormat, BadArgument]),
    ),
    probe(
        "G-11",
        "verb=GetRecord&identifier={id}&metadataPrefix=oai_dc&resumptionToken=x",
        Error(&[BadArgument]),
    ),
    probe(
        "G-11",
        "verb=GetRecord&identifier={id}&metadataPrefix=oai_dc&set=x",
        Error(&[BadArgument]),
    ),
    probe(
        "G-11",
        "verb=GetRecord&identifier={id}&metadataPrefix=oai_dc&from={datestamp}",
        Error(&[BadArgument]),
    ),
];

/// The record that every run asks for.
pub(super) const SAMPLE: &str = "verb=GetRecord&identifier={id}&metadataPrefix=oai_dc";

/// A check over an answer.
type Check = fn(&Exchange, &Facts) -> Verdict;

/// What is judged in the sample record.
const CHECKS: &[(&str, Check)] = &[("G-1", is_the_record), ("G-2", datestamp), ("G-3", same_header)];

/// What a person who types a URL leaves as it is.
const TYPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b':')
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_');

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let query = fill(SAMPLE, &run.facts);
    for (id, check) in CHECKS {
        if !run.wants(id) {
            continue;
        }
        let verdict = match &query {
            Ok(query) => check(&*run.get(query)?, &run.facts),
            Err(why) => Verdict::not_applicable(why),
        };
        run.judge(id, verdict);
    }
    in_another_format(run)?;
    run.probe_all(PROBES)?;
    however_escaped(run)?;
    in_another_case(run)?;
    of_a_set(run)
}

/// The only header of an answer.
fn header_of(exchange: &Exchange) -> Option<Header> {
    exchange.document()?.headers().next()
}

fn is_the_record(exchange: &Exchange, facts: &Facts) -> Verdict {
    if !exchange.errors().is_empty() {
        let came = format!("{} for a record that is listed", exchange.in_short());
        return Verdict::Broken(vec![Found::new(came).on(exchange)]);
    }
    if !exchange.succeeded() {
        return Verdict::not_applicable(format!("{}, which other checks tell", exchange.in_short()));
    }
    let records: Vec<_> = exchange.document().into_iter().flat_map(Document::records).collect();
    let wanted = facts.sample.as_ref().map_or("", |sample| &sample.identifier);
    let header = records
        .first()
        .and_then(|record| record.child("header"))
        .map(Header::of);
    let came = match (records.len(), header) {
        (1, Some(header)) if header.identifier != wanted => {
            format!(
                "the record {} instead of {}",
                Excerpt(&header.identifier),
                Excerpt(wanted)
            )
        }
        (1, Some(header)) if header.deleted => "a deleted record, which is listed as not deleted".to_owned(),
        (1, Some(_)) if records[0].child("metadata").is_none() => "a record without metadata".to_owned(),
        (1, Some(_)) => return Verdict::Holds,
        (1, None) => "a record without a header".to_owned(),
        (count, _) => format!("{count} records"),
    };
    Verdict::Broken(vec![Found::new(came).on(exchange)])
}

fn datestamp(exchange: &Exchange, facts: &Facts) -> Verdict {
    let Some(header) = header_of(exchange) else {
        return Verdict::not_applicable("there is no header");
    };
    let came = match granularity_of(&header.datestamp) {
        None => format!("the datestamp {}", Excerpt(&header.datestamp)),
        Some(granularity) if granularity != facts.granularity() => {
            let granularity = facts.granularity().as_str();
            format!(
                "the datestamp {}, though the granularity is {granularity}",
                header.datestamp
            )
        }
        Some(_) => return Verdict::Holds,
    };
    Verdict::Broken(vec![Found::new(came).on(exchange)])
}

fn same_header(exchange: &Exchange, facts: &Facts) -> Verdict {
    let (Some(header), Some(listed)) = (header_of(exchange), &facts.sample) else {
        return Verdict::not_applicable("there is no header");
    };
    // What is another record or has no date is told as that.
    if header.identifier != listed.identifier || datestamp(exchange, facts).is_broken() {
        return Verdict::not_applicable("the record is not as it should be, which other checks tell");
    }
    let seen = facts.headers.iter().find(|seen| seen.header == *listed);
    let asked = seen.and_then(|seen| read_datestamp(&seen.response_date));
    if asked.is_some_and(|asked| read_datestamp(&header.datestamp) > Some(asked)) {
        return Verdict::not_applicable("the record was changed meanwhile");
    }
    let sets = |header: &Header| header.set_specs.iter().cloned().collect::<BTreeSet<_>>();
    let came = match () {
        () if header.datestamp != listed.datestamp => {
            format!(
                "the datestamp {}; ListIdentifiers has {}",
                header.datestamp, listed.datestamp
            )
        }
        () if sets(&header) != sets(listed) => {
            let (here, there) = (header.set_specs.join(", "), listed.set_specs.join(", "));
            format!("the sets {}; ListIdentifiers has {}", Excerpt(&here), Excerpt(&there))
        }
        () => return Verdict::Holds,
    };
    let found = Found::new(came).on(exchange);
    Verdict::Broken(vec![match seen {
        Some(seen) => found.in_answer(seen.exchange),
        None => found,
    }])
}

/// A header of a list that is kept, of a record that is there.
fn listed(list: &Exchange, fits: impl Fn(&Header) -> bool) -> Option<Header> {
    let mut headers = list.document().into_iter().flat_map(Document::headers);
    headers.find(|header| !header.deleted && !header.identifier.is_empty() && fits(header))
}

fn get(run: &mut Run<'_>, identifier: &str, prefix: &str) -> Result<Arc<Exchange>, Stop> {
    let (identifier, prefix) = (encoded(identifier), encoded(prefix));
    run.get(&format!(
        "verb=GetRecord&identifier={identifier}&metadataPrefix={prefix}"
    ))
}

fn in_another_format(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("G-4") {
        return Ok(());
    }
    let Some(prefix) = run.facts.second_prefix.clone() else {
        run.judge("G-4", Verdict::not_applicable("the repository has only one format"));
        return Ok(());
    };
    let list = run.get(&format!("verb=ListIdentifiers&metadataPrefix={}", encoded(&prefix)))?;
    let verdict = match listed(&list, |_| true) {
        None => Verdict::not_applicable(format!("no record in {prefix} was found")),
        Some(header) => Success.judge(&*get(run, &header.identifier, &prefix)?),
    };
    run.judge("G-4", verdict);
    Ok(())
}

/// Reserved characters mean the same whether they are escaped or not.
fn however_escaped(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("G-12") {
        return Ok(());
    }
    let sample = run.facts.sample.clone();
    let Some(sample) = sample.filter(|sample| sample.identifier.contains([':', '/'])) else {
        let why = "no record with : or / in its identifier was found";
        run.judge("G-12", Verdict::not_applicable(why));
        return Ok(());
    };
    let escaped = get(run, &sample.identifier, "oai_dc")?;
    let typed = utf8_percent_encode(&sample.identifier, TYPED);
    let typed = run.get(&format!("verb=GetRecord&identifier={typed}&metadataPrefix=oai_dc"))?;
    let verdict = match (header_of(&escaped), header_of(&typed)) {
        (None, None) => Verdict::not_applicable("the record is not answered, which other checks tell"),
        (one, other) => Verdict::unless(one != other, || {
            let came = format!("{} with escapes, {} without", escaped.in_short(), typed.in_short());
            Found::new(came).on(&typed).on(&escaped)
        }),
    };
    run.judge("G-12", verdict);
    Ok(())
}

fn in_another_case(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("G-13") {
        return Ok(());
    }
    let identifier = run
        .facts
        .sample
        .clone()
        .map(|sample| sample.identifier)
        .unwrap_or_default();
    let other: String = identifier.chars().map(swapped).collect();
    if other == identifier {
        let why = "no record with letters in its identifier was found";
        run.judge("G-13", Verdict::not_applicable(why));
        return Ok(());
    }
    let exchange = get(run, &other, "oai_dc")?;
    let verdict = match header_of(&exchange) {
        // An identifier that differs only by case may well be another item's.
        Some(header) => Verdict::unless(header.identifier == identifier, || {
            let came = format!("the record {} for {}", Excerpt(&identifier), Excerpt(&other));
            Found::new(came).on(&exchange)
        }),
        None => Error(&[IdDoesNotExist, BadArgument]).judge(&exchange),
    };
    run.judge("G-13", verdict);
    Ok(())
}

fn swapped(letter: char) -> char {
    match letter.is_ascii_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    }
}

/// A member of a set says so; another one than the sample, whose header was compared already.
fn of_a_set(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("G-14") {
        return Ok(());
    }
    let Some(spec) = run.facts.set_spec.clone() else {
        run.judge(
            "G-14",
            Verdict::not_applicable("the repository has no set with records"),
        );
        return Ok(());
    };
    let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={}", encoded(&spec));
    let list = run.get(&query)?;
    let sample = run
        .facts
        .sample
        .clone()
        .map(|sample| sample.identifier)
        .unwrap_or_default();
    let member = listed(&list, |header| header.identifier != sample).or_else(|| listed(&list, |_| true));
    let verdict = match member {
        None => Verdict::not_applicable(format!("no record of the set {spec} was found")),
        Some(member) => {
            let exchange = get(run, &member.identifier, "oai_dc")?;
            shows(&exchange, &spec)
        }
    };
    run.judge("G-14", verdict);
    Ok(())
}

fn shows(exchange: &Exchange, spec: &str) -> Verdict {
    let Some(header) = header_of(exchange) else {
        return Verdict::not_applicable(format!("{}, which other checks tell", exchange.in_short()));
    };
    let is_in = |own: &String| {
        own.strip_prefix(spec)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    };
    Verdict::unless(!header.set_specs.iter().any(is_in), || {
        let came = match header.set_specs.is_empty() {
            true => format!("a member of {spec} whose header names no set"),
            false => format!(
                "a member of {spec} whose header names only {}",
                header.set_specs.join(", ")
            ),
        };
        Found::new(came).on(exchange)
    })
}
