//! Waiting for a server that is gone.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::StoreError;

/// How long a write waits: long enough for a failover.
pub(super) const LONGEST: Duration = Duration::from_secs(300);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

type Hear = dyn Fn(&StoreError) -> ControlFlow<()> + Send + Sync;

/// How a store waits, and who hears of it.
#[derive(Default)]
pub(crate) struct Patience {
    hear: Mutex<Option<Box<Hear>>>,
    has_written: AtomicBool,
}

impl Patience {
    /// Has somebody hear of every pause; they may end the waiting.
    pub(crate) fn on_wait(&self, hear: Box<Hear>) {
        *self.hear.lock().unwrap_or_else(PoisonError::into_inner) = Some(hear);
    }

    /// The server has been written to.
    pub(super) fn note_write(&self) {
        self.has_written.store(true, Relaxed);
    }

    /// Does it again as long as it may help.
    pub(crate) fn exert<T>(&self, mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let began = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            match work() {
                Err(error) if self.may_help(&error) && began.elapsed() + pause < LONGEST => {
                    let hear = self.hear.lock().unwrap_or_else(PoisonError::into_inner);
                    if hear.as_ref().is_some_and(|hear| hear(&error).is_break()) {
                        return Err(error);
                    }
                    drop(hear);
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                outcome => return outcome,
            }
        }
    }

    /// A server that was written to and is a standby now is in the middle of a failover. One that was a standby from the
    /// beginning will stay one.
    fn may_help(&self, error: &StoreError) -> bool {
        match error {
            StoreError::Standby(_) => self.has_written.load(Relaxed),
            other => other.is_passing(),
        }
    }
}
