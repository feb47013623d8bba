//! The sets of what an import is about to publish.
//!
//! Sets belong to the item: its record in the format that rules read decides for all of its records. That record is in
//! the batch as a rule, and then nothing is asked of the store; if not, the one that was there before the import counts.
//! What other batches of the same import bring is seen to when they are committed ([`super::settle`]).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use stook_metadata::sets::{MadeSet, NoSets};
use stook_oai::{Identifier, MetadataPrefix, SetSpec};
use stook_store::{Change, Content, RepositoryId, Store, StoreError};

use super::naming::Naming;
use super::{SetRules, read_specs, specs, stored};

/// Puts the records of one import into sets; shared by its threads.
pub struct Assigner {
    pub(super) store: Store,
    pub(super) repository: RepositoryId,
    pub(super) rules: Arc<SetRules>,
    pub(super) naming: Naming,
    /// Formats that the repository had before.
    stored: HashSet<MetadataPrefix>,
}

/// What was decided about a batch.
#[derive(Default)]
pub struct Assigned {
    /// Its items.
    pub items: Vec<Item>,
    /// Changes whose sets cannot be told, and why. They are in the sets that were given.
    pub failed: Vec<(usize, String)>,
}

/// One item of a batch.
pub struct Item {
    pub(super) identifier: Identifier,
    /// The formats it has in the batch.
    pub(super) prefixes: Vec<MetadataPrefix>,
    /// The sets that rules make.
    pub(super) made: Vec<SetSpec>,
    /// Whether only records of the batch decided.
    pub(super) decided_here: bool,
    /// Changes that decided although they were made from others: they do not count where something was given.
    pub(super) if_in_force: Vec<usize>,
}

