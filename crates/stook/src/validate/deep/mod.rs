//! Whole lists.

use super::run::{Run, Stop};

pub(super) fn walk(_run: &mut Run<'_>) -> Result<(), Stop> {
    Ok(())
}
