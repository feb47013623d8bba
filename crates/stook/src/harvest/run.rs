//! One harvest of one source, on one screen:
//!
//! ```text
//! identify ─► formats ─► sets ─► for each (prefix, set):
//!   round ─► window ─► page ─► deliver (records, token and ledger in one transaction) ─► next page
//!                └─ trouble ─► remedy: ask differently, begin anew, halve, slice, record by record, leave a gap
//! ```

use std::sync::atomic::AtomicBool;

use anyhow::{Error, Result, bail};
use stook_oai::{Granularity, Identifier, MetadataFormat, MetadataPrefix, Set, SetSpec, UtcDatetime};
use stook_store::{Known, Note, Vanished};

use super::client::Client;
use super::fetch::{Fetcher, Trouble};
use super::ledger::{DAY, Ledger, WindowState};
use super::polite::Polite;
use super::quirks::Quirks;
use super::report::Report;
use super::sink::{Delivery, Sink};
use crate::config::Source;

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
    /// Only if nobody else has harvested it since its report was read.
    pub unless_harvested: bool,
    /// Nobody has ever heard of the source: what fails is more likely a wrong address than a bad day.
    pub first_contact: bool,
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

    /// The identifiers of records in quarantine, the oldest few.
    ///
    /// # Errors
    /// When they cannot be read.
    fn quarantined(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Empties the quarantine.
    ///
    /// # Errors
    /// When it cannot be written.
    fn clear_quarantine(&mut self) -> Result<()> {
        Ok(())
    }

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

    /// What is live here, in these sets if there are any, and was not mentioned.
    ///
    /// # Errors
    /// When it cannot be read.
    fn vanished(&mut self, _: &MetadataPrefix, _: &[SetSpec]) -> Result<Vanished> {
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
    pub(super) wanted: Wanted,
    pub(super) facts: Facts,
}

/// What the source says of itself.
pub(super) struct Facts {
    pub(super) granularity: Granularity,
    pub(super) earliest: i64,
    /// The source's clock when we began.
    pub(super) now: i64,
    pub(super) formats: Vec<MetadataFormat>,
    pub(super) sets: Vec<SetSpec>,
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
            fetcher: Fetcher::new(source, client, outside),
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
        match self.settle() {
            Err(Ended::Failure(error)) => return Err(error),
            Err(Ended::Trouble(_)) | Ok(()) => {}
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
        self.introduce()?;
        if self.wanted.full {
            // What is still broken will come again.
            self.memory.clear_quarantine()?;
        } else {
            self.retry_quarantined()?;
        }
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

    /// Whether nothing of the target is missing.
    fn target(&mut self, prefix: &MetadataPrefix, set: Option<&SetSpec>) -> Result<bool, Ended> {
        let mut ledger = self.memory.ledger(prefix.as_str(), set.map_or("", SetSpec::as_str))?;
        let mut left_over = ledger.next_open().is_some();
        if self.wanted.full {
            let notes = ledger.forget_windows();
            self.note(notes)?;
            left_over = false;
        }
        if left_over {
            self.round(prefix, &mut ledger)?;
            if ledger.has_gaps() || self.asks_for_everything() {
                return Ok(!ledger.has_gaps());
            }
            // The list was begun by an earlier harvest; what has changed since comes in a round of its own.
        }
        let own_range = self.wanted.from.is_some() || self.wanted.until.is_some();
        let notes = ledger.begin_round(self.range(&ledger), own_range);
        self.note(notes)?;
        self.round(prefix, &mut ledger)?;
        Ok(!ledger.has_gaps())
    }

    /// Asks for every open window.
    fn round(&mut self, prefix: &MetadataPrefix, ledger: &mut Ledger) -> Result<(), Ended> {
        self.begin_as_learned(ledger)?;
        let mut progress = Progress::default();
        loop {
            while let Some(at) = ledger.next_open() {
                self.window(prefix, ledger, at, &mut progress)?;
            }
            if !self.reopen(prefix, ledger, &mut progress)? {
                break;
            }
        }
        let notes = ledger.end_round();
        self.note(notes)
    }

    /// Whether every round is of everything, because the source cannot select by date.
    fn asks_for_everything(&self) -> bool {
        self.quirks.no_dates || self.quirks.ignores_from
    }

    /// What was learned before is used at once.
    fn begin_as_learned(&mut self, ledger: &mut Ledger) -> Result<(), Ended> {
        let Some(at) = ledger.windows.len().checked_sub(1) else {
            return Ok(());
        };
        let window = &ledger.windows[at];
        let untouched = window.state == WindowState::Open && window.pages == 0 && window.slice.is_empty();
        if !untouched || self.wanted.full && !self.quirks.needs_set {
            return Ok(());
        }
        if self.quirks.needs_set && ledger.target.set.is_empty() && !self.facts.sets.is_empty() {
            return self.slice(ledger, at, "a set must be named", true);
        }
        if self.quirks.get_record {
            ledger.windows[at].by_identifier = true;
            let note = ledger.window_note(at);
            self.note(vec![note])?;
        }
        Ok(())
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
        if self.wanted.full || self.asks_for_everything() {
            return (floor, until);
        }
        let overlap = i64::try_from(self.source.overlap_seconds).unwrap_or(i64::MAX);
        let from = ledger.target.cursor.map(|cursor| match self.facts.granularity {
            Granularity::Second => cursor.saturating_sub(overlap.max(1)),
            Granularity::Day => cursor.saturating_sub(overlap.max(DAY)).div_euclid(DAY) * DAY,
        });
        (from.max(floor), until)
    }

    pub(super) fn note(&mut self, notes: Vec<Note>) -> Result<(), Ended> {
        self.deliver(Delivery {
            notes,
            ..Delivery::default()
        })
    }

    pub(super) fn deliver(&mut self, delivery: Delivery) -> Result<(), Ended> {
        self.sink.deliver(delivery).map_err(Ended::Failure)
    }

    /// Waits until everything that came is in the store, so that it can be compared.
    pub(super) fn settle(&mut self) -> Result<(), Ended> {
        for outcome in self.sink.settle()? {
            self.report.outcome(outcome);
        }
        Ok(())
    }
}

/// What was achieved for a target in this run, and found out about its source.
#[derive(Default)]
pub(super) struct Progress {
    /// Pages of ListRecords received.
    pub(super) record_pages: u64,
    /// Requests in a row that came to nothing, the expensive ones counted several times.
    pub(super) failures: u32,
    /// Whether dates have been answered.
    pub(super) dates_work: bool,
    /// Whether `until` has selected something.
    pub(super) until_works: bool,
    /// The datestamp of a record that came.
    pub(super) some_date: Option<i64>,
    /// Whether `from` and `until` on one day have selected something.
    pub(super) one_day_works: bool,
    /// Whether `from` has been seen to select nothing, or something.
    pub(super) from_checked: bool,
    /// Whether `until` has been seen to select nothing, or something.
    pub(super) until_checked: bool,
    /// Whether a list of almost nothing is answered.
    pub(super) narrow_lists_work: Option<bool>,
    /// Records that GetRecord would not give whole, either.
    pub(super) rescues_failed: u32,
    /// Lists are known to end early.
    pub(super) short_lists: bool,
    /// Windows that were believed to be empty although they are within one day.
    pub(super) doubtful: Vec<u32>,
    /// Windows that were believed although fewer records came than advertised.
    pub(super) believed: Vec<u32>,
}
