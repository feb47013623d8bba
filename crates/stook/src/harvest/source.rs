//! A source in the store: its settings, its quirks, its last report, and a harvest of it.

mod leave;

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use stook_oai::{Identifier, MetadataFormat, MetadataPrefix, Set, SetSpec};
use stook_store::{Importer, Known, Note, RepositoryId, Store, Vanished};

use super::lease::{Lease, LeftToOthers};
use super::ledger::Ledger;
use super::quirks::Quirks;
use super::report::Report;
use super::run::{Harvest, Memory, Outside, Wanted};
use super::sink::{Place, StoreSink};
use crate::config::{Config, Repository, Source};

pub use leave::{Standing, erase, forget, records, standing, start_over};

const SETTINGS: &str = "source";
const QUIRKS: &str = "quirks";
const REPORT: &str = "report";
/// Where the records of a removed source came from: what tells them from a repository of our own.
const REMOVED: &str = "removed";
/// Records in quarantine that are asked for again in one harvest.
const MOST_RETRIED: usize = 100;

/// A source that the store knows.
#[derive(Clone, Debug)]
pub struct KnownSource {
    /// Its name, which is its repository's in the store.
    pub name: String,
    /// How it is harvested.
    pub settings: Source,
    /// What it needs.
    pub quirks: Quirks,
    /// How its last harvest went.
    pub report: Option<Report>,
}

impl KnownSource {
    /// What was harvested, as a repository to serve.
    pub fn as_repository(&self, config: &Config) -> Repository {
        let path = format!("/source/{}", self.name);
        let first = config.repository.first();
        let outside = first.and_then(|first| first.base_url.strip_suffix(&first.path));
        Repository {
            base_url: match outside {
                Some(outside) => format!("{outside}{path}"),
                None => format!("http://{}{path}", config.server.listen),
            },
            path,
            name: self.name.clone(),
            repository_name: format!("{}, harvested from {}", self.name, self.settings.url),
            admin_emails: first.map_or_else(Vec::new, |first| first.admin_emails.clone()),
            ..Repository::default()
        }
    }
}

/// All sources, in order of their names.
///
/// # Errors
/// When the store cannot be read.
pub fn all(store: &Store) -> Result<Vec<KnownSource>> {
    let mut sources = Vec::new();
    for (name, _) in store.noted(SETTINGS)? {
        sources.push(named(store, &name)?);
    }
    Ok(sources)
}

/// The source of this name.
///
/// # Errors
/// When there is none, or the store cannot be read.
pub fn named(store: &Store, name: &str) -> Result<KnownSource> {
    let repository = store.repository(name);
    let notes: HashMap<String, String> = match repository {
        Ok(repository) => store.notes(repository, "")?.into_iter().collect(),
        Err(_) => HashMap::new(),
    };
    let Some(settings) = notes.get(SETTINGS) else {
        bail!("there is no source {name:?}\nTry: stook source list, or stook source add {name} URL");
    };
    let quirks = notes.get(QUIRKS).map(|text| serde_json::from_str(text));
    let report = notes.get(REPORT).map(|text| serde_json::from_str(text));
    Ok(KnownSource {
        name: name.to_owned(),
        settings: serde_json::from_str(settings).context("reading the settings of a source")?,
        quirks: quirks
            .transpose()
            .context("reading the quirks of a source")?
            .unwrap_or_default(),
        report: report.transpose().context("reading the report of a source")?,
    })
}

/// Keeps a source; one that was removed is there again with its records.
///
/// # Errors
/// When the store cannot be written.
pub fn keep(store: &Store, name: &str, settings: &Source, quirks: &Quirks) -> Result<()> {
    let repository = store.declare_repository(name)?;
    let back = Note {
        key: REMOVED.to_owned(),
        text: None,
    };
    store.write_notes(repository, &[note(SETTINGS, settings)?, note(QUIRKS, quirks)?, back])?;
    Ok(())
}

fn note(key: &str, value: &impl serde::Serialize) -> Result<Note> {
    Ok(Note {
        key: key.to_owned(),
        text: Some(serde_json::to_string(value).context("writing a note")?),
    })
}

fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}

