//! How an answer came over HTTP; and its body as XML.

use maud::{Markup, PreEscaped, html};

use super::ask::Target;
use super::frame::{cut, size};
use super::highlight::{Highlighted, highlighted};
use super::state::{Show, State};
use super::words::{W, with};
use crate::validate::{Answer, Exchange};

/// Of the XML that is shown in colours, and of its HTML; the rest is a link away.
const MOST_BYTES: usize = 200_000;
const MOST_HTML_BYTES: usize = 1_000_000;
/// Headers of an answer that are shown.
const MOST_HEADERS: usize = 100;

/// The body, in colours.
pub(super) fn body(answer: &Answer, state: &State) -> Markup {
    let text = String::from_utf8_lossy(&answer.body);
    let start = &text[..text.floor_char_boundary(MOST_BYTES)];
    let Highlighted { html, shown } = highlighted(start, MOST_HTML_BYTES);
    html! {
        p.soft {
            (W.indented) " "
            @if shown < text.len() { (with(W.cut_xml, &[&size(shown), &size(text.len())])) " " }
            a href=(state.showing(Show::Raw).href()) { (W.whole_answer) } "."
        }
        pre.xml tabindex="0" { (PreEscaped(html)) }
    }
}

/// Status, size, time, headers, and what happened on the way.
pub(super) fn http(exchange: &Exchange, target: &Target) -> Markup {
    html! {
        @if !exchange.hops.is_empty() {
            h3 { (W.http_hops) }
            ol {
                @for hop in &exchange.hops {
                    li {
                        code { (cut(&with(W.http_hop, &[&hop.url, &hop.status.to_string()]))) }
                        @if let Some(location) = &hop.location { " → " code { (cut(location)) } }
                        @if let Some(wait) = &hop.retry_after { " Retry-After: " code { (cut(wait)) } }
                    }
                }
            }
        }
        @match (exchange.answer(), target) {
            (None, _) => p { (W.http_no_answer) },
            (Some(answer), Target::Own(_)) => {
                p { (with(W.http_in_process, &[&milliseconds(answer)])) }
                dl.head { div { dt { (W.http_size) } dd { (size(answer.body.len())) } } }
            }
            (Some(answer), Target::Other(_)) => (travelled(answer)),
        }
    }
}

fn travelled(answer: &Answer) -> Markup {
    let first = format!("{} ms", answer.first_byte.as_millis());
    let sizes = [size(answer.received), size(answer.body.len())];
    html! {
        dl.head {
            div { dt { (W.http_status) } dd { (answer.status) } }
            div { dt { (W.http_size) } dd { (with(W.http_travelled, &[&sizes[0], &sizes[1]])) } }
            div { dt { (W.http_time) } dd { (with(W.http_first_byte, &[&first, &milliseconds(answer)])) } }
        }
        h3 { (W.http_headers) }
        div.scroll tabindex="0" role="group" aria-label=(W.http_headers) {
            table.record {
                thead { tr { th scope="col" { (W.http_name) } th scope="col" { (W.value) } } }
                tbody {
                    @for (name, value) in answer.headers.iter().take(MOST_HEADERS) {
                        tr { th scope="row" { (cut(name)) } td { code { (cut(value)) } } }
                    }
                }
            }
        }
    }
}

/// How long it took.
pub(super) fn milliseconds(answer: &Answer) -> String {
    match answer.took.as_millis() {
        0 => format!("{} µs", answer.took.as_micros()),
        milliseconds => format!("{milliseconds} ms"),
    }
}
