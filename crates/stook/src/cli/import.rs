//! `stook import`: publish what files and databases hold.

mod database;
mod preview;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use stook_metadata::marc::Dialect;
use stook_oai::MetadataPrefix;
use stook_store::Importer;

use super::session::{Place, Session};
use super::{Ending, progress, stop};
use crate::count::{counted, grouped, noun};
use crate::crosswalk::{Crosswalks, heirs};
use crate::import::marc::{FieldName, MarcCharset};
use crate::import::rewrite::Rewrite;
use crate::import::watch::FEW;
use crate::import::{self, Fields, ImportError, Input, Options, Progress, Shape, Summary, open};
use crate::sets;

/// What is said after Ctrl-C.
const STOPPED: &str = "Stopped. Everything counted above is published. Run the same command again to finish.";

/// Publish the records of files, folders, archives, standard input or a database
#[derive(Args)]
#[command(after_help = "\
What it reads, recognised by content, plain or compressed with gzip or zstd:
  tables       CSV or TSV with a header row of Dublin Core names: id,title,creator,date,set,deleted,…
               (also Title, dc:title, title@de; comma, semicolon or tab are found out; UTF-8, or UTF-16 with BOM)
  JSON lines   {\"identifier\":\"map-1\",\"sets\":[\"maps\"],\"title\":\"…\",\"creator\":[\"…\",\"…\"]}
  XML          records of well-known formats (oai_dc, marc21, mods, …) or your own ([[format]]); the file name
               is the identifier, in collections the first dc:identifier or MARC field 001
  OAI-PMH      responses saved by any harvester
  MARC         ISO 2709 (.mrc, .marc, .iso) in UTF-8 or MARC-8, published as marc21; with --marc unimarc, UNIMARC;
               field 001 is the identifier (--id '035$a' for another), status d in the leader deletes
  folders, .zip, .tar of any of these
  databases    PostgreSQL, MariaDB, MySQL, SQLite with --sql: a small file names the database, your query and what its
               columns mean; later runs read only what changed (docs/databases.md)

Examples:
  stook import records.csv
  stook import --map Titel=title --map Verfasser=creator --separator ' / ' katalog.csv
  stook import --encoding windows-1250 stary.csv
  stook import --id '035$a' catalogue.mrc
  stook import --mapping fixes.map records.csv rewrite records first (stook quality --fix fixes.map)
  stook import --sync export.jsonl.gz          also delete what is no longer in the file
  stook import --sql catalogue.toml --preview 3
  stook import --watch inbox                   go on publishing what comes, changes and goes in a folder
  some-program-that-writes-json | stook import -

Importing the same thing twice changes nothing. What cannot be published goes to `stook quarantine`; the exit code
is then 1. Ctrl-C stops after the batch in hand, with exit code 1; run the same command again and it finishes.")]
pub(super) struct Import {
    /// Files, folders, archives; - is standard input
    #[arg(required_unless_present = "sql", value_name = "FILE")]
    inputs: Vec<OsString>,
    /// Read a database instead, as this file describes it; can be given several times
    #[arg(long, value_name = "DEFINITION",
          conflicts_with_all = ["inputs", "format", "map", "separator", "encoding", "marc", "id"])]
    sql: Vec<PathBuf>,
    /// Read everything from the database, not only what changed since the last time
    #[arg(long, requires = "sql")]
    all: bool,
    /// Print so many records as they would be published, and publish nothing
    #[arg(long, value_name = "NUMBER", conflicts_with = "sync", value_parser = clap::value_parser!(u64).range(1..))]
    preview: Option<u64>,
    /// What the input is, where its content does not tell: jsonl, csv, tsv, xml, oai or marc
    #[arg(long, value_name = "FORMAT", value_parser = shape)]
    format: Option<Shape>,
    /// Publish XML records in this metadata format, where several would fit
    #[arg(long, value_name = "PREFIX")]
    prefix: Option<String>,
    /// What a column or key means: COLUMN=title, COLUMN=id, COLUMN=set; COLUMN= skips it
    #[arg(long, value_name = "COLUMN=ELEMENT")]
    map: Vec<String>,
    /// Rewrite records by this mapping of their own format, such as stook quality --fix writes
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Skip columns and keys that mean nothing here
    #[arg(long)]
    ignore_unknown: bool,
    /// Separates several values in one cell of a table; empty for none
    #[arg(long, value_name = "TEXT", default_value = "|")]
    separator: String,
    /// Encoding of text that is not UTF-8, such as windows-1252; of MARC also marc8 and iso5426
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    encoding: Option<Encoding>,
    /// The family of MARC records: marc21 or unimarc
    #[arg(long, value_name = "FAMILY", default_value = "marc21", value_parser = dialect)]
    marc: Dialect,
    /// Field of a MARC record that names it: 001 unless told, or TAG$CODE for a subfield
    #[arg(long, value_name = "FIELD", value_parser = field)]
    id: Option<FieldName>,
    /// Records larger than this many megabytes are quarantined
    #[arg(long, value_name = "MB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    max_record_megabytes: u32,
    /// Delete records that are no longer in the input
    #[arg(long, group = "deletes")]
    sync: bool,
    /// Watch the folders until stopped: files that come, change and go become records, changes and deletions
    #[arg(long, group = "deletes", conflicts_with_all = ["sql", "preview"])]
    watch: bool,
    /// Look at the watched folders once, and end
    #[arg(long, requires = "watch")]
    once: bool,
    /// How often to look at them
    #[arg(long, value_name = "SECONDS", default_value_t = 5, requires = "watch",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    watch_seconds: u64,
    /// Let go of a folder that was watched once: its records are deleted, unless another file has them
    #[arg(long, value_name = "FOLDER", requires = "watch")]
    forget: Vec<PathBuf>,
    /// Refuse to delete more than this share of the records, if that is more than ten
    #[arg(long, value_name = "PERCENT", default_value_t = 10, requires = "deletes",
          value_parser = clap::value_parser!(u8).range(0..=100))]
    max_deletions: u8,
}

