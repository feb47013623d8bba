//! The harvester against sources that misbehave.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

mod command;
mod crash;
mod faults;
mod many;
mod model;
#[path = "../support/place.rs"]
mod place;
mod stopped;
mod support;
mod tls;

/// What asks something of the store that the other tests do not ask, or not as hard.
const ABOUT_THE_STORE: &[&str] = &[
    // Ledger and records, whatever happens in between.
    "crash::",
    "model::",
    "stopped::",
    // The quarantine: filled, asked for again, emptied.
    "command::what_is_in_quarantine",
    "faults::records::f58",
    "faults::tokens::f47",
    // The same record again, and in one transaction.
    "faults::tokens::f46",
    "faults::tokens::f35",
    // What is known of a record, one by one and compared as a whole.
    "command::verifying",
    "faults::records::f64",
    "faults::tokens::f48",
    // Many sets, and long ones.
    "faults::records::f65_long_sets",
    "faults::records::f66",
];

#[test]
fn what_is_about_the_store_holds_on_a_server_too() {
    place::once_more_on_a_server(ABOUT_THE_STORE);
}
