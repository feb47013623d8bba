//! What has been asked for, received and committed: the windows of each (prefix, set) of a source.
//!
//! A *target* is one (prefix, set). A *round* covers everything that changed since the round before, as a row of
//! *windows*: stretches of dates, each asked for as one list. The ledger is written in the same transaction as the
//! records it speaks of, so a killed harvest goes on at the page it was at.

use std::fmt;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use stook_oai::{Datestamp, Granularity};
use stook_store::{Note, RepositoryId, Store};

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// One (prefix, set) of a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The metadataPrefix.
    pub prefix: String,
    /// The set; empty means everything.
    #[serde(default)]
    pub set: String,
    /// Where the next round begins, by the source's own clock.
    #[serde(default)]
    pub cursor: Option<i64>,
    /// When the source began to answer the round under way, by its own clock.
    #[serde(default)]
    pub round: Option<i64>,
    /// The round under way is of dates of its own: it leaves the cursor alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// Rounds completed.
    #[serde(default)]
    pub rounds: u64,
    /// The number of the next window.
    #[serde(default)]
    pub next_window: u32,
}

/// A stretch of dates, asked for as one list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Its number in the target.
    pub number: u32,
    /// The first second wanted; none is the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<i64>,
    /// The last second wanted; none is the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// Only this set of the target, where the window is too much at once.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub slice: String,
    /// Record by record, because lists of records cannot be had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_identifier: bool,
    /// Asked for again to see what the list left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checking: bool,
    /// The completeListSize of the window it is a part of, where that one ended early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<u64>,
    /// Part of a larger one that failed however often it was tried: one more try is enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspect: bool,
    /// The list goes on outside the set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loses_set: bool,
    /// Records that another list had left out.
    #[serde(default)]
    pub recovered: u64,
    /// Where to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Pages received in this attempt.
    #[serde(default)]
    pub pages: u64,
    /// Records received in this attempt.
    #[serde(default)]
    pub received: u64,
    /// The completeListSize the source gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advertised: Option<u64>,
    /// How often it was begun anew.
    #[serde(default)]
    pub restarts: u32,
    /// How it stands.
    #[serde(default)]
    pub state: WindowState,
    /// Why it is a gap.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// How a window stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowState {
    /// To be asked for, or in the middle of it.
    #[default]
    Open,
    /// Everything in it has been received.
    Done,
    /// Given up for now; asked for again in the next harvest.
    Gap,
}

impl Window {
    /// Begins the list anew.
    pub fn restart(&mut self) {
        (self.token, self.pages, self.received, self.advertised) = (None, 0, 0, None);
        self.recovered = 0;
        self.restarts += 1;
        self.state = WindowState::Open;
    }

    /// Two windows that cover the same; none if it cannot be cut. `now` stands for the end of an open window.
    pub fn halves(&self, earliest: i64, now: i64, granularity: Granularity) -> Option<[Window; 2]> {
        let granule = match granularity {
            Granularity::Second => 1,
            Granularity::Day => DAY,
        };
        let first = self.from.unwrap_or(earliest).div_euclid(granule);
        let last = self.until.unwrap_or(now).div_euclid(granule);
        if first >= last {
            return None;
        }
        let middle = first + (last - first) / 2;
        let half = |from: Option<i64>, until: Option<i64>| Window {
            from,
            until,
            slice: self.slice.clone(),
            by_identifier: self.by_identifier,
            ..Window::default()
        };
        let end_of_middle = (middle + 1) * granule - 1;
        Some([
            half(self.from, Some(end_of_middle)),
            half(Some(end_of_middle + 1), self.until),
        ])
    }
}

impl fmt::Display for Window {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = |seconds: Option<i64>, missing: &str| {
            let date = seconds.and_then(Datestamp::from_unix);
            date.map_or(missing.to_owned(), |date| date.format(Granularity::Second).to_string())
        };
        write!(
            formatter,
            "{} … {}",
            date(self.from, "beginning"),
            date(self.until, "now")
        )?;
        if !self.slice.is_empty() {
            write!(formatter, ", set {}", self.slice)?;
        }
        Ok(())
    }
}

