//! One harvest of one source, on one screen:
//!
//! ```text
//! identify ─► formats ─► sets ─► for each (prefix, set):
//!   round ─► window ─► page ─► deliver (records, token and ledger in one transaction) ─► next page
//!                └─ trouble ─► remedy: ask differently, begin anew, halve, slice, record by record, leave a gap
//! ```

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Error, Result, bail};
use stook_oai::request::{ListRequest, Request};
use stook_oai::{
    Datestamp, ErrorCode, Granularity, Identifier, MetadataFormat, MetadataPrefix, Set, SetSpec, UtcDatetime,
};
use stook_store::{Known, Note, Vanished};

use super::client::Client;
use super::collect::{AskedFor, Collected};
use super::fetch::{Fetcher, Trouble};
use super::ledger::{Ledger, Window, WindowState};
use super::page::{Failure, Page};
use super::polite::Polite;
use super::quirks::{ADAPTATIONS, Asked, Quirks, encoded};
use super::report::Report;
use super::sink::Sink;
use crate::config::Source;

/// Empty pages in a row that a list may have.
const EMPTY_PAGES: u32 = 20;
/// Windows a target may fall into: beyond it halving does not help.
const MOST_WINDOWS: usize = 20_000;
/// Sets worth asking for; more are counted as found.
const MOST_SETS: usize = 200_000;
const DAY: i64 = 86_400;

/// What a harvest is asked to do, beside what the source's settings say.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Only from this date on, and without moving the cursor.
    pub from: Option<UtcDatetime>,
    /// Only up to this date, and without moving the cursor.
    pub until: Option<UtcDatetime>,
    /// Everything once more, whatever was harvested before.
    pub full: bool,
    /// Compare identifiers afterwards and mend the differences.
    pub verify: bool,
}

/// What the world outside gives a harvest.
pub struct Outside<'a> {
    /// Mail address of a person.
    pub contact: &'a str,
    /// Who else asks the same hosts.
    pub polite: &'a Polite,
    /// Set when the harvest shall end.
    pub stop: &'a AtomicBool,
    /// Hears how it goes: the report so far and how many records were advertised.
    pub progress: &'a (dyn Fn(&Report, Option<u64>) + Sync),
}

/// What a harvest remembers between runs.
pub trait Memory {
    /// The ledger of a target.
    ///
    /// # Errors
    /// When it cannot be read.
    fn ledger(&self, prefix: &str, set: &str) -> Result<Ledger>;

    /// Makes a format known before its first record.
    ///
    /// # Errors
    /// When it cannot be written.
    fn declare_format(&mut self, format: &MetadataFormat) -> Result<()>;

    /// Makes a set known.
    ///
    /// # Errors
    /// When it cannot be written.
    fn define_set(&mut self, set: &Set) -> Result<()>;

    /// What is known of a record.
    ///
    /// # Errors
    /// When it cannot be read.
    fn known(&self, prefix: &MetadataPrefix, identifier: &str) -> Result<Option<Known>>;

    /// Begins to compare with what the source lists.
    ///
    /// # Errors
    /// When nothing is remembered.
    fn begin_comparison(&mut self) -> Result<()> {
        bail!("only what is in the store can be verified")
    }

    /// The source lists this identifier.
    ///
    /// # Errors
    /// When it cannot be noted.
    fn mention(&mut self, _: &Identifier) -> Result<()> {
        Ok(())
    }

    /// What is live here and was not mentioned.
    ///
    /// # Errors
    /// When it cannot be read.
    fn vanished(&mut self, _: &MetadataPrefix) -> Result<Vanished> {
        Ok(Vanished { records: 0, of: 0 })
    }

    /// Deletes what [`vanished`](Self::vanished) found.
    ///
    /// # Errors
    /// When it cannot be written.
    fn delete_vanished(&mut self) -> Result<u64> {
        Ok(0)
    }
}

