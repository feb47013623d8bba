//! Records in the quarantine that may come again in an input which is only a part of its source.
//!
//! A file is read to its end, and what it left in the quarantine before is then forgotten. Of a database only what changed
//! is read: there a record leaves the quarantine when it comes again, and what does not come stays.

use std::collections::HashSet;

use stook_store::{Beside, RepositoryId, Store, StoreError};

use crate::import::open::Input;

pub(super) struct Waiting {
    store: Store,
    repository: RepositoryId,
    identifiers: HashSet<String>,
}

impl Waiting {
    pub(super) fn of(store: &Store, repository: RepositoryId, inputs: &[Input]) -> Result<Waiting, StoreError> {
        let partial = |input: &Input| match input {
            Input::Sql(reading) if reading.is_partial() => Some(reading.path().to_owned()),
            _ => None,
        };
        let sources: HashSet<String> = inputs.iter().filter_map(partial).collect();
        let mut identifiers = HashSet::new();
        if !sources.is_empty() {
            store.quarantined(repository, |entry| {
                if let Some(identifier) = entry.identifier.filter(|_| sources.contains(&entry.source)) {
                    identifiers.insert(identifier);
                }
            })?;
        }
        Ok(Waiting {
            store: store.clone(),
            repository,
            identifiers,
        })
    }

    /// Takes out of the quarantine what has come again; what is still wrong with it is quarantined anew.
    pub(super) fn release<'a>(&mut self, came: impl Iterator<Item = &'a str>) -> Result<(), StoreError> {
        if self.identifiers.is_empty() {
            return Ok(());
        }
        let released: Vec<String> = came
            .filter_map(|identifier| self.identifiers.take(identifier))
            .collect();
        if released.is_empty() {
            return Ok(());
        }
        let nothing = self.store.encoder(self.repository).encode(Vec::new())?;
        let beside = Beside {
            released,
            ..Beside::default()
        };
        self.store.commit(&nothing, &beside)?;
        Ok(())
    }
}
