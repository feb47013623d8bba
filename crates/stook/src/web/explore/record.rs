//! Records and whatever else is XML inside an answer, as tables of fields and values.

use maud::{Markup, html};

use super::frame::{cut, link, outward, short};
use super::known::Known;
use super::state::State;
use super::words::{W, with};
use crate::validate::{Element, Header};

/// Fields of one record on a page of its own, and in a list.
pub(super) const MOST_FIELDS: usize = 400;
pub(super) const MOST_FIELDS_IN_A_LIST: usize = 60;
/// Deeper than this nothing is indented further.
const MOST_INDENT: usize = 6;
/// Sets of one header.
const MOST_SETS: usize = 50;

/// An element and what is in it, as a table.
pub(super) fn table(element: &Element, most: usize) -> Markup {
    let mut rows = Vec::new();
    match element.text().is_empty() && element.elements().next().is_some() {
        // The container itself says nothing.
        true => element.elements().for_each(|child| collect(child, 0, &mut rows)),
        false => collect(element, 0, &mut rows),
    }
    let more = rows.len().saturating_sub(most);
    html! {
        div.scroll tabindex="0" role="group" aria-label=(short(element.local())) {
            table.record {
                thead { tr { th scope="col" { (W.field) } th scope="col" { (W.value) } } }
                tbody {
                    @for (depth, element) in rows.into_iter().take(most) {
                        tr {
                            th scope="row" class={ "d" (depth.min(MOST_INDENT)) } { (cut(element.local())) }
                            td { (value(element)) }
                        }
                    }
                }
            }
        }
        @if more > 0 { p.soft { (with(W.cut_rows, &[&more.to_string()])) } }
    }
}

/// It and what is below it, in the order of the document.
fn collect<'a>(element: &'a Element, depth: usize, rows: &mut Vec<(usize, &'a Element)>) {
    rows.push((depth, element));
    for child in element.elements() {
        collect(child, depth + 1, rows);
    }
}

fn value(element: &Element) -> Markup {
    let text = element.text();
    html! {
        (outward(&text))
        @for attribute in element.attributes.iter().take(20) {
            @if !attribute.name.ends_with("schemaLocation") {
                " " span.attribute { (cut(&attribute.name)) "=" (outward(&attribute.value)) }
            }
        }
    }
}

/// What people would call a record: its title.
pub(super) fn title(record: &Element) -> Option<String> {
    let mut title = None;
    record.child("metadata")?.walk(&mut |element| {
        if title.is_none() && element.local() == "title" && !element.text().is_empty() {
            title = Some(short(&element.text()));
        }
    });
    title
}

/// A whole record.
pub(super) fn whole(record: &Element, state: &State, known: &Known) -> Markup {
    let header = record.child("header").map(Header::of);
    let inside = |name: &'static str| record.named(name).flat_map(Element::elements);
    html! {
        @if let Some(header) = &header { (head(header, state, known)) }
        @if header.as_ref().is_some_and(|header| header.deleted) { p.note { (W.deleted_record) } }
        h3 { (W.metadata) }
        @if inside("metadata").next().is_none() { p.soft { (W.no_metadata) } }
        @for root in inside("metadata") { (table(root, MOST_FIELDS)) }
        @if inside("about").next().is_some() {
            h3 { (W.about) }
            @for root in inside("about").take(20) { (table(root, MOST_FIELDS)) }
        }
    }
}

/// The header of a record, with ways to go on from it.
pub(super) fn head(header: &Header, state: &State, known: &Known) -> Markup {
    let identifier = header.identifier.as_str();
    let shown = state.argument("metadataPrefix").unwrap_or_default();
    let others = known.formats.iter().filter(|format| format.prefix != shown);
    html! {
        dl.head {
            div { dt { (W.identifier) } dd { code { (outward(identifier)) } } }
            div { dt { (W.datestamp) } dd { (cut(&header.datestamp)) } }
            @if !header.set_specs.is_empty() { div { dt { (W.in_sets) } dd { (sets(header, state, known)) } } }
        }
        p.ways {
            (link(&state.asking("ListMetadataFormats", &[("identifier", identifier)]), W.formats_of_item))
            @for format in others.take(12) {
                @let arguments = [("identifier", identifier), ("metadataPrefix", format.prefix.as_str())];
                " " (link(&state.asking("GetRecord", &arguments), &with(W.in_format, &[&format.prefix])))
            }
        }
    }
}

/// Links to the sets of a header.
pub(super) fn sets(header: &Header, state: &State, known: &Known) -> Markup {
    let prefix = known.prefix(state.list_prefix());
    html! {
        @for spec in header.set_specs.iter().take(MOST_SETS) {
            (link(&state.asking("ListIdentifiers", &[("metadataPrefix", prefix), ("set", spec)]), spec)) " "
        }
    }
}
