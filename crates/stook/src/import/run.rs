//! The pipeline: one thread reads and cuts, several draft and encode, the caller's commits, in the order of the input.
//!
//! Loads of raw pieces go round the workers in turn, and the committing thread takes them back in the same turn, so
//! order needs no bookkeeping. Every channel holds one load, so memory does not grow with the input.

mod improvable;
mod mentions;
mod prepare;
mod waiting;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use stook_oai::Identifier;
use stook_store::{Importer, Outcome, Quarantined, RepositoryId, Store, StoreError};

use super::draft::{Drafter, Rejected};
use super::open::{self, Input};
use super::options::Options;
use super::source::{Halt, Raw, Refusal};
use super::summary::Summary;
use crate::crosswalk::{Crosswalks, heirs};
use crate::sets::assign::Assigner;

pub use mentions::{Claim, Hear, Mention, Mentions};
use prepare::{Origin, Prepared, Preparer};
use waiting::Waiting;

/// How much goes through the pipeline at once, in bytes. A load becomes one transaction; tests want many of them.
const LOAD: usize = if cfg!(test) { 256 << 10 } else { 2 << 20 };

/// How often the caller hears of progress while nothing is committed, and is asked whether to stop.
const TICK: Duration = Duration::from_millis(100);

/// More sources than this with entries in the quarantine are not remembered by name.
const MAX_SOURCES: usize = 100_000;

/// How far an import is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read, as they lie on disk; see [`open::total_bytes`].
    pub bytes: u64,
    /// Records dealt with.
    pub records: u64,
}

/// Why an import failed. What was committed before is safe.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The input cannot be imported as it is.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A crosswalk cannot be made at all.
    #[error("{0:#}")]
    Crosswalk(anyhow::Error),
    /// Whoever hears of the records failed, so they were not published.
    #[error("{0:#}")]
    Unheard(anyhow::Error),
    /// A thread cannot be started, or died.
    #[error("internal failure: {0}. What was committed before is safe; please report this")]
    Thread(String),
}

/// Imports everything the inputs hold into a repository.
///
/// `stop` may be set at any moment, from a signal for example: the batch in hand is committed, and the summary says
/// that the import was stopped. The quarantine entries that earlier imports left of a source are replaced when the
/// source has been read to its end. Deleting what the input no longer mentions is the caller's next step, with the same
/// `importer`, if [`Summary::is_complete`] allows it.
///
/// # Errors
/// When the input has to be refused, which is found out before anything is imported wherever the input can be read
/// twice, when a crosswalk cannot be made at all, or when the store fails.
pub fn run(
    store: &Store,
    repository: RepositoryId,
    importer: &mut Importer,
    inputs: &[Input],
    options: &Arc<Options>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Summary, ImportError> {
    let target = Target {
        store,
        repository,
        importer,
    };
    run_heard(target, inputs, options, stop, progress, &mut |_| Ok(vec![]))
}

/// Where an import goes.
pub struct Target<'t> {
    /// The store.
    pub store: &'t Store,
    /// The repository.
    pub repository: RepositoryId,
    /// What knows which records came already.
    pub importer: &'t mut Importer,
}

/// The same, and `hear` is told which records each source mentions, always before they are published.
///
/// # Errors
/// As [`run()`], and when `hear` fails.
pub fn run_heard(
    target: Target<'_>,
    inputs: &[Input],
    options: &Arc<Options>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
    hear: &mut Hear<'_>,
) -> Result<Summary, ImportError> {
    let Target {
        store,
        repository,
        importer,
    } = target;
    open::look_ahead(inputs, options)?;
    options.crosswalks.ready().map_err(ImportError::Crosswalk)?;
    let started = Instant::now();
    let sets = Arc::new(Assigner::new(store, repository, &options.set_rules)?);
    let mut commit = Commit {
        store,
        repository,
        crosswalks: &options.crosswalks,
        importer,
        sets: sets.clone(),
        summary: Summary::default(),
        quarantined: sources(store, repository)?,
        waiting: Waiting::of(store, repository, inputs)?,
        hear,
    };
    let pipeline = Pipeline::start(store, repository, inputs, options, &sets)?;
    let bytes = pipeline.bytes.clone();
    let mut tell = |summary: &Summary| {
        progress(Progress {
            bytes: bytes.load(Ordering::Relaxed),
            records: summary.records(),
        });
        stop.load(Ordering::Relaxed)
    };
    let outcome = pipeline.drain(&mut commit, &mut tell);
    let mut summary = commit.summary;
    summary.stopped = outcome? == Drained::Stopped;
    summary.bytes = bytes.load(Ordering::Relaxed);
    summary.elapsed = started.elapsed();
    Ok(summary)
}

