//! A report for people, in a terminal or a mail.

use std::fmt::Write;

use super::{Finding, Report, Status};
use crate::validate::table::{self, Severity};

/// The report as text.
#[must_use]
pub fn to_text(report: &Report) -> String {
    let mut text = String::new();
    for severity in Severity::ALL {
        let findings: Vec<&Finding> = report
            .findings()
            .into_iter()
            .filter(|finding| finding.severity == severity)
            .collect();
        if findings.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{}: {}\n", severity.as_str().to_uppercase(), severity.meaning());
        for finding in findings {
            write_finding(&mut text, report, finding);
        }
    }
    write_summary(&mut text, report);
    text
}

fn write_finding(text: &mut String, report: &Report, finding: &Finding) {
    let Some(check) = table::check(&finding.check) else {
        return;
    };
    let _ = writeln!(text, "  {}  {}", check.id, check.holds);
    if let Some(asked) = finding.asked.first() {
        let _ = writeln!(text, "    asked  {} {}", asked.method, asked.url);
    }
    let line = finding
        .line
        .map_or(String::new(), |line| format!(" (line {line} of the answer)"));
    let _ = writeln!(text, "    came   {}{line}", finding.came);
    let _ = writeln!(text, "    says   section {}", check.section);
    let _ = writeln!(text, "    mend   {}", check.mend.trim());
    if let (Some(folder), Some(file)) = (
        &report.evidence,
        finding.asked.first().and_then(|asked| asked.file.as_ref()),
    ) {
        let _ = writeln!(text, "    see    {}", folder.join(file).display());
    }
    let more = report.outcomes.get(check.id.as_str()).map_or(0, |outcome| outcome.more);
    let is_last = report
        .outcomes
        .get(check.id.as_str())
        .and_then(|outcome| outcome.findings.last())
        == Some(finding);
    if more > 0 && is_last {
        let _ = writeln!(text, "    and {more} more like this");
    }
    text.push('\n');
}

fn write_summary(text: &mut String, report: &Report) {
    let name = report.repository_name.as_deref().unwrap_or("no name");
    let _ = writeln!(text, "{} ({name})", report.subject);
    let _ = writeln!(
        text,
        "{} checks held, {} broken, {} did not apply, {} were not made; {} requests in {:.0} seconds.",
        report.count(Status::Holds),
        report.count(Status::Broken),
        report.count(Status::NotApplicable),
        report.count(Status::NotMade),
        report.requests,
        report.took.as_secs_f64()
    );
    let counts: Vec<String> = Severity::ALL
        .into_iter()
        .filter(|severity| report.broken(*severity) > 0)
        .map(|severity| format!("{} {severity}", report.broken(severity)))
        .collect();
    if let Some(reason) = &report.ended_early {
        let _ = writeln!(text, "The run ended early: {reason}.");
    }
    if counts.is_empty() && report.ended_early.is_none() {
        let _ = writeln!(text, "Nothing is wrong.");
    } else if !counts.is_empty() {
        let _ = writeln!(text, "Broken: {}.", counts.join(", "));
    }
}
