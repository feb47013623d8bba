//! `cargo xtask bench provider`: from made-up records to a table of figures.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::load::{Rounds, Subject, median};
use super::pages::{self, Harvest, Walk};
use super::report::{Report, Row, Wanted};
use super::{import, nginx};
use crate::install;
use crate::number;
use crate::peers::{self, PEERS};
use crate::records;
use crate::server::{Repository, Server};
use crate::workspace::{Scratch, free_port, release_binary};

/// What the command line asked for.
pub(super) struct Options {
    records: u64,
    peer_records: u64,
    /// How many rounds of loads are made, and how long each load lasts.
    rounds: usize,
    seconds: u64,
    /// How often a page is fetched for a median.
    repeats: usize,
    keep: Option<PathBuf>,
}

impl Options {
    /// # Errors
    /// When an argument is unknown or has no value.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            records: 1_000_000,
            peer_records: 100_000,
            rounds: 5,
            seconds: 2,
            repeats: 300,
            keep: None,
        };
        let mut rest = arguments.iter();
        let mut quick = false;
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--records" => options.records = number(argument, rest.next())?,
                "--quick" => quick = true,
                "--keep" => options.keep = Some(rest.next().context("--keep needs a folder after it")?.into()),
                other => bail!("bench provider does not take `{other}`. Try: cargo xtask --help"),
            }
        }
        if quick {
            options.records = options.records.min(50_000);
            options.peer_records = 10_000;
            options.rounds = 2;
            options.repeats = 100;
        }
        if options.records < 2_000 {
            bail!(
                "--records {}: at least 2,000, so that there are pages to compare",
                options.records
            );
        }
        Ok(options)
    }
}

/// The columns: ours, the limit, the other providers.
const PROGRAMS: [&str; 5] = ["Stook", "nginx", "oai-repo", "pyoai", "Catmandu"];
const PAGE_SIZE: usize = 100;
const HARVEST_PAGE_SIZE: usize = 500;
/// As many different pages are asked for by a load.
const LOAD_PAGES: usize = 1_000;
/// As many pages are saved for nginx to compare whole harvests with.
const SAVED_PAGES: usize = 2_000;
/// Compressing takes nginx long, so fewer pages are harvested that way.
const GZIP_PAGES: usize = 300;
const MEGABYTE: f64 = 1e6;

/// The whole measurement, in the order of the table.
///
/// # Errors
/// When something cannot be measured.
pub(super) fn run(options: &Options) -> Result<()> {
    install::for_bench()?;
    let binary = release_binary()?;
    let scratch = Scratch::new("bench")?;
    let folder = options
        .keep
        .clone()
        .unwrap_or_else(|| scratch.path().join("repository"));
    let mut report = Report {
        title: format!("Provider of {} records", options.records),
        programs: &PROGRAMS,
        notes: notes(options),
        rows: Vec::new(),
    };
    let repository = repository(&binary, &folder, options, &mut report)?;

    repository.configure("[[repository]]", "page_size", &PAGE_SIZE.to_string())?;
    let server = repository.serve()?;
    println!("walking the list in pages of {PAGE_SIZE}");
    let whole = pages::walk(server.port, None, usize::MAX)?;
    measure_latency(&server, &whole, options, &mut report)?;
    let nginx_folder = scratch.path().join("files");
    let paths = whole.sample(LOAD_PAGES);
    let saved = pages::save(server.port, &paths, &nginx_folder.join("pages100"))?;
    let mut subjects = vec![
        Subject {
            name: "Stook",
            server,
            paths,
        },
        Subject {
            name: "nginx",
            server: nginx::start(&nginx_folder)?,
            paths: saved,
        },
    ];
    subjects.extend(start_peers(&repository, options, scratch.path())?);
    measure_load(&subjects, options, scratch.path(), &mut report)?;
    // One store, one server.
    drop(subjects);

    repository.configure("[[repository]]", "page_size", &HARVEST_PAGE_SIZE.to_string())?;
    let server = repository.serve()?;
    measure_harvest(&server, &nginx_folder, options, &mut report)?;
    drop(server);
    report.publish("provider")
}

/// A repository of the records: one that was kept, or a new one.
fn repository(binary: &Path, folder: &Path, options: &Options, report: &mut Report) -> Result<Repository> {
    if folder.join("stook.toml").is_file() {
        report
            .notes
            .push("The repository was kept from another run, so no import was measured.".to_owned());
        return Repository::reopen(binary, folder, free_port()?);
    }
    let repository = Repository::init(binary, folder, free_port()?)?;
    // All load comes from one address, which is what these limits are against.
    repository.configure("[server]", "client_requests_per_second", "0")?;
    repository.configure("[server]", "client_concurrent_requests", "0")?;
    measure_import(&repository, options, report)?;
    Ok(repository)
}

