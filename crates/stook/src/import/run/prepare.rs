//! From a load of raw pieces to a batch that only has to be written.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use stook_oai::{Identifier, MetadataFormat, MetadataPrefix};
use stook_store::{Batch, Change, Encoder, RepositoryId, Store, StoreError};

use super::ImportError;
use super::improvable;
use crate::crosswalk::{
    self,
    heirs::{self, Bereft},
};
use crate::import::draft::{Content, Draft, Drafted, Drafter, Place, Rejected};
use crate::import::options::Options;
use crate::import::rewrite::Rewritten;
use crate::import::source::Raw;
use crate::sets::assign::{Assigner, Item};

/// A batch, and what else its load said.
pub(super) struct Prepared {
    pub(super) batch: Batch,
    /// Where each change of the batch comes from.
    pub(super) origins: Vec<Origin>,
    /// How many of them were given; the others are made from these.
    pub(super) given: usize,
    /// What may have to be made from something else now.
    pub(super) bereft: Vec<Bereft>,
    /// The items of the batch, where there are rules for sets.
    pub(super) items: Vec<Item>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) junk: Vec<Rejected>,
    pub(super) finished: Vec<Arc<str>>,
    pub(super) broken: u64,
    pub(super) cleaned: u64,
    pub(super) dropped: u64,
    pub(super) rewritten: Rewritten,
    /// Records that could say something better.
    pub(super) improvable: u64,
    pub(super) prefixes: BTreeSet<MetadataPrefix>,
}

/// Where a change comes from, and what it is about.
pub(super) struct Origin {
    pub(super) place: Place,
    pub(super) identifier: Identifier,
    pub(super) prefix: MetadataPrefix,
}

/// Prepares batches for one repository; shared by the workers.
pub(super) struct Preparer {
    store: Store,
    repository: RepositoryId,
    encoder: Encoder,
    options: Arc<Options>,
    sets: Arc<Assigner>,
    /// Formats the repository had before.
    stored: Vec<MetadataFormat>,
    /// Formats the repository has; others are declared when the first record comes.
    declared: Mutex<HashSet<MetadataPrefix>>,
}

impl Preparer {
    pub(super) fn new(
        store: &Store,
        repository: RepositoryId,
        options: &Arc<Options>,
        sets: &Arc<Assigner>,
    ) -> Result<Self, StoreError> {
        let formats = store.look_up(|snapshot| snapshot.formats(repository))?;
        let declared = formats.iter().map(|format| format.prefix.clone()).collect();
        Ok(Self {
            store: store.clone(),
            repository,
            encoder: store.encoder(repository),
            options: options.clone(),
            sets: sets.clone(),
            stored: formats,
            declared: Mutex::new(declared),
        })
    }

    pub(super) fn prepare(&self, drafter: &Drafter, load: Vec<Raw>) -> Result<Prepared, ImportError> {
        let mut drafted = Drafted::default();
        for raw in load {
            drafter.draft(raw, &mut drafted);
        }
        let mut batch = Changes {
            origins: Vec::new(),
            changes: Vec::with_capacity(drafted.drafts.len()),
        };
        let derived = self.derive(&drafted.drafts, &mut drafted.rejected);
        let mut formats = self.formats_of(&drafted.drafts)?.into_iter();
        for draft in drafted.drafts {
            let Draft {
                place,
                identifier,
                set_specs,
                content,
            } = draft;
            match content {
                Content::Live {
                    prefix,
                    metadata,
                    about,
                } => {
                    let content = stook_store::Content::Live { metadata, about };
                    batch.push(
                        place,
                        Change {
                            identifier,
                            prefix,
                            set_specs,
                            content,
                        },
                    );
                }
                Content::Deleted { prefix: Some(prefix) } => {
                    let content = stook_store::Content::Deleted;
                    batch.push(
                        place,
                        Change {
                            identifier,
                            prefix,
                            set_specs,
                            content,
                        },
                    );
                }
                Content::Deleted { prefix: None } => {
                    for prefix in formats.next().unwrap_or_default() {
                        let (identifier, set_specs) = (identifier.clone(), set_specs.clone());
                        let content = stook_store::Content::Deleted;
                        batch.push(
                            place.clone(),
                            Change {
                                identifier,
                                prefix,
                                set_specs,
                                content,
                            },
                        );
                    }
                }
            }
        }
        let (given, prefixes) = (batch.changes.len(), batch.prefixes());
        for (place, change) in derived {
            batch.push(place, change);
        }
        batch.drop_vain_hopes(given);
        for prefix in &batch.prefixes() {
            self.declare(prefix)?;
        }
        let items = self.put_into_sets(&mut batch, &mut drafted.rejected)?;
        let improvable = improvable::count(&batch.changes);
        let bereft = heirs::bereft(&batch.changes);
        Ok(Prepared {
            batch: self.encoder.encode(batch.changes)?,
            origins: batch.origins,
            given,
            bereft,
            items,
            rejected: drafted.rejected,
            junk: drafted.junk,
            finished: drafted.finished,
            broken: drafted.broken,
            cleaned: drafted.cleaned,
            dropped: drafted.dropped,
            rewritten: drafted.rewritten,
            improvable,
            prefixes,
        })
    }

