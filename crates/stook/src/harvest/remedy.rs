//! What can still be done for a window that cannot be had as it is, and when a window is really done.
//!
//! In this order, the cheapest first: begin the list anew, halve the window, ask set by set, ask record by record,
//! leave a gap for the next harvest.

use stook_oai::request::Request;
use stook_oai::{Granularity, MetadataPrefix, SetSpec};

use super::fetch::Trouble;
use super::ledger::{Ledger, Window, WindowState};
use super::page::Failure;
use super::run::{Ended, Harvest, Progress};

/// Windows a target may fall into: beyond it halving does not help.
const MOST_WINDOWS: usize = 20_000;
/// Failures in a row, without an answer between them. Halving a century of seconds takes 32.
const MOST_FAILURES: u32 = 100;
/// What one failure that costs much time or memory counts as.
const EXPENSIVE: u32 = 10;

impl Harvest<'_> {
    /// Puts something that may work in the place of a window that does not.
    pub(super) fn remedy(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        trouble: Trouble,
        progress: &mut Progress,
    ) -> Result<(), Ended> {
        let window = ledger.windows[at].clone();
        let resumed = window.token.is_some();
        let reason = trouble.reason();
        match &trouble {
            Trouble::Stopped | Trouble::Later(_) => return Err(trouble.into()),
            Trouble::WebPage(_) if !resumed => return Err(trouble.into()),
            Trouble::Refused(_) if !resumed || window.restarts > 0 => return Err(trouble.into()),
            _ => {}
        }
        progress.failures += match &trouble {
            Trouble::TimedOut(_) | Trouble::BeyondLimits(_) => EXPENSIVE,
            _ => 1,
        };
        if progress.failures >= MOST_FAILURES {
            let reason = format!("nothing can be had, however it is asked for: {reason}");
            return Err(Trouble::Refused(reason).into());
        }
        if resumed && window.restarts == 0 && !matches!(trouble, Trouble::TooLarge(_) | Trouble::BeyondLimits(_)) {
            self.report.find("list-begun-anew", reason);
            ledger.windows[at].restart();
            let note = ledger.window_note(at);
            return self.note(vec![note]);
        }
        let size_matters = matches!(
            trouble,
            Trouble::TooLarge(_) | Trouble::BeyondLimits(_) | Trouble::TimedOut(_)
        );
        // Less of what is not understood is not understood either.
        let rejected = matches!(trouble, Trouble::Rejected(_)) && !resumed;
        if (size_matters || !rejected && self.lists_work(prefix, ledger, &window, progress)?)
            && let Some(halves) = self.halves(ledger, &window)
        {
            self.report.find("window-halved", format!("{window}: {reason}"));
            let notes = ledger.replace(at, halves.map(|half| Window { suspect: true, ..half }).to_vec());
            return self.note(notes);
        }
        let sliceable = window.slice.is_empty() && ledger.target.set.is_empty() && !self.facts.sets.is_empty();
        if sliceable && !window.by_identifier && (rejected || size_matters) {
            return self.slice(ledger, at, &reason, rejected);
        }
        if !window.by_identifier {
            self.report.find("record-by-record", format!("{window}: {reason}"));
            return self.record_by_record(ledger, at, false);
        }
        self.gap(ledger, at, reason)
    }

    /// Two windows in the place of one, if dates are any use with this source.
    fn halves(&self, ledger: &Ledger, window: &Window) -> Option<[Window; 2]> {
        let quirks = &self.quirks;
        if quirks.no_dates || quirks.no_until || quirks.ignores_from || ledger.windows.len() >= MOST_WINDOWS {
            return None;
        }
        let granularity = if quirks.whole_days {
            Granularity::Day
        } else {
            self.granularity(quirks)
        };
        let from = |earliest| window.halves(earliest, self.facts.now, granularity);
        // The earliestDatestamp is often later than the earliest record.
        from(self.facts.earliest).or_else(|| window.from.is_none().then(|| from(0)).flatten())
    }

    /// Whether it is the window that is at fault: a list of almost nothing is answered.
    fn lists_work(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &Ledger,
        window: &Window,
        progress: &mut Progress,
    ) -> Result<bool, Ended> {
        if progress.record_pages > 0 || window.pages > 0 {
            return Ok(true);
        }
        if self.quirks.no_dates || window.by_identifier {
            return Ok(false);
        }
        if let Some(known) = progress.narrow_lists_work {
            return Ok(known);
        }
        let set = self.set_of(ledger, window);
        let works = self.answers_narrow_lists(prefix, set)?;
        progress.narrow_lists_work = Some(works);
        Ok(works)
    }

    fn answers_narrow_lists(&mut self, prefix: &MetadataPrefix, set: Option<SetSpec>) -> Result<bool, Ended> {
        let quirks = self.quirks.clone();
        let list = self.selection(prefix, set, (Some(self.facts.now), None), &quirks);
        let request = Request::ListRecords(list);
        let wanted = self.asked_for(prefix, None, &Window::default());
        let patience = std::mem::replace(&mut self.fetcher.retries, 1.min(self.source.retries));
        let (answer, _) = self.ask_list(&request, prefix, &quirks, wanted)?;
        self.fetcher.retries = patience;
        match answer {
            Err(trouble @ (Trouble::Stopped | Trouble::Later(_))) => Err(trouble.into()),
            answer => Ok(answer.is_ok_and(|page| page.errors.iter().all(Failure::says_nothing_there))),
        }
    }

    /// Asks set by set, and then for whatever is in none of them.
    pub(super) fn slice(&mut self, ledger: &mut Ledger, at: usize, reason: &str, needs_set: bool) -> Result<(), Ended> {
        let window = ledger.windows[at].clone();
        self.report.find("sliced-by-set", format!("{window}: {reason}"));
        if needs_set && !self.quirks.needs_set {
            self.quirks.needs_set = true;
            self.report.find("learned", "a set is always named");
        }
        let is_below = |set: &SetSpec| self.facts.sets.iter().any(|other| other != set && other.contains(set));
        let slice = |slice: &str, by_identifier: bool| Window {
            slice: slice.to_owned(),
            from: window.from,
            until: window.until,
            by_identifier,
            ..Window::default()
        };
        // What is below a set should come with it, but not all sources think so: the identifiers tell.
        let sets = self.facts.sets.iter();
        let mut slices: Vec<Window> = sets.map(|set| slice(set.as_str(), is_below(set))).collect();
        slices.sort_by_key(|window| window.by_identifier);
        if !needs_set {
            slices.push(slice("", true));
        }
        let notes = ledger.replace(at, slices);
        self.note(notes)
    }

    /// Lists of identifiers, then GetRecord for each.
    fn record_by_record(&mut self, ledger: &mut Ledger, at: usize, checking: bool) -> Result<(), Ended> {
        let window = &mut ledger.windows[at];
        window.restart();
        (window.by_identifier, window.checking, window.restarts) = (true, checking, 0);
        let note = ledger.window_note(at);
        self.note(vec![note])
    }

    /// `until` is of no use: what this window gives is also what later ones would.
    pub(super) fn absorb_later_windows(&mut self, ledger: &mut Ledger, at: usize) -> Result<(), Ended> {
        let own = ledger.windows[at].clone();
        let mut notes = Vec::new();
        for other in 0..ledger.windows.len() {
            let window = &mut ledger.windows[other];
            let later = window.from >= own.from && window.slice == own.slice && other != at;
            if later && window.state == WindowState::Open {
                window.state = WindowState::Done;
                notes.push(ledger.window_note(other));
            }
        }
        ledger.windows[at].until = None;
        notes.push(ledger.window_note(at));
        self.note(notes)
    }

    pub(super) fn gap(&mut self, ledger: &mut Ledger, at: usize, reason: String) -> Result<(), Ended> {
        self.report.find("gap", format!("{}: {reason}", ledger.windows[at]));
        let window = &mut ledger.windows[at];
        (window.state, window.reason) = (WindowState::Gap, reason);
        let note = ledger.window_note(at);
        self.note(vec![note])
    }

    /// A window has come to its end: is anything missing?
    pub(super) fn finish(&mut self, ledger: &mut Ledger, at: usize, progress: &mut Progress) -> Result<(), Ended> {
        let window = ledger.windows[at].clone();
        let advertised = window.advertised.unwrap_or(0);
        if window.advertised.is_some() && !window.by_identifier {
            *self.report.advertised.get_or_insert(0) += advertised;
            self.report.of_advertised += window.received;
            if advertised != window.received {
                let example = format!("{advertised} advertised, {} received", window.received);
                self.report.find("list-size", example);
            }
        }
        if window.received < advertised && !self.quirks.wrong_list_size {
            if !window.by_identifier {
                // A list that ends early looks like any other: only the identifiers tell.
                self.report
                    .find("short-list", format!("{window}: checked by identifiers"));
                return self.record_by_record(ledger, at, true);
            }
            if self.check_in_parts(ledger, at, progress)? {
                return Ok(());
            }
        } else if window.checking && window.part_of.is_none() && window.recovered == 0 {
            self.learn_wrong_size();
        }
        self.learn_from(&window, progress);
        ledger.windows[at].state = WindowState::Done;
        ledger.windows[at].token = None;
        let notes = vec![ledger.window_note(at), ledger.target_note()];
        self.note(notes)
    }

    fn learn_from(&mut self, window: &Window, progress: &Progress) {
        let lists_of_records = progress.record_pages > 0;
        if window.by_identifier && !window.checking && window.pages > 0 && !lists_of_records {
            if !self.quirks.get_record {
                self.report
                    .find("learned", "records are fetched one by one: ListRecords does not work");
            }
            self.quirks.get_record = true;
        } else if lists_of_records && window.slice.is_empty() && !window.by_identifier {
            self.quirks.get_record = false;
        }
    }

    fn learn_wrong_size(&mut self) {
        self.quirks.wrong_list_size = true;
        self.report
            .find("learned", "completeListSize says something else than there is");
    }

    /// Identifiers, too, are fewer than advertised: either the number is wrong or every list ends early. Smaller
    /// windows tell, because a list that ends early then gives what it left out.
    fn check_in_parts(&mut self, ledger: &mut Ledger, at: usize, progress: &mut Progress) -> Result<bool, Ended> {
        let window = ledger.windows[at].clone();
        progress.short_lists |= window.part_of.is_some() && window.recovered > 0;
        // A part that holds as much as the whole has told nothing yet.
        let told_nothing = window.part_of.is_none_or(|whole| window.advertised == Some(whole));
        if !told_nothing && !progress.short_lists {
            progress.believed.push(window.number);
            return Ok(false);
        }
        let Some(halves) = self.halves(ledger, &window) else {
            if progress.short_lists {
                self.gap(ledger, at, "the list ends early".into())?;
                return Ok(true);
            }
            progress.believed.push(window.number);
            return Ok(false);
        };
        self.report
            .find("window-halved", format!("{window}: the list ends early"));
        let mut parts = halves.map(|half| Window {
            by_identifier: true,
            checking: true,
            part_of: window.advertised,
            ..half
        });
        // What was left out is most often the latest.
        parts.reverse();
        let notes = ledger.replace(at, parts.to_vec());
        self.note(notes)?;
        Ok(true)
    }

    /// Windows that were believed before the source was known better are asked for again.
    pub(super) fn reopen(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        progress: &mut Progress,
    ) -> Result<bool, Ended> {
        let mut wrong = Vec::new();
        let believed = std::mem::take(&mut progress.believed);
        if progress.short_lists {
            wrong.extend(believed);
        } else if !believed.is_empty() {
            self.learn_wrong_size();
        }
        let doubtful = std::mem::take(&mut progress.doubtful);
        if !doubtful.is_empty() && !self.quirks.whole_days && self.one_day_is_broken(prefix, progress)? {
            self.quirks.whole_days = true;
            self.report.find("learned", "from and until are never on one day");
        }
        if self.quirks.whole_days {
            wrong.extend(doubtful);
        } else if progress.some_date.is_none() {
            self.doubt_windows(ledger, &doubtful)?;
        }
        let mut notes = Vec::new();
        for at in 0..ledger.windows.len() {
            if wrong.contains(&ledger.windows[at].number) {
                ledger.windows[at].restart();
                notes.push(ledger.window_note(at));
            }
        }
        let reopened = !notes.is_empty();
        self.note(notes)?;
        Ok(reopened)
    }

    /// Larger windows were too much and these parts of them hold nothing: one of the two is not true.
    fn doubt_windows(&mut self, ledger: &mut Ledger, doubtful: &[u32]) -> Result<(), Ended> {
        for at in 0..ledger.windows.len() {
            let window = &ledger.windows[at];
            if window.suspect && doubtful.contains(&window.number) {
                self.gap(
                    ledger,
                    at,
                    "nothing at all was found in the parts of what was too much".into(),
                )?;
            }
        }
        Ok(())
    }
}