impl Import {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::open(place)?;
        let options = self.options(&session)?;
        if self.watch {
            return self.keep_watch(&session, options, &place.repository);
        }
        let readings = self.readings(&session, &options)?;
        let mut inputs: Vec<Input> = self.inputs.iter().map(|input| Input::from_argument(input)).collect();
        inputs.extend(readings.iter().cloned().map(Input::Sql));
        if let Some(number) = self.preview {
            return preview::print(&inputs, &Arc::new(options), number);
        }
        let is_outdated = sets::applied::begin(&session.store, session.repository, &options.set_rules)?;
        let stop = stop::on_signal("Stopping after the batch in hand …")?;
        let mut importer = session.store.importer(session.repository)?;
        let summary = import(&session, &mut importer, &inputs, &Arc::new(options), &stop)?;
        report(&summary);
        if is_outdated {
            eprintln!("{}", sets::OUTDATED);
        }
        let mut ending = if summary.quarantined > 0 {
            Ending::Findings
        } else {
            Ending::Fine
        };
        if summary.rewritten.is_in_vain() {
            eprintln!("No record has the format of the mapping.\nTry: a mapping of the format of these records");
            ending = Ending::Findings;
        }
        if summary.stopped {
            eprintln!("{STOPPED}");
            ending = Ending::Findings;
        } else {
            database::remember(&readings, &session)?;
        }
        if self.sync {
            let crosswalks = session.crosswalks()?;
            for crosswalk in crosswalks.iter() {
                importer.derives(crosswalk.source_prefix(), &crosswalk.target().prefix)?;
            }
            self.delete_vanished(&session, &crosswalks, &mut importer, &summary)?;
        }
        Ok(ending)
    }

    fn options(&self, session: &Session) -> Result<Options> {
        let mut options = Options::new(session.namespace()?);
        options.formats = session.formats.clone();
        options.crosswalks = session.crosswalks()?;
        options.set_rules = Arc::new(session.set_rules()?);
        options.prefix = self.prefix.as_deref().map(MetadataPrefix::parse).transpose()?;
        if let Some(prefix) = &options.prefix
            && session.formats.by_prefix(prefix.as_str()).is_none()
        {
            bail!("the format {prefix} is not known\nTry: describe it in stook.toml under [[format]]");
        }
        options.rewrite = self
            .mapping
            .as_deref()
            .map(|path| Rewrite::read(path, &session.formats))
            .transpose()?;
        options.shape = self.format;
        match self.encoding {
            Some(Encoding::Text(encoding)) => options.encoding = Some(encoding),
            Some(Encoding::Marc(charset)) => options.marc.charset = Some(charset),
            None => {}
        }
        options.marc.dialect = self.marc;
        options.marc.identifier = self.id;
        options.fields = Fields::new(self.map.iter().map(String::as_str), self.ignore_unknown)?;
        options.separator.clone_from(&self.separator);
        options.max_record_bytes = self.max_record_megabytes as usize * 1024 * 1024;
        Ok(options)
    }

    /// Deletes what the input no longer mentions, unless that would be suspiciously much.
    fn delete_vanished(
        &self,
        session: &Session,
        crosswalks: &Crosswalks,
        importer: &mut Importer,
        summary: &Summary,
    ) -> Result<()> {
        summary.is_complete().map_err(|reason| {
            anyhow!("nothing was deleted: {reason}\nTry: mend the input (see stook quarantine) and import it again")
        })?;
        let prefixes: Vec<MetadataPrefix> = summary.prefixes.iter().cloned().collect();
        if prefixes.is_empty() {
            bail!("nothing was deleted: the input has no records\nTry: check that it is the right input");
        }
        let vanished = importer.vanished(&prefixes, &[])?;
        // What this import changed was there before too.
        let before = vanished.of + summary.changed + summary.deleted;
        let share = (vanished.records * 100).div_ceil(before.max(1));
        if vanished.records > FEW && share > u64::from(self.max_deletions) {
            bail!(
                "nothing was deleted: {} of {} are not in the input, {share}%, more than the {}% allowed\n\
                 Try: check that the input is complete; if it is, add --max-deletions {share}",
                grouped(vanished.records),
                counted(before, "record"),
                self.max_deletions
            );
        }
        let bar = progress::count(vanished.records);
        bar.set_message("deleting");
        let deleted = importer.delete_vanished_step_by_step(|gone| {
            bar.set_position(gone.deleted);
            heirs::make(&session.store, session.repository, crosswalks, &gone.bereft).map(drop)
        });
        bar.finish_and_clear();
        println!(
            "{:>12} deleted, because the input no longer has them",
            grouped(deleted?)
        );
        Ok(())
    }
}