/// Why a harvest ended before its end.
pub(super) enum Ended {
    /// By the source.
    Trouble(Trouble),
    /// By us.
    Failure(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Ended {
        Ended::Failure(error)
    }
}

impl From<Trouble> for Ended {
    fn from(trouble: Trouble) -> Ended {
        Ended::Trouble(trouble)
    }
}

/// A harvest under way.
pub struct Harvest<'a> {
    pub(super) source: &'a Source,
    pub(super) fetcher: Fetcher<'a>,
    pub(super) outside: &'a Outside<'a>,
    pub(super) sink: &'a mut dyn Sink,
    pub(super) memory: &'a mut dyn Memory,
    /// What the source needs.
    pub quirks: Quirks,
    /// What happened.
    pub report: Report,
    wanted: Wanted,
    facts: Facts,
}

/// What the source says of itself.
struct Facts {
    granularity: Granularity,
    earliest: i64,
    /// The source's clock when we began.
    now: i64,
    formats: Vec<MetadataFormat>,
    sets: Vec<SetSpec>,
}

impl<'a> Harvest<'a> {
    /// A harvest of a source.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub fn new(
        source: &'a Source,
        quirks: Quirks,
        wanted: Wanted,
        outside: &'a Outside<'a>,
        sink: &'a mut dyn Sink,
        memory: &'a mut dyn Memory,
    ) -> Result<Harvest<'a>> {
        let client = Client::new(source, outside.contact)?;
        Ok(Harvest {
            source,
            fetcher: Fetcher::new(source, client, outside.polite, outside.stop),
            outside,
            sink,
            memory,
            quirks,
            report: Report::default(),
            wanted,
            facts: Facts {
                granularity: Granularity::Day,
                earliest: 0,
                now: 0,
                formats: Vec::new(),
                sets: Vec::new(),
            },
        })
    }

    /// Harvests everything that is wanted. The report tells how far it came.
    ///
    /// # Errors
    /// When what was received cannot be saved. Whatever the source does is in the report.
    pub fn run(&mut self) -> Result<()> {
        if self.source.accept_bad_certificates {
            self.report
                .find("bad-certificates-accepted", "TLS certificates are not verified");
        }
        let outcome = self.everything();
        for outcome in self.sink.settle()? {
            self.report.outcome(outcome);
        }
        match outcome {
            Ok(complete) => self.report.complete = complete,
            Err(Ended::Trouble(trouble)) => self.report.stopped = Some(trouble.reason()),
            Err(Ended::Failure(error)) => return Err(error),
        }
        Ok(())
    }

    /// Whether nothing is missing.
    fn everything(&mut self) -> Result<bool, Ended> {
        self.identify()?;
        self.formats()?;
        self.sets()?;
        let mut complete = true;
        for prefix in self.source.prefixes.clone() {
            let prefix = MetadataPrefix::parse(&prefix).map_err(|error| Ended::Failure(error.into()))?;
            let mut sets: Vec<Option<SetSpec>> = vec![None];
            if !self.source.sets.is_empty() {
                let parsed = self.source.sets.iter().map(|set| SetSpec::parse(set).map(Some));
                sets = parsed
                    .collect::<Result<_, _>>()
                    .map_err(|error| Ended::Failure(error.into()))?;
            }
            for set in sets {
                complete &= self.target(&prefix, set.as_ref())?;
            }
        }
        Ok(complete)
    }

    fn identify(&mut self) -> Result<(), Ended> {
        let mut collected = Collected::of_facts(&mut *self.sink);
        let asked = self
            .fetcher
            .ask(&Request::Identify, "", &self.quirks, &mut self.report, &mut |entry| {
                collected.take(entry);
            });
        let identify = collected.identify.take();
        let page = match asked {
            Ok(page) => page,
            // An endpoint that lists without introducing itself is still an endpoint.
            Err(Trouble::Broken(reason) | Trouble::Rejected(reason)) => {
                self.report.find("identify-failed", reason);
                Page::default()
            }
            Err(trouble) => return Err(trouble.into()),
        };
        self.facts.now = page.response_date.map_or(0, Datestamp::unix);
        match identify {
            Some(identify) => {
                self.facts.granularity = identify.granularity;
                self.facts.earliest = identify.earliest_datestamp.unix();
            }
            None => self.report.find("identify-failed", "nothing could be read"),
        }
        if let Some(granularity) = self.quirks.granularity {
            self.facts.granularity = granularity.into();
        }
        Ok(())
    }

    fn formats(&mut self) -> Result<(), Ended> {
        let request = Request::ListMetadataFormats { identifier: None };
        let mut collected = Collected::of_facts(&mut *self.sink);
        let asked = self
            .fetcher
            .ask(&request, "", &self.quirks, &mut self.report, &mut |entry| {
                collected.take(entry)
            });
        let formats = std::mem::take(&mut collected.formats);
        match asked {
            Ok(_) => self.facts.formats = formats,
            Err(trouble @ (Trouble::Stopped | Trouble::Later(_))) => return Err(trouble.into()),
            Err(trouble) => self.report.find("formats-unknown", trouble.reason()),
        }
        for prefix in &self.source.prefixes {
            let offered = self
                .facts
                .formats
                .iter()
                .find(|format| format.prefix.as_str() == prefix);
            let format = match offered {
                Some(format) => format.clone(),
                None if self.facts.formats.is_empty() => well_known(prefix)?,
                None => {
                    let known: Vec<&str> = self.facts.formats.iter().map(|format| format.prefix.as_str()).collect();
                    let reason = format!("it does not offer the format {prefix}, only {}", known.join(", "));
                    return Err(Trouble::Refused(reason).into());
                }
            };
            self.memory.declare_format(&format)?;
        }
        Ok(())
    }

    fn sets(&mut self) -> Result<(), Ended> {
        let mut token = None;
        let mut seen = HashSet::new();
        loop {
            let request = Request::ListSets {
                resumption_token: token,
            };
            let mut collected = Collected::of_facts(&mut *self.sink);
            let asked = self
                .fetcher
                .ask(&request, "", &self.quirks, &mut self.report, &mut |entry| {
                    collected.take(entry);
                });
            let sets = std::mem::take(&mut collected.sets);
            let page = match asked {
                Ok(page) => page,
                Err(trouble @ (Trouble::Stopped | Trouble::Later(_))) => return Err(trouble.into()),
                Err(trouble) => {
                    self.report.find("sets-unknown", trouble.reason());
                    break;
                }
            };
            let mut new = false;
            for set in sets {
                if seen.insert(set.spec.as_str().to_owned()) {
                    new = true;
                    self.memory.define_set(&set)?;
                    self.facts.sets.push(set.spec);
                }
            }
            token = page.next().map(str::to_owned);
            if token.is_none() || !new || seen.len() >= MOST_SETS {
                break;
            }
        }
        for set in &self.source.sets {
            if !seen.is_empty() && !seen.contains(set) {
                self.report
                    .find("set-vanished", format!("{set} is not among the sets the source lists"));
            }
        }
        Ok(())
    }

    /// Whether nothing of the target is missing.
    fn target(&mut self, prefix: &MetadataPrefix, set: Option<&SetSpec>) -> Result<bool, Ended> {
        let mut ledger = self.memory.ledger(prefix.as_str(), set.map_or("", SetSpec::as_str))?;
        let own_range = self.wanted.from.is_some() || self.wanted.until.is_some();
        if ledger.next_open().is_none() || own_range || self.wanted.full {
            let (from, until) = self.range(&ledger);
            if self.wanted.full {
                ledger.windows.clear();
            }
            let notes = ledger.begin_round(from, until);
            self.note(notes)?;
        }
        let mut progress = TargetProgress::default();
        while let Some(at) = ledger.next_open() {
            self.window(prefix, &mut ledger, at, &mut progress)?;
        }
        if own_range {
            ledger.target.round = None;
        }
        let notes = ledger.end_round();
        self.note(notes)?;
        Ok(!ledger.has_gaps())
    }

    /// The dates of a new round.
    fn range(&self, ledger: &Ledger) -> (Option<i64>, Option<i64>) {
        let setting = |text: &str| UtcDatetime::parse(text).ok();
        let until = self.wanted.until.or_else(|| setting(&self.source.until));
        let until = until.map(|until| until.last_second().unix());
        if let Some(from) = self.wanted.from {
            return (Some(from.first_second().unix()), until);
        }
        let floor = setting(&self.source.from).map(|from| from.first_second().unix());
        if self.wanted.full || self.quirks.no_dates || self.quirks.ignores_from {
            return (floor.filter(|_| !self.quirks.no_dates), until);
        }
        let overlap = i64::try_from(self.source.overlap_seconds).unwrap_or(i64::MAX);
        let from = ledger.target.cursor.map(|cursor| match self.facts.granularity {
            Granularity::Second => cursor.saturating_sub(overlap.max(1)),
            Granularity::Day => cursor.saturating_sub(overlap.max(DAY)).div_euclid(DAY) * DAY,
        });
        (from.max(floor), until)
    }

    /// Asks for a window until it is done or something else has taken its place.
    fn window(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        progress: &mut TargetProgress,
    ) -> Result<(), Ended> {
        let mut seen = HashSet::new();
        let mut empty = 0;
        let mut rejections = 0;
        let mut trial: Option<usize> = None;
        loop {
            let window = ledger.windows[at].clone();
            let quirks = match trial {
                None => self.quirks.clone(),
                Some(adaptation) => {
                    let mut quirks = self.quirks.clone();
                    (ADAPTATIONS[adaptation].learn)(&self.asked(&window, ledger), &mut quirks);
                    quirks
                }
            };
            let (request, asked) = self.request(prefix, ledger, &window, &quirks);
            let wanted = self.asked_for(prefix, self.set_of(ledger, &window), window.from);
            let mut collected = Collected::of_records(&mut *self.sink, wanted);
            let answer = self
                .fetcher
                .ask(&request, prefix.as_str(), &quirks, &mut self.report, &mut |entry| {
                    collected.take(entry);
                });
            if let Some(failure) = collected.failure.take() {
                return Err(failure.into());
            }
            let page = match answer {
                Ok(page) => page,
                Err(Trouble::Rejected(reason)) => {
                    drop(collected);
                    if self.adapt(&asked, &mut trial) {
                        continue;
                    }
                    return self.remedy(ledger, at, Trouble::Rejected(reason), progress);
                }
                Err(trouble) => {
                    drop(collected);
                    return self.remedy(ledger, at, trouble, progress);
                }
            };
            if let Some(error) = page.errors.first() {
                drop(collected);
                match self.judge(error, &window, ledger) {
                    Judgement::Nothing => {
                        self.finish(ledger, at, prefix)?;
                        return Ok(());
                    }
                    Judgement::WithDates => {
                        self.quirks.needs_dates = true;
                        self.report
                            .find("needs-dates", "nothing is given unless dates are sent");
                        ledger.windows[at].from = Some(self.facts.earliest);
                        ledger.windows[at].until = Some(self.facts.now.max(self.facts.earliest));
                        continue;
                    }
                    Judgement::AskAgain if rejections == 0 => {
                        rejections += 1;
                        continue;
                    }
                    Judgement::AskAgain | Judgement::AskDifferently => {
                        if self.adapt(&asked, &mut trial) {
                            continue;
                        }
                        return self.remedy(ledger, at, Trouble::Rejected(error.text.clone()), progress);
                    }
                    Judgement::BeginAnew => {
                        return self.remedy(ledger, at, Trouble::Broken(error.text.clone()), progress);
                    }
                    Judgement::GiveUp => {
                        return self.gap(ledger, at, error.text.clone());
                    }
                }
            }
            // It worked: whatever was tried is what this source needs.
            if let Some(adaptation) = trial.take() {
                self.quirks = quirks.clone();
                self.report.find("learned", ADAPTATIONS[adaptation].sentence);
            }
            progress.pages += 1;
            if ledger.target.round.is_none() {
                ledger.target.round = page.response_date.map(Datestamp::unix);
            }
            if page.entries > 0 && !seen.insert(page.digest) {
                self.report.find("token-loop", "the same page came again");
                drop(collected);
                return self.remedy(
                    ledger,
                    at,
                    Trouble::Broken("the list runs in a circle".into()),
                    progress,
                );
            }
            empty = if page.entries == 0 { empty + 1 } else { 0 };
            let headers = std::mem::take(&mut collected.headers);
            let (received, outside_set, before_from) =
                (collected.received, collected.outside_set, collected.before_from);
            self.report.quarantined += collected.quarantined.len() as u64;
            let unreadable = collected.quarantined.len() as u64;
            let next = page.next().map(str::to_owned).filter(|_| empty < EMPTY_PAGES);
            {
                let window = &mut ledger.windows[at];
                window.pages += 1;
                window.received += received;
                window.advertised = page
                    .token
                    .as_ref()
                    .and_then(|token| token.complete_list_size)
                    .or(window.advertised);
                window.token.clone_from(&next);
            }
            if window.by_identifier {
                drop(collected);
                self.fetch_each(prefix, &headers, &mut ledger.windows[at], &quirks)?;
                if next.is_some() {
                    let notes = vec![ledger.window_note(at), ledger.target_note()];
                    self.note(notes)?;
                }
            } else {
                self.report.received += received;
                if next.is_some() {
                    let notes = vec![ledger.window_note(at), ledger.target_note()];
                    collected.deliver(notes);
                } else {
                    // The rest of the page goes with the note that ends the window.
                    collected.deliver(vec![ledger.target_note()]);
                }
                if let Some(failure) = collected.failure.take() {
                    return Err(failure.into());
                }
                drop(collected);
            }
            self.find_oddities(&page, &ledger.windows[at], outside_set, before_from, unreadable, empty);
            (self.outside.progress)(&self.report, ledger.windows[at].advertised);
            if next.is_none() {
                return self.finish(ledger, at, prefix);
            }
        }
    }

    /// The request for the next page of a window, and what matters about it if it is rejected.
    fn request(&self, prefix: &MetadataPrefix, ledger: &Ledger, window: &Window, quirks: &Quirks) -> (Request, Asked) {
        let list = match &window.token {
            Some(token) => ListRequest::Resume {
                resumption_token: token.clone(),
            },
            None => {
                let granularity = quirks.granularity.map_or(self.facts.granularity, Into::into);
                let date = |seconds: Option<i64>| {
                    let date = seconds.filter(|_| !quirks.no_dates).and_then(Datestamp::from_unix);
                    date.map(|date| UtcDatetime::new(date, granularity))
                };
                let from = date(window.from);
                let mut until = date(window.until.filter(|_| !quirks.no_until));
                // Some give nothing for a single granule; what comes too much is the next window's anyway.
                if from.is_some() && from == until {
                    let granule = if granularity == Granularity::Day { DAY } else { 1 };
                    until = date(window.until.map(|until| until + granule));
                }
                ListRequest::Selection {
                    metadata_prefix: prefix.clone(),
                    from,
                    until,
                    set: self.set_of(ledger, window),
                }
            }
        };
        let request = if window.by_identifier {
            Request::ListIdentifiers(list)
        } else {
            Request::ListRecords(list)
        };
        (request, self.asked(window, ledger))
    }

    fn asked(&self, window: &Window, ledger: &Ledger) -> Asked {
        let set = self.set_of(ledger, window);
        let changed = |value: &str| encoded(value) != value;
        Asked {
            dates: window.from.is_some() || window.until.is_some(),
            until: window.until.is_some(),
            token: window.token.is_some(),
            encoded: window.token.as_deref().is_some_and(changed) || set.is_some_and(|set| changed(set.as_str())),
            granularity: self.facts.granularity,
        }
    }

    fn set_of(&self, ledger: &Ledger, window: &Window) -> Option<SetSpec> {
        let set = if window.slice.is_empty() {
            &ledger.target.set
        } else {
            &window.slice
        };
        SetSpec::parse(set).ok()
    }

    /// Moves on to the next way of asking; `false` when there is none left.
    fn adapt(&mut self, asked: &Asked, trial: &mut Option<usize>) -> bool {
        let first = trial.map_or(0, |last| last + 1);
        *trial = (first..ADAPTATIONS.len()).find(|at| (ADAPTATIONS[*at].applies)(asked, &self.quirks));
        trial.is_some()
    }

    /// What an error of the protocol means here.
    fn judge(&mut self, failure: &Failure, window: &Window, ledger: &Ledger) -> Judgement {
        let resumed = window.token.is_some();
        let selective = window.from.is_some() || window.until.is_some() || self.set_of(ledger, window).is_some();
        match failure.code {
            Some(ErrorCode::NoRecordsMatch) if resumed => {
                self.report
                    .find("no-records-at-the-end", "the last token leads to noRecordsMatch");
                Judgement::Nothing
            }
            Some(ErrorCode::NoRecordsMatch) if !selective && !self.quirks.needs_dates && window.pages == 0 => {
                Judgement::WithDates
            }
            Some(ErrorCode::NoRecordsMatch) => Judgement::Nothing,
            Some(ErrorCode::BadResumptionToken) => Judgement::BeginAnew,
            Some(ErrorCode::BadArgument) if resumed => Judgement::AskAgain,
            Some(ErrorCode::BadArgument | ErrorCode::BadVerb) => Judgement::AskDifferently,
            Some(ErrorCode::CannotDisseminateFormat) if selective => {
                self.report.find("cannot-disseminate-nothing", failure.text.clone());
                Judgement::Nothing
            }
            None if failure.says_nothing_there() => Judgement::Nothing,
            None if !resumed => Judgement::AskAgain,
            _ if resumed => Judgement::BeginAnew,
            _ => Judgement::GiveUp,
        }
    }

    /// What can still be done for a window that cannot be had as it is.
    fn remedy(
        &mut self,
        ledger: &mut Ledger,
        at: usize,
        trouble: Trouble,
        progress: &mut TargetProgress,
    ) -> Result<(), Ended> {
        let window = ledger.windows[at].clone();
        let resumed = window.token.is_some();
        let reason = trouble.reason();
        match &trouble {
            Trouble::Stopped | Trouble::Later(_) => return Err(trouble.into()),
            Trouble::Refused(_) if !resumed || window.restarts > 0 => return Err(trouble.into()),
            _ => {}
        }
        if resumed && window.restarts == 0 && !matches!(trouble, Trouble::TooLarge(_)) {
            self.report.find("list-begun-anew", reason);
            ledger.windows[at].restart();
            let note = ledger.window_note(at);
            return self.note(vec![note]);
        }
        // When no list of records ever came, it is not the window that is at fault.
        let lists_work = progress.pages > 0 || window.pages > 0;
        let size_matters = matches!(trouble, Trouble::TooLarge(_) | Trouble::TimedOut(_));
        if (size_matters || lists_work) && !self.quirks.no_dates && ledger.windows.len() < MOST_WINDOWS {
            let granularity = self.quirks.granularity.map_or(self.facts.granularity, Into::into);
            if let Some(halves) = window.halves(self.facts.earliest, self.facts.now, granularity) {
                self.report.find("window-halved", format!("{window}: {reason}"));
                let notes = ledger.replace(at, halves.to_vec());
                return self.note(notes);
            }
        }
        let sliceable = window.slice.is_empty() && ledger.target.set.is_empty() && !self.facts.sets.is_empty();
        if sliceable && !window.by_identifier && matches!(trouble, Trouble::TooLarge(_) | Trouble::Rejected(_)) {
            return self.slice(ledger, at, &reason, matches!(trouble, Trouble::Rejected(_)));
        }
        if !window.by_identifier {
            self.report.find("record-by-record", format!("{window}: {reason}"));
            let window = &mut ledger.windows[at];
            window.restart();
            (window.by_identifier, window.restarts) = (true, 0);
            let note = ledger.window_note(at);
            return self.note(vec![note]);
        }
        self.gap(ledger, at, reason)
    }

    /// Asks set by set, and then for whatever is in none of them.
    fn slice(&mut self, ledger: &mut Ledger, at: usize, reason: &str, needs_set: bool) -> Result<(), Ended> {
        let window = ledger.windows[at].clone();
        self.report.find("sliced-by-set", format!("{window}: {reason}"));
        self.quirks.needs_set |= needs_set;
        let is_top = |set: &&SetSpec| !self.facts.sets.iter().any(|other| other != *set && other.contains(set));
        let mut slices: Vec<Window> = self
            .facts
            .sets
            .iter()
            .filter(is_top)
            .map(|set| Window {
                slice: set.as_str().to_owned(),
                from: window.from,
                until: window.until,
                ..Window::default()
            })
            .collect();
        if !needs_set {
            slices.push(Window {
                from: window.from,
                until: window.until,
                by_identifier: true,
                ..Window::default()
            });
        }
        let notes = ledger.replace(at, slices);
        self.note(notes)
    }

    fn gap(&mut self, ledger: &mut Ledger, at: usize, reason: String) -> Result<(), Ended> {
        self.report.find("gap", format!("{}: {reason}", ledger.windows[at]));
        let window = &mut ledger.windows[at];
        (window.state, window.reason) = (WindowState::Gap, reason);
        let note = ledger.window_note(at);
        self.note(vec![note])
    }

    /// A window has come to its end: is anything missing?
    fn finish(&mut self, ledger: &mut Ledger, at: usize, _prefix: &MetadataPrefix) -> Result<(), Ended> {
        let window = ledger.windows[at].clone();
        let short = window.advertised.is_some_and(|advertised| window.received < advertised);
        if let Some(advertised) = window.advertised.filter(|_| !window.by_identifier) {
            *self.report.advertised.get_or_insert(0) += advertised;
            if advertised != window.received {
                let example = format!("{advertised} advertised, {} received", window.received);
                self.report.find("list-size", example);
            }
        }
        let known = self.quirks.wrong_list_size;
        if short && !window.by_identifier && !known {
            // A list that ends early looks like any other: only the identifiers tell.
            self.report
                .find("short-list", format!("{window}: checked by identifiers"));
            let window = &mut ledger.windows[at];
            window.restart();
            (window.by_identifier, window.checking, window.restarts) = (true, true, 0);
            let note = ledger.window_note(at);
            return self.note(vec![note]);
        }
        ledger.windows[at].state = WindowState::Done;
        ledger.windows[at].token = None;
        let notes = vec![ledger.window_note(at), ledger.target_note()];
        self.note(notes)
    }

    /// Fetches the records of headers one by one, those that are not there yet.
    fn fetch_each(
        &mut self,
        prefix: &MetadataPrefix,
        headers: &[stook_oai::Header],
        window: &mut Window,
        quirks: &Quirks,
    ) -> Result<(), Ended> {
        let mut fetched = 0;
        for header in headers {
            let known = self.memory.known(prefix, header.identifier.as_str())?;
            let same = known.is_some_and(|known| {
                known.deleted && header.deleted
                    || !known.deleted
                        && !header.deleted
                        && known.origin == header.known_datestamp().map(UtcDatetime::first_second)
            });
            if same {
                continue;
            }
            fetched += 1;
            self.fetch_one(prefix, header, quirks)?;
        }
        self.report.received += fetched;
        if window.checking {
            if fetched > 0 {
                self.report
                    .count("recovered", fetched, "records that the list left out");
            } else if window.token.is_none() && self.report.found("recovered") == 0 {
                self.quirks.wrong_list_size = true;
            }
        }
        Ok(())
    }

    /// Fetches one record, or puts it into quarantine.
    pub(super) fn fetch_one(
        &mut self,
        prefix: &MetadataPrefix,
        header: &stook_oai::Header,
        quirks: &Quirks,
    ) -> Result<(), Ended> {
        let request = Request::GetRecord {
            identifier: header.identifier.as_str().to_owned(),
            metadata_prefix: prefix.clone(),
        };
        let wanted = self.asked_for(prefix, None, None);
        let mut collected = Collected::of_records(&mut *self.sink, wanted);
        if header.deleted {
            collected.take(super::page::Entry::Record(stook_oai::Record {
                header: header.clone(),
                metadata: None,
                about: Vec::new(),
            }));
            collected.deliver(Vec::new());
            return collected.failure.take().map_or(Ok(()), |failure| Err(failure.into()));
        }
        let asked = self
            .fetcher
            .ask(&request, prefix.as_str(), quirks, &mut self.report, &mut |entry| {
                collected.take(entry);
            });
        match asked {
            Ok(page) if page.errors.is_empty() => {}
            Ok(page) => {
                let error = page.errors.first().map(|error| error.text.clone()).unwrap_or_default();
                self.report.find(
                    "listed-but-not-given",
                    format!("{}: {error}", header.identifier.as_str()),
                );
            }
            Err(trouble @ (Trouble::Stopped | Trouble::Later(_))) => return Err(trouble.into()),
            Err(trouble) => {
                self.report.find(
                    "record-not-given",
                    format!("{}: {}", header.identifier.as_str(), trouble.reason()),
                );
                collected.quarantine(
                    Some(header.identifier.as_str().to_owned()),
                    trouble.reason(),
                    Vec::new(),
                );
            }
        }
        self.report.quarantined += collected.quarantined.len() as u64;
        let delivery_notes = if collected.quarantined.is_empty() {
            Vec::new()
        } else {
            vec![marker()]
        };
        collected.deliver(delivery_notes);
        collected.failure.take().map_or(Ok(()), |failure| Err(failure.into()))
    }

    fn asked_for(&self, prefix: &MetadataPrefix, set: Option<SetSpec>, from: Option<i64>) -> AskedFor {
        let format = self.facts.formats.iter().find(|format| format.prefix == *prefix);
        AskedFor {
            prefix: prefix.clone(),
            namespace: format.map_or(String::new(), |format| format.namespace.clone()),
            set,
            from,
            place: self.source.url.clone(),
        }
    }

    fn find_oddities(
        &mut self,
        page: &Page,
        window: &Window,
        outside_set: u64,
        before_from: u64,
        unreadable: u64,
        empty: u32,
    ) {
        if page.entries == 0 {
            self.report.find("empty-page", "a list without entries");
        }
        if empty >= EMPTY_PAGES {
            self.report
                .find("empty-pages", "the list was ended after many empty pages");
        }
        self.report.count(
            "outside-the-set",
            outside_set,
            "records that are not in the set asked for",
        );
        self.report
            .count("quarantined-records", unreadable, "records that cannot be read");
        if before_from > 0 {
            self.report
                .count("from-ignored", before_from, "records from before the date asked for");
            if window.pages <= 1 && before_from * 2 > window.received {
                self.quirks.ignores_from = true;
            }
        }
    }

    pub(super) fn note(&mut self, notes: Vec<Note>) -> Result<(), Ended> {
        let delivery = super::sink::Delivery {
            notes,
            ..super::sink::Delivery::default()
        };
        self.sink.deliver(delivery).map_err(Ended::Failure)
    }
}

/// A note that says nothing, so that what stands beside it is written.
fn marker() -> Note {
    Note {
        key: "marker".into(),
        text: None,
    }
}

/// What was achieved for a target in this run.
#[derive(Default)]
pub(super) struct TargetProgress {
    /// Pages received.
    pages: u64,
}

/// What to do about an error of the protocol.
enum Judgement {
    /// There is nothing more in the window.
    Nothing,
    /// The same once more.
    AskAgain,
    /// In another way.
    AskDifferently,
    /// With dates, although everything is wanted.
    WithDates,
    /// From the beginning of the list.
    BeginAnew,
    /// Not at all.
    GiveUp,
}

/// A format that the source would not describe.
fn well_known(prefix: &str) -> Result<MetadataFormat> {
    let known = stook_metadata::well_known()
        .iter()
        .find(|format| format.prefix.as_str() == prefix);
    match known {
        Some(format) => Ok(format.metadata_format()),
        None => Ok(MetadataFormat {
            prefix: MetadataPrefix::parse(prefix).context("the format's prefix")?,
            schema: String::new(),
            namespace: String::new(),
        }),
    }
}
