//! Ctrl-C: the first asks to stop at the next good moment, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, Result};

/// A flag that is set when the process is asked to stop.
pub(super) fn on_signal(announcement: &'static str) -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting")?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(async {
            crate::provider::serve::asked_to_stop().await;
            flag.store(true, Relaxed);
            eprintln!("{announcement}");
            crate::provider::serve::asked_to_stop().await;
            std::process::exit(130);
        });
    })?;
    Ok(stop)
}
