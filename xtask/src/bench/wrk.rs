//! Load made by wrk: many connections, many different pages.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::{output, root};

/// What wrk counted.
#[derive(Clone, Copy)]
pub(super) struct Load {
    pub(super) pages: f64,
    pub(super) pages_per_second: f64,
}

/// What a load consists of.
pub(super) struct Plan<'a> {
    pub(super) port: u16,
    pub(super) paths: &'a [String],
    pub(super) connections: usize,
    pub(super) seconds: u64,
    pub(super) gzip: bool,
}

/// Asks for the paths again and again.
///
/// # Errors
/// When wrk cannot run or an answer was not a success.
pub(super) fn load(plan: &Plan<'_>, scratch: &Path) -> Result<Load> {
    let list = scratch.join("paths.txt");
    fs::write(&list, plan.paths.join("\n")).context("writing the list of paths")?;
    let mut command = Command::new("wrk");
    command
        .args(["--threads", if plan.connections == 1 { "1" } else { "2" }])
        .args(["--connections", &plan.connections.to_string()])
        .args(["--duration", &format!("{}s", plan.seconds), "--timeout", "30s"]);
    if plan.gzip {
        command.args(["--header", "Accept-Encoding: gzip, identity;q=0.5"]);
    }
    command
        .arg("--script")
        .arg(root().join("xtask/bench/paths.lua"))
        .arg(format!("http://127.0.0.1:{}", plan.port))
        .arg("--")
        .arg(&list);
    let text = String::from_utf8(output(&mut command)?).context("reading what wrk printed")?;
    if text.contains("Non-2xx") {
        bail!("wrk met answers that were no success:\n{text}");
    }
    let figure = |line: Option<&str>| line.and_then(|figure| figure.trim().parse().ok());
    let rate = text.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
    let count = text
        .lines()
        .find_map(|line| line.split_once(" requests in "))
        .map(|(count, _)| count);
    match (figure(count), figure(rate)) {
        (Some(pages), Some(pages_per_second)) => Ok(Load {
            pages,
            pages_per_second,
        }),
        _ => bail!("wrk told no rate:\n{text}"),
    }
}
