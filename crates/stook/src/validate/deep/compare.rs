//! What two lists must have in common, and what of it they have not.

use stook_oai::{Datestamp, Granularity};

use super::MOST_NAMED;
use super::ledger::{Entry, Ledger, Pair, join, repeated};
use super::walk::disk;
use crate::validate::run::{Found, Run, Stop};

/// Of what is missing so much is told; each is asked for, to see whether it changed meanwhile.
const MOST_TOLD: usize = 5;

/// Where the second of two lists differs from what the first makes one expect.
#[derive(Default)]
pub(super) struct Differences {
    /// Expected, but not there.
    pub(super) missing: Vec<Entry>,
    /// There, but not expected.
    pub(super) extra: Vec<Entry>,
    /// There, with another header.
    pub(super) other: Vec<Entry>,
}

/// Whether a record may have changed since the first walk began: such are left out.
pub(super) fn is_late(entry: &Entry, since: Option<i64>) -> bool {
    // One whose datestamp cannot be read is told as that.
    entry
        .datestamp
        .is_none_or(|datestamp| since.is_some_and(|since| datestamp >= since))
}

/// Compares a list with what another makes one expect of it.
pub(super) fn differences(
    left: &mut Ledger,
    right: &mut Ledger,
    is_expected: &dyn Fn(&Entry) -> bool,
    since: Option<i64>,
) -> Result<Differences, Stop> {
    let mut found = Differences::default();
    join(left, right, &mut |pair| match pair {
        Pair::Left(entry) if is_expected(&entry) && !is_late(&entry, since) => add(&mut found.missing, entry),
        Pair::Right(entry) if !is_late(&entry, since) => add(&mut found.extra, entry),
        Pair::Both(one, other) if !is_late(&one, since) && !is_late(&other, since) => {
            let is_other = |entry: &Entry| (entry.datestamp, entry.sets, entry.is_deleted());
            // What is in neither by its own header is told as a stranger.
            if (is_expected(&one) || is_expected(&other)) && is_other(&one) != is_other(&other) {
                add(&mut found.other, other);
            }
        }
        _ => {}
    })
    .map_err(disk)?;
    Ok(found)
}

fn add(entries: &mut Vec<Entry>, entry: Entry) {
    if entries.len() < MOST_NAMED {
        entries.push(entry);
    }
}

/// Identifiers that stand twice in one list: on one page, and on two.
pub(super) fn duplicates(ledger: &mut Ledger, since: Option<i64>) -> Result<(Vec<Entry>, Vec<Entry>), Stop> {
    let (mut within, mut across) = (Vec::new(), Vec::new());
    repeated(ledger, &mut |first, second| {
        if !is_late(&first, since) && !is_late(&second, since) {
            let place = if first.page == second.page {
                &mut within
            } else {
                &mut across
            };
            add(place, second);
        }
    })
    .map_err(disk)?;
    Ok((within, across))
}

/// Tells of records, those left out that changed meanwhile.
pub(super) fn told(
    run: &mut Run<'_>,
    ledger: &mut Ledger,
    entries: &[Entry],
    what: &str,
    list: Option<u32>,
) -> Result<Vec<Found>, Stop> {
    let granularity = run.facts.granularity();
    let mut found = Vec::new();
    for entry in entries {
        if found.len() == MOST_TOLD {
            break;
        }
        let name = ledger.name(entry).map_err(disk)?;
        let datestamp = written(entry, granularity);
        if run.is_unchanged(&name, &datestamp)? {
            let of = Found::new(format!("{name} of {datestamp} {what}"));
            found.push(of.in_answer(list.unwrap_or(entry.page)));
        }
    }
    Ok(found)
}

fn written(entry: &Entry, granularity: Granularity) -> String {
    let datestamp = entry.datestamp.and_then(Datestamp::from_unix);
    datestamp.map_or(String::new(), |datestamp| datestamp.format(granularity).to_string())
}
