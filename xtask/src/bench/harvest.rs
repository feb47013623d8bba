//! `cargo xtask bench harvest`: one fast endpoint, many harvesters, a table.
//!
//! The endpoint is a process of its own, and so is each harvester: what is
//! counted is the processor time of the harvester alone.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail};

use super::harvesters::{BARE, HARVESTERS, Harvester, Job, SICKLE, build_crate};
use super::process::{Taken, measure};
use super::report::{Report, Row, STOOK, Wanted};
use crate::http::Client;
use crate::install;
use crate::number;
use crate::server::Server;
use crate::workspace::{Scratch, free_port, release_binary};

/// What the command line asked for.
pub(super) struct Options {
    records: u64,
    /// The slow harvesters get a tenth of what they would.
    quick: bool,
    large_answer_bytes: u64,
}

impl Options {
    /// # Errors
    /// When an argument is unknown or has no value.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            records: 1_000_000,
            quick: false,
            large_answer_bytes: 1_000_000_000,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--records" => options.records = number(argument, rest.next())?,
                "--quick" => options.quick = true,
                other => bail!("bench harvest does not take `{other}`. Try: cargo xtask --help"),
            }
        }
        if options.quick {
            options.records = options.records.min(50_000);
        }
        if options.records < 10_000 {
            bail!(
                "--records {}: at least 10,000, so that starting does not count",
                options.records
            );
        }
        Ok(options)
    }

    fn records_for(&self, harvester: &Harvester) -> u64 {
        let most = harvester.most_records / if self.quick { 10 } else { 1 };
        self.records.min(most)
    }
}

/// The columns.
const PROGRAMS: [&str; 7] = [
    STOOK,
    BARE,
    "crate oai-pmh",
    SICKLE,
    "oaipmh-scythe",
    "oai-harvest",
    "metha",
];
/// Those whose figures a target depends on take turns, and the median counts:
/// what else the machine does makes processor time dearer, too.
const DECIDING: [&str; 3] = [STOOK, BARE, SICKLE];
const ROUNDS: usize = 3;
const PAGE_SIZES: [u64; 2] = [100, 1_000];
const MEGABYTE: f64 = 1e6;
const MOST_MEGABYTES: f64 = 150.0;

/// The whole measurement, in the order of the table.
///
/// # Errors
/// When something cannot be measured.
pub(super) fn run(options: &Options) -> Result<()> {
    install::for_harvest_bench()?;
    build_crate()?;
    let binary = release_binary()?;
    let scratch = Scratch::new("bench-harvest")?;
    let mut report = Report {
        title: format!("Harvest of {} records", options.records),
        programs: &PROGRAMS,
        notes: notes(),
        rows: Vec::new(),
    };
    for page_size in PAGE_SIZES {
        measure_pages(page_size, options, &binary, scratch.path(), &mut report)?;
    }
    measure_large_answer(options, &binary, scratch.path(), &mut report)?;
    report.publish("harvest")
}

fn notes() -> Vec<String> {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let mut notes = vec![
        format!("{cores} cores, shared by endpoint and harvester; compare ratios, not times of different machines."),
        "The endpoint makes up records of about 800 bytes of oai_dc; all harvesters ask the same one, over loopback."
            .to_owned(),
        format!(
            "CPU is user and system time of the harvester alone. The slow harvest fewer records: rates compare. {} \
             were measured in up to {ROUNDS} rounds, taking turns; the median counts.",
            DECIDING.join(", ")
        ),
        "Stook harvests into its durable, indexed store; bare parsing downloads and reads every XML event with its \
         namespace, and drops it; oai-harvest writes a file for each record, the others one file. Sickle and \
         oaipmh-scythe write the record, the crate its metadata."
            .to_owned(),
        "The crate oai-pmh fails at the empty token of the last page and loses that page.".to_owned(),
    ];
    for harvester in HARVESTERS.iter().filter(|harvester| !harvester.is_there()) {
        notes.push(format!("{} is not on the PATH and was not measured.", harvester.name));
    }
    notes
}

/// A harvester and what its harvest took.
struct Figures {
    name: &'static str,
    records: u64,
    taken: Taken,
}

impl Figures {
    fn records_per_cpu_second(&self) -> f64 {
        self.records as f64 / self.taken.processor.as_secs_f64().max(0.01)
    }

    fn cpu_per_100_000(&self) -> f64 {
        self.taken.processor.as_secs_f64() * 1e5 / self.records as f64
    }

    fn records_per_second(&self) -> f64 {
        self.records as f64 / self.taken.time.as_secs_f64()
    }

    fn megabytes(&self) -> f64 {
        self.taken.peak_memory as f64 / MEGABYTE
    }
}

