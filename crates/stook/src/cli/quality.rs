//! `stook quality`: what records could say better, and what could be done about it.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::{Value, json};
use stook_metadata::quality::{Code, Example, RECOMMENDATIONS, Report, Tally};
use stook_oai::{MetadataPrefix, SetSpec};
use stook_store::{Position, RepositoryId, Snapshot, Span, StoreError};

use super::session::{Place, Session};
use super::{Ending, progress, stop};
use crate::count::{counted, grouped, noun};
use crate::crosswalk::refresh::{self, Given};

/// Records looked at in one go.
const STEP: usize = 2_000;
/// So much of a mapping is shown; the file has all of it.
const SHOWN_LINES: usize = 40;
/// So much of a value is shown.
const SHOWN_CHARACTERS: usize = 90;

/// Say what records could say better by what is recommended for Dublin Core
#[derive(Args)]
#[command(after_help = "\
Looks at every record in oai_dc: dates by ISO 8601, languages by ISO 639, one value in each element, types of the DCMI
vocabulary, and more (docs/quality.md). Nothing is changed. What can be put right mechanically is offered as a mapping, to be
read, changed and used when the records are imported again:
  stook quality
  stook quality --fix fixes.map
  stook import --mapping fixes.map records.csv

More examples:
  stook quality -n 20 --only date-form
  stook quality --set maps --json | jq '.findings[].code'

Exit code 0: nothing is amiss; hints alone do not count. 1: something is, listed on standard output.")]
pub(super) struct Quality {
    /// Show so many examples of each finding
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 3)]
    examples: usize,
    /// Only records of this set
    #[arg(long, value_name = "SETSPEC")]
    set: Option<String>,
    /// Look for this kind of finding only, such as date-form
    #[arg(long, value_name = "CODE", value_parser = code)]
    only: Option<Code>,
    /// Write the mapping that is offered to a new file
    #[arg(long, value_name = "FILE")]
    fix: Option<PathBuf>,
    /// As one JSON object, for programs
    #[arg(long)]
    json: bool,
}

fn code(name: &str) -> Result<Code, String> {
    let known = RECOMMENDATIONS.map(|known| known.name).join(", ");
    Code::from_name(name).ok_or_else(|| format!("use one of {known}"))
}

impl Quality {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::look(place)?;
        if let Some(path) = self.fix.as_deref().filter(|path| path.exists()) {
            bail!(
                "{} is there already, and may have been changed by somebody\nTry: another name, or remove it",
                path.display()
            );
        }
        let stop = stop::on_signal("Stopping …")?;
        let report = self.look(&session, &stop)?;
        let stopped = stop.load(Relaxed);
        let mapping = report.fixes.mapping();
        match self.json {
            true => println!(
                "{}",
                in_json(&report, mapping.as_deref(), &session.settings.name, stopped)
            ),
            false => print!("{}", in_words(&report, mapping.as_deref(), self.fix.is_none())),
        }
        if stopped {
            eprintln!("Stopped: this is about the records looked at so far.");
        }
        if let Some(path) = &self.fix {
            write(path, mapping.as_deref().filter(|_| !stopped))?;
        }
        Ok(match report.improvable > 0 || stopped {
            true => Ending::Findings,
            false => Ending::Fine,
        })
    }

    fn look(&self, session: &Session, stop: &AtomicBool) -> Result<Report> {
        let set = self.set.as_deref().map(SetSpec::parse).transpose()?;
        let mut report = Report::new(self.examples, self.only);
        let oai_dc = MetadataPrefix::oai_dc();
        let found = session.store.look_up(|snapshot| {
            if let Some(set) = &set
                && snapshot.set(session.repository, set)?.is_none()
            {
                return Ok(None);
            }
            let list = snapshot.list(session.repository, &oai_dc, set.as_ref())?;
            let count = list.map_or(Ok(0), |list| snapshot.count(list, Span::ALL))?;
            let others = snapshot.formats(session.repository)?.len() > 1;
            Ok(Some((list, snapshot.last(), count, others)))
        })?;
        let Some((list, through, count, others)) = found else {
            let set = self.set.as_deref().unwrap_or_default();
            bail!("there is no set {set}\nTry: stook set list");
        };
        let Some(list) = list else { return Ok(report) };
        let bar = progress::count(count);
        bar.set_message("records");
        let mut span = Span {
            after: Position::START,
            through,
        };
        while !stop.load(Relaxed) {
            let (records, last, more, made) = session.store.look_up(|snapshot| {
                let (records, last, more) = refresh::read(snapshot, list, span, STEP)?;
                // Where there is but one format, nothing can be made of another.
                let made = match others {
                    true => made(snapshot, session.repository, &records)?,
                    false => HashSet::new(),
                };
                Ok((records, last, more, made))
            })?;
            for record in &records {
                let Some(metadata) = &record.metadata else { continue };
                match made.contains(&record.identifier) {
                    true => report.look_at_made(&record.identifier, metadata),
                    false => report.look_at(&record.identifier, metadata),
                }
            }
            bar.inc(records.len() as u64);
            if !more {
                break;
            }
            span.after = last;
        }
        bar.finish_and_clear();
        Ok(report)
    }
}

