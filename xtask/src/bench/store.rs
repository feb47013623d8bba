//! `cargo xtask bench store`: the two kinds of store side by side, from made-up
//! records to a table of figures.
//!
//! Each is filled, read, filled again and updated by the same release binary
//! before the other's turn comes, so that neither meets the other's load.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::pages::{self, Walk};
use super::process::{Taken, measure};
use super::report::{Report, Row, Wanted};
use crate::http::Client;
use crate::number;
use crate::records;
use crate::server::{Repository, memory_of, processor_time_of};
use crate::workspace::{Scratch, free_port, output, release_binary};

/// What the command line asked for.
pub(super) struct Options {
    records: u64,
    /// How often a page is fetched for a median.
    repeats: usize,
}

impl Options {
    /// # Errors
    /// When an argument is unknown or has no value.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            records: 1_000_000,
            repeats: 300,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.as_str() {
                "--records" => options.records = number(argument, rest.next())?,
                "--quick" => {
                    options.records = 50_000;
                    options.repeats = 100;
                }
                other => bail!("bench store does not take `{other}`. Try: cargo xtask --help"),
            }
        }
        if options.records < 20_000 {
            bail!(
                "--records {}: at least 20,000, so that every set has pages",
                options.records
            );
        }
        Ok(options)
    }
}

const FILE: &str = "file";
const POSTGRESQL: &str = "PostgreSQL";
/// The columns.
const STORES: [&str; 2] = [FILE, POSTGRESQL];
const PAGE_SIZE: usize = 100;
/// Of so many records one is changed.
const CHANGED_STEP: usize = 10;
const MEGABYTE: f64 = 1e6;

/// Lists whose pages are measured; the rare set has few pages, far apart.
const LISTS: [(&str, Option<&str>); 3] = [
    ("whole repository", None),
    ("big set", Some(records::BIG_SET)),
    ("rare set (1 in 2,500)", Some(records::RARE_SET)),
];

/// The whole measurement.
///
/// # Errors
/// When something cannot be measured.
pub(super) fn run(options: &Options) -> Result<()> {
    let binary = release_binary()?;
    let scratch = Scratch::new("bench-store")?;
    let input = Input::write(scratch.path(), options.records)?;
    let file = Subject::new(&binary, &scratch.path().join(FILE), None)?;
    let file = file.measure(&input, options)?;
    let server = testserver::Server::start_durable().context("PostgreSQL cannot be started")?;
    let postgresql = Subject::new(&binary, &scratch.path().join(POSTGRESQL), Some(&server))?;
    let postgresql = postgresql.measure(&input, options)?;
    report(options, &[file, postgresql]).publish("store")
}

/// What is imported.
struct Input {
    all: PathBuf,
    changed: PathBuf,
}

impl Input {
    fn write(folder: &Path, records: u64) -> Result<Input> {
        println!("generating {records} records");
        let input = Input {
            all: folder.join("all.jsonl"),
            changed: folder.join("changed.jsonl"),
        };
        write(&input.all, |out| records::write(out, 0, records))?;
        write(&input.changed, |out| records::write_changed(out, records, CHANGED_STEP))?;
        Ok(input)
    }
}

fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).context("making the input")?);
    fill(&mut out).and_then(|()| out.flush()).context("writing the input")
}

/// A store that is measured.
struct Subject<'a> {
    repository: Repository,
    /// None: it is a file.
    server: Option<&'a testserver::Server>,
}

/// What was measured of one store.
struct Figures {
    load: Import,
    stored_bytes: u64,
    /// Of each of [`LISTS`], how many pages it has and the times of the first, the middle and the last.
    pages: Vec<(usize, [Duration; 3])>,
    /// First pages from a date, and between two.
    counted: [Duration; 2],
    serving_memory: u64,
    unchanged: Import,
    update: Import,
    stored_bytes_after: u64,
}

/// What an import took.
struct Import {
    taken: Taken,
    /// Of the database's processes.
    server_processor: Duration,
    server_memory: u64,
}

