//! Lists between dates that are made of what the repository holds.

use std::time::Duration;

use stook_oai::ErrorCode::NoRecordsMatch;
use stook_oai::{Datestamp, Granularity};

use crate::validate::document::Header;
use crate::validate::exchange::{Exchange, Question};
use crate::validate::facts::{Facts, granularity_of, read_datestamp};
use crate::validate::pages::{Listed, headers_of, outside, shows};
use crate::validate::probe::{Expect, encoded};
use crate::validate::run::{Found, Run, Stop, Verdict};

const DAY: Duration = Duration::from_secs(86_400);
const YEAR: Duration = Duration::from_secs(366 * 86_400);

/// A date of a range, made of the datestamp of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    None,
    /// As it is.
    Own,
    /// Its day.
    Day,
    /// The next second, or the next day.
    Next,
}

/// A range around a record.
struct Range {
    from: Bound,
    until: Bound,
    /// The check that the record is in the list, or that it is not.
    sample: (&'static str, bool),
    /// The check that everything else is in the range.
    others: &'static str,
    verbs: &'static [&'static str],
}

const HEADERS: &[&str] = &["ListIdentifiers"];
const BOTH: &[&str] = &["ListIdentifiers", "ListRecords"];

const RANGES: &[Range] = &[
    around(Bound::Own, Bound::Own, ("D-2", true), "D-3", BOTH),
    around(Bound::Day, Bound::Day, ("D-4", true), "D-4", HEADERS),
    around(Bound::None, Bound::Day, ("D-5", true), "D-5", HEADERS),
    around(Bound::Day, Bound::None, ("D-5", true), "D-5", HEADERS),
    around(Bound::Next, Bound::None, ("D-6", false), "D-6", HEADERS),
];

const fn around(
    from: Bound,
    until: Bound,
    sample: (&'static str, bool),
    others: &'static str,
    verbs: &'static [&'static str],
) -> Range {
    Range {
        from,
        until,
        sample,
        others,
        verbs,
    }
}

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    for range in RANGES {
        for verb in range.verbs {
            around_sample(run, range, verb)?;
        }
    }
    before_the_first(run)?;
    from_tomorrow(run)?;
    until_tomorrow(run)?;
    with_set(run)
}

/// A record to make ranges of, if its datestamp is one that may be asked for.
fn sample(facts: &Facts) -> Result<(Header, Datestamp), String> {
    let sample = facts.sample.clone().ok_or("no record was found to ask for")?;
    dated(sample, facts)
}

fn dated(header: Header, facts: &Facts) -> Result<(Header, Datestamp), String> {
    let datestamp = read_datestamp(&header.datestamp)
        .filter(|_| granularity_of(&header.datestamp) == Some(facts.granularity()))
        .ok_or("the datestamp of the record is not as Identify says, which D-1 tells")?;
    Ok((header, datestamp))
}

fn around_sample(run: &mut Run<'_>, range: &Range, verb: &str) -> Result<(), Stop> {
    let (about_sample, is_in) = range.sample;
    if !run.wants(about_sample) && !run.wants(range.others) {
        return Ok(());
    }
    let granularity = run.facts.granularity();
    let found = sample(&run.facts);
    let (header, datestamp) = match found {
        Ok(_) if about_sample == "D-4" && granularity == Granularity::Day => {
            let why = "the repository has days only, which D-2 asks for";
            run.judge("D-4", Verdict::not_applicable(why));
            return Ok(());
        }
        Ok(found) => found,
        Err(why) => {
            run.judge(about_sample, Verdict::not_applicable(why.clone()));
            run.judge(range.others, Verdict::not_applicable(why));
            return Ok(());
        }
    };
    let query = [("from", range.from), ("until", range.until)]
        .into_iter()
        .filter_map(|(name, bound)| Some(format!("&{name}={}", encoded(&written(bound, datestamp, granularity)?))))
        .collect::<String>();
    let listed = run.list(verb, &format!("metadataPrefix=oai_dc{query}"))?;
    if let Some(verdict) = listed.refused() {
        run.judge(about_sample, verdict);
        return Ok(());
    }
    let verdict = sample_verdict(run, &listed, &header, is_in)?;
    run.judge(about_sample, verdict);
    let from = first_second(range.from, datestamp, granularity);
    let until = last_second(range.until, datestamp, granularity);
    run.judge(range.others, bounded(listed.first(), from, until));
    Ok(())
}

