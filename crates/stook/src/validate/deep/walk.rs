//! Walks through one whole list: every page, to its end, into a ledger.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stook_oai::{Datestamp, ErrorCode};

use super::ledger::Ledger;
use crate::validate::chain::{Chain, response_date};
use crate::validate::document::Header;
use crate::validate::exchange::{Exchange, Question};
use crate::validate::facts::read_datestamp;
use crate::validate::pages::{headers_of, shows};
use crate::validate::probe::encoded;
use crate::validate::run::{Found, Run, Stop};

/// Pages of one list, however it goes on.
const MOST_PAGES: u32 = 1_000_000;
/// Records of one list; a part of a ledger that is read at once stays below 100 MB.
const MOST_RECORDS: u64 = 100_000_000;
/// Days that are counted; a repository has not more, unless its dates are nonsense.
const MOST_DAYS: usize = 50_000;
/// A page that did not come is asked for so often; a walk of hours meets a pause of a server.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(5);

/// A list: what it selects, beside its format.
#[derive(Debug, Clone, Default)]
pub(super) struct Selection {
    pub(super) set: Option<String>,
    /// First and last second, and how both are written.
    pub(super) dates: Option<(Datestamp, Datestamp, String, String)>,
}

impl Selection {
    fn query(&self, verb: &str) -> String {
        let mut query = format!("verb={verb}&metadataPrefix=oai_dc");
        if let Some(set) = &self.set {
            query.push_str(&format!("&set={}", encoded(set)));
        }
        if let Some((_, _, from, until)) = &self.dates {
            query.push_str(&format!("&from={}&until={}", encoded(from), encoded(until)));
        }
        query
    }

    /// Whether a header should not be in it.
    fn has_stranger(&self, header: &Header) -> bool {
        // That deleted records show no sets is told elsewhere.
        let is_unmarked = header.deleted && header.set_specs.is_empty();
        let is_elsewhere = self.set.as_ref().is_some_and(|set| !shows(header, set) && !is_unmarked);
        let is_other_time = match (&self.dates, read_datestamp(&header.datestamp)) {
            (Some((from, until, ..)), Some(datestamp)) => datestamp < *from || datestamp > *until,
            _ => false,
        };
        is_elsewhere || is_other_time
    }

    /// Whether a header is of a set whose name only begins alike.
    fn is_alike(&self, header: &Header) -> bool {
        let begins = |set: &String| header.set_specs.iter().any(|own| own.starts_with(set.as_str()));
        self.set.as_ref().is_some_and(|set| begins(set) && !shows(header, set))
    }
}

/// What came of a walk.
pub(super) struct Walked {
    /// What its pages said beside each other, and which list it was.
    pub(super) chain: Chain,
    /// The responseDate of the first page.
    pub(super) began: Option<Datestamp>,
    /// Whether all of it came.
    pub(super) whole: bool,
    /// Records by day.
    pub(super) days: BTreeMap<i64, u64>,
    /// Records that should not be in it: on the first page, and on later ones.
    pub(super) strangers: (Vec<Found>, Vec<Found>),
    /// Records of sets whose names only begin like that of the list.
    pub(super) alike: Vec<Found>,
    /// The first question.
    pub(super) asked: String,
    /// The first answer.
    pub(super) first: u32,
}

/// Walks through a list; its headers are added to a ledger.
pub(super) fn walk(
    run: &mut Run<'_>,
    verb: &'static str,
    selection: &Selection,
    ledger: &mut Ledger,
    sets: &[String],
) -> Result<Walked, Stop> {
    let query = selection.query(verb);
    let mut walked = Walked {
        chain: Chain::new(verb),
        began: None,
        whole: false,
        days: BTreeMap::new(),
        strangers: (Vec::new(), Vec::new()),
        alike: Vec::new(),
        asked: query.clone(),
        first: 0,
    };
    let mut next = Some(query);
    while let Some(query) = next.take() {
        let page = page(run, query)?;
        if walked.chain.pages == 0 {
            walked.began = response_date(&page);
            walked.first = page.number;
            let no_records = page
                .errors()
                .iter()
                .any(|(code, _)| code == ErrorCode::NoRecordsMatch.as_str());
            walked.whole = no_records;
        }
        note(&mut walked, &page, selection, ledger, sets)?;
        next = walked.chain.read(&page);
        run.walked(ledger.count);
        if walked.chain.pages >= MOST_PAGES || ledger.count >= MOST_RECORDS {
            break;
        }
    }
    walked.whole |= walked.chain.ended;
    forgive_changes(run, &mut walked)?;
    Ok(walked)
}

/// A page; asked for again if nothing of the protocol came.
fn page(run: &mut Run<'_>, query: String) -> Result<Arc<Exchange>, Stop> {
    let mut attempt = 1;
    loop {
        let page = run.ask_once(Question::get(query.clone()))?;
        let is_answer = page.succeeded() || !page.errors().is_empty();
        if is_answer || attempt == ATTEMPTS {
            return Ok(page);
        }
        attempt += 1;
        run.wait(PAUSE)?;
    }
}

fn note(
    walked: &mut Walked,
    page: &Exchange,
    selection: &Selection,
    ledger: &mut Ledger,
    sets: &[String],
) -> Result<(), Stop> {
    let is_first = walked.chain.pages == 0;
    for header in headers_of(page) {
        ledger.add(&header, page.number, sets).map_err(disk)?;
        if let Some(datestamp) = read_datestamp(&header.datestamp) {
            let day = datestamp.start_of_day().unix();
            if walked.days.len() < MOST_DAYS || walked.days.contains_key(&day) {
                *walked.days.entry(day).or_default() += 1;
            }
        }
        if selection.has_stranger(&header) {
            let came = format!("{} of {} is in it", header.identifier, header.datestamp);
            let (first, later) = &mut walked.strangers;
            let place = match is_first {
                _ if selection.is_alike(&header) => &mut walked.alike,
                true => first,
                false => later,
            };
            if place.len() < super::MOST_NAMED {
                place.push(Found::new(came).on(page));
            }
        }
    }
    Ok(())
}

/// A number that fits no more because the repository changed meanwhile is right.
fn forgive_changes(run: &mut Run<'_>, walked: &mut Walked) -> Result<(), Stop> {
    if !walked.chain.ended || !walked.chain.is_of_other_size() {
        return Ok(());
    }
    let first = run.ask_once(Question::get(walked.asked.clone()))?;
    let token = first.document().and_then(|document| document.token());
    let size: Option<u64> = token.and_then(|token| token.complete_list_size?.trim().parse().ok());
    if size != walked.chain.first_size || has_changed_since(run, walked.began)? {
        walked.chain.forgive_size();
    }
    Ok(())
}

/// Whether any record was changed since a walk began: it moved to the end of the list, or out of it.
fn has_changed_since(run: &mut Run<'_>, began: Option<Datestamp>) -> Result<bool, Stop> {
    let Some(began) = began else {
        return Ok(false);
    };
    let began = began.truncate(run.facts.granularity());
    let from = encoded(began.format(run.facts.granularity()).as_str());
    let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&from={from}");
    let page = run.ask_once(Question::get(query))?;
    let changed = headers_of(&page).any(|header| read_datestamp(&header.datestamp) >= Some(began));
    Ok(changed)
}

/// Why a walk cannot go on that has nowhere to write to.
pub(super) fn disk(error: std::io::Error) -> Stop {
    let folder = std::env::temp_dir();
    Stop::Fatal(format!(
        "whole lists are compared on disk, and {} cannot be used: {error}\nTry: TMPDIR=FOLDER, with enough space",
        folder.display()
    ))
}
