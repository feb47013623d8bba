//! The body of a record: the ready-made `<metadata>…</metadata><about>…</about>`, compressed.
//!
//! Enters: the fragment as the response will carry it. Leaves: a zstd frame made with a dictionary trained on the
//! format's own records, a quarter of the size and faster to unpack than to build. Never parses XML.

use std::collections::HashMap;
use std::io::Cursor;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::{self, DCtx};

use crate::StoreError;

const LEVEL: i32 = 3;
/// Enough for the recurring text of a format; a larger one falls out of the processor's cache.
const DICTIONARY_BYTES: usize = 64 * 1024;
/// Fewer samples make a dictionary that is worse than none.
pub(crate) const TRAINING_SAMPLES: usize = 500;
const MOST_TRAINING_SAMPLES: usize = 3_000;
const MOST_TRAINING_BYTES: usize = 6 * 1024 * 1024;
/// A frame that claims to be larger is damaged: no record that large is ever stored.
const MOST_BODY_BYTES: u64 = 1 << 30;

/// What is compared to tell whether a record changed: everything it disseminates.
pub(crate) type Digest = [u8; 16];

/// The part of a fragment that alone makes no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Volatile {
    start: u32,
    length: u32,
}

impl Volatile {
    pub(crate) fn new(range: &Range<usize>) -> Option<Volatile> {
        Some(Volatile {
            start: u32::try_from(range.start).ok()?,
            length: u32::try_from(range.len()).ok()?,
        })
    }

    /// As one number, for a column.
    pub(crate) fn to_sql(self) -> i64 {
        (i64::from(self.start) << 32) | i64::from(self.length)
    }

    pub(crate) fn from_sql(number: i64) -> Volatile {
        let [high, low] = [number >> 32, number & i64::from(u32::MAX)].map(|half| u32::try_from(half).unwrap_or(0));
        Volatile {
            start: high,
            length: low,
        }
    }

    /// What stands before it and behind it.
    fn around(self, fragment: &[u8]) -> [&[u8]; 2] {
        let (start, length) = (self.start as usize, self.length as usize);
        let before = fragment.get(..start).unwrap_or(fragment);
        [before, fragment.get(start + length..).unwrap_or_default()]
    }
}

/// The digest of a live record, of which a part may not count.
pub(crate) fn digest(set_specs: &str, fragment: &[u8], volatile: Option<Volatile>) -> Digest {
    match volatile {
        Some(volatile) => hash(b"live", set_specs, &volatile.around(fragment)),
        None => hash(b"live", set_specs, &[fragment]),
    }
}

/// The digest of a deleted record: its sets are all it still shows.
pub(crate) fn digest_deleted(set_specs: &str) -> Digest {
    hash(b"gone", set_specs, &[])
}

fn hash(kind: &[u8; 4], set_specs: &str, fragment: &[&[u8]]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind).update(set_specs.as_bytes()).update(b"\n");
    for part in fragment {
        hasher.update(part);
    }
    let mut digest = Digest::default();
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    digest
}

/// A trained dictionary, ready for both directions.
pub(crate) struct Dictionary {
    pub(crate) id: i64,
    encode: EncoderDictionary<'static>,
    decode: DecoderDictionary<'static>,
}

impl Dictionary {
    pub(crate) fn new(id: i64, bytes: &[u8]) -> Dictionary {
        Dictionary {
            id,
            encode: EncoderDictionary::copy(bytes, LEVEL),
            decode: DecoderDictionary::copy(bytes),
        }
    }

    /// Trains a dictionary; `None` when the samples are too few or have nothing in common.
    pub(crate) fn train<'a>(fragments: impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
        let (mut samples, mut sizes) = (Vec::new(), Vec::new());
        for fragment in fragments.take(MOST_TRAINING_SAMPLES) {
            if samples.len() + fragment.len() > MOST_TRAINING_BYTES {
                break;
            }
            samples.extend_from_slice(fragment);
            sizes.push(fragment.len());
        }
        if sizes.len() < TRAINING_SAMPLES {
            return None;
        }
        zstd::dict::from_continuous(&samples, &sizes, DICTIONARY_BYTES).ok()
    }
}

/// The dictionaries of a store that have been loaded so far.
#[derive(Default)]
pub(crate) struct Dictionaries(RwLock<HashMap<i64, Arc<Dictionary>>>);

impl Dictionaries {
    /// The dictionary `id`, loading it at the first use.
    pub(crate) fn by_id(
        &self,
        id: i64,
        load: impl FnOnce() -> Result<Vec<u8>, StoreError>,
    ) -> Result<Arc<Dictionary>, StoreError> {
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(known.clone());
        }
        let dictionary = Arc::new(Dictionary::new(id, &load()?));
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, dictionary.clone());
        Ok(dictionary)
    }
}