/// A date as it stands in a request.
fn written(bound: Bound, datestamp: Datestamp, granularity: Granularity) -> Option<String> {
    let granularity = match bound {
        Bound::Day => Granularity::Day,
        _ => granularity,
    };
    let first = first_second(bound, datestamp, granularity)?;
    Some(first.format(granularity).to_string())
}

fn first_second(bound: Bound, datestamp: Datestamp, granularity: Granularity) -> Option<Datestamp> {
    match (bound, granularity) {
        (Bound::None, _) => None,
        (Bound::Own, _) => Some(datestamp),
        (Bound::Day, _) => Some(datestamp.start_of_day()),
        (Bound::Next, Granularity::Second) => Some(datestamp.saturating_add(Duration::from_secs(1))),
        (Bound::Next, Granularity::Day) => Some(datestamp.saturating_add(DAY)),
    }
}

fn last_second(bound: Bound, datestamp: Datestamp, granularity: Granularity) -> Option<Datestamp> {
    let first = first_second(bound, datestamp, granularity)?;
    let is_second = granularity == Granularity::Second && bound != Bound::Day;
    Some(if is_second { first } else { first.end_of_day() })
}

/// Whether the record of a range is where it must be, or is not where it must not be.
fn sample_verdict(run: &mut Run<'_>, listed: &Listed, header: &Header, is_in: bool) -> Result<Verdict, Stop> {
    let found = |came: String| Verdict::Broken(vec![Found::new(came).on(listed.first())]);
    let as_it_was = |now: Header| now.identifier == header.identifier && now.datestamp == header.datestamp;
    if !is_in {
        let is_there = listed.headers().any(as_it_was);
        let came = || format!("{} of {} is in it", header.identifier, header.datestamp);
        return Ok(if is_there { found(came()) } else { Verdict::Holds });
    }
    if listed.has(&header.identifier) {
        return Ok(Verdict::Holds);
    }
    if !listed.complete {
        return Ok(Verdict::not_applicable(
            "the list is too long to look for one record in it",
        ));
    }
    if !run.is_unchanged(&header.identifier, &header.datestamp)? {
        return Ok(Verdict::not_applicable("the record changed meanwhile"));
    }
    let what = listed.first().in_short();
    Ok(found(format!(
        "{what}, without {} of {}",
        header.identifier, header.datestamp
    )))
}

/// Whether a page keeps to a range; later pages are looked at where flow control is.
fn bounded(page: &Exchange, from: Option<Datestamp>, until: Option<Datestamp>) -> Verdict {
    let found = outside(page, from, until).into_iter().map(|header| {
        let came = format!("{} of {} is in it", header.identifier, header.datestamp);
        Found::new(came).on(page)
    });
    Verdict::of(found.collect())
}

/// Before the earliest datestamp there is nothing.
fn before_the_first(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("D-15") {
        return Ok(());
    }
    let Some(until) = run.facts.earliest().map(|earliest| earliest.saturating_sub(YEAR)) else {
        let why = "earliestDatestamp cannot be read";
        run.judge("D-15", Verdict::not_applicable(why));
        return Ok(());
    };
    if until == Datestamp::MIN {
        let why = "earliestDatestamp is where the calendar begins";
        run.judge("D-15", Verdict::not_applicable(why));
        return Ok(());
    }
    let day = until.format(Granularity::Day);
    let exchange = run.get(&format!("verb=ListIdentifiers&metadataPrefix=oai_dc&until={day}"))?;
    let verdict = match outside(&exchange, None, Some(until.end_of_day())).is_empty() && exchange.succeeded() {
        true => Verdict::not_applicable("records are older than earliestDatestamp, which other checks tell"),
        false => Expect::Error(&[NoRecordsMatch]).judge(&exchange),
    };
    run.judge("D-15", verdict);
    Ok(())
}

