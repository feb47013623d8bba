//! The harvester against sources that misbehave.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

mod command;
mod crash;
mod faults;
mod many;
mod model;
mod stopped;
mod support;
mod tls;
