//! Harvests real servers with `stook harvest` and compares what it ends with
//! to what they were given.
//!
//! What enters is the release binary. Each server gets some thousand records
//! with sets three levels deep and, where it can tell them, deletions. It is
//! harvested into a fresh store, then one of its sets without a store; then
//! its records change and it is harvested again. What leaves is a list of
//! differences in identifiers, datestamps, deletions, sets or metadata, none
//! if all is well.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::given::{Metadata, Record, listed, revised, sets_above, spread};
use super::{DELETED_STEP, differences, import};
use crate::peers::{PEERS, Peer};
use crate::records;
use crate::server::{Repository, base_url};
use crate::workspace::{free_port, output};

/// As many records are given to a server at first.
const RECORDS: u64 = 3_000;
const PAGE_SIZE: usize = 100;

/// A server, and what harvesting it can be held to.
struct Subject {
    name: &'static str,
    /// None for our own.
    peer: Option<&'static str>,
    metadata: Metadata,
    /// It says what it has deleted.
    tells_deletions: bool,
}

const SUBJECTS: &[Subject] = &[
    Subject {
        name: "stook",
        peer: None,
        metadata: Metadata::Bytes,
        tells_deletions: true,
    },
    Subject {
        name: "pyoai-server",
        peer: Some("pyoai"),
        // It writes Dublin Core anew, in an order of its own.
        metadata: Metadata::Statements,
        tells_deletions: true,
    },
    Subject {
        name: "oai-repo",
        peer: Some("oai-repo"),
        // It moves namespace declarations to its own root.
        metadata: Metadata::Statements,
        tells_deletions: false,
    },
    Subject {
        name: "catmandu",
        peer: Some("Catmandu"),
        metadata: Metadata::Bytes,
        tells_deletions: true,
    },
];

/// What the servers are called on the command line.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SUBJECTS.iter().map(|subject| subject.name)
}

/// Harvests the servers of these names.
///
/// # Errors
/// When something differs; all servers are tried first.
pub(super) fn run(binary: &Path, scratch: &Path, chosen: &[&str]) -> Result<()> {
    let chosen: Vec<&Subject> = SUBJECTS
        .iter()
        .filter(|subject| chosen.contains(&subject.name))
        .collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let origin = origin(binary, &scratch.join("origin"))?;
    let given = spread(exported(&origin, "main")?)?;
    let mut failures = Vec::new();
    for subject in chosen {
        let folder = scratch.join(subject.name);
        let outcome = match subject.peer {
            None => harvest_ourselves(subject, &origin, &folder),
            Some(peer) => {
                let peer = PEERS.iter().find(|candidate| candidate.name == peer);
                harvest_peer(subject, peer.context("an unknown peer")?, &given, binary, &folder)
            }
        };
        failures.extend(
            outcome
                .err()
                .map(|error| format!("harvesting {}: {error:#}", subject.name)),
        );
    }
    if failures.is_empty() {
        return Ok(());
    }
    bail!("{}", failures.join("\n"))
}

/// A repository of our own, from whose export the peers get their records.
///
/// # Errors
/// When it cannot be made.
pub(super) fn origin(binary: &Path, folder: &Path) -> Result<Repository> {
    let origin = Repository::init(binary, folder, free_port()?)?;
    import(&origin, &folder.join("first.jsonl"), |out| {
        records::write(out, 0, RECORDS)
    })?;
    import(&origin, &folder.join("deletions.jsonl"), |out| {
        records::write_deletions(out, RECORDS, DELETED_STEP)
    })?;
    Ok(origin)
}

fn harvest_ourselves(subject: &Subject, origin: &Repository, folder: &Path) -> Result<()> {
    let _server = origin.serve()?;
    let given = exported(origin, "main")?;
    let harvest = Harvest::begin(subject, &origin.binary, folder, origin.port)?;
    harvest.whole(&given)?;
    harvest.one_set(&given)?;
    import(origin, &folder.join("later.jsonl"), |out| {
        records::write_deletions(out, RECORDS, DELETED_STEP + 12)
    })?;
    import(origin, &folder.join("last.jsonl"), |out| {
        // The first of these come back to life, the last are new.
        records::write(out, 0, 100)?;
        records::write(out, RECORDS, RECORDS + 100)
    })?;
    let said = harvest.again(&[], &exported(origin, "main")?)?;
    if said.contains("What the source did") {
        bail!("our own server is said to break the protocol:\n{said}");
    }
    Ok(())
}

fn harvest_peer(subject: &Subject, peer: &Peer, given: &[Record], binary: &Path, folder: &Path) -> Result<()> {
    let harvest = Harvest::begin(subject, binary, folder, free_port()?)?;
    let start = |given: &[Record], name: &str| {
        let file = folder.join(name);
        write_given(given, &file)?;
        peer.start_on(harvest.port, &file, PAGE_SIZE, folder)
    };
    let server = start(given, "given.jsonl")?;
    let live: Vec<Record> = given.iter().filter(|record| !record.is_deleted()).cloned().collect();
    let before = if subject.tells_deletions { given } else { &live };
    harvest.whole(before)?;
    harvest.one_set(before)?;
    drop(server);

    let changed = revised(given)?;
    let _server = start(&changed, "changed.jsonl")?;
    if subject.tells_deletions {
        let said = harvest.again(&[], &changed)?;
        return asked_for_less(&said, changed.len());
    }
    // Deletions that nobody announced are found by comparing identifiers;
    // a record that was never listed is not known to be deleted.
    let known: BTreeSet<&str> = before.iter().map(|record| record.identifier.as_str()).collect();
    let expected: Vec<Record> = changed
        .iter()
        .filter(|record| !record.is_deleted() || known.contains(record.identifier.as_str()))
        .cloned()
        .collect();
    let said = harvest.again(&["--verify"], &expected)?;
    asked_for_less(&said, changed.len())
}

