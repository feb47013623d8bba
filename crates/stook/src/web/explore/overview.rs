//! A repository at a glance: what Identify says, its formats and sets, and every way to go on.

use maud::{Markup, html};
use stook_oai::Granularity;

use super::form;
use super::frame::{cut, link, outward, short};
use super::known::Known;
use super::record;
use super::run;
use super::state::{Place, State};
use super::words::{W, with};
use crate::validate::{Document, Element, Exchange};

/// Sets in the table; the rest are a request away.
const MOST_SETS: usize = 50;
/// Descriptions, addresses and the like.
const MOST_OTHERS: usize = 20;

/// The page about a repository that identified itself.
pub(super) fn page(identify: &Exchange, state: &State, known: &Known, may_run: bool) -> Markup {
    let payload = identify.document().and_then(Document::payload);
    let address = state.place.as_ref().map(Place::field).map_or("", |(_, value)| value);
    html! {
        h1 { (short(if known.name.is_empty() { address } else { &known.name })) }
        @if let Some(payload) = payload { (facts(payload, Some(known))) }
        p.ways { (link(&state.asking("Identify", &[]), W.identify_again)) }
        @if may_run { (run::invitation(state)) }
        h2 { (W.ask_title) }
        (form::all(state, known))
        @if !known.formats.is_empty() { h2 { (W.formats) } (formats(state, known)) }
        @if !known.sets.is_empty() { h2 { (W.sets) } (sets(state, known)) }
        @if let Some(payload) = payload { (descriptions(payload)) }
    }
}

/// What Identify says, in tiles and lines.
pub(super) fn facts(identify: &Element, known: Option<&Known>) -> Markup {
    let text = |name: &str| identify.text_of(name).filter(|text| !text.is_empty());
    let told = |name: &str| short(&text(name).unwrap_or_else(|| W.not_told.to_owned()));
    let compressions: Vec<String> = identify.named("compression").map(Element::text).collect();
    html! {
        dl.facts {
            div { dt { (W.earliest) } dd { (day(&told("earliestDatestamp"))) } }
            div { dt { (W.granularity) } dd { (granularity(&told("granularity"))) } }
            div { dt { (W.deleted) } dd { (deletions(&told("deletedRecord"))) } }
            @if let Some(known) = known {
                div { dt { (W.formats) } dd { (known.formats.len()) } }
                div { dt { (W.sets) } dd { (set_count(known)) } }
            }
            div { dt { (W.protocol) } dd { (told("protocolVersion")) } }
        }
        dl.head {
            div { dt { (W.base_url) } dd { code { (outward(&text("baseURL").unwrap_or_default())) } } }
            @if identify.child("adminEmail").is_some() {
                div { dt { (W.contact) } dd {
                    @for email in identify.named("adminEmail").take(MOST_OTHERS) { (cut(&email.text())) " " }
                } }
            }
            @if !compressions.is_empty() { div { dt { (W.compression) } dd { (cut(&compressions.join(", "))) } } }
        }
    }
}

/// The day of a datestamp; what is none, as it is.
fn day(datestamp: &str) -> &str {
    match datestamp.get(..10) {
        Some(day) if datestamp.get(10..11) == Some("T") => day,
        _ => datestamp,
    }
}

fn granularity(told: &str) -> &str {
    match Granularity::parse(told) {
        Some(Granularity::Day) => W.granularity_day,
        Some(Granularity::Second) => W.granularity_second,
        None => told,
    }
}

fn deletions(told: &str) -> &str {
    match told {
        "persistent" => W.deleted_persistent,
        "transient" => W.deleted_transient,
        "no" => W.deleted_no,
        other => other,
    }
}

fn set_count(known: &Known) -> String {
    let count = known.sets.len().to_string();
    match (known.all_sets, known.sets.is_empty()) {
        (true, true) => W.no_sets.to_owned(),
        (false, true) => W.not_told.to_owned(),
        (true, false) => count,
        (false, false) => with(W.first_so_many, &[&count]),
    }
}

/// The containers of Identify.
pub(super) fn descriptions(identify: &Element) -> Markup {
    let mut roots = identify.named("description").flat_map(Element::elements).peekable();
    html! {
        @if roots.peek().is_some() {
            h2 { (W.descriptions) }
            @for root in roots.take(MOST_OTHERS) {
                h3 { code { (short(root.local())) } }
                (record::table(root, record::MOST_FIELDS_IN_A_LIST))
            }
        }
    }
}

fn formats(state: &State, known: &Known) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(W.formats) {
            table {
                thead { tr { th scope="col" { (W.prefix) } th scope="col" { (W.namespace) } } }
                tbody {
                    @for format in &known.formats {
                        @let prefix = [("metadataPrefix", format.prefix.as_str())];
                        tr {
                            td { (link(&state.asking("ListRecords", &prefix), &format.prefix)) }
                            td { code { (outward(&format.namespace)) } }
                        }
                    }
                }
            }
        }
    }
}

fn sets(state: &State, known: &Known) -> Markup {
    let prefix = known.prefix(None);
    let more = known.sets.len() > MOST_SETS || !known.all_sets;
    html! {
        div.scroll tabindex="0" role="group" aria-label=(W.sets) {
            table {
                thead { tr { th scope="col" { (W.set_spec) } th scope="col" { (W.set_name) } } }
                tbody {
                    @for (spec, name) in known.sets.iter().take(MOST_SETS) {
                        @let arguments = [("metadataPrefix", prefix), ("set", spec.as_str())];
                        tr { td { (link(&state.asking("ListRecords", &arguments), spec)) } td { (cut(name)) } }
                    }
                }
            }
        }
        @if more {
            p { (with(W.more_sets, &[&known.sets.len().min(MOST_SETS).to_string()])) " "
                (link(&state.asking("ListSets", &[]), W.all_sets)) }
        }
    }
}
