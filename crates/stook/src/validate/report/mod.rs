//! What a run found, for people and for machines.

mod json;
mod seen;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use super::evidence::Asked;
use super::table::{self, Check, Severity};

pub use json::to_json;
pub(crate) use seen::seen_in;
pub use seen::{MOST_SEEN, SeenIdentifier};
pub use text::to_text;

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct Finding {
    /// The check that found it.
    pub check: String,
    /// How bad it is.
    pub severity: Severity,
    /// What came.
    pub came: String,
    /// What was asked.
    pub asked: Vec<Asked>,
    /// The numbers of those requests.
    pub exchanges: Vec<u32>,
    /// The line of the answer.
    pub line: Option<usize>,
}

/// What became of one check.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What it found.
    pub findings: Vec<Finding>,
    /// How many more of the same.
    pub more: u64,
    /// How often it held.
    pub held: u64,
    /// Why it could not be made.
    pub not_applicable: Option<String>,
}

impl Outcome {
    pub(super) fn hold(&mut self) {
        self.held += 1;
    }

    pub(super) fn not_applicable(&mut self, why: String) {
        self.not_applicable.get_or_insert(why);
    }

    /// Whether the same was found before, somewhere else.
    pub(super) fn is_told(&self, finding: &Finding) -> bool {
        let is_same = |told: &Finding| told.came == finding.came && told.severity == finding.severity;
        self.findings.iter().any(is_same)
    }

    /// What it comes to.
    #[must_use]
    pub fn status(&self) -> Status {
        match () {
            () if !self.findings.is_empty() => Status::Broken,
            () if self.held > 0 => Status::Holds,
            () => Status::NotApplicable,
        }
    }
}

/// What a check comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All is well.
    Holds,
    /// Something is wrong.
    Broken,
    /// There was nothing to look at.
    NotApplicable,
    /// It was not to be made, or the run ended before.
    NotMade,
}

/// A whole run.
#[derive(Debug)]
pub struct Report {
    /// What was tested: a base URL or a file.
    pub subject: String,
    /// The name of the repository, if it told one.
    pub repository_name: Option<String>,
    /// When the run began, as a date of the protocol.
    pub began: String,
    /// How long it took.
    pub took: Duration,
    /// Requests sent.
    pub requests: u32,
    /// Some of the records it met, for a later run to ask after.
    pub seen: Vec<SeenIdentifier>,
    /// What became of each check.
    pub outcomes: BTreeMap<&'static str, Outcome>,
    /// Why the run ended before its end, if it did.
    pub ended_early: Option<String>,
    /// Where requests and answers were written.
    pub evidence: Option<PathBuf>,
    /// Why some were not.
    pub evidence_failure: Option<String>,
    /// Whether there was a repository to test at all.
    pub could_test: bool,
}

impl Report {
    /// What became of a check.
    #[must_use]
    pub fn status(&self, check: &Check) -> Status {
        let outcome = self.outcomes.get(check.id.as_str());
        outcome.map_or(Status::NotMade, Outcome::status)
    }

    /// Everything that was found, the worst first, then in the order of the checks.
    #[must_use]
    pub fn findings(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = table::all()
            .filter_map(|check| self.outcomes.get(check.id.as_str()))
            .flat_map(|outcome| &outcome.findings)
            .collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }

    /// How many checks came to this.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        table::all().filter(|check| self.status(check) == status).count()
    }

    /// How many checks found something this bad, and nothing worse.
    #[must_use]
    pub fn broken(&self, severity: Severity) -> usize {
        let worst = |outcome: &Outcome| outcome.findings.iter().map(|finding| finding.severity).max();
        let outcomes = self.outcomes.values();
        outcomes.filter(|outcome| worst(outcome) == Some(severity)).count()
    }

    /// Whether nothing worth mending was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let is_serious = |finding: &&Finding| finding.severity > Severity::Info;
        !self.findings().iter().any(is_serious) && self.ended_early.is_none()
    }
}