/// Harvests a source into its repository in the store.
///
/// # Errors
/// When the store cannot be used, or somebody else harvests the source. Whatever the source does is in the report.
pub fn harvest(store: &Store, source: &KnownSource, mut wanted: Wanted, outside: &Outside<'_>) -> Result<Report> {
    let verify = wanted.verify;
    wanted.first_contact = source.report.is_none();
    let repository = store.declare_repository(&source.name)?;
    let lasts = Duration::from_secs(source.settings.lease_seconds.max(1));
    let _lease = Lease::take(store, repository, &source.name, lasts)?;
    if wanted.unless_harvested && ended(&named(store, &source.name)?) != ended(source) {
        return Err(LeftToOthers::Harvested(source.name.clone()).into());
    }
    let mut memory = StoreMemory {
        store: store.clone(),
        repository,
        importer: None,
    };
    let mut sink = StoreSink::new(Place {
        store: store.clone(),
        repository,
        base_url: source.settings.url.clone(),
    });
    let began = now();
    let mut harvest = Harvest::new(
        &source.settings,
        source.quirks.clone(),
        wanted,
        outside,
        &mut sink,
        &mut memory,
    )?;
    harvest.report.began = began;
    harvest.run()?;
    if verify && harvest.report.stopped.is_none() {
        harvest.verify()?;
    }
    let (mut report, quirks) = (harvest.report, harvest.quirks);
    report.ended = Some(now());
    report.in_quarantine = store.quarantine_count(repository)?;
    store.write_notes(repository, &[note(QUIRKS, &quirks)?, note(REPORT, &report)?])?;
    Ok(report)
}

/// When its last harvest ended.
fn ended(source: &KnownSource) -> Option<i64> {
    source.report.as_ref().and_then(|report| report.ended)
}

/// The store as a harvest's memory.
struct StoreMemory {
    store: Store,
    repository: RepositoryId,
    /// Knows what was mentioned in a comparison.
    importer: Option<Importer>,
}

impl StoreMemory {
    fn comparison(&mut self) -> Result<&mut Importer> {
        self.importer.as_mut().context("no comparison has begun")
    }
}

impl Memory for StoreMemory {
    fn ledger(&self, prefix: &str, set: &str) -> Result<Ledger> {
        Ledger::load(&self.store, self.repository, prefix, set)
    }

    fn declare_format(&mut self, format: &MetadataFormat) -> Result<()> {
        Ok(self.store.declare_format(self.repository, format)?)
    }

    fn define_set(&mut self, set: &Set) -> Result<()> {
        Ok(self.store.define_set(self.repository, set)?)
    }

    fn known(&self, prefix: &MetadataPrefix, identifier: &str) -> Result<Option<Known>> {
        let known = self
            .store
            .look_up(|snapshot| snapshot.known(self.repository, prefix, identifier))?;
        Ok(known)
    }

    fn quarantined(&self) -> Result<Vec<String>> {
        let mut identifiers = Vec::new();
        self.store.quarantined(self.repository, |entry| {
            if let Some(identifier) = entry.identifier.filter(|_| identifiers.len() < MOST_RETRIED) {
                identifiers.push(identifier);
            }
        })?;
        Ok(identifiers)
    }

    fn clear_quarantine(&mut self) -> Result<()> {
        self.store.clear_quarantine(self.repository)?;
        Ok(())
    }

    fn begin_comparison(&mut self) -> Result<()> {
        self.importer = Some(self.store.importer(self.repository)?);
        Ok(())
    }

    fn mention(&mut self, identifier: &Identifier) -> Result<()> {
        Ok(self.comparison()?.spare(identifier)?)
    }

    fn vanished(&mut self, prefix: &MetadataPrefix, sets: &[SetSpec]) -> Result<Vanished> {
        Ok(self.comparison()?.vanished(std::slice::from_ref(prefix), sets)?)
    }

    fn delete_vanished(&mut self) -> Result<u64> {
        Ok(self.comparison()?.delete_vanished(|_| {})?)
    }
}

/// Whether the settings can be used at all.
///
/// # Errors
/// With what is wrong and what to try.
pub fn check(settings: &Source) -> Result<()> {
    settings.check()?;
    // A client looks its host up, which takes time and says nothing about settings; only these need one to be tried.
    if !(settings.ca_file.is_empty() && settings.proxy.is_empty()) {
        super::client::Client::new(settings, "")?;
    }
    Ok(())
}

/// Whether quirks set by hand can be used.
///
/// # Errors
/// With what is wrong and what to try.
pub fn check_quirks(quirks: &Quirks) -> Result<()> {
    if let Some(name) = &quirks.encoding
        && encoding_rs::Encoding::for_label_no_replacement(name.as_bytes()).is_none()
    {
        bail!("quirk.encoding={name:?} is not a known encoding\nTry: quirk.encoding=windows-1250, iso-8859-2 or utf-8");
    }
    Ok(())
}