impl<'a> Subject<'a> {
    fn new(binary: &Path, folder: &Path, server: Option<&'a testserver::Server>) -> Result<Subject<'a>> {
        let repository = Repository::init(binary, folder, free_port()?)?;
        if let Some(server) = server {
            repository.keep_in(&server.url())?;
        }
        repository.configure("[[repository]]", "page_size", &PAGE_SIZE.to_string())?;
        repository.configure("[server]", "client_requests_per_second", "0")?;
        Ok(Subject { repository, server })
    }

    fn measure(&self, input: &Input, options: &Options) -> Result<Figures> {
        let name = if self.server.is_some() { POSTGRESQL } else { FILE };
        println!("{name}: loading");
        let load = self.import(&input.all)?;
        let stored_bytes = self.stored_bytes()?;
        println!("{name}: reading");
        let (pages, counted, serving_memory) = self.read(options)?;
        println!("{name}: loading the same again");
        let unchanged = self.import(&input.all)?;
        println!("{name}: updating");
        let update = self.import(&input.changed)?;
        Ok(Figures {
            load,
            stored_bytes,
            pages,
            counted,
            serving_memory,
            unchanged,
            update,
            stored_bytes_after: self.stored_bytes()?,
        })
    }

    fn import(&self, file: &Path) -> Result<Import> {
        let process = self.server.and_then(testserver::Server::process);
        let log = self.repository.folder.join("import.log");
        let (over, memory) = (AtomicBool::new(false), AtomicU64::new(0));
        // The connections' processes end with the import, and their time with them: it is asked for until then.
        let processor = AtomicU64::new(0);
        let before = process.map_or(Duration::ZERO, processor_time_of);
        let taken = thread::scope(|scope| {
            scope.spawn(|| {
                for look in 0.. {
                    let Some(process) = process.filter(|_| !over.load(Relaxed)) else {
                        break;
                    };
                    // The kernel counts pages for this, of which a server has many.
                    if look % 10 == 0 {
                        memory.fetch_max(memory_of(process), Relaxed);
                    }
                    let time = processor_time_of(process).saturating_sub(before);
                    processor.fetch_max(u64::try_from(time.as_millis()).unwrap_or(0), Relaxed);
                    thread::sleep(Duration::from_millis(500));
                }
            });
            let taken = measure(self.repository.stook().arg("import").arg(file), &log);
            over.store(true, Relaxed);
            taken
        })?;
        Ok(Import {
            taken,
            server_processor: Duration::from_millis(processor.into_inner()),
            server_memory: memory.into_inner(),
        })
    }

    fn stored_bytes(&self) -> Result<u64> {
        let status = output(self.repository.stook().args(["status", "--json"]))?;
        let status: Value = serde_json::from_slice(&status).context("reading the status")?;
        status["bytes"].as_u64().context("the status has no bytes")
    }

    #[expect(clippy::type_complexity, reason = "three figures, named where they are kept")]
    fn read(&self, options: &Options) -> Result<(Vec<(usize, [Duration; 3])>, [Duration; 2], u64)> {
        let server = self.repository.serve()?;
        let mut times = Vec::new();
        let mut whole = None;
        for (_, set) in LISTS {
            let walk = pages::walk(server.port, set, usize::MAX)?;
            let median = pages::median_times(server.port, walk.first_middle_last(), options.repeats)?;
            times.push((walk.paths.len(), median));
            whole.get_or_insert(walk);
        }
        let whole = whole.context("nothing was walked")?;
        let [from, until] = dates(server.port, &whole)?;
        let first = "/oai?verb=ListRecords&metadataPrefix=oai_dc";
        let paths = [
            format!("{first}&from={from}"),
            format!("{first}&from={from}&until={until}"),
        ];
        let counted = pages::median_times(server.port, [&paths[0], &paths[1]], options.repeats)?;
        Ok((times, counted, server.peak_memory()))
    }
}

/// The datestamps of records one third and two thirds into a list.
fn dates(port: u16, walk: &Walk) -> Result<[String; 2]> {
    let mut client = Client::connect(port)?;
    let mut date = |at: usize| -> Result<String> {
        let page = client.fetch(&walk.paths[at], "")?.body;
        let page = String::from_utf8_lossy(page);
        let (_, rest) = page.split_once("<datestamp>").context("a page without a datestamp")?;
        Ok(rest.split('<').next().unwrap_or_default().to_owned())
    };
    let third = walk.paths.len() / 3;
    Ok([date(third)?, date(third * 2)?])
}

fn report(options: &Options, figures: &[Figures; 2]) -> Report {
    let mut report = Report {
        title: format!("Stores of {} records", options.records),
        programs: &STORES,
        notes: notes(),
        rows: Vec::new(),
    };
    let records = options.records as f64;
    let changed = (options.records as usize).div_ceil(CHANGED_STEP) as f64;
    let both = |row: Row, figure: &dyn Fn(&Figures) -> f64| {
        STORES
            .into_iter()
            .zip(figures)
            .fold(row, |row, (store, figures)| row.figure(store, figure(figures)))
    };
    let server_only = |row: Row, figure: &dyn Fn(&Figures) -> f64| row.figure(POSTGRESQL, figure(&figures[1]));
    let rate = |import: &Import, records: f64| records / import.taken.time.as_secs_f64();
    let each = |time: Duration| time.as_secs_f64() * 1e6 / records;
    let rows = [
        both(Row::new("load from JSON lines", "records/s"), &|it| {
            rate(&it.load, records)
        })
        .wanted_of(POSTGRESQL, Wanted::AtLeast(25_000.0)),
        both(Row::new("load: processor time of stook", "µs/record"), &|it| {
            each(it.load.taken.processor)
        }),
        server_only(Row::new("load: processor time of the server", "µs/record"), &|it| {
            each(it.load.server_processor)
        }),
        both(Row::new("load: peak memory of stook", "MB"), &|it| {
            it.load.taken.peak_memory as f64 / MEGABYTE
        })
        .wanted_of(POSTGRESQL, Wanted::AtMost(400.0)),
        server_only(Row::new("load: peak memory of the server", "MB"), &|it| {
            it.load.server_memory as f64 / MEGABYTE
        }),
        both(Row::new("size per record", "bytes"), &|it| {
            it.stored_bytes as f64 / records
        }),
    ];
    rows.into_iter().for_each(|row| report.push(row));
    page_rows(figures, &mut report);
    let rows = [
        both(Row::new("first page from a date, with its count", "ms"), &|it| {
            milliseconds(it.counted[0])
        }),
        both(Row::new("first page between two dates, with its count", "ms"), &|it| {
            milliseconds(it.counted[1])
        }),
        both(Row::new("peak memory of stook serve, 1 connection", "MB"), &|it| {
            it.serving_memory as f64 / MEGABYTE
        }),
        both(Row::new("load of the same again", "records/s"), &|it| {
            rate(&it.unchanged, records)
        }),
        both(Row::new("update of every tenth", "records/s"), &|it| {
            rate(&it.update, changed)
        }),
        both(Row::new("size per record after the update", "bytes"), &|it| {
            it.stored_bytes_after as f64 / records
        }),
    ];
    rows.into_iter().for_each(|row| report.push(row));
    report
}

fn page_rows(figures: &[Figures; 2], report: &mut Report) {
    for (at, (what, _)) in LISTS.into_iter().enumerate() {
        let pages = figures[0].pages[at].0;
        let places = [format!("first of {pages}"), "middle".to_owned(), "last".to_owned()];
        for (place, name) in places.into_iter().enumerate() {
            let row = Row::new(format!("page of {PAGE_SIZE}, {what}: {name}"), "ms");
            let row = STORES.into_iter().zip(figures).fold(row, |row, (store, figures)| {
                row.figure(store, milliseconds(figures.pages[at].1[place]))
            });
            let ratio = |figures: &Figures| {
                let [first, _, last] = figures.pages[at].1;
                last.as_secs_f64() / first.as_secs_f64()
            };
            report.push(match place {
                2 => row
                    .ratio(
                        ratio(&figures[0]).max(ratio(&figures[1])),
                        "of the first, the worse of both",
                    )
                    .wanted(Wanted::AtMost(1.2)),
                _ => row,
            });
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn notes() -> Vec<String> {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    vec![
        format!(
            "{cores} cores, shared by stook, the database server and the client, over loopback; compare ratios, not times of different machines."
        ),
        "Records of about 1.3 KB of oai_dc in five scripts, generated alike in every run.".to_owned(),
        format!(
            "PostgreSQL as it is installed, but {}; every commit is on disk before the next.",
            testserver::DURABLE.join(", ")
        ),
        "Memory of the server is that of all its processes, what they share counted once.".to_owned(),
        "The last page is the last one that is full. Megabytes are 1,000,000 bytes.".to_owned(),
    ]
}
