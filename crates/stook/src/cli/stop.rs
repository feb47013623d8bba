//! Ctrl-C: the first asks to stop at the next good moment, the second stops at once.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stook_store::StoreError;

/// Whether the process has been asked to stop, by whichever flag.
static ASKED: AtomicBool = AtomicBool::new(false);
/// How often somebody who waits for the database is told so.
const REMINDER: Duration = Duration::from_secs(60);

/// A flag that is set when the process is asked to stop.
pub(super) fn on_signal(announcement: &'static str) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let runtime = runtime()?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            crate::provider::serve::asked_to_stop().await;
            flag.store(true, Relaxed);
            ASKED.store(true, Relaxed);
            eprintln!("{announcement}");
            crate::provider::serve::asked_to_stop().await;
            end_now();
        });
    })?;
    Ok(stop)
}

/// Says what a write waits for, now and then, and waits no longer when the process is asked to stop.
pub(super) fn while_waiting() -> impl Fn(&StoreError) -> ControlFlow<()> + Send + Sync + 'static {
    let told: Mutex<Option<Instant>> = Mutex::default();
    move |error| {
        if ASKED.load(Relaxed) {
            return ControlFlow::Break(());
        }
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|at| at.elapsed() > REMINDER) {
            *told = Some(Instant::now());
            eprintln!(
                "stook: {error}\nWaiting for it to come back, for up to five minutes. Nothing that was done is lost."
            );
        }
        ControlFlow::Continue(())
    }
}

/// For a command that has nothing to finish: it ends when it is asked to, but leaves no process and no file behind.
pub(super) fn at_once() -> Result<()> {
    let runtime = runtime()?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(crate::provider::serve::asked_to_stop());
        end_now();
    })?;
    Ok(())
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().context("starting")
}

fn end_now() -> ! {
    crate::crosswalk::xslt::leave_nothing_behind();
    std::process::exit(130);
}
