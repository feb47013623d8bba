//! D: datestamps, and lists between two dates.

mod ranges;

use std::collections::HashSet;

use stook_oai::ErrorCode::{BadArgument, NoRecordsMatch};
use stook_oai::{Datestamp, Granularity, Verb};

use crate::validate::chain::response_date;
use crate::validate::document::{Document, Header};
use crate::validate::exchange::{Exchange, Question};
use crate::validate::facts::{Facts, SeenRecord, granularity_of, read_datestamp};
use crate::validate::pages::headers_of;
use crate::validate::probe::Expect::{self, Error, ErrorRather, SuccessOr};
use crate::validate::probe::{Probe, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// Fewer records than this say nothing about all of them.
const FEWEST_RECORDS: usize = 5;

/// A probe of ListIdentifiers with dates.
macro_rules! headers {
    ($id:literal, $dates:literal, $expect:expr) => {
        probe(
            $id,
            concat!("verb=ListIdentifiers&metadataPrefix=oai_dc&", $dates),
            $expect,
        )
    };
}

/// A probe of ListRecords with dates.
macro_rules! records {
    ($id:literal, $dates:literal, $expect:expr) => {
        probe($id, concat!("verb=ListRecords&metadataPrefix=oai_dc&", $dates), $expect)
    };
}

const PROBES: &[Probe] = &[
    headers!("D-7", "from=2001-01-01", OR_NOTHING),
    headers!("D-9", "from=2001", REFUSED),
    headers!("D-9", "from=2001-01", REFUSED),
    headers!("D-9", "from=20010101", REFUSED),
    headers!("D-9", "from=2001-1-1", REFUSED),
    headers!("D-10", "from=2001-01-01T00:00Z", REFUSED),
    headers!("D-10", "from=2001-01-01T00:00:00", REFUSED),
    headers!("D-10", "from=2001-01-01T00:00:00.0Z", REFUSED),
    headers!("D-10", "from=2001-01-01T00:00:00%2B00:00", REFUSED),
    headers!("D-10", "from=2001-01-01t00:00:00z", REFUSED),
    headers!("D-11", "from=2001-02-30", REFUSED),
    headers!("D-11", "from=2001-01-01T25:00:00Z", REFUSED),
    headers!("D-12", "from=junk", REFUSED),
    headers!("D-12", "until=junk", REFUSED),
    records!("D-12", "from=junk", REFUSED),
    records!("D-12", "until=junk", REFUSED),
    // Around a record that is there, so that an empty selection is no excuse.
    headers!("D-13", "from={day}&until={day}T23:59:59Z", REFUSED),
    records!("D-13", "from={day}&until={day}T23:59:59Z", REFUSED),
    headers!("D-14", "from=2000-01-01&until=1999-01-01", BACKWARDS),
    records!("D-14", "from=2000-01-01&until=1999-01-01", BACKWARDS),
    headers!("D-18", "from=2000-01-01&until=2000-01-01", OR_NOTHING),
    records!("D-18", "from=2000-01-01&until=2000-01-01", OR_NOTHING),
    headers!("D-20", "from=", REFUSED),
    headers!("D-20", "until=", REFUSED),
];

const OR_NOTHING: Expect = SuccessOr(&[NoRecordsMatch]);
const REFUSED: Expect = Error(&[BadArgument]);
/// Older tools take noRecordsMatch for right.
const BACKWARDS: Expect = ErrorRather(&[BadArgument], &[(NoRecordsMatch, Severity::Warn)]);

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    if run.facts.headers.is_empty() {
        run.judge("D-1", Verdict::not_applicable("no header was seen"));
    }
    ranges::check(run)?;
    run.probe_all(PROBES)?;
    seconds(run)?;
    leap_second(run)?;
    if run.wants("D-22") {
        run.get("verb=ListRecords&metadataPrefix=oai_dc")?;
        let verdict = are_their_own(&run.facts);
        run.judge("D-22", verdict);
    }
    Ok(())
}