/// What decides about an item in one format.
enum Decides<'c> {
    /// What the batch says.
    Here(Option<&'c str>),
    /// What was given, and otherwise what the batch made.
    Given(Option<&'c str>),
    /// What the store has.
    Stored,
}

/// A question to the store: item, format, and whether only what was given counts.
type Question<'c> = (&'c Identifier, &'c MetadataPrefix, bool);
/// What the store says, where it says something.
type Answers<'c> = HashMap<(&'c Identifier, &'c MetadataPrefix), String>;

impl Assigner {
    /// An assigner by these rules.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(store: &Store, repository: RepositoryId, rules: &Arc<SetRules>) -> Result<Assigner, StoreError> {
        let formats = match rules.is_empty() {
            true => Vec::new(),
            false => store.look_up(|snapshot| snapshot.formats(repository))?,
        };
        Ok(Assigner {
            store: store.clone(),
            repository,
            rules: rules.clone(),
            naming: Naming::default(),
            stored: formats.into_iter().map(|format| format.prefix).collect(),
        })
    }

    /// Gives each change its sets.
    ///
    /// # Errors
    /// When the store cannot be read, or named sets not be written.
    pub fn assign(&self, changes: &mut [Change]) -> Result<Assigned, StoreError> {
        let mut assigned = Assigned::default();
        if self.rules.is_empty() {
            return Ok(assigned);
        }
        let groups = by_item(changes);
        let answers = self.ask(&self.questions(changes, &groups))?;
        let mut all_made: Vec<Vec<MadeSet>> = Vec::with_capacity(groups.len());
        for group in &groups {
            let (mut item, made) = self.decide(changes, group, &answers);
            let made = made.unwrap_or_else(|reason| {
                let reason = format!("its sets cannot be told: {reason}");
                assigned.failed.push((group[0], reason));
                Vec::new()
            });
            item.made = specs(&made);
            assigned.items.push(item);
            all_made.push(made);
        }
        self.naming
            .name(&self.store, self.repository, &self.rules, all_made.iter().flatten())?;
        let deletions = self.sets_of_deleted(changes)?;
        for (group, item) in groups.iter().zip(&assigned.items) {
            for at in group {
                self.put(&mut changes[*at], &item.made, deletions.get(at));
            }
        }
        Ok(assigned)
    }

    /// What has to be asked of the store: nothing about formats that it had not before.
    fn questions<'c>(&'c self, changes: &'c [Change], groups: &[Vec<usize>]) -> Vec<Question<'c>> {
        let mut questions = Vec::new();
        for group in groups {
            let identifier = &changes[group[0]].identifier;
            for prefix in self.rules.prefixes() {
                let only_given = match decides(changes, group, prefix).0 {
                    Decides::Here(_) => continue,
                    Decides::Given(_) => true,
                    Decides::Stored => false,
                };
                if self.stored.contains(prefix) {
                    questions.push((identifier, prefix, only_given));
                }
            }
        }
        questions
    }

    /// The sets of one item. Those that are made are not in it yet.
    fn decide(
        &self,
        changes: &[Change],
        group: &[usize],
        answers: &Answers<'_>,
    ) -> (Item, Result<Vec<MadeSet>, NoSets>) {
        let identifier = &changes[group[0]].identifier;
        let mut item = Item {
            identifier: identifier.clone(),
            prefixes: group.iter().map(|at| changes[*at].prefix.clone()).collect(),
            made: Vec::new(),
            decided_here: true,
            if_in_force: Vec::new(),
        };
        let mut records = Vec::new();
        for prefix in self.rules.prefixes() {
            let (decides, by) = decides(changes, group, prefix);
            let answer = answers.get(&(identifier, prefix)).map(String::as_str);
            let record = match decides {
                Decides::Here(here) => here,
                Decides::Given(made) => {
                    item.if_in_force.extend(by);
                    answer.or(made)
                }
                Decides::Stored => {
                    item.decided_here = false;
                    answer
                }
            };
            records.extend(record.map(|record| (prefix, record)));
        }
        let made = self.rules.made(identifier.as_str(), &records);
        (item, made)
    }

    /// What the store has, where it has something.
    fn ask<'c>(&self, questions: &[Question<'c>]) -> Result<Answers<'c>, StoreError> {
        if questions.is_empty() {
            return Ok(HashMap::new());
        }
        self.store.look_up(|snapshot| {
            let mut answers = HashMap::new();
            for (identifier, prefix, only_given) in questions {
                let found = stored::metadata(snapshot, self.repository, prefix, identifier.as_str(), *only_given)?;
                answers.extend(found.map(|found| ((*identifier, *prefix), found)));
            }
            Ok(answers)
        })
    }

    /// The sets that records have which are deleted into other sets: whoever harvests a set that a rule made must hear
    /// of the deletion, too.
    fn sets_of_deleted(&self, changes: &[Change]) -> Result<HashMap<usize, String>, StoreError> {
        let is_meant = |change: &Change| {
            let is_deletion = matches!(change.content, Content::Deleted | Content::Underived { .. });
            is_deletion && !change.set_specs.is_empty() && self.stored.contains(&change.prefix)
        };
        let meant: Vec<usize> = (0..changes.len()).filter(|at| is_meant(&changes[*at])).collect();
        if meant.is_empty() {
            return Ok(HashMap::new());
        }
        self.store.look_up(|snapshot| {
            let mut found = HashMap::new();
            for at in &meant {
                let Change { identifier, prefix, .. } = &changes[*at];
                let header = stored::header(snapshot, self.repository, prefix, identifier.as_str())?;
                found.extend(header.map(|header| (*at, header.set_specs)));
            }
            Ok(found)
        })
    }

    fn put(&self, change: &mut Change, made: &[SetSpec], before: Option<&String>) {
        match change.content {
            Content::Live { .. } | Content::Derived { .. } | Content::Harvested { .. } => {
                change.set_specs.retain(|spec| !self.rules.owns(spec));
                change.set_specs.extend_from_slice(made);
            }
            // Without sets it keeps those it has.
            Content::Deleted | Content::Underived { .. } if !change.set_specs.is_empty() => {
                change.set_specs.retain(|spec| !self.rules.owns(spec));
                let before = before.map_or_else(Vec::new, |before| read_specs(before));
                change
                    .set_specs
                    .extend(before.into_iter().filter(|spec| self.rules.owns(spec)));
            }
            _ => {}
        }
    }
}

/// The changes of each item, in the order of its first.
fn by_item(changes: &[Change]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<&Identifier, usize> = HashMap::with_capacity(changes.len());
    for (at, change) in changes.iter().enumerate() {
        let group = *known.entry(&change.identifier).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(at);
    }
    groups
}

/// What decides about an item in a format, and the change that it is. Of several the first one counts, as it does when
/// they are committed.
fn decides<'c>(changes: &'c [Change], group: &[usize], prefix: &MetadataPrefix) -> (Decides<'c>, Option<usize>) {
    let Some(by) = group.iter().copied().find(|at| changes[*at].prefix == *prefix) else {
        return (Decides::Stored, None);
    };
    let decides = match &changes[by].content {
        Content::Live { metadata, .. } | Content::Harvested { metadata, .. } => Decides::Here(Some(metadata)),
        Content::Derived { metadata, .. } => Decides::Given(Some(metadata)),
        Content::Underived { unless } if unless.is_empty() => Decides::Given(None),
        // Whether there is something else that it is made from is known when it is committed.
        Content::Underived { .. } | Content::Restored | Content::Kept { .. } => Decides::Stored,
        Content::Deleted | Content::Erased => Decides::Here(None),
    };
    (decides, Some(by))
}
