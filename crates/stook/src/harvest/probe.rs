//! Is it true what the source says? Small requests that tell.
//!
//! A source that ignores a date or finds nothing where there is something answers without any error. What gives it away
//! is a question whose answer is known beforehand: everything up to tomorrow cannot be nothing, what comes after tomorrow
//! cannot be something.

use stook_oai::request::Request;
use stook_oai::{MetadataPrefix, SetSpec};

use super::collect::Rest;
use super::fetch::Trouble;
use super::ledger::{DAY, Ledger, Window};
use super::page::{Failure, Page};
use super::run::{Ended, Harvest, Progress};
use super::window::{EMPTY_PAGES, FEW_RETRIES};

impl Harvest<'_> {
    /// Whether ListIdentifiers finds anything; none if it does not say.
    pub(super) fn lists_something(
        &mut self,
        prefix: &MetadataPrefix,
        set: Option<SetSpec>,
        dates: (Option<i64>, Option<i64>),
    ) -> Result<Option<bool>, Ended> {
        let quirks = self.quirks.clone();
        let request = Request::ListIdentifiers(self.selection(prefix, set, dates, &quirks));
        let wanted = self.asked_for(prefix, None, &Window::default());
        let patience = std::mem::replace(&mut self.fetcher.retries, FEW_RETRIES.min(self.source.retries));
        let (answer, _) = self.ask_list(&request, prefix, &quirks, wanted)?;
        self.fetcher.retries = patience;
        match answer {
            Ok(page) if page.entries > 0 => Ok(Some(true)),
            Ok(page) if page.errors.iter().all(Failure::says_nothing_there) => Ok(Some(false)),
            // Too much is something.
            Err(Trouble::TooLarge(_) | Trouble::BeyondLimits(_)) => Ok(Some(true)),
            Err(trouble @ (Trouble::Stopped | Trouble::Later(_))) => Err(trouble.into()),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// Whether `until` makes every selection empty: one that covers everything finds nothing, none at all finds some.
    pub(super) fn until_is_broken(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &Ledger,
        window: &Window,
    ) -> Result<bool, Ended> {
        let set = self.set_of(ledger, window);
        let far = Some(self.facts.now + DAY);
        let covered = self.lists_something(prefix, set.clone(), (None, far))?;
        Ok(covered == Some(false) && self.lists_something(prefix, set, (None, None))? == Some(true))
    }

    /// Whether nothing is found between two seconds of one day: not even a record that is there.
    pub(super) fn one_day_is_broken(
        &mut self,
        prefix: &MetadataPrefix,
        progress: &mut Progress,
    ) -> Result<bool, Ended> {
        let Some(date) = progress.some_date.filter(|_| !self.quirks.whole_days) else {
            return Ok(false);
        };
        let day = date.div_euclid(DAY) * DAY;
        let found = self.lists_something(prefix, None, (Some(day), Some(day + DAY - 1)))?;
        progress.one_day_works = found == Some(true);
        Ok(found == Some(false))
    }

    #[expect(clippy::too_many_arguments, reason = "they are the page and where it belongs")]
    pub(super) fn oddities(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        page: &Page,
        rest: &Rest,
        empty: u32,
        progress: &mut Progress,
    ) -> Result<(), Ended> {
        let counted = [
            (
                "outside-the-set",
                rest.odd.outside_set,
                "records that are not in the set asked for",
            ),
            (
                "earlier-than-earliest",
                rest.odd.before_earliest,
                "records from before the earliestDatestamp",
            ),
            ("empty-page", u64::from(page.entries == 0), "a list without entries"),
            (
                "empty-pages",
                u64::from(empty >= EMPTY_PAGES),
                "the list was ended after many empty pages",
            ),
        ];
        for (name, times, sentence) in counted {
            self.report.count(name, times, sentence);
        }
        if rest.odd.before_earliest > 0 {
            self.facts.earliest = 0;
        }
        if rest.odd.after_until > 0 {
            self.check_until(prefix, ledger, at, rest.odd.after_until, progress)?;
        }
        if rest.odd.before_from > 0 {
            self.check_from(prefix, ledger, at, rest.odd.before_from, progress)?;
        }
        Ok(())
    }

    /// Records from after `until`: is it ignored, or are other dates shown than are compared?
    fn check_until(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &mut Ledger,
        at: usize,
        after: u64,
        progress: &mut Progress,
    ) -> Result<(), Ended> {
        if !std::mem::replace(&mut progress.until_checked, true) && !self.quirks.no_until {
            let set = self.set_of(ledger, &ledger.windows[at]);
            if self.lists_something(prefix, set, (None, Some(DAY)))? == Some(true) {
                self.report.find("learned", "until is not sent: it changes nothing");
                self.quirks.no_until = true;
                self.absorb_later_windows(ledger, at)?;
            }
        }
        if self.quirks.no_until {
            self.report
                .count("until-ignored", after, "records from after the date asked for");
        }
        Ok(())
    }

    /// Records from before `from`: is it ignored, or are other dates shown than are compared?
    fn check_from(
        &mut self,
        prefix: &MetadataPrefix,
        ledger: &Ledger,
        at: usize,
        before: u64,
        progress: &mut Progress,
    ) -> Result<(), Ended> {
        if !std::mem::replace(&mut progress.from_checked, true) && !self.quirks.ignores_from {
            let set = self.set_of(ledger, &ledger.windows[at]);
            let never = Some(self.facts.now + 2 * DAY);
            self.quirks.ignores_from = self.lists_something(prefix, set, (never, None))? == Some(true);
        }
        let (name, sentence) = if self.quirks.ignores_from {
            ("from-ignored", "records from before the date asked for")
        } else {
            (
                "other-dates-shown",
                "records show earlier dates than those they are selected by",
            )
        };
        self.report.count(name, before, sentence);
        Ok(())
    }
}
