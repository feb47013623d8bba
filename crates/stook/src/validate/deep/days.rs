//! Some days of the whole list, asked for in other ways: as a range, day by day, in seconds, with a set.

use std::collections::BTreeMap;

use stook_oai::{Datestamp, Granularity};

use super::compare::{differences, told};
use super::ledger::{Entry, Ledger};
use super::walk::{Selection, Walked, disk, walk};
use super::{List, Whole, list, strangers};
use crate::validate::run::{Run, Stop, Verdict};

const DAY: i64 = 86_400;
/// Days that are asked for one by one.
const SPAN_DAYS: i64 = 7;
/// Records of those days, if it can be had so.
const MOST_IN_SPAN: u64 = 5_000;

pub(super) fn check(run: &mut Run<'_>, whole: &mut Whole) -> Result<(), Stop> {
    let since = whole.since.unwrap_or(i64::MAX);
    let Some(first) = span(&whole.list.walked.days, since) else {
        for id in ["D-4", "D-5", "D-19", "D-21"] {
            run.judge(id, Verdict::not_applicable("no record is of a day before today"));
        }
        return Ok(());
    };
    let last = first + (SPAN_DAYS - 1) * DAY;
    as_range(run, whole, (first, last), None, "D-5")?;
    day_by_day(run, whole, (first, last))?;
    if let Some(set) = whole.sets.first().cloned() {
        as_range(run, whole, (first, last), Some((0, set)), "D-19")?;
    }
    if run.facts.granularity() == Granularity::Second {
        in_seconds(run, whole, first)?;
    }
    Ok(())
}

/// The days with most records among those with not too many; the first of them.
fn span(days: &BTreeMap<i64, u64>, since: i64) -> Option<i64> {
    let starts: Vec<i64> = days.keys().copied().filter(|start| start + DAY <= since).collect();
    let total = |start: &i64| {
        days.range(*start..*start + SPAN_DAYS * DAY)
            .map(|(_, count)| count)
            .sum::<u64>()
    };
    let fitting = starts
        .iter()
        .filter(|start| total(start) <= MOST_IN_SPAN)
        .max_by_key(|start| total(start));
    fitting
        .or_else(|| starts.iter().min_by_key(|start| total(start)))
        .copied()
}

/// The seconds from the beginning of one day to the end of another, written as days.
fn of_days(first: i64, last: i64) -> Option<(Datestamp, Datestamp, String, String)> {
    let (from, until) = (Datestamp::from_unix(first)?, Datestamp::from_unix(last)?.end_of_day());
    let written = |datestamp: Datestamp| datestamp.format(Granularity::Day).to_string();
    Some((from, until, written(from), written(until)))
}

fn is_between(entry: &Entry, first: i64, last: i64) -> bool {
    entry
        .datestamp
        .is_some_and(|datestamp| (first..last + DAY).contains(&datestamp))
}

/// One list of all these days, perhaps of a set.
fn as_range(
    run: &mut Run<'_>,
    whole: &mut Whole,
    (first, last): (i64, i64),
    set: Option<(usize, String)>,
    id: &'static str,
) -> Result<(), Stop> {
    let number = set.as_ref().map(|(number, _)| *number);
    let selection = Selection {
        set: set.map(|(_, set)| set),
        dates: of_days(first, last),
    };
    let mut range = list(run, "ListIdentifiers", &selection, &whole.sets)?;
    // That deletions are missing in the lists of sets is told as that.
    let is_member = |entry: &Entry| number.is_none_or(|number| entry.is_in(number) && !entry.is_deleted());
    let is_expected = |entry: &Entry| is_between(entry, first, last) && is_member(entry);
    compared(run, whole, &mut range, &is_expected, id)
}

/// Judges a list by the list of everything.
fn compared(
    run: &mut Run<'_>,
    whole: &mut Whole,
    list: &mut List,
    is_expected: &dyn Fn(&Entry) -> bool,
    id: &'static str,
) -> Result<(), Stop> {
    if !list.walked.whole {
        run.judge(id, Verdict::not_applicable("the list did not come to its end"));
        return Ok(());
    }
    strangers(run, id, &mut list.walked);
    let verdict = beside(run, whole, &mut list.ledger, is_expected, list.walked.first)?;
    run.judge(id, verdict);
    Ok(())
}

fn beside(
    run: &mut Run<'_>,
    whole: &mut Whole,
    ledger: &mut Ledger,
    is_expected: &dyn Fn(&Entry) -> bool,
    first: u32,
) -> Result<Verdict, Stop> {
    let found = differences(&mut whole.list.ledger, ledger, is_expected, whole.since)?;
    let what = "is in the list of everything, and missing here";
    let mut all = told(run, &mut whole.list.ledger, &found.missing, what, Some(first))?;
    let odd: Vec<Entry> = found.extra.into_iter().chain(found.other).collect();
    all.extend(told(run, ledger, &odd, "is not so in the list of everything", None)?);
    Ok(Verdict::of(all))
}

/// A list for each day; together they are the range.
fn day_by_day(run: &mut Run<'_>, whole: &mut Whole, (first, last): (i64, i64)) -> Result<(), Stop> {
    let mut ledger = Ledger::new().map_err(disk)?;
    let mut answer = None;
    for day in (0..SPAN_DAYS).map(|number| first + number * DAY) {
        let selection = Selection {
            set: None,
            dates: of_days(day, day),
        };
        let mut walked: Walked = walk(run, "ListIdentifiers", &selection, &mut ledger, &whole.sets)?;
        if !walked.whole {
            run.judge(
                "D-21",
                Verdict::not_applicable("the list of a day did not come to its end"),
            );
            return Ok(());
        }
        strangers(run, "D-21", &mut walked);
        answer.get_or_insert(walked.first);
    }
    let (_, twice) = super::duplicates(&mut ledger, whole.since)?;
    let twice = told(run, &mut ledger, &twice, "is in the lists of two days", None)?;
    run.judge("D-21", Verdict::of(twice));
    let is_expected = |entry: &Entry| is_between(entry, first, last);
    let verdict = beside(run, whole, &mut ledger, &is_expected, answer.unwrap_or(0))?;
    run.judge("D-21", verdict);
    Ok(())
}

/// One day from its first second until its last.
fn in_seconds(run: &mut Run<'_>, whole: &mut Whole, day: i64) -> Result<(), Stop> {
    let Some((from, until, ..)) = of_days(day, day) else {
        return Ok(());
    };
    let selection = Selection {
        set: None,
        dates: Some((from, until, from.to_string(), until.to_string())),
    };
    let mut seconds = list(run, "ListIdentifiers", &selection, &whole.sets)?;
    compared(run, whole, &mut seconds, &|entry| is_between(entry, day, day), "D-4")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_chosen_that_are_many_but_not_too_many_and_over() {
        let days = BTreeMap::from([
            (0, 10),
            (20 * DAY, 4_000),
            (21 * DAY, 900),
            (40 * DAY, 9_000),
            (60 * DAY, 4_999),
        ]);
        assert_eq!(span(&days, 100 * DAY), Some(60 * DAY));
        assert_eq!(span(&days, 60 * DAY), Some(20 * DAY));
        assert_eq!(
            span(&BTreeMap::from([(0, 9_000), (10 * DAY, 8_000)]), 100 * DAY),
            Some(10 * DAY)
        );
        assert_eq!(span(&BTreeMap::from([(0, 5)]), DAY), Some(0));
        assert_eq!(span(&BTreeMap::from([(0, 5)]), DAY - 1), None);
    }
}