/// The round of which the processor time is the middle one.
fn median(mut rounds: Vec<Figures>) -> Option<Figures> {
    rounds.sort_unstable_by_key(|figures| figures.taken.processor);
    let middle = rounds.len() / 2;
    rounds.into_iter().nth(middle)
}

fn measure_pages(page_size: u64, options: &Options, binary: &Path, scratch: &Path, report: &mut Report) -> Result<()> {
    let mut measured: Vec<Vec<Figures>> = Vec::new();
    for round in 0..ROUNDS {
        let harvesters = HARVESTERS.iter().filter(|harvester| harvester.is_there());
        for (at, harvester) in harvesters.enumerate() {
            if round > 0 && (options.quick || !DECIDING.contains(&harvester.name)) {
                continue;
            }
            let records = options.records_for(harvester);
            println!("{}: {records} records in pages of {page_size}", harvester.name);
            let endpoint = start_endpoint(records, page_size, scratch)?;
            let figures = harvest(harvester, records, &endpoint, binary, scratch)?;
            match measured.get_mut(at) {
                Some(rounds) => rounds.push(figures),
                None => measured.push(vec![figures]),
            }
        }
    }
    let measured: Vec<Figures> = measured.into_iter().filter_map(median).collect();
    let row = |what: &str, unit: &'static str, figure: fn(&Figures) -> f64| {
        let row = Row::new(format!("pages of {page_size}: {what}"), unit);
        measured
            .iter()
            .fold(row, |row, figures| row.figure(figures.name, figure(figures)))
    };
    report.push(row("harvested", "records", |figures| figures.records as f64));
    report.push(
        row("per CPU second", "records", Figures::records_per_cpu_second)
            .beside(SICKLE, "of Sickle")
            .wanted(Wanted::AtLeast(5.0)),
    );
    report.push(
        row("CPU of 100,000 records", "s", Figures::cpu_per_100_000)
            .beside(BARE, "of bare parsing")
            .wanted(Wanted::AtMost(3.0)),
    );
    report.push(row("per second", "records", Figures::records_per_second));
    report.push(row("peak memory", "MB", Figures::megabytes).wanted(Wanted::AtMost(MOST_MEGABYTES)));
    Ok(())
}

/// All records in one answer.
fn measure_large_answer(options: &Options, binary: &Path, scratch: &Path, report: &mut Report) -> Result<()> {
    let records = options.large_answer_bytes / record_bytes(scratch)?;
    println!("{STOOK}: {records} records in one answer");
    let endpoint = start_endpoint(records, records, scratch)?;
    let ours = HARVESTERS.iter().find(|harvester| harvester.name == STOOK);
    let figures = harvest(
        ours.context("Stook is not measured")?,
        records,
        &endpoint,
        binary,
        scratch,
    )?;
    let what = format!("one answer of {:.1} GB", options.large_answer_bytes as f64 / 1e9);
    report.push(Row::new(format!("{what}: per CPU second"), "records").figure(STOOK, figures.records_per_cpu_second()));
    report.push(
        Row::new(format!("{what}: peak memory"), "MB")
            .figure(STOOK, figures.megabytes())
            .wanted(Wanted::AtMost(MOST_MEGABYTES)),
    );
    Ok(())
}

/// How many bytes the endpoint sends for a record.
fn record_bytes(scratch: &Path) -> Result<u64> {
    let endpoint = start_endpoint(10_000, 10_000, scratch)?;
    let mut client = Client::connect(endpoint.port)?;
    let answer = client.fetch("/oai?verb=ListRecords&metadataPrefix=oai_dc", "")?;
    Ok(answer.body.len() as u64 / 10_000)
}

/// The endpoint as a process of its own: this program, asked to misbehave well.
fn start_endpoint(records: u64, page_size: u64, logs: &Path) -> Result<Server> {
    let port = free_port()?;
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command
        .args(["misbehave", "--fast", "--port", &port.to_string()])
        .args(["--records", &records.to_string(), "--page-size", &page_size.to_string()]);
    Server::start("endpoint", &mut command, port, "/oai?verb=Identify", logs)
}

fn harvest(harvester: &Harvester, records: u64, endpoint: &Server, binary: &Path, scratch: &Path) -> Result<Figures> {
    let folder = scratch.join("harvested");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let job = Job {
        binary,
        port: endpoint.port,
        folder: &folder,
    };
    let mut command = (harvester.command)(&job)?;
    let taken = measure(&mut command, &scratch.join("harvest.log"))
        .with_context(|| format!("harvesting with {}", harvester.name))?;
    let records = harvester.count(&taken.output, &folder, records)?;
    fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    println!(
        "  {records} records in {:.1} s, {:.1} s of CPU, {:.0} MB",
        taken.time.as_secs_f64(),
        taken.processor.as_secs_f64(),
        taken.peak_memory as f64 / MEGABYTE
    );
    Ok(Figures {
        name: harvester.name,
        records,
        taken,
    })
}
