//! `cargo xtask bench refresh`: a crosswalk is edited over many records while
//! a harvester is in the middle of their list.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::process::{Taken, measure};
use super::report::{Report, Row, STOOK, Wanted, grouped};
use crate::http::{Client, resumption_token};
use crate::number;
use crate::records;
use crate::server::Repository;
use crate::workspace::{Scratch, free_port, release_binary};

/// What the command line asked for.
pub(super) struct Options {
    records: u64,
}

impl Options {
    /// # Errors
    /// When an argument is unknown or has no value.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { records: 1_000_000 };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--records" => options.records = number(argument, rest.next())?,
                other => bail!("bench refresh does not take `{other}`. Try: cargo xtask --help"),
            }
        }
        ensure!(
            options.records >= 10_000,
            "--records {}: at least 10,000",
            options.records
        );
        Ok(options)
    }
}

const PAUSE: Duration = Duration::from_millis(100);
const MEGABYTE: f64 = 1e6;
const MAPPING: &str = "map oai_dc to qdc
title       -> dc:title       with @xml:lang
creator     -> dc:creator
subject     -> dc:subject     with @xml:lang
date        -> dc:date
type        -> dc:type
identifier  -> dc:identifier
language    -> dc:language
";
/// What the edit adds, and which lines of the input it is about.
const EDIT: &str = "date        -> dc:coverage    when . like \"1600*\"\n";
const AFFECTED: &str = "\"date\":[\"1600";

/// The whole measurement.
///
/// # Errors
/// When something cannot be measured, or other records changed than should, or
/// the harvester did not end with all of them.
pub(super) fn run(options: &Options) -> Result<()> {
    let binary = release_binary()?;
    let scratch = Scratch::new("bench-refresh")?;
    let folder = scratch.path();
    let (input, mapping) = (folder.join("records.jsonl"), folder.join("house.map"));
    let affected = write_input(&input, options.records)?;
    fs::write(&mapping, MAPPING).context("writing the mapping")?;
    let repository = Repository::init(&binary, folder, free_port()?)?;
    repository.configure("[[repository]]", "page_size", "1000")?;
    repository.configure("[server]", "client_requests_per_second", "0")?;
    let log = folder.join("measured.log");
    let stook = |arguments: &[&str], files: &[&Path]| {
        println!("stook {}", arguments.join(" "));
        measure(repository.stook().args(arguments).args(files), &log)
    };
    stook(&["import"], &[&input])?;
    let crosswalk = ["qdc", "--from", "oai_dc", "--mapping"];
    let added = stook(&[&["format", "add"][..], &crosswalk].concat(), &[&mapping])?;
    fs::write(&mapping, format!("{MAPPING}{EDIT}")).context("writing the mapping")?;
    let preview = stook(&[&["format", "preview"][..], &crosswalk].concat(), &[&mapping])?;

    let server = repository.serve()?;
    // So that what was made before is of an earlier second than the harvest.
    std::thread::sleep(Duration::from_secs(2));
    let mut harvest = Harvest::begin(repository.port)?;
    while harvest.identifiers.len() < usize::try_from(options.records / 3)? {
        harvest.next_page()?;
    }
    let refreshing = std::thread::scope(|scope| -> Result<Taken> {
        let refresh = scope.spawn(|| stook(&["format", "refresh", "qdc"], &[]));
        // Slowly, so that the refresh overtakes it.
        while !refresh.is_finished() && harvest.next_page()? {
            std::thread::sleep(PAUSE);
        }
        while harvest.next_page()? {}
        refresh.join().map_err(|_| anyhow::anyhow!("the refresh panicked"))?
    })?;
    let wanted = format!("{} changed", grouped(affected));
    ensure!(
        refreshing.output.contains(&wanted),
        "expected {wanted:?}:\n{}",
        refreshing.output
    );
    // What moved past the end of the list comes with the next harvest, and nothing else does.
    let during = harvest.identifiers.len();
    let mut later = Harvest::since(repository.port, &harvest.response_date)?;
    while later.next_page()? {}
    ensure!(
        later.identifiers.len() as u64 == affected,
        "{} came later",
        later.identifiers.len()
    );
    harvest.identifiers.extend(later.identifiers);
    ensure!(
        harvest.identifiers.len() as u64 == options.records,
        "{} records were harvested",
        harvest.identifiers.len()
    );
    drop(server);
    let again = stook(&["format", "refresh", "qdc"], &[])?;
    ensure!(!again.output.contains("changed"), "{}", again.output);

    let mut report = Report {
        title: format!("A crosswalk edited over {} records", options.records),
        programs: &[STOOK],
        notes: vec![
            format!(
                "The edit is about {} records; exactly so many got new datestamps.",
                grouped(affected)
            ),
            format!(
                "A harvester that had a third of the list when the refresh began got {} records to the end of it \
                 without an error, and with its next harvest the {} that had changed, no more.",
                grouped(during as u64),
                grouped(affected)
            ),
        ],
        rows: Vec::new(),
    };
    let rate = |time: Duration| options.records as f64 / time.as_secs_f64();
    let seconds = preview.time.as_secs_f64();
    report.push(
        Row::new("preview", "s")
            .figure(STOOK, seconds)
            .wanted(Wanted::AtMost(1.0)),
    );
    report.push(Row::new("records made for the first time", "records/s").figure(STOOK, rate(added.time)));
    report.push(Row::new("refresh, beside a harvest", "records/s").figure(STOOK, rate(refreshing.time)));
    report.push(Row::new("refresh, nothing changed", "records/s").figure(STOOK, rate(again.time)));
    report.push(Row::new("refresh: peak memory", "MB").figure(STOOK, refreshing.peak_memory as f64 / MEGABYTE));
    report.publish("refresh")
}

