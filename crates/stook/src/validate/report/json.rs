//! A report for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Changes, Finding, Report, SeenIdentifier, Status};
use crate::validate::table::{self, Severity};

/// The shape of the file: fields are added, never renamed.
#[derive(Serialize)]
struct Json<'a> {
    stook: &'static str,
    subject: &'a str,
    repository_name: Option<&'a str>,
    began: &'a str,
    seconds: f64,
    requests: u32,
    clean: bool,
    could_test: bool,
    ended_early: Option<&'a str>,
    /// Checks that found something this bad and nothing worse.
    broken: BTreeMap<&'static str, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'a Changes>,
    checks: Vec<JsonCheck<'a>>,
    seen: &'a [SeenIdentifier],
}

#[derive(Serialize)]
struct JsonCheck<'a> {
    id: &'a str,
    severity: Severity,
    holds: &'a str,
    section: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "<[Finding]>::is_empty")]
    findings: &'a [Finding],
    #[serde(skip_serializing_if = "is_zero")]
    more_findings: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    mend: &'a str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The report as JSON.
#[must_use]
pub fn to_json(report: &Report) -> String {
    let checks = table::all().map(|check| {
        let outcome = report.outcomes.get(check.id.as_str());
        let status = report.status(check);
        JsonCheck {
            id: &check.id,
            severity: check.severity,
            holds: &check.holds,
            section: &check.section,
            status,
            reason: outcome
                .filter(|_| status == Status::NotApplicable)
                .and_then(|outcome| outcome.not_applicable.as_deref()),
            findings: outcome.map_or(&[], |outcome| &outcome.findings),
            more_findings: outcome.map_or(0, |outcome| outcome.more),
            mend: if status == Status::Broken { &check.mend } else { "" },
        }
    });
    let json = Json {
        stook: env!("CARGO_PKG_VERSION"),
        subject: &report.subject,
        repository_name: report.repository_name.as_deref(),
        began: &report.began,
        seconds: report.took.as_secs_f64(),
        requests: report.requests,
        clean: report.is_clean(),
        could_test: report.could_test,
        ended_early: report.ended_early.as_deref(),
        broken: Severity::ALL
            .into_iter()
            .map(|severity| (severity.as_str(), report.broken(severity)))
            .collect(),
        evidence: report.evidence.as_ref().map(|folder| folder.display().to_string()),
        changes: report.changes.as_ref(),
        checks: checks.collect(),
        seen: &report.seen,
    };
    let mut text = serde_json::to_string_pretty(&json).unwrap_or_default();
    text.push('\n');
    text
}
