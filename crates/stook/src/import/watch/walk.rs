//! Walking the watched folders: which files are to be read, and which are gone.
//!
//! Nothing is read here, and nothing is decided on one look: a file has to be the same in two walks running, and to be
//! missing from two of them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::folders::{is_in, resolve};
use super::manner::Manner;
use super::memory::{Amiss, Mark, Memory};
use super::read::Due;
use super::{Tell, Told};
use crate::import::Options;
use crate::import::open::folder::{Found, each_file};
use crate::import::source::{Halt, Refusal};

/// A file that was written to a moment ago may be written to again, and the clocks of some drives are coarse.
const YOUNG: Duration = Duration::from_secs(1);
/// Who looks only once can tell by the age alone.
const OLD: Duration = Duration::from_secs(2);
/// What is missing may be in a file that is still being written, and is waited for; but some files, such as logs, are
/// written to for ever.
const PATIENCE: Duration = Duration::from_secs(3600);

/// What a walk came to.
#[derive(Default)]
pub(super) struct Walked {
    /// Files that are new or have changed and can be read, in the order in which they are to be.
    pub(super) due: Vec<Due>,
    /// Files that are gone.
    pub(super) gone: Vec<PathBuf>,
    /// The folders that were looked through, or should have been, by their true paths.
    pub(super) folders: Vec<PathBuf>,
    /// How many files are still being written, as far as can be told.
    pub(super) unsettled: usize,
    /// Whether they are waited for: until then, nothing that is missing is gone.
    pub(super) waits: bool,
}

/// How often the folders are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Looking {
    /// Again and again.
    Always,
    /// Once, so that the age of a file decides; or twice if some are too young.
    Once,
    /// That second time.
    OnceMore,
}

/// Walks the same folders again and again.
pub(super) struct Walker {
    /// As they were named: a link may lead elsewhere tomorrow.
    folders: Vec<PathBuf>,
    /// Folders whose files are gone, be they there or not.
    forget: Vec<PathBuf>,
    /// Files of the program itself, which nobody meant.
    own: Vec<PathBuf>,
    pub(super) looking: Looking,
    /// Files that were new or changed in the last walk, as they were.
    waiting: HashMap<PathBuf, Mark>,
    /// What was told of a path, and need not be told again.
    told: HashMap<PathBuf, String>,
    /// Files that were tried again though nothing about them had changed: once is enough.
    pub(super) tried: HashSet<PathBuf>,
    walks: u64,
    /// Since when every walk has met files that were being written.
    unsettled_since: Option<Instant>,
    pub(super) patience: Duration,
}

impl Walker {
    pub(super) fn new(folders: Vec<PathBuf>, forget: Vec<PathBuf>, own: Vec<PathBuf>) -> Walker {
        Walker {
            folders,
            forget,
            own,
            looking: Looking::Always,
            waiting: HashMap::new(),
            told: HashMap::new(),
            tried: HashSet::new(),
            walks: 0,
            unsettled_since: None,
            patience: PATIENCE,
        }
    }

    /// One walk.
    pub(super) fn walk(&mut self, memory: &mut Memory, options: &Options, tell: &mut Tell<'_>) -> Walked {
        self.walks += 1;
        let (now, manner) = (SystemTime::now(), Manner::of(options));
        let tries = |amiss: Amiss| amiss.refused || manner.may_do_better_than(amiss.manner, options);
        let mut walked = Walked::default();
        let mut met = HashMap::new();
        let (mut here, mut away) = (Vec::new(), Vec::new());
        let mut troubled = HashSet::new();
        walked.folders = self.true_paths();
        for folder in walked.folders.clone() {
            let mut trouble = Vec::new();
            let outcome = each_file(&folder, &mut |found| {
                match found {
                    Found::File { path, named: true } => {
                        trouble.push((path.clone(), NO_FOLDER.to_owned()));
                        away.push(path);
                    }
                    Found::File { path, .. } => {
                        self.meet(path, memory, (now, &tries), &mut met, &mut walked, &mut trouble);
                    }
                    Found::Unreadable { path, error } => {
                        let reason = format!("cannot be read: {error}\nTry: check its permissions, or where it leads");
                        trouble.push((path.clone(), reason));
                        away.push(path);
                    }
                }
                Ok(())
            });
            match outcome {
                Ok(()) => here.push(folder),
                Err(halt) => {
                    let reason = away_because(&halt, &folder, memory.knows(&folder));
                    trouble.push((folder.clone(), reason));
                    away.push(folder);
                }
            }
            for (path, reason) in trouble {
                self.tell_once(&path, reason, tell);
                troubled.insert(path);
            }
        }
        self.waiting = met;
        self.tell_of_returns(&walked.folders, &troubled, tell);
        walked.waits = self.waits(walked.unsettled);
        self.miss(memory, &here, &away, &mut walked);
        // In the order in which they were first read, because the first that has a record counts.
        let number = |path: &Path| memory.files.get(path).map_or(u64::MAX, |file| file.number);
        walked
            .due
            .sort_by_cached_key(|file| (number(&file.path), file.path.clone()));
        walked
    }

