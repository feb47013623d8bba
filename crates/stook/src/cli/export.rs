//! `stook export`: everything out again, in forms that `stook import` and other tools read.

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use stook_oai::request::{ListRequest, Request};
use stook_oai::response::{Echo, ResponseWriter, split_fragment};
use stook_oai::{MetadataPrefix, SetSpec, UtcDatetime};
use stook_store::{List, Position, Snapshot, Span, StoreError, StoredRecord};

use super::marc::MarcFormat;
use super::output::{Line, Output, OutputFormat};
use super::session::{Place, Session};
use super::{Ending, progress};
use crate::count::counted;

/// Write records out, as JSON lines, as one OAI-PMH document or as MARC
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook export > records.jsonl
  stook export --format xml -o records.xml.gz
  stook export --format marc -o catalogue.mrc
  stook export --set maps --from 2026-01-01 | jq -r .identifier

What is exported can be imported again; datestamps are new then. MARC is written as ISO 2709 in UTF-8, without records
that are deleted or too long for it; those that are too long are named, and the exit code is then 1.")]
pub(super) struct Export {
    /// The form of the output
    #[arg(long, value_enum, default_value = "jsonl")]
    format: OutputFormat,
    /// File to write; .gz and .zst compress. Default: standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Metadata format; for JSON lines the default is all of them, for XML oai_dc, for MARC marc21
    #[arg(long)]
    prefix: Option<String>,
    /// Only records of this set
    #[arg(long, value_name = "SETSPEC")]
    set: Option<String>,
    /// Only records with this datestamp or later (2026-01-31 or 2026-01-31T12:00:00Z)
    #[arg(long, value_name = "DATE")]
    from: Option<String>,
    /// Only records with this datestamp or earlier
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
}

impl Export {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::look(place)?;
        let mut snapshot = session.store.read()?;
        let set = self.set.as_deref().map(SetSpec::parse).transpose()?;
        if let Some(set) = &set
            && snapshot.set(session.repository, set)?.is_none()
        {
            bail!("there is no set {set}\nTry: stook set list");
        }
        let date = |text: &Option<String>| text.as_deref().map(UtcDatetime::parse).transpose();
        let (from, until) = (date(&self.from)?, date(&self.until)?);
        let span = Span {
            after: from.map_or(Position::START, |from| Position::first_of(from.first_second()).before()),
            through: until.map_or(Position::END, |until| Position::last_of(until.last_second())),
        };
        let mut out = Output::open(self.output.as_deref())?;
        let mut exported = 0;
        let mut left_out = LeftOut::default();
        for prefix in self.prefixes(&session, &snapshot)? {
            let Some(list) = snapshot.list(session.repository, &prefix, set.as_ref())? else {
                continue;
            };
            let total = snapshot.count(list, span)?;
            let bar = progress::count(if self.output.is_some() && io::stderr().is_terminal() {
                total
            } else {
                0
            });
            match self.format {
                OutputFormat::Marc => {
                    let formats = snapshot.formats(session.repository)?;
                    let Some(format) = formats.iter().find(|format| format.prefix == prefix) else {
                        continue;
                    };
                    let format = MarcFormat::of(format)?;
                    left_out = write_marc(&mut snapshot, list, span, format, &mut out, &bar)?;
                }
                OutputFormat::Jsonl => write_json_lines(&mut snapshot, list, span, &prefix, &mut out, &bar)?,
                OutputFormat::Xml => {
                    let request = ListRequest::Selection {
                        metadata_prefix: prefix,
                        from,
                        until,
                        set: set.clone(),
                    };
                    write_xml(
                        &mut snapshot,
                        list,
                        span,
                        &session,
                        &Request::ListRecords(request),
                        &mut out,
                        &bar,
                    )?;
                }
            }
            bar.finish_and_clear();
            exported += total;
        }
        exported -= left_out.deleted + left_out.unfit;
        out.finish()?;
        if let Some(path) = &self.output {
            eprintln!("Exported {} to {}.", counted(exported, "record"), path.display());
        }
        if left_out.deleted > 0 {
            eprintln!("Left out {}.", counted(left_out.deleted, "deleted record"));
        }
        Ok(match left_out.unfit {
            0 => Ending::Fine,
            _ => Ending::Findings,
        })
    }

    fn prefixes(&self, session: &Session, snapshot: &Snapshot) -> Result<Vec<MetadataPrefix>> {
        let all: Vec<_> = snapshot
            .formats(session.repository)?
            .into_iter()
            .map(|format| format.prefix)
            .collect();
        match (&self.prefix, self.format) {
            (None, OutputFormat::Jsonl) => Ok(all),
            (None, OutputFormat::Marc) if all.iter().any(|prefix| prefix.as_str() == "marc21") => {
                Ok(vec![MetadataPrefix::parse("marc21")?])
            }
            (None, OutputFormat::Marc) => {
                bail!("there are no records in the format marc21\nTry: --prefix with another format of MARC")
            }
            (None, OutputFormat::Xml) => Ok(vec![MetadataPrefix::parse("oai_dc")?]),
            (Some(wanted), _) => match all.iter().find(|prefix| prefix.as_str() == wanted) {
                Some(prefix) => Ok(vec![prefix.clone()]),
                None => {
                    let known: Vec<&str> = all.iter().map(MetadataPrefix::as_str).collect();
                    let known = if known.is_empty() {
                        "stook import first".into()
                    } else {
                        known.join(", ")
                    };
                    bail!("there are no records in the format {wanted}\nTry: {known}")
                }
            },
        }
    }
}

