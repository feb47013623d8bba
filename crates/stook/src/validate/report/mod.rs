//! What a run found, for people and for machines.

mod earlier;
mod html;
mod json;
mod junit;
mod seen;
mod text;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use super::evidence::Asked;
use super::table::{self, Check, Severity, When};

pub use earlier::{Changes, Earlier};
pub use html::to_html;
pub use json::to_json;
pub use junit::to_junit;
pub(crate) use seen::seen_in;
pub use seen::{MOST_SEEN, SeenIdentifier};
pub use text::{to_coloured_text, to_text};

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
    /// What changed since an earlier run, if there is one to compare with.
    pub changes: Option<Changes>,
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

    /// How many checks found something worth mending.
    fn serious(&self) -> usize {
        self.count(Status::Broken).saturating_sub(self.broken(Severity::Info))
    }

    /// What was found of this severity, check by check in their order.
    fn broken_checks(&self, severity: Severity) -> Vec<(&'static Check, Vec<&Finding>)> {
        let checks = table::all().filter_map(|check| {
            let findings = &self.outcomes.get(check.id.as_str())?.findings;
            let of_it: Vec<&Finding> = findings.iter().filter(|finding| finding.severity == severity).collect();
            (!of_it.is_empty()).then_some((check, of_it))
        });
        checks.collect()
    }

    /// How many findings of a check are not told.
    fn untold(&self, check: &Check) -> u64 {
        self.outcomes.get(check.id.as_str()).map_or(0, |outcome| outcome.more)
    }

    /// Where the request and the answer of a finding were written.
    fn evidence_of(&self, finding: &Finding) -> Option<PathBuf> {
        // Of two requests that are compared, the second is the one that went wrong.
        let file = finding.asked.last()?.file.as_ref()?;
        Some(self.evidence.as_ref()?.join(file))
    }

    /// Why a check was not made.
    fn why_not_made(&self, check: &Check) -> String {
        match check.when {
            When::Never => "it takes more than asking; its page says what".to_owned(),
            When::Deep | When::Hostile | When::OpenAire | When::Dini => {
                format!("it is made with {}", check.when.option().unwrap_or_default())
            }
            When::Static => "it is about the file of a static repository".to_owned(),
            When::Always if self.ended_early.is_some() => "the run ended before".to_owned(),
            When::Always => "it was not asked for".to_owned(),
        }
    }

    /// What was found in a sentence.
    fn verdict(&self) -> String {
        let counts: Vec<String> = Severity::ALL
            .into_iter()
            .filter(|severity| *severity > Severity::Info && self.broken(*severity) > 0)
            .map(|severity| format!("{} {severity}", self.broken(severity)))
            .collect();
        match (self.could_test, counts.is_empty()) {
            (false, _) => "It could not be tested.".to_owned(),
            (true, false) => format!("Broken: {}.", counts.join(", ")),
            (true, true) if self.ended_early.is_some() => "Nothing is wrong so far.".to_owned(),
            (true, true) => "Nothing is wrong.".to_owned(),
        }
    }

    /// Whether nothing worth mending was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let is_serious = |finding: &&Finding| finding.severity > Severity::Info;
        !self.findings().iter().any(is_serious) && self.ended_early.is_none()
    }
}
