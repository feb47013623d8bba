//! Harvests with real clients and compares what they end with to the store;
//! `servers` is the other direction, `marc` compares with yaz,
//! and `validate` holds servers to the validator.
//!
//! What enters is the release binary. Each client harvests the demo and a
//! repository of 10,000 records with deletions and sets three levels deep, kept
//! in a file and in PostgreSQL: the whole list, one set, one range of dates. What leaves is a list of
//! differences, none if all is well. `stook export` says what is right.

mod given;
mod marc;
mod servers;
mod validate;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;

use crate::install;
use crate::records;
use crate::schemas;
use crate::server::{Repository, Server, base_url};
use crate::workspace::{Scratch, free_port, output, release_binary, root};

/// A harvester and how its script is started.
struct Harvester {
    name: &'static str,
    command: fn() -> Result<Command>,
}

const HARVESTERS: &[Harvester] = &[
    Harvester {
        name: "sickle",
        command: || python(&install::CLIENTS, "sickle_harvest.py"),
    },
    Harvester {
        name: "scythe",
        command: || python(&install::CLIENTS, "scythe_harvest.py"),
    },
    Harvester {
        name: "pyoai",
        command: || python(&install::PYOAI, "pyoai_harvest.py"),
    },
    Harvester {
        name: "http-oai",
        command: || {
            let mut command = Command::new("perl");
            command.arg(script("http_oai_harvest.pl"));
            Ok(command)
        },
    },
    Harvester {
        name: "oai-pmh",
        command: || {
            let mut command = Command::new("node");
            command.env("NODE_PATH", install::npm_folder()?.join("node_modules"));
            command.arg(script("oai_pmh_harvest.cjs"));
            Ok(command)
        },
    },
];

/// What one harvest asks for, and the list it must end with.
struct Selection {
    what: String,
    arguments: Vec<String>,
    expected: Vec<String>,
}

/// `cargo xtask interop [CLIENT|SERVER|marc|validate]…`.
///
/// # Errors
/// When a client ends with another list than the store's, or our harvester
/// with another than a server's.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    match arguments {
        [only] if only == "marc" => install::for_marc()?,
        _ => install::for_tests()?,
    }
    let known: Vec<&str> = HARVESTERS
        .iter()
        .map(|harvester| harvester.name)
        .chain(servers::names())
        .chain(["marc", "validate"])
        .collect();
    for name in arguments {
        if !known.contains(&name.as_str()) {
            bail!(
                "there is no client, server or format `{name}`. Try: {}",
                known.join(", ")
            );
        }
    }
    let is_chosen = |name: &str| arguments.is_empty() || arguments.iter().any(|chosen| chosen == name);
    let binary = release_binary()?;
    let scratch = Scratch::new("interop")?;
    let chosen: Vec<&Harvester> = HARVESTERS
        .iter()
        .filter(|harvester| is_chosen(harvester.name))
        .collect();
    if !chosen.is_empty() {
        harvest_demo(&binary, scratch.path(), &chosen)?;
        harvest_generated(&binary, &scratch.path().join("file"), None, &chosen)?;
        let database = testserver::Server::start().context("PostgreSQL cannot be started")?;
        let folder = scratch.path().join("server");
        harvest_generated(&binary, &folder, Some(&database.url()), &chosen)?;
    }
    let chosen: Vec<&str> = servers::names().filter(|name| is_chosen(name)).collect();
    servers::run(&binary, scratch.path(), &chosen)?;
    if is_chosen("marc") {
        marc::run(&binary, scratch.path())?;
    }
    if is_chosen("validate") {
        validate::run(&binary, scratch.path())?;
    }
    Ok(())
}

fn harvest_demo(binary: &Path, scratch: &Path, harvesters: &[&Harvester]) -> Result<()> {
    let port = free_port()?;
    let folder = scratch.join("demo");
    fs::create_dir_all(&folder)?;
    let demo = Repository {
        binary: binary.to_owned(),
        folder: folder.clone(),
        port,
    };
    let mut command = Command::new(binary);
    command
        .args(["demo", "--listen", &format!("127.0.0.1:{port}"), "--dir"])
        .arg(&folder);
    let server = Server::start("demo", &mut command, port, "/healthz", scratch)?;
    schemas::live(server.port)?;
    let exported = exported_lines(&demo)?;
    let set = largest_top_set(&exported).context("the demo has no set that selects anything")?;
    compare_all("the demo", port, harvesters, &selections(&exported, &set, "")?)
}

