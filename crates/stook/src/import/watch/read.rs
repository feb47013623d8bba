//! Reading files that are new or changed: what they give is noted, published, and compared with what they gave before.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use stook_oai::MetadataPrefix;
use stook_store::{Importer, Note, Quarantined, RepositoryId, Store, StoreError};

use super::holders::{Holders, Wanted};
use super::manner::Manner;
use super::memory::{Amiss, Chunks, File, Mark, Memory, gave, gave_in, removal, write_chunks};
use super::remedy::Remedy;
use super::scratch::Scratch;
use super::{Round, Tell, Told};
use crate::count::{counted, verb};
use crate::import::run::{Hear, Mention, Mentions, Target, run_heard};
use crate::import::{ImportError, Input, Options, Refusal, Summary};

/// Files read in one run of the import. Each run costs as much as reading some small files.
const FILES: usize = 500;
/// A run ends with the file that makes it this large, so that what is read is soon remembered as read.
const BYTES: u64 = 64 << 20;

/// A file to be read.
pub(super) struct Due {
    pub(super) path: PathBuf,
    /// How it was when it was found.
    pub(super) mark: Mark,
}

/// Reads files into the repository.
pub(super) struct Reader<'r> {
    pub(super) memory: &'r mut Memory,
    pub(super) options: &'r Arc<Options>,
    pub(super) scratch: &'r Scratch,
    pub(super) remedy: &'r Remedy,
    pub(super) holders: Holders,
    pub(super) stop: &'r AtomicBool,
    pub(super) tell: &'r mut Tell<'r>,
}

