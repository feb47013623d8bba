//! `stook quarantine`: what could not be published, and why.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;

use super::Ending;
use super::session::{Place, Session};
use crate::count::counted;

/// Show what could not be published, where it came from and why
#[derive(Args)]
#[command(after_help = "\
Mend the input and import it again: what then succeeds leaves the quarantine. Records of a source are asked for
again by its next harvest.

Examples:
  stook quarantine
  stook quarantine -r example         of the source `example`
  stook quarantine --content          with each record as it came, long ones cut
  stook quarantine --json | jq .reason
  stook quarantine --clear")]
pub(super) struct Quarantine {
    /// Show the beginning of each record too
    #[arg(long)]
    content: bool,
    /// As JSON lines, for programs
    #[arg(long, conflicts_with = "clear")]
    json: bool,
    /// Empty the quarantine
    #[arg(long, conflicts_with = "content")]
    clear: bool,
}

impl Quarantine {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::look(place)?;
        if self.clear {
            println!(
                "Cleared {}.",
                counted(session.store.clear_quarantine(session.repository)?, "entry")
            );
            return Ok(Ending::Fine);
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        let (mut entries, mut failure) = (0, None);
        session.store.quarantined(session.repository, |entry| {
            entries += 1;
            if failure.is_some() {
                return;
            }
            let written = if self.json {
                let line = serde_json::json!({
                    "source": entry.source, "line": entry.line, "identifier": entry.identifier,
                    "reason": entry.reason, "content": String::from_utf8_lossy(&entry.excerpt),
                });
                writeln!(out, "{line}")
            } else {
                self.print(&mut out, &entry)
            };
            failure = written.err();
        })?;
        if let Some(error) = failure {
            return Err(error.into());
        }
        out.flush()?;
        if entries == 0 && !self.json {
            println!("Nothing is quarantined.");
        }
        Ok(Ending::Fine)
    }

    fn print(&self, out: &mut impl Write, entry: &stook_store::Quarantined) -> io::Result<()> {
        // What was harvested has no lines.
        match entry.line {
            0 => write!(out, "{}: ", entry.source)?,
            line => write!(out, "{}:{line}: ", entry.source)?,
        }
        if let Some(identifier) = &entry.identifier {
            write!(out, "{identifier}: ")?;
        }
        writeln!(out, "{}", entry.reason)?;
        if self.content {
            // The input is not to be trusted with the terminal.
            let text: String = String::from_utf8_lossy(&entry.excerpt)
                .chars()
                .map(|c| {
                    if c.is_control() && c != '\n' && c != '\t' {
                        '\u{fffd}'
                    } else {
                        c
                    }
                })
                .collect();
            writeln!(out, "    {}", text.trim_end().replace('\n', "\n    "))?;
        }
        Ok(())
    }
}
