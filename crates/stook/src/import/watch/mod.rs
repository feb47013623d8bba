//! A folder that is watched: files that come, change and go become records, changes and deletions.
//!
//! Folders enter; one round after the other does what is to be done:
//!
//! 1. `walk` looks through the folders, and finds the files that are new, changed or gone. It looks again and again,
//!    rather than being told by the system, which does not tell of what others do on a network drive;
//! 2. `read` imports the files, and compares what each gives with what it gave before; `holders` knows whether another
//!    had it first;
//! 3. `judge` deletes the records that no file has any more, unless they are suspiciously many.
//!
//! `folders` gives each folder one path, `remedy` writes commands for people.
//!
//! `memory` is what is remembered between rounds, and after the process has died at any moment. Where several processes
//! watch for one repository, one of them works at a time. A folder that cannot be looked through loses nothing.

mod folders;
mod holders;
mod judge;
mod manner;
mod memory;
mod read;
mod remedy;
mod round;
mod scratch;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use stook_store::{RepositoryId, Store};

use super::options::Options;
use crate::count::{counted, verb};
use crate::harvest::lease::{LASTS, Lease};
use crate::sets;

use folders::{gone_with, is_in, resolve};
use holders::Holders;
pub use judge::FEW;
use judge::Judge;
use memory::Memory;
use read::Reader;
use remedy::Remedy;
pub use round::{Round, Tell, Told};
use scratch::Scratch;
use walk::{Looking, Walked, Walker};

/// Under which key the right to work is kept.
const LEASE: &str = "watch/lease";
/// A walk may take a tenth of the time.
const REST: u32 = 10;
/// The longest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How often somebody who pauses looks whether to stop.
const TICK: Duration = Duration::from_millis(100);
/// Between the two looks of somebody who looks once.
const SECOND_LOOK: Duration = Duration::from_secs(2);
/// Until it is tried again whether another process has finished.
const OTHERS_WORK: Duration = Duration::from_secs(1);
/// What is found in a round may give rise to another one, but not for ever.
const MOST_ROUNDS: u32 = 5;

/// What is to be watched.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// The folders.
    pub folders: Vec<PathBuf>,
    /// Folders that were watched once and are let go: what no other file has is deleted, within the limit.
    pub forget: Vec<PathBuf>,
    /// The percentage of the records of watched files that may be deleted at once.
    pub max_deletions: u8,
    /// The name of the repository, where commands have to give one.
    pub repository: Option<String>,
    /// Whether a server watches, so that there is no command to which an option could be added.
    pub is_server: bool,
}

/// Watches folders for one repository.
pub struct Watcher {
    memory: Memory,
    walker: Walker,
    options: Arc<Options>,
    max_deletions: u8,
    remedy: Remedy,
    is_first: bool,
    /// Whether what was withheld by others has not been judged yet.
    unjudged: bool,
    told_of: Option<u32>,
}

impl Watcher {
    /// Watches folders; nothing is looked at yet.
    ///
    /// # Errors
    /// When the store cannot be read, or a folder is none.
    pub fn new(store: &Store, repository: RepositoryId, watch: Watch, options: Options) -> Result<Watcher> {
        let memory = Memory::load(store, repository)?;
        for folder in &watch.folders {
            if true_path(folder)?.is_file() {
                bail!("{} {}", folder.display(), walk::NO_FOLDER);
            }
        }
        let forget = watch
            .forget
            .iter()
            .map(|folder| let_go(folder, &watch.folders, &memory));
        let forget = forget.collect::<Result<Vec<_>>>()?;
        Ok(Watcher {
            memory,
            remedy: Remedy::new(&watch),
            walker: Walker::new(watch.folders, forget, own_files(store)),
            options: Arc::new(options),
            max_deletions: watch.max_deletions,
            is_first: true,
            unjudged: true,
            told_of: None,
        })
    }

    /// Whether files of this folder are remembered.
    #[must_use]
    pub fn knows(&self, folder: &Path) -> bool {
        resolve(folder).is_ok_and(|folder| self.memory.knows(&folder))
    }

