//! Identify: what this repository is.

use std::ops::ControlFlow;

use percent_encoding::percent_decode_str;
use stook_oai::{DeletedRecord, Description, Identifier, Identify, MetadataPrefix, OaiNamespace};
use stook_store::{Span, StoreError};

use super::{Context, Refusal};

pub(super) fn answer(context: &mut Context<'_>) -> Result<Vec<u8>, Refusal> {
    let provider = context.provider;
    let settings = &provider.settings;
    let mut descriptions = Vec::new();
    if let Some(namespace) = &provider.namespace {
        descriptions.push(match sample(context)? {
            Some(sample) => Description::OaiIdentifier {
                namespace: namespace.clone(),
                sample,
            },
            None => Description::oai_identifier(namespace.clone(), "1").map_err(unusable)?,
        });
    }
    descriptions.extend(provider.descriptions.iter().cloned());
    Ok(context.writer().identify(&Identify {
        repository_name: settings.repository_name.clone(),
        base_url: settings.base_url.clone(),
        admin_emails: settings.admin_emails.clone(),
        earliest_datestamp: context.snapshot.facts(provider.repository)?.earliest_datestamp,
        deleted_record: DeletedRecord::Persistent,
        granularity: provider.granularity,
        compressions: settings
            .compression
            .iter()
            .map(|coding| coding.as_str().to_owned())
            .collect(),
        descriptions,
    }))
}

/// A real identifier of the namespace, if the first record has one that can serve as an example.
fn sample(context: &mut Context<'_>) -> Result<Option<Identifier>, Refusal> {
    let provider = context.provider;
    let Some(namespace) = &provider.namespace else {
        return Ok(None);
    };
    let Some(list) = context
        .snapshot
        .list(provider.repository, &MetadataPrefix::oai_dc(), None)?
    else {
        return Ok(None);
    };
    let mut sample = None;
    context.snapshot.page(list, Span::ALL, 1, |record| {
        sample = Identifier::parse(record.identifier).ok();
        Ok(ControlFlow::Break(()))
    })?;
    Ok(sample.filter(|sample| is_exemplary(sample, namespace)))
}

/// Whether an identifier is written as the guideline writes it: the schema has a pattern for the sample, and records
/// that came with identifiers of their own need not fit it.
fn is_exemplary(identifier: &Identifier, namespace: &OaiNamespace) -> bool {
    let plain = namespace
        .local_part(identifier)
        .and_then(|local| percent_decode_str(local).decode_utf8().ok());
    plain.is_some_and(|plain| namespace.identifier(&plain).as_ref() == Ok(identifier))
}

fn unusable(error: impl std::fmt::Display) -> Refusal {
    Refusal::Store(StoreError::Damaged(error.to_string()))
}
