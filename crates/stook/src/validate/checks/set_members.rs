//! T: what a set selects.

use std::sync::Arc;

use stook_oai::ErrorCode::{BadArgument, NoRecordsMatch, NoSetHierarchy};
use stook_oai::SetSpec;

use crate::validate::document::Header;
use crate::validate::exchange::{Exchange, Question};
use crate::validate::facts::Facts;
use crate::validate::pages::{headers_of, is_in, shows};
use crate::validate::probe::{Expect, encoded};
use crate::validate::run::{Found, Run, Stop, Verdict};

/// Selections that are none, and what becomes of them; a repository without sets says that instead.
const REFUSED: &[(&str, &str)] = &[
    ("T-6", "verb=ListIdentifiers&metadataPrefix=oai_dc&set=a%3A%3Ab"),
    ("T-6", "verb=ListIdentifiers&metadataPrefix=oai_dc&set=a%20b"),
    ("T-6", "verb=ListIdentifiers&metadataPrefix=oai_dc&set=%3Aa"),
    ("T-6", "verb=ListIdentifiers&metadataPrefix=oai_dc&set="),
    (
        "T-7",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&set=really_wrong_set&from=some&until=time",
    ),
    (
        "T-7",
        "verb=ListRecords&metadataPrefix=oai_dc&set=really_wrong_set&from=some&until=time",
    ),
];

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    members_show_it(run)?;
    parent_holds_child(run)?;
    names_that_begin_alike(run)?;
    let verdict = minimal(&run.facts);
    run.judge("T-4", verdict);
    unknown(run)?;
    for (id, query) in REFUSED {
        let expect = match run.facts.has_no_sets() {
            true => Expect::Error(&[BadArgument, NoSetHierarchy]),
            false => Expect::Error(&[BadArgument]),
        };
        run.expect(id, Question::get(*query), &expect)?;
    }
    two_sets(run)
}

fn members(run: &mut Run<'_>, set: &str) -> Result<Arc<Exchange>, Stop> {
    run.get(&of_set(set))
}

fn of_set(set: &str) -> String {
    format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={}", encoded(set))
}

const NO_SETS: &str = "the repository has no set with records";

/// Each record in the list of a set says that it is in it.
fn members_show_it(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("T-1") {
        return Ok(());
    }
    let Some(set) = run.facts.set_spec.clone() else {
        run.judge("T-1", Verdict::not_applicable(NO_SETS));
        return Ok(());
    };
    let page = members(run, &set)?;
    let found = headers_of(&page)
        .filter(|header| is_stranger(header, &set))
        .map(|header| {
            let came = format!("{} in the list of {set}, with {}", header.identifier, sets_of(&header));
            Found::new(came).on(&page)
        });
    let verdict = Verdict::of(found.collect());
    run.judge("T-1", verdict);
    Ok(())
}

/// Whether a header does not show a set. That deleted ones show none at all is told elsewhere.
fn is_stranger(header: &Header, set: &str) -> bool {
    let is_unmarked = header.deleted && header.set_specs.is_empty();
    !shows(header, set) && !is_unmarked
}

fn sets_of(header: &Header) -> String {
    match header.set_specs.is_empty() {
        true => "no setSpec".to_owned(),
        false => format!("setSpec {}", header.set_specs.join(", ")),
    }
}

/// What is in a set is in the one above it.
fn parent_holds_child(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("T-2") {
        return Ok(());
    }
    let pairs = listed_pairs(&run.facts, |set, other| set != other && is_in(set, other));
    for (child, parent) in pairs {
        let page = members(run, &child)?;
        let Some(member) = headers_of(&page).next() else {
            continue;
        };
        let verdict = holds_member(run, &parent, &member)?;
        run.judge("T-2", verdict);
        return Ok(());
    }
    let why = "no set with records has another above it in ListSets";
    run.judge("T-2", Verdict::not_applicable(why));
    Ok(())
}

fn holds_member(run: &mut Run<'_>, parent: &str, member: &Header) -> Result<Verdict, Stop> {
    let selection = format!("metadataPrefix=oai_dc&set={}", encoded(parent));
    let mut listed = run.list("ListIdentifiers", &selection)?;
    if !listed.complete && !listed.has(&member.identifier) {
        let datestamp = encoded(&member.datestamp);
        let narrow = format!("{selection}&from={datestamp}&until={datestamp}");
        listed = run.list("ListIdentifiers", &narrow)?;
    }
    if let Some(verdict) = listed.refused() {
        return Ok(verdict);
    }
    if listed.has(&member.identifier) {
        return Ok(Verdict::Holds);
    }
    if !listed.complete || !run.is_unchanged(&member.identifier, &member.datestamp)? {
        return Ok(Verdict::not_applicable(
            "the list of the set above is too long, or changed",
        ));
    }
    let came = format!(
        "{} is in {} but not in {parent}",
        member.identifier,
        member.set_specs.join(", ")
    );
    Ok(Verdict::Broken(vec![Found::new(came).on(listed.first())]))
}

