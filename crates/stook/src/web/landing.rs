//! The page at `/`: what these repositories hold and how to harvest them.

use std::ops::ControlFlow;
use std::sync::Arc;

use ::http::Response;
use bytes::Bytes;
use http_body_util::Full;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use stook_oai::request::{ListRequest, Request};
use stook_oai::{MetadataFormat, MetadataPrefix, Set};
use stook_store::{RepositoryId, Snapshot, Span, StoreError};
use tracing::error;

use super::style::STYLE;
use crate::count::grouped;
use crate::provider::{Provider, http};

/// Sets listed on the page; the rest are a request away.
const MOST_SETS: usize = 200;

/// What the page shows of one repository.
struct Holdings {
    records: u64,
    deleted: u64,
    earliest: String,
    formats: Vec<(MetadataFormat, u64)>,
    sets: Vec<(Set, u64)>,
    set_count: u64,
    /// The identifier of some record, to try GetRecord with.
    sample: Option<String>,
}

/// The page. Of a repository that the visitor may not see it says only that there is one.
pub fn page(providers: &[Arc<Provider>], explored: bool, may_see: impl Fn(&Provider) -> bool) -> Response<Full<Bytes>> {
    let alone = providers.len() == 1;
    let sections: Result<Vec<Markup>, StoreError> = providers
        .iter()
        .map(|provider| match may_see(provider) {
            true => Ok(section(provider, &holdings(provider)?, alone, explored)),
            false => Ok(closed_section(provider, alone)),
        })
        .collect();
    let sections = match sections {
        Ok(sections) => sections,
        Err(failure) => {
            error!("{failure}. Try: {}", failure.hint());
            return http::failed(&failure);
        }
    };
    let title = match providers {
        [only] => only.settings.repository_name.as_str(),
        _ => "OAI-PMH repositories",
    };
    http::html(
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    @if providers.len() > 1 { h1 { (title) } }
                    @for section in &sections { (section) }
                    footer { "Served by Stook " (env!("CARGO_PKG_VERSION")) " over OAI-PMH 2.0." }
                }
            }
        }
        .into_string(),
    )
}

fn holdings(provider: &Provider) -> Result<Holdings, StoreError> {
    let (mut snapshot, repository) = (provider.store().read_replica()?, provider.repository());
    let sample = sample(&mut snapshot, repository)?;
    let count = |prefix: &MetadataPrefix, set: Option<&Set>| -> Result<u64, StoreError> {
        match snapshot.list(repository, prefix, set.map(|set| &set.spec))? {
            Some(list) => snapshot.count(list, Span::ALL),
            None => Ok(0),
        }
    };
    let mut formats = Vec::new();
    for format in snapshot.formats(repository)? {
        let records = count(&format.prefix, None)?;
        let deleted = snapshot.deleted(repository, &format.prefix)?;
        formats.push((format, records.saturating_sub(deleted)));
    }
    // oai_dc is the first and every item should have it.
    let main = formats.first().map(|(format, _)| format.prefix.clone());
    let (mut sets, mut deleted) = (Vec::new(), 0);
    if let Some(main) = &main {
        deleted = snapshot.deleted(repository, main)?;
        for set in snapshot.sets(repository, None, MOST_SETS)? {
            let records = count(main, Some(&set))?;
            sets.push((set, records));
        }
    }
    Ok(Holdings {
        records: formats.first().map_or(0, |(_, records)| *records),
        deleted,
        earliest: snapshot.facts(repository)?.earliest_datestamp.to_string(),
        formats,
        sets,
        set_count: snapshot.set_count(repository)?,
        sample,
    })
}

fn sample(snapshot: &mut Snapshot, repository: RepositoryId) -> Result<Option<String>, StoreError> {
    let mut sample = None;
    if let Some(list) = snapshot.list(repository, &MetadataPrefix::oai_dc(), None)? {
        snapshot.page(list, Span::ALL, 1, |record| {
            sample = Some(record.identifier.to_owned());
            Ok(ControlFlow::Break(()))
        })?;
    }
    Ok(sample)
}

fn heading(provider: &Provider, alone: bool) -> Markup {
    let settings = &provider.settings;
    html! {
        @if alone { h1 { (settings.repository_name) } } @else { h2 { (settings.repository_name) } }
        p.lead {
            "An OAI-PMH repository. Questions? "
            @for email in &settings.admin_emails { a href={ "mailto:" (email) } { (email) } " " }
        }
    }
}

