//! `stook validate`: test a repository.

mod own;
mod subject;
mod written;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use super::{Ending, progress, session::Place, stop};
use crate::validate::report::{self, Earlier};
use crate::validate::{self, Manners, Options, Outside, Profile, Progress, Report};
use subject::Subject;
use written::{Form, Written};

/// Between requests to a repository that is not ours and not near.
const PAUSE: Duration = Duration::from_millis(200);
const GENTLE_PAUSE: Duration = Duration::from_secs(2);
/// Requests at most where hostile ones are sent too.
const MOST_WITH_HOSTILE: u32 = 1_000;

/// Test a repository for everything the protocol says
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook validate                              your own repository (stook.toml), before anything is public
  stook validate https://example.org/oai      any other, politely: about 300 requests
  stook validate records.xml                  the file of a static repository
  stook validate --gentle --contact you@example.org https://example.org/oai
  stook validate --only H,X-7 https://example.org/oai
  stook validate --profile dini --profile openaire https://example.org/oai
  stook validate --report report.html --report junit.xml https://example.org/oai
  stook validate --earlier last.json --report now.json https://example.org/oai
  STOOK_PASSWORD=secret stook validate --user harvester https://example.org/oai

Each finding says what was asked, what came, which section of the specification it breaks and how to mend it. The requests
and answers are kept in a folder. All checks are explained under /checks/ of a running `stook serve`.

Your own repository is tested on a free port of 127.0.0.1, without its access rules, with hostile requests too
(leave them out with --skip U). Do not send hostile requests to repositories of others.

Exit codes: 0 nothing is wrong (or only worth knowing), 1 something was found, 2 it could not be tested.")]
pub(super) struct Validate {
    /// The base URL, or the file of a static repository; default: the repository of stook.toml
    #[arg(value_name = "URL|FILE")]
    subject: Option<String>,
    /// Only these checks or families, such as H-1,E
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Not these checks or families
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    skip: Vec<String>,
    /// What a community asks beside the protocol; may be given several times
    #[arg(long, value_enum)]
    profile: Vec<Profile>,
    /// Walk whole lists, however long they are
    #[arg(long)]
    deep: bool,
    /// Send what an attacker would, too; for repositories of your own
    #[arg(long)]
    hostile: bool,
    /// Leave two seconds between requests
    #[arg(long, conflicts_with = "pause_milliseconds")]
    gentle: bool,
    /// Time between requests; default: 200, and none where the repository is in this network
    #[arg(long, value_name = "N")]
    pause_milliseconds: Option<u64>,
    /// Requests at most; default: 500, 1000 with --hostile, any number with --deep
    #[arg(long, value_name = "N")]
    max_requests: Option<u32>,
    /// How long one answer may take
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout_seconds: u64,
    /// Your address, for whoever runs the repository and wonders about these requests
    #[arg(long, value_name = "MAIL")]
    contact: Option<String>,
    /// Log in with this name; the password comes from STOOK_PASSWORD, or is asked for
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// A header for each request, such as "Authorization: Bearer …"; may be given several times
    #[arg(long, value_name = "NAME: VALUE")]
    header: Vec<String>,
    /// What the repository must call itself, where it is asked at another address than its own
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
    /// Write a report to a file too: .txt, .json, .html or .xml (JUnit); may be given several times
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,
    /// The folder for requests and answers that findings speak of; default: stook-evidence/HOST-TIME
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_evidence")]
    evidence: Option<PathBuf>,
    /// Keep no requests and answers
    #[arg(long)]
    no_evidence: bool,
    /// Compare with an earlier report that was written as .json
    #[arg(long, value_name = "REPORT.json")]
    earlier: Option<PathBuf>,
}

