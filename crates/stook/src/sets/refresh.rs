//! Sorting everything again: after rules were added or changed.
//!
//! Only records whose sets come out differently get a new datestamp. Each step is a transaction; what was done when the
//! program is stopped stays done.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::Result;
use stook_metadata::sets::{MadeSet, NoSets, Owned};
use stook_oai::response::split_fragment;
use stook_oai::{Identifier, MetadataPrefix, SetSpec};
use stook_store::{Beside, Change, Content, List, Position, RepositoryId, Snapshot, Span, Store, StoreError};

use super::naming::Naming;
use super::{SetRules, applied, as_shown, read_specs, stored};

/// Records sorted in one transaction; tests want many of them.
const STEP: usize = if cfg!(test) { 50 } else { 2_000 };
/// Of those that cannot be sorted, so many are told.
const MOST_EXAMPLES: usize = 10;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Live records that were looked at.
    pub read: u64,
    /// Records whose sets changed.
    pub changed: u64,
    /// Records whose sets cannot be told, and stay as they are.
    pub failed: u64,
    /// Some of them, and why.
    pub examples: Vec<(String, String)>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// A live record, and what decides about its sets.
pub(super) struct Candidate {
    pub(super) identifier: String,
    pub(super) set_specs: Vec<SetSpec>,
    position: Position,
    /// The item's records in the formats that rules read.
    records: Vec<(MetadataPrefix, String)>,
}

/// Puts every record into the sets that these rules say. `progress` hears how many of how many were read.
///
/// # Errors
/// When the store cannot be read or written. What was done until then stays done.
pub fn refresh(
    store: &Store,
    repository: RepositoryId,
    rules: &SetRules,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Refreshed> {
    applied::begin(store, repository, rules)?;
    let before = applied::owned_before(store, repository)?;
    let (lists, through, count) = store.look_up(|snapshot| {
        let mut lists = Vec::new();
        let mut count = 0;
        for format in snapshot.formats(repository)? {
            if let Some(list) = snapshot.list(repository, &format.prefix, None)? {
                count += snapshot.count(list, Span::ALL)?;
                lists.push((format.prefix, list));
            }
        }
        Ok((lists, snapshot.last(), count))
    })?;
    let sorting = Sorting {
        store,
        repository,
        rules,
        before: &before,
        naming: Naming::default(),
    };
    let mut done = Refreshed::default();
    let mut passed = 0;
    for (prefix, list) in lists {
        let mut after = Position::START;
        loop {
            let span = Span { after, through };
            let step = store.look_up(|snapshot| read(snapshot, repository, rules, (&prefix, list), span, STEP))?;
            passed += step.passed;
            sorting.sort(&prefix, step.candidates, &mut done)?;
            progress(passed, count.max(passed));
            if stop.load(Relaxed) {
                done.stopped = true;
                return Ok(done);
            }
            if !step.more {
                break;
            }
            after = step.last;
        }
    }
    applied::finish(store, repository, rules)?;
    Ok(done)
}

/// Some records of a list.
pub(super) struct Step {
    pub(super) candidates: Vec<Candidate>,
    /// How many records there were, deleted ones too.
    pub(super) passed: u64,
    pub(super) last: Position,
    pub(super) more: bool,
}

/// The first records of a span, with what decides about them.
pub(super) fn read(
    snapshot: &mut Snapshot,
    repository: RepositoryId,
    rules: &SetRules,
    (prefix, list): (&MetadataPrefix, List),
    span: Span,
    most: usize,
) -> Result<Step, StoreError> {
    let deciding = rules.prefixes();
    let decides = deciding.contains(&prefix);
    let mut candidates = Vec::new();
    let mut fragment = Vec::new();
    let page = snapshot.page(list, span, most, |record| {
        if record.deleted {
            return Ok(ControlFlow::Continue(()));
        }
        let mut records = Vec::new();
        if decides {
            fragment.clear();
            record.append_content(&mut fragment)?;
            records.extend(split_fragment(&fragment).map(|parts| (prefix.clone(), parts.metadata.to_owned())));
        }
        candidates.push(Candidate {
            identifier: record.identifier.to_owned(),
            set_specs: read_specs(record.set_specs),
            position: record.position,
            records,
        });
        Ok(ControlFlow::Continue(()))
    })?;
    for other in deciding.into_iter().filter(|other| *other != prefix) {
        for candidate in &mut candidates {
            let found = stored::metadata(snapshot, repository, other, &candidate.identifier, false)?;
            candidate.records.extend(found.map(|found| (other.clone(), found)));
        }
    }
    Ok(Step {
        candidates,
        passed: page.records as u64,
        last: page.last,
        more: page.more,
    })
}

/// One item: the first of its live records, and what decides about its sets.
pub(super) fn find(
    snapshot: &mut Snapshot,
    repository: RepositoryId,
    rules: &SetRules,
    identifier: &Identifier,
) -> Result<Option<Candidate>, StoreError> {
    let identifier = identifier.as_str();
    for format in snapshot.formats(repository)? {
        let header = stored::header(snapshot, repository, &format.prefix, identifier)?;
        let Some(header) = header.filter(|header| !header.deleted) else {
            continue;
        };
        let mut records = Vec::new();
        for prefix in rules.prefixes() {
            let found = stored::metadata(snapshot, repository, prefix, identifier, false)?;
            records.extend(found.map(|found| (prefix.clone(), found)));
        }
        return Ok(Some(Candidate {
            identifier: identifier.to_owned(),
            set_specs: read_specs(&header.set_specs),
            position: header.position,
            records,
        }));
    }
    Ok(None)
}

impl Candidate {
    /// Whether the item has a live record in this format, which rules read.
    pub(super) fn has(&self, prefix: &MetadataPrefix) -> bool {
        self.records.iter().any(|(known, _)| known == prefix)
    }

    /// The sets that rules make of it.
    pub(super) fn made(&self, rules: &SetRules) -> Result<Vec<MadeSet>, NoSets> {
        let records: Vec<(&MetadataPrefix, &str)> = self
            .records
            .iter()
            .map(|(prefix, metadata)| (prefix, metadata.as_str()))
            .collect();
        rules.made(&self.identifier, &records)
    }

    /// The sets it is to be in: those it has that no rule ever made, and these.
    pub(super) fn new_sets(&self, rules: &SetRules, before: &[Owned], made: &[MadeSet]) -> Vec<SetSpec> {
        let is_ours = |spec: &SetSpec| rules.owns(spec) || before.iter().any(|owned| owned.owns(spec));
        let given = self.set_specs.iter().filter(|spec| !is_ours(spec));
        as_shown(given.chain(made.iter().map(|set| &set.spec)).cloned().collect())
    }
}

struct Sorting<'s> {
    store: &'s Store,
    repository: RepositoryId,
    rules: &'s SetRules,
    before: &'s [Owned],
    naming: Naming,
}

