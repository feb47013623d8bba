//! The validator against endpoints that each do one thing wrong, and against some that do nothing wrong.

mod clean;
mod errors;
mod harness;

use std::collections::BTreeSet;

use harness::Case;
use stook::validate::table::{self, When};

/// The cases of all families.
fn cases() -> Vec<Case> {
    let families = [errors::cases];
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