fn notes(options: &Options) -> Vec<String> {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    vec![
        format!("{cores} cores, shared by server and client; compare ratios, not times of different machines."),
        format!(
            "Records of about 1.3 KB of oai_dc in five scripts, generated alike in every run; the peers hold the first {} of them in memory.",
            options.peer_records
        ),
        "nginx serves the same pages as files and compresses at level 6.".to_owned(),
        "Loads are made by wrk over pages spread evenly over the list, in rounds that take turns; the median counts."
            .to_owned(),
        "Stook's limits per client address are off, because all load comes from one.".to_owned(),
        "The last page is the last one that is full. Megabytes are 1,000,000 bytes.".to_owned(),
    ]
}

fn measure_import(repository: &Repository, options: &Options, report: &mut Report) -> Result<()> {
    let import = import::measure(repository, options.records)?;
    let records = import.records as f64;
    report.push(
        Row::new("import from JSON lines", "records/s")
            .figure("Stook", records / import.time.as_secs_f64())
            .wanted(Wanted::AtLeast(40_000.0)),
    );
    report.push(
        Row::new("import: peak memory", "MB")
            .figure("Stook", import.peak_memory as f64 / MEGABYTE)
            .wanted(Wanted::AtMost(400.0)),
    );
    report.push(Row::new("import: size of a JSON line", "bytes").figure("Stook", import.input_bytes as f64 / records));
    report.push(Row::new("bytes on disk per record", "bytes").figure("Stook", import.stored_bytes as f64 / records));
    Ok(())
}

/// First, middle and last page of the whole list and of sets of each kind.
fn measure_latency(server: &Server, whole: &Walk, options: &Options, report: &mut Report) -> Result<()> {
    latency_rows("whole repository", server, whole, options, report)?;
    let sets = [
        ("big set", records::BIG_SET),
        ("parent set", records::PARENT_SET),
        ("rare set (1 in 2,500)", records::RARE_SET),
        ("rarest set (1 in 10,000)", records::RAREST_SET),
    ];
    for (what, set) in sets {
        let walk = pages::walk(server.port, Some(set), usize::MAX)?;
        latency_rows(what, server, &walk, options, report)?;
    }
    Ok(())
}

fn latency_rows(what: &str, server: &Server, walk: &Walk, options: &Options, report: &mut Report) -> Result<()> {
    let [first, middle, last] = pages::median_times(server.port, walk.first_middle_last(), options.repeats)?;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let pages = walk.paths.len();
    report.push(
        Row::new(format!("page of {PAGE_SIZE}, {what}: first of {pages}"), "ms").figure("Stook", milliseconds(first)),
    );
    if pages < 2 {
        return Ok(());
    }
    report.push(Row::new(format!("page of {PAGE_SIZE}, {what}: middle"), "ms").figure("Stook", milliseconds(middle)));
    report.push(
        Row::new(format!("page of {PAGE_SIZE}, {what}: last"), "ms")
            .figure("Stook", milliseconds(last))
            .ratio(last.as_secs_f64() / first.as_secs_f64(), "of the first")
            .wanted(Wanted::AtMost(1.2)),
    );
    Ok(())
}

/// The other providers, loaded with the first of the same records.
fn start_peers(repository: &Repository, options: &Options, scratch: &Path) -> Result<Vec<Subject>> {
    let records = scratch.join("peers.jsonl");
    let count = peers::export(repository, options.peer_records.min(options.records), &records)?;
    let mut started = Vec::new();
    for peer in PEERS {
        println!("starting {} with {count} records", peer.name);
        let server = peer.start(&records, PAGE_SIZE, scratch)?;
        // Few pages, because the peers are slow at walking, too.
        let paths = pages::walk(server.port, None, 100)?.paths;
        started.push(Subject {
            name: peer.name,
            server,
            paths,
        });
    }
    Ok(started)
}