/// Writes the records; how many of them the edit is about.
fn write_input(path: &Path, count: u64) -> Result<u64> {
    let mut out = BufWriter::new(File::create(path).context("making the input")?);
    records::write(&mut out, 0, count).context("writing the input")?;
    out.flush().context("writing the input")?;
    let mut affected = 0;
    for line in BufReader::new(File::open(path)?).lines() {
        affected += u64::from(line?.contains(AFFECTED));
    }
    Ok(affected)
}

/// A list on its way.
struct Harvest {
    client: Client,
    /// None after the last page.
    next: Option<String>,
    /// Of the first page: where the next harvest goes on from.
    response_date: String,
    identifiers: HashSet<String>,
}

impl Harvest {
    fn begin(port: u16) -> Result<Harvest> {
        Harvest::of(port, "/oai?verb=ListIdentifiers&metadataPrefix=qdc".to_owned())
    }

    fn since(port: u16, date: &str) -> Result<Harvest> {
        let path = format!("/oai?verb=ListIdentifiers&metadataPrefix=qdc&from={date}");
        Harvest::of(port, path)
    }

    fn of(port: u16, first: String) -> Result<Harvest> {
        let mut harvest = Harvest {
            client: Client::connect(port)?,
            next: Some(first),
            response_date: String::new(),
            identifiers: HashSet::new(),
        };
        harvest.next_page()?;
        Ok(harvest)
    }

    /// Fetches the next page; whether there is another.
    fn next_page(&mut self) -> Result<bool> {
        let Some(path) = self.next.take() else { return Ok(false) };
        let began = Instant::now();
        let answer = self.client.fetch(&path, "")?;
        ensure!(
            answer.status == 200,
            "{path}: {} after {:?}",
            answer.status,
            began.elapsed()
        );
        let body = std::str::from_utf8(answer.body).context("an answer is not UTF-8")?;
        ensure!(!body.contains("<error"), "{path}: {body}");
        if self.response_date.is_empty() {
            let date = between(body, "<responseDate>", "</responseDate>").next();
            self.response_date = date.context("an answer without responseDate")?.to_owned();
        }
        self.identifiers
            .extend(between(body, "<identifier>", "</identifier>").map(str::to_owned));
        let token = resumption_token(answer.body);
        self.next = token.map(|token| format!("/oai?verb=ListIdentifiers&resumptionToken={token}"));
        Ok(self.next.is_some())
    }
}

fn between<'t>(text: &'t str, start: &'t str, end: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(start)
        .skip(1)
        .filter_map(move |after| after.split(end).next())
}
