//! What is remembered of watched files: notes in the store.
//!
//! | key | says |
//! |---|---|
//! | `watch/file/FILE` | a file: its path, how it was when it was read, in which generation |
//! | `watch/gave/FILE/GENERATION/FORMAT/CHUNK` | identifiers of records it has; no format: not published from it |
//! | `watch/orphan/…` | identifiers that a file had and has no more: to be judged |
//! | `watch/withheld/…` | such as nobody has, but too many to be deleted without being told |
//! | `watch/version` | grows with every change, so that other processes notice |
//!
//! The process may die between any two writes. What a file is going to give is noted *before* it is published, in a new
//! generation; what it gave before is let go when it has been read to its end. So a record that came from a file is always
//! noted under that file, or as an orphan: at worst under both, which the judgement sorts out.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use stook_oai::MetadataPrefix;
use stook_store::{Note, RepositoryId, Store, StoreError};

use super::manner::Manner;

const FILE: &str = "watch/file/";
pub(super) const GAVE: &str = "watch/gave/";
pub(super) const ORPHAN: &str = "watch/orphan/";
pub(super) const WITHHELD: &str = "watch/withheld/";
const VERSION: &str = "watch/version";

/// Identifiers in one note, in bytes; tests want many notes.
const CHUNK: usize = if cfg!(test) { 200 } else { 64 << 10 };
/// Notes read at once.
const PAGE: usize = 64;
/// Notes written at once, or a few more.
const AT_ONCE: usize = 256;

/// How a file is, as far as can be told without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Mark {
    size: u64,
    /// When it was written last, in nanoseconds since 1970.
    modified: i64,
}

impl Mark {
    pub(super) fn of(metadata: &Metadata) -> Mark {
        let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
        let nanos = match modified.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
        };
        Mark {
            size: metadata.len(),
            modified: nanos,
        }
    }

    /// How many nanoseconds ago it was written; less than none if a clock is wrong.
    pub(super) fn age(&self, now: SystemTime) -> i64 {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(now.as_nanos())
            .unwrap_or(i64::MAX)
            .saturating_sub(self.modified)
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

/// What a note says of a file.
#[derive(Deserialize, Serialize)]
struct FileNote {
    path: String,
    #[serde(flatten)]
    file: File,
}

/// A file that is known.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct File {
    #[serde(skip)]
    pub(super) number: u64,
    /// How it was when it was read; none if it has to be read.
    pub(super) mark: Option<Mark>,
    /// What is wrong with it, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) amiss: Option<Amiss>,
    /// The latest reading of it that was begun.
    pub(super) generation: u64,
    /// How many records it gave.
    pub(super) records: u64,
    /// The walk that met it last.
    #[serde(skip)]
    pub(super) met: u64,
    /// How many walks have missed it since.
    #[serde(skip)]
    pub(super) missed: u32,
}

/// A file of which something could not be published. Another manner of reading it may do better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Amiss {
    /// Whether nothing could be imported of it at all.
    pub(super) refused: bool,
    /// In which manner it was read.
    pub(super) manner: Manner,
}

/// All that is known, of this repository.
pub(super) struct Memory {
    pub(super) store: Store,
    pub(super) repository: RepositoryId,
    pub(super) files: HashMap<PathBuf, File>,
    /// Whether there are identifiers to be judged.
    pub(super) has_orphans: bool,
    version: u64,
    next: u64,
}

impl Memory {
    pub(super) fn load(store: &Store, repository: RepositoryId) -> Result<Memory> {
        let mut memory = Memory {
            store: store.clone(),
            repository,
            files: HashMap::new(),
            has_orphans: false,
            version: u64::MAX,
            next: 1,
        };
        memory.refresh()?;
        Ok(memory)
    }

    /// Loads everything again if another process has written since; whether it has.
    pub(super) fn refresh(&mut self) -> Result<bool> {
        let found = self.store.notes(self.repository, VERSION)?;
        let version = found.first().and_then(|(_, text)| text.parse().ok()).unwrap_or(0);
        if version == self.version {
            return Ok(false);
        }
        let mut files = HashMap::new();
        let mut next = 1;
        self.each(FILE, &mut |key, text| {
            let mut known: FileNote =
                serde_json::from_str(text).with_context(|| format!("the note {key} in the store"))?;
            let number: u64 = key[FILE.len()..]
                .parse()
                .with_context(|| format!("the note {key} in the store"))?;
            next = next.max(number + 1);
            known.file.number = number;
            files.insert(PathBuf::from(known.path), known.file);
            Ok(())
        })?;
        self.has_orphans = !self.store.notes_after(self.repository, ORPHAN, "", 1)?.is_empty();
        (self.files, self.next, self.version) = (files, next, version);
        Ok(true)
    }

    /// Whether files of this folder are known.
    pub(super) fn knows(&self, folder: &Path) -> bool {
        self.files.keys().any(|path| path.starts_with(folder))
    }

    /// Visits notes by the beginning of their keys, without holding many.
    pub(super) fn each(&self, prefix: &str, visit: &mut dyn FnMut(&str, &str) -> Result<()>) -> Result<()> {
        let mut after = String::new();
        loop {
            let page = self.store.notes_after(self.repository, prefix, &after, PAGE)?;
            for (key, text) in &page {
                visit(key, text)?;
            }
            match page.into_iter().nth(PAGE - 1) {
                Some((last, _)) => after = last,
                None => return Ok(()),
            }
        }
    }

