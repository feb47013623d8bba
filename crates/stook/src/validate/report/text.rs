//! A report for people, in a terminal or a mail: the worst first, the summary last, where a terminal shows it.

use std::borrow::Cow;

use super::{Finding, Report, Status};
use crate::validate::table::{self, Check, Severity};

/// Columns of a line, unless a single word is longer.
const WIDTH: usize = 100;

/// The report as text.
#[must_use]
pub fn to_text(report: &Report) -> String {
    Writer::new(false).report(report)
}

/// The report as text for a terminal that has colours.
#[must_use]
pub fn to_coloured_text(report: &Report) -> String {
    Writer::new(true).report(report)
}

struct Writer {
    text: String,
    colours: bool,
}

impl Writer {
    fn new(colours: bool) -> Writer {
        let text = String::new();
        Writer { text, colours }
    }

    fn report(mut self, report: &Report) -> String {
        for severity in Severity::ALL {
            let broken = report.broken_checks(severity);
            if broken.is_empty() {
                continue;
            }
            let name = self.painted(&severity.as_str().to_uppercase(), colour_of(severity));
            self.text.push_str(&format!("{name}: {}\n\n", severity.meaning()));
            for (check, findings) in broken {
                self.check(report, check, &findings);
            }
        }
        self.summary(report);
        self.text
    }

    /// A check, everything it found, and how to mend it.
    fn check(&mut self, report: &Report, check: &Check, findings: &[&Finding]) {
        let id = self.painted(&format!("{:<6}", check.id), BOLD);
        self.wrapped(&format!("  {id}"), 8, &check.holds);
        let mut before = None;
        for finding in findings {
            // Several findings of one answer need not say each time what was asked.
            let asked = Some(&finding.asked);
            for asked in finding.asked.iter().filter(|_| before != asked) {
                self.wrapped(&format!("    asked  {} ", asked.method), 11, &asked.url);
            }
            let line = match (finding.line, finding.asked.is_empty()) {
                (None, _) => String::new(),
                (Some(line), true) => format!(" (line {line})"),
                (Some(line), false) => format!(" (line {line} of the answer)"),
            };
            self.wrapped("    came   ", 11, &format!("{}{line}", finding.came));
            if let Some(file) = report.evidence_of(finding).filter(|_| before != asked) {
                self.wrapped("    see    ", 11, &file.display().to_string());
            }
            before = asked;
        }
        let more = report.untold(check);
        if more > 0 {
            self.wrapped("    more   ", 11, &format!("{more} more like this"));
        }
        self.wrapped("    says   ", 11, &table::spelled_out(&check.section));
        self.wrapped("    mend   ", 11, check.mend.trim());
        self.text.push('\n');
    }

    fn summary(&mut self, report: &Report) {
        let name = report.repository_name.as_deref().unwrap_or_default();
        let heading = match name {
            "" => report.subject.clone(),
            name => format!("{} ({name})", report.subject),
        };
        self.wrapped("", 0, &heading);
        let counts = format!(
            "Checks: {} held, {} broken, {} worth knowing, {} did not apply, {} not made; {} requests in {:.1} s.",
            report.count(Status::Holds),
            report.serious(),
            report.broken(Severity::Info),
            report.count(Status::NotApplicable),
            report.count(Status::NotMade),
            report.requests,
            report.took.as_secs_f64()
        );
        self.wrapped("", 0, &counts);
        if let Some(reason) = &report.ended_early {
            self.wrapped("", 0, &format!("The run ended early: {reason}."));
        }
        if let Some(folder) = &report.evidence {
            self.wrapped("", 0, &format!("Requests and answers are in {}.", folder.display()));
        }
        if let Some(failure) = &report.evidence_failure {
            self.wrapped("", 0, &format!("Not all of them could be written: {failure}."));
        }
        if let Some(changes) = &report.changes {
            let listed = |ids: &[String]| {
                if ids.is_empty() {
                    "nothing".to_owned()
                } else {
                    ids.join(", ")
                }
            };
            let (mended, new) = (listed(&changes.mended), listed(&changes.new));
            self.wrapped(
                "",
                0,
                &format!("Since {}: mended {mended}; newly broken {new}.", changes.since),
            );
        }
        let colour = match (report.could_test, report.is_clean()) {
            (true, true) => GREEN,
            _ => colour_of(Severity::Error),
        };
        let verdict = self.painted(&report.verdict(), colour);
        self.text.push_str(&format!("{verdict}\n"));
    }

    fn painted(&self, text: &str, colour: &str) -> String {
        match self.colours {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    /// A text behind a label, its further lines indented.
    fn wrapped(&mut self, label: &str, indent: usize, text: &str) {
        self.text.push_str(label);
        let mut column = indent;
        let text = printable(text);
        for (at, word) in text.split(' ').filter(|word| !word.is_empty()).enumerate() {
            let width = word.chars().count();
            if at > 0 && column + 1 + width > WIDTH {
                self.text.push('\n');
                self.text.push_str(&" ".repeat(indent));
                column = indent;
            } else if at > 0 {
                self.text.push(' ');
                column += 1;
            }
            self.text.push_str(word);
            column += width;
        }
        self.text.push('\n');
    }
}

const BOLD: &str = "1";
const GREEN: &str = "32";

fn colour_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Fatal => "1;31",
        Severity::Error => "31",
        Severity::Warn => "33",
        Severity::Rec => "36",
        Severity::Info => "2",
    }
}

/// What a repository sent, as something that cannot command a terminal or turn a line around.
fn printable(text: &str) -> Cow<'_, str> {
    let is_bad = |sign: char| {
        sign.is_control() || matches!(sign, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
    };
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let safe = text.chars().map(|sign| match sign {
        '\n' | '\r' | '\t' => ' ',
        sign if is_bad(sign) => char::REPLACEMENT_CHARACTER,
        sign => sign,
    });
    Cow::Owned(safe.collect())
}
