//! A report for people, as one page that can be mailed or put on a server: no script, nothing loaded from elsewhere.

use maud::{Markup, html};

use super::{Finding, Report, Status};
use crate::validate::table::{self, Check, Severity};
use crate::web::checks::{badge, framed, prose, section};

/// The report as a page.
#[must_use]
pub fn to_html(report: &Report) -> String {
    let name = report.repository_name.as_deref().filter(|name| !name.is_empty());
    let name = name.unwrap_or(&report.subject);
    let title = format!("Validation of {name}");
    let body = html! {
        main {
            h1 { "Validation of " bdi { (name) } }
            p.lead { code { (report.subject) } ", " (report.began.replace(['T', 'Z'], " ").trim()) " UTC. "
                (report.requests) " requests in " (format!("{:.1}", report.took.as_secs_f64())) " seconds." }
            p class={ "verdict " (verdict_class(report)) } { (report.verdict()) }
            (facts(report))
            (remarks(report))
            @for severity in Severity::ALL { (of_severity(report, severity)) }
            (others(report))
        }
    };
    framed(&title, &body).into_string()
}

fn verdict_class(report: &Report) -> &'static str {
    let worst = Severity::ALL.into_iter().find(|severity| report.broken(*severity) > 0);
    match (report.could_test, worst) {
        (false, _) => Severity::Fatal.as_str(),
        (true, worst) => worst.map_or("", Severity::as_str),
    }
}

fn facts(report: &Report) -> Markup {
    html! {
        dl.facts {
            div { dt { "Checks that held" } dd { (report.count(Status::Holds)) } }
            div { dt { "Broken" } dd { (report.serious()) } }
            div { dt { "Worth knowing" } dd { (report.broken(Severity::Info)) } }
            div { dt { "Did not apply" } dd { (report.count(Status::NotApplicable)) } }
            div { dt { "Not made" } dd { (report.count(Status::NotMade)) } }
        }
    }
}

fn remarks(report: &Report) -> Markup {
    html! {
        @if let Some(reason) = &report.ended_early { p { "The run ended early: " bdi { (reason) } "." } }
        @if let Some(failure) = &report.evidence_failure { p { "Not all evidence could be written: " (failure) "." } }
        @if let Some(changes) = &report.changes {
            p { "Since " (changes.since) ": mended " (listed(&changes.mended)) "; newly broken " (listed(&changes.new)) "." }
        }
    }
}

fn listed(ids: &[String]) -> String {
    match ids {
        [] => "nothing".to_owned(),
        ids => ids.join(", "),
    }
}

fn of_severity(report: &Report, severity: Severity) -> Markup {
    let broken = report.broken_checks(severity);
    html! {
        @if !broken.is_empty() {
            h2 { (badge(severity)) " " (severity.meaning()) }
            @for (check, findings) in broken { (article(report, check, &findings)) }
        }
    }
}

fn article(report: &Report, check: &Check, findings: &[&Finding]) -> Markup {
    let more = report.untold(check);
    html! {
        article.finding id=(format!("{}-{}", check.id, findings[0].severity)) {
            h3 { span.id { (check.id) } " " (prose(&check.holds)) }
            dl {
                @for finding in findings { (seen(report, finding)) }
                @if more > 0 { dt { "More" } dd { (more) " more like this." } }
                dt { "How to mend it" } dd { (prose(&check.mend)) }
                dt { "Why" } dd { (prose(&check.why)) }
                dt { "Section" } dd { (section(check)) }
            }
        }
    }
}

fn seen(report: &Report, finding: &Finding) -> Markup {
    html! {
        dt { "What came" @if let Some(line) = finding.line { ", line " (line) } }
        dd {
            bdi { (finding.came) }
            @for asked in finding.asked.iter().take(2) { pre { (asked.curl) } }
            @if let Some(file) = report.evidence_of(finding) { small { "Request and answer: " code { (file.display()) } } }
        }
    }
}

/// What was not broken, folded up.
fn others(report: &Report) -> Markup {
    let of = |status: Status| table::all().filter(move |check| report.status(check) == status);
    let reason = |check: &Check| {
        let outcome = report.outcomes.get(check.id.as_str());
        outcome
            .and_then(|outcome| outcome.not_applicable.clone())
            .unwrap_or_default()
    };
    html! {
        h2 { "All other checks" }
        details {
            summary { (report.count(Status::Holds)) " held" }
            div.scroll { table { @for check in of(Status::Holds) { tr { td.id { (check.id) } td { (prose(&check.holds)) } } } } }
        }
        details {
            summary { (report.count(Status::NotApplicable)) " did not apply" }
            div.scroll { table { @for check in of(Status::NotApplicable) {
                tr { td.id { (check.id) } td { (prose(&check.holds)) } td { bdi { (reason(check)) } } }
            } } }
        }
        details {
            summary { (report.count(Status::NotMade)) " were not made" }
            div.scroll { table { @for check in of(Status::NotMade) {
                tr { td.id { (check.id) } td { (prose(&check.holds)) } td { (report.why_not_made(check)) } }
            } } }
        }
    }
}
