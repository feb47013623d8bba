//! What is known of the repository so far. Requests are made of it, and what can only be judged at the end.

use std::collections::{HashMap, HashSet};

use stook_oai::{Datestamp, Granularity, UtcDatetime, Verb};

use super::document::{Document, Element, Header};
use super::exchange::Exchange;
use super::report::{MOST_SEEN, SeenIdentifier};

/// So many headers are remembered; a default run sees far fewer.
const MOST_HEADERS: usize = 20_000;
/// So many records are looked at for their quality.
const MOST_RECORDS: usize = 100;

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The URL under test, as the repository must call itself.
    pub(crate) base_url: String,
    pub(crate) identity: Option<Identity>,
    pub(crate) formats: Vec<Format>,
    /// None while it is not known whether there are sets; empty if there are none.
    pub(crate) sets: Option<Vec<ListedSet>>,
    /// Whether `sets` is all of them.
    pub(crate) all_sets: bool,
    /// An undeleted record of oai_dc.
    pub(crate) sample: Option<Header>,
    /// A deleted one.
    pub(crate) deleted: Option<Header>,
    /// A format beside oai_dc.
    pub(crate) second_prefix: Option<String>,
    /// A set with records.
    pub(crate) set_spec: Option<String>,
    /// Every header seen, once for each answer it was in.
    pub(crate) headers: Vec<Seen>,
    /// Some records with their metadata.
    pub(crate) records: Vec<SeenRecord>,
    /// What an earlier run met, if there was one to compare with.
    pub(crate) earlier: Option<Vec<SeenIdentifier>>,
    /// How long answers took, by verb.
    pub(crate) times: HashMap<&'static str, Vec<std::time::Duration>>,
    known_records: HashSet<(String, String)>,
}

/// What Identify says, as it is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Identity {
    pub(crate) repository_name: String,
    pub(crate) base_url: String,
    pub(crate) granularity: Option<Granularity>,
    pub(crate) earliest_datestamp: String,
    pub(crate) deleted_record: String,
    pub(crate) compressions: Vec<String>,
    /// The request it came from.
    pub(crate) exchange: u32,
}

/// A format of ListMetadataFormats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) prefix: String,
    pub(crate) schema: String,
    pub(crate) namespace: String,
}

/// A set of ListSets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListedSet {
    pub(crate) spec: String,
    pub(crate) name: String,
    /// The request it came from.
    pub(crate) exchange: u32,
}

/// A header and where it was seen.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) header: Header,
    pub(crate) exchange: u32,
    /// The responseDate of that answer.
    pub(crate) response_date: String,
}

/// A record and where it was seen.
#[derive(Debug, Clone)]
pub(crate) struct SeenRecord {
    pub(crate) header: Header,
    pub(crate) prefix: String,
    /// The element in `metadata`, as it is written; empty if there is none.
    pub(crate) metadata: String,
    /// The elements in `about`, as they are written.
    pub(crate) about: Vec<String>,
    pub(crate) exchange: u32,
}

impl Facts {
    /// Granularity of the repository; seconds where it does not say.
    pub(crate) fn granularity(&self) -> Granularity {
        let told = self.identity.as_ref().and_then(|identity| identity.granularity);
        told.unwrap_or(Granularity::Second)
    }

    /// The earliestDatestamp, if it can be read.
    pub(crate) fn earliest(&self) -> Option<Datestamp> {
        read_datestamp(&self.identity.as_ref()?.earliest_datestamp)
    }

    /// Whether it is known that there are no sets.
    pub(crate) fn has_no_sets(&self) -> bool {
        self.sets.as_ref().is_some_and(Vec::is_empty)
    }

    pub(crate) fn format(&self, prefix: &str) -> Option<&Format> {
        self.formats.iter().find(|format| format.prefix == prefix)
    }

    /// Some of the records that were met, each once.
    pub(crate) fn seen(&self) -> Vec<SeenIdentifier> {
        let mut met = HashSet::new();
        let headers = self.headers.iter().map(|seen| &seen.header);
        headers
            .filter(|header| !header.identifier.is_empty() && met.insert(&header.identifier))
            .take(MOST_SEEN)
            .map(|header| SeenIdentifier {
                identifier: header.identifier.clone(),
                datestamp: header.datestamp.clone(),
                deleted: header.deleted,
            })
            .collect()
    }

    /// Takes what an answer tells, whatever it was asked for.
    pub(crate) fn note(&mut self, exchange: &Exchange) {
        let Some(answer) = exchange.answer() else {
            return;
        };
        // What is odd may take longer.
        if !exchange.question.may_be_refused {
            let verb = exchange.question.verb().map_or("", Verb::as_str);
            self.times.entry(verb).or_default().push(answer.took);
        }
        let document = &answer.document;
        let response_date = document.response_date().unwrap_or_default();
        for header in document.headers() {
            if self.headers.len() < MOST_HEADERS {
                self.headers.push(Seen {
                    header,
                    exchange: exchange.number,
                    response_date: response_date.clone(),
                });
            }
        }
        // A later page does not say which format it is of; nothing else uses another one than its first.
        if let Some(prefix) = exchange.question.argument("metadataPrefix") {
            self.note_records(document, &prefix, exchange.number);
        }
    }

    fn note_records(&mut self, document: &Document, prefix: &str, exchange: u32) {
        for record in document.records() {
            if self.records.len() == MOST_RECORDS {
                return;
            }
            let Some(header) = record.child("header").map(Header::of) else {
                continue;
            };
            let key = (header.identifier.clone(), prefix.to_owned());
            if !self.known_records.insert(key) {
                continue;
            }
            let inside = |container: &Element| {
                container
                    .elements()
                    .next()
                    .map(|root| document.written(root).to_owned())
            };
            self.records.push(SeenRecord {
                header,
                prefix: prefix.to_owned(),
                metadata: record.child("metadata").and_then(inside).unwrap_or_default(),
                about: record.named("about").filter_map(inside).collect(),
                exchange,
            });
        }
    }
}

/// A datestamp of either granularity, exactly as the protocol writes it: its first second.
pub(crate) fn read_datestamp(text: &str) -> Option<Datestamp> {
    UtcDatetime::parse(text).ok().map(|datetime| datetime.first_second())
}

/// The granularity in which a datestamp is written.
pub(crate) fn granularity_of(text: &str) -> Option<Granularity> {
    UtcDatetime::parse(text).ok().map(|datetime| datetime.granularity())
}