/// Sources with entries in the quarantine, which are to be replaced; `None` if there are too many to remember.
fn sources(store: &Store, repository: RepositoryId) -> Result<Option<HashSet<String>>, StoreError> {
    let mut sources = Some(HashSet::new());
    store.quarantined(repository, |entry| {
        if let Some(known) = &mut sources {
            known.insert(entry.source);
            if known.len() > MAX_SOURCES {
                sources = None;
            }
        }
    })?;
    Ok(sources)
}

/// The committing end.
struct Commit<'c> {
    store: &'c Store,
    repository: RepositoryId,
    crosswalks: &'c Crosswalks,
    importer: &'c mut Importer,
    sets: Arc<Assigner>,
    summary: Summary,
    quarantined: Option<HashSet<String>>,
    waiting: Waiting,
    hear: &'c mut Hear<'c>,
}

impl Commit<'_> {
    fn commit(&mut self, mut prepared: Prepared) -> Result<(), ImportError> {
        let claims = (self.hear)(&Mentions::of(&prepared)).map_err(ImportError::Unheard)?;
        self.respect(&claims, &prepared)?;
        let outcomes = self.importer.commit(&prepared.batch)?;
        self.summary.derived += heirs::make(self.store, self.repository, self.crosswalks, &prepared.bereft)?;
        self.summary.regrouped += self.sets.settle(&prepared.items, &outcomes)?;
        let published = prepared.origins.iter().map(|origin| origin.identifier.as_str());
        let named = prepared.rejected.iter().filter_map(|entry| entry.identifier.as_deref());
        self.waiting.release(published.chain(named))?;
        for (at, (outcome, origin)) in outcomes.into_iter().zip(prepared.origins).enumerate() {
            if at >= prepared.given {
                self.summary.derived += u64::from(outcome.is_published());
                continue;
            }
            self.summary.count(outcome);
            if outcome == (Outcome::Repeated { same: false }) {
                prepared.rejected.push(came_earlier(origin, &claims));
                self.summary.repeated -= 1;
            }
        }
        for entry in &prepared.rejected {
            match entry.identifier.as_deref().map(Identifier::parse) {
                Some(Ok(identifier)) => self.importer.spare(&identifier)?,
                _ => self.summary.unidentified += 1,
            }
        }
        self.quarantine(prepared.rejected)?;
        self.quarantine(prepared.junk)?;
        for source in prepared.finished {
            if self
                .quarantined
                .as_ref()
                .is_none_or(|sources| sources.contains(&*source))
            {
                self.importer.finish_source(&source)?;
            }
        }
        self.summary.broken_sources += prepared.broken;
        self.summary.cleaned += prepared.cleaned;
        self.summary.dropped_characters += prepared.dropped;
        self.summary.rewritten.add(prepared.rewritten);
        self.summary.improvable += prepared.improvable;
        self.summary.prefixes.extend(prepared.prefixes);
        Ok(())
    }

    /// What somebody else had earlier counts as having come already, with all that is made of it.
    fn respect(&mut self, claims: &[Claim], prepared: &Prepared) -> Result<(), StoreError> {
        for Claim { identifier, prefix, .. } in claims {
            self.importer.claim(prefix, identifier)?;
            let made = prepared.origins[prepared.given..].iter();
            for origin in made.filter(|origin| origin.identifier.as_str() == identifier) {
                self.importer.claim(&origin.prefix, identifier)?;
            }
        }
        Ok(())
    }

    fn quarantine(&mut self, rejected: Vec<Rejected>) -> Result<(), StoreError> {
        if rejected.is_empty() {
            return Ok(());
        }
        self.summary.quarantined += rejected.len() as u64;
        let entries: Vec<_> = rejected.into_iter().map(quarantined).collect();
        self.importer.quarantine(&entries)
    }
}

fn came_earlier(origin: Origin, claims: &[Claim]) -> Rejected {
    let is_about = |claim: &&Claim| claim.identifier == origin.identifier.as_str() && claim.prefix == origin.prefix;
    let reason = match claims.iter().find(is_about) {
        Some(Claim { holder, .. }) => {
            format!("{holder} had the same record earlier and says something else; the first is kept")
        }
        None => "the same record came earlier in this import and says something else; the first is kept".to_owned(),
    };
    let identifier = Some(origin.identifier.into_string());
    Rejected::new(origin.place, identifier, reason, b"")
}

fn quarantined(rejected: Rejected) -> Quarantined {
    Quarantined {
        source: rejected.place.source.to_string(),
        line: rejected.place.line,
        identifier: rejected.identifier,
        reason: rejected.reason,
        excerpt: rejected.excerpt,
    }
}

