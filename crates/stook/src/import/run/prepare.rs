//! From a load of raw pieces to a batch that only has to be written.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use stook_oai::{Identifier, MetadataPrefix};
use stook_store::{Batch, Change, Encoder, RepositoryId, Snapshot, Store, StoreError};

use crate::import::draft::{Content, Drafted, Drafter, Place, Rejected};
use crate::import::options::Options;
use crate::import::source::Raw;

/// A batch, and what else its load said.
pub(super) struct Prepared {
    pub(super) batch: Batch,
    /// Where each change of the batch comes from.
    pub(super) origins: Vec<(Place, Identifier)>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) finished: Vec<Arc<str>>,
    pub(super) broken: u64,
    pub(super) cleaned: u64,
    pub(super) dropped: u64,
    pub(super) prefixes: BTreeSet<MetadataPrefix>,
}

/// Prepares batches for one repository; shared by the workers.
pub(super) struct Preparer {
    store: Store,
    repository: RepositoryId,
    encoder: Encoder,
    options: Arc<Options>,
    /// Formats the repository has; others are declared when the first record comes.
    declared: Mutex<HashSet<MetadataPrefix>>,
}

impl Preparer {
    pub(super) fn new(store: &Store, repository: RepositoryId, options: &Arc<Options>) -> Result<Self, StoreError> {
        let formats = store.read()?.formats(repository)?;
        let declared = formats.into_iter().map(|format| format.prefix).collect();
        Ok(Self {
            store: store.clone(),
            repository,
            encoder: store.encoder(repository),
            options: options.clone(),
            declared: Mutex::new(declared),
        })
    }

    pub(super) fn prepare(&self, drafter: &Drafter, load: Vec<Raw>) -> Result<Prepared, StoreError> {
        let mut drafted = Drafted::default();
        for raw in load {
            drafter.draft(raw, &mut drafted);
        }
        let mut changes = Vec::with_capacity(drafted.drafts.len());
        let mut origins = Vec::with_capacity(drafted.drafts.len());
        let mut prefixes = BTreeSet::new();
        let mut snapshot = None;
        for draft in drafted.drafts {
            for (prefix, content) in self.contents(&draft.identifier, draft.content, &mut snapshot)? {
                if !prefixes.contains(&prefix) {
                    self.declare(&prefix)?;
                    prefixes.insert(prefix.clone());
                }
                origins.push((draft.place.clone(), draft.identifier.clone()));
                let (identifier, set_specs) = (draft.identifier.clone(), draft.set_specs.clone());
                changes.push(Change {
                    identifier,
                    prefix,
                    set_specs,
                    content,
                });
            }
        }
        Ok(Prepared {
            batch: self.encoder.encode(changes)?,
            origins,
            rejected: drafted.rejected,
            finished: drafted.finished,
            broken: drafted.broken,
            cleaned: drafted.cleaned,
            dropped: drafted.dropped,
            prefixes,
        })
    }

    /// What a draft means for each format it concerns.
    fn contents(
        &self,
        identifier: &Identifier,
        content: Content,
        snapshot: &mut Option<Snapshot>,
    ) -> Result<Vec<(MetadataPrefix, stook_store::Content)>, StoreError> {
        Ok(match content {
            Content::Live {
                prefix,
                metadata,
                about,
            } => {
                vec![(prefix, stook_store::Content::Live { metadata, about })]
            }
            Content::Deleted { prefix: Some(prefix) } => vec![(prefix, stook_store::Content::Deleted)],
            Content::Deleted { prefix: None } => {
                let prefixes = self.formats_of(identifier, snapshot)?;
                prefixes
                    .into_iter()
                    .map(|prefix| (prefix, stook_store::Content::Deleted))
                    .collect()
            }
        })
    }

    /// The formats in which an item that is deleted as a whole has records, deleted ones too: if those did not count,
    /// importing the same deletion twice would find something to do. An unknown item is deleted in the format every
    /// item has.
    fn formats_of(
        &self,
        identifier: &Identifier,
        snapshot: &mut Option<Snapshot>,
    ) -> Result<Vec<MetadataPrefix>, StoreError> {
        let snapshot = match snapshot {
            Some(snapshot) => snapshot,
            None => snapshot.insert(self.store.read()?),
        };
        let mut prefixes = Vec::new();
        for format in snapshot.formats(self.repository)? {
            if snapshot.record(self.repository, &format.prefix, identifier.as_str(), |_| Ok(()))? {
                prefixes.push(format.prefix);
            }
        }
        if prefixes.is_empty() {
            prefixes.push(self.options.prefix.clone().unwrap_or_else(MetadataPrefix::oai_dc));
        }
        Ok(prefixes)
    }

    fn declare(&self, prefix: &MetadataPrefix) -> Result<(), StoreError> {
        let mut declared = self.declared.lock().unwrap_or_else(PoisonError::into_inner);
        if declared.contains(prefix) {
            return Ok(());
        }
        let Some(format) = self.options.formats.by_prefix(prefix.as_str()) else {
            return Err(StoreError::UnknownFormat(prefix.clone()));
        };
        self.store.declare_format(self.repository, &format.metadata_format())?;
        declared.insert(prefix.clone());
        Ok(())
    }
}
