//! Whole lists: walked to their ends, and compared with each other.
//!
//! ```text
//! walk     every page of a list → a ledger                     (chain judges its tokens)
//! ledger   headers on disk, by the digests of their identifiers
//! compare  two ledgers → what is missing, what is too much
//! days     some days of the whole list, asked for in other ways
//! ```
//!
//! Nothing here grows with the repository but files in the temporary folder. What changed while it was walked is left out.

mod compare;
mod days;
mod ledger;
mod walk;

use stook_oai::Datestamp;

use super::facts::Facts;
use super::pages::is_in;
use super::run::{Run, Stop, Verdict};
use compare::{differences, duplicates, told};
use ledger::{Entry, Ledger};
use walk::{Selection, Walked, disk, walk as walk_list};

/// Records that are named in findings about one list.
const MOST_NAMED: usize = 20;
/// Sets whose lists are walked.
const MOST_SETS: usize = 3;
/// Sets among which those are chosen.
const MOST_CANDIDATES: usize = 500;

/// A list that was walked.
struct List {
    ledger: Ledger,
    walked: Walked,
}

/// What all lists are compared with.
struct Whole {
    list: List,
    /// The sets that entries know of.
    sets: Vec<String>,
    /// Records of this second and later ones may have changed since the first walk began.
    since: Option<i64>,
}

/// The checks that compare lists.
const COMPARED: [&str; 9] = ["L-3", "L-7", "F-23", "T-1", "T-2", "T-3", "D-4", "D-5", "D-21"];

pub(super) fn walk(run: &mut Run<'_>) -> Result<(), Stop> {
    // From here on nothing is asked for that was asked before.
    run.forget();
    let sets = sets_to_walk(&run.facts);
    let mut records = list(run, "ListRecords", &Selection::default(), &sets)?;
    let since = since(&records.walked, &run.facts);
    alone(run, &mut records, since)?;
    let mut headers = list(run, "ListIdentifiers", &Selection::default(), &sets)?;
    alone(run, &mut headers, since)?;
    same_headers(run, &mut records, &mut headers, since)?;
    drop(records);
    if !headers.walked.whole {
        for id in COMPARED.into_iter().chain(["D-19"]) {
            run.judge(id, Verdict::not_applicable("ListIdentifiers did not come to its end"));
        }
        return Ok(());
    }
    let mut whole = Whole {
        list: headers,
        sets,
        since,
    };
    for number in 0..whole.sets.len() {
        of_set(run, &mut whole, number)?;
    }
    days::check(run, &mut whole)
}

/// Walks through a list and judges its tokens.
fn list(run: &mut Run<'_>, verb: &'static str, selection: &Selection, sets: &[String]) -> Result<List, Stop> {
    let mut ledger = Ledger::new().map_err(disk)?;
    let walked = walk_list(run, verb, selection, &mut ledger, sets)?;
    Ok(List { ledger, walked })
}

/// The set with records, sets that have others below them, then any.
fn sets_to_walk(facts: &Facts) -> Vec<String> {
    let listed: Vec<&String> = facts
        .sets
        .iter()
        .flatten()
        .map(|set| &set.spec)
        .take(MOST_CANDIDATES)
        .collect();
    let is_parent = |set: &&String| listed.iter().any(|other| other != set && is_in(other, set));
    let parents = listed.iter().copied().filter(is_parent);
    let mut sets: Vec<String> = Vec::new();
    for set in facts.set_spec.iter().chain(parents).chain(listed.iter().copied()) {
        if !set.is_empty() && !sets.contains(set) && sets.len() < MOST_SETS {
            sets.push(set.clone());
        }
    }
    sets
}

/// The second from which on records may have changed during the walks.
fn since(first: &Walked, facts: &Facts) -> Option<i64> {
    let began: Option<Datestamp> = first.began;
    began.map(|began| began.truncate(facts.granularity()).unix())
}

