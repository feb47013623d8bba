//! Whether a reader puts up with faults, and which it has put up with.

use crate::response::repair::{Tolerance, Tolerated};

/// Strict, or lenient with a count.
///
/// The rules of the protocol are written as a strict reader needs them; where
/// a lenient one goes on, a guard asks here and is counted by asking.
#[derive(Debug, Default)]
pub(super) struct Leniency(Option<Box<Tolerated>>);

impl Leniency {
    pub(super) fn strict() -> Self {
        Self(None)
    }

    pub(super) fn lenient() -> Self {
        Self(Some(Box::default()))
    }

    pub(super) fn is_lenient(&self) -> bool {
        self.0.is_some()
    }

    /// Whether this may pass; if so, it is counted.
    pub(super) fn tolerates(&mut self, tolerance: Tolerance) -> bool {
        match &mut self.0 {
            None => false,
            Some(tolerated) => {
                tolerated.note(tolerance);
                true
            }
        }
    }

    /// Whether this may pass; counted once in a response, because it concerns
    /// nearly every element of one that has it.
    pub(super) fn tolerates_once(&mut self, tolerance: Tolerance) -> bool {
        match &mut self.0 {
            None => false,
            Some(tolerated) => {
                if tolerated.count(tolerance) == 0 {
                    tolerated.note(tolerance);
                }
                true
            }
        }
    }

    pub(super) fn tolerated(&self) -> Tolerated {
        self.0.as_deref().cloned().unwrap_or_default()
    }
}
