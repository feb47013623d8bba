//! `stook source`: the repositories that are harvested, and how.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail};
use clap::Subcommand;
use serde::{Deserialize, Serialize};
use stook_oai::{Datestamp, Granularity};
use stook_store::{Span, Store};

use super::Ending;
use super::harvest::name_for;
use super::session::{Place, configuration, open_store};
use crate::config::Source;
use crate::harvest::Quirks;
use crate::harvest::ledger::{self, Ledger, WindowState};
use crate::harvest::source::{self, KnownSource};
use crate::web::landing::grouped;

/// Add, list, show, edit and remove the sources of harvests
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  stook source add maps https://example.org/oai set=maps prefix=oai_dc every_hours=12
  stook source list
  stook source show maps
  stook source edit maps pause_milliseconds=500 quirk.no_until=true
  stook source export > sources.json; stook source import sources.json")]
pub(super) enum SourceCommand {
    /// Add a source
    Add {
        /// Its name here
        name: String,
        /// Its base URL
        url: String,
        /// Settings, as NAME=VALUE; see `stook source settings`
        settings: Vec<String>,
    },
    /// Show all sources, one line each
    List,
    /// Show a source: its settings, what it needs, its windows, its last harvest
    Show {
        /// The source
        name: String,
    },
    /// Change settings of a source
    Edit {
        /// The source
        name: String,
        /// Settings, as NAME=VALUE; an empty value restores the default
        #[arg(required = true)]
        settings: Vec<String>,
    },
    /// Forget a source; its records stay unless told otherwise
    Remove {
        /// The source
        name: String,
    },
    /// Add sources from a file: lines of URLs, or what `export` wrote
    Import {
        /// The file; - is standard input
        file: PathBuf,
    },
    /// Write all sources as JSON, without their secrets
    Export,
    /// Explain the settings of a source
    Settings,
}

/// A source as `export` writes it.
#[derive(Serialize, Deserialize)]
struct Exported {
    name: String,
    settings: serde_json::Value,
    #[serde(default)]
    quirks: Quirks,
}

impl SourceCommand {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        if let SourceCommand::Settings = self {
            for setting in Source::table() {
                println!("{} = {}\n    {}", setting.name, setting.default, setting.sentence);
            }
            return Ok(Ending::Fine);
        }
        let store = open_store(&configuration(place)?)?;
        match self {
            SourceCommand::Add { name, url, settings } => add(&store, &name, &url, &settings)?,
            SourceCommand::List => list(&store)?,
            SourceCommand::Show { name } => show(&store, &name)?,
            SourceCommand::Edit { name, settings } => edit(&store, &name, &settings)?,
            SourceCommand::Remove { name } => {
                source::forget(&store, &name)?;
                println!("{name} is no longer harvested; its records are still in the store.");
            }
            SourceCommand::Import { file } => import(&store, &file)?,
            SourceCommand::Export => export(&store)?,
            SourceCommand::Settings => {}
        }
        Ok(Ending::Fine)
    }
}

fn add(store: &Store, name: &str, url: &str, settings: &[String]) -> Result<()> {
    if source::all(store)?.iter().any(|source| source.name == name) {
        bail!("there is a source {name:?} already\nTry: stook source edit {name}, or another name");
    }
    if store.repositories()?.iter().any(|other| other == name) {
        bail!("{name:?} is a repository of its own\nTry: another name");
    }
    if name.is_empty()
        || !name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter))
    {
        bail!("name {name:?}: use letters, digits, - and _");
    }
    let mut known = KnownSource {
        name: name.to_owned(),
        settings: Source {
            url: url.to_owned(),
            ..Source::default()
        },
        quirks: Quirks::default(),
        report: None,
    };
    change(&mut known, settings)?;
    source::check(&known.settings)?;
    source::keep(store, name, &known.settings, &known.quirks)?;
    println!("Added. Try: stook harvest {name}");
    Ok(())
}

fn edit(store: &Store, name: &str, settings: &[String]) -> Result<()> {
    let mut known = source::named(store, name)?;
    change(&mut known, settings)?;
    source::check(&known.settings)?;
    source::keep(store, name, &known.settings, &known.quirks)?;
    println!("Changed.");
    Ok(())
}

