//! A store as simple as it can be: a map, a clock that never goes back, and no disk.
//!
//! It says what every change must do: whether the datestamp moves, to which second, and what is shown afterwards.

pub(crate) mod world;

use std::collections::{BTreeMap, BTreeSet};

use stook_store::Outcome;

/// Which record: repository, format, number.
pub(crate) type Key = (usize, usize, usize);

/// What a change says.
#[derive(Clone, Debug)]
pub(crate) enum Say {
    Live(String),
    Deleted,
    Erased,
    Restored,
}

/// One change to one record.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    pub(crate) key: Key,
    pub(crate) set_specs: Vec<&'static str>,
    pub(crate) say: Say,
}

/// A record as harvesters see it, and what is kept behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) datestamp: i64,
    /// The order of publication.
    pub(crate) order: u64,
    pub(crate) set_specs: BTreeSet<&'static str>,
    pub(crate) deleted: bool,
    kept: Option<String>,
}

impl Known {
    pub(crate) fn content(&self) -> &str {
        match &self.kept {
            Some(text) if !self.deleted => text,
            _ => "",
        }
    }

    /// Whether it is in the set or below it.
    pub(crate) fn is_in(&self, set: &str) -> bool {
        self.set_specs.iter().any(|spec| is_below(spec, set))
    }
}

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) records: BTreeMap<Key, Known>,
    /// Publications so far.
    pub(crate) orders: u64,
    /// The latest time ever said.
    latest: i64,
}

impl Model {
    /// What a reader hears, or a writer stamps, when the clock says `clock`.
    pub(crate) fn time(&mut self, clock: i64) -> i64 {
        self.latest = self.latest.max(clock);
        self.latest
    }

    /// One import: the first word on a record counts. With `sync`, what it does not mention in these formats of the
    /// repository is deleted.
    pub(crate) fn import(
        &mut self,
        clock: i64,
        batches: &[Vec<Act>],
        sync: Option<(usize, &[usize])>,
    ) -> Vec<Vec<Outcome>> {
        let stamp = self.time(clock);
        let mut mentioned = BTreeSet::new();
        let mut outcomes = Vec::new();
        for act in batches.iter().flatten() {
            outcomes.push(match mentioned.insert(act.key) {
                true => self.publish(stamp, act),
                false => Outcome::Repeated {
                    same: says(self.records.get(&act.key), act),
                },
            });
        }
        if let Some((repository, formats)) = sync {
            let vanished = |(key, known): &(&Key, &Known)| {
                key.0 == repository && formats.contains(&key.1) && !known.deleted && !mentioned.contains(*key)
            };
            let mut vanished: Vec<(u64, Key)> = self
                .records
                .iter()
                .filter(vanished)
                .map(|(key, known)| (known.order, *key))
                .collect();
            vanished.sort_unstable();
            for (_, key) in vanished {
                self.publish(
                    stamp,
                    &Act {
                        key,
                        set_specs: vec![],
                        say: Say::Deleted,
                    },
                );
            }
        }
        let mut outcomes = outcomes.into_iter();
        batches
            .iter()
            .map(|batch| outcomes.by_ref().take(batch.len()).collect())
            .collect()
    }

    fn publish(&mut self, stamp: i64, act: &Act) -> Outcome {
        let before = self.records.get(&act.key);
        let named = minimal(&act.set_specs);
        let sets = match (&act.say, before) {
            (Say::Live(_), _) | (_, None) => named,
            (_, Some(before)) if named.is_empty() => before.set_specs.clone(),
            _ => named,
        };
        let was_deleted = before.is_some_and(|before| before.deleted);
        let kept = before.and_then(|before| before.kept.clone());
        let same_sets = before.is_some_and(|before| before.set_specs == sets);
        let (deleted, kept) = match &act.say {
            Say::Live(text) => (false, Some(text.clone())),
            Say::Deleted => (true, kept),
            Say::Erased => (true, None),
            Say::Restored if before.is_some() && !was_deleted => return Outcome::Unchanged,
            Say::Restored if kept.is_none() => return Outcome::NothingToRestore,
            Say::Restored => (false, kept),
        };
        let is_same =
            before.is_some_and(|before| same_sets && before.deleted == deleted && (deleted || before.kept == kept));
        let outcome = match before {
            Some(_) if is_same => Outcome::Unchanged,
            _ if deleted => Outcome::Deleted,
            None => Outcome::New,
            Some(_) => Outcome::Changed,
        };
        if is_same {
            // Erasing what is deleted shows nothing new, but forgets.
            if let Some(known) = self.records.get_mut(&act.key) {
                known.kept = kept;
            }
            return outcome;
        }
        self.orders += 1;
        let known = Known {
            datestamp: stamp,
            order: self.orders,
            set_specs: sets,
            deleted,
            kept,
        };
        self.records.insert(act.key, known);
        outcome
    }

    /// The records of a list in the order of publication.
    pub(crate) fn list(&self, repository: usize, format: usize, set: Option<&str>) -> Vec<(usize, &Known)> {
        let mut list: Vec<(usize, &Known)> = self
            .records
            .iter()
            .filter(|((of, prefix, _), known)| {
                (*of, *prefix) == (repository, format) && set.is_none_or(|set| known.is_in(set))
            })
            .map(|((_, _, number), known)| (*number, known))
            .collect();
        list.sort_by_key(|(_, known)| known.order);
        list
    }
}

/// Whether a repetition says what is there since the first.
fn says(known: Option<&Known>, again: &Act) -> bool {
    let Say::Live(text) = &again.say else { return false };
    known.is_some_and(|known| known.content() == text && known.set_specs == minimal(&again.set_specs))
}

fn is_below(spec: &str, set: &str) -> bool {
    spec == set || spec.starts_with(&format!("{set}:"))
}

/// The sets without those that another one implies.
fn minimal(specs: &[&'static str]) -> BTreeSet<&'static str> {
    let implied = |spec: &str| specs.iter().any(|other| *other != spec && is_below(other, spec));
    specs.iter().copied().filter(|spec| !implied(spec)).collect()
}