/// Writes what a server is given, as JSON lines.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write_given(given: &[Record], file: &Path) -> Result<()> {
    let mut out = BufWriter::new(File::create(file).with_context(|| format!("making {}", file.display()))?);
    for record in given {
        writeln!(out, "{}", record.json())?;
    }
    Ok(out.flush()?)
}

/// Of records with old datestamps a second harvest asks for few.
fn asked_for_less(said: &str, all: usize) -> Result<()> {
    let (before, _) = said.split_once(" records received").context("no summary")?;
    let number = before.rsplit(' ').next().unwrap_or_default().replace(',', "");
    let received: usize = number.parse().context("reading the summary")?;
    if received > all / 2 {
        bail!("few records changed, but {received} of {all} were harvested again:\n{said}");
    }
    Ok(())
}

/// A store of our own and the server that is harvested into it.
struct Harvest<'a> {
    subject: &'a Subject,
    store: Repository,
    port: u16,
}

impl<'a> Harvest<'a> {
    fn begin(subject: &'a Subject, binary: &Path, folder: &Path, port: u16) -> Result<Self> {
        let store = Repository::init(binary, &folder.join("store"), free_port()?)?;
        Ok(Self { subject, store, port })
    }

    fn whole(&self, given: &[Record]) -> Result<String> {
        self.to_store("everything", &[&base_url(self.port)], given)
    }

    /// Once more, by the name of the source, after its records changed.
    fn again(&self, arguments: &[&str], given: &[Record]) -> Result<String> {
        self.to_store("what changed", &[&[self.source().as_str()], arguments].concat(), given)
    }

    /// The name that a source on loopback gets when it is harvested by its URL.
    fn source(&self) -> String {
        format!("127-0-0-1-{}", self.port)
    }

    /// Harvests and compares; what leaves is the summary.
    fn to_store(&self, what: &str, arguments: &[&str], given: &[Record]) -> Result<String> {
        let started = Instant::now();
        let said = output(self.store.stook().arg("harvest").args(arguments))?;
        let said = String::from_utf8(said).context("reading the summary")?;
        let source = self.source();
        let harvested = exported(&self.store, &source)?;
        self.compare(what, given, &harvested, started)
            .with_context(|| said.clone())?;
        let named = listed(&output(self.store.stook().args(["-r", &source, "set", "list"]))?);
        let missing: Vec<String> = sets_above(given).difference(&named).cloned().collect();
        if !missing.is_empty() {
            bail!("{what}: these sets are not known: {}", missing.join(", "));
        }
        Ok(said)
    }

    /// One set, and what is below it, straight to standard output.
    fn one_set(&self, given: &[Record]) -> Result<()> {
        let started = Instant::now();
        let set = records::PARENT_SET;
        let mut command: Command = self.store.stook();
        command.args(["harvest", &base_url(self.port), "--set", set, "--output", "-"]);
        let harvested = Record::parse_all(&output(&mut command)?)?;
        let selected: Vec<Record> = given.iter().filter(|record| record.is_in(set)).cloned().collect();
        self.compare(&format!("the set {set}"), &selected, &harvested, started)
    }

    fn compare(&self, what: &str, given: &[Record], harvested: &[Record], started: Instant) -> Result<()> {
        let lines = |records: &[Record]| -> Result<Vec<String>> {
            let lines = records.iter().map(|record| record.line(self.subject.metadata));
            let mut lines = lines.collect::<Result<Vec<_>>>()?;
            lines.sort_unstable();
            Ok(lines)
        };
        let (expected, got) = (lines(given)?, lines(harvested)?);
        let shown: Vec<&str> = got.iter().map(String::as_str).collect();
        if let Some(differences) = differences(&expected, &shown) {
            bail!(
                "{what}: harvested {} records, the server has {}:\n{differences}",
                got.len(),
                expected.len()
            );
        }
        let deleted = given.iter().filter(|record| record.is_deleted()).count();
        println!(
            "{:<12} harvested, {what}: {} records, {deleted} of them deleted, equal to the server's ({:.1} s)",
            self.subject.name,
            got.len(),
            started.elapsed().as_secs_f64()
        );
        Ok(())
    }
}

/// What a repository of a store holds.
///
/// # Errors
/// When it cannot be exported.
pub(super) fn exported(store: &Repository, repository: &str) -> Result<Vec<Record>> {
    let exported = output(
        store
            .stook()
            .args(["-r", repository, "export", "--format", "jsonl", "--prefix", "oai_dc"]),
    )?;
    Record::parse_all(&exported)
}
