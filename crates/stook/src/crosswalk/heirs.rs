//! Who makes a record now that what it was made from is gone? Another record of the item that was given, if there is one.
//!
//! The store leaves a record alone as long as the item has something else it can be made from; here it is made from that.
//! Enters: records that are perhaps bereft. Leaves: those that come out differently, published.

use std::collections::VecDeque;

use stook_oai::response::split_fragment;
use stook_oai::{Identifier, MetadataPrefix, SetSpec};
use stook_store::{Beside, Change, Content, RepositoryId, Snapshot, Store, StoreError};

use super::{Crosswalk, Crosswalks, Made};

/// Records made in one transaction.
const STEP: usize = 1_000;

/// A record that may have to be made from something else: its item and its format.
pub type Bereft = (String, MetadataPrefix);

/// The records that these changes withdraw, unless they can be made from something else.
#[must_use]
pub fn bereft(changes: &[Change]) -> Vec<Bereft> {
    let is_it = |change: &&Change| matches!(&change.content, Content::Underived { unless } if !unless.is_empty());
    let bereft = changes.iter().filter(is_it);
    bereft
        .map(|change| (change.identifier.as_str().to_owned(), change.prefix.clone()))
        .collect()
}

/// What a record can be made from.
struct Source {
    crosswalk: usize,
    metadata: String,
    set_specs: Vec<SetSpec>,
}

/// Makes the records from what their items have; says how many came out differently. What cannot be made stays as it is:
/// why was told when the record came that it would be made from.
///
/// # Errors
/// When the store cannot be read or written.
pub fn make(
    store: &Store,
    repository: RepositoryId,
    crosswalks: &Crosswalks,
    bereft: &[Bereft],
) -> Result<u64, StoreError> {
    let mut published = 0;
    for step in bereft.chunks(STEP) {
        let mut sources = store.look_up(|snapshot| {
            let sources = step.iter().map(|of| sources(snapshot, repository, crosswalks, of));
            sources.collect::<Result<Vec<_>, _>>()
        })?;
        let changes = changes(crosswalks, step, &mut sources);
        if changes.is_empty() {
            continue;
        }
        let batch = store.encoder(repository).encode(changes)?;
        let outcomes = store.commit(&batch, &Beside::default())?;
        published += outcomes.iter().filter(|outcome| outcome.is_published()).count() as u64;
    }
    Ok(published)
}

/// What the item has that the record can be made from, the first crosswalk first. What was itself made does not count: it
/// goes when its own source does.
fn sources(
    snapshot: &mut Snapshot,
    repository: RepositoryId,
    crosswalks: &Crosswalks,
    (identifier, to): &Bereft,
) -> Result<VecDeque<Source>, StoreError> {
    let mut sources = VecDeque::new();
    // One question is enough for most: on a server each is a journey.
    let live = snapshot.formats_of(repository, identifier)?.unwrap_or_default();
    for (at, crosswalk) in crosswalks.iter().enumerate() {
        let from = crosswalk.source_prefix();
        if crosswalk.target().prefix != *to || !live.iter().any(|format| format.prefix == *from) {
            continue;
        }
        let known = snapshot.known(repository, from, identifier)?;
        if known.is_none_or(|known| known.deleted || known.derived) {
            continue;
        }
        snapshot.record(repository, from, identifier, |record| {
            let mut fragment = Vec::new();
            record.append_content(&mut fragment)?;
            let set_specs = record.set_specs.split_ascii_whitespace();
            sources.extend(split_fragment(&fragment).map(|parts| Source {
                crosswalk: at,
                metadata: parts.metadata.to_owned(),
                // As they stand in the store, so they are set specs.
                set_specs: set_specs.filter_map(|spec| SetSpec::parse(spec).ok()).collect(),
            }));
            Ok(())
        })?;
    }
    Ok(sources)
}

/// Makes each record from the first source that says something; if none does, it is withdrawn.
fn changes(crosswalks: &Crosswalks, step: &[Bereft], sources: &mut [VecDeque<Source>]) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, crosswalk) in crosswalks.iter().enumerate() {
        let is_next = |sources: &VecDeque<Source>| sources.front().is_some_and(|source| source.crosswalk == at);
        let next: Vec<usize> = (0..step.len()).filter(|of| is_next(&sources[*of])).collect();
        let taken: Vec<Source> = next.iter().filter_map(|of| sources[*of].pop_front()).collect();
        for ((of, source), made) in next.into_iter().zip(&taken).zip(made(crosswalk, &taken)) {
            let content = match made {
                Ok(Some(metadata)) => Content::Derived {
                    metadata,
                    about: Vec::new(),
                },
                Ok(None) if sources[of].is_empty() => Content::Underived { unless: Vec::new() },
                // The next one may say something, or be fit for it.
                Ok(None) | Err(_) => continue,
            };
            sources[of].clear();
            let (identifier, prefix) = &step[of];
            changes.extend(Identifier::as_received(identifier).ok().map(|identifier| Change {
                identifier,
                prefix: prefix.clone(),
                set_specs: source.set_specs.clone(),
                content,
            }));
        }
    }
    changes
}

fn made(crosswalk: &Crosswalk, sources: &[Source]) -> Vec<Made> {
    let texts: Vec<&str> = sources.iter().map(|source| source.metadata.as_str()).collect();
    match texts.is_empty() {
        true => Vec::new(),
        false => crosswalk
            .make(&texts)
            .unwrap_or_else(|given_up| vec![Err(format!("{given_up:#}")); texts.len()]),
    }
}
