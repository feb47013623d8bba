//! Entries of a page → deliveries, without ever holding a page that is larger than memory.

use anyhow::Error;
use stook_oai::{Granularity, Header, Identify, MetadataFormat, MetadataPrefix, Record, Set, SetSpec, UtcDatetime};
use stook_store::{Note, Quarantined};

use super::ledger::DAY;
use super::page::Entry;
use super::sink::{Delivery, Harvested, Sink};

/// Beyond this a part of a page is handed on before its end is known.
const PART_RECORDS: usize = 2_000;
const PART_BYTES: usize = 8 << 20;

/// What a list of records was asked for.
#[derive(Clone, Debug)]
pub(super) struct AskedFor {
    /// The format.
    pub(super) prefix: MetadataPrefix,
    /// Its namespace.
    pub(super) namespace: String,
    /// The set: records outside it are not wanted.
    pub(super) set: Option<SetSpec>,
    /// The first second.
    pub(super) from: Option<i64>,
    /// The last second.
    pub(super) until: Option<i64>,
    /// No record should be earlier.
    pub(super) earliest: i64,
    /// The list is known to go on outside the set.
    pub(super) loses_set: bool,
    /// What stands in the quarantine for the source.
    pub(super) place: String,
}

/// Takes the entries of one request as they come.
pub(super) struct Collected<'a> {
    sink: &'a mut dyn Sink,
    part_bytes: usize,
    /// Why the sink takes no more.
    failure: Option<Error>,
    rest: Rest,
}

/// What the entries of one request came to, without the parts that have been handed on.
#[derive(Default)]
pub(super) struct Rest {
    asked: Option<AskedFor>,
    records: Vec<Harvested>,
    /// In a list of a set, those that do not say in which sets they are.
    unsure: Vec<Harvested>,
    harvest_date: String,
    /// Records in the document.
    pub(super) received: u64,
    /// What is odd about them.
    pub(super) odd: Oddities,
    /// Entries that could not be saved.
    pub(super) quarantined: Vec<Quarantined>,
    /// Headers, of ListIdentifiers.
    pub(super) headers: Vec<Header>,
    /// Sets, of ListSets.
    pub(super) sets: Vec<Set>,
    /// Formats, of ListMetadataFormats.
    pub(super) formats: Vec<MetadataFormat>,
    /// The answer to Identify.
    pub(super) identify: Option<Box<Identify>>,
}

/// Records that should not have come, counted.
#[derive(Clone, Copy, Default)]
pub(super) struct Oddities {
    /// Outside the set that was asked for.
    pub(super) outside_set: u64,
    /// From before the date that was asked for.
    pub(super) before_from: u64,
    /// From after the date that was asked for.
    pub(super) after_until: u64,
    /// From before the earliest date that the source admits to.
    pub(super) before_earliest: u64,
    /// The datestamp of one of the records.
    pub(super) some_date: Option<i64>,
}

