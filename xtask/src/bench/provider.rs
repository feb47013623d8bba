//! `cargo xtask bench provider`: from made-up records to a table of figures.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::pages::{self, Harvest, Walk};
use super::peers::{self, PEERS};
use super::report::{Report, Row, Wanted};
use super::wrk::{self, Plan};
use super::{import, nginx};
use crate::install;
use crate::number;
use crate::records;
use crate::server::{Repository, Server};
use crate::workspace::{Scratch, free_port, release_binary};

/// What the command line asked for.
pub(super) struct Options {
    records: u64,
    peer_records: u64,
    /// How long each load lasts.
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
            seconds: 8,
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
            options.seconds = 2;
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

const PAGE_SIZE: usize = 100;
const HARVEST_PAGE_SIZE: usize = 500;
/// As many different pages are asked for by a load.
const LOAD_PAGES: usize = 1_000;
/// As many pages are saved for nginx to compare whole harvests with.
const SAVED_PAGES: usize = 2_000;
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
        notes: notes(options),
        rows: Vec::new(),
    };
    let repository = repository(&binary, &folder, options, &mut report)?;

    repository.configure("[[repository]]", "page_size", &PAGE_SIZE.to_string())?;
    let server = repository.serve()?;
    println!("walking the list in pages of {PAGE_SIZE}");
    let whole = pages::walk(server.port, None, usize::MAX)?;
    measure_latency(&server, &whole, options, &mut report)?;
    let paths = whole.sample(LOAD_PAGES);
    let saved = pages::save(server.port, &paths, &scratch.path().join("files/pages100"))?;
    let nginx = nginx::start(&scratch.path().join("files"))?;
    let ours = measure_load(&server, &nginx, [&paths, &saved], options, scratch.path(), &mut report)?;
    drop(server);

    repository.configure("[[repository]]", "page_size", &HARVEST_PAGE_SIZE.to_string())?;
    let server = repository.serve()?;
    measure_harvest(&server, &nginx, scratch.path(), options, &mut report)?;
    drop((server, nginx));

    measure_peers(&repository, ours, options, scratch.path(), &mut report)?;
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
        "nginx serves the same pages as files. Loads are made by wrk over pages spread evenly over the list."
            .to_owned(),
        "Stook's limits per client address are off, because all load comes from one.".to_owned(),
        "The last page is the last one that is full. Megabytes are 1,000,000 bytes.".to_owned(),
    ]
}

fn measure_import(repository: &Repository, options: &Options, report: &mut Report) -> Result<()> {
    let import = import::measure(repository, options.records)?;
    let records = import.records as f64;
    report.push(
        Row::of_stook(
            "import from JSON lines",
            "records/s",
            records / import.time.as_secs_f64(),
        )
        .wanted(Wanted::AtLeast(40_000.0)),
    );
    report.push(
        Row::of_stook("import: peak memory", "MB", import.peak_memory as f64 / MEGABYTE).wanted(Wanted::AtMost(400.0)),
    );
    report.push(Row::of_stook(
        "import: size of a JSON line",
        "bytes",
        import.input_bytes as f64 / records,
    ));
    report.push(Row::of_stook(
        "bytes on disk per record",
        "bytes",
        import.stored_bytes as f64 / records,
    ));
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
    report.push(Row::of_stook(
        format!("page of {PAGE_SIZE}, {what}: first of {pages}"),
        "ms",
        milliseconds(first),
    ));
    if pages < 2 {
        return Ok(());
    }
    report.push(Row::of_stook(
        format!("page of {PAGE_SIZE}, {what}: middle"),
        "ms",
        milliseconds(middle),
    ));
    report.push(
        Row::of_stook(format!("page of {PAGE_SIZE}, {what}: last"), "ms", milliseconds(last))
            .ratio(last.as_secs_f64() / first.as_secs_f64(), "of the first")
            .wanted(Wanted::AtMost(1.2)),
    );
    Ok(())
}

/// Pages per second of Stook at 1, 8 and 64 connections.
type Loads = [(usize, f64); 3];

const CONNECTIONS: [usize; 3] = [1, 8, 64];