impl Validate {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        // What cannot be used is told before anybody is asked anything.
        let written: Vec<Written> = self
            .report
            .iter()
            .map(|path| Written::to(path))
            .collect::<Result<_>>()?;
        let earlier = self.earlier.as_deref().map(Earlier::read).transpose()?;
        let subject = Subject::of(self.subject.as_deref(), place)?;
        let options = self.options(&subject)?;
        options.check_names()?;
        subject.announce(&options);
        let mut report = test(&subject, &options)?;
        if let Some(earlier) = earlier {
            warn_of_another(&earlier, &report);
            report.changes = Some(earlier.compare(&report));
        }
        drop(subject);
        for written in written {
            written.write(&report)?;
        }
        print!("{}", self.format.of(&report, colours_are_wanted()));
        if !report.could_test {
            eprintln!(
                "stook: {} could not be tested\nTry: its base URL with ?verb=Identify behind it in a browser; --user if it \
                 asks for a password",
                report.subject
            );
        }
        Ok(match (report.could_test, report.is_clean()) {
            (false, _) => Ending::CouldNot,
            (true, true) => Ending::Fine,
            (true, false) => Ending::Findings,
        })
    }

    fn options(&self, subject: &Subject) -> Result<Options> {
        let is_near = subject.is_near();
        let pause = match (self.gentle, self.pause_milliseconds) {
            (true, _) => GENTLE_PAUSE,
            (false, Some(milliseconds)) => Duration::from_millis(milliseconds),
            (false, None) if is_near => Duration::ZERO,
            (false, None) => PAUSE,
        };
        let defaults = Options::default();
        let hostile = self.hostile || subject.is_own();
        let evidence = match (&self.evidence, self.no_evidence) {
            (Some(folder), _) => Some(folder.clone()),
            (None, true) => None,
            (None, false) => Some(subject.evidence_folder()),
        };
        Ok(Options {
            only: self.only.clone(),
            skip: self.skip.clone(),
            profiles: self.profile.clone(),
            deep: self.deep,
            hostile,
            manners: Manners {
                pause,
                timeout: Duration::from_secs(self.timeout_seconds),
                contact: self
                    .contact
                    .as_deref()
                    .map(subject::contact)
                    .transpose()?
                    .unwrap_or_default(),
                headers: subject::headers(self.user.as_deref(), &self.header)?,
                ..defaults.manners
            },
            most_requests: match self.max_requests {
                Some(most) => most,
                None if self.deep => u32::MAX,
                None if hostile => MOST_WITH_HOSTILE,
                None => defaults.most_requests,
            },
            evidence,
            base_url: self.base_url.clone().or_else(|| subject.base_url().map(str::to_owned)),
            earlier: self.earlier.clone(),
        })
    }
}

/// Tests, and shows how far it has come.
fn test(subject: &Subject, options: &Options) -> Result<Report> {
    let stop = stop::on_signal("Stopping; what was found so far is told.")?;
    let bar = progress::spinner("{spinner} {msg}  {elapsed}");
    let (mut title, mut asked, mut findings) = ("Getting to know it", 0, 0);
    let mut tell = |progress: Progress<'_>| {
        match progress {
            Progress::Family(family) => title = &family.title,
            Progress::Asked { requests, .. } => asked = requests,
            Progress::Walked { records } => {
                let records = crate::count::grouped(records);
                return bar.set_message(format!("Whole lists: {records} records, {findings} findings"));
            }
            Progress::Found(_) => findings += 1,
        }
        let plural = if findings == 1 { "" } else { "s" };
        bar.set_message(format!("{title}: {asked} requests, {findings} finding{plural}"));
    };
    let outside = Outside {
        progress: &mut tell,
        stop: &stop,
    };
    let report = match subject {
        Subject::File(path) => validate::file(path, options, outside),
        other => validate::repository(&other.url(), options, outside),
    };
    bar.finish_and_clear();
    report.with_context(|| format!("testing {}", subject.name()))
}

fn warn_of_another(earlier: &Earlier, report: &Report) {
    if earlier.subject() != report.subject {
        eprintln!("stook: the earlier report is about {}", earlier.subject());
    }
}

/// On a terminal, unless somebody prefers none (<https://no-color.org>).
fn colours_are_wanted() -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stdout().is_terminal() && !unwanted
}

impl Form {
    /// The report in this form.
    fn of(self, report: &Report, colours: bool) -> String {
        match self {
            Form::Text if colours => report::to_coloured_text(report),
            Form::Text => report::to_text(report),
            Form::Json => report::to_json(report),
            Form::Html => report::to_html(report),
            Form::Junit => report::to_junit(report),
        }
    }
}
