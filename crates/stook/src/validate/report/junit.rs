//! A report for build servers: JUnit's XML, one testsuite for each family, one testcase for each check.

use std::fmt::Write;

use super::{Finding, Report, Status};
use crate::validate::table::{self, Check, Family, Severity};

/// The report as JUnit XML. What is merely worth knowing is no failure.
#[must_use]
pub fn to_junit(report: &Report) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let mut all = Counts::of(report, table::all());
    let ended_early = usize::from(report.ended_early.is_some());
    all.tests += ended_early;
    all.errors = ended_early;
    let _ = writeln!(
        xml,
        "<testsuites name=\"{}\" {all} time=\"{:.3}\">",
        escaped(&report.subject),
        report.took.as_secs_f64()
    );
    if let Some(reason) = &report.ended_early {
        write_end(&mut xml, reason);
    }
    for family in table::families().iter().filter(|family| !family.checks.is_empty()) {
        write_suite(&mut xml, report, family);
    }
    xml.push_str("</testsuites>\n");
    xml
}

struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Counts {
    fn of<'c>(report: &Report, checks: impl Iterator<Item = &'c Check>) -> Counts {
        let mut counts = Counts {
            tests: 0,
            failures: 0,
            errors: 0,
            skipped: 0,
        };
        for check in checks {
            counts.tests += 1;
            counts.failures += usize::from(!failures(report, check).is_empty());
            counts.skipped += usize::from(matches!(report.status(check), Status::NotApplicable | Status::NotMade));
        }
        counts
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Counts {
            tests,
            failures,
            errors,
            skipped,
        } = self;
        write!(
            formatter,
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\""
        )
    }
}

/// A run that did not come to its end is an error, so that nobody takes what is missing for well.
fn write_end(xml: &mut String, reason: &str) {
    let _ = writeln!(
        xml,
        "  <testsuite name=\"The run\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n    \
         <testcase classname=\"stook.validate\" name=\"It came to its end\">\n      <error message=\"{}\"/>\n    \
         </testcase>\n  </testsuite>",
        escaped(reason)
    );
}

fn failures<'r>(report: &'r Report, check: &Check) -> Vec<&'r Finding> {
    let outcome = report.outcomes.get(check.id.as_str());
    let findings = outcome.into_iter().flat_map(|outcome| &outcome.findings);
    findings.filter(|finding| finding.severity > Severity::Info).collect()
}

fn write_suite(xml: &mut String, report: &Report, family: &Family) {
    let counts = Counts::of(report, family.checks.iter());
    let name = escaped(&format!("{} {}", family.letters, family.title));
    let began = report.began.trim_end_matches('Z');
    let _ = writeln!(xml, "  <testsuite name=\"{name}\" {counts} timestamp=\"{began}\">");
    for check in &family.checks {
        write_case(xml, report, check);
    }
    xml.push_str("  </testsuite>\n");
}

fn write_case(xml: &mut String, report: &Report, check: &Check) {
    let name = escaped(&format!("{}: {}", check.id, check.holds));
    let start = format!(
        "    <testcase classname=\"stook.validate.{}\" name=\"{name}\"",
        check.id
    );
    let failures = failures(report, check);
    if let Some(worst) = failures.iter().max_by_key(|finding| finding.severity) {
        let _ = writeln!(
            xml,
            "{start}>\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>",
            worst.severity,
            escaped(&worst.came),
            escaped(&in_words(report, check, &failures))
        );
        return;
    }
    let reason = match report.status(check) {
        Status::Holds | Status::Broken => {
            let _ = writeln!(xml, "{start}/>");
            return;
        }
        Status::NotApplicable => report
            .outcomes
            .get(check.id.as_str())
            .and_then(|outcome| outcome.not_applicable.clone())
            .unwrap_or_default(),
        Status::NotMade => report.why_not_made(check),
    };
    let _ = writeln!(
        xml,
        "{start}>\n      <skipped message=\"{}\"/>\n    </testcase>",
        escaped(&reason)
    );
}

fn in_words(report: &Report, check: &Check, findings: &[&Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        for asked in &finding.asked {
            let _ = writeln!(text, "asked  {}", asked.curl);
        }
        let line = finding.line.map_or(String::new(), |line| format!(" (line {line})"));
        let _ = writeln!(text, "came   {}{line}", finding.came);
        if let Some(file) = report.evidence_of(finding) {
            let _ = writeln!(text, "see    {}", file.display());
        }
    }
    let more = report.untold(check);
    if more > 0 {
        let _ = writeln!(text, "more   {more} more like this");
    }
    let _ = writeln!(
        text,
        "says   {}\nmend   {}",
        table::spelled_out(&check.section),
        check.mend.trim()
    );
    text
}

/// As text or attribute of XML, whatever a repository sent.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(sign),
            sign if sign.is_control() || matches!(sign, '\u{FFFE}' | '\u{FFFF}') => {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            sign => out.push(sign),
        }
    }
    out
}