fn closed_section(provider: &Provider, alone: bool) -> Markup {
    html! {
        (heading(provider, alone))
        p { "Harvesting it takes credentials or an address that its operator knows." }
    }
}

fn section(provider: &Provider, holdings: &Holdings, alone: bool, explored: bool) -> Markup {
    let settings = &provider.settings;
    html! {
        (heading(provider, alone))
        dl.facts {
            div { dt { "Records" } dd { (grouped(holdings.records)) } }
            div { dt { "Deleted records" } dd { (grouped(holdings.deleted)) } }
            div { dt { "Sets" } dd { (grouped(holdings.set_count)) } }
            div { dt { "Since" } dd { (holdings.earliest.get(..10).unwrap_or_default()) } }
        }
        h2 { "Harvest it" }
        p { "Give your harvester this base URL:" }
        pre { (settings.base_url) }
        p { "Records are in the format " code { "oai_dc" } @if holdings.formats.len() > 1 { " and the others below" }
            "; deletions are kept for ever; datestamps are precise to the "
            @if settings.granularity == crate::config::GranularityName::Days { "day" } @else { "second" } "." }
        h2 { "Try it" }
        @if explored {
            p { a.button href={ "explore?repository=" (settings.name) } { "Explore this repository" }
                " – in words, without reading XML; and test it. Or see the answers themselves:" }
        }
        (links(provider, holdings))
        h2 { "Formats" }
        div.scroll { table {
            tr { th { "metadataPrefix" } th { "Namespace" } th.number { "Records" } }
            @for (format, records) in &holdings.formats {
                tr { td { (list_link(provider, &format.prefix, None)) } td { code { (format.namespace) } }
                     td.number { (grouped(*records)) } }
            }
        } }
        @if !holdings.sets.is_empty() { (sets(provider, holdings)) }
    }
}

fn sets(provider: &Provider, holdings: &Holdings) -> Markup {
    html! {
        h2 { "Sets" }
        div.scroll { table {
            tr { th { "setSpec" } th { "Name" } th.number { "Records, with deleted ones" } }
            @for (set, records) in &holdings.sets {
                tr { td { (list_link(provider, &holdings.formats[0].0.prefix, Some(set))) } td { (set.name) }
                     td.number { (grouped(*records)) } }
            }
        } }
        @if holdings.set_count > holdings.sets.len() as u64 {
            p { "These are the first " (holdings.sets.len()) " of " (grouped(holdings.set_count)) " sets; "
                a href={ (link_start(provider)) "?verb=ListSets" } { "ListSets" } " has them all." }
        }
    }
}

fn links(provider: &Provider, holdings: &Holdings) -> Markup {
    let path = link_start(provider);
    let verbs = [
        ("Identify", "what this repository is"),
        ("ListMetadataFormats", "its formats"),
        ("ListSets", "its sets"),
        ("ListIdentifiers&metadataPrefix=oai_dc", "headers of all records"),
        ("ListRecords&metadataPrefix=oai_dc", "all records"),
    ];
    html! {
        ul {
            @for (verb, what) in verbs {
                @if verb != "ListSets" || holdings.set_count > 0 {
                    li { a href={ (path) "?verb=" (verb) } { (verb.split('&').next().unwrap_or(verb)) } " – " (what) }
                }
            }
            @if let Some(identifier) = holdings.sample.clone() {
                @let request = Request::GetRecord { identifier, metadata_prefix: MetadataPrefix::oai_dc() };
                li { a href={ (path) "?" (request.encode()) } { "GetRecord" } " – one record" }
            }
        }
    }
}

fn list_link(provider: &Provider, prefix: &MetadataPrefix, set: Option<&Set>) -> Markup {
    let request = Request::ListRecords(ListRequest::Selection {
        metadata_prefix: prefix.clone(),
        from: None,
        until: None,
        set: set.map(|set| set.spec.clone()),
    });
    let text = set.map_or(prefix.as_str(), |set| set.spec.as_str());
    html! { a href={ (link_start(provider)) "?" (request.encode()) } { code { (text) } } }
}

/// How links from this page reach the repository.
///
/// By its path beside the page, so that they work on any address the page itself is reached by; behind a proxy that
/// gives the repository another path, by its base URL.
fn link_start(provider: &Provider) -> &str {
    let settings = &provider.settings;
    match settings.base_url.ends_with(&settings.path) {
        true => settings.path.trim_start_matches('/'),
        false => &settings.base_url,
    }
}