/// The day behind the last answer, by the repository's own clock.
fn tomorrow(facts: &Facts) -> Result<Datestamp, String> {
    let dates = facts.headers.iter().rev().map(|seen| seen.response_date.as_str());
    let today = dates.filter_map(read_datestamp).next();
    let today = today.ok_or("no list with a responseDate that can be read was seen")?;
    Ok(today.start_of_day().saturating_add(DAY))
}

/// Tomorrow nothing has changed yet.
fn from_tomorrow(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("D-16") {
        return Ok(());
    }
    let from = match tomorrow(&run.facts) {
        Ok(from) => from,
        Err(why) => {
            run.judge("D-16", Verdict::NotApplicable(why));
            return Ok(());
        }
    };
    let day = from.format(Granularity::Day);
    let exchange = run.get(&format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={day}"))?;
    let verdict = match outside(&exchange, Some(from), None).is_empty() && exchange.succeeded() {
        true => Verdict::not_applicable("records are stamped in the future, which D-1 tells"),
        false => Expect::Error(&[NoRecordsMatch]).judge(&exchange),
    };
    run.judge("D-16", verdict);
    Ok(())
}

/// An end in the future is no limit.
fn until_tomorrow(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("D-17") {
        return Ok(());
    }
    let until = match tomorrow(&run.facts) {
        Ok(until) => until.format(Granularity::Day),
        Err(why) => {
            run.judge("D-17", Verdict::NotApplicable(why));
            return Ok(());
        }
    };
    let whole = "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let limited = run.get(&format!("{whole}&until={until}"))?;
    let mut free = run.get(whole)?;
    if !is_same_page(&free, &limited) {
        // It was asked for some time ago.
        free = run.ask_anew(Question::get(whole))?;
    }
    let verdict = match Expect::SuccessOr(&[]).judge(&free) {
        Verdict::Holds if is_same_page(&free, &limited) => Verdict::Holds,
        Verdict::Holds => {
            let came = format!("{}; without until, {}", limited.in_short(), free.in_short());
            Verdict::Broken(vec![Found::new(came).on(&limited)])
        }
        _ => Verdict::not_applicable("there is no list without until either"),
    };
    run.judge("D-17", verdict);
    Ok(())
}

/// Whether two answers list the same, and promise the same.
fn is_same_page(one: &Exchange, other: &Exchange) -> bool {
    let size = |exchange: &Exchange| exchange.document()?.token()?.complete_list_size;
    one.errors() == other.errors() && headers_of(one).eq(headers_of(other)) && size(one) == size(other)
}

/// A set and dates together: what is in both.
fn with_set(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("D-19") {
        return Ok(());
    }
    let Some(set) = run.facts.set_spec.clone() else {
        run.judge(
            "D-19",
            Verdict::not_applicable("the repository has no set with records"),
        );
        return Ok(());
    };
    let selection = format!("metadataPrefix=oai_dc&set={}", encoded(&set));
    let members = run.list("ListIdentifiers", &selection)?;
    let first = members
        .headers()
        .next()
        .ok_or_else(|| "the set has no records".to_owned());
    let (header, datestamp) = match first.and_then(|first| dated(first, &run.facts)) {
        Ok(found) => found,
        Err(why) => {
            run.judge("D-19", Verdict::NotApplicable(why));
            return Ok(());
        }
    };
    let written = encoded(&header.datestamp);
    let listed = run.list(
        "ListIdentifiers",
        &format!("{selection}&from={written}&until={written}"),
    )?;
    if let Some(verdict) = listed.refused() {
        run.judge("D-19", verdict);
        return Ok(());
    }
    let mut verdict = sample_verdict(run, &listed, &header, true)?;
    let until = last_second(Bound::Own, datestamp, run.facts.granularity());
    let mut strangers = outside(listed.first(), Some(datestamp), until);
    // Where the list of the set does not show the set, that is another fault.
    if members.headers().all(|header| shows(&header, &set)) {
        strangers.extend(headers_of(listed.first()).filter(|header| !shows(header, &set)));
    }
    if let Some(stranger) = strangers.first() {
        let came = format!("{} of {} is in it", stranger.identifier, stranger.datestamp);
        verdict = Verdict::Broken(vec![Found::new(came).on(listed.first())]);
    }
    run.judge("D-19", verdict);
    Ok(())
}