/// Puts NAME=VALUE into settings or, as quirk.NAME=VALUE, into quirks.
fn change(known: &mut KnownSource, assignments: &[String]) -> Result<()> {
    let mut settings = serde_json::to_value(&known.settings)?;
    let defaults = serde_json::to_value(Source::default())?;
    let mut quirks = serde_json::to_value(&known.quirks)?;
    for assignment in assignments {
        let (name, value) = assignment
            .split_once('=')
            .ok_or_else(|| anyhow!("{assignment:?} has no =\nTry: NAME=VALUE"))?;
        if let Some(quirk) = name.strip_prefix("quirk.") {
            match quirks.as_object_mut() {
                Some(object) if value.is_empty() || value == "false" => drop(object.remove(quirk)),
                Some(object) => drop(object.insert(quirk.to_owned(), scalar(value))),
                None => {}
            }
            continue;
        }
        let name = match name {
            "prefix" => "prefixes",
            "set" => "sets",
            "header" => "headers",
            other => other,
        };
        let Some(default) = defaults.get(name) else {
            bail!("there is no setting {name:?}\nTry: stook source settings");
        };
        let value = match default {
            _ if value.is_empty() => default.clone(),
            serde_json::Value::Array(_) => value.split(',').map(|part| part.trim().to_owned()).collect(),
            serde_json::Value::String(_) => serde_json::Value::String(value.to_owned()),
            _ => scalar(value),
        };
        settings[name] = value;
    }
    known.settings = serde_json::from_value(settings).context("a setting has the wrong kind of value")?;
    known.quirks = serde_json::from_value(quirks).context("a quirk is not known or has the wrong kind of value")?;
    Ok(())
}

fn scalar(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|_| serde_json::Value::String(text.to_owned()))
}

fn list(store: &Store) -> Result<()> {
    let sources = source::all(store)?;
    if sources.is_empty() {
        println!("There are no sources. Try: stook source add NAME URL");
    }
    for source in sources {
        println!(
            "{}  {}  {} records  {}",
            source.name,
            source.settings.url,
            grouped(count(store, &source)?),
            state(&source)
        );
    }
    Ok(())
}

/// How the last harvest went, in a few words.
pub(super) fn state(source: &KnownSource) -> String {
    let Some(report) = &source.report else {
        return "never harvested".to_owned();
    };
    let when = report.ended.map_or("running, or killed".to_owned(), date);
    let how = match (&report.stopped, report.complete) {
        (Some(reason), _) => format!("not complete: {reason}"),
        (None, true) => "complete".to_owned(),
        (None, false) => "with gaps".to_owned(),
    };
    format!("{when}, {how}")
}

/// How many records there are of a source, deleted ones included.
pub(super) fn count(store: &Store, source: &KnownSource) -> Result<u64> {
    let repository = store.repository(&source.name)?;
    let snapshot = store.read()?;
    let mut records = 0;
    for format in snapshot.formats(repository)? {
        if let Some(list) = snapshot.list(repository, &format.prefix, None)? {
            records += snapshot.count(list, Span::ALL)?;
        }
    }
    Ok(records)
}

fn show(store: &Store, name: &str) -> Result<()> {
    let source = source::named(store, name)?;
    println!("{name}: {}", source.settings.url);
    let (settings, defaults) = (
        source::without_secrets(&source.settings)?,
        serde_json::to_value(Source::default())?,
    );
    if let Some(settings) = settings.as_object() {
        for (name, value) in settings
            .iter()
            .filter(|(name, value)| *name != "url" && defaults.get(*name) != Some(value))
        {
            println!("  {name} = {value}");
        }
    }
    if let Some(quirks) = serde_json::to_value(&source.quirks)?.as_object() {
        for (name, value) in quirks {
            println!("  quirk.{name} = {value}   (learned, or set by hand)");
        }
    }
    println!("{} records in the store", grouped(count(store, &source)?));
    for ledger in ledger::targets(store, store.repository(name)?)? {
        draw(&ledger);
    }
    match &source.report {
        Some(report) => print!(
            "\nLast harvest, {}:\n{report}",
            report.ended.map_or(String::new(), date)
        ),
        None => println!("\nNever harvested. Try: stook harvest {name}"),
    }
    Ok(())
}

