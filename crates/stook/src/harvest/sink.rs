//! Where harvested records go: into the store, page and ledger in one transaction.
//!
//! ```text
//! harvest thread:   Harvested records + notes ─► channel ─┐
//! committing thread:  changes ◄─ checked, with provenance ◄┘ ─► encode ─► commit, several pages at once
//! ```
//! The source is asked for the next page while the last one is being written.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use stook_oai::{Datestamp, Identifier, MetadataPrefix, SetSpec};
use stook_store::{Beside, Change, Content, Encoder, Note, Origin, Outcome, Quarantined, RepositoryId, Store};

use super::provenance::{Found, is_provenance, provenance};

/// Records in one transaction, at most about so many.
const BATCH_RECORDS: usize = 4_000;
/// How long a transaction waits for more to come.
const GATHERING: Duration = Duration::from_millis(200);
/// Deliveries that may wait for the writer.
const WAITING: usize = 8;

/// A record as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harvested {
    /// The item.
    pub identifier: Identifier,
    /// Its datestamp, if it could be read.
    pub datestamp: Option<Datestamp>,
    /// Its datestamp, as written.
    pub datestamp_text: String,
    /// Its sets.
    pub set_specs: Vec<SetSpec>,
    /// Its metadata; none if it is deleted.
    pub metadata: Option<String>,
    /// What is said about it.
    pub about: Vec<String>,
}

/// Some records, and what the ledger says once they are saved.
#[derive(Debug, Default)]
pub struct Delivery {
    /// The records.
    pub records: Vec<Harvested>,
    /// Their format.
    pub prefix: Option<MetadataPrefix>,
    /// Its namespace, for provenance.
    pub namespace: String,
    /// When the answer that held them was made, as written.
    pub harvest_date: String,
    /// Notes to write together with them.
    pub notes: Vec<Note>,
    /// What could not be saved.
    pub quarantined: Vec<Quarantined>,
    /// Identifiers in quarantine that are wanted no more.
    pub released: Vec<String>,
}

/// Takes deliveries, in order.
pub trait Sink {
    /// Takes one; it is safe only after [`settle`](Self::settle).
    ///
    /// # Errors
    /// When it, or one before it, cannot be saved.
    fn deliver(&mut self, delivery: Delivery) -> Result<()>;

    /// Waits until everything delivered is safe; says what became of the records since the last time.
    ///
    /// # Errors
    /// When something could not be saved.
    fn settle(&mut self) -> Result<Vec<Outcome>>;
}

/// What the store needs to know of a source.
#[derive(Clone)]
pub struct Place {
    /// The store.
    pub store: Store,
    /// The repository of the source in it.
    pub repository: RepositoryId,
    /// The source's base URL, for provenance.
    pub base_url: String,
}

/// The store as a sink.
pub struct StoreSink {
    sender: Option<SyncSender<Message>>,
    thread: Option<JoinHandle<Result<()>>>,
}

enum Message {
    Delivery(Delivery),
    Settle(SyncSender<Vec<Outcome>>),
}

impl StoreSink {
    /// Begins to commit for a source.
    pub fn new(place: Place) -> StoreSink {
        let (sender, receiver) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || {
            let encoder = place.store.encoder(place.repository);
            Committer {
                place,
                encoder,
                outcomes: Vec::new(),
            }
            .run(&receiver)
        });
        StoreSink {
            sender: Some(sender),
            thread: Some(thread),
        }
    }

    fn send(&mut self, message: Message) -> Result<()> {
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(message).is_ok());
        if sent { Ok(()) } else { Err(self.failure()) }
    }

    /// Why the committing thread is gone.
    fn failure(&mut self) -> anyhow::Error {
        drop(self.sender.take());
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => error,
            _ => anyhow!("what was harvested can no longer be saved"),
        }
    }
}

impl Sink for StoreSink {
    fn deliver(&mut self, delivery: Delivery) -> Result<()> {
        self.send(Message::Delivery(delivery))
    }

    fn settle(&mut self) -> Result<Vec<Outcome>> {
        let (reply, settled) = sync_channel(1);
        self.send(Message::Settle(reply))?;
        settled.recv().map_err(|_| self.failure())
    }
}

impl Drop for StoreSink {
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Committer {
    place: Place,
    encoder: Encoder,
    outcomes: Vec<Outcome>,
}

impl Committer {
    fn run(mut self, receiver: &Receiver<Message>) -> Result<()> {
        while let Ok(first) = receiver.recv() {
            let mut together = Vec::new();
            let asked = match first {
                Message::Delivery(delivery) => gather(receiver, delivery, &mut together),
                Message::Settle(reply) => Some(reply),
            };
            self.commit(together)?;
            if let Some(reply) = asked {
                let _ = reply.send(std::mem::take(&mut self.outcomes));
            }
        }
        Ok(())
    }

    fn commit(&mut self, deliveries: Vec<Delivery>) -> Result<()> {
        let mut beside = Beside::default();
        let mut changes: Vec<Change> = Vec::new();
        for delivery in deliveries {
            beside.notes.extend(delivery.notes);
            beside.quarantined.extend(delivery.quarantined);
            beside.released.extend(delivery.released);
            let Some(prefix) = delivery.prefix else { continue };
            changes.reserve(delivery.records.len());
            for record in delivery.records {
                changes.push(self.change(record, &prefix, &delivery.namespace, &delivery.harvest_date));
            }
        }
        drop_older(&mut changes);
        let batch = self.encoder.encode(changes)?;
        self.outcomes.extend(self.place.store.commit(&batch, &beside)?);
        Ok(())
    }

    fn change(&self, record: Harvested, prefix: &MetadataPrefix, namespace: &str, harvest_date: &str) -> Change {
        let content = match record.metadata {
            None => Content::Deleted,
            Some(metadata) => {
                let (earlier, about): (Vec<String>, Vec<String>) =
                    record.about.into_iter().partition(|about| is_provenance(about));
                let found = Found {
                    base_url: &self.place.base_url,
                    identifier: record.identifier.as_str(),
                    datestamp: &record.datestamp_text,
                    metadata_namespace: namespace,
                    harvest_date,
                };
                let (provenance, volatile) = provenance(&found, earlier.first().map(String::as_str));
                Content::Harvested {
                    metadata,
                    about,
                    origin: Origin {
                        datestamp: record.datestamp,
                        provenance,
                        volatile,
                    },
                }
            }
        };
        Change {
            identifier: record.identifier,
            prefix: prefix.clone(),
            set_specs: record.set_specs,
            content,
        }
    }
}

/// What comes within a moment shares a transaction, and so the wait for the disk; who asks for all of it to be safe
/// ends the moment.
fn gather(
    receiver: &Receiver<Message>,
    first: Delivery,
    together: &mut Vec<Delivery>,
) -> Option<SyncSender<Vec<Outcome>>> {
    let end = Instant::now() + GATHERING;
    let mut records = first.records.len();
    together.push(first);
    while records < BATCH_RECORDS {
        match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(Message::Delivery(delivery)) => {
                records += delivery.records.len();
                together.push(delivery);
            }
            Ok(Message::Settle(reply)) => return Some(reply),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    None
}

/// Of several changes to a record only the last is kept: what comes later is newer.
fn drop_older(changes: &mut Vec<Change>) {
    let mut last = HashMap::with_capacity(changes.len());
    for (at, change) in changes.iter().enumerate() {
        last.insert((change.prefix.as_str(), change.identifier.as_str()), at);
    }
    if last.len() == changes.len() {
        return;
    }
    let kept: HashSet<usize> = last.into_values().collect();
    let mut at = 0..;
    changes.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
}
