//! `stook format`: which formats there are, and records of one made from those of another.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Subcommand};
use stook_metadata::crosswalk::built_in;
use stook_oai::MetadataPrefix;
use stook_oai::response::split_fragment;
use stook_store::{Position, Span};

use super::session::{Place, Session};
use super::{Ending, progress, stop};
use crate::config::Config;
use crate::count::{counted, grouped, noun};
use crate::crosswalk::refresh::{self, Given, Refreshed};
use crate::crosswalk::{Crosswalk, Made, Written};

/// Show formats, and make records of one from those of another
#[derive(Subcommand)]
#[command(after_help = "\
Records that are given in one format can be served in others, by the published crosswalks, a mapping of your own or
an XSLT 1.0 stylesheet (which needs xsltproc):

  stook format list                                  what there is and what could be made
  stook format preview mods --from marc21            the result for a few records; publishes nothing
  stook format add mods --from marc21                writes it to stook.toml and makes all records
  stook format preview house --from oai_dc --mapping house.map
  stook format preview mods --from marc21 --stylesheet MARC21slim2MODS.xsl
  stook format refresh                               after a mapping or a stylesheet was changed
  stook format refresh mods                          after it was taken out of stook.toml: withdraws what was made

From then on every import makes them too. Dublin Core, which every item must have, is made without being asked. A record
that is given in a format is never replaced by one that is made.")]
pub(super) enum FormatCommand {
    List(List),
    Preview(Preview),
    Add(Add),
    Refresh(Refresh),
}

impl FormatCommand {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        match self {
            Self::List(command) => command.run(place),
            Self::Preview(command) => command.run(place),
            Self::Add(command) => command.run(place),
            Self::Refresh(command) => command.run(place),
        }
    }
}

/// Show the formats of the repository, and those that could be made
#[derive(Args)]
pub(super) struct List {
    /// Also every format that records may be given in
    #[arg(long)]
    all: bool,
}

impl List {
    fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::look(place)?;
        let snapshot = session.store.read()?;
        let formats = snapshot.formats(session.repository)?;
        println!("Served:");
        for format in &formats {
            let list = snapshot.list(session.repository, &format.prefix, None)?;
            let records = list.map_or(Ok(0), |list| snapshot.count(list, Span::ALL))?;
            let (prefix, noun) = (format.prefix.as_str(), noun(records, "record"));
            println!("  {prefix:<16} {:>12} {noun}", grouped(records));
        }
        let is_served = |prefix: &str| formats.iter().any(|format| format.prefix.as_str() == prefix);
        let crosswalks = session.crosswalks()?;
        println!("\nMade from others:");
        for crosswalk in crosswalks.iter().filter(|it| is_served(it.source_prefix().as_str())) {
            let (from, to) = (crosswalk.source_prefix(), &crosswalk.target().prefix);
            println!("  {from} -> {to}  ({})", crosswalk.source());
        }
        println!("\nCould be made (stook format add TO --from FROM):");
        for mapping in built_in::all() {
            if crosswalks.between(&mapping.from, &mapping.to).is_none() {
                println!("  {} -> {}", mapping.from, mapping.to);
            }
        }
        if self.all {
            println!("\nKnown:");
            for format in session.formats.iter() {
                println!("  {:<24} {}", format.prefix.as_str(), format.name);
            }
        }
        Ok(Ending::Fine)
    }
}

/// Which crosswalk is meant.
#[derive(Args)]
struct Which {
    /// The format to make
    #[arg(value_name = "PREFIX")]
    to: String,
    /// The format to make it from
    #[arg(long, value_name = "PREFIX")]
    from: String,
    /// A mapping of your own (docs/crosswalks.md), instead of the crosswalk that comes with the program
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// An XSLT 1.0 stylesheet, instead of a mapping
    #[arg(long, value_name = "FILE", conflicts_with = "mapping")]
    stylesheet: Option<PathBuf>,
}

impl Which {
    fn read(&self, session: &Session) -> Result<Crosswalk> {
        let written = Written::new(self.mapping.as_deref(), self.stylesheet.as_deref())?;
        if let Written::BuiltIn = written
            && let Some(known) = session.crosswalks()?.between(&self.from, &self.to)
        {
            return Ok(known.clone());
        }
        Crosswalk::read(&self.from, &self.to, written, &session.formats)
    }
}