impl Reader<'_> {
    /// Reads them all, or as many as there is time for.
    pub(super) fn read(&mut self, mut due: &[Due], round: &mut Round) -> Result<()> {
        // One for all, so that a record which comes twice in a round is noticed.
        let mut importer = self.memory.store.importer(self.memory.repository)?;
        while !due.is_empty() {
            let mut bytes = 0;
            let large = due.iter().position(|file| {
                bytes += file.mark.size();
                bytes >= BYTES
            });
            let length = large.map_or(due.len(), |at| at + 1).min(FILES);
            let (slice, rest) = due.split_at(length);
            match self.run(&mut importer, slice, round)? {
                Ran::Fine => {}
                Ran::Stopped => return Ok(()),
                Ran::Refused(refusal) => {
                    // Some of them may have been read. They are read again, and that is not to be noticed as coming twice.
                    importer = self.memory.store.importer(self.memory.repository)?;
                    self.holders = Holders::default();
                    if slice.len() == 1 {
                        self.refuse(&slice[0], &refusal, round)?;
                    } else if !self.read_one_by_one(&mut importer, slice, round)? {
                        return Ok(());
                    }
                }
            }
            due = rest;
        }
        Ok(())
    }

    /// One of them spoils it for all, so each is read for itself; whether there is time for more.
    fn read_one_by_one(&mut self, importer: &mut Importer, files: &[Due], round: &mut Round) -> Result<bool> {
        for file in files {
            match self.run(importer, std::slice::from_ref(file), round)? {
                Ran::Fine => {}
                Ran::Stopped => return Ok(false),
                Ran::Refused(refusal) => {
                    self.holders = Holders::default();
                    *importer = self.memory.store.importer(self.memory.repository)?;
                    self.refuse(file, &refusal, round)?;
                }
            }
        }
        Ok(true)
    }

    /// Imports some files, and remembers those that were read to their end.
    fn run(&mut self, importer: &mut Importer, files: &[Due], round: &mut Round) -> Result<Ran> {
        let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
        self.memory.begin(&paths)?;
        let inputs: Vec<Input> = files.iter().map(|file| Input::Found(file.path.clone())).collect();
        let numbers = paths.iter().filter_map(|path| self.memory.files.get(*path));
        self.holders.own.extend(numbers.map(|file| file.number));
        let (memory, holders) = (&*self.memory, &mut self.holders);
        let mut hearing = Hearing::new(memory, &paths);
        let mut hear = |mentions: &Mentions<'_>| {
            let wanted = hearing.hear(mentions)?;
            holders.claims(memory, wanted)
        };
        let hear: &mut Hear<'_> = &mut hear;
        let target = Target {
            store: &memory.store,
            repository: memory.repository,
            importer,
        };
        let ran = run_heard(target, &inputs, self.options, self.stop, &mut |_| (), hear);
        let heard = hearing.files;
        let summary = match ran {
            Ok(summary) => summary,
            Err(ImportError::Refused(refusal)) => return Ok(Ran::Refused(refusal)),
            Err(ImportError::Store(failure)) => return Err(failure.into()),
            Err(ImportError::Crosswalk(failure) | ImportError::Unheard(failure)) => return Err(failure),
            Err(failure) => return Err(failure.into()),
        };
        round.add(&summary);
        self.finish_all(files, &heard, &summary, round)?;
        Ok(if summary.stopped { Ran::Stopped } else { Ran::Fine })
    }

    fn finish_all(&mut self, files: &[Due], heard: &[Heard], summary: &Summary, round: &mut Round) -> Result<()> {
        let mut finished = Finished::default();
        for (file, heard) in files.iter().zip(heard) {
            // What a stopped import did not come to is read again the next time.
            if summary.stopped && !heard.ended {
                continue;
            }
            round.read += 1;
            let is_same = fs::metadata(&file.path).is_ok_and(|metadata| Mark::of(&metadata) == file.mark);
            let is_complete = heard.ended && !heard.unknown && is_same;
            let amiss = heard.amiss.then(|| self.amiss(false));
            let kept = self.finish(file, is_complete, amiss, &mut finished)?;
            if kept > 0 && is_same {
                round.has_trouble = true;
                (self.tell)(Told::Trouble(format!(
                    "{}: a part of it cannot be read, so {} that it had before {} kept\n\
                     Try: stook quarantine tells what is wrong with it",
                    file.path.display(),
                    counted(kept, "record"),
                    verb(kept, "is", "are")
                )));
            }
        }
        self.memory.change(finished.files, finished.notes)
    }

    /// A file that nothing can be imported of before somebody decides something. It stays to be seen in the quarantine.
    fn refuse(&mut self, file: &Due, refusal: &Refusal, round: &mut Round) -> Result<()> {
        let refused = self.remedy.refused(refusal);
        let source = file.path.to_string_lossy().into_owned();
        let name = format!("{source}: ");
        let reason = refused.kept.strip_prefix(&name).unwrap_or(&refused.kept).to_owned();
        let mut importer = self.memory.store.importer(self.memory.repository)?;
        importer.finish_source(&source)?;
        importer.quarantine(&[Quarantined {
            source,
            line: 0,
            identifier: None,
            reason,
            excerpt: vec![],
        }])?;
        let mut finished = Finished::default();
        self.finish(file, false, Some(self.amiss(true)), &mut finished)?;
        self.memory.change(finished.files, finished.notes)?;
        round.has_trouble = true;
        (self.tell)(Told::Trouble(refused.said));
        Ok(())
    }

    fn amiss(&self, refused: bool) -> Amiss {
        let manner = Manner::of(self.options);
        Amiss { refused, manner }
    }

    /// Compares what a file gave with what it gave before. What is no longer in it is to be judged; if nobody knows
    /// whether it is, it counts as being in it. Returns how many records are kept so.
    fn finish(&mut self, due: &Due, is_complete: bool, amiss: Option<Amiss>, finished: &mut Finished) -> Result<u64> {
        let Some(mut file) = self.memory.files.get(&due.path).cloned() else {
            return Ok(0);
        };
        let now = format!("{}{:010}/", gave(file.number), file.generation);
        let uncertain = gave_in(file.number, file.generation, None);
        let (mut before, mut last, mut records) = (Vec::new(), String::new(), 0);
        self.scratch.clear()?;
        // In the order of their keys, so what was given before comes first.
        self.memory.each(&gave(file.number), &mut |key, text| {
            if !key.starts_with(&now) {
                before.push(removal(key.to_owned()));
                return self.scratch.add(text, true);
            }
            if key.starts_with(&uncertain) {
                key.clone_into(&mut last);
            }
            records += text.lines().count() as u64;
            if !before.is_empty() {
                self.scratch.remove(text.lines())?;
            }
            Ok(())
        })?;
        let vanished = if before.is_empty() {
            0
        } else {
            self.scratch.count(false)?
        };
        if vanished > 0 {
            let chunks = match is_complete {
                true => Chunks::new(format!(
                    "{}{:010}/{:010}/",
                    self.memory.orphans(),
                    file.number,
                    file.generation
                )),
                false => Chunks::after(uncertain, &last),
            };
            self.scratch
                .each_page(|pages| write_chunks(&self.memory.store, self.memory.repository, chunks, pages))?;
            self.memory.has_orphans |= is_complete;
        }
        let kept = if is_complete { 0 } else { vanished };
        file.mark = Some(due.mark);
        file.amiss = amiss;
        file.records = records + kept;
        finished.notes.extend(before);
        finished.files.push((due.path.clone(), file));
        Ok(kept)
    }
}

