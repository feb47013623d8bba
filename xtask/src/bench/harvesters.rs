//! The harvesters that are measured: how each is started, how it says what it
//! got, and how many records it is asked to harvest.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::install;
use crate::server::{Repository, base_url};
use crate::workspace::{cargo, free_port, root, run, succeeds, target_dir};

/// A harvest to be made.
pub(super) struct Job<'a> {
    /// The release binary of Stook.
    pub(super) binary: &'a Path,
    /// Where the endpoint listens.
    pub(super) port: u16,
    /// An empty folder for what is harvested.
    pub(super) folder: &'a Path,
}

/// A harvester.
pub(super) struct Harvester {
    /// As in the columns of the report.
    pub(super) name: &'static str,
    /// The slow are given fewer records; rates can be compared all the same.
    pub(super) most_records: u64,
    /// Whether it must end with every record.
    pub(super) is_exact: bool,
    pub(super) command: fn(&Job) -> Result<Command>,
    /// How many records it got: by what it printed, or by what it left.
    count: fn(&str, &Path) -> Result<u64>,
}

pub(super) const BARE: &str = "bare parsing";
pub(super) const SICKLE: &str = "Sickle";
const METHA: &str = "metha";

pub(super) const HARVESTERS: &[Harvester] = &[
    Harvester {
        name: super::report::STOOK,
        most_records: u64::MAX,
        is_exact: true,
        command: |job| {
            let repository = Repository::init(job.binary, job.folder, free_port()?)?;
            let mut command = repository.stook();
            command.args(["harvest", &base_url(job.port)]);
            Ok(command)
        },
        count: |said, _| {
            let (number, rest) = said.split_once(" records received").context("no summary")?;
            if !rest.contains("Complete.") {
                bail!("the harvest is not complete:\n{said}");
            }
            let number = number.rsplit(' ').next().unwrap_or_default().replace(',', "");
            number.parse().with_context(|| format!("reading {number}"))
        },
    },
    Harvester {
        name: BARE,
        most_records: u64::MAX,
        is_exact: true,
        command: |job| {
            let mut command = Command::new(std::env::current_exe().context("finding this program")?);
            command.args(["bench", super::bare::COMMAND, &job.port.to_string()]);
            Ok(command)
        },
        count: printed,
    },
    Harvester {
        name: "crate oai-pmh",
        most_records: u64::MAX,
        // It takes the empty token of the last page for an error.
        is_exact: false,
        command: |job| {
            let mut command = Command::new(target_dir()?.join("oai-pmh-crate/release/oai-pmh-crate"));
            command.arg(base_url(job.port)).arg(job.folder.join("records.xml"));
            Ok(command)
        },
        count: printed,
    },
    Harvester {
        name: SICKLE,
        most_records: 100_000,
        is_exact: true,
        command: |job| python("sickle_harvest.py", job),
        count: printed,
    },
    Harvester {
        name: "oaipmh-scythe",
        most_records: 100_000,
        is_exact: true,
        command: |job| python("scythe_harvest.py", job),
        count: printed,
    },
    Harvester {
        name: "oai-harvest",
        most_records: 20_000,
        is_exact: true,
        command: |job| {
            let mut command = Command::new(install::OAI_HARVEST.program("oai-harvest")?);
            command
                // Its registry of providers would be written to the home folder.
                .arg("--db")
                .arg(job.folder.with_extension("db"))
                .arg("--dir")
                .arg(job.folder)
                .arg(base_url(job.port));
            Ok(command)
        },
        count: |_, folder| Ok(fs::read_dir(folder)?.count() as u64),
    },
    Harvester {
        name: METHA,
        most_records: 100_000,
        is_exact: false,
        command: |job| {
            let mut command = Command::new("metha-sync");
            command
                .env("METHA_DIR", job.folder)
                .args(["-no-intervals", &base_url(job.port)]);
            Ok(command)
        },
        // Its files are whole answers, and it ends with success only after
        // the last.
        count: |_, _| Ok(u64::MAX),
    },
];

impl Harvester {
    /// Whether it can be run here.
    pub(super) fn is_there(&self) -> bool {
        self.name != METHA || succeeds(Command::new("sh").args(["-c", "command -v metha-sync"]))
    }

    /// How many of `records` it got.
    ///
    /// # Errors
    /// When it says nothing of the kind, or has not all although it should.
    pub(super) fn count(&self, said: &str, folder: &Path, records: u64) -> Result<u64> {
        let count = (self.count)(said, folder)
            .with_context(|| format!("how many records {} got", self.name))?
            .min(records);
        if count == 0 || (self.is_exact && count != records) {
            bail!("{} got {count} of {records} records:\n{said}", self.name);
        }
        Ok(count)
    }
}

/// Builds the harvester over the crate oai-pmh, apart from everything else.
///
/// # Errors
/// When the build fails.
pub(super) fn build_crate() -> Result<()> {
    let manifest = "xtask/bench/oai_pmh_crate/Cargo.toml";
    let mut command = cargo(["build", "--quiet", "--release", "--locked", "--manifest-path", manifest])?;
    run(command.env("CARGO_TARGET_DIR", target_dir()?.join("oai-pmh-crate")))
}

fn python(script: &str, job: &Job) -> Result<Command> {
    let mut command = Command::new(install::CLIENTS.program("python")?);
    command
        .arg(root().join("xtask/bench").join(script))
        .arg(base_url(job.port))
        .arg(job.folder.join("records.xml"));
    Ok(command)
}

fn printed(said: &str, _: &Path) -> Result<u64> {
    let last = said.lines().last().unwrap_or_default();
    last.trim()
        .parse()
        .with_context(|| format!("{said}\nends with no number"))
}
