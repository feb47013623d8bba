//! The pieces of the page of a run: families, requests, findings, and what came of it.

use maud::{Markup, html};
use percent_encoding::percent_decode_str;

use super::frame::{cut, short};
use super::state::State;
use super::words::{W, with};
use crate::validate::report::{Asked, Finding, Report, Status};
use crate::validate::table::{self, Severity};

/// A family begins. It is closed when the next one does.
pub(super) fn family_begins(title: &str) -> String {
    let heading = html! { h2 { (title) } }.into_string();
    format!("<section class=\"family\">{heading}")
}

pub(super) fn family_ends() -> String {
    "</section>\n".to_owned()
}

/// One request more.
pub(super) fn tick() -> String {
    html! { span.tick aria-hidden="true" {} }.into_string()
}

/// Something is wrong.
pub(super) fn finding(finding: &Finding, state: &State) -> String {
    let check = table::check(&finding.check);
    let severity = finding.severity;
    let line = finding.line.map(|line| with(W.run_line, &[&line.to_string()]));
    html! {
        article.finding {
            h3 {
                (badge(severity)) " "
                a href={ "checks/" (finding.check) } { (finding.check) } " "
                @if let Some(check) = check { (check.holds) }
            }
            dl.head {
                @for asked in finding.asked.iter().take(2) {
                    div { dt { (W.run_asked) } dd { code { (asked.method) " " (request(asked, state)) } } }
                }
                div { dt { (W.run_came) } dd { (cut(&finding.came)) @if let Some(line) = line { " (" (line) ")" } } }
                @if let Some(check) = check { div { dt { (W.run_mend) } dd { (check.mend) } } }
            }
        }
    }
    .into_string()
}

fn badge(severity: Severity) -> Markup {
    html! { span class={ "badge " (severity) } title=(severity.meaning()) { (severity) } }
}

/// The request, as a link to its answer if the explorer can ask exactly the same.
fn request(asked: &Asked, state: &State) -> Markup {
    let query = asked.url.split_once('?').map_or("", |(_, query)| query);
    let mut same = State::parse(query.as_bytes());
    let decoded = |text: &str| {
        percent_decode_str(&text.replace('+', " "))
            .decode_utf8_lossy()
            .into_owned()
    };
    let is_same = asked.method == "GET" && !query.is_empty() && decoded(&same.query()) == decoded(query);
    same.place.clone_from(&state.place);
    html! {
        @if query.is_empty() { (W.run_no_arguments) }
        @else if is_same { a href=(same.href()) { (short(query)) } }
        @else { (short(query)) }
    }
}

/// What came of it.
pub(super) fn summary(report: &Report) -> Markup {
    let count = |status| report.count(status).to_string();
    let seconds = format!("{:.0}", report.took.as_secs_f64());
    html! {
        section.card id="done" {
            h2 { (W.run_done) }
            @if let Some(reason) = &report.ended_early { p { (cut(&with(W.run_early, &[reason]))) } }
            @else if !report.could_test { p { (W.run_nothing) } }
            @else if report.is_clean() { p.clean { (W.run_clean) } }
            p.ways {
                @for severity in Severity::ALL {
                    @if report.broken(severity) > 0 { (badge(severity)) " " (report.broken(severity)) " " }
                }
            }
            p {
                (with(W.run_counts, &[
                    &count(Status::Holds), &count(Status::Broken), &count(Status::NotApplicable), &count(Status::NotMade),
                ]))
                " " (with(W.run_requests, &[&report.requests.to_string(), &seconds]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, url: &str) -> String {
        let asked = Asked {
            method: method.to_owned(),
            url: url.to_owned(),
            curl: String::new(),
            came: String::new(),
            file: None,
        };
        request(&asked, &State::parse(b"repository=main")).into_string()
    }

    #[test]
    fn only_requests_that_the_explorer_can_make_are_links() {
        let link = asked("GET", "http://127.0.0.1:1/oai?verb=GetRecord&identifier=a%3Ab");
        assert!(
            link.contains("href=\"explore?repository=main&amp;verb=GetRecord&amp;identifier=a%3Ab\""),
            "{link}"
        );
        for (method, url) in [
            ("POST", "http://x/oai?verb=Identify"),
            ("GET", "http://x/oai?verb=Identify&verb=ListSets"),
            ("GET", "http://x/oai?verb=Identify&foo=1"),
            ("GET", "http://x/oai"),
        ] {
            assert!(!asked(method, url).contains("<a"), "{method} {url}");
        }
    }
}
