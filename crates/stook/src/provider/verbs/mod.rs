//! One file per verb, each from a checked request to the XML of its answer.

mod get_record;
mod identify;
mod list_identifiers;
mod list_metadata_formats;
mod list_records;
mod list_sets;

use stook_oai::request::Request;

use super::answer::{Context, Refusal};

/// Answers a request.
pub(super) fn answer(context: Context<'_>) -> Result<Vec<u8>, Refusal> {
    match context.request {
        Request::Identify => identify::answer(&mut { context }),
        Request::ListMetadataFormats { identifier } => list_metadata_formats::answer(&context, identifier.as_deref()),
        Request::ListSets { resumption_token } => list_sets::answer(&context, resumption_token.as_deref()),
        Request::GetRecord {
            identifier,
            metadata_prefix,
        } => get_record::answer(&mut { context }, identifier, metadata_prefix),
        Request::ListIdentifiers(list) => list_identifiers::answer(&mut { context }, list),
        Request::ListRecords(list) => list_records::answer(&mut { context }, list),
    }
}