/// A target and its windows, as they stand in the store.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The target.
    pub target: Target,
    /// Its windows of the last round, in order.
    pub windows: Vec<Window>,
}

impl Ledger {
    /// The ledger of a target; a new one if there is none.
    ///
    /// # Errors
    /// When the store cannot be read, or holds something else.
    pub fn load(store: &Store, repository: RepositoryId, prefix: &str, set: &str) -> Result<Ledger> {
        let mut ledger = Ledger::new(prefix, set);
        let key = ledger.target_key();
        for (found, text) in store.notes(repository, &key)? {
            if found == key {
                ledger.target = serde_json::from_str(&text).context("reading the ledger of a target")?;
            }
        }
        for (_, text) in store.notes(repository, &ledger.window_prefix())? {
            ledger
                .windows
                .push(serde_json::from_str(&text).context("reading a window of the ledger")?);
        }
        Ok(ledger)
    }

    /// A ledger of nothing yet.
    pub fn new(prefix: &str, set: &str) -> Ledger {
        Ledger {
            target: Target {
                prefix: prefix.to_owned(),
                set: set.to_owned(),
                cursor: None,
                round: None,
                apart: false,
                rounds: 0,
                next_window: 0,
            },
            windows: Vec::new(),
        }
    }

    fn target_key(&self) -> String {
        format!("target/{}/{}", self.target.prefix, self.target.set)
    }

    fn window_prefix(&self) -> String {
        format!("window/{}/{}/", self.target.prefix, self.target.set)
    }

    fn window_key(&self, number: u32) -> String {
        format!("{}{number:08}", self.window_prefix())
    }

    /// What to write for the target.
    pub fn target_note(&self) -> Note {
        Note {
            key: self.target_key(),
            text: serde_json::to_string(&self.target).ok(),
        }
    }

    /// What to write for a window.
    pub fn window_note(&self, at: usize) -> Note {
        Note {
            key: self.window_key(self.windows[at].number),
            text: serde_json::to_string(&self.windows[at]).ok(),
        }
    }

    /// The window to go on with: the first that is not done and not given up.
    pub fn next_open(&self) -> Option<usize> {
        self.windows.iter().position(|window| window.state == WindowState::Open)
    }

    /// Whether windows are left that could not be had.
    pub fn has_gaps(&self) -> bool {
        self.windows.iter().any(|window| window.state == WindowState::Gap)
    }

    /// Begins a round of one window, forgetting the windows that are done; gaps are tried again first.
    pub fn begin_round(&mut self, (from, until): (Option<i64>, Option<i64>), apart: bool) -> Vec<Note> {
        let left = self
            .windows
            .extract_if(.., |window| window.state != WindowState::Done)
            .collect();
        let mut notes = self.forget_windows();
        self.windows = left;
        for window in &mut self.windows {
            window.restart();
            (window.restarts, window.reason) = (0, String::new());
        }
        let window = self.add(Window {
            from,
            until,
            ..Window::default()
        });
        self.windows.push(window);
        (self.target.round, self.target.apart) = (None, apart);
        notes.extend((0..self.windows.len()).map(|at| self.window_note(at)));
        notes.push(self.target_note());
        notes
    }

    /// Drops every window, whatever its state.
    pub fn forget_windows(&mut self) -> Vec<Note> {
        let windows = std::mem::take(&mut self.windows);
        let keys = windows.iter().map(|window| self.window_key(window.number));
        keys.map(|key| Note { key, text: None }).collect()
    }

    /// Puts other windows in the place of one.
    pub fn replace(&mut self, at: usize, with: Vec<Window>) -> Vec<Note> {
        let mut notes = vec![Note {
            key: self.window_key(self.windows[at].number),
            text: None,
        }];
        let with: Vec<Window> = with.into_iter().map(|window| self.add(window)).collect();
        let count = with.len();
        self.windows.splice(at..=at, with);
        notes.extend((at..at + count).map(|at| self.window_note(at)));
        notes.push(self.target_note());
        notes
    }

