//! `stook source`: the repositories that are harvested, and how.

mod assign;
mod exchange;
mod name;
mod show;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Subcommand;
use stook_store::Store;

use self::assign::Draft;
use super::session::{Place, configuration, open_store};
use super::{Ending, progress};
use crate::config::{Config, Source};
use crate::count::counted;
use crate::harvest::Quirks;
use crate::harvest::source::{self, Standing};

pub(super) use self::exchange::may_be_named;
pub(super) use self::name::name_for;
pub(super) use self::show::{count, state};

/// Add, list, show, edit and remove the sources of harvests
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  stook source add maps https://example.org/oai set=maps prefix=oai_dc every_hours=12
  stook source list
  stook source show maps
  stook source edit maps pause_milliseconds=500 quirk.no_until=true
  stook source remove maps --erase
  stook source export > sources.json; stook source import sources.json")]
pub(super) enum SourceCommand {
    /// Add a source
    #[command(after_help = "\
The name of a source that was removed may be used again: its records are taken over.")]
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
    #[command(after_help = "\
With another url the records stay, but everything is asked for anew and what was learned is forgotten.")]
    Edit {
        /// The source
        name: String,
        /// Settings, as NAME=VALUE; an empty value restores the default
        #[arg(required = true)]
        settings: Vec<String>,
    },
    /// Forget a source; its records stay in the store unless they are erased
    Remove {
        /// The source, or one that was removed before without --erase
        name: String,
        /// Erase its records too: their content is gone for good
        #[arg(long)]
        erase: bool,
    },
    /// Add sources from a file: lines of URLs, or what `export` wrote
    Import {
        /// The file; - is standard input
        file: PathBuf,
    },
    /// Write all sources as JSON, without their secrets
    Export,
    /// Explain the settings and quirks of a source
    Settings,
}

impl SourceCommand {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        match self {
            SourceCommand::Add { name, url, settings } => add(place, &name, &url, &settings)?,
            SourceCommand::List => show::list(&existing_store(place)?)?,
            SourceCommand::Show { name } => show::show(&existing_store(place)?, &name)?,
            SourceCommand::Edit { name, settings } => edit(&existing_store(place)?, &name, &settings)?,
            SourceCommand::Remove { name, erase } => remove(&existing_store(place)?, &name, erase)?,
            SourceCommand::Import { file } => exchange::import(place, &file)?,
            SourceCommand::Export => exchange::export(&existing_store(place)?)?,
            SourceCommand::Settings => assign::explain(),
        }
        Ok(Ending::Fine)
    }
}

/// The store, for commands that would have nothing to do in a new one.
fn existing_store(place: &Place) -> Result<Store> {
    let config = configuration(place)?;
    if !config.store.is_there() {
        bail!(
            "there is no store at {}, so there are no sources\nTry: stook source add NAME URL, or another configuration \
             with -c FILE",
            config.store
        );
    }
    open_store(&config)
}

fn check_name(name: &str) -> Result<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || !name.chars().all(is_plain) {
        bail!("name {name:?} is not a name for a source\nTry: letters, digits, - and _");
    }
    Ok(())
}

/// Why a source cannot have this name.
fn obstacle(store: &Store, config: &Config, name: &str) -> Result<Option<String>> {
    if config.repository.iter().any(|repository| repository.name == name) {
        return Ok(Some(format!("{name:?} is a repository of the configuration")));
    }
    Ok(match source::standing(store, name)? {
        Standing::Free | Standing::Left { .. } => None,
        Standing::Source => Some(format!("there is a source {name:?} already")),
        Standing::Repository => Some(format!("{name:?} is a repository of its own in the store")),
    })
}

fn add(place: &Place, name: &str, url: &str, settings: &[String]) -> Result<()> {
    check_name(name)?;
    let url = url.to_owned();
    let mut draft = Draft::new(
        Source {
            url,
            ..Source::default()
        },
        Quirks::default(),
    );
    for assignment in settings {
        draft.assign(assignment)?;
    }
    let (settings, quirks) = draft.finish()?;
    let config = configuration(place)?;
    let store = open_store(&config)?;
    if let Some(reason) = obstacle(&store, &config, name)? {
        bail!("{reason}\nTry: another name, or stook source list");
    }
    if let Standing::Left { url } = source::standing(&store, name)?
        && let (live, _) = source::records(&store, name)?
        && live > 0
    {
        println!("Already there, from {url}: {}.", counted(live, "record"));
        if url != settings.url {
            println!(
                "What {} does not have is found and deleted by: stook harvest {name} --verify",
                settings.url
            );
        }
    }
    source::keep(&store, name, &settings, &quirks)?;
    println!("Added. Try: stook harvest {name}");
    Ok(())
}

fn edit(store: &Store, name: &str, settings: &[String]) -> Result<()> {
    let known = source::named(store, name)?;
    let mut draft = Draft::new(known.settings.clone(), known.quirks.clone());
    for assignment in settings {
        draft.assign(assignment)?;
    }
    let (changed, mut quirks) = draft.finish()?;
    if changed.url != known.settings.url {
        // What was learned was learned about another repository; what is said now is about this one.
        let mut anew = Draft::new(changed.clone(), Quirks::default());
        for assignment in settings.iter().filter(|assignment| assignment.starts_with("quirk.")) {
            anew.assign(assignment)?;
        }
        quirks = anew.finish()?.1;
        source::start_over(store, name)?;
        let (live, _) = source::records(store, name)?;
        println!(
            "The next harvest asks {} for everything; what was learned about {} is forgotten.",
            changed.url, known.settings.url
        );
        if live > 0 {
            println!("Kept: {}.", counted(live, "record"));
            println!("What the new address does not have is found and deleted by: stook harvest {name} --verify");
        }
    }
    source::keep(store, name, &changed, &quirks)?;
    println!("Changed.");
    Ok(())
}

fn remove(store: &Store, name: &str, erase: bool) -> Result<()> {
    match source::standing(store, name)? {
        Standing::Left { .. } if erase => {}
        Standing::Left { .. } if source::records(store, name)?.0 > 0 => {
            bail!("{name:?} was removed before; only its records are left\nTry: stook source remove {name} --erase")
        }
        _ => source::forget(store, name)?,
    }
    let (live, deleted) = source::records(store, name)?;
    if !erase {
        println!(
            "{name} is no longer harvested. Still in the store: {}.",
            counted(live, "record")
        );
        if live > 0 {
            println!("To erase them: stook source remove {name} --erase");
        }
        return Ok(());
    }
    let bar = progress::count(live + deleted);
    let erased = source::erase(store, name, |seen| {
        bar.set_position(seen);
        bar.set_message(counted(seen, "record"));
    })?;
    bar.finish_and_clear();
    println!("{name} is no longer harvested. Erased: {}.", counted(erased, "record"));
    Ok(())
}
