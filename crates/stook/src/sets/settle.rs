//! What a committed batch leaves to be done: records of its items that are in other batches, or were there before.
//!
//! Runs after the commit, so it sees all that was committed before; and for every item of a batch, changed or not, so
//! that an import that died in between is put right by running it again.

use stook_oai::{MetadataFormat, MetadataPrefix};
use stook_store::{Beside, Change, Content, Outcome, Snapshot, StoreError};

use super::assign::{Assigner, Item};
use super::{as_shown, read_specs, specs, stored};

impl Assigner {
    /// Brings the other records of these items into their sets; says how many moved. The outcomes are those of the batch
    /// that the items come from.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn settle(&self, items: &[Item], outcomes: &[Outcome]) -> Result<u64, StoreError> {
        if items.is_empty() {
            return Ok(0);
        }
        let changes = self.store.look_up(|snapshot| {
            let formats = snapshot.formats(self.repository)?;
            let mut changes = Vec::new();
            for item in items {
                self.settle_item(snapshot, &formats, item, outcomes, &mut changes)?;
            }
            Ok(changes)
        })?;
        if changes.is_empty() {
            return Ok(0);
        }
        let batch = self.store.encoder(self.repository).encode(changes)?;
        let outcomes = self.store.commit(&batch, &Beside::default())?;
        Ok(outcomes.iter().filter(|outcome| outcome.is_published()).count() as u64)
    }

    fn settle_item(
        &self,
        snapshot: &mut Snapshot,
        formats: &[MetadataFormat],
        item: &Item,
        outcomes: &[Outcome],
        changes: &mut Vec<Change>,
    ) -> Result<(), StoreError> {
        let is_other = |prefix: &MetadataPrefix| !item.prefixes.contains(prefix);
        let is_certain = item.decided_here && self.is_in_force(snapshot, item, outcomes)?;
        if is_certain && !formats.iter().any(|format| is_other(&format.prefix)) {
            return Ok(());
        }
        let made = match is_certain {
            true => item.made.clone(),
            false => self.made_by_stored(snapshot, item)?,
        };
        let is_same = made == item.made;
        for MetadataFormat { prefix, .. } in formats {
            if is_same && !is_other(prefix) {
                continue;
            }
            let header = stored::header(snapshot, self.repository, prefix, item.identifier.as_str())?;
            let Some(header) = header.filter(|header| !header.deleted) else {
                continue;
            };
            let before = read_specs(&header.set_specs);
            let given = before.iter().filter(|spec| !self.rules.owns(spec)).cloned();
            let set_specs = as_shown(given.chain(made.iter().cloned()).collect());
            if set_specs != before {
                changes.push(Change {
                    identifier: item.identifier.clone(),
                    prefix: prefix.clone(),
                    set_specs,
                    content: Content::Kept { at: header.position },
                });
            }
        }
        Ok(())
    }

    /// Whether what was made in the batch, and decided, is what the store has now.
    fn is_in_force(&self, snapshot: &Snapshot, item: &Item, outcomes: &[Outcome]) -> Result<bool, StoreError> {
        for at in &item.if_in_force {
            if outcomes.get(*at).is_some_and(|outcome| outcome.is_published()) {
                continue;
            }
            for prefix in self.rules.prefixes() {
                let known = snapshot.known(self.repository, prefix, item.identifier.as_str())?;
                if known.is_some_and(|known| !known.deleted && !known.derived) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn made_by_stored(&self, snapshot: &mut Snapshot, item: &Item) -> Result<Vec<stook_oai::SetSpec>, StoreError> {
        let prefixes = self.rules.prefixes();
        let mut found = Vec::new();
        for prefix in &prefixes {
            let metadata = stored::metadata(snapshot, self.repository, prefix, item.identifier.as_str(), false)?;
            found.extend(metadata.map(|metadata| (*prefix, metadata)));
        }
        let records: Vec<(&MetadataPrefix, &str)> = found
            .iter()
            .map(|(prefix, metadata)| (*prefix, metadata.as_str()))
            .collect();
        // What cannot be told was told when the record came.
        let Ok(made) = self.rules.made(item.identifier.as_str(), &records) else {
            return Ok(item.made.clone());
        };
        self.naming
            .name(&self.store, self.repository, &self.rules, made.iter())?;
        Ok(specs(&made))
    }
}
