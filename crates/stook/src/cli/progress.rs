//! Progress of long work: a bar on a terminal, nothing in a log.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over bytes when their total is known, else a spinner that counts.
pub(super) fn bytes(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => bar(
            total,
            "{bar:30} {percent:>3}%  {msg}  {decimal_bytes_per_sec}  {eta} left",
        ),
        None => spinner("{spinner} {msg}  {decimal_bytes_per_sec}  {elapsed}"),
    }
}

/// A bar over things to do.
pub(super) fn count(total: u64) -> ProgressBar {
    bar(total, "{bar:30} {percent:>3}%  {msg}  {per_sec}  {eta} left")
}

/// A spinner for work whose end is not known.
pub(super) fn spinner(template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
    bar.set_style(style(template));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn bar(total: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
    bar.set_style(style(template));
    bar
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants of this file and its callers; a wrong one falls back to the plain bar.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸─")
}
