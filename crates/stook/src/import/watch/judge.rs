//! What becomes of records that a file had and has no more: those that no file has are deleted, unless that would be
//! suspiciously many.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::Result;
use stook_oai::Identifier;
use stook_store::{Change, Content, Outcome};

use super::folders::is_in;
use super::memory::{Chunks, File, GAVE, Memory, ORPHAN, WITHHELD, gave, removal, write_chunks};
use super::remedy::Remedy;
use super::scratch::Scratch;
use super::{Round, Tell, Told};
use crate::count::{counted, verb};

/// Records up to this many are deleted without asking, whatever share they are.
pub const FEW: u64 = 10;

/// The records that no file has any more.
pub(super) struct Judge<'j> {
    pub(super) memory: &'j mut Memory,
    pub(super) scratch: &'j Scratch,
    /// Percentage of the records of watched files that may be deleted at once.
    pub(super) max_deletions: u8,
    /// The folders that are watched, by their true paths.
    pub(super) folders: &'j [PathBuf],
    pub(super) remedy: &'j Remedy,
    pub(super) stop: &'j AtomicBool,
    pub(super) tell: &'j mut Tell<'j>,
}

impl Judge<'_> {
    /// Judges all that was orphaned or withheld; `read` are the files that were read in this round.
    pub(super) fn judge(&mut self, read: &HashSet<PathBuf>, round: &mut Round) -> Result<()> {
        let mut notes = Vec::new();
        self.scratch.clear()?;
        for (prefix, fresh) in [(ORPHAN, true), (WITHHELD, false)] {
            self.memory.each(prefix, &mut |key, text| {
                notes.push(removal(key.to_owned()));
                self.scratch.add(text, fresh)
            })?;
        }
        if notes.is_empty() {
            self.memory.has_orphans = false;
            return Ok(());
        }
        let elsewhere = self.leave_what_others_have(read)?;
        round.again |= !elsewhere.is_empty();
        self.leave_what_is_gone()?;
        self.leave_what_strangers_have(round)?;
        if let Some(only_fresh) = self.verdict(round)?
            && !self.delete(only_fresh, round)?
        {
            // Stopped: what is noted stays, and is judged again.
            return Ok(());
        }
        // What is noted now stands under keys of its own, apart from what is taken away.
        self.memory.write(vec![])?;
        if self.scratch.count(false)? > 0 {
            let chunks = Chunks::new(self.memory.withheld());
            self.scratch
                .each_page(|pages| write_chunks(&self.memory.store, self.memory.repository, chunks, pages))?;
        }
        self.memory.change(elsewhere, notes)?;
        self.memory.has_orphans = false;
        Ok(())
    }

    /// Takes away what some file has. Those files are to be read again, unless they just were: a record that stood in two
    /// of them may say something else in this one.
    fn leave_what_others_have(&mut self, read: &HashSet<PathBuf>) -> Result<Vec<(PathBuf, File)>> {
        let mut holders = HashSet::new();
        let files = self.memory.files.iter();
        let watched = files.filter(|(path, _)| is_in(path, self.folders));
        let watched: HashSet<u64> = watched.map(|(_, file)| file.number).collect();
        self.memory.each(GAVE, &mut |key, text| {
            let number = key[GAVE.len()..]
                .split('/')
                .next()
                .and_then(|number| number.parse().ok());
            if let Some(number) = number.filter(|number| watched.contains(number))
                && self.scratch.remove(text.lines())? > 0
            {
                holders.insert(number);
            }
            Ok(())
        })?;
        let known = self.memory.files.iter();
        let elsewhere = known.filter(|(path, file)| holders.contains(&file.number) && !read.contains(*path));
        Ok(elsewhere
            .map(|(path, file)| {
                let mut file = file.clone();
                file.mark = None;
                (path.clone(), file)
            })
            .collect())
    }

    /// Takes away what files in folders have that are not watched now. Somebody else may watch them, so their records
    /// stay; but nobody should wonder why.
    fn leave_what_strangers_have(&mut self, round: &mut Round) -> Result<()> {
        let files = self.memory.files.iter();
        let strangers = files.filter(|(path, _)| !is_in(path, self.folders));
        let mut strangers: Vec<(&PathBuf, u64)> = strangers.map(|(path, file)| (path, file.number)).collect();
        strangers.sort();
        for (path, number) in strangers {
            let mut kept = 0;
            self.memory.each(&gave(number), &mut |_, text| {
                kept += self.scratch.remove(text.lines())?;
                Ok(())
            })?;
            if kept > 0 {
                round.has_trouble = true;
                (self.tell)(Told::Trouble(format!(
                    "{} in no watched file any more: kept, because {} had them too, which is not watched now\nTry: watch \
                     it again; or, to let go of it, {}",
                    match kept {
                        1 => "1 record is".to_owned(),
                        _ => format!("{} are", counted(kept, "record")),
                    },
                    path.display(),
                    self.remedy.forget(path.parent().unwrap_or(path))
                )));
            }
        }
        Ok(())
    }

    /// Takes away what is deleted already, or never was published.
    fn leave_what_is_gone(&self) -> Result<()> {
        let mut after = String::new();
        loop {
            let page = self.scratch.page(&after, false)?;
            let Some(last) = page.last() else { return Ok(()) };
            after.clone_from(last);
            let gone = self.memory.store.look_up(|snapshot| {
                let mut gone = Vec::new();
                for identifier in &page {
                    let formats = snapshot.formats_of(self.memory.repository, identifier)?;
                    if formats.is_none_or(|formats| formats.is_empty()) {
                        gone.push(identifier.clone());
                    }
                }
                Ok(gone)
            })?;
            self.scratch.remove(gone.iter().map(String::as_str))?;
        }
    }

    /// What is to be deleted: nothing, everything (`false`), or only what is fresh (`true`).
    fn verdict(&mut self, round: &mut Round) -> Result<Option<bool>> {
        let (all, fresh) = (self.scratch.count(false)?, self.scratch.count(true)?);
        let left: u64 = self.memory.files.values().map(|file| file.records).sum();
        let of = left + all;
        let share = |records: u64| (records * 100).div_ceil(of.max(1));
        let is_fine = |records: u64| records <= FEW || share(records) <= u64::from(self.max_deletions);
        let verdict = match () {
            () if all == 0 => return Ok(None),
            () if is_fine(all) => return Ok(Some(false)),
            () if fresh > 0 && is_fine(fresh) => Some(true),
            () => None,
        };
        let withheld = if verdict.is_some() { all - fresh } else { all };
        round.has_trouble = true;
        (self.tell)(Told::Trouble(format!(
            "{withheld} of {} {} in no watched file any more, {}%, more than the {}% allowed: {} not \
             deleted\nTry: check that the folders are complete; if they are, {}",
            counted(of, "record"),
            verb(withheld, "is", "are"),
            share(withheld),
            self.max_deletions,
            verb(withheld, "it is", "they are"),
            self.remedy.with(&format!("--max-deletions {}", share(withheld)))
        )));
        Ok(verdict)
    }

    /// Deletes in every format; `false` if it was stopped.
    fn delete(&self, only_fresh: bool, round: &mut Round) -> Result<bool> {
        let (store, repository) = (&self.memory.store, self.memory.repository);
        let mut after = String::new();
        loop {
            let page = self.scratch.page(&after, only_fresh)?;
            let Some(last) = page.last() else { return Ok(true) };
            after.clone_from(last);
            if self.stop.load(Relaxed) {
                return Ok(false);
            }
            let changes = store.look_up(|snapshot| {
                let mut changes = Vec::new();
                for identifier in &page {
                    let formats = snapshot.formats_of(repository, identifier)?.unwrap_or_default();
                    // As it stands in the store, so it is one.
                    let Ok(identifier) = Identifier::as_received(identifier) else {
                        continue;
                    };
                    changes.extend(formats.into_iter().map(|format| Change {
                        identifier: identifier.clone(),
                        prefix: format.prefix,
                        set_specs: vec![],
                        content: Content::Deleted,
                    }));
                }
                Ok(changes)
            })?;
            let identifiers: Vec<Identifier> = changes.iter().map(|change| change.identifier.clone()).collect();
            let outcomes = store.apply(repository, changes)?;
            let deleted = identifiers.iter().zip(outcomes);
            let deleted: HashSet<&Identifier> = deleted
                .filter(|(_, outcome)| *outcome == Outcome::Deleted)
                .map(|(identifier, _)| identifier)
                .collect();
            round.withdrawn += deleted.len() as u64;
            self.scratch.remove(page.iter().map(String::as_str))?;
        }
    }
}