const RECORDS: u64 = 10_000;
/// As many of them come with a second import, which also deletes.
const LATER_RECORDS: u64 = 1_200;
/// Every how many records one is deleted.
const DELETED_STEP: usize = 17;

fn harvest_generated(binary: &Path, folder: &Path, database: Option<&str>, harvesters: &[&Harvester]) -> Result<()> {
    let repository = Repository::init(binary, folder, free_port()?)?;
    let what = match database {
        None => "10,000 records",
        Some(url) => {
            repository.keep_in(url)?;
            "10,000 records in PostgreSQL"
        }
    };
    // 300 leaves no page of one record, which the npm client cannot read.
    repository.configure("[[repository]]", "page_size", "300")?;
    let first = RECORDS - LATER_RECORDS;
    import(&repository, &folder.join("first.jsonl"), |out| {
        records::write(out, 0, first)
    })?;
    let before = latest_datestamp(&exported_lines(&repository)?);
    // Another second, so that a range of dates can tell the two imports apart.
    thread::sleep(Duration::from_millis(2_100));
    import(&repository, &folder.join("later.jsonl"), |out| {
        records::write(out, first, RECORDS)?;
        records::write_deletions(out, first, DELETED_STEP)
    })?;
    let exported = exported_lines(&repository)?;
    let server = repository.serve()?;
    let selections = selections(&exported, records::PARENT_SET, &before)?;
    compare_all(what, server.port, harvesters, &selections)
}

fn import(
    repository: &Repository,
    file: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    let mut out = BufWriter::new(File::create(file).with_context(|| format!("making {}", file.display()))?);
    write(&mut out)
        .and_then(|()| out.flush())
        .with_context(|| format!("writing {}", file.display()))?;
    output(repository.stook().arg("import").arg(file))?;
    Ok(())
}

/// What the store holds, in the form in which the scripts print what they got.
fn exported_lines(repository: &Repository) -> Result<Vec<String>> {
    let exported = output(
        repository
            .stook()
            .args(["export", "--format", "jsonl", "--prefix", "oai_dc"]),
    )?;
    let text = String::from_utf8(exported).context("reading the export")?;
    let mut lines = Vec::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).context("reading the export")?;
        lines.push(record_line(&record)?);
    }
    lines.sort();
    Ok(lines)
}

fn record_line(record: &Value) -> Result<String> {
    let text = |key: &str| {
        record[key]
            .as_str()
            .with_context(|| format!("an exported record without {key}: {record}"))
    };
    let deleted = record["deleted"].as_bool().unwrap_or(false);
    let mut sets: Vec<&str> = record["sets"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    sets.sort_unstable();
    Ok(format!(
        "{}\t{}\t{}\t{}",
        text("identifier")?,
        text("datestamp")?,
        u8::from(deleted),
        sets.join(" ")
    ))
}

/// The whole list, one set, and what was published later than `before`.
fn selections(exported: &[String], set: &str, before: &str) -> Result<Vec<Selection>> {
    if !exported.iter().any(|line| is_deleted(line)) {
        bail!("the export has no deleted record, so harvesting it would prove little");
    }
    let below = format!("{set}:");
    let in_set = |line: &&String| sets_of(line).any(|spec| spec == set || spec.starts_with(&below));
    let later = |line: &&String| datestamp_of(line) > before;
    let from = exported
        .iter()
        .filter(later)
        .map(|line| datestamp_of(line))
        .min()
        .context("nothing came later")?;
    let until = latest_datestamp(exported);
    Ok(vec![
        Selection {
            what: "everything".to_owned(),
            arguments: Vec::new(),
            expected: exported.to_vec(),
        },
        Selection {
            what: format!("the set {set}"),
            arguments: vec![format!("set={set}")],
            expected: exported.iter().filter(in_set).cloned().collect(),
        },
        Selection {
            what: format!("{from} to {until}"),
            arguments: vec![format!("from={from}"), format!("until={until}")],
            expected: exported.iter().filter(later).cloned().collect(),
        },
    ])
}

/// The set at the top of its hierarchy that holds most, but not everything.
fn largest_top_set(exported: &[String]) -> Option<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for line in exported {
        let tops: BTreeSet<&str> = sets_of(line).filter_map(|set| set.split(':').next()).collect();
        for top in tops {
            *counts.entry(top).or_default() += 1;
        }
    }
    let selective = counts.into_iter().filter(|(_, count)| *count < exported.len());
    selective.max_by_key(|(_, count)| *count).map(|(set, _)| set.to_owned())
}