fn measure_load(
    server: &Server,
    nginx: &Server,
    [paths, saved]: [&[String]; 2],
    options: &Options,
    scratch: &Path,
    report: &mut Report,
) -> Result<Loads> {
    let mut loads = CONNECTIONS.map(|connections| (connections, 0.0));
    for (connections, ours) in &mut loads {
        let mut plan = Plan {
            port: server.port,
            paths,
            connections: *connections,
            seconds: options.seconds,
            gzip: false,
        };
        *ours = wrk::load(&plan, scratch)?.pages_per_second;
        plan = Plan {
            port: nginx.port,
            paths: saved,
            ..plan
        };
        let limit = wrk::load(&plan, scratch)?.pages_per_second;
        report.push(
            Row::of_stook(
                format!("pages of {PAGE_SIZE}, {}", counted(*connections)),
                "pages/s",
                *ours,
            )
            .figure("nginx", limit)
            .beside_nginx(),
        );
        plan.gzip = true;
        let limit = wrk::load(&plan, scratch)?.pages_per_second;
        plan = Plan {
            port: server.port,
            paths,
            ..plan
        };
        let ours = wrk::load(&plan, scratch)?.pages_per_second;
        report.push(
            Row::of_stook(
                format!("pages of {PAGE_SIZE}, {}, gzip", counted(*connections)),
                "pages/s",
                ours,
            )
            .figure("nginx", limit)
            .beside_nginx()
            .wanted(Wanted::AtLeast(3.0)),
        );
    }
    let memory = server.memory();
    report.push(
        Row::of_stook(
            "memory of the server after 64 connections, peak",
            "MB",
            memory.peak as f64 / MEGABYTE,
        )
        .wanted(Wanted::AtMost(200.0)),
    );
    report.push(Row::of_stook(
        "memory of the server after 64 connections",
        "MB",
        memory.resident as f64 / MEGABYTE,
    ));
    Ok(loads)
}

fn counted(connections: usize) -> String {
    match connections {
        1 => "1 connection".to_owned(),
        more => format!("{more} connections"),
    }
}

/// Every page once: over one connection by following the tokens, over eight by
/// sharing the pages out.
fn measure_harvest(
    server: &Server,
    nginx: &Server,
    scratch: &Path,
    options: &Options,
    report: &mut Report,
) -> Result<()> {
    println!("harvesting in pages of {HARVEST_PAGE_SIZE}");
    let walk = pages::walk(server.port, None, usize::MAX)?;
    let paths = walk.sample(SAVED_PAGES);
    let saved = pages::save(server.port, &paths, &scratch.join("files/pages500"))?;
    let records_per_second = |harvest: &Harvest| options.records as f64 / harvest.time.as_secs_f64();

    let following = walk.as_harvest();
    let one = pages::fetch_all(nginx.port, &saved, 1)?;
    report.push(Row::of_stook(
        "full harvest, 1 connection",
        "records/s",
        records_per_second(&following),
    ));
    report.push(
        Row::of_stook("full harvest, 1 connection", "MB/s", following.megabytes_per_second())
            .figure("nginx", one.megabytes_per_second())
            .beside_nginx(),
    );
    // Three rounds, taking turns, the best of each: one round lasts a second
    // or two, and whatever else the machine does must not decide.
    let mut ours = Vec::new();
    let mut limit = Vec::new();
    for _ in 0..3 {
        ours.push(pages::fetch_all(server.port, &paths, 8)?);
        limit.push(pages::fetch_all(nginx.port, &saved, 8)?);
    }
    let best = |rounds: &[Harvest]| rounds.iter().map(Harvest::megabytes_per_second).fold(0.0, f64::max);
    let pages_per_second = ours.iter().map(Harvest::pages_per_second).fold(0.0, f64::max);
    report.push(Row::of_stook(
        "full harvest, 8 connections",
        "records/s",
        pages_per_second * HARVEST_PAGE_SIZE as f64,
    ));
    report.push(
        Row::of_stook("full harvest, 8 connections", "MB/s", best(&ours))
            .figure("nginx", best(&limit))
            .beside_nginx()
            .wanted(Wanted::AtLeast(0.3)),
    );
    Ok(())
}

fn measure_peers(
    repository: &Repository,
    ours: Loads,
    options: &Options,
    scratch: &Path,
    report: &mut Report,
) -> Result<()> {
    let records = scratch.join("peers.jsonl");
    let count = peers::export(repository, options.peer_records.min(options.records), &records)?;
    let mut rows = ours.map(|(connections, pages)| {
        let records = pages * PAGE_SIZE as f64;
        Row::of_stook(
            format!("pages of {PAGE_SIZE}, {}", counted(connections)),
            "records/s",
            records,
        )
    });
    for peer in PEERS {
        println!("starting {} with {count} records", peer.name);
        let server = peer.start(&records, PAGE_SIZE, scratch)?;
        // Few pages, because the peers are slow at walking, too.
        let walk = pages::walk(server.port, None, 100)?;
        for (row, connections) in rows.iter_mut().zip(CONNECTIONS) {
            let plan = Plan {
                port: server.port,
                paths: &walk.paths,
                connections,
                seconds: options.seconds,
                gzip: false,
            };
            let pages = wrk::load(&plan, scratch)?.pages_per_second;
            row.set(peer.name, pages * PAGE_SIZE as f64);
        }
    }
    for (row, connections) in rows.into_iter().zip(CONNECTIONS) {
        let row = row.beside_peers();
        report.push(if connections == 64 {
            row.wanted(Wanted::AtLeast(12.0))
        } else {
            row
        });
    }
    Ok(())
}
