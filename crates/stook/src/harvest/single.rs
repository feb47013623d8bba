//! Record by record: GetRecord, where lists of records cannot be had or have been damaged.

use stook_oai::request::Request;
use stook_oai::{ErrorCode, Granularity, Header, MetadataPrefix, Record, UtcDatetime};
use stook_store::Known;

use super::collect::{Collected, Rest};
use super::fetch::Trouble;
use super::ledger::{DAY, Ledger, Window};
use super::page::{Entry, Failure};
use super::quirks::Quirks;
use super::run::{Ended, Harvest, Progress};
use super::sink::Delivery;

/// After so many records that GetRecord does not give whole either, it is not asked again for damaged ones.
const MOST_RESCUES_FAILED: u32 = 3;
/// Asking again for a single record.
const RETRIES: u32 = 2;

impl Harvest<'_> {
    /// Fetches the records of headers one by one, those that are not there yet.
    pub(super) fn fetch_each(
        &mut self,
        prefix: &MetadataPrefix,
        headers: &[Header],
        ledger: &mut Ledger,
        at: usize,
        quirks: &Quirks,
    ) -> Result<(), Ended> {
        self.settle()?;
        let mut fetched = 0;
        for header in headers {
            let known = self.memory.known(prefix, header.identifier.as_str())?;
            let same = known.is_some_and(|known| is_same(&known, header));
            if same && (ledger.windows[at].checking || !self.is_recent(header, ledger.target.cursor, quirks)) {
                continue;
            }
            fetched += 1;
            self.fetch_one(prefix, header, quirks)?;
        }
        self.report.received += fetched;
        let window = &mut ledger.windows[at];
        window.recovered += fetched;
        if window.checking {
            self.report
                .count("recovered", fetched, "records that the list left out");
        }
        Ok(())
    }

    /// Asks once more for what could not be read in earlier harvests.
    pub(super) fn retry_quarantined(&mut self) -> Result<(), Ended> {
        let quirks = self.quirks.clone();
        for identifier in self.memory.quarantined()? {
            for prefix in self.source.prefixes.clone() {
                let prefix = MetadataPrefix::parse(&prefix).map_err(|error| Ended::Failure(error.into()))?;
                match self.get_record(&prefix, &identifier, &quirks)? {
                    (Err(trouble @ (Trouble::Stopped | Trouble::Later(_))), _) => return Err(trouble.into()),
                    (Ok(None), mut found) if found.has_record() => {
                        self.report.received += 1;
                        self.report
                            .find("rescued", "in quarantine since an earlier harvest, now whole");
                        self.deliver(found.delivery(Vec::new()))?;
                    }
                    // It is no longer there to be had.
                    (Ok(Some(error)), _) if error.code == Some(ErrorCode::IdDoesNotExist) => {
                        self.deliver(Delivery {
                            released: vec![identifier.clone()],
                            ..Delivery::default()
                        })?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Whether a record could have changed again in the same granule after it was fetched in the round before.
    fn is_recent(&self, header: &Header, cursor: Option<i64>, quirks: &Quirks) -> bool {
        let granule = match self.granularity(quirks) {
            Granularity::Second => 1,
            Granularity::Day => DAY,
        };
        let date = header.known_datestamp().map(|date| date.first_second().unix());
        cursor.is_some_and(|cursor| date.is_none_or(|date| date + granule > cursor))
    }

    /// Fetches one record, or puts it into quarantine.
    pub(super) fn fetch_one(&mut self, prefix: &MetadataPrefix, header: &Header, quirks: &Quirks) -> Result<(), Ended> {
        let identifier = header.identifier.as_str();
        let wanted = self.asked_for(prefix, None, &Window::default());
        if header.deleted {
            let mut collected = Collected::of_records(&mut *self.sink, wanted);
            collected.take(Entry::Record(Record {
                header: header.clone(),
                metadata: None,
                about: Vec::new(),
            }));
            let delivery = collected.rest()?.delivery(Vec::new());
            return self.deliver(delivery);
        }
        let (answer, mut rest) = self.get_record(prefix, identifier, quirks)?;
        match answer {
            Ok(None) => {}
            Ok(Some(error)) => self
                .report
                .find("listed-but-not-given", format!("{identifier}: {}", error.text)),
            Err(trouble @ (Trouble::Stopped | Trouble::Later(_))) => return Err(trouble.into()),
            Err(trouble) => {
                self.report
                    .find("record-not-given", format!("{identifier}: {}", trouble.reason()));
                rest.quarantine(Some(identifier.to_owned()), trouble.reason(), Vec::new());
            }
        }
        self.report.quarantined += rest.quarantined.len() as u64;
        self.deliver(rest.delivery(Vec::new()))
    }

    /// Records that came damaged in a list may be whole on their own.
    pub(super) fn rescue(
        &mut self,
        prefix: &MetadataPrefix,
        rest: &mut Rest,
        quirks: &Quirks,
        progress: &mut Progress,
    ) -> Result<(), Ended> {
        for damaged in std::mem::take(&mut rest.quarantined) {
            let identifier = damaged.identifier.clone();
            let whole = match identifier.filter(|_| progress.rescues_failed < MOST_RESCUES_FAILED) {
                Some(identifier) => match self.get_record(prefix, &identifier, quirks)? {
                    (Err(trouble @ (Trouble::Stopped | Trouble::Later(_))), _) => return Err(trouble.into()),
                    (Ok(None), found) if found.has_record() => Some(found),
                    _ => None,
                },
                None => None,
            };
            match whole {
                Some(mut found) => {
                    progress.rescues_failed = 0;
                    self.report
                        .find("rescued", "damaged in the list, whole when asked for alone");
                    self.deliver(found.delivery(Vec::new()))?;
                }
                None => {
                    progress.rescues_failed += u32::from(damaged.identifier.is_some());
                    rest.quarantined.push(damaged);
                }
            }
        }
        Ok(())
    }

    /// Asks for one record: the error of the protocol, if one came instead.
    fn get_record(
        &mut self,
        prefix: &MetadataPrefix,
        identifier: &str,
        quirks: &Quirks,
    ) -> Result<(Result<Option<Failure>, Trouble>, Rest), Ended> {
        let request = Request::GetRecord {
            identifier: identifier.to_owned(),
            metadata_prefix: prefix.clone(),
        };
        let wanted = self.asked_for(prefix, None, &Window::default());
        let patience = std::mem::replace(&mut self.fetcher.retries, RETRIES.min(self.source.retries));
        let (answer, rest) = self.ask_list(&request, prefix, quirks, wanted)?;
        self.fetcher.retries = patience;
        Ok((answer.map(|page| page.errors.into_iter().next()), rest))
    }
}

/// Whether the store has what a header speaks of.
pub(super) fn is_same(known: &Known, header: &Header) -> bool {
    known.deleted == header.deleted
        && (header.deleted || known.origin == header.known_datestamp().map(UtcDatetime::first_second))
}
