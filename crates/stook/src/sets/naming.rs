//! Names for sets that come into being: each is looked at once in a run, not once for each of its records.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use stook_metadata::sets::MadeSet;
use stook_oai::SetSpec;
use stook_store::{RepositoryId, Store, StoreError};

use super::SetRules;

/// More sets than this are not remembered; they are looked at again.
const MAX_KNOWN: usize = 100_000;

#[derive(Default)]
pub(super) struct Naming {
    known: Mutex<HashSet<SetSpec>>,
}

impl Naming {
    /// Names the sets, and those above them, that are new to this run. A name that somebody gave stays.
    pub(super) fn name<'m>(
        &self,
        store: &Store,
        repository: RepositoryId,
        rules: &SetRules,
        made: impl Iterator<Item = &'m MadeSet>,
    ) -> Result<(), StoreError> {
        let mut names = Vec::new();
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for set in made {
                if known.contains(&set.spec) {
                    continue;
                }
                if known.len() >= MAX_KNOWN {
                    known.clear();
                }
                for set in set.lineage().filter(|set| known.insert(set.spec.clone())) {
                    names.extend(rules.name(&set).map(|name| (set.spec, name)));
                }
            }
        }
        match names.is_empty() {
            true => Ok(()),
            false => store.name_sets(repository, &names),
        }
    }
}
