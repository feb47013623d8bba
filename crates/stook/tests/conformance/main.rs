//! The provider against the list of conformance checks, each named by its id: groups X, I, K, M, S, L, G, R, D, T, F, E,
//! Z and U. Every check is made on four repositories: both granularities, with and without sets.
//!
//! Checks that are one request and its codes stand in [`requests`]; those that look into answers in [`identify`],
//! [`records`], [`ranges`] and [`flow`]; hostile requests in [`hostile`]. Group X is checked on every answer of all of
//! them, by `support::envelope`. How tokens behave when time passes and records change is told by [`tokens`].

#![allow(unreachable_pub, reason = "a test program has no outside")]
#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

#[path = "../support/mod.rs"]
mod support;

mod flow;
mod hostile;
mod identify;
mod ranges;
mod records;
mod requests;
mod scene;
mod tokens;

use std::collections::BTreeSet;

use scene::Scene;

/// A check by its id, made on one repository.
type Check = (&'static str, fn(&Scene));

#[test]
fn every_request_is_answered_with_its_codes() {
    for scene in Scene::all() {
        for row in requests::ROWS {
            requests::check(row, &scene);
        }
    }
}

#[test]
fn every_answer_holds_what_it_must() {
    for scene in Scene::all() {
        for (id, check) in [identify::CHECKS, records::CHECKS, ranges::CHECKS, flow::CHECKS].concat() {
            // Shown when the check fails.
            println!("{id} on {scene}");
            check(&scene);
        }
    }
}

#[test]
fn everything_holds_on_a_server_too() {
    support::place::once_more_on_a_server(&["every_request", "every_answer", "hostile::", "requests::", "tokens::"]);
}

/// The groups that concern a provider's answers, and how many checks each has.
const GROUPS: &[(&str, usize)] = &[
    ("X", 17),
    ("I", 17),
    ("K", 10),
    ("M", 11),
    ("S", 12),
    ("L", 8),
    ("G", 14),
    ("R", 12),
    ("D", 22),
    ("T", 8),
    ("F", 25),
    ("E", 13),
    ("Z", 7),
    ("U", 6),
];

/// Checks that are made elsewhere, or concern a tester rather than a provider.
const ELSEWHERE: &[(&str, &str)] = &[
    (
        "X-7",
        "the schemas are applied to the golden answers by `cargo xtask schemas`",
    ),
    ("K-10", "these repositories are no aggregators"),
    ("M-6", "schemas are at their publishers"),
    ("S-12", "a matter of the records, not of the provider"),
    ("R-6", "as X-7"),
    ("D-22", "datestamps are given by the store's clock, see its own tests"),
    ("F-14", "told by tokens.rs, with the clock turned"),
    ("U-3", "nothing here reads XML from requests or opens a connection"),
    ("U-6", "about testers"),
    ("Z-1", "deletedRecord is always persistent"),
    ("Z-6", "about a repository seen from outside"),
];

#[test]
fn every_check_of_the_list_is_made_here_or_has_its_reason() {
    let mut made: BTreeSet<&str> = requests::ROWS.iter().map(|row| row.0).collect();
    made.extend(
        [identify::CHECKS, records::CHECKS, ranges::CHECKS, flow::CHECKS]
            .concat()
            .iter()
            .map(|(id, _)| *id),
    );
    made.extend([requests::MADE, hostile::MADE, support::envelope::MADE].concat());
    let elsewhere: BTreeSet<&str> = ELSEWHERE.iter().map(|(id, _)| *id).collect();
    let all: BTreeSet<String> = GROUPS
        .iter()
        .flat_map(|(group, count)| (1..=*count).map(move |number| format!("{group}-{number}")))
        .collect();
    let missing: Vec<&String> = all
        .iter()
        .filter(|id| !made.contains(id.as_str()) && !elsewhere.contains(id.as_str()))
        .collect();
    assert!(missing.is_empty(), "not made and without a reason: {missing:?}");
    let strange: Vec<&&str> = made.iter().filter(|id| !all.contains(**id)).collect();
    assert!(strange.is_empty(), "not in the list: {strange:?}");
    let twice: Vec<&&str> = made.intersection(&elsewhere).collect();
    assert!(twice.is_empty(), "made here after all: {twice:?}");
}
