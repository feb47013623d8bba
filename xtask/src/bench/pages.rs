//! Pages of a list: found by walking it once, then fetched again in any order,
//! over any number of connections.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use crate::http::{Client, percent_encode, resumption_token};

/// No list that is measured has more pages.
const MOST_PAGES: usize = 2_000_000;

/// The paths of all pages of a list, in order, and what walking it took.
pub(super) struct Walk {
    pub(super) paths: Vec<String>,
    pub(super) bytes: u64,
    pub(super) time: Duration,
    /// How long the body of the last page is: it may hold fewer records.
    last_bytes: usize,
}

/// How a whole harvest went.
pub(super) struct Harvest {
    pub(super) pages: usize,
    pub(super) bytes: u64,
    pub(super) time: Duration,
}

impl Harvest {
    pub(super) fn megabytes_per_second(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.time.as_secs_f64()
    }

    pub(super) fn pages_per_second(&self) -> f64 {
        self.pages as f64 / self.time.as_secs_f64()
    }
}

/// Follows the resumption tokens of `ListRecords` over one connection, for at
/// most `limit` pages.
///
/// # Errors
/// When a page cannot be fetched or the list does not end.
pub(super) fn walk(port: u16, set: Option<&str>, limit: usize) -> Result<Walk> {
    let mut client = Client::connect(port)?;
    let mut path = "/oai?verb=ListRecords&metadataPrefix=oai_dc".to_owned();
    if let Some(set) = set {
        path.push_str("&set=");
        path.push_str(&percent_encode(set));
    }
    let started = Instant::now();
    let mut paths = Vec::new();
    let mut bytes = 0;
    loop {
        let answer = client.fetch(&path, "")?;
        if answer.status != 200 {
            bail!("{path} was answered with\n{}", answer.head);
        }
        let token = resumption_token(answer.body);
        let last_bytes = answer.body.len();
        bytes += last_bytes as u64;
        paths.push(path);
        match token {
            Some(token) if paths.len() < limit.min(MOST_PAGES) => {
                path = format!("/oai?verb=ListRecords&resumptionToken={token}");
            }
            _ => {
                return Ok(Walk {
                    paths,
                    bytes,
                    time: started.elapsed(),
                    last_bytes,
                });
            }
        }
    }
}

impl Walk {
    /// Of the pages at the beginning, in the middle and at the end, the paths.
    ///
    /// The last page is the last that is full: one with half as many records
    /// would be fast for no merit.
    pub(super) fn first_middle_last(&self) -> [&str; 3] {
        let mean = self.bytes / self.paths.len() as u64;
        let mut last = self.paths.len() - 1;
        if last > 0 && (self.last_bytes as u64) < mean * 9 / 10 {
            last -= 1;
        }
        [0, last / 2, last].map(|at| self.paths[at].as_str())
    }

    /// At most `count` pages, spread evenly over the list.
    pub(super) fn sample(&self, count: usize) -> Vec<String> {
        let step = self.paths.len().div_ceil(count).max(1);
        self.paths.iter().step_by(step).cloned().collect()
    }

    pub(super) fn as_harvest(&self) -> Harvest {
        Harvest {
            pages: self.paths.len(),
            bytes: self.bytes,
            time: self.time,
        }
    }
}

/// The median time to fetch each of `paths`, taking turns so that whatever
/// else the machine does meets all of them alike.
///
/// # Errors
/// When a page cannot be fetched.
pub(super) fn median_times<const N: usize>(port: u16, paths: [&str; N], repeats: usize) -> Result<[Duration; N]> {
    let mut client = Client::connect(port)?;
    let mut times = [const { Vec::new() }; N];
    for repeat in 0..repeats + WARM_UP {
        for (at, path) in paths.iter().enumerate() {
            let started = Instant::now();
            let answer = client.fetch(path, "")?;
            if answer.status != 200 {
                bail!("{path} was answered with\n{}", answer.head);
            }
            if repeat >= WARM_UP {
                times[at].push(started.elapsed());
            }
        }
    }
    Ok(times.map(|mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    }))
}

const WARM_UP: usize = 10;

/// Fetches every path once over `connections` connections. `headers` as in
/// [`Client::fetch`].
///
/// # Errors
/// When a page cannot be fetched.
pub(super) fn fetch_all(port: u16, paths: &[String], connections: usize, headers: &str) -> Result<Harvest> {
    let next = AtomicUsize::new(0);
    let started = Instant::now();
    let results: Vec<Result<u64>> = thread::scope(|scope| {
        let running: Vec<_> = (0..connections)
            .map(|_| scope.spawn(|| fetch_some(port, paths, headers, &next)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a client panicked"))))
            .collect()
    });
    let time = started.elapsed();
    let mut bytes = 0;
    for result in results {
        bytes += result?;
    }
    Ok(Harvest {
        pages: paths.len(),
        bytes,
        time,
    })
}

fn fetch_some(port: u16, paths: &[String], headers: &str, next: &AtomicUsize) -> Result<u64> {
    let mut client = Client::connect(port)?;
    let mut bytes = 0;
    while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
        let answer = client.fetch(path, headers)?;
        if answer.status != 200 {
            bail!("{path} was answered with\n{}", answer.head);
        }
        bytes += answer.body.len() as u64;
    }
    Ok(bytes)
}

/// Saves pages as files `000000.xml`, … and returns the paths under which a
/// server of that folder has them.
///
/// # Errors
/// When a page cannot be fetched or written.
pub(super) fn save(port: u16, paths: &[String], folder: &Path) -> Result<Vec<String>> {
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut client = Client::connect(port)?;
    let mut saved = Vec::with_capacity(paths.len());
    for (at, path) in paths.iter().enumerate() {
        let answer = client.fetch(path, "")?;
        let file = format!("{at:06}.xml");
        fs::write(folder.join(&file), answer.body).with_context(|| format!("writing {file}"))?;
        saved.push(format!("/{name}/{file}"));
    }
    Ok(saved)
}
