//! How fast records are imported, in how much memory, into how many bytes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::process::measure as measure_process;
use crate::records;
use crate::server::Repository;

/// What importing the generated file took.
pub(super) struct Import {
    pub(super) records: u64,
    pub(super) input_bytes: u64,
    pub(super) time: Duration,
    pub(super) peak_memory: u64,
    pub(super) stored_bytes: u64,
}

/// Generates `records` records and imports them.
///
/// # Errors
/// When generating or importing fails.
pub(super) fn measure(repository: &Repository, records: u64) -> Result<Import> {
    let input = repository.folder.join("records.jsonl");
    println!("generating {records} records");
    let mut out = BufWriter::with_capacity(1 << 20, File::create(&input).context("making the input")?);
    records::write(&mut out, 0, records)
        .and_then(|()| out.flush())
        .context("writing the input")?;
    let input_bytes = fs::metadata(&input)?.len();

    println!("importing them");
    let log = repository.folder.join("import.log");
    let taken = measure_process(repository.stook().arg("import").arg(&input), &log)?;
    fs::remove_file(&input)?;
    Ok(Import {
        records,
        input_bytes,
        time: taken.time,
        peak_memory: taken.peak_memory,
        stored_bytes: stored_bytes(&repository.folder)?,
    })
}

/// The size of everything in the repository's folder but the logs.
fn stored_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if path.is_dir() {
            bytes += stored_bytes(&path)?;
        } else if path.extension().is_none_or(|extension| extension != "log") {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}
