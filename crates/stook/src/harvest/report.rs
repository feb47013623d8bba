//! What happened during a harvest, for people and for the next harvest.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use stook_store::Outcome;

use crate::count::{counted, grouped};

/// Findings beyond this many of one kind are only counted.
const EXAMPLES: usize = 3;

/// The account of one harvest of one source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// When it began and ended, in seconds since 1970.
    pub began: i64,
    /// When it ended; none while it runs, or if it was killed.
    pub ended: Option<i64>,
    /// Whether the source has answered anything at all.
    pub answered: bool,
    /// Requests sent, the repeated ones included.
    pub requests: u64,
    /// Requests that had to be repeated.
    pub retries: u64,
    /// Pages received.
    pub pages: u64,
    /// Bytes received, unpacked.
    pub bytes: u64,
    /// Records received, repetitions included.
    pub received: u64,
    /// Of those: not there before.
    pub new: u64,
    /// Of those: changed.
    pub changed: u64,
    /// Of those: newly deleted.
    pub deleted: u64,
    /// Of those: as they were.
    pub unchanged: u64,
    /// Records that could not be saved.
    pub quarantined: u64,
    /// Records of the source that are in quarantine, from earlier harvests too.
    pub in_quarantine: u64,
    /// How many records the source said there would be, in lists that were completed.
    pub advertised: Option<u64>,
    /// How many came in those lists, in earlier harvests too.
    pub of_advertised: u64,
    /// Identifiers compared with the source's own list of them.
    pub verified: u64,
    /// What the source does wrong and we got over, by name.
    pub findings: BTreeMap<String, Finding>,
    /// Why it did not come to its end.
    pub stopped: Option<String>,
    /// Whether everything the source has was received.
    pub complete: bool,
    /// What is being waited for, while it runs.
    #[serde(skip)]
    pub waiting: Option<String>,
}

/// One thing that happened, however often.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How often.
    pub count: u64,
    /// What exactly, the first few times.
    pub examples: Vec<String>,
}

impl Report {
    /// Counts a finding.
    pub fn find(&mut self, name: &str, example: impl Into<String>) {
        self.count(name, 1, example);
    }

    /// Counts a finding several times.
    pub fn count(&mut self, name: &str, times: u64, example: impl Into<String>) {
        if times == 0 {
            return;
        }
        let finding = self.findings.entry(name.to_owned()).or_default();
        finding.count += times;
        let example = example.into();
        if !example.is_empty() && finding.examples.len() < EXAMPLES && !finding.examples.contains(&example) {
            finding.examples.push(example);
        }
    }

    /// Counts what became of records.
    pub fn outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::New => self.new += 1,
            Outcome::Changed => self.changed += 1,
            Outcome::Deleted => self.deleted += 1,
            Outcome::Unchanged | Outcome::Repeated { .. } | Outcome::NothingToRestore => self.unchanged += 1,
        }
    }

    /// Whether nothing that the source has is missing here.
    pub fn is_exact(&self) -> bool {
        self.complete && self.quarantined == 0 && self.in_quarantine == 0
    }

    /// How often something was found.
    pub fn found(&self, name: &str) -> u64 {
        self.findings.get(name).map_or(0, |finding| finding.count)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut figures = vec![
            (self.new, "new"),
            (self.changed, "changed"),
            (self.deleted, "deleted"),
            (self.unchanged, "unchanged"),
            (self.quarantined, "quarantined"),
        ];
        let told: u64 = figures.iter().map(|(count, _)| count).sum();
        figures.push((self.received.saturating_sub(told), "repeated"));
        let figures: Vec<String> = figures
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", grouped(*count)))
            .collect();
        write!(formatter, "{} received", counted(self.received, "record"))?;
        if !figures.is_empty() {
            write!(formatter, ": {}", figures.join(", "))?;
        }
        writeln!(formatter)?;
        write!(formatter, "{}", counted(self.requests, "request"))?;
        if self.retries > 0 {
            write!(formatter, ", {} of them repeated", grouped(self.retries))?;
        }
        writeln!(formatter, ", {}", counted(self.bytes, "byte"))?;
        if let Some(advertised) = self.advertised {
            let verdict = match self.of_advertised.cmp(&advertised) {
                Ordering::Equal => "all of them came".to_owned(),
                Ordering::Greater => format!("{} more came", grouped(self.of_advertised - advertised)),
                Ordering::Less => format!("{} fewer came", grouped(advertised - self.of_advertised)),
            };
            writeln!(formatter, "{} advertised: {verdict}", counted(advertised, "record"))?;
        }
        if self.verified > 0 {
            writeln!(
                formatter,
                "{} compared with the source's",
                counted(self.verified, "identifier")
            )?;
        }
        if !self.findings.is_empty() {
            writeln!(formatter, "What the source did:")?;
        }
        for (name, finding) in &self.findings {
            write!(formatter, "  {name}")?;
            if finding.count > 1 {
                write!(formatter, " ({} times)", grouped(finding.count))?;
            }
            if let Some(example) = finding.examples.first() {
                write!(formatter, ": {example}")?;
            }
            writeln!(formatter)?;
        }
        match (&self.stopped, self.complete) {
            (Some(reason), _) => writeln!(formatter, "Not complete: {reason}"),
            (None, true) if self.in_quarantine > 0 => writeln!(
                formatter,
                "Complete, but for {} in quarantine.",
                counted(self.in_quarantine, "record")
            ),
            (None, true) => writeln!(formatter, "Complete."),
            (None, false) => writeln!(
                formatter,
                "Not complete: some windows could not be had; they are tried again next time."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_counted_with_a_few_examples() {
        let mut report = Report::default();
        for page in 0..9 {
            report.find("retry-after", format!("page {page}"));
        }
        assert_eq!(report.found("retry-after"), 9);
        assert_eq!(report.findings["retry-after"].examples.len(), EXAMPLES);
        assert!(report.to_string().contains("retry-after (9 times): page 0"));
    }

    #[test]
    fn a_report_survives_being_kept() {
        let mut report = Report {
            received: 5,
            advertised: Some(7),
            ..Report::default()
        };
        report.find("control-characters", "");
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
    }
}