    /// Ends the round: the next one begins where this one began. Windows that are left stay for the next harvest.
    pub fn end_round(&mut self) -> Vec<Note> {
        let open_ended_left = self
            .windows
            .iter()
            .any(|window| window.state != WindowState::Done && window.until.is_none());
        if !open_ended_left {
            if let Some(round) = self.target.round.take().filter(|_| !self.target.apart) {
                // Nothing later than the last date that was asked for has been seen.
                let last = self.windows.iter().filter_map(|window| window.until).max();
                let open_ended = self.windows.iter().any(|window| window.until.is_none());
                self.target.cursor = Some(last.filter(|_| !open_ended).map_or(round, |last| round.min(last)));
            }
            self.target.rounds += 1;
        }
        vec![self.target_note()]
    }

    fn add(&mut self, mut window: Window) -> Window {
        window.number = self.target.next_window;
        self.target.next_window += 1;
        window
    }
}

/// The targets of a source that the store knows of.
///
/// # Errors
/// When the store cannot be read.
pub fn targets(store: &Store, repository: RepositoryId) -> Result<Vec<Ledger>> {
    let mut ledgers = Vec::new();
    for (_, text) in store.notes(repository, "target/")? {
        let target: Target = serde_json::from_str(&text).context("reading the ledger of a target")?;
        ledgers.push(Ledger::load(store, repository, &target.prefix, &target.set)?);
    }
    Ok(ledgers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_cover_the_whole_and_nothing_twice() {
        for granularity in [Granularity::Second, Granularity::Day] {
            let mut windows = vec![Window {
                from: Some(DAY * 10),
                until: Some(DAY * 15 - 1),
                ..Window::default()
            }];
            for _ in 0..4 {
                windows = windows
                    .into_iter()
                    .flat_map(|window| match window.halves(0, 0, granularity) {
                        Some(halves) => halves.to_vec(),
                        None => vec![window],
                    })
                    .collect();
            }
            assert_eq!(windows[0].from, Some(DAY * 10));
            assert_eq!(windows.last().unwrap().until, Some(DAY * 15 - 1));
            for pair in windows.windows(2) {
                assert_eq!(pair[0].until.unwrap() + 1, pair[1].from.unwrap());
                if granularity == Granularity::Day {
                    assert_eq!(pair[1].from.unwrap() % DAY, 0);
                }
            }
            assert_eq!(windows.len(), if granularity == Granularity::Day { 5 } else { 16 });
        }
    }

    #[test]
    fn an_open_window_stays_open_at_its_ends() {
        let [first, second] = Window::default().halves(0, 999, Granularity::Second).unwrap();
        assert_eq!((first.from, first.until), (None, Some(499)));
        assert_eq!((second.from, second.until), (Some(500), None));
        assert!(Window::default().halves(500, 500, Granularity::Second).is_none());
    }

    #[test]
    fn the_cursor_moves_only_when_the_end_has_been_reached() {
        let mut ledger = Ledger::new("oai_dc", "");
        ledger.begin_round((None, None), false);
        ledger.target.round = Some(1_000);
        let halves = ledger.windows[0].halves(0, 1_000, Granularity::Second).unwrap();
        ledger.replace(0, halves.to_vec());
        ledger.windows[0].state = WindowState::Gap;
        ledger.end_round();
        assert_eq!(ledger.target.cursor, None);
        ledger.windows[1].state = WindowState::Done;
        ledger.end_round();
        assert_eq!(ledger.target.cursor, Some(1_000));
        assert!(ledger.has_gaps());
        // The gap is asked for again in the next round.
        ledger.begin_round((Some(900), None), false);
        assert_eq!(ledger.windows.len(), 2);
        assert_eq!((ledger.windows[0].from, ledger.windows[0].until), (None, Some(500)));
    }
}
