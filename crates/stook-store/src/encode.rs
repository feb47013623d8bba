//! From a change to what will be written: digest and compressed body. Runs on any thread, away from the writer.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use stook_oai::response::{ABOUT_END, append_about, content_fragment};
use stook_oai::{Datestamp, MetadataPrefix};

use crate::backend::Backend;
use crate::body::{Compressor, Dictionary, Digest, TRAINING_SAMPLES, Volatile, digest};
use crate::change::header_set_specs;
use crate::{Change, Content, Origin, Position, RepositoryId, StoreError};

/// Changes ready to be committed.
pub(crate) struct Batch {
    pub(crate) repository: RepositoryId,
    pub(crate) changes: Vec<Encoded>,
}

pub(crate) struct Encoded {
    pub(crate) format: i64,
    pub(crate) identifier: String,
    /// As the header shows them.
    pub(crate) set_specs: String,
    pub(crate) content: EncodedContent,
}

impl Encoded {
    /// Whether it comes from another record of the item; none for what concerns any record.
    pub(crate) fn derived(&self) -> Option<bool> {
        match self.content {
            EncodedContent::Live { derived, .. } => Some(derived),
            EncodedContent::Underived { .. } => Some(true),
            _ => None,
        }
    }

    /// Whether it says something of the record beside its sets.
    pub(crate) fn has_content(&self) -> bool {
        !matches!(self.content, EncodedContent::Kept(_))
    }

    /// Whether two changes of one record would leave it alike.
    pub(crate) fn says_the_same_as(&self, other: &Encoded) -> bool {
        use EncodedContent::{Deleted, Live};
        match (&self.content, &other.content) {
            (Live { digest, .. }, Live { digest: other, .. }) => digest == other,
            (Deleted, Deleted) => self.set_specs == other.set_specs,
            _ => false,
        }
    }
}

pub(crate) enum EncodedContent {
    Live {
        digest: Digest,
        dictionary: Option<i64>,
        body: Vec<u8>,
        /// The datestamp at the source of a harvested record.
        origin: Option<i64>,
        /// The part that alone makes no change.
        volatile: Option<Volatile>,
        /// Whether it was made from another record.
        derived: bool,
    },
    Deleted,
    /// Only what was made from another record, if there is any.
    Underived {
        /// Formats: where the item has a live record that was given in one of them, nothing happens.
        unless: Vec<i64>,
    },
    Erased,
    Restored,
    /// Only the sets change, of the record at this position.
    Kept(Position),
}

/// Encodes changes for one repository.
pub(crate) struct Encoder {
    backend: Backend,
    repository: RepositoryId,
    formats: Mutex<HashMap<MetadataPrefix, Format>>,
}

#[derive(Clone)]
struct Format {
    id: i64,
    dictionary: Option<Arc<Dictionary>>,
}

impl Encoder {
    pub(crate) fn new(backend: Backend, repository: RepositoryId) -> Encoder {
        Encoder {
            backend,
            repository,
            formats: Mutex::default(),
        }
    }

    /// Encodes the changes, keeping their order.
    pub(crate) fn encode(&self, changes: Vec<Change>) -> Result<Batch, StoreError> {
        let fragments: Vec<Option<Vec<u8>>> = changes.iter().map(|change| fragment(&change.content)).collect();
        let mut formats = HashMap::new();
        for change in &changes {
            if let Entry::Vacant(entry) = formats.entry(change.prefix.clone()) {
                let samples = changes
                    .iter()
                    .zip(&fragments)
                    .filter(|(other, _)| other.prefix == change.prefix);
                let samples = samples.filter_map(|(_, fragment)| fragment.as_deref());
                entry.insert(self.format(&change.prefix, samples)?);
            }
        }
        let mut compressors = HashMap::new();
        for (prefix, format) in &formats {
            compressors.insert(prefix, Compressor::new(format.dictionary.as_deref())?);
        }
        let mut encoded = Vec::with_capacity(changes.len());
        for (change, fragment) in changes.into_iter().zip(fragments) {
            let (Some(format), Some(compressor)) = (formats.get(&change.prefix), compressors.get_mut(&change.prefix))
            else {
                return Err(StoreError::UnknownFormat(change.prefix));
            };
            let set_specs = header_set_specs(&change.set_specs);
            let content = match (change.content, fragment) {
                (content @ (Content::Live { .. } | Content::Derived { .. } | Content::Harvested { .. }), fragment) => {
                    let fragment = fragment.unwrap_or_default();
                    let (origin, volatile) = match &content {
                        Content::Harvested { origin, .. } => (origin.datestamp, volatile_part(origin, fragment.len())),
                        _ => (None, None),
                    };
                    EncodedContent::Live {
                        digest: digest(&set_specs, &fragment, volatile),
                        dictionary: format.dictionary.as_ref().map(|dictionary| dictionary.id),
                        body: compressor.compress(&fragment)?,
                        origin: origin.map(Datestamp::unix),
                        volatile,
                        derived: matches!(content, Content::Derived { .. }),
                    }
                }
                (Content::Deleted, _) => EncodedContent::Deleted,
                (Content::Underived { unless }, _) => EncodedContent::Underived {
                    unless: self.known_formats(&unless)?,
                },
                (Content::Erased, _) => EncodedContent::Erased,
                (Content::Restored, _) => EncodedContent::Restored,
                (Content::Kept { at }, _) => EncodedContent::Kept(at),
            };
            let identifier = change.identifier.as_str().to_owned();
            encoded.push(Encoded {
                format: format.id,
                identifier,
                set_specs,
                content,
            });
        }
        Ok(Batch {
            repository: self.repository,
            changes: encoded,
        })
    }

