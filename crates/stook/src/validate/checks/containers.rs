//! K: containers.

use crate::validate::exchange::Exchange;
use crate::validate::run::{Run, Stop};

pub(super) fn check(_run: &mut Run<'_>) -> Result<(), Stop> {
    Ok(())
}

/// What is judged in every answer.
pub(super) fn every(_run: &mut Run<'_>, _exchange: &Exchange) {}

/// What is judged when everything was seen.
pub(super) fn last(_run: &mut Run<'_>) -> Result<(), Stop> {
    Ok(())
}
