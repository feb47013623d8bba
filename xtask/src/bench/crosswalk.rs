//! How fast records of MARC become others, on one core: crosswalks run beside
//! every import, so this bounds it. Reading the record alone is the limit.

use std::fs;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stook_metadata::crosswalk::built_in::between;
use stook_metadata::crosswalk::tree::Element;

use crate::workspace::root;

const RECORD: &str = "crates/stook-metadata/tests/crosswalks/records/marc21/book.xml";
const TIMES: u32 = 5_000;

/// Prints records per second, and how many times as long as only reading.
///
/// # Errors
/// When the record is not there or cannot be read.
pub(super) fn run() -> Result<()> {
    let record = fs::read_to_string(root().join(RECORD)).with_context(|| format!("reading {RECORD}"))?;
    println!("a record of {} bytes, on one core", record.len());
    let reading = time(|| {
        Element::read(black_box(&record))
            .map(drop)
            .context("reading the record")
    })?;
    told("only read", reading, reading);
    for to in ["oai_dc", "mods", "oai_marc"] {
        let mapping = between("marc21", to).with_context(|| format!("there is no crosswalk to {to}"))?;
        let mapping = time(|| {
            mapping
                .apply(black_box(&record))
                .map(drop)
                .context("mapping the record")
        })?;
        told(&format!("marc21 to {to}"), mapping, reading);
    }
    Ok(())
}

fn time(work: impl Fn() -> Result<()>) -> Result<Duration> {
    let (started, started_on_core) = (Instant::now(), time_on_core());
    for _ in 0..TIMES {
        work()?;
    }
    Ok(match (started_on_core, time_on_core()) {
        (Some(before), Some(now)) => now.saturating_sub(before),
        _ => started.elapsed(),
    })
}

fn told(what: &str, took: Duration, reading: Duration) {
    let rate = f64::from(TIMES) / took.as_secs_f64();
    let ratio = took.as_secs_f64() / reading.as_secs_f64();
    println!("{what:<20} {rate:>8.0} records/s, {ratio:.1} times as long as only reading");
}

/// How long this thread was running rather than waiting for a core; Linux tells.
fn time_on_core() -> Option<Duration> {
    let schedule = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = schedule.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
