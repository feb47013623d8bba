//! The checks, one family per file. Beside each file stands its table of texts.

mod errors;

use super::exchange::Exchange;
use super::run::{Run, Stop};

/// The tables, in the order of running.
pub(super) const TABLES: &[&str] = &[include_str!("errors.toml")];

/// Their code, in the same order.
pub(super) const FAMILIES: &[fn(&mut Run<'_>) -> Result<(), Stop>] = &[errors::check];

/// What is judged in every answer, whatever was asked.
pub(super) fn every_answer(_run: &mut Run<'_>, _exchange: &Exchange) {}