/// The windows of a target: a line each, with a bar of how much has come.
fn draw(ledger: &Ledger) {
    let target = &ledger.target;
    let set = if target.set.is_empty() {
        String::new()
    } else {
        format!(", set {}", target.set)
    };
    let cursor = target.cursor.map_or("nothing yet".to_owned(), |cursor| {
        format!("complete up to {}", date(cursor))
    });
    println!("\n{}{set}: {cursor}, {} rounds", target.prefix, target.rounds);
    const MOST_LINES: usize = 40;
    for window in ledger.windows.iter().take(MOST_LINES) {
        let state = match window.state {
            WindowState::Done => "done",
            WindowState::Open if window.pages > 0 => "under way",
            WindowState::Open => "to do",
            WindowState::Gap => "GAP",
        };
        let of = window
            .advertised
            .map_or(String::new(), |advertised| format!(" of {}", grouped(advertised)));
        let share = match (window.state, window.advertised) {
            (WindowState::Done, _) => 10,
            (_, Some(advertised)) if advertised > 0 => (window.received * 10 / advertised).min(10),
            _ => 0,
        };
        let bar: String = (0..10).map(|at| if at < share { '━' } else { '─' }).collect();
        println!(
            "  {bar} {window}  {}{of} records  {state}  {}",
            grouped(window.received),
            window.reason
        );
    }
    if ledger.windows.len() > MOST_LINES {
        println!("  … and {} more", ledger.windows.len() - MOST_LINES);
    }
}

fn import(store: &Store, file: &PathBuf) -> Result<()> {
    let mut text = String::new();
    if file.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    }
    let mut known = source::all(store)?;
    let mut added = 0;
    for (name, settings, quirks) in listed(&text, &known)? {
        if known
            .iter()
            .any(|source| source.name == name || source.settings.url == settings.url)
        {
            continue;
        }
        source::check(&settings).with_context(|| format!("source {name:?}"))?;
        source::keep(store, &name, &settings, &quirks)?;
        known.push(KnownSource {
            name,
            settings,
            quirks,
            report: None,
        });
        added += 1;
    }
    println!("{added} sources added.");
    Ok(())
}

/// What the text lists: an export, or one URL in a line.
fn listed(text: &str, known: &[KnownSource]) -> Result<Vec<(String, Source, Quirks)>> {
    if text.trim_start().starts_with('[') {
        let exported: Vec<Exported> = serde_json::from_str(text).context("reading the list of sources")?;
        let read = |source: Exported| Ok((source.name, serde_json::from_value(source.settings)?, source.quirks));
        return exported.into_iter().map(read).collect();
    }
    let mut names = known.to_vec();
    let mut sources = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let url = line.trim();
        if url.is_empty() || url.starts_with('#') {
            continue;
        }
        let name = name_for(url, &names).with_context(|| format!("line {}", number + 1))?;
        let settings = Source {
            url: url.to_owned(),
            ..Source::default()
        };
        names.push(KnownSource {
            name: name.clone(),
            settings: settings.clone(),
            quirks: Quirks::default(),
            report: None,
        });
        sources.push((name, settings, Quirks::default()));
    }
    Ok(sources)
}

fn export(store: &Store) -> Result<()> {
    let sources = source::all(store)?.into_iter().map(|source| {
        Ok(Exported {
            settings: source::without_secrets(&source.settings)?,
            name: source.name,
            quirks: source.quirks,
        })
    });
    let sources: Vec<Exported> = sources.collect::<Result<_>>()?;
    println!("{}", serde_json::to_string_pretty(&sources)?);
    Ok(())
}

fn date(seconds: i64) -> String {
    Datestamp::from_unix(seconds).map_or(String::new(), |date| date.format(Granularity::Second).to_string())
}