/// Compresses fragments of one format.
pub(crate) struct Compressor<'a> {
    inner: zstd::bulk::Compressor<'a>,
    /// Where a body is made before its size is known.
    space: Vec<u8>,
}

impl<'a> Compressor<'a> {
    pub(crate) fn new(dictionary: Option<&'a Dictionary>) -> Result<Compressor<'a>, StoreError> {
        let inner = match dictionary {
            Some(dictionary) => zstd::bulk::Compressor::with_prepared_dictionary(&dictionary.encode),
            None => zstd::bulk::Compressor::new(LEVEL),
        };
        Ok(Compressor {
            inner: inner.map_err(StoreError::io("preparing compression"))?,
            space: Vec::new(),
        })
    }

    pub(crate) fn compress(&mut self, fragment: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.space.clear();
        self.space.reserve(zstd_safe::compress_bound(fragment.len()));
        self.inner
            .compress_to_buffer(fragment, &mut self.space)
            .map_err(StoreError::io("compressing a record"))?;
        Ok(self.space.as_slice().to_vec())
    }
}

/// Unpacks bodies; one per reader, because the context is costly to make.
pub(crate) struct Decompressor(DCtx<'static>);

impl Decompressor {
    pub(crate) fn new() -> Decompressor {
        Decompressor(DCtx::create())
    }

    /// Appends the fragment that `body` holds to `out`.
    pub(crate) fn append(
        &mut self,
        body: &[u8],
        dictionary: Option<&Dictionary>,
        out: &mut Vec<u8>,
    ) -> Result<(), StoreError> {
        let size = match zstd_safe::get_frame_content_size(body) {
            Ok(Some(size)) if size <= MOST_BODY_BYTES => size as usize,
            _ => {
                return Err(StoreError::Damaged(
                    "a record's body is not a compressed fragment".into(),
                ));
            }
        };
        out.reserve(size);
        let start = out.len();
        let mut cursor = Cursor::new(&mut *out);
        cursor.set_position(start as u64);
        let written = match dictionary {
            Some(dictionary) => self
                .0
                .decompress_using_ddict(&mut cursor, body, dictionary.decode.as_ddict()),
            None => self.0.decompress(&mut cursor, body),
        };
        match written {
            Ok(written) if written == size && out.len() == start + size => Ok(()),
            _ => Err(StoreError::Damaged("a record's body does not unpack".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragments() -> Vec<Vec<u8>> {
        let words = ["Karte", "mapa", "карта", "地図", "chart"];
        (0..600)
            .map(|n| {
                let word = words[n % words.len()];
                format!(
                    "<metadata><dc><title>{word} {n}</title><subject>{}</subject></dc></metadata>",
                    n * 7919 % 1000
                )
                .repeat(3)
                .into_bytes()
            })
            .collect()
    }

    #[test]
    fn a_body_unpacks_to_what_was_packed_with_and_without_a_dictionary() {
        let fragments = fragments();
        let trained = Dictionary::train(fragments.iter().map(Vec::as_slice)).unwrap();
        let dictionary = Dictionary::new(1, &trained);
        for dictionary in [None, Some(&dictionary)] {
            let mut compressor = Compressor::new(dictionary).unwrap();
            let mut decompressor = Decompressor::new();
            let mut out = b"before".to_vec();
            let body = compressor.compress(&fragments[7]).unwrap();
            decompressor.append(&body, dictionary, &mut out).unwrap();
            assert_eq!(out, [b"before", &fragments[7][..]].concat());
        }
    }

    #[test]
    fn a_damaged_body_is_an_error_and_leaves_no_half_fragment_unnoticed() {
        let mut compressor = Compressor::new(None).unwrap();
        let body = compressor.compress(&fragments()[0]).unwrap();
        for damaged in [&body[..body.len() / 2], b"", b"plain text"] {
            assert!(matches!(
                Decompressor::new().append(damaged, None, &mut Vec::new()),
                Err(StoreError::Damaged(_))
            ));
        }
    }

    #[test]
    fn a_part_may_not_count_and_is_remembered_as_a_number() {
        let volatile = Volatile::new(&(3..8)).unwrap();
        assert_eq!(Volatile::from_sql(volatile.to_sql()), volatile);
        assert_eq!(
            digest("", b"on monday.", Some(volatile)),
            digest("", b"on fridxy.", Some(volatile))
        );
        assert_ne!(
            digest("", b"on monday.", Some(volatile)),
            digest("", b"on monday!", Some(volatile))
        );
        // One that lies elsewhere than the text does no harm.
        digest("", b"", Some(volatile));
    }

    #[test]
    fn the_digest_tells_sets_content_and_deletion_apart() {
        let all = [
            digest("a", b"x", None),
            digest("b", b"x", None),
            digest("a", b"y", None),
            digest_deleted("a"),
            digest("a", b"", None),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one));
        }
    }
}