    /// By the rules for sets. What they cannot tell is said; the record is published all the same.
    fn put_into_sets(&self, batch: &mut Changes, rejected: &mut Vec<Rejected>) -> Result<Vec<Item>, StoreError> {
        let assigned = self.sets.assign(&mut batch.changes)?;
        for (at, reason) in assigned.failed {
            let Origin { place, identifier, .. } = &batch.origins[at];
            rejected.push(Rejected::new(place.clone(), Some(identifier.to_string()), reason, b""));
        }
        Ok(assigned.items)
    }

    /// What is made of the drafts by crosswalks, where the same is not given. What cannot be made is told; the record it
    /// would have been made from is none the worse for it.
    fn derive(&self, drafts: &[Draft], rejected: &mut Vec<Rejected>) -> Vec<(Place, Change)> {
        let mut changes = Vec::new();
        let mut known: HashSet<(&Identifier, &MetadataPrefix)> = HashSet::new();
        // What is deleted comes last: the same may be made from another draft.
        let ways = self.options.crosswalks.iter();
        for (crosswalk, lives) in ways.clone().map(|way| (way, true)).chain(ways.map(|way| (way, false))) {
            let (from, to) = (crosswalk.source_prefix(), &crosswalk.target().prefix);
            let is_about =
                |draft: &&Draft| draft.content.prefix() == Some(from) && draft.content.metadata().is_some() == lives;
            if !drafts.iter().any(|draft| is_about(&draft)) {
                continue;
            }
            if known.is_empty() {
                known = drafts.iter().filter_map(Draft::given).collect();
            }
            let sources: Vec<&Draft> = drafts
                .iter()
                .filter(is_about)
                .filter(|draft| known.insert((&draft.identifier, to)))
                .collect();
            let others = self.options.crosswalks.beside(crosswalk, &self.stored);
            let texts: Vec<&str> = sources.iter().filter_map(|draft| draft.content.metadata()).collect();
            let made = crosswalk.make(&texts);
            // One that is given up makes nothing more, and holds nothing else up.
            let mut made = made
                .unwrap_or_else(|given_up| vec![Err(format!("{given_up:#}")); texts.len()])
                .into_iter();
            for draft in sources {
                let content = match crosswalk::content(draft.content.metadata().and_then(|_| made.next()), &others) {
                    Ok(content) => content,
                    Err(reason) => {
                        let identifier = Some(draft.identifier.to_string());
                        let bytes = draft.content.metadata().unwrap_or_default().as_bytes();
                        rejected.push(Rejected::new(draft.place.clone(), identifier, reason, bytes));
                        continue;
                    }
                };
                let change = Change {
                    identifier: draft.identifier.clone(),
                    prefix: to.clone(),
                    set_specs: draft.set_specs.clone(),
                    content,
                };
                changes.push((draft.place.clone(), change));
            }
        }
        changes
    }

    /// The formats in which each item that is deleted as a whole has records, deleted ones too: if those did not count,
    /// importing the same deletion twice would find something to do. An unknown item is deleted in the format every
    /// item has.
    fn formats_of(&self, drafts: &[Draft]) -> Result<Vec<Vec<MetadataPrefix>>, StoreError> {
        let is_whole = |draft: &&Draft| matches!(draft.content, Content::Deleted { prefix: None });
        let items: Vec<&Identifier> = drafts.iter().filter(is_whole).map(|draft| &draft.identifier).collect();
        if items.is_empty() {
            return Ok(Vec::new());
        }
        self.store.look_up(|snapshot| {
            let formats = snapshot.formats(self.repository)?;
            let mut found = Vec::with_capacity(items.len());
            for identifier in &items {
                let mut prefixes = Vec::new();
                for format in &formats {
                    if snapshot.record(self.repository, &format.prefix, identifier.as_str(), |_| Ok(()))? {
                        prefixes.push(format.prefix.clone());
                    }
                }
                if prefixes.is_empty() {
                    prefixes.push(self.options.prefix.clone().unwrap_or_else(MetadataPrefix::oai_dc));
                }
                found.push(prefixes);
            }
            Ok(found)
        })
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

/// Changes with the places they come from.
struct Changes {
    origins: Vec<Origin>,
    changes: Vec<Change>,
}

impl Changes {
    fn push(&mut self, place: Place, change: Change) {
        self.origins.push(Origin {
            place,
            identifier: change.identifier.clone(),
            prefix: change.prefix.clone(),
        });
        self.changes.push(change);
    }

    /// What the batch itself deletes is nothing to make a record from. The first changes are those that were given.
    fn drop_vain_hopes(&mut self, given: usize) {
        let (given, made) = self.changes.split_at_mut(given);
        if heirs::bereft(made).is_empty() {
            return;
        }
        let is_deletion = |change: &&Change| matches!(change.content, stook_store::Content::Deleted);
        let deleted: HashSet<(&Identifier, &MetadataPrefix)> = given
            .iter()
            .filter(is_deletion)
            .map(|change| (&change.identifier, &change.prefix))
            .collect();
        for change in made {
            if let stook_store::Content::Underived { unless } = &mut change.content {
                unless.retain(|prefix| !deleted.contains(&(&change.identifier, prefix)));
            }
        }
    }

    fn prefixes(&self) -> BTreeSet<MetadataPrefix> {
        let mut prefixes = BTreeSet::new();
        for change in &self.changes {
            if !prefixes.contains(&change.prefix) {
                prefixes.insert(change.prefix.clone());
            }
        }
        prefixes
    }
}