/// Show what would be made of real records, publishing nothing
#[derive(Args)]
pub(super) struct Preview {
    #[command(flatten)]
    which: Which,
    /// So many records
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 3)]
    count: usize,
    /// This record, instead of the first ones
    #[arg(long, value_name = "IDENTIFIER")]
    identifier: Option<String>,
    /// Without the records they are made from
    #[arg(long)]
    result_only: bool,
}

impl Preview {
    fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::look(place)?;
        let crosswalk = self.which.read(&session)?;
        stop::at_once()?;
        crosswalk.ready()?;
        let given = self.records(&session, crosswalk.source_prefix())?;
        if given.is_empty() {
            bail!(
                "the repository has no live records in {}\nTry: stook format list",
                crosswalk.source_prefix()
            );
        }
        let texts: Vec<&str> = given.iter().filter_map(|given| given.metadata.as_deref()).collect();
        let mut ending = Ending::Fine;
        for (given, made) in given.iter().zip(crosswalk.make(&texts)?) {
            println!("## {}", given.identifier);
            if !self.result_only {
                println!("{}\n->", given.metadata.as_deref().unwrap_or_default());
            }
            ending = show(made, ending);
        }
        Ok(ending)
    }

    /// Some live records.
    fn records(&self, session: &Session, from: &MetadataPrefix) -> Result<Vec<Given>> {
        let mut snapshot = session.store.read()?;
        if let Some(text) = &self.identifier {
            let identifier = session.identifier(text)?;
            let mut metadata = None;
            snapshot.record(session.repository, from, identifier.as_str(), |record| {
                let mut fragment = Vec::new();
                record.append_content(&mut fragment)?;
                metadata = split_fragment(&fragment).map(|parts| parts.metadata.to_owned());
                Ok(())
            })?;
            if metadata.is_none() {
                bail!("there is no live record {identifier} in {from}\nTry: stook format list");
            }
            return Ok(vec![Given::live(identifier.as_str(), metadata)]);
        }
        let Some(list) = snapshot.list(session.repository, from, None)? else {
            return Ok(Vec::new());
        };
        let mut given = Vec::new();
        let mut span = Span::ALL;
        while given.len() < self.count {
            let (read, last, more) = refresh::read(&mut snapshot, list, span, self.count.max(100))?;
            given.extend(read.into_iter().filter(|given| given.metadata.is_some()));
            span.after = last;
            if !more || last == Position::START {
                break;
            }
        }
        given.truncate(self.count);
        Ok(given)
    }
}

fn show(made: Made, ending: Ending) -> Ending {
    match made {
        Ok(Some(xml)) => println!("{xml}\n"),
        Ok(None) => println!("(nothing: the record says nothing that this format could say)\n"),
        Err(reason) => {
            println!("cannot be made: {reason}\n");
            return Ending::Findings;
        }
    }
    ending
}

/// Make records of a format from those of another, now and with every import
#[derive(Args)]
pub(super) struct Add {
    #[command(flatten)]
    which: Which,
}

impl Add {
    fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::look(place)?;
        let Which {
            to,
            from,
            mapping,
            stylesheet,
        } = &self.which;
        let configured = Config::load(&place.config, None)?.crosswalk;
        if configured.iter().any(|known| known.from == *from && known.to == *to) {
            bail!(
                "{to} is made from {from} already\nTry: stook format refresh {to}, or edit {}",
                place.config.display()
            );
        }
        let crosswalk = self.which.read(&session)?;
        crosswalk.ready()?;
        let mut lines = format!("\n[[crosswalk]]\nfrom = {}\nto = {}\n", quoted(from), quoted(to));
        for (setting, file) in [("mapping", mapping), ("stylesheet", stylesheet)] {
            if let Some(file) = file {
                let path = relative_to(&place.config, file)?;
                lines.push_str(&format!("{setting} = {}\n", quoted(&path.display().to_string())));
            }
        }
        let writing = || format!("writing to {}", place.config.display());
        let before = fs::read_to_string(&place.config).with_context(writing)?;
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(&place.config)
            .with_context(writing)?;
        file.write_all(lines.as_bytes()).with_context(writing)?;
        println!("Added to {}:{lines}", place.config.display());
        refresh_one(&session, &crosswalk).or_else(|failure| {
            // A crosswalk that cannot be made would stop every import.
            fs::write(&place.config, before).with_context(writing)?;
            Err(failure.context(format!("taken out of {} again", place.config.display())))
        })
    }
}

