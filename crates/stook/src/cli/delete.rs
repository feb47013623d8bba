//! `stook delete`: withdraw records.

use std::io::{self, BufRead};

use anyhow::{Result, bail};
use clap::Args;
use stook_oai::{Identifier, MetadataPrefix};
use stook_store::{Change, Content, Outcome};

use super::Ending;
use super::session::{Place, Session};
use crate::count::{counted, verb};

/// Records changed in one transaction.
const BATCH: usize = 1_000;

/// Withdraw records: harvesters are told that they are deleted
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook delete map-001 map-002
  stook delete --erase thesis-0042            forget the content too
  stook export --set old | jq -r .identifier | stook delete -

A deleted record stays known as deleted for ever. Importing it again brings it back.")]
pub(super) struct Delete {
    /// Identifiers, full or local; - reads them from standard input, one a line
    #[arg(required = true, value_name = "IDENTIFIER")]
    identifiers: Vec<String>,
    /// Only in this metadata format
    #[arg(long)]
    prefix: Option<String>,
    /// Forget the content, so that it cannot be restored
    #[arg(long)]
    erase: bool,
}

impl Delete {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let content = if self.erase { Content::Erased } else { Content::Deleted };
        let report = apply(place, &self.identifiers, self.prefix.as_deref(), &content)?;
        println!(
            "Deleted {}; {} {} deleted before.",
            counted(report.changed as u64, "record"),
            report.unchanged,
            verb(report.unchanged as u64, "was", "were")
        );
        report.end()
    }
}

/// What came of a deletion or restoration.
pub(super) struct Report {
    pub(super) changed: usize,
    pub(super) unchanged: usize,
    pub(super) missing: Vec<String>,
    pub(super) nothing_to_restore: usize,
}

impl Report {
    /// Names what was not there.
    pub(super) fn end(&self) -> Result<Ending> {
        if self.missing.is_empty() && self.nothing_to_restore == 0 {
            return Ok(Ending::Fine);
        }
        for identifier in self.missing.iter().take(20) {
            eprintln!("There is no record {identifier}.");
        }
        if self.missing.len() > 20 {
            eprintln!("… and {} more.", self.missing.len() - 20);
        }
        if self.nothing_to_restore > 0 {
            eprintln!(
                "{} {} no content to restore. Try: import again.",
                counted(self.nothing_to_restore as u64, "record"),
                verb(self.nothing_to_restore as u64, "has", "have")
            );
        }
        Ok(Ending::Findings)
    }
}

/// Gives records new content in every format they have, or in one.
pub(super) fn apply(place: &Place, identifiers: &[String], prefix: Option<&str>, content: &Content) -> Result<Report> {
    let session = Session::look(place)?;
    let formats: Vec<MetadataPrefix> = session
        .store
        .read()?
        .formats(session.repository)?
        .into_iter()
        .map(|format| format.prefix)
        .collect();
    let wanted: Vec<MetadataPrefix> = formats
        .into_iter()
        .filter(|format| prefix.is_none_or(|prefix| format.as_str() == prefix))
        .collect();
    if wanted.is_empty() {
        bail!(
            "there are no records in the format {}\nTry: stook status lists the formats",
            prefix.unwrap_or_default()
        );
    }
    let mut report = Report {
        changed: 0,
        unchanged: 0,
        missing: vec![],
        nothing_to_restore: 0,
    };
    let identifiers = read(&session, identifiers)?;
    for chunk in identifiers.chunks(BATCH) {
        let mut changes = Vec::new();
        for identifier in chunk {
            let mut snapshot = session.store.read()?;
            let before = changes.len();
            for prefix in &wanted {
                let exists = snapshot.record(session.repository, prefix, identifier.as_str(), |_| Ok(()))?;
                if exists {
                    let (identifier, prefix) = (identifier.clone(), prefix.clone());
                    changes.push(Change {
                        identifier,
                        prefix,
                        set_specs: vec![],
                        content: content.clone(),
                    });
                }
            }
            if changes.len() == before {
                report.missing.push(identifier.to_string());
            }
        }
        for outcome in session.store.apply(session.repository, changes)? {
            match outcome {
                Outcome::NothingToRestore => report.nothing_to_restore += 1,
                outcome if outcome.is_published() => report.changed += 1,
                _ => report.unchanged += 1,
            }
        }
    }
    Ok(report)
}

fn read(session: &Session, given: &[String]) -> Result<Vec<Identifier>> {
    let mut identifiers = Vec::new();
    for text in given {
        if text != "-" {
            identifiers.push(session.identifier(text)?);
            continue;
        }
        for line in io::stdin().lock().lines() {
            let line = line?;
            if !line.trim().is_empty() {
                identifiers.push(session.identifier(line.trim())?);
            }
        }
    }
    Ok(identifiers)
}
