//! What rules would do, without doing it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Result, bail};
use stook_metadata::sets::MadeSet;
use stook_oai::{Identifier, MetadataPrefix, SetSpec};
use stook_store::{Position, RepositoryId, Span, Store};

use super::refresh::{self, Candidate};
use super::{SetRules, applied};

/// Records looked at in one go.
const STEP: usize = 500;

/// What the rules would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// Items that were looked at.
    pub items: u64,
    /// Of these, those whose sets would change.
    pub changing: u64,
    /// How many of the items would be in each set that rules make, and what it would be called.
    pub sets: BTreeMap<SetSpec, (u64, Option<String>)>,
    /// Some items, those that change first.
    pub examples: Vec<Example>,
    /// Items whose sets cannot be told, and why.
    pub failed: Vec<(String, String)>,
    /// Whether there are more items than were looked at.
    pub more: bool,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// One item before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The item.
    pub identifier: String,
    /// Its sets now.
    pub before: Vec<SetSpec>,
    /// Its sets by the rules.
    pub after: Vec<SetSpec>,
}

/// What to look at.
pub struct Sample<'s> {
    /// These items; none for the first ones there are.
    pub identifiers: &'s [Identifier],
    /// At most so many items.
    pub most: u64,
    /// So many examples.
    pub examples: usize,
}

/// Applies rules to a sample. `progress` hears how many items were looked at.
///
/// # Errors
/// When the store cannot be read, or has none of the items.
pub fn preview(
    store: &Store,
    repository: RepositoryId,
    rules: &SetRules,
    sample: &Sample<'_>,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> Result<Preview> {
    let before = applied::owned_before(store, repository)?;
    let mut seen = Seen {
        preview: Preview::default(),
        unchanged: Vec::new(),
        most: sample.examples.max(sample.identifiers.len()),
    };
    let mut look = |candidate: &Candidate, seen: &mut Seen| {
        match candidate.made(rules) {
            Ok(made) => seen.count(candidate, rules, &made, candidate.new_sets(rules, &before, &made)),
            Err(reason) => seen
                .preview
                .failed
                .push((candidate.identifier.clone(), reason.to_string())),
        }
        seen.preview.items += 1;
        progress(seen.preview.items);
    };
    if !sample.identifiers.is_empty() {
        for identifier in sample.identifiers {
            let found = store.look_up(|snapshot| refresh::find(snapshot, repository, rules, identifier))?;
            match found {
                Some(candidate) => look(&candidate, &mut seen),
                None => bail!("there is no live record {identifier}\nTry: stook export, which shows what there is"),
            }
        }
        return Ok(seen.finish());
    }
    let prefixes: Vec<MetadataPrefix> = rules.prefixes().into_iter().cloned().collect();
    for (at, prefix) in prefixes.iter().enumerate() {
        let mut span = Span::ALL;
        loop {
            if stop.load(Relaxed) {
                seen.preview.stopped = true;
                return Ok(seen.finish());
            }
            let step = store.look_up(|snapshot| {
                let list = snapshot.list(repository, prefix, None)?;
                list.map(|list| refresh::read(snapshot, repository, rules, (prefix, list), span, STEP))
                    .transpose()
            })?;
            let Some(step) = step else { break };
            for candidate in &step.candidates {
                // What rules of an earlier format have decided about was looked at there.
                if prefixes[..at].iter().any(|earlier| candidate.has(earlier)) {
                    continue;
                }
                if seen.preview.items == sample.most {
                    seen.preview.more = true;
                    return Ok(seen.finish());
                }
                look(candidate, &mut seen);
            }
            if !step.more || step.last == Position::START {
                break;
            }
            span.after = step.last;
        }
    }
    Ok(seen.finish())
}

/// A preview in the making.
struct Seen {
    preview: Preview,
    /// Items that stay as they are, as far as there is room for them among the examples.
    unchanged: Vec<Example>,
    most: usize,
}

impl Seen {
    fn count(&mut self, candidate: &Candidate, rules: &SetRules, made: &[MadeSet], after: Vec<SetSpec>) {
        let mut counted = BTreeSet::new();
        for set in made {
            for set in set.lineage() {
                if !counted.insert(set.spec.clone()) {
                    continue;
                }
                let entry = self.preview.sets.entry(set.spec.clone());
                let (count, _) = entry.or_insert_with(|| (0, rules.name(&set)));
                *count += 1;
            }
        }
        let is_changing = after != candidate.set_specs;
        self.preview.changing += u64::from(is_changing);
        let examples = match is_changing {
            true => &mut self.preview.examples,
            false => &mut self.unchanged,
        };
        if examples.len() < self.most {
            examples.push(Example {
                identifier: candidate.identifier.clone(),
                before: candidate.set_specs.clone(),
                after,
            });
        }
    }

    fn finish(mut self) -> Preview {
        self.preview.examples.extend(self.unchanged);
        self.preview.examples.truncate(self.most);
        self.preview
    }
}
