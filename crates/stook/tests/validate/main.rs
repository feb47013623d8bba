//! The validator against endpoints that each do one thing wrong, and against some that do nothing wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(unreachable_pub, reason = "modules of a test have no outside")]

mod aggregator;
mod clean;
mod compression;
mod containers;
mod datestamps;
mod deleted;
mod envelope;
mod errors;
mod flow;
mod formats;
mod gateway;
mod get_record;
mod harness;
mod hostile;
mod identifiers;
mod identify;
mod post;
mod quality;
mod records;
mod report;
mod set_members;
mod sets;
mod static_repository;
mod transport;

use std::collections::BTreeSet;

use harness::Case;
use stook::validate::table::{self, When};

/// The cases of all families.
fn cases() -> Vec<Case> {
    let families = [
        transport::cases,
        compression::cases,
        envelope::cases,
        identify::cases,
        containers::cases,
        formats::cases,
        sets::cases,
        identifiers::cases,
        get_record::cases,
        records::cases,
        datestamps::cases,
        set_members::cases,
        flow::cases,
        errors::cases,
        post::cases,
        deleted::cases,
        quality::cases,
        aggregator::cases,
        gateway::cases,
        static_repository::cases,
        hostile::cases,
    ];
    families.into_iter().flat_map(|family| family()).collect()
}

#[test]
fn every_check_has_an_endpoint_that_breaks_it() {
    let broken: BTreeSet<&str> = cases().iter().map(|case| case.breaks).collect();
    let made = table::all().filter(|check| check.when != When::Never);
    let missing: Vec<&str> = made
        .map(|check| check.id.as_str())
        .filter(|id| !broken.contains(id))
        .collect();
    assert!(missing.is_empty(), "no endpoint breaks {missing:?}");
}
