//! Ctrl-C: the first asks to stop at the next good moment, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, Result};

/// A flag that is set when the process is asked to stop.
pub(super) fn on_signal(announcement: &'static str) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let runtime = runtime()?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            crate::provider::serve::asked_to_stop().await;
            flag.store(true, Relaxed);
            eprintln!("{announcement}");
            crate::provider::serve::asked_to_stop().await;
            end_now();
        });
    })?;
    Ok(stop)
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