    /// Looks once, and does what is to be done. Files that were written to a moment ago are looked at twice.
    ///
    /// # Errors
    /// When the store fails, or a crosswalk cannot be made at all. What was done is done.
    pub fn once(&mut self, stop: &AtomicBool, tell: &mut Tell<'_>) -> Result<Round> {
        self.walker.looking = Looking::Once;
        let mut whole = self.round(stop, tell)?;
        let mut rounds = 1;
        while rounds < MOST_ROUNDS && !stop.load(Relaxed) {
            if whole.unsettled > 0 && self.walker.looking == Looking::Once {
                pause(SECOND_LOOK, stop);
                self.walker.looking = Looking::OnceMore;
            } else if whole.is_left {
                pause(OTHERS_WORK, stop);
            } else if whole.again {
                rounds += 1;
            } else {
                break;
            }
            whole = whole.and(self.round(stop, tell)?);
        }
        if whole.unsettled > 0 {
            let unsettled = whole.unsettled as u64;
            tell(Told::Trouble(format!(
                "{} {} still being written, and left alone; nothing is deleted meanwhile\nTry: run it again when that \
                 is done",
                counted(unsettled, "file"),
                verb(unsettled, "is", "are")
            )));
        }
        whole.has_trouble |= self.walker.has_trouble() || whole.unsettled > 0;
        Ok(whole)
    }

    /// Looks every so often until it is told to stop. A failure is told, and what failed is tried again.
    pub fn keep(&mut self, every: Duration, stop: &AtomicBool, tell: &mut Tell<'_>) {
        let (mut failures, mut told) = (0, String::new());
        while !stop.load(Relaxed) {
            let began = Instant::now();
            let wait = match self.round(stop, tell) {
                Ok(round) => {
                    if !round.is_quiet() {
                        tell(Told::News(round.to_string()));
                    }
                    (failures, told) = (0, String::new());
                    let walk = if round.is_quiet() {
                        began.elapsed()
                    } else {
                        Duration::ZERO
                    };
                    every.max(walk * REST)
                }
                Err(failure) => {
                    failures = (failures + 1).min(10);
                    let text = format!("{failure:#}");
                    if text != told {
                        tell(Told::Failed(failure));
                        told = text;
                    }
                    (every * failures).min(LONGEST_PAUSE.max(every))
                }
            };
            pause(wait, stop);
        }
    }

    /// One round: walk, read, judge.
    ///
    /// # Errors
    /// When the store fails, or a crosswalk cannot be made at all. What was done is done, and the next round goes on.
    pub fn round(&mut self, stop: &AtomicBool, tell: &mut Tell<'_>) -> Result<Round> {
        let outcome = self.round_or_fail(stop, tell);
        if outcome.is_err() {
            self.memory.doubt();
        }
        outcome
    }

    fn round_or_fail(&mut self, stop: &AtomicBool, tell: &mut Tell<'_>) -> Result<Round> {
        self.memory.refresh()?;
        let walked = self.walker.walk(&mut self.memory, &self.options, tell);
        let mut round = Round {
            unsettled: walked.unsettled,
            ..Round::default()
        };
        let to_judge = !walked.waits && (self.unjudged || self.memory.has_orphans);
        if walked.due.is_empty() && walked.gone.is_empty() && !self.is_first && !to_judge {
            return Ok(round);
        }
        let (store, repository) = (self.memory.store.clone(), self.memory.repository);
        let _lease = match Lease::take_named(&store, repository, LEASE, LASTS)? {
            Ok(lease) => lease,
            Err(held) => {
                if self.told_of.replace(held.process) != Some(held.process) {
                    let process = held.process;
                    tell(Told::News(format!(
                        "process {process} is at work on watched folders of this repository"
                    )));
                }
                round.is_left = true;
                return Ok(round);
            }
        };
        self.told_of = None;
        // Somebody else may just have done all that: the next walk will tell.
        if self.memory.refresh()? {
            round.again = true;
            return Ok(round);
        }
        self.work(&walked, stop, tell, &mut round)?;
        self.is_first = false;
        Ok(round)
    }

