//! The explorer: what its pages show and where they lead, what hostile repositories can do to it, whom it asks and how
//! often, tests that are told as they go; and all of it in a real browser.

#![allow(unreachable_pub, reason = "a test program has no outside")]
#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

#[path = "../support/mod.rs"]
mod support;

mod browser;
mod browsing;
mod hostile;
mod limits;
mod page;
mod runs;
mod trouble;
mod views;
