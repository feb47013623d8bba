//! Proof of completeness: the identifiers a source lists beside those in the store.
//!
//! What differs is fetched record by record; what the source no longer lists is deleted here, too, unless that would
//! be suspiciously much.

use std::collections::HashSet;

use anyhow::Result;
use stook_oai::request::{ListRequest, Request};
use stook_oai::{Header, MetadataPrefix, SetSpec, UtcDatetime};

use super::collect::Collected;
use super::fetch::Trouble;
use super::run::{Ended, Harvest};

/// So many records may vanish whatever share they are.
const FEW: u64 = 10;
/// How often a list that breaks off is begun anew.
const ATTEMPTS: u32 = 3;

impl Harvest<'_> {
    /// Compares, and mends the differences. The report tells what was found.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub fn verify(&mut self) -> Result<()> {
        let verified = self.verify_everything();
        for outcome in self.sink.settle()? {
            self.report.outcome(outcome);
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
        if sets.is_empty() {
            sets.push(None);
        }
        for prefix in self.source.prefixes.clone() {
            let prefix = MetadataPrefix::parse(&prefix).map_err(|error| Ended::Failure(error.into()))?;
            self.memory.begin_comparison()?;
            let (mut listed, mut mended) = (0, 0);
            for set in &sets {
                self.compare(&prefix, set.as_ref(), &mut listed, &mut mended)?;
            }
            self.sink
                .settle()?
                .into_iter()
                .for_each(|outcome| self.report.outcome(outcome));
            self.report.verified += listed;
            self.report.count("mended", mended, "records that differed");
            self.delete_vanished(&prefix, listed)?;
        }
        Ok(())
    }

    /// Compares one list with the store, page by page.
    fn compare(
        &mut self,
        prefix: &MetadataPrefix,
        set: Option<&SetSpec>,
        listed: &mut u64,
        mended: &mut u64,
    ) -> Result<(), Ended> {
        let first = || ListRequest::Selection {
            metadata_prefix: prefix.clone(),
            from: None,
            until: None,
            set: set.cloned(),
        };
        let (mut list, mut attempts) = (first(), 0);
        let mut pages = HashSet::new();
        loop {
            let quirks = self.quirks.clone();
            let mut collected = Collected::of_facts(&mut *self.sink);
            let request = Request::ListIdentifiers(list.clone());
            let answer = self
                .fetcher
                .ask(&request, prefix.as_str(), &quirks, &mut self.report, &mut |entry| {
                    collected.take(entry);
                });
            let headers = std::mem::take(&mut collected.headers);
            drop(collected);
            let page = match answer {
                Ok(page) if page.errors.is_empty() && (page.entries == 0 || pages.insert(page.digest)) => page,
                Ok(page)
                    if page
                        .errors
                        .iter()
                        .all(|error| error.code == Some(stook_oai::ErrorCode::NoRecordsMatch))
                        && !page.errors.is_empty() =>
                {
                    return Ok(());
                }
                other => {
                    attempts += 1;
                    let reason = match other {
                        Err(trouble @ (Trouble::Stopped | Trouble::Later(_) | Trouble::Refused(_))) => {
                            return Err(trouble.into());
                        }
                        Err(trouble) => trouble.reason(),
                        Ok(page) => page
                            .errors
                            .first()
                            .map_or("the list runs in a circle".into(), |error| error.text.clone()),
                    };
                    if attempts >= ATTEMPTS {
                        return Err(Trouble::Broken(reason).into());
                    }
                    list = first();
                    pages.clear();
                    continue;
                }
            };
            *listed += headers.len() as u64;
            for header in &headers {
                self.compare_one(prefix, header, mended)?;
            }
            (self.outside.progress)(&self.report, None);
            match page.next() {
                Some(token) => {
                    list = ListRequest::Resume {
                        resumption_token: token.to_owned(),
                    };
                }
                None => return Ok(()),
            }
        }
    }

    fn compare_one(&mut self, prefix: &MetadataPrefix, header: &Header, mended: &mut u64) -> Result<(), Ended> {
        self.memory.mention(&header.identifier)?;
        let known = self.memory.known(prefix, header.identifier.as_str())?;
        let same = known.is_some_and(|known| {
            known.deleted == header.deleted
                && (header.deleted || known.origin == header.known_datestamp().map(UtcDatetime::first_second))
        });
        if !same {
            *mended += 1;
            let quirks = self.quirks.clone();
            self.fetch_one(prefix, header, &quirks)?;
        }
        Ok(())
    }

    fn delete_vanished(&mut self, prefix: &MetadataPrefix, listed: u64) -> Result<(), Ended> {
        let vanished = self.memory.vanished(prefix)?;
        if vanished.records == 0 {
            return Ok(());
        }
        let share = (vanished.records * 100).div_ceil(vanished.of.max(1));
        if listed == 0 || vanished.records > FEW && share > u64::from(self.source.max_deletions) {
            let (records, of, allowed) = (vanished.records, vanished.of, self.source.max_deletions);
            let example = format!(
                "{records} of {of} records are no longer listed, {share}%, more than the {allowed}% allowed; \
                 if that is right, set max_deletions={share}"
            );
            self.report.find("mass-deletion-refused", example);
            self.report.complete = false;
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
