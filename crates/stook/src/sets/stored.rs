//! What the store has of an item.

use stook_oai::MetadataPrefix;
use stook_oai::response::split_fragment;
use stook_store::{Position, RepositoryId, Snapshot, StoreError};

/// What a live record says; `None` if there is none, or if it was made from another and only what is given counts.
pub(super) fn metadata(
    snapshot: &mut Snapshot,
    repository: RepositoryId,
    prefix: &MetadataPrefix,
    identifier: &str,
    only_given: bool,
) -> Result<Option<String>, StoreError> {
    if only_given {
        let known = snapshot.known(repository, prefix, identifier)?;
        if known.is_none_or(|known| known.deleted || known.derived) {
            return Ok(None);
        }
    }
    let mut metadata = None;
    snapshot.record(repository, prefix, identifier, |record| {
        let mut fragment = Vec::new();
        record.append_content(&mut fragment)?;
        metadata = split_fragment(&fragment).map(|parts| parts.metadata.to_owned());
        Ok(())
    })?;
    Ok(metadata)
}

/// Where a record stands, its sets, and whether it is deleted.
pub(super) struct Header {
    pub(super) position: Position,
    pub(super) set_specs: String,
    pub(super) deleted: bool,
}

pub(super) fn header(
    snapshot: &mut Snapshot,
    repository: RepositoryId,
    prefix: &MetadataPrefix,
    identifier: &str,
) -> Result<Option<Header>, StoreError> {
    let mut header = None;
    snapshot.record(repository, prefix, identifier, |record| {
        header = Some(Header {
            position: record.position,
            set_specs: record.set_specs.to_owned(),
            deleted: record.deleted,
        });
        Ok(())
    })?;
    Ok(header)
}
