//! Making everything again: after a crosswalk was added or changed.
//!
//! Only what comes out differently is published, so only that gets a new datestamp. Each step is a transaction; what was
//! done when the program is stopped stays done.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Result, anyhow};
use stook_oai::response::split_fragment;
use stook_oai::{Identifier, MetadataPrefix, SetSpec};
use stook_store::{Beside, Change, Content, List, Outcome, Position, RepositoryId, Snapshot, Span, Store, StoreError};

use super::{Crosswalk, Crosswalks, content, heirs};

/// Records made in one transaction.
const STEP: usize = 2_000;
/// Of those that cannot be made, so many are told.
const MOST_EXAMPLES: usize = 10;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Records that were read.
    pub read: u64,
    /// Records that were not there before.
    pub new: u64,
    /// Records that came out differently.
    pub changed: u64,
    /// Records that came out as they were, or that were given.
    pub unchanged: u64,
    /// Records that can be made no more.
    pub deleted: u64,
    /// Records that cannot be made.
    pub failed: u64,
    /// Some of them, and why.
    pub examples: Vec<(String, String)>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// A record as the store has it.
#[derive(Clone, Debug)]
pub struct Given {
    /// The item.
    pub identifier: String,
    set_specs: String,
    /// What it says; none if it is deleted.
    pub metadata: Option<String>,
}

impl Given {
    /// A record on its own.
    #[must_use]
    pub fn live(identifier: &str, metadata: Option<String>) -> Given {
        Given {
            identifier: identifier.to_owned(),
            set_specs: String::new(),
            metadata,
        }
    }
}

/// Makes all records of one crosswalk again; `all` are those of the repository, which may make the same from something
/// else. `progress` hears how many of how many were read.
///
/// # Errors
/// When the store cannot be read or written, or the crosswalk cannot be made at all. What was done until then stays done.
pub fn refresh(
    store: &Store,
    repository: RepositoryId,
    crosswalk: &Crosswalk,
    all: &Crosswalks,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Refreshed> {
    crosswalk.ready()?;
    store.declare_format(repository, &crosswalk.target().metadata_format())?;
    let others = store.look_up(|snapshot| Ok(all.beside(crosswalk, &snapshot.formats(repository)?)))?;
    let walk = Walk {
        store,
        repository,
        prefix: crosswalk.source_prefix(),
        all,
        stop,
    };
    walk.in_steps(progress, |given, done| made(crosswalk, &others, given, done))
}

/// Withdraws all records of a format that were made, because nothing makes them any more. What was given stays.
///
/// # Errors
/// When the store cannot be read or written. What was done until then stays done.
pub fn withdraw(
    store: &Store,
    repository: RepositoryId,
    prefix: &MetadataPrefix,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Refreshed> {
    let walk = Walk {
        store,
        repository,
        prefix,
        all: &Crosswalks::default(),
        stop,
    };
    let underived = |given: Given| {
        Ok(Change {
            identifier: Identifier::parse(&given.identifier)?,
            prefix: prefix.clone(),
            set_specs: Vec::new(),
            content: Content::Underived { unless: Vec::new() },
        })
    };
    walk.in_steps(progress, |given, _| given.into_iter().map(underived).collect())
}

/// A walk through all records of a format.
struct Walk<'w> {
    store: &'w Store,
    repository: RepositoryId,
    prefix: &'w MetadataPrefix,
    /// All crosswalks of the repository.
    all: &'w Crosswalks,
    stop: &'w AtomicBool,
}

impl Walk<'_> {
    /// Publishes step by step what becomes of the records, each step in a transaction.
    fn in_steps(
        &self,
        progress: &mut dyn FnMut(u64, u64),
        mut changes: impl FnMut(Vec<Given>, &mut Refreshed) -> Result<Vec<Change>>,
    ) -> Result<Refreshed> {
        let mut done = Refreshed::default();
        let found = self.store.look_up(|snapshot| {
            let list = snapshot.list(self.repository, self.prefix, None)?;
            let count = list.map_or(Ok(0), |list| snapshot.count(list, Span::ALL))?;
            Ok(list.map(|list| (list, snapshot.last(), count)))
        })?;
        let Some((list, through, count)) = found else {
            return Ok(done);
        };
        let encoder = self.store.encoder(self.repository);
        let mut span = Span {
            after: Position::START,
            through,
        };
        loop {
            let (given, last, more) = self.store.look_up(|snapshot| read(snapshot, list, span, STEP))?;
            done.read += given.len() as u64;
            let changes = changes(given, &mut done)?;
            let bereft = heirs::bereft(&changes);
            let batch = encoder.encode(changes)?;
            for outcome in self.store.commit(&batch, &Beside::default())? {
                match outcome {
                    Outcome::New => done.new += 1,
                    Outcome::Changed => done.changed += 1,
                    Outcome::Deleted => done.deleted += 1,
                    _ => done.unchanged += 1,
                }
            }
            let inherited = heirs::make(self.store, self.repository, self.all, &bereft)?;
            done.changed += inherited;
            done.unchanged = done.unchanged.saturating_sub(inherited);
            progress(done.read, count.max(done.read));
            done.stopped = more && self.stop.load(Relaxed);
            if !more || done.stopped {
                return Ok(done);
            }
            span.after = last;
        }
    }
}

/// The first records of a span, where the last one stands, and whether there are more.
///
/// # Errors
/// When the store cannot be read.
pub fn read(
    snapshot: &mut Snapshot,
    list: List,
    span: Span,
    most: usize,
) -> Result<(Vec<Given>, Position, bool), StoreError> {
    let mut given = Vec::with_capacity(most);
    let mut fragment = Vec::new();
    let page = snapshot.page(list, span, most, |record| {
        fragment.clear();
        record.append_content(&mut fragment)?;
        given.push(Given {
            identifier: record.identifier.to_owned(),
            set_specs: record.set_specs.to_owned(),
            metadata: split_fragment(&fragment).map(|parts| parts.metadata.to_owned()),
        });
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((given, page.last, page.more))
}

fn made(
    crosswalk: &Crosswalk,
    others: &[MetadataPrefix],
    given: Vec<Given>,
    done: &mut Refreshed,
) -> Result<Vec<Change>> {
    let live: Vec<&str> = given.iter().filter_map(|given| given.metadata.as_deref()).collect();
    let mut made = in_parallel(crosswalk, &live)?.into_iter();
    let mut changes = Vec::with_capacity(given.len());
    for given in given {
        let content = match content(given.metadata.and_then(|_| made.next()), others) {
            Ok(content) => content,
            Err(reason) => {
                done.failed += 1;
                if done.examples.len() < MOST_EXAMPLES {
                    done.examples.push((given.identifier, reason));
                }
                continue;
            }
        };
        let set_specs = given.set_specs.split_ascii_whitespace().map(SetSpec::parse);
        changes.push(Change {
            identifier: Identifier::parse(&given.identifier)?,
            prefix: crosswalk.target().prefix.clone(),
            set_specs: set_specs.collect::<Result<_, _>>()?,
            content,
        });
    }
    Ok(changes)
}

/// Shares the work among all processors.
fn in_parallel(crosswalk: &Crosswalk, records: &[&str]) -> Result<Vec<super::Made>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = records.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let parts: Vec<_> = records
            .chunks(share)
            .map(|part| scope.spawn(|| crosswalk.make(part)))
            .collect();
        let mut made = Vec::with_capacity(records.len());
        for part in parts {
            made.extend(
                part.join()
                    .map_err(|_| anyhow!("a crosswalk failed; the panic is above"))??,
            );
        }
        Ok(made)
    })
}