fn datestamp_of(line: &str) -> &str {
    line.split('\t').nth(1).unwrap_or_default()
}

fn latest_datestamp(exported: &[String]) -> String {
    exported
        .iter()
        .map(|line| datestamp_of(line))
        .max()
        .unwrap_or_default()
        .to_owned()
}

fn is_deleted(line: &str) -> bool {
    line.split('\t').nth(2) == Some("1")
}

fn sets_of(line: &str) -> impl Iterator<Item = &str> {
    line.split('\t').nth(3).unwrap_or_default().split_whitespace()
}

/// All clients at once: they take the better part of a minute one by one, and
/// a server that mixed up its clients would show it here.
fn compare_all(what: &str, port: u16, harvesters: &[&Harvester], selections: &[Selection]) -> Result<()> {
    let results: Vec<Result<()>> = thread::scope(|scope| {
        let running: Vec<_> = harvesters
            .iter()
            .map(|harvester| scope.spawn(move || compare_one(what, port, harvester, selections)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a harvest panicked"))))
            .collect()
    });
    let failures: Vec<String> = results
        .into_iter()
        .filter_map(|result| result.err().map(|error| format!("{error:#}")))
        .collect();
    if failures.is_empty() {
        return Ok(());
    }
    bail!("{}", failures.join("\n"))
}

fn compare_one(what: &str, port: u16, harvester: &Harvester, selections: &[Selection]) -> Result<()> {
    for selection in selections {
        let started = Instant::now();
        let mut command = (harvester.command)()?;
        command.arg(base_url(port)).args(&selection.arguments);
        let harvested = output(&mut command)
            .with_context(|| format!("{} harvesting {} of {what}", harvester.name, selection.what))?;
        let harvested = String::from_utf8(harvested).context("reading what a client printed")?;
        let mut lines: Vec<&str> = harvested.lines().collect();
        lines.sort_unstable();
        if let Some(differences) = differences(&selection.expected, &lines) {
            bail!(
                "{} harvesting {what}, {}, ended with {} records, the store has {}:\n{differences}",
                harvester.name,
                selection.what,
                lines.len(),
                selection.expected.len()
            );
        }
        let deleted = lines.iter().filter(|line| is_deleted(line)).count();
        println!(
            "{:<9} {what}, {}: {} records, {deleted} of them deleted, equal to the store ({:.1} s)",
            harvester.name,
            selection.what,
            lines.len(),
            started.elapsed().as_secs_f64()
        );
    }
    Ok(())
}

/// The first ten lines that only one of two sorted lists has.
fn differences(expected: &[String], harvested: &[&str]) -> Option<String> {
    let mut shown = Vec::new();
    let (mut left, mut right) = (expected.iter().peekable(), harvested.iter().peekable());
    while shown.len() < 10 {
        match (left.peek(), right.peek()) {
            (Some(wanted), Some(got)) if wanted.as_str() == **got => {
                left.next();
                right.next();
            }
            (Some(wanted), got) if got.is_none_or(|got| wanted.as_str() < **got) => {
                shown.push(format!("  missing: {wanted}"));
                left.next();
            }
            (_, Some(got)) => {
                shown.push(format!("  too much: {got}"));
                right.next();
            }
            _ => break,
        }
    }
    if shown.is_empty() { None } else { Some(shown.join("\n")) }
}

fn python(environment: &install::Environment, name: &str) -> Result<Command> {
    let mut command = Command::new(environment.program("python")?);
    command.arg(script(name));
    Ok(command)
}

fn script(name: &str) -> std::path::PathBuf {
    root().join("xtask/interop").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_told() {
        let expected = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(differences(&expected, &["a", "b", "c"]), None);
        assert_eq!(
            differences(&expected, &["a", "a", "d"]).as_deref(),
            Some("  too much: a\n  missing: b\n  missing: c\n  too much: d")
        );
        assert_eq!(differences(&expected, &["a", "b"]).as_deref(), Some("  missing: c"));
        assert_eq!(differences(&[], &["x"]).as_deref(), Some("  too much: x"));
    }
}