    fn true_paths(&self) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        for folder in &self.folders {
            let path = resolve(folder).unwrap_or_else(|_| folder.clone());
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    fn waits(&mut self, unsettled: usize) -> bool {
        if unsettled == 0 {
            self.unsettled_since = None;
            return false;
        }
        self.unsettled_since.get_or_insert_with(Instant::now).elapsed() < self.patience
    }

    /// A file is there. What is to be done with it depends on how it was.
    fn meet(
        &self,
        path: PathBuf,
        memory: &mut Memory,
        (now, tries): (SystemTime, &dyn Fn(Amiss) -> bool),
        met: &mut HashMap<PathBuf, Mark>,
        walked: &mut Walked,
        trouble: &mut Vec<(PathBuf, String)>,
    ) {
        if is_temporary(&path) || met.contains_key(&path) || self.own.contains(&path) {
            return;
        }
        if path.to_str().is_none() {
            let reason = "its name is not UTF-8, so it is passed over\nTry: another name".to_owned();
            return trouble.push((path, reason));
        }
        let metadata = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => metadata,
            _ => return,
        };
        let mark = Mark::of(&metadata);
        if let Some(file) = memory.files.get_mut(&path) {
            file.met = self.walks;
            let is_to_try = file.amiss.is_some_and(tries) && !self.tried.contains(&path);
            if file.mark == Some(mark) && !is_to_try {
                return;
            }
        }
        met.insert(path.clone(), mark);
        let is_same = self.waiting.get(&path) == Some(&mark);
        let age = mark.age(now);
        let is_older = |than: Duration| i128::from(age) >= i128::try_from(than.as_nanos()).unwrap_or(i128::MAX);
        // A time to come says nothing.
        let is_settled = match self.looking {
            Looking::Always => is_same && (is_older(YOUNG) || age < 0),
            Looking::Once | Looking::OnceMore => is_older(OLD) || is_same,
        };
        if !is_settled {
            walked.unsettled += 1;
            return;
        }
        // Found out here, because a right to read that is given later changes neither size nor time.
        match fs::File::open(&path) {
            Ok(_) => walked.due.push(Due { path, mark }),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => trouble.push((
                path,
                format!("cannot be opened: {error}\nTry: give the right to read it"),
            )),
        }
    }

    /// Known files that were not met, in folders that were looked through or are let go.
    fn miss(&self, memory: &mut Memory, here: &[PathBuf], away: &[PathBuf], walked: &mut Walked) {
        for (path, file) in &mut memory.files {
            if self.lets_go(path) && !is_in(path, &walked.folders) {
                walked.gone.push(path.clone());
                continue;
            }
            if file.met == self.walks || !is_in(path, here) || is_in(path, away) {
                file.missed = 0;
                continue;
            }
            file.missed += 1;
            // It may have another name by now, under which it is not settled yet.
            let enough = !walked.waits && (self.looking != Looking::Always || file.missed >= 2);
            if enough {
                walked.gone.push(path.clone());
            }
        }
        walked.gone.sort();
    }

    fn tell_once(&mut self, path: &Path, reason: String, tell: &mut Tell<'_>) {
        if self.told.get(path) != Some(&reason) {
            tell(Told::Trouble(format!("{}: {reason}", path.display())));
            self.told.insert(path.to_owned(), reason);
        }
    }

    fn tell_of_returns(&mut self, folders: &[PathBuf], troubled: &HashSet<PathBuf>, tell: &mut Tell<'_>) {
        self.told.retain(|path, reason| {
            let is_troubled = troubled.contains(path);
            if !is_troubled && folders.contains(path) {
                let is_new = reason.starts_with(NOT_YET);
                let what = if is_new { "is there now" } else { "is back" };
                tell(Told::News(format!("{} {what}", path.display())));
            }
            is_troubled
        });
    }

    /// Whether the records of a file are let go.
    pub(super) fn lets_go(&self, path: &Path) -> bool {
        is_in(path, &self.forget)
    }

    /// Whether something is in the way of seeing everything.
    pub(super) fn has_trouble(&self) -> bool {
        !self.told.is_empty()
    }
}

/// A file where a folder should be.
pub(super) const NO_FOLDER: &str =
    "is a file, and only folders are watched; nothing that came from there is deleted\nTry: the folder that it is in";
/// What was never there is more likely to be a slip of the pen than to be unplugged.
const NOT_YET: &str = "there is no such folder";

fn away_because(halt: &Halt, folder: &Path, is_known: bool) -> String {
    if !is_known && !folder.exists() {
        return format!("{NOT_YET}\nTry: make it, or check the name");
    }
    let reason = match halt {
        Halt::Refused(Refusal::CannotOpen { reason, .. }) => reason.as_str(),
        _ => "cannot be looked through",
    };
    format!(
        "{reason}; nothing that came from there is deleted\nTry: check that the drive is there and the folder readable"
    )
}

/// Names under which programs keep what is not finished. Hidden files are passed over by every walk.
fn is_temporary(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    let endings = [
        "~",
        ".tmp",
        ".temp",
        ".part",
        ".partial",
        ".crdownload",
        ".filepart",
        ".swp",
    ];
    endings.iter().any(|ending| name.ends_with(ending))
        || name.starts_with("~$")
        || (name.starts_with('#') && name.ends_with('#'))
}