impl Sorting<'_> {
    /// Commits the new sets of those that have any.
    fn sort(&self, prefix: &MetadataPrefix, candidates: Vec<Candidate>, done: &mut Refreshed) -> Result<()> {
        done.read += candidates.len() as u64;
        let mut changes = Vec::new();
        let mut all_made = Vec::new();
        for candidate in candidates {
            let made = match candidate.made(self.rules) {
                Ok(made) => made,
                Err(reason) => {
                    done.failed += 1;
                    if done.examples.len() < MOST_EXAMPLES {
                        done.examples.push((candidate.identifier, reason.to_string()));
                    }
                    continue;
                }
            };
            let set_specs = candidate.new_sets(self.rules, self.before, &made);
            all_made.extend(made);
            if set_specs != candidate.set_specs {
                changes.push(Change {
                    identifier: Identifier::parse(&candidate.identifier)?,
                    prefix: prefix.clone(),
                    set_specs,
                    content: Content::Kept { at: candidate.position },
                });
            }
        }
        self.naming
            .name(self.store, self.repository, self.rules, all_made.iter())?;
        if changes.is_empty() {
            return Ok(());
        }
        let batch = self.store.encoder(self.repository).encode(changes)?;
        let outcomes = self.store.commit(&batch, &Beside::default())?;
        done.changed += outcomes.iter().filter(|outcome| outcome.is_published()).count() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use stook_metadata::{Formats, well_known};
    use stook_store::Clock;

    use super::*;

    const RECORDS: usize = 120;

    fn store(folder: &Path) -> (Store, RepositoryId) {
        let store = Store::create(&folder.join("records.db"), Clock::system()).unwrap();
        let repository = store.declare_repository("maps").unwrap();
        let prefix = MetadataPrefix::oai_dc();
        let format = well_known().iter().find(|format| format.prefix == prefix).unwrap();
        store.declare_format(repository, &format.metadata_format()).unwrap();
        let change = |number: usize| Change {
            identifier: Identifier::parse(&format!("oai:x:{number}")).unwrap(),
            prefix: prefix.clone(),
            set_specs: vec![SetSpec::parse("given").unwrap()],
            content: Content::Live {
                metadata: "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\"/>".into(),
                about: vec![],
            },
        };
        store.apply(repository, (0..RECORDS).map(change).collect()).unwrap();
        (store, repository)
    }

    fn rules(folder: &Path, set: &str) -> SetRules {
        let file = folder.join("my.rules");
        std::fs::write(&file, format!("sets from oai_dc\n\"x\" -> {set}\n")).unwrap();
        SetRules::read(&[file], &Formats::default()).unwrap()
    }

    fn count(store: &Store, repository: RepositoryId, set: &str) -> u64 {
        let snapshot = store.read().unwrap();
        let set = SetSpec::parse(set).unwrap();
        let list = snapshot
            .list(repository, &MetadataPrefix::oai_dc(), Some(&set))
            .unwrap();
        list.map_or(0, |list| snapshot.count(list, Span::ALL).unwrap())
    }

    #[test]
    fn what_a_refresh_that_was_stopped_has_made_goes_with_the_next_rules() {
        let folder = tempfile::tempdir().unwrap();
        let (store, repository) = store(folder.path());
        let run = |rules: &SetRules, steps: u64| {
            let stop = AtomicBool::new(false);
            let mut done = 0;
            let mut progress = |_, _| {
                done += 1;
                stop.store(done == steps, Relaxed);
            };
            refresh(&store, repository, rules, &stop, &mut progress).unwrap()
        };
        let is_outdated = |rules: &SetRules| applied::begin(&store, repository, rules).unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|set| rules(folder.path(), set));
        assert!(is_outdated(&a));
        let done = run(&a, u64::MAX);
        assert_eq!((done.read, done.changed, done.stopped), (120, 120, false));
        assert!(!is_outdated(&a) && is_outdated(&b));

        let done = run(&b, 1);
        assert_eq!((done.changed, done.stopped), (50, true));
        assert_eq!(["a", "b"].map(|set| count(&store, repository, set)), [70, 50]);
        assert!(is_outdated(&b) && is_outdated(&c));
        let done = run(&c, u64::MAX);
        assert_eq!((done.changed, done.stopped), (120, false));
        let counts = ["a", "b", "c", "given"].map(|set| count(&store, repository, set));
        assert_eq!(counts, [0, 0, 120, 120]);
        assert!(!is_outdated(&c));
        assert_eq!(run(&c, u64::MAX).changed, 0);
    }
}