    fn work(&mut self, walked: &Walked, stop: &AtomicBool, tell: &mut Tell<'_>, round: &mut Round) -> Result<()> {
        let (store, repository) = (self.memory.store.clone(), self.memory.repository);
        if self.is_first && sets::applied::begin(&store, repository, &self.options.set_rules)? {
            tell(Told::Trouble(sets::OUTDATED.to_owned()));
        }
        if self.is_first {
            self.tell_of_strangers(&walked.folders, tell, round);
        }
        let scratch = Scratch::new()?;
        let mut reader = Reader {
            memory: &mut self.memory,
            options: &self.options,
            scratch: &scratch,
            remedy: &self.remedy,
            holders: Holders::default(),
            stop,
            tell,
        };
        reader.read(&walked.due, round)?;
        let is_amiss = |path: &Path| self.memory.files.get(path).is_some_and(|file| file.amiss.is_some());
        let amiss = walked.due.iter().map(|file| &file.path).filter(|path| is_amiss(path));
        self.walker.tried.extend(amiss.cloned());
        if stop.load(Relaxed) {
            return Ok(());
        }
        self.forget(&walked.gone, round)?;
        // What no file has may be in one that is still being written.
        if walked.waits {
            return Ok(());
        }
        self.unjudged = false;
        let read: HashSet<PathBuf> = walked.due.iter().map(|file| file.path.clone()).collect();
        let mut judge = Judge {
            memory: &mut self.memory,
            scratch: &scratch,
            max_deletions: self.max_deletions,
            folders: &walked.folders,
            remedy: &self.remedy,
            stop,
            tell,
        };
        judge.judge(&read, round)
    }

    /// Records of files that nobody watches and that are not there stay for ever, unless somebody lets go of them.
    fn tell_of_strangers(&self, folders: &[PathBuf], tell: &mut Tell<'_>, round: &mut Round) {
        let files = self.memory.files.iter();
        let strangers = files.filter(|(path, file)| file.records > 0 && !is_in(path, folders) && !path.exists());
        let mut counts: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for (path, file) in strangers.filter(|(path, _)| !self.walker.lets_go(path)) {
            *counts.entry(gone_with(path)).or_default() += file.records;
        }
        for (folder, records) in counts {
            round.has_trouble = true;
            tell(Told::Trouble(format!(
                "{}: {} came from files that are not there now, and it is not watched: they stay, even if no other file has \
                 them\nTry: watch it again; or, to let go of it, {}",
                folder.display(),
                counted(records, "record"),
                self.remedy.forget(&folder)
            )));
        }
    }

    /// Files that are gone take with them what could not be read of them.
    fn forget(&mut self, gone: &[PathBuf], round: &mut Round) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let (store, repository) = (self.memory.store.clone(), self.memory.repository);
        let paths: HashSet<&std::path::Path> = gone.iter().map(PathBuf::as_path).collect();
        let mut sources = HashSet::new();
        store.quarantined(repository, |entry| {
            let mut above = std::path::Path::new(&entry.source).ancestors();
            if above.any(|path| paths.contains(path)) {
                sources.insert(entry.source);
            }
        })?;
        let mut importer = store.importer(repository)?;
        for source in sources {
            importer.finish_source(&source)?;
        }
        round.gone += gone.len() as u64;
        self.memory.forget(gone)
    }
}

fn true_path(folder: &Path) -> Result<PathBuf> {
    let named = || {
        format!(
            "the folder {:?} to watch\nTry: its name, or . for the current folder",
            folder.display()
        )
    };
    resolve(folder).with_context(named)
}

/// A folder to let go of, if there is anything to be let go.
fn let_go(folder: &Path, watched: &[PathBuf], memory: &Memory) -> Result<PathBuf> {
    let (path, shown) = (true_path(folder)?, folder.display());
    for other in watched {
        if path.starts_with(true_path(other)?) {
            bail!(
                "{shown} is watched, so its files cannot be forgotten\nTry: remove the files, or watch other folders"
            );
        }
    }
    if !memory.knows(&path) {
        bail!("no file of {shown} is remembered\nTry: the path as it was told, without links");
    }
    Ok(path)
}

/// The files of a store that is one. They change with everything that is published.
fn own_files(store: &Store) -> Vec<PathBuf> {
    let Ok(place) = resolve(Path::new(&store.place())) else {
        return vec![];
    };
    let beside = ["", "-wal", "-shm", "-journal", "-clock"];
    let files = beside.map(|ending| PathBuf::from(format!("{}{ending}", place.display())));
    files.to_vec()
}

/// Waits, unless it is told to stop.
fn pause(how_long: Duration, stop: &AtomicBool) {
    let until = Instant::now() + how_long;
    while !stop.load(Relaxed) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(TICK));
    }
}
