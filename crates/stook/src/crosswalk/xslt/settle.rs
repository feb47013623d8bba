//! Who is to blame when a run fails.
//!
//! Records enter, a result or a reason for each leaves. Runs over many records are cheap and runs over one are not, so
//! as many as possible go through together. When a run fails, those that seem to be the reason are run alone, where it
//! shows, and the others together again; every step has fewer records than the one before. A stylesheet that fails on
//! everything is given up.

use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Result, bail};

use super::process::{self, End, Ran};
use super::workshop::Workshop;
use super::{Made, Strikes, told};

/// Records and bytes that go through one process.
const MOST_RECORDS: usize = 1_000;
const MOST_BYTES: usize = 4 << 20;
/// A stylesheet that has to be stopped so often in a row is given up: each time takes seconds.
const MOST_STOPPED: u32 = 3;
/// One that fails so often in a row is given up.
const MOST_FAILED: u32 = if cfg!(test) { 50 } else { 1_000 };

/// What the stylesheet makes of each record.
///
/// # Errors
/// When it cannot be run, or is given up.
pub(super) fn settle(workshop: &Workshop, strikes: &Strikes, records: &[&str]) -> Result<Vec<Made>> {
    let mut made: Vec<Made> = Vec::with_capacity(records.len());
    made.resize(records.len(), Ok(None));
    let mut groups = groups(records);
    groups.reverse();
    while let Some(group) = groups.pop() {
        let texts: Vec<&str> = group.iter().map(|at| records[*at]).collect();
        let ran = process::run(workshop, &texts)?;
        if ran.is_fine() {
            strikes.stopped.store(0, Relaxed);
            strikes.failed.store(0, Relaxed);
            for (at, result) in group.iter().zip(ran.results) {
                made[*at] = Ok(result
                    .map(|text| text.trim().to_owned())
                    .filter(|text| !text.is_empty()));
            }
        } else if let [at] = group[..] {
            made[at] = Err(blame(workshop, strikes, &ran)?);
        } else {
            // The last one is taken next: those under suspicion first.
            let (suspects, others) = suspects(&group, &ran);
            groups.extend(halves(others, suspects.is_empty()));
            groups.extend(suspects.into_iter().rev().map(|at| vec![at]));
        }
    }
    Ok(made)
}

fn groups(records: &[&str]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut bytes = 0;
    for (at, record) in records.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if group.len() < MOST_RECORDS && bytes + record.len() <= MOST_BYTES => group.push(at),
            _ => {
                groups.push(vec![at]);
                bytes = 0;
            }
        }
        bytes += record.len();
    }
    groups
}

/// Those without a complete result of which it is said or likely that they are the reason, and the others.
fn suspects(group: &[usize], ran: &Ran) -> (Vec<usize>, Vec<usize>) {
    let (mut suspects, mut others) = (Vec::new(), Vec::new());
    // Records go through in order: a run that is stopped is stopped in the first one that it says nothing about, and
    // never comes to those after it.
    let mut is_stopped_before = false;
    for (number, at) in group.iter().enumerate() {
        let is_suspect = match ran.end {
            _ if ran.results[number].is_some() => false,
            End::TooMuch => false,
            End::Exited(_) | End::NoMemory => true,
            _ => told::has_no_result(&ran.told, number) || !std::mem::replace(&mut is_stopped_before, true),
        };
        match is_suspect {
            true => suspects.push(*at),
            false => others.push(*at),
        }
    }
    (suspects, others)
}

/// Nobody is under suspicion, and still something is wrong: it is in one half or the other.
fn halves(mut group: Vec<usize>, in_two: bool) -> Vec<Vec<usize>> {
    if group.is_empty() {
        return Vec::new();
    }
    if !in_two {
        return vec![group];
    }
    let second = group.split_off(group.len() / 2);
    vec![second, group]
}

/// Why a record that was alone cannot be made.
fn blame(workshop: &Workshop, strikes: &Strikes, ran: &Ran) -> Result<String> {
    let reason = told::reason(ran, &workshop.names);
    let failed = strikes.failed.fetch_add(1, Relaxed) + 1;
    let stopped = match ran.end {
        End::Exited(_) => 0,
        _ => strikes.stopped.fetch_add(1, Relaxed) + 1,
    };
    let sheet = workshop.names.first().map_or("", |(_, name)| name);
    if stopped >= MOST_STOPPED || failed >= MOST_FAILED {
        bail!(
            "the stylesheet {sheet} failed on {} records in a row, the last time: {reason}\nTry: stook format preview, which \
             shows what it makes of a few records",
            if stopped >= MOST_STOPPED { stopped } else { failed }
        );
    }
    Ok(reason)
}
