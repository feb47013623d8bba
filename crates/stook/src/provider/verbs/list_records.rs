//! ListRecords: one page of records.

use std::ops::ControlFlow;

use stook_oai::Verb;
use stook_oai::request::ListRequest;

use super::{Context, Refusal};
use crate::provider::list::{self, Wanted};

/// What a Dublin Core record takes, generously.
const USUAL_RECORD_BYTES: usize = 2048;

pub(super) fn answer(context: &mut Context<'_>, request: &ListRequest) -> Result<Vec<u8>, Refusal> {
    list::answer(context, Verb::ListRecords, request, page)
}

fn page(context: &mut Context<'_>, wanted: &Wanted) -> Result<Option<Vec<u8>>, Refusal> {
    let provider = context.provider;
    let most_bytes = provider.settings.page_kilobytes * 1024;
    let expected = (provider.settings.page_size * USUAL_RECORD_BYTES).min(most_bytes);
    let mut writer = context.writer_for(expected).list_records(provider.granularity);
    let page = context
        .snapshot
        .page(wanted.list, wanted.span, provider.settings.page_size, |record| {
            writer.try_record(&record.header(), |out| record.append_content(out))?;
            Ok(if writer.len() < most_bytes {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
    if page.records == 0 {
        return Ok(None);
    }
    let token = provider.resumption_token(&context.snapshot, wanted, page);
    Ok(Some(writer.finish(token.as_ref())))
}
