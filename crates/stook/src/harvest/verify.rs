//! Proof of completeness: the identifiers a source lists beside those in the store.
//!
//! What differs is fetched record by record; what the source no longer lists is deleted here, too, unless that would
//! be suspiciously much.

use std::collections::HashSet;

use anyhow::Result;
use stook_oai::request::{ListRequest, Request};
use stook_oai::{Header, MetadataPrefix, SetSpec};

use super::fetch::Trouble;
use super::ledger::Window;
use super::page::{Failure, Page};
use super::run::{Ended, Harvest};
use super::single::is_same;
use crate::count::{counted, verb};

/// So many records may vanish whatever share they are.
const FEW: u64 = 10;
/// How often a list that breaks off is begun anew.
const ATTEMPTS: u32 = 3;
/// Parts that a list may be cut into at once.
const MOST_PARTS: usize = 1_000;
/// Pages of one list; no source has so many.
const MOST_PAGES: usize = 10_000_000;

impl Harvest<'_> {
    /// Compares, and mends the differences. The report tells what was found.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub fn verify(&mut self) -> Result<()> {
        let verified = self.verify_everything();
        if let Err(Ended::Failure(error)) = self.settle() {
            return Err(error);
        }
        match verified {
            Ok(()) => Ok(()),
            Err(Ended::Trouble(trouble)) => {
                self.report.find("not-verified", trouble.reason());
                self.report.complete = false;
                Ok(())
            }
            Err(Ended::Failure(error)) => Err(error),
        }
    }

    fn verify_everything(&mut self) -> Result<(), Ended> {
        let parsed = self.source.sets.iter().map(|set| SetSpec::parse(set).map(Some));
        let mut sets: Vec<Option<SetSpec>> = parsed
            .collect::<Result<_, _>>()
            .map_err(|error| Ended::Failure(error.into()))?;
        if sets.is_empty() && self.quirks.needs_set {
            sets.extend(self.facts.sets.iter().cloned().map(Some));
        } else if sets.is_empty() {
            sets.push(None);
        }
        for prefix in self.source.prefixes.clone() {
            let prefix = MetadataPrefix::parse(&prefix).map_err(|error| Ended::Failure(error.into()))?;
            self.memory.begin_comparison()?;
            let (mut listed, mut mended) = (0, 0);
            for set in &sets {
                self.compare(&prefix, set.as_ref(), &mut listed, &mut mended)?;
            }
            self.settle()?;
            self.report.verified += listed;
            self.report.count("mended", mended, "records that differed");
            self.delete_vanished(&prefix, &sets, listed)?;
        }
        Ok(())
    }

    /// Compares one list with the store, in parts where it is too much at once.
    fn compare(
        &mut self,
        prefix: &MetadataPrefix,
        set: Option<&SetSpec>,
        listed: &mut u64,
        mended: &mut u64,
    ) -> Result<(), Ended> {
        let mut windows = vec![Window::default()];
        while let Some(window) = windows.pop() {
            match self.compare_window(prefix, set, &window, listed, mended) {
                Err(Ended::Trouble(
                    trouble @ (Trouble::TooLarge(_)
                    | Trouble::BeyondLimits(_)
                    | Trouble::TimedOut(_)
                    | Trouble::Unreachable(_)
                    | Trouble::Broken(_)),
                )) => {
                    let granularity = self.granularity(&self.quirks);
                    let dates = !self.quirks.no_dates && !self.quirks.no_until && !self.quirks.ignores_from;
                    let halves = window.halves(self.facts.earliest, self.facts.now, granularity);
                    match halves.filter(|_| dates && windows.len() < MOST_PARTS) {
                        Some(halves) => windows.extend(halves),
                        None => return Err(trouble.into()),
                    }
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Compares the list of one window, page by page.
    fn compare_window(
        &mut self,
        prefix: &MetadataPrefix,
        set: Option<&SetSpec>,
        window: &Window,
        listed: &mut u64,
        mended: &mut u64,
    ) -> Result<(), Ended> {
        let quirks = self.quirks.clone();
        let first = self.selection(prefix, set.cloned(), (window.from, window.until), &quirks);
        let (mut list, mut attempts) = (first.clone(), 1);
        let mut pages = HashSet::new();
        loop {
            let request = Request::ListIdentifiers(list.clone());
            let wanted = self.asked_for(prefix, set.cloned(), window);
            let (answer, rest) = self.ask_list(&request, prefix, &quirks, wanted)?;
            let page = match answer.and_then(good_page) {
                Ok(None) => return Ok(()),
                Ok(Some(page)) if page.entries == 0 || pages.insert(page.digest) => page,
                Err(
                    trouble @ (Trouble::Stopped
                    | Trouble::Later(_)
                    | Trouble::Refused(_)
                    | Trouble::TooLarge(_)
                    | Trouble::BeyondLimits(_)),
                ) => {
                    return Err(trouble.into());
                }
                other => {
                    let circle = Trouble::Broken("the list runs in a circle".into());
                    if attempts >= ATTEMPTS {
                        return Err(other.err().unwrap_or(circle).into());
                    }
                    attempts += 1;
                    list = first.clone();
                    pages.clear();
                    continue;
                }
            };
            *listed += rest.headers.len() as u64;
            for header in &rest.headers {
                self.compare_one(prefix, header, mended)?;
            }
            (self.outside.progress)(&self.report, None);
            match page.next() {
                Some(token) if pages.len() < MOST_PAGES => {
                    list = ListRequest::Resume {
                        resumption_token: token.to_owned(),
                    };
                }
                _ => return Ok(()),
            }
        }
    }

    fn compare_one(&mut self, prefix: &MetadataPrefix, header: &Header, mended: &mut u64) -> Result<(), Ended> {
        self.memory.mention(&header.identifier)?;
        let known = self.memory.known(prefix, header.identifier.as_str())?;
        if !known.is_some_and(|known| is_same(&known, header)) {
            *mended += 1;
            let quirks = self.quirks.clone();
            self.fetch_one(prefix, header, &quirks)?;
        }
        Ok(())
    }

    fn delete_vanished(&mut self, prefix: &MetadataPrefix, sets: &[Option<SetSpec>], listed: u64) -> Result<(), Ended> {
        // Of what was not asked for, nothing is known.
        let within: Vec<SetSpec> = sets.iter().flatten().cloned().collect();
        let vanished = self.memory.vanished(prefix, &within)?;
        if vanished.records == 0 {
            return Ok(());
        }
        let share = (vanished.records * 100).div_ceil(vanished.of.max(1));
        if listed == 0 || vanished.records > FEW && share > u64::from(self.source.max_deletions) {
            let (records, of, allowed) = (vanished.records, vanished.of, self.source.max_deletions);
            let example = format!(
                "{records} of {} {} no longer listed, {share}%, more than the {allowed}% allowed; if that is right, set \
                 max_deletions={share}",
                counted(of, "record"),
                verb(records, "is", "are")
            );
            self.report.find("mass-deletion-refused", example.clone());
            self.report.complete = false;
            self.report.stopped = Some(example);
            return Ok(());
        }
        let deleted = self.memory.delete_vanished()?;
        self.report.deleted += deleted;
        self.report.count(
            "deleted-unannounced",
            deleted,
            "records that the source no longer lists",
        );
        Ok(())
    }
}

/// The page, none if there is nothing to list, or what went wrong.
fn good_page(page: Page) -> Result<Option<Page>, Trouble> {
    match page.errors.first() {
        None => Ok(Some(page)),
        Some(_) if page.errors.iter().all(Failure::says_nothing_there) => Ok(None),
        Some(error) => Err(Trouble::Broken(error.text.clone())),
    }
}
