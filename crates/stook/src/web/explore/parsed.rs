//! An answer in words and tables, each with links to where one goes from there.

use maud::{Markup, html};
use stook_oai::Verb;

use super::frame::{cut, link, outward, short};
use super::known::{Known, formats_of};
use super::overview;
use super::record;
use super::state::State;
use super::words::{W, with};
use crate::count::grouped;
use crate::validate::{Document, Element, Header, Token};

/// Entries of one answer that are shown.
const MOST_ENTRIES: usize = 1_000;
/// Records of one answer that are shown with their metadata.
const MOST_RECORDS: usize = 300;

/// What is in an answer; nothing where it has no payload.
pub(super) fn answer(document: &Document, state: &State, known: &Known) -> Markup {
    let Some(payload) = document.payload() else {
        return html! {};
    };
    html! {
        @match Verb::parse(payload.local()) {
            Some(Verb::Identify) => { (overview::facts(payload, None)) (overview::descriptions(payload)) }
            Some(Verb::ListMetadataFormats) => (formats(document, state)),
            Some(Verb::ListSets) => (sets(payload, state, known)),
            Some(Verb::ListIdentifiers) => (headers(payload, state, known)),
            Some(Verb::ListRecords) => (records(payload, state, known)),
            Some(Verb::GetRecord) => {
                @for record in payload.named("record").take(1) { (record::whole(record, state, known)) }
            }
            None => {}
        }
        @if matches!(payload.local(), "ListIdentifiers" | "ListRecords" | "ListSets") {
            (token(document.token().as_ref(), payload, state))
        }
    }
}

fn formats(document: &Document, state: &State) -> Markup {
    let formats = formats_of(Some(document));
    let identifier = state.argument("identifier");
    html! {
        div.scroll tabindex="0" role="group" aria-label=(W.formats) {
            table {
                thead { tr { th scope="col" { (W.prefix) } th scope="col" { (W.namespace) } th scope="col" { (W.schema) } } }
                tbody {
                    @for format in formats.iter().take(MOST_ENTRIES) {
                        @let prefix = format.prefix.as_str();
                        @let to = match identifier {
                            Some(identifier) => {
                                state.asking("GetRecord", &[("identifier", identifier), ("metadataPrefix", prefix)])
                            }
                            None => state.asking("ListRecords", &[("metadataPrefix", prefix)]),
                        };
                        tr { td { (link(&to, prefix)) } td { code { (outward(&format.namespace)) } }
                             td { code { (outward(&format.schema)) } } }
                    }
                }
            }
        }
        (left_out(formats.len(), MOST_ENTRIES))
    }
}

fn sets(payload: &Element, state: &State, known: &Known) -> Markup {
    let prefix = known.prefix(state.list_prefix());
    let all = payload.named("set").count();
    html! {
        div.scroll tabindex="0" role="group" aria-label=(W.sets) {
            table {
                thead { tr { th scope="col" { (W.set_spec) } th scope="col" { (W.set_name) }
                             th scope="col" { (W.set_description) } } }
                tbody {
                    @for set in payload.named("set").take(MOST_ENTRIES) {
                        @let spec = set.text_of("setSpec").unwrap_or_default();
                        @let arguments = [("metadataPrefix", prefix), ("set", spec.as_str())];
                        tr {
                            td { (link(&state.asking("ListIdentifiers", &arguments), &spec)) }
                            td { (cut(&set.text_of("setName").unwrap_or_default())) }
                            td { (cut(&text_below(set.named("setDescription")))) }
                        }
                    }
                }
            }
        }
        (left_out(all, MOST_ENTRIES))
    }
}

/// All text in these elements.
fn text_below<'a>(elements: impl Iterator<Item = &'a Element>) -> String {
    let mut texts = Vec::new();
    for element in elements {
        element.walk(&mut |element| texts.push(element.text()));
    }
    texts.retain(|text| !text.is_empty());
    texts.join("; ")
}

fn headers(payload: &Element, state: &State, known: &Known) -> Markup {
    let all = payload.named("header").count();
    html! {
        div.scroll tabindex="0" role="group" aria-label="ListIdentifiers" {
            table {
                thead { tr { th scope="col" { (W.identifier) } th scope="col" { (W.datestamp) }
                             th scope="col" { (W.in_sets) } th scope="col" { (W.status) } } }
                tbody {
                    @for header in payload.named("header").take(MOST_ENTRIES).map(Header::of) {
                        tr {
                            td { (link(&to_record(&header, state, known), &header.identifier)) }
                            td.date { (cut(&header.datestamp)) }
                            td { (record::sets(&header, state, known)) }
                            td { @if header.deleted { span.badge { (W.is_deleted) } } }
                        }
                    }
                }
            }
        }
        (left_out(all, MOST_ENTRIES))
    }
}

fn to_record(header: &Header, state: &State, known: &Known) -> State {
    let prefix = known.prefix(state.list_prefix());
    state.asking(
        "GetRecord",
        &[("identifier", header.identifier.as_str()), ("metadataPrefix", prefix)],
    )
}

fn records(payload: &Element, state: &State, known: &Known) -> Markup {
    let all = payload.named("record").count();
    html! {
        div.records {
            @for record in payload.named("record").take(MOST_RECORDS) {
                @let header = record.child("header").map(Header::of);
                @if let Some(header) = header { (in_list(record, &header, state, known)) }
            }
        }
        (left_out(all, MOST_RECORDS))
    }
}

fn in_list(record: &Element, header: &Header, state: &State, known: &Known) -> Markup {
    let metadata = record.named("metadata").flat_map(Element::elements).next();
    html! {
        details {
            summary {
                span.title { (record::title(record).unwrap_or_else(|| short(&header.identifier))) }
                @if header.deleted { " " span.badge { (W.is_deleted) } }
                span.soft.date { (short(&header.datestamp)) }
            }
            p.ways {
                (link(&to_record(header, state, known), W.open_record)) " " code { (short(&header.identifier)) } " "
                (record::sets(header, state, known))
            }
            @match metadata {
                Some(metadata) => (record::table(metadata, record::MOST_FIELDS_IN_A_LIST)),
                None => p.soft { (W.no_metadata) },
            }
        }
    }
}

fn left_out(all: usize, shown: usize) -> Markup {
    html! {
        @if all > shown { p.soft { (with(W.cut_records, &[&grouped((all - shown) as u64)])) } }
    }
}

/// How far the list has come, and the way to its next page.
fn token(token: Option<&Token>, payload: &Element, state: &State) -> Markup {
    let is_first = state.argument("resumptionToken").is_none();
    let here = payload
        .elements()
        .filter(|element| element.local() != "resumptionToken")
        .count();
    html! {
        section.token aria-label=(W.token) {
            p {
                strong { (with(W.entries, &[&grouped(here as u64)])) }
                @if let Some(token) = token {
                    @if let Some(size) = &token.complete_list_size { ", " (with(W.of_size, &[&short(size)])) }
                    @if let Some(cursor) = &token.cursor { ", " (with(W.from_cursor, &[&short(cursor)])) }
                }
                "."
            }
            @match token.filter(|token| !token.value.is_empty()) {
                Some(token) => {
                    p { a.button rel="next" href=(state.following(&token.value).href()) { (W.next) } }
                    dl.head {
                        div { dt { (W.token) } dd { code { (cut(&token.value)) } } }
                        @if let Some(expires) = &token.expiration_date {
                            div { dt { (W.token_expires) } dd { (cut(expires)) } }
                        }
                    }
                }
                None if is_first => p.soft { (W.single_list) },
                None => p.soft { (W.token_none) },
            }
        }
    }
}
