//! What ListRecords and ListIdentifiers share: which records are wanted, and where the next page begins.
//!
//! A list is a span of positions, frozen when its first page is made. What changes meanwhile moves past its end and
//! comes with the next harvest, so a page is never affected by what happened to the pages before it.

use stook_oai::request::ListRequest;
use stook_oai::token::ListState;
use stook_oai::{Datestamp, ErrorCode, MetadataPrefix, OaiError, ResumptionToken, SetSpec, Verb};
use stook_store::{List, Page, Position, Snapshot, Span};

use super::Provider;
use super::answer::{Context, Refusal};

/// One page to be made.
pub(super) struct Wanted {
    pub(super) list: List,
    pub(super) span: Span,
    verb: Verb,
    metadata_prefix: MetadataPrefix,
    set: Option<SetSpec>,
    /// Where the request's own `until` ends the list at the latest.
    until: Position,
    /// Records delivered by earlier pages.
    cursor: u64,
    complete_list_size: u64,
    /// Whether this page continues a list.
    resumed: bool,
}

/// Answers a list request; `page` writes one page, or says that no record is left in the span.
pub(super) fn answer(
    context: &mut Context<'_>,
    verb: Verb,
    request: &ListRequest,
    page: impl Fn(&mut Context<'_>, &Wanted) -> Result<Option<Vec<u8>>, Refusal>,
) -> Result<Vec<u8>, Refusal> {
    let mut wanted = wanted(context, verb, request)?;
    if let Some(xml) = page(context, &wanted)? {
        return Ok(xml);
    }
    // Every record left had changed since the list began: those records now stand past the frozen end.
    wanted.span = wanted.unfrozen(&context.snapshot).ok_or_else(stale_token)?;
    page(context, &wanted)?.ok_or_else(|| stale_token().into())
}

/// Finds out which page is wanted.
fn wanted(context: &mut Context<'_>, verb: Verb, request: &ListRequest) -> Result<Wanted, Refusal> {
    match request {
        ListRequest::Selection {
            metadata_prefix,
            from,
            until,
            set,
        } => {
            let (provider, snapshot) = (context.provider, &context.snapshot);
            provider.check_selection(snapshot, metadata_prefix, set.as_ref())?;
            let after = from.map_or(Position::START, |from| Position::first_of(from.first_second()).before());
            let until = until.map_or(Position::END, |until| Position::last_of(until.last_second()));
            let span = Span {
                after,
                through: until.min(snapshot.last()),
            };
            let nothing = || OaiError::new(ErrorCode::NoRecordsMatch, "No record matches the request.");
            let list = snapshot
                .list(provider.repository, metadata_prefix, set.as_ref())?
                .ok_or_else(nothing)?;
            let complete_list_size = snapshot.count(list, span)?;
            if complete_list_size == 0 {
                return Err(nothing().into());
            }
            Ok(Wanted {
                list,
                span,
                verb,
                metadata_prefix: metadata_prefix.clone(),
                set: set.clone(),
                until,
                cursor: 0,
                complete_list_size,
                resumed: false,
            })
        }
        ListRequest::Resume { resumption_token } => resumed(context, verb, resumption_token),
    }
}

fn resumed(context: &mut Context<'_>, verb: Verb, token: &str) -> Result<Wanted, Refusal> {
    let provider = context.provider;
    let now = context.snapshot.response_date();
    let read = provider.tokens.read(&provider.settings.name, verb, now, token);
    let (state, _) = read.map_err(OaiError::from)?;
    let ListState::Records {
        metadata_prefix,
        set,
        after,
        through,
        until,
        cursor,
        complete_list_size,
        ..
    } = state
    else {
        return Err(stale_token().into());
    };
    let span = Span {
        after: Position::from_u64(after),
        through: Position::from_u64(through),
    };
    // Or the list would end before its end.
    context.reach(span.through)?;
    let list = context
        .snapshot
        .list(provider.repository, &metadata_prefix, set.as_ref())?
        .ok_or_else(stale_token)?;
    Ok(Wanted {
        list,
        span,
        verb,
        metadata_prefix,
        set,
        until: Position::from_u64(until),
        cursor,
        complete_list_size,
        resumed: true,
    })
}

impl Provider {
    fn check_selection(
        &self,
        snapshot: &Snapshot,
        prefix: &MetadataPrefix,
        set: Option<&SetSpec>,
    ) -> Result<(), Refusal> {
        let mut errors = Vec::new();
        if !snapshot
            .formats(self.repository)?
            .iter()
            .any(|format| format.prefix == *prefix)
        {
            errors.push(unknown_format(prefix));
        }
        if set.is_some() && snapshot.set_count(self.repository)? == 0 {
            errors.push(OaiError::new(ErrorCode::NoSetHierarchy, "This repository has no sets."));
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Refusal::Errors(errors))
        }
    }

    /// When tokens given out now expire.
    pub(super) fn expiration_date(&self, response_date: Datestamp) -> Option<Datestamp> {
        let lifetime = i64::try_from(self.settings.token_hours).ok()?.checked_mul(3_600)?;
        Datestamp::from_unix(response_date.unix().checked_add(lifetime)?)
    }

    /// The token that ends a page: where the next one begins, or empty after the last of several pages. A list that
    /// fits into one page has none (section 3.5).
    pub(super) fn resumption_token(&self, snapshot: &Snapshot, wanted: &Wanted, page: Page) -> Option<ResumptionToken> {
        let delivered = wanted.cursor + page.records as u64;
        if !page.more {
            return wanted.resumed.then(|| ResumptionToken {
                value: String::new(),
                expiration_date: None,
                // By now the size is known, whatever changed on the way.
                complete_list_size: Some(delivered),
                cursor: Some(wanted.cursor),
            });
        }
        let expiration_date = self.expiration_date(snapshot.response_date())?;
        let complete_list_size = wanted.complete_list_size.max(delivered + 1);
        let state = ListState::Records {
            verb: wanted.verb,
            metadata_prefix: wanted.metadata_prefix.clone(),
            set: wanted.set.clone(),
            after: page.last.as_u64(),
            through: wanted.span.through.as_u64(),
            until: wanted.until.as_u64(),
            cursor: delivered,
            complete_list_size,
        };
        Some(ResumptionToken {
            value: self.tokens.issue(&self.settings.name, expiration_date, &state),
            expiration_date: Some(expiration_date),
            complete_list_size: Some(complete_list_size),
            cursor: Some(wanted.cursor),
        })
    }
}

impl Wanted {
    /// The span without its frozen end; `None` when that holds nothing more.
    fn unfrozen(&self, snapshot: &Snapshot) -> Option<Span> {
        let through = self.until.min(snapshot.last());
        (self.resumed && through > self.span.through).then_some(Span {
            after: self.span.after,
            through,
        })
    }
}

/// A token whose list no longer holds anything: an empty list cannot be expressed, so the harvester starts again.
pub(super) fn stale_token() -> OaiError {
    let message = "The rest of this list has changed. Start the list again without the resumptionToken.";
    OaiError::new(ErrorCode::BadResumptionToken, message)
}

/// The answer to a format nobody has heard of.
pub(super) fn unknown_format(prefix: &MetadataPrefix) -> OaiError {
    let message =
        format!("This repository does not offer the format {prefix}; ListMetadataFormats tells which it does.");
    OaiError::new(ErrorCode::CannotDisseminateFormat, message)
}