    /// The format's id and dictionary; the first large batch of a format trains one.
    fn format<'a>(
        &self,
        prefix: &MetadataPrefix,
        samples: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Format, StoreError> {
        let mut formats = self.formats.lock().unwrap_or_else(PoisonError::into_inner);
        let known = formats.get(prefix).cloned();
        let mut format = match known {
            Some(format) => format,
            None => self.load(prefix)?,
        };
        if format.dictionary.is_none() {
            let samples: Vec<&[u8]> = samples.collect();
            if samples.len() >= TRAINING_SAMPLES {
                format.dictionary = self.train(format.id, &samples)?;
            }
        }
        formats.insert(prefix.clone(), format.clone());
        Ok(format)
    }

    /// The ids of formats; those that were never declared have no records, and are passed over.
    fn known_formats(&self, prefixes: &[MetadataPrefix]) -> Result<Vec<i64>, StoreError> {
        let mut formats = self.formats.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = Vec::with_capacity(prefixes.len());
        for prefix in prefixes {
            if let Some(format) = formats.get(prefix) {
                known.push(format.id);
            } else if self.backend.format(self.repository, prefix)?.is_some() {
                let format = self.load(prefix)?;
                known.push(format.id);
                formats.insert(prefix.clone(), format);
            }
        }
        Ok(known)
    }

    fn load(&self, prefix: &MetadataPrefix) -> Result<Format, StoreError> {
        let found = self.backend.format(self.repository, prefix)?;
        let format = found.ok_or_else(|| StoreError::UnknownFormat(prefix.clone()))?;
        let dictionary = format.dictionary.map(|id| self.backend.dictionary(id)).transpose()?;
        Ok(Format {
            id: format.id,
            dictionary,
        })
    }

    fn train(&self, format: i64, samples: &[&[u8]]) -> Result<Option<Arc<Dictionary>>, StoreError> {
        let Some(bytes) = Dictionary::train(samples.iter().copied()) else {
            return Ok(None);
        };
        let id = self.backend.keep_dictionary(format, &bytes)?;
        self.backend.dictionary(id).map(Some)
    }
}

/// What the response will carry behind the header; a harvested record's origin is told by its last about.
fn fragment(content: &Content) -> Option<Vec<u8>> {
    match content {
        Content::Live { metadata, about } | Content::Derived { metadata, about } => {
            Some(content_fragment(metadata, about))
        }
        Content::Harvested {
            metadata,
            about,
            origin,
        } => {
            let mut fragment = content_fragment(metadata, about);
            append_about(&mut fragment, &origin.provenance);
            Some(fragment)
        }
        Content::Deleted | Content::Underived { .. } | Content::Erased | Content::Restored | Content::Kept { .. } => {
            None
        }
    }
}

/// Where in the fragment, whose end is the origin, the part lies that does not count as a change.
fn volatile_part(origin: &Origin, fragment_length: usize) -> Option<Volatile> {
    let start = fragment_length.checked_sub(ABOUT_END.len() + origin.provenance.len())?;
    Volatile::new(&(start + origin.volatile.start..start + origin.volatile.end))
}