    /// Notes that a file is going to be read: whatever it gave so far is kept until it has been.
    pub(super) fn begin(&mut self, paths: &[&Path]) -> Result<()> {
        let mut notes = Vec::new();
        for &path in paths {
            let next = self.next;
            let file = self.files.entry(path.to_owned()).or_insert_with(|| File {
                number: next,
                mark: None,
                amiss: None,
                generation: 0,
                records: 0,
                met: 0,
                missed: 0,
            });
            self.next = next.max(file.number + 1);
            file.mark = None;
            file.generation += 1;
            notes.push(file_note(path, file)?);
        }
        self.write(notes)
    }

    /// Notes how files are from now on, and whatever else, all or none.
    pub(super) fn change(&mut self, files: Vec<(PathBuf, File)>, mut notes: Vec<Note>) -> Result<()> {
        for (path, file) in &files {
            notes.push(file_note(path, file)?);
        }
        self.write(notes)?;
        self.files.extend(files);
        Ok(())
    }

    /// Forgets files, and lets their identifiers be judged.
    pub(super) fn forget(&mut self, paths: &[PathBuf]) -> Result<()> {
        let mut notes = Vec::new();
        for path in paths {
            let Some(file) = self.files.get(path) else { continue };
            let mut gone = vec![removal(format!("{FILE}{:010}", file.number))];
            self.each(&gave(file.number), &mut |key, text| {
                let orphan = format!("{}{}", self.orphans(), &key[GAVE.len()..]);
                notes.push(note(orphan, text.to_owned()));
                gone.push(removal(key.to_owned()));
                // Written before the file is forgotten, or with it.
                if notes.len() >= AT_ONCE {
                    self.store.write_notes(self.repository, &notes)?;
                    notes.clear();
                }
                Ok(())
            })?;
            self.has_orphans |= gone.len() > 1;
            notes.extend(gone);
            if notes.len() >= AT_ONCE {
                self.write(std::mem::take(&mut notes))?;
            }
        }
        self.write(notes)?;
        for path in paths {
            self.files.remove(path);
        }
        Ok(())
    }

    /// Writes notes that other processes have to hear of, all or none.
    pub(super) fn write(&mut self, mut notes: Vec<Note>) -> Result<()> {
        let version = self.version.wrapping_add(1);
        notes.push(note(VERSION.to_owned(), version.to_string()));
        self.store.write_notes(self.repository, &notes)?;
        self.version = version;
        Ok(())
    }

    /// Where identifiers that are to be judged stand, from now until something is written. Numbers of files that are
    /// forgotten are used again, versions are not.
    pub(super) fn orphans(&self) -> String {
        format!("{ORPHAN}{:012}/", self.version)
    }

    /// The same for those that are withheld.
    pub(super) fn withheld(&self) -> String {
        format!("{WITHHELD}{:012}/", self.version)
    }

    /// After a failure nobody knows how much of it was written: everything is loaded again.
    pub(super) fn doubt(&mut self) {
        self.version = u64::MAX;
    }
}

fn file_note(path: &Path, file: &File) -> Result<Note> {
    let path = path.to_str().context("a path that is not UTF-8")?.to_owned();
    let (key, file) = (format!("{FILE}{:010}", file.number), file.clone());
    Ok(note(key, serde_json::to_string(&FileNote { path, file })?))
}

/// Where the identifiers of a file stand.
pub(super) fn gave(number: u64) -> String {
    format!("{GAVE}{number:010}/")
}

/// Where those stand that it has in a format, by one reading of it; or those of which only the identifiers are known.
pub(super) fn gave_in(number: u64, generation: u64, prefix: Option<&MetadataPrefix>) -> String {
    let prefix = prefix.map_or("", MetadataPrefix::as_str);
    format!("{}{generation:010}/{prefix}/", gave(number))
}

pub(super) fn note(key: String, text: String) -> Note {
    Note { key, text: Some(text) }
}

pub(super) fn removal(key: String) -> Note {
    Note { key, text: None }
}

/// Identifiers on their way into notes of bounded size.
pub(super) struct Chunks {
    /// Where they stand; a number is put behind it.
    prefix: String,
    next: u32,
    text: String,
}

impl Chunks {
    pub(super) fn new(prefix: String) -> Chunks {
        Chunks {
            prefix,
            next: 0,
            text: String::new(),
        }
    }

    /// Goes on behind a chunk that is there already.
    pub(super) fn after(prefix: String, last: &str) -> Chunks {
        let number = last.strip_prefix(&prefix).and_then(|number| number.parse().ok());
        Chunks {
            next: number.map_or(0, |number: u32| number + 1),
            ..Chunks::new(prefix)
        }
    }

    /// Adds an identifier; a chunk that is full leaves.
    #[must_use]
    pub(super) fn push(&mut self, identifier: &str) -> Option<Note> {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        // No white space can be part of one.
        self.text.push_str(identifier);
        if self.text.len() < CHUNK {
            return None;
        }
        self.take()
    }

    /// What has not left yet.
    pub(super) fn take(&mut self) -> Option<Note> {
        if self.text.is_empty() {
            return None;
        }
        let key = format!("{}{:06}", self.prefix, self.next);
        self.next += 1;
        Some(note(key, std::mem::take(&mut self.text)))
    }
}

/// Writes identifiers as chunks, a few at a time. Nobody hears of it until something else is written.
pub(super) fn write_chunks(
    store: &Store,
    repository: RepositoryId,
    mut chunks: Chunks,
    identifiers: &mut dyn FnMut() -> Result<Vec<String>>,
) -> Result<(), anyhow::Error> {
    loop {
        let page = identifiers()?;
        let is_last = page.is_empty();
        let mut notes: Vec<Note> = page.iter().filter_map(|identifier| chunks.push(identifier)).collect();
        if is_last {
            notes.extend(chunks.take());
        }
        if !notes.is_empty() {
            let written: Result<(), StoreError> = store.write_notes(repository, &notes);
            written?;
        }
        if is_last {
            return Ok(());
        }
    }
}
