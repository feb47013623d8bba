//! ListMetadataFormats: which formats there are, altogether or for one item.

use stook_oai::{ErrorCode, OaiError};

use super::{Context, Refusal};

pub(super) fn answer(context: &Context<'_>, identifier: Option<&str>) -> Result<Vec<u8>, Refusal> {
    let repository = context.provider.repository;
    let formats = match identifier {
        None => context.snapshot.formats(repository)?,
        Some(identifier) => context
            .snapshot
            .formats_of(repository, identifier)?
            .ok_or_else(|| super::get_record::unknown_item(identifier))?,
    };
    if formats.is_empty() {
        let message = "The item has been deleted in every format.";
        return Err(OaiError::new(ErrorCode::NoMetadataFormats, message).into());
    }
    Ok(context.writer().metadata_formats(&formats))
}
