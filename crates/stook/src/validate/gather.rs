//! The first requests of a run: what there is to ask for. Nothing is judged here; the families ask the same again and
//! get the answers that are kept.

use std::sync::Arc;

use stook_oai::{ErrorCode, Granularity, Verb};

use super::document::{Document, Element};
use super::exchange::{Exchange, Question};
use super::facts::{Format, Identity, ListedSet};
use super::probe::encoded;
use super::run::{Run, Stop};

/// Pages of ListSets that are read to know the sets.
pub(super) const MOST_SET_PAGES: usize = 20;
/// Sets that are tried until one has records.
const MOST_SETS_TRIED: usize = 10;
/// Pages of headers that are read to find a deleted record.
const MOST_HEADER_PAGES: usize = 3;

pub(super) fn gather(run: &mut Run<'_>) -> Result<(), Stop> {
    identify(run)?;
    formats(run)?;
    if let Some(reason) = silence(run)? {
        return Err(Stop::Fatal(reason));
    }
    sets(run)?;
    headers(run)?;
    set_with_records(run)
}

/// Why nobody answers, if nobody does: hundreds of further requests would each wait for nothing.
fn silence(run: &mut Run<'_>) -> Result<Option<String>, Stop> {
    let first = run.get("verb=Identify")?;
    let second = run.get("verb=ListMetadataFormats")?;
    let both = first.outcome.as_ref().err().zip(second.outcome.as_ref().err());
    Ok(both.map(|(reason, _)| format!("it does not answer ({reason})")))
}

fn identify(run: &mut Run<'_>) -> Result<(), Stop> {
    let exchange = run.get("verb=Identify")?;
    let payload = exchange.document().and_then(Document::payload);
    if let Some(identify) = payload.filter(|payload| payload.local() == "Identify") {
        let text = |name: &str| identify.text_of(name).unwrap_or_default();
        run.facts.identity = Some(Identity {
            repository_name: text("repositoryName"),
            base_url: identify.child("baseURL").map(Element::exact_text).unwrap_or_default(),
            granularity: Granularity::parse(&text("granularity")),
            earliest_datestamp: text("earliestDatestamp"),
            deleted_record: text("deletedRecord"),
            compressions: identify.named("compression").map(Element::text).collect(),
            exchange: exchange.number,
        });
    }
    Ok(())
}

fn formats(run: &mut Run<'_>) -> Result<(), Stop> {
    let exchange = run.get("verb=ListMetadataFormats")?;
    let payload = exchange.document().and_then(Document::payload);
    let formats = payload.into_iter().flat_map(|payload| payload.named("metadataFormat"));
    let text = |format: &Element, name: &str| format.text_of(name).unwrap_or_default();
    run.facts.formats = formats
        .map(|format| Format {
            prefix: text(format, "metadataPrefix"),
            schema: text(format, "schema"),
            namespace: text(format, "metadataNamespace"),
        })
        .collect();
    let others = run.facts.formats.iter().map(|format| &format.prefix);
    run.facts.second_prefix = others
        .filter(|prefix| !prefix.is_empty())
        .find(|prefix| *prefix != "oai_dc")
        .cloned();
    Ok(())
}

/// All sets, as far as their pages are few.
fn sets(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut query = "verb=ListSets".to_owned();
    let mut sets = Vec::new();
    for page in 0..MOST_SET_PAGES {
        let exchange = run.get(&query)?;
        let Some(document) = exchange.document() else {
            return Ok(());
        };
        if page == 0 && document.has_error(ErrorCode::NoSetHierarchy) {
            run.facts.sets = Some(Vec::new());
            run.facts.all_sets = true;
            return Ok(());
        }
        let Some(payload) = document.payload() else {
            break;
        };
        sets.extend(payload.named("set").map(|set| ListedSet {
            spec: set.text_of("setSpec").unwrap_or_default(),
            name: set.text_of("setName").unwrap_or_default(),
            exchange: exchange.number,
        }));
        match next_page("ListSets", &exchange) {
            Some(next) if next != query => query = next,
            // A token that leads to itself has no end.
            Some(_) => break,
            None => {
                run.facts.all_sets = true;
                break;
            }
        }
    }
    // Without one it is not known whether there are any.
    run.facts.sets = (!sets.is_empty()).then_some(sets);
    Ok(())
}

/// The query for the page behind an answer, if there is one.
pub(super) fn next_page(verb: &str, exchange: &Exchange) -> Option<String> {
    let token = exchange.document()?.token()?;
    let is_more = !token.value.is_empty();
    is_more.then(|| format!("verb={verb}&resumptionToken={}", encoded(&token.value)))
}

/// The pages of a list from its first request on, at most so many; and whether those are all.
pub(super) fn pages(run: &mut Run<'_>, query: &str, most: usize) -> Result<(Vec<Arc<Exchange>>, bool), Stop> {
    let verb = Question::get(query).verb().map_or("", Verb::as_str);
    let mut pages = vec![run.get(query)?];
    while let Some(next) = pages.last().and_then(|page| next_page(verb, page)) {
        // A token that leads to itself has no end.
        if pages.len() >= most || pages.iter().any(|page| page.question.query == next) {
            return Ok((pages, false));
        }
        pages.push(run.get(&next)?);
    }
    let is_all = pages.iter().all(|page| page.succeeded());
    Ok((pages, is_all))
}

/// A record to ask for, and a deleted one if that comes along.
fn headers(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut query = "verb=ListIdentifiers&metadataPrefix=oai_dc".to_owned();
    for _ in 0..MOST_HEADER_PAGES {
        let exchange = run.get(&query)?;
        let headers = exchange.document().into_iter().flat_map(Document::headers);
        for header in headers.filter(|header| !header.identifier.is_empty()) {
            let place = if header.deleted {
                &mut run.facts.deleted
            } else {
                &mut run.facts.sample
            };
            place.get_or_insert(header);
        }
        match next_page("ListIdentifiers", &exchange) {
            Some(next) if run.facts.sample.is_none() || run.facts.deleted.is_none() => query = next,
            _ => break,
        }
    }
    Ok(())
}

/// The set of the sample record, or the first one that has records.
fn set_with_records(run: &mut Run<'_>) -> Result<(), Stop> {
    let own = run.facts.sample.iter().flat_map(|sample| sample.set_specs.clone());
    let listed = run.facts.sets.iter().flatten().map(|set| set.spec.clone());
    let candidates: Vec<String> = own
        .chain(listed)
        .filter(|spec| !spec.is_empty())
        .take(MOST_SETS_TRIED)
        .collect();
    for spec in candidates {
        let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={}", encoded(&spec));
        let exchange = run.get(&query)?;
        if exchange
            .document()
            .is_some_and(|document| document.headers().next().is_some())
        {
            run.facts.set_spec = Some(spec);
            return Ok(());
        }
    }
    Ok(())
}
