//! Entries of a page → deliveries, without ever holding a page that is larger than memory.

use anyhow::Error;
use stook_oai::{Granularity, Header, Identify, MetadataFormat, MetadataPrefix, Record, Set, SetSpec, UtcDatetime};
use stook_store::{Note, Quarantined};

use super::page::Entry;
use super::sink::{Delivery, Harvested, Sink};

/// Beyond this a part of a page is handed on before its end is known.
const PART_RECORDS: usize = 2_000;
const PART_BYTES: usize = 8 << 20;
const DAY: i64 = 86_400;

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
    /// What stands in the quarantine for the source.
    pub(super) place: String,
}

/// What the entries of one request came to.
pub(super) struct Collected<'a> {
    sink: &'a mut dyn Sink,
    asked: Option<AskedFor>,
    part: Vec<Harvested>,
    part_bytes: usize,
    harvest_date: String,
    /// Records in the document so far.
    pub(super) received: u64,
    /// Records outside the set that was asked for.
    pub(super) outside_set: u64,
    /// Records from before the date that was asked for.
    pub(super) before_from: u64,
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
    /// Why the sink takes no more.
    pub(super) failure: Option<Error>,
}

impl<'a> Collected<'a> {
    /// For answers that hold no records.
    pub(super) fn of_facts(sink: &'a mut dyn Sink) -> Collected<'a> {
        Collected {
            sink,
            asked: None,
            part: Vec::new(),
            part_bytes: 0,
            harvest_date: String::new(),
            received: 0,
            outside_set: 0,
            before_from: 0,
            quarantined: Vec::new(),
            headers: Vec::new(),
            sets: Vec::new(),
            formats: Vec::new(),
            identify: None,
            failure: None,
        }
    }

    /// For lists of records of one format.
    pub(super) fn of_records(sink: &'a mut dyn Sink, asked: AskedFor) -> Collected<'a> {
        Collected {
            asked: Some(asked),
            ..Collected::of_facts(sink)
        }
    }

    /// Takes an entry.
    pub(super) fn take(&mut self, entry: Entry) {
        match entry {
            Entry::Begin => {
                // Perhaps of another attempt: what came before stays, but does not count twice.
                (self.received, self.outside_set, self.before_from) = (0, 0, 0);
                self.headers.clear();
                self.sets.clear();
                self.formats.clear();
                self.quarantined.clear();
            }
            Entry::ResponseDate(date) => {
                self.harvest_date = date.format(Granularity::Second).to_string();
            }
            Entry::Record(record) => self.record(record),
            Entry::Header(header) => {
                self.received += 1;
                if self.wants(&header) {
                    self.headers.push(header);
                }
            }
            Entry::Set(set) => self.sets.push(set),
            Entry::MetadataFormat(format) => self.formats.push(format),
            Entry::Identify(identify) => self.identify = Some(identify),
            Entry::Broken {
                reason,
                identifier,
                bytes,
            } => {
                self.received += 1;
                self.quarantine(identifier, reason, bytes);
            }
        }
    }

    fn record(&mut self, record: Record) {
        self.received += 1;
        if !self.wants(&record.header) {
            return;
        }
        let Record {
            header,
            metadata,
            about,
        } = record;
        if metadata.is_none() && !header.deleted {
            let reason = "the record has no metadata and is not deleted".to_owned();
            self.quarantine(Some(header.identifier.as_str().to_owned()), reason, Vec::new());
            return;
        }
        self.part_bytes += metadata.as_ref().map_or(0, String::len) + about.iter().map(String::len).sum::<usize>();
        self.part.push(Harvested {
            datestamp: header.known_datestamp().map(UtcDatetime::first_second),
            datestamp_text: header.datestamp_text().into_owned(),
            identifier: header.identifier,
            set_specs: header.set_specs,
            metadata: metadata.filter(|_| !header.deleted),
            about,
        });
        if self.part.len() >= PART_RECORDS || self.part_bytes >= PART_BYTES {
            self.deliver(Vec::new());
        }
    }

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

    /// Whether a record is one of those asked for. A header without sets tells nothing.
    fn wants(&mut self, header: &Header) -> bool {
        let date = header.known_datestamp().map(|date| date.first_second().unix());
        let Some(asked) = &self.asked else { return true };
        if asked
            .from
            .is_some_and(|from| date.is_some_and(|date| date < from - DAY))
        {
            self.before_from += 1;
        }
        let inside = |set: &SetSpec| header.set_specs.iter().any(|spec| set.contains(spec));
        let wanted = header.set_specs.is_empty() || asked.set.as_ref().is_none_or(inside);
        self.outside_set += u64::from(!wanted);
        wanted
    }

    /// Hands over what has come so far, and notes that become true with it.
    pub(super) fn deliver(&mut self, notes: Vec<Note>) {
        let records = std::mem::take(&mut self.part);
        self.part_bytes = 0;
        let delivery = Delivery {
            records,
            prefix: self.asked.as_ref().map(|asked| asked.prefix.clone()),
            namespace: self
                .asked
                .as_ref()
                .map_or(String::new(), |asked| asked.namespace.clone()),
            harvest_date: self.harvest_date.clone(),
            quarantined: if notes.is_empty() {
                Vec::new()
            } else {
                std::mem::take(&mut self.quarantined)
            },
            notes,
        };
        if self.failure.is_none()
            && let Err(failure) = self.sink.deliver(delivery)
        {
            self.failure = Some(failure);
        }
    }
}