/// `subjects` begin with Stook and nginx.
fn measure_load(subjects: &[Subject], options: &Options, scratch: &Path, report: &mut Report) -> Result<()> {
    let rounds = Rounds {
        count: options.rounds,
        seconds: options.seconds,
        scratch,
    };
    let all: Vec<&Subject> = subjects.iter().collect();
    for connections in [1, 8, 64] {
        let what = format!("pages of {PAGE_SIZE}, {}", counted(connections));
        println!("loading: {what}");
        let plain = rounds.load(&all, connections, false)?;
        let row = plain.iter().fold(Row::new(&what, "records/s"), |row, figures| {
            row.figure(figures.name, figures.pages_per_second * PAGE_SIZE as f64)
        });
        let row = row.beside_fastest(&PROGRAMS[2..], "of the fastest peer");
        report.push(if connections == 64 {
            row.wanted(Wanted::AtLeast(12.0))
        } else {
            row
        });
        let processor = plain.iter().fold(
            Row::new(format!("{what}: processor time"), "ms/page"),
            |row, figures| row.figure(figures.name, figures.processor_ms),
        );
        report.push(processor);
        let gzip = rounds.load(&all[..2], connections, true)?;
        let row = gzip
            .iter()
            .fold(Row::new(format!("{what}, gzip"), "records/s"), |row, figures| {
                row.figure(figures.name, figures.pages_per_second * PAGE_SIZE as f64)
            });
        report.push(row.beside("nginx", "of nginx"));
    }
    let memory = subjects[0].server.peak_memory();
    report.push(
        Row::new("memory of the server under 64 connections, at most", "MB")
            .figure("Stook", memory as f64 / MEGABYTE)
            .wanted(Wanted::AtMost(200.0)),
    );
    Ok(())
}

fn counted(connections: usize) -> String {
    match connections {
        1 => "1 connection".to_owned(),
        more => format!("{more} connections"),
    }
}

/// Every page once: over one connection by following the tokens, over eight by
/// sharing the pages out.
fn measure_harvest(server: &Server, nginx_folder: &Path, options: &Options, report: &mut Report) -> Result<()> {
    println!("harvesting in pages of {HARVEST_PAGE_SIZE}");
    let walk = pages::walk(server.port, None, usize::MAX)?;
    let paths = walk.sample(SAVED_PAGES);
    let saved = pages::save(server.port, &paths, &nginx_folder.join("pages500"))?;
    let nginx = nginx::start(nginx_folder)?;

    let following = walk.as_harvest();
    let one = pages::fetch_all(nginx.port, &saved, 1, "")?;
    let rate = options.records as f64 / following.time.as_secs_f64();
    report.push(Row::new("full harvest, 1 connection", "records/s").figure("Stook", rate));
    report.push(
        Row::new("full harvest, 1 connection", "MB/s")
            .figure("Stook", following.megabytes_per_second())
            .figure("nginx", one.megabytes_per_second())
            .beside("nginx", "of nginx"),
    );

    // Whole harvests take turns, too.
    let mut plain = [const { Vec::new() }; 2];
    let mut gzip = [const { Vec::new() }; 2];
    let few = paths.len().min(GZIP_PAGES);
    for _ in 0..3 {
        for (at, (port, paths)) in [(server.port, &paths), (nginx.port, &saved)].into_iter().enumerate() {
            plain[at].push(pages::fetch_all(port, paths, 8, "")?);
            gzip[at].push(pages::fetch_all(port, &paths[..few], 8, "Accept-Encoding: gzip\r\n")?);
        }
    }
    let [ours, limit] = plain;
    let records = median_of(&ours, |harvest| harvest.pages_per_second() * HARVEST_PAGE_SIZE as f64);
    report.push(Row::new("full harvest, 8 connections", "records/s").figure("Stook", records));
    report.push(
        Row::new("full harvest, 8 connections", "MB/s")
            .figure("Stook", median_of(&ours, Harvest::megabytes_per_second))
            .figure("nginx", median_of(&limit, Harvest::megabytes_per_second))
            .beside("nginx", "of nginx")
            .wanted(Wanted::AtLeast(0.3)),
    );
    let [ours, limit] = gzip;
    report.push(
        Row::new("full harvest, 8 connections, gzip", "pages/s")
            .figure("Stook", median_of(&ours, Harvest::pages_per_second))
            .figure("nginx", median_of(&limit, Harvest::pages_per_second))
            .beside("nginx", "of nginx")
            .wanted(Wanted::AtLeast(3.0)),
    );
    let page_size = |harvest: &Harvest| harvest.bytes as f64 / harvest.pages as f64 / 1e3;
    report.push(
        Row::new("size of a page of 500, gzip", "KB")
            .figure("Stook", median_of(&ours, page_size))
            .figure("nginx", median_of(&limit, page_size)),
    );
    Ok(())
}

fn median_of(harvests: &[Harvest], figure: impl Fn(&Harvest) -> f64) -> f64 {
    median(harvests.iter().map(figure).collect())
}