impl<'a> Collected<'a> {
    /// For answers that hold no records.
    pub(super) fn of_facts(sink: &'a mut dyn Sink) -> Collected<'a> {
        Collected {
            sink,
            part_bytes: 0,
            failure: None,
            rest: Rest::default(),
        }
    }

    /// For lists of records of one format.
    pub(super) fn of_records(sink: &'a mut dyn Sink, asked: AskedFor) -> Collected<'a> {
        let mut collected = Collected::of_facts(sink);
        collected.rest.asked = Some(asked);
        collected
    }

    /// What is left when the answer has come to its end.
    ///
    /// # Errors
    /// When the sink could not take a part of it.
    pub(super) fn rest(self) -> Result<Rest, Error> {
        self.failure.map_or(Ok(self.rest), Err)
    }

    /// Takes an entry.
    pub(super) fn take(&mut self, entry: Entry) {
        let rest = &mut self.rest;
        match entry {
            Entry::Begin => {
                // Perhaps of another attempt: records that came before stay, but nothing counts twice.
                let records = std::mem::take(&mut rest.records);
                let asked = rest.asked.take();
                *rest = Rest {
                    asked,
                    records,
                    ..Rest::default()
                };
            }
            Entry::ResponseDate(date) => {
                rest.harvest_date = date.format(Granularity::Second).to_string();
            }
            Entry::Record(record) => self.record(record),
            Entry::Header(header) => {
                rest.received += 1;
                if rest.wants(&header) {
                    rest.headers.push(header);
                }
            }
            Entry::Set(set) => rest.sets.push(set),
            Entry::MetadataFormat(format) => rest.formats.push(format),
            Entry::Identify(identify) => rest.identify = Some(identify),
            Entry::Broken {
                reason,
                identifier,
                bytes,
            } => {
                rest.received += 1;
                rest.quarantine(identifier, reason, bytes);
            }
        }
    }

    fn record(&mut self, record: Record) {
        self.rest.received += 1;
        if !self.rest.wants(&record.header) {
            return;
        }
        let Record {
            header,
            metadata,
            about,
        } = record;
        if metadata.is_none() && !header.deleted {
            let reason = "the record has no metadata and is not deleted".to_owned();
            self.rest
                .quarantine(Some(header.identifier.as_str().to_owned()), reason, Vec::new());
            return;
        }
        self.part_bytes += metadata.as_ref().map_or(0, String::len) + about.iter().map(String::len).sum::<usize>();
        let unsure = self.rest.is_unsure(&header);
        let record = Harvested {
            datestamp: header.known_datestamp().map(UtcDatetime::first_second),
            datestamp_text: header.datestamp_text().into_owned(),
            identifier: header.identifier,
            set_specs: header.set_specs,
            metadata: metadata.filter(|_| !header.deleted),
            about,
        };
        if unsure {
            self.rest.unsure.push(record);
        } else {
            self.rest.records.push(record);
        }
        if self.rest.records.len() + self.rest.unsure.len() >= PART_RECORDS || self.part_bytes >= PART_BYTES {
            self.hand_on_part();
        }
    }

    fn hand_on_part(&mut self) {
        self.part_bytes = 0;
        let quarantined = std::mem::take(&mut self.rest.quarantined);
        let delivery = self.rest.delivery(Vec::new());
        self.rest.quarantined = quarantined;
        if self.failure.is_none()
            && let Err(failure) = self.sink.deliver(delivery)
        {
            self.failure = Some(failure);
        }
    }
}

impl Rest {
    /// Keeps what cannot be saved, for a person to look at.
    pub(super) fn quarantine(&mut self, identifier: Option<String>, reason: String, excerpt: Vec<u8>) {
        self.quarantined.push(Quarantined {
            source: self.asked.as_ref().map_or(String::new(), |asked| asked.place.clone()),
            line: 0,
            identifier,
            reason,
            excerpt,
        });
    }

    /// Whether there is a whole record in it.
    pub(super) fn has_record(&self) -> bool {
        !self.records.is_empty() && self.quarantined.is_empty()
    }

    /// Whether a record is one of those asked for.
    fn wants(&mut self, header: &Header) -> bool {
        let Some(asked) = &self.asked else { return true };
        if let Some(date) = header.known_datestamp().map(|date| date.first_second().unix()) {
            let early = asked.from.is_some_and(|from| date < from - DAY);
            let late = asked.until.is_some_and(|until| date > until);
            self.odd.before_from += u64::from(early);
            self.odd.after_until += u64::from(late);
            self.odd.some_date = Some(date);
            self.odd.before_earliest += u64::from(date < asked.earliest - DAY);
        }
        let inside = |set: &SetSpec| header.set_specs.iter().any(|spec| set.contains(spec));
        let wanted = header.set_specs.is_empty() || asked.set.as_ref().is_none_or(inside);
        self.odd.outside_set += u64::from(!wanted);
        wanted
    }

    /// A header without sets tells nothing, unless the list is known to lose the set.
    fn is_unsure(&self, header: &Header) -> bool {
        header.set_specs.is_empty() && self.asked.as_ref().is_some_and(|asked| asked.set.is_some())
    }

    /// What is to be saved, and notes that become true with it.
    pub(super) fn delivery(&mut self, notes: Vec<Note>) -> Delivery {
        let unsure = std::mem::take(&mut self.unsure);
        let loses_set = self.odd.outside_set > 0 || self.asked.as_ref().is_some_and(|asked| asked.loses_set);
        if loses_set {
            self.odd.outside_set += unsure.len() as u64;
        } else {
            self.records.extend(unsure);
        }
        let asked = self.asked.as_ref();
        Delivery {
            records: std::mem::take(&mut self.records),
            prefix: asked.map(|asked| asked.prefix.clone()),
            namespace: asked.map_or(String::new(), |asked| asked.namespace.clone()),
            harvest_date: self.harvest_date.clone(),
            quarantined: std::mem::take(&mut self.quarantined),
            released: Vec::new(),
            notes,
        }
    }
}
