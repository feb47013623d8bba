//! ListSets: the sets in order of their specs, in pages.

use stook_oai::token::ListState;
use stook_oai::{ErrorCode, OaiError, ResumptionToken, Verb};

use super::{Context, Refusal};
use crate::provider::list::stale_token;

pub(super) fn answer(context: &Context<'_>, token: Option<&str>) -> Result<Vec<u8>, Refusal> {
    let (provider, snapshot) = (context.provider, &context.snapshot);
    let set_count = snapshot.set_count(provider.repository)?;
    if set_count == 0 {
        return Err(OaiError::new(ErrorCode::NoSetHierarchy, "This repository has no sets.").into());
    }
    let (after, cursor) = match token {
        None => (None, 0),
        Some(token) => {
            let read = provider
                .tokens
                .read(&provider.settings.name, Verb::ListSets, snapshot.response_date(), token);
            match read.map_err(OaiError::from)?.0 {
                ListState::Sets { after, cursor, .. } => (Some(after), cursor),
                ListState::Records { .. } => return Err(stale_token().into()),
            }
        }
    };
    let page_size = provider.settings.set_page_size;
    let mut sets = snapshot.sets(provider.repository, after.as_ref(), page_size + 1)?;
    let more = sets.len() > page_size;
    sets.truncate(page_size);
    let Some(last) = sets.last() else {
        return Err(stale_token().into());
    };
    let delivered = cursor + sets.len() as u64;
    let expiration_date = provider.expiration_date(snapshot.response_date()).filter(|_| more);
    let value = expiration_date.map_or(String::new(), |expires| {
        let state = ListState::Sets {
            after: last.spec.clone(),
            cursor: delivered,
            complete_list_size: set_count,
        };
        provider.tokens.issue(&provider.settings.name, expires, &state)
    });
    let resumption_token = (more || token.is_some()).then_some(ResumptionToken {
        value,
        expiration_date,
        complete_list_size: Some(set_count),
        cursor: Some(cursor),
    });
    let mut writer = context.writer().sets();
    for set in &sets {
        writer.set(set);
    }
    Ok(writer.finish(resumption_token.as_ref()))
}