fn write_json_lines(
    snapshot: &mut Snapshot,
    list: List,
    span: Span,
    prefix: &MetadataPrefix,
    out: &mut Output,
    bar: &indicatif::ProgressBar,
) -> Result<()> {
    let (mut fragment, mut failure) = (Vec::new(), None);
    snapshot.page(list, span, usize::MAX, |record| {
        fragment.clear();
        record.append_content(&mut fragment)?;
        bar.inc(1);
        Ok(match write_line(record, prefix, &fragment, out) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })
    })?;
    failure.map_or(Ok(()), Err)
}

/// What an export had to leave out.
#[derive(Clone, Copy, Default)]
struct LeftOut {
    /// Deleted records, of which there is nothing to write.
    deleted: u64,
    /// Records that the form cannot hold.
    unfit: u64,
}

fn write_marc(
    snapshot: &mut Snapshot,
    list: List,
    span: Span,
    format: MarcFormat,
    out: &mut Output,
    bar: &indicatif::ProgressBar,
) -> Result<LeftOut> {
    let (mut fragment, mut bytes, mut failure) = (Vec::new(), Vec::new(), None);
    let mut left_out = LeftOut::default();
    snapshot.page(list, span, usize::MAX, |record| {
        bar.inc(1);
        if record.deleted {
            left_out.deleted += 1;
            return Ok(ControlFlow::Continue(()));
        }
        fragment.clear();
        record.append_content(&mut fragment)?;
        let Some(content) = split_fragment(&fragment) else {
            return Err(StoreError::Damaged(record.identifier.to_owned()));
        };
        bytes.clear();
        if let Err(defect) = format.append(content.metadata, &mut bytes) {
            left_out.unfit += 1;
            eprintln!("left out: {}: {defect}", record.identifier);
        }
        Ok(match out.write_all(&bytes) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        })
    })?;
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(left_out),
    }
}

fn write_line(record: &StoredRecord<'_>, prefix: &MetadataPrefix, fragment: &[u8], out: &mut Output) -> Result<()> {
    let content = if record.deleted { None } else { split_fragment(fragment) };
    if content.is_none() && !record.deleted {
        return Err(StoreError::Damaged(record.identifier.to_owned()).into());
    }
    let about = content
        .as_ref()
        .map(|content| content.about.clone())
        .filter(|about| !about.is_empty());
    let line = Line {
        identifier: record.identifier,
        datestamp: record.datestamp().to_string(),
        sets: record.set_specs.split_ascii_whitespace().collect(),
        deleted: record.deleted,
        metadata: [(prefix.as_str(), content.map(|content| content.metadata))].into(),
        about: about.map(|about| [(prefix.as_str(), about)].into()),
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")?;
    Ok(())
}

fn write_xml(
    snapshot: &mut Snapshot,
    list: List,
    span: Span,
    session: &Session,
    request: &Request,
    out: &mut Output,
    bar: &indicatif::ProgressBar,
) -> Result<()> {
    let granularity = session.settings.granularity.into();
    let echo = Echo::Arguments(request);
    let mut writer = ResponseWriter::new(Vec::new(), snapshot.response_date(), &session.settings.base_url, &echo)
        .list_records(granularity);
    let mut failure = None;
    snapshot.page(list, span, usize::MAX, |record| {
        writer.try_record(&record.header(), |out| record.append_content(out))?;
        bar.inc(1);
        if writer.len() > 1 << 20
            && let Err(error) = out.write_all(&writer.take())
        {
            failure = Some(error);
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if let Some(error) = failure {
        return Err(error.into());
    }
    out.write_all(&writer.finish(None))?;
    Ok(())
}