/// Pairs of listed sets, a few at most.
fn listed_pairs(facts: &Facts, is_pair: impl Fn(&str, &str) -> bool) -> Vec<(String, String)> {
    const MOST: usize = 3;
    const MOST_SETS: usize = 500;
    let specs: Vec<&str> = facts
        .sets
        .iter()
        .flatten()
        .map(|set| set.spec.as_str())
        .take(MOST_SETS)
        .collect();
    let pairs = specs
        .iter()
        .flat_map(|one| specs.iter().map(move |other| (*one, *other)));
    pairs
        .filter(|(one, other)| is_pair(one, other))
        .take(MOST)
        .map(|(one, other)| (one.to_owned(), other.to_owned()))
        .collect()
}

/// `a` is not the set above `ab`.
fn names_that_begin_alike(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("T-3") {
        return Ok(());
    }
    let alike = |long: &str, short: &str| long != short && long.starts_with(short) && !is_in(long, short);
    let pair = listed_pairs(&run.facts, alike).into_iter().next();
    let cut = run
        .facts
        .set_spec
        .clone()
        .and_then(|set| Some((set.clone(), shortened(&set)?)));
    let pairs: Vec<(String, String)> = pair.into_iter().chain(cut).collect();
    if pairs.is_empty() {
        run.judge("T-3", Verdict::not_applicable(NO_SETS));
    }
    for (long, short) in pairs {
        let page = members(run, &short)?;
        let wrong = |header: &Header| !shows(header, &short) && shows(header, &long);
        let verdict = match headers_of(&page).find(wrong) {
            Some(header) => {
                let came = format!("{} with {} in the list of {short}", header.identifier, sets_of(&header));
                Verdict::Broken(vec![Found::new(came).on(&page)])
            }
            None => Verdict::Holds,
        };
        run.judge("T-3", verdict);
    }
    Ok(())
}

/// A setSpec without its last character, if that is one.
fn shortened(set: &str) -> Option<String> {
    let mut short = set.to_owned();
    short.pop()?;
    SetSpec::parse(&short).is_ok().then_some(short)
}

/// That a record is in a set says that it is in those above.
fn minimal(facts: &Facts) -> Verdict {
    if facts.headers.iter().all(|seen| seen.header.set_specs.is_empty()) {
        return Verdict::not_applicable("no header with a set was seen");
    }
    let both = |header: &Header| {
        let specs = &header.set_specs;
        let above = |spec: &&String| specs.iter().any(|other| other != *spec && is_in(other, spec));
        specs.iter().any(|spec| above(&spec))
    };
    let found = facts.headers.iter().filter(|seen| both(&seen.header)).map(|seen| {
        let came = format!("{} with {}", seen.header.identifier, sets_of(&seen.header));
        Found::new(came).in_answer(seen.exchange)
    });
    Verdict::of(found.collect())
}

/// A set that nobody has selects nothing.
fn unknown(run: &mut Run<'_>) -> Result<(), Stop> {
    let expect = match run.facts.has_no_sets() {
        true => Expect::Error(&[NoRecordsMatch, BadArgument, NoSetHierarchy]),
        false => Expect::Error(&[NoRecordsMatch, BadArgument]),
    };
    run.expect("T-5", Question::get(of_set("really_wrong_set")), &expect)
        .map(drop)
}

fn two_sets(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut specs = run.facts.sets.iter().flatten().map(|set| encoded(&set.spec));
    let one = specs.next().unwrap_or_else(|| "a".to_owned());
    let other = specs.next().unwrap_or_else(|| one.clone());
    let query = format!("verb=ListIdentifiers&metadataPrefix=oai_dc&set={one}&set={other}");
    let expect = match run.facts.has_no_sets() {
        true => Expect::Error(&[BadArgument, NoSetHierarchy]),
        false => Expect::Error(&[BadArgument]),
    };
    run.expect("T-8", Question::get(query), &expect).map(drop)
}