/// Those of the records that are made of another format.
fn made(snapshot: &Snapshot, repository: RepositoryId, records: &[Given]) -> Result<HashSet<String>, StoreError> {
    let mut made = HashSet::new();
    for Given { identifier, .. } in records {
        let known = snapshot.known(repository, &MetadataPrefix::oai_dc(), identifier)?;
        if known.is_some_and(|known| known.derived) {
            made.insert(identifier.clone());
        }
    }
    Ok(made)
}

/// Writes the mapping. The file gets its name when it is complete.
fn write(path: &Path, mapping: Option<&str>) -> Result<()> {
    let Some(mapping) = mapping else {
        eprintln!("There is no mapping to write to {}.", path.display());
        return Ok(());
    };
    let writing = || format!("writing {}", path.display());
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    std::fs::write(&partial, mapping).with_context(writing)?;
    std::fs::rename(&partial, path).with_context(writing)?;
    eprintln!(
        "The mapping is in {0}. Read it, then: stook import --mapping {0} FILE",
        path.display()
    );
    Ok(())
}

fn in_json(report: &Report, mapping: Option<&str>, repository: &str, stopped: bool) -> Value {
    let example = |example: &Example| {
        json!({
            "identifier": example.identifier, "element": example.element.as_str(), "value": example.value,
        })
    };
    let finding = |(code, tally): (Code, &Tally)| {
        let known = code.recommendation();
        json!({
            "code": known.name, "records": tally.records, "values": tally.values,
            "share": tally.records as f64 / report.records.max(1) as f64,
            "recommended": known.sentence, "by": known.by, "hint": known.is_hint,
            "examples": tally.examples.iter().map(example).collect::<Vec<_>>(),
        })
    };
    json!({
        "repository": repository, "records": report.records, "improvable": report.improvable, "made": report.made, "stopped": stopped,
        "findings": report.tallies().map(finding).collect::<Vec<_>>(), "mapping": mapping,
    })
}

fn in_words(report: &Report, mapping: Option<&str>, shows_mapping: bool) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:>12} {} looked at",
        grouped(report.records),
        noun(report.records, "record")
    );
    let improvable = (grouped(report.improvable), share(report.improvable, report.records));
    match report.improvable {
        0 if report.tallies().next().is_some() => {
            text.push_str("             Nothing is amiss, but there are hints.\n")
        }
        0 => text.push_str("             None of them could say anything better.\n"),
        _ => drop(writeln!(
            text,
            "{:>12} could say some things better, {}",
            improvable.0, improvable.1
        )),
    }
    if report.made > 0 {
        let _ = writeln!(
            text,
            "{:>12} of these are made of other formats: mend those, or the crosswalk; no mapping is offered for them",
            grouped(report.made)
        );
    }
    for (code, tally) in report.tallies() {
        write_finding(&mut text, code, tally, report.records);
    }
    if let Some(mapping) = mapping.filter(|_| shows_mapping) {
        text.push_str("\nOffered as a mapping; --fix FILE writes it to a file:\n\n");
        let lines: Vec<&str> = mapping.lines().collect();
        for line in lines.iter().take(SHOWN_LINES) {
            let _ = writeln!(text, "    {line}");
        }
        if lines.len() > SHOWN_LINES {
            let more = (lines.len() - SHOWN_LINES) as u64;
            let _ = writeln!(text, "    … {} more {}", grouped(more), noun(more, "line"));
        }
    }
    text
}

fn write_finding(text: &mut String, code: Code, tally: &Tally, of: u64) {
    let known = code.recommendation();
    let _ = writeln!(
        text,
        "\n{}{}  in {}, {} ({})\n    {}",
        known.name,
        if known.is_hint { " (a hint)" } else { "" },
        counted(tally.records, "record"),
        share(tally.records, of),
        counted(tally.values, "value"),
        known.sentence
    );
    let width = tally
        .examples
        .iter()
        .map(|example| example.identifier.chars().count())
        .max();
    let width = width.unwrap_or(0).min(60);
    for example in &tally.examples {
        let Example {
            identifier,
            element,
            value,
        } = example;
        let element = element.as_str();
        let _ = match value.as_deref() {
            None => writeln!(text, "    {identifier:<width$}  no {element}"),
            Some("") => writeln!(text, "    {identifier:<width$}  {element}: empty"),
            Some(value) => writeln!(text, "    {identifier:<width$}  {element}: {}", beginning(value)),
        };
    }
}

fn beginning(value: &str) -> String {
    match value.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// A part of a whole, for people. A little is never nothing, and not quite all is never all.
fn share(part: u64, of: u64) -> String {
    let percent = part as f64 * 100.0 / of.max(1) as f64;
    match percent {
        percent if part == 0 || part == of => format!("{percent:.0}%"),
        percent if percent < 0.1 => "under 0.1%".to_owned(),
        percent if percent < 10.0 => format!("{percent:.1}%"),
        percent => format!("{}%", percent.min(99.0).round()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_honest() {
        for (part, of, text) in [
            (0, 0, "0%"),
            (0, 9, "0%"),
            (9, 9, "100%"),
            (1, 100_000, "under 0.1%"),
            (25, 1_000, "2.5%"),
            (1, 2, "50%"),
            (99_999, 100_000, "99%"),
        ] {
            assert_eq!(share(part, of), text);
        }
    }
}