/// A file as it is named beside the configuration: what lies below its folder moves with it.
fn relative_to(config: &Path, file: &Path) -> Result<PathBuf> {
    let real = fs::canonicalize(file).with_context(|| format!("finding {}", file.display()))?;
    let folder = config.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).context("finding the configuration's folder")?;
    Ok(real.strip_prefix(&folder).map(Path::to_owned).unwrap_or(real))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// Make all records again, after a mapping or a stylesheet was added or changed
#[derive(Args)]
#[command(after_help = "\
Only records that come out differently get a new datestamp and are harvested again. A harvester in the middle of a list
is not disturbed. Ctrl-C stops after the step in hand; run the same command again and it finishes.")]
pub(super) struct Refresh {
    /// Only this format
    #[arg(value_name = "PREFIX")]
    to: Option<String>,
    /// Only from this format
    #[arg(long, value_name = "PREFIX")]
    from: Option<String>,
}

impl Refresh {
    fn run(self, place: &Place) -> Result<Ending> {
        let session = Session::look(place)?;
        let is_meant = |crosswalk: &&Crosswalk| {
            let (from, to) = (crosswalk.source_prefix().as_str(), crosswalk.target().prefix.as_str());
            self.to.as_deref().is_none_or(|wanted| wanted == to)
                && self.from.as_deref().is_none_or(|wanted| wanted == from)
        };
        let crosswalks = session.crosswalks()?;
        let meant: Vec<&Crosswalk> = crosswalks.iter().filter(is_meant).collect();
        let formats = session.store.read()?.formats(session.repository)?;
        if meant.is_empty() {
            // It was made once; the crosswalk has been taken out since.
            let served = formats
                .iter()
                .find(|format| self.to.as_deref() == Some(format.prefix.as_str()));
            return match served {
                Some(format) if self.from.is_none() => withdraw(&session, &format.prefix),
                _ => Err(anyhow!(
                    "nothing is made like that\nTry: stook format list, or stook format add"
                )),
            };
        }
        let mut ending = Ending::Fine;
        for crosswalk in meant {
            if !formats.iter().any(|format| format.prefix == *crosswalk.source_prefix()) {
                continue;
            }
            if let Ending::Findings = refresh_one(&session, crosswalk)? {
                ending = Ending::Findings;
            }
        }
        Ok(ending)
    }
}

/// Takes back what nothing makes any more.
fn withdraw(session: &Session, prefix: &MetadataPrefix) -> Result<Ending> {
    let stop = stop::on_signal("Stopping after the step in hand …")?;
    let bar = progress::count(0);
    bar.set_message(format!("withdrawing {prefix}"));
    let outcome = refresh::withdraw(&session.store, session.repository, prefix, &stop, &mut |done, of| {
        bar.set_length(of);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let done = outcome?;
    println!("Nothing makes {prefix}: {} read", counted(done.read, "record"));
    println!(
        "{:>12} deleted, because they were made; what was given stays",
        grouped(done.deleted)
    );
    if done.stopped {
        eprintln!("Stopped. Run stook format refresh {prefix} to finish.");
        return Ok(Ending::Findings);
    }
    Ok(Ending::Fine)
}

fn refresh_one(session: &Session, crosswalk: &Crosswalk) -> Result<Ending> {
    let stop = stop::on_signal("Stopping after the step in hand …")?;
    let (from, to) = (crosswalk.source_prefix(), &crosswalk.target().prefix);
    let bar = progress::count(0);
    bar.set_message(format!("{from} -> {to}"));
    let mut tell = |done, of| {
        bar.set_length(of);
        bar.set_position(done);
    };
    let all = session.crosswalks()?;
    let outcome = refresh::refresh(&session.store, session.repository, crosswalk, &all, &stop, &mut tell);
    bar.finish_and_clear();
    let Refreshed {
        read,
        new,
        changed,
        unchanged,
        deleted,
        failed,
        examples,
        stopped,
    } = outcome?;
    println!("{from} -> {to}: {} read", counted(read, "record"));
    for (count, what) in [
        (new, "new"),
        (changed, "changed"),
        (unchanged, "unchanged"),
        (deleted, "deleted"),
        (failed, "cannot be made"),
    ] {
        if count > 0 {
            println!("{:>12} {what}", grouped(count));
        }
    }
    for (identifier, reason) in &examples {
        println!("{identifier}: {reason}");
    }
    if stopped {
        eprintln!("Stopped. Everything counted above is published. Run stook format refresh {to} to finish.");
    }
    Ok(if failed > 0 || stopped {
        Ending::Findings
    } else {
        Ending::Fine
    })
}