/// What ended a pipeline without failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drained {
    ToTheEnd,
    Stopped,
}

type Outcomes = Receiver<Result<Prepared, ImportError>>;

/// The threads before the commit.
struct Pipeline {
    reader: JoinHandle<Result<(), Halt>>,
    workers: Vec<(JoinHandle<()>, Outcomes)>,
    bytes: Arc<AtomicU64>,
}

impl Pipeline {
    fn start(
        store: &Store,
        repository: RepositoryId,
        inputs: &[Input],
        options: &Arc<Options>,
        sets: &Arc<Assigner>,
    ) -> Result<Pipeline, ImportError> {
        let bytes = Arc::new(AtomicU64::new(0));
        let preparer = Arc::new(Preparer::new(store, repository, options, sets)?);
        let mut workers = Vec::new();
        let mut loads = Vec::new();
        for _ in 0..worker_count() {
            let (load, incoming) = sync_channel(1);
            let (outgoing, prepared) = sync_channel(1);
            let (preparer, drafter) = (preparer.clone(), Drafter::new(options.clone()));
            let worker = spawn("import-draft", move || work(&preparer, &drafter, &incoming, &outgoing))?;
            workers.push((worker, prepared));
            loads.push(load);
        }
        let (inputs, options, counted) = (inputs.to_vec(), options.clone(), bytes.clone());
        let reader = spawn("import-read", move || read(&inputs, &options, &counted, &loads))?;
        Ok(Pipeline { reader, workers, bytes })
    }

    /// Commits load after load until there are no more, or `tell` says to stop.
    fn drain(self, commit: &mut Commit<'_>, tell: &mut dyn FnMut(&Summary) -> bool) -> Result<Drained, ImportError> {
        for turn in 0.. {
            let (_, outcomes) = &self.workers[turn % self.workers.len()];
            let prepared = loop {
                match outcomes.recv_timeout(TICK) {
                    Ok(prepared) => break Some(prepared?),
                    Err(RecvTimeoutError::Disconnected) => break None,
                    // The threads are left to find their channels closed: one of them may be waiting for a pipe that
                    // never ends.
                    Err(RecvTimeoutError::Timeout) if tell(&commit.summary) => return Ok(Drained::Stopped),
                    Err(RecvTimeoutError::Timeout) => {}
                }
            };
            let Some(prepared) = prepared else { break };
            commit.commit(prepared)?;
            if tell(&commit.summary) {
                return Ok(Drained::Stopped);
            }
        }
        self.join()
    }

    /// After the last load: the threads have ended, and say how.
    fn join(self) -> Result<Drained, ImportError> {
        for (worker, _) in self.workers {
            worker
                .join()
                .map_err(|_| ImportError::Thread("a worker died".to_owned()))?;
        }
        match self
            .reader
            .join()
            .map_err(|_| ImportError::Thread("the reader died".to_owned()))?
        {
            Err(Halt::Refused(refusal)) => Err(refusal.into()),
            _ => Ok(Drained::ToTheEnd),
        }
    }
}

/// The caller's thread, which commits, waits for these most of the time, and reading costs little beside drafting.
fn worker_count() -> usize {
    thread::available_parallelism().map_or(1, usize::from).clamp(1, 4)
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, ImportError> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map_err(|error| ImportError::Thread(format!("a thread cannot be started: {error}")))
}

/// Reads everything and hands loads to the workers in turn.
fn read(
    inputs: &[Input],
    options: &Options,
    bytes: &Arc<AtomicU64>,
    workers: &[SyncSender<Vec<Raw>>],
) -> Result<(), Halt> {
    let mut turn = workers.iter().cycle();
    let mut load = Vec::new();
    let mut weight = 0;
    let mut send = |load: Vec<Raw>| match turn.next().map(|worker| worker.send(load)) {
        Some(Ok(())) => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    };
    let outcome = open::read(inputs, options, bytes, &mut |raw| {
        weight += raw.weight();
        load.push(raw);
        if weight < LOAD {
            return ControlFlow::Continue(());
        }
        weight = 0;
        send(std::mem::take(&mut load))
    });
    if !load.is_empty() && !matches!(outcome, Err(Halt::Stopped)) {
        let _ = send(load);
    }
    outcome
}

/// Drafts and encodes load after load.
fn work(
    preparer: &Preparer,
    drafter: &Drafter,
    incoming: &Receiver<Vec<Raw>>,
    outgoing: &SyncSender<Result<Prepared, ImportError>>,
) {
    while let Ok(load) = incoming.recv() {
        if outgoing.send(preparer.prepare(drafter, load)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
