//! Validates real servers with `stook validate` and compares what it finds to
//! what is known to be wrong with them.
//!
//! What enters is the release binary. What is known stands in
//! `xtask/interop/findings.txt`: for each server the checks it breaks, each
//! with the reason, which somebody saw in its answers. What leaves is a list
//! of differences, none if all is well.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::given::spread;
use super::servers::{exported, origin, write_given};
use crate::peers::PEERS;
use crate::server::base_url;
use crate::workspace::{free_port, root};

const PAGE_SIZE: usize = 100;
/// What a run sends at most, whatever the server does.
const MOST_REQUESTS: u64 = 500;

/// Of each server: the checks it breaks, and why that is so.
type Known = BTreeMap<String, BTreeMap<String, String>>;

/// Validates the peers and ourselves.
///
/// # Errors
/// When something else is found than is known; all servers are tried first.
pub(super) fn run(binary: &Path, scratch: &Path) -> Result<()> {
    let file = root().join("xtask/interop/findings.txt");
    let known = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let known = parse(&known).with_context(|| format!("reading {}", file.display()))?;
    let folder = scratch.join("validate");
    let origin = origin(binary, &folder.join("origin"))?;
    let given = spread(exported(&origin, "main")?)?;
    let mut failures = Vec::new();
    for peer in PEERS {
        let logs = folder.join(peer.name);
        fs::create_dir_all(&logs).with_context(|| format!("making {}", logs.display()))?;
        let (port, records) = (free_port()?, logs.join("given.jsonl"));
        write_given(&given, &records)?;
        let _server = peer.start_on(port, &records, PAGE_SIZE, &logs)?;
        let found = validate(&origin, peer.name, &base_url(port))?;
        failures.extend(differences(peer.name, &known, &found));
    }
    let _server = origin.serve()?;
    let found = validate(&origin, "stook", &base_url(origin.port))?;
    failures.extend(differences("stook", &known, &found));
    if failures.is_empty() {
        return Ok(());
    }
    bail!("{}", failures.join("\n"))
}

/// Lines of a server, a check and the reason.
fn parse(text: &str) -> Result<Known> {
    let mut known = Known::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.splitn(3, ' ');
        let (Some(server), Some(check), Some(why)) = (words.next(), words.next(), words.next()) else {
            bail!("{line:?} is no server, check and reason");
        };
        known
            .entry(server.to_owned())
            .or_default()
            .insert(check.to_owned(), why.to_owned());
    }
    Ok(known)
}

/// The checks that a server breaks beyond what is merely worth knowing, each with what came.
fn validate(origin: &crate::server::Repository, name: &str, url: &str) -> Result<BTreeMap<String, String>> {
    let mut command = origin.stook();
    command.args(["validate", url, "--format", "json", "--no-evidence"]);
    let output = command.output().context("starting stook validate")?;
    if output.status.code() == Some(2) {
        bail!("{name} cannot be tested: {}", String::from_utf8_lossy(&output.stderr));
    }
    let report: Value = serde_json::from_slice(&output.stdout).context("reading the report")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (requests, seconds) = (
        report["requests"].as_u64().unwrap_or(0),
        report["seconds"].as_f64().unwrap_or(0.0),
    );
    if requests > MOST_REQUESTS || !report["ended_early"].is_null() {
        bail!("{name}: {requests} requests, ended early: {}", report["ended_early"]);
    }
    let mut found = BTreeMap::new();
    for check in report["checks"].as_array().into_iter().flatten() {
        for finding in check["findings"].as_array().into_iter().flatten() {
            if finding["severity"] != "info" {
                let came = format!("{} {}", text(&finding["severity"]), text(&finding["came"]));
                found.entry(text(&check["id"])).or_insert(came);
            }
        }
    }
    println!(
        "{name:<12} validated: {} checks broken, {requests} requests ({seconds:.1} s)",
        found.len()
    );
    Ok(found)
}

fn differences(name: &str, known: &Known, found: &BTreeMap<String, String>) -> Vec<String> {
    let none = BTreeMap::new();
    let known = known.get(name).unwrap_or(&none);
    let unknown = found
        .iter()
        .filter(|(id, _)| !known.contains_key(*id))
        .map(|(id, came)| format!("{name}: {id} is found, of which nothing is known: {came}"));
    let missed = known
        .iter()
        .filter(|(id, _)| !found.contains_key(*id))
        .map(|(id, why)| format!("{name}: {id} is not found, though {why}"));
    unknown.chain(missed).collect()
}
