//! ListIdentifiers: one page of headers.

use std::ops::ControlFlow;

use stook_oai::Verb;
use stook_oai::request::ListRequest;

use super::{Context, Refusal};
use crate::provider::list::{self, Wanted};

pub(super) fn answer(context: &mut Context<'_>, request: &ListRequest) -> Result<Vec<u8>, Refusal> {
    list::answer(context, Verb::ListIdentifiers, request, page)
}

fn page(context: &mut Context<'_>, wanted: &Wanted) -> Result<Option<Vec<u8>>, Refusal> {
    let provider = context.provider;
    let mut writer = context.writer().list_identifiers(provider.granularity);
    let page = context
        .snapshot
        .page(wanted.list, wanted.span, provider.settings.page_size, |record| {
            writer.header(&record.header());
            Ok(ControlFlow::Continue(()))
        })?;
    if page.records == 0 {
        return Ok(None);
    }
    let token = provider.resumption_token(&context.snapshot, wanted, page);
    Ok(Some(writer.finish(token.as_ref())))
}