/// Files that were read, and what is to be noted together with that.
#[derive(Default)]
struct Finished {
    files: Vec<(PathBuf, File)>,
    notes: Vec<Note>,
}

/// How a run ended.
enum Ran {
    Fine,
    Stopped,
    Refused(Refusal),
}

/// What is heard of the files of one run.
struct Hearing {
    store: Store,
    repository: RepositoryId,
    files: Vec<Heard>,
    /// Their places, by their names as sources.
    places: HashMap<String, usize>,
}

/// What was heard of one file.
struct Heard {
    number: u64,
    generation: u64,
    /// By format; none of those that are not published.
    chunks: Vec<(Option<MetadataPrefix>, Chunks)>,
    ended: bool,
    unknown: bool,
    /// Whether something of it is in the quarantine.
    amiss: bool,
}

impl Hearing {
    fn new(memory: &Memory, paths: &[&Path]) -> Hearing {
        let mut hearing = Hearing {
            store: memory.store.clone(),
            repository: memory.repository,
            files: Vec::new(),
            places: HashMap::new(),
        };
        for (at, path) in paths.iter().enumerate() {
            let file = memory.files.get(*path);
            let (number, generation) = file.map_or((0, 0), |file| (file.number, file.generation));
            hearing.files.push(Heard {
                number,
                generation,
                chunks: Vec::new(),
                ended: false,
                unknown: false,
                amiss: false,
            });
            hearing.places.insert(path.to_string_lossy().into_owned(), at);
        }
        hearing
    }

    /// Notes what a load mentions. It is published after this, never before. Returns what is to be published.
    fn hear(&mut self, mentions: &Mentions<'_>) -> Result<Vec<Wanted>, StoreError> {
        let (mut notes, mut touched): (Vec<Note>, Vec<usize>) = (Vec::new(), Vec::new());
        let (mut wanted, mut passed): (Vec<Wanted>, HashSet<(String, MetadataPrefix)>) = Default::default();
        mentions.each(&mut |source, mention| {
            let Some((at, is_file)) = place(&self.places, source) else {
                return;
            };
            let file = &mut self.files[at];
            file.amiss |= matches!(mention, Mention::Quarantined(_) | Mention::Unknown);
            let (identifier, prefix) = match mention {
                Mention::Record(identifier, prefix) => (identifier, Some(prefix)),
                Mention::Quarantined(identifier) => (identifier, None),
                Mention::Unknown => return file.unknown = true,
                // The end of a file inside an archive is not that of the archive.
                Mention::End => return file.ended |= is_file,
            };
            notes.extend(file.note(identifier, prefix));
            if touched.last() != Some(&at) {
                touched.push(at);
            }
            // What comes twice in a load is for the import to notice.
            if let Some(prefix) = prefix
                && passed.insert((identifier.to_owned(), prefix.clone()))
            {
                wanted.push(Wanted {
                    identifier: identifier.to_owned(),
                    prefix: prefix.clone(),
                    by: file.number,
                });
            }
        });
        for at in touched {
            let chunks = self.files[at].chunks.iter_mut();
            notes.extend(chunks.filter_map(|(_, chunks)| chunks.take()));
        }
        if !notes.is_empty() {
            self.store.write_notes(self.repository, &notes)?;
        }
        Ok(wanted)
    }
}

impl Heard {
    /// Notes that the file has a record.
    fn note(&mut self, identifier: &str, prefix: Option<&MetadataPrefix>) -> Option<Note> {
        let known = self.chunks.iter().position(|(known, _)| known.as_ref() == prefix);
        let at = known.unwrap_or_else(|| {
            let chunks = Chunks::new(gave_in(self.number, self.generation, prefix));
            self.chunks.push((prefix.cloned(), chunks));
            self.chunks.len() - 1
        });
        self.chunks[at].1.push(identifier)
    }
}

/// The file that a source is, or is inside of.
fn place(places: &HashMap<String, usize>, source: &str) -> Option<(usize, bool)> {
    if let Some(at) = places.get(source) {
        return Some((*at, true));
    }
    let mut ends = source.rmatch_indices('/').map(|(at, _)| &source[..at]);
    ends.find_map(|archive| places.get(archive)).map(|at| (*at, false))
}