/// What holds of one list by itself.
fn alone(run: &mut Run<'_>, list: &mut List, since: Option<i64>) -> Result<(), Stop> {
    let (within, across) = duplicates(&mut list.ledger, since)?;
    let twice = told(run, &mut list.ledger, &within, "is twice on one page", None)?;
    run.judge("L-3", Verdict::of(twice));
    let twice = told(run, &mut list.ledger, &across, "is on two pages", None)?;
    let is_split = list.walked.chain.split;
    if is_split {
        run.judge("F-6", Verdict::of(twice));
    }
    let chain = std::mem::replace(&mut list.walked.chain, super::chain::Chain::new(""));
    chain.judge(run);
    Ok(())
}

/// Both lists have the same headers.
fn same_headers(run: &mut Run<'_>, records: &mut List, headers: &mut List, since: Option<i64>) -> Result<(), Stop> {
    if !records.walked.whole || !headers.walked.whole {
        run.judge("L-7", Verdict::not_applicable("a list did not come to its end"));
        return Ok(());
    }
    let found = differences(&mut records.ledger, &mut headers.ledger, &|_| true, since)?;
    let (one, other) = (&mut records.ledger, &mut headers.ledger);
    let mut all = told(
        run,
        one,
        &found.missing,
        "is in ListRecords, not in ListIdentifiers",
        None,
    )?;
    all.extend(told(
        run,
        other,
        &found.extra,
        "is in ListIdentifiers, not in ListRecords",
        None,
    )?);
    all.extend(told(run, other, &found.other, "has other headers in both lists", None)?);
    run.judge("L-7", Verdict::of(all));
    Ok(())
}

/// Judges what a list holds that was not asked for: on its first page, or only on later ones.
fn strangers(run: &mut Run<'_>, id: &'static str, walked: &mut Walked) {
    let (first, later) = std::mem::take(&mut walked.strangers);
    let is_late_only = first.is_empty() && !later.is_empty();
    if is_late_only {
        run.judge("F-23", Verdict::Broken(later));
    } else if !first.is_empty() {
        run.judge(id, Verdict::Broken(first));
    } else {
        run.judge("F-23", Verdict::Holds);
    }
}

/// The list of a set holds what the whole list says that it is in it.
fn of_set(run: &mut Run<'_>, whole: &mut Whole, number: usize) -> Result<(), Stop> {
    let set = whole.sets[number].clone();
    let selection = Selection {
        set: Some(set.clone()),
        dates: None,
    };
    let mut members = list(run, "ListIdentifiers", &selection, &whole.sets)?;
    alone(run, &mut members, whole.since)?;
    if !members.walked.whole {
        return Ok(());
    }
    strangers(run, "T-1", &mut members.walked);
    run.judge("T-3", Verdict::of(std::mem::take(&mut members.walked.alike)));
    let is_expected = |entry: &Entry| entry.is_in(number);
    let found = differences(&mut whole.list.ledger, &mut members.ledger, &is_expected, whole.since)?;
    let (deleted, living): (Vec<Entry>, Vec<Entry>) = found.missing.into_iter().partition(Entry::is_deleted);
    let (own, below): (Vec<Entry>, Vec<Entry>) = living.into_iter().partition(|entry| entry.is_directly_in(number));
    let first = Some(members.walked.first);
    let what = format!("shows that it is in {set}, and is not in its list");
    for (id, missing) in [("Z-4", deleted), ("T-1", own), ("T-2", below)] {
        let verdict = Verdict::of(told(run, &mut whole.list.ledger, &missing, &what, first)?);
        // Whether deletions show their sets at all is for others to say.
        if id != "Z-4" || matches!(verdict, Verdict::Broken(_)) {
            run.judge(id, verdict);
        }
    }
    let what = format!("is in the list of {set}, and not so in the list of everything");
    let odd: Vec<Entry> = found.extra.into_iter().chain(found.other).collect();
    let verdict = Verdict::of(told(run, &mut members.ledger, &odd, &what, None)?);
    run.judge("T-1", verdict);
    Ok(())
}
