//! GetRecord: one item in one format, deleted or not.

use stook_oai::{ErrorCode, MetadataPrefix, OaiError};

use super::{Context, Refusal};
use crate::provider::list::unknown_format;

pub(super) fn answer(
    context: &mut Context<'_>,
    identifier: &str,
    metadata_prefix: &MetadataPrefix,
) -> Result<Vec<u8>, Refusal> {
    let provider = context.provider;
    let (mut writer, mut xml) = (Some(context.writer()), None);
    context
        .snapshot
        .record(provider.repository, metadata_prefix, identifier, |record| {
            let mut content = Vec::new();
            record.append_content(&mut content)?;
            let header = record.header();
            xml = writer
                .take()
                .map(|writer| writer.get_record(provider.granularity, &header, |out| out.extend_from_slice(&content)));
            Ok(())
        })?;
    if let Some(xml) = xml {
        return Ok(xml);
    }
    let mut errors = Vec::new();
    let formats = context.snapshot.formats(provider.repository)?;
    let offered = formats.iter().any(|format| format.prefix == *metadata_prefix);
    match context.snapshot.formats_of(provider.repository, identifier)? {
        None => errors.push(unknown_item(identifier)),
        Some(_) if offered => {
            let message = format!("The item has no record in the format {metadata_prefix}.");
            errors.push(OaiError::new(ErrorCode::CannotDisseminateFormat, message));
        }
        Some(_) => {}
    }
    if !offered {
        errors.push(unknown_format(metadata_prefix));
    }
    Err(Refusal::Errors(errors))
}

/// The answer to an identifier nobody has heard of.
pub(super) fn unknown_item(identifier: &str) -> OaiError {
    let shown: String = identifier.chars().take(200).collect();
    OaiError::new(
        ErrorCode::IdDoesNotExist,
        format!("There is no item {shown:?} in this repository."),
    )
}