/// Imports with a progress bar.
pub(super) fn import(
    session: &Session,
    importer: &mut Importer,
    inputs: &[Input],
    options: &Arc<Options>,
    stop: &AtomicBool,
) -> Result<Summary> {
    let bar = progress::bytes(open::total_bytes(inputs));
    let mut show = |progress: Progress| {
        bar.set_position(progress.bytes);
        if progress.records == 0
            && let Some(rows) = database::rows(inputs)
        {
            return bar.set_message(format!("{} read", counted(rows, "row")));
        }
        let rate = progress.records as f64 / bar.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!(
            "{}, {} a second",
            counted(progress.records, "record"),
            grouped(rate as u64)
        ));
    };
    let summary = import::run(
        &session.store,
        session.repository,
        importer,
        inputs,
        options,
        stop,
        &mut show,
    );
    bar.finish_and_clear();
    // The store's own errors come with a hint, a crosswalk's with their causes.
    summary.map_err(|failure| match failure {
        ImportError::Store(failure) => failure.into(),
        ImportError::Crosswalk(failure) => failure,
        other => other.into(),
    })
}

fn report(summary: &Summary) {
    let seconds = summary.elapsed.as_secs_f64();
    let rate = summary.records() as f64 / seconds.max(0.001);
    let lines = [
        (summary.new, "new"),
        (summary.changed, "changed"),
        (summary.unchanged, "unchanged"),
        (summary.deleted, "deleted, as the input says"),
        (summary.repeated, "repeated in the input"),
        (summary.derived, "made from these in other formats"),
        (
            summary.regrouped,
            "there already in other formats, and put into other sets",
        ),
        (summary.rewritten.changed, "rewritten by the mapping"),
        (
            summary.rewritten.other_formats,
            "of other formats than the mapping, and left as they are",
        ),
        (summary.improvable, "could say some things better: see stook quality"),
        (summary.cleaned, "cleaned of characters that XML cannot carry"),
        (summary.quarantined, "quarantined: see stook quarantine"),
    ];
    println!(
        "{:>12} {} in {seconds:.1} s, {} a second",
        grouped(summary.records()),
        noun(summary.records(), "record"),
        grouped(rate as u64)
    );
    for (count, what) in lines.into_iter().filter(|(count, _)| *count > 0) {
        println!("{:>12} {what}", grouped(count));
    }
    if summary.broken_sources > 0 {
        println!(
            "{:>12} {} could not be read, or not to the end",
            grouped(summary.broken_sources),
            noun(summary.broken_sources, "file")
        );
    }
}

fn shape(name: &str) -> Result<Shape, String> {
    let known: Vec<&str> = Shape::NAMES.iter().map(|(name, _)| *name).collect();
    Shape::from_name(name).ok_or_else(|| format!("use one of {}", known.join(", ")))
}

/// An encoding by its name: of any text, or of MARC only.
#[derive(Clone, Copy)]
enum Encoding {
    Text(&'static encoding_rs::Encoding),
    Marc(MarcCharset),
}

fn encoding(name: &str) -> Result<Encoding, String> {
    let text = encoding_rs::Encoding::for_label(name.as_bytes()).map(Encoding::Text);
    let known = text.or_else(|| MarcCharset::from_name(name).map(Encoding::Marc));
    known.ok_or_else(|| "use a name such as utf-8, windows-1252, iso-8859-2, utf-16le or marc8".to_owned())
}

fn dialect(name: &str) -> Result<Dialect, String> {
    match name.to_ascii_lowercase().as_str() {
        "marc21" => Ok(Dialect::Marc21),
        "unimarc" => Ok(Dialect::Unimarc),
        _ => Err("use marc21 or unimarc".to_owned()),
    }
}

fn field(name: &str) -> Result<FieldName, String> {
    FieldName::parse(name)
        .ok_or_else(|| "this names no field of MARC; use a tag such as 001, or a subfield such as '035$a'".to_owned())
}
