//! `stook validate`: test a repository.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{Ending, progress, session::Place, stop};
use crate::validate::{self, Options, Outside, Profile, Progress, report};

/// Test a repository for everything the protocol says
#[derive(Args)]
pub(super) struct Validate {
    /// The base URL
    #[arg(value_name = "URL")]
    subject: String,
    /// Only these checks or families (such as H-1, or E)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Not these checks or families
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    skip: Vec<String>,
    /// Recommendations of a community too
    #[arg(long, value_enum)]
    profile: Vec<Profile>,
    /// Walk whole lists
    #[arg(long)]
    deep: bool,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
    /// Where to write the requests and answers that findings speak of
    #[arg(long, value_name = "FOLDER")]
    evidence: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

impl Validate {
    pub(super) fn run(self, _place: &Place) -> Result<Ending> {
        let options = Options {
            only: self.only,
            skip: self.skip,
            profiles: self.profile,
            deep: self.deep,
            evidence: self.evidence,
            ..Options::default()
        };
        let stop = stop::on_signal("Stopping; what was found so far is told.")?;
        let bar = progress::spinner("{spinner} {msg}  {elapsed}");
        let mut title = "";
        let mut tell = |progress: Progress<'_>| match progress {
            Progress::Family(family) => title = &family.title,
            Progress::Asked { requests, .. } => bar.set_message(format!("{title}: {requests} requests")),
            Progress::Walked { records } => bar.set_message(format!("Whole lists: {records} records")),
            Progress::Found(_) => {}
        };
        let outside = Outside {
            progress: &mut tell,
            stop: &stop,
        };
        let report = validate::repository(&self.subject, &options, outside)?;
        bar.finish_and_clear();
        match self.format {
            ReportFormat::Text => print!("{}", report::to_text(&report)),
            ReportFormat::Json => print!("{}", report::to_json(&report)),
        }
        Ok(if report.is_clean() {
            Ending::Fine
        } else {
            Ending::Findings
        })
    }
}