/// What is judged in every answer.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange) {
    // GetRecord has a check of its own for this.
    let is_single = exchange.question.verb() == Some(Verb::GetRecord);
    if is_single || headers_of(exchange).next().is_none() {
        return;
    }
    let granularity = run.facts.identity.as_ref().and_then(|identity| identity.granularity);
    let date = response_date(exchange);
    let wrong = headers_of(exchange).filter_map(|header| Some((flaw(&header, granularity, date)?, header)));
    let found = wrong.map(|(flaw, header)| {
        let came = format!("datestamp {:?} of {}: {flaw}", header.datestamp, header.identifier);
        Found::new(came).on(exchange)
    });
    let verdict = Verdict::of(found.collect());
    run.judge("D-1", verdict);
}

/// What is wrong with the datestamp of a header.
fn flaw(header: &Header, granularity: Option<Granularity>, date: Option<Datestamp>) -> Option<String> {
    let Some(datestamp) = read_datestamp(&header.datestamp) else {
        return Some("no date of the protocol".to_owned());
    };
    let own = granularity_of(&header.datestamp);
    if let Some(granularity) = granularity.filter(|granularity| own != Some(*granularity)) {
        return Some(format!("Identify says {granularity}"));
    }
    let date = date.filter(|date| datestamp > *date)?;
    Some(format!("later than the answer, which is of {date}"))
}

/// Seconds are for repositories that have them.
fn seconds(run: &mut Run<'_>) -> Result<(), Stop> {
    let expect = match run.facts.granularity() {
        Granularity::Second => OR_NOTHING,
        Granularity::Day => REFUSED,
    };
    let query = "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2001-01-01T00:00:00Z";
    run.expect("D-8", Question::get(query), &expect).map(drop)
}

/// A leap second is a time that ISO 8601 has; nobody needs to know it.
fn leap_second(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("D-11") {
        return Ok(());
    }
    let exchange = run.get("verb=ListIdentifiers&metadataPrefix=oai_dc&from=2001-12-31T23:59:60Z")?;
    let verdict = match REFUSED.judge(&exchange) {
        Verdict::Broken(found) => {
            let milder = |found: Found| found.with_severity(Severity::Info);
            Verdict::Broken(found.into_iter().map(milder).collect())
        }
        other => other,
    };
    run.judge("D-11", verdict);
    Ok(())
}

/// Whether datestamps tell when records changed, and not something else.
fn are_their_own(facts: &Facts) -> Verdict {
    let seen: HashSet<(&str, &str)> = facts
        .headers
        .iter()
        .map(|seen| (seen.header.identifier.as_str(), seen.header.datestamp.as_str()))
        .collect();
    if seen.len() < FEWEST_RECORDS {
        return Verdict::not_applicable(format!("fewer than {FEWEST_RECORDS} records were seen"));
    }
    let datestamps: HashSet<&str> = seen.iter().map(|(_, datestamp)| *datestamp).collect();
    if datestamps.len() == 1 {
        let came = format!("all {} records that were seen have one datestamp", seen.len());
        return Verdict::Broken(vec![Found::new(came).with_severity(Severity::Info)]);
    }
    let dated: Vec<(&SeenRecord, Vec<String>)> = facts
        .records
        .iter()
        .map(|record| (record, dates(record)))
        .filter(|(_, dates)| !dates.is_empty())
        .collect();
    let copied = |(record, dates): &(&SeenRecord, Vec<String>)| dates.iter().any(|date| is_copy(record, date));
    let is_copied = dated.len() >= FEWEST_RECORDS && dated.iter().all(copied);
    Verdict::unless(is_copied, || {
        let (record, dates) = &dated[0];
        let came = format!(
            "the datestamps of all {} records with a full dc:date repeat it, such as {} of {}",
            dated.len(),
            dates[0],
            record.header.identifier
        );
        Found::new(came).in_answer(record.exchange)
    })
}

/// The full dates in dc:date.
fn dates(record: &SeenRecord) -> Vec<String> {
    let document = Document::read(record.metadata.as_bytes());
    let mut dates = Vec::new();
    if let Some(root) = document.root.as_ref().filter(|_| record.prefix == "oai_dc") {
        root.walk(&mut |element| {
            let text = element.text();
            if element.local() == "date" && read_datestamp(&text).is_some() {
                dates.push(text);
            }
        });
    }
    dates
}

/// Whether a datestamp is a date of publication: to the day, it has no time of its own.
fn is_copy(record: &SeenRecord, date: &str) -> bool {
    let datestamp = &record.header.datestamp;
    datestamp == date || *datestamp == format!("{date}T00:00:00Z") || format!("{datestamp}T00:00:00Z") == date
}
