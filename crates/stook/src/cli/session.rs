//! What most commands begin with: the configuration, the store, the repository.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use clap::Args;
use stook_metadata::Formats;
use stook_oai::{Identifier, OaiNamespace};
use stook_store::{Clock, RepositoryId, Store, StoreAddress};

use super::stop;
use crate::config::{self, Config};
use crate::crosswalk::Crosswalks;
use crate::harvest::source;
use crate::sets::SetRules;

/// Which configuration and repository a command is about.
#[derive(Args)]
pub(super) struct Place {
    /// The configuration file
    #[arg(
        short,
        long,
        global = true,
        value_name = "FILE",
        default_value = "stook.toml",
        env = "STOOK_CONFIG"
    )]
    pub(super) config: PathBuf,
    /// The repository, where the configuration has several
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(super) repository: Option<String>,
}

/// An open store and the repository the command is about.
pub(super) struct Session {
    pub(super) settings: config::Repository,
    pub(super) formats: Formats,
    crosswalks: Vec<config::Crosswalk>,
    pub(super) store: Store,
    pub(super) repository: RepositoryId,
}

impl Session {
    /// Opens what `place` names, making the store if it is not there yet.
    pub(super) fn open(place: &Place) -> Result<Session> {
        // What was harvested without a configuration can be looked at without one.
        let config = existing_configuration(place, None)?;
        Session::of(&config, open_store(&config)?, place.repository.as_deref())
    }

    /// Opens what `place` names, if it is there: a name that is mistyped makes no store.
    pub(super) fn look(place: &Place) -> Result<Session> {
        let config = existing_configuration(place, None)?;
        Session::of(&config, existing_store(&config)?, place.repository.as_deref())
    }

    /// Opens a repository of a configuration.
    pub(super) fn of(config: &Config, store: Store, name: Option<&str>) -> Result<Session> {
        let formats = config.formats()?;
        let settings = match name.and_then(|name| source::named(&store, name).ok()) {
            Some(source) => source.as_repository(config),
            None if config.repository.is_empty() => return Err(which_source(&store, name)?),
            None => config.select(name)?.clone(),
        };
        let repository = store.declare_repository(&settings.name)?;
        Ok(Session {
            settings,
            formats,
            crosswalks: config.crosswalk.clone(),
            store,
            repository,
        })
    }

    /// The rules by which records of the repository are put into sets.
    pub(super) fn set_rules(&self) -> Result<SetRules> {
        let name = &self.settings.name;
        SetRules::read(&self.settings.set_rules, &self.formats)
            .with_context(|| format!("set_rules of the repository {name:?}"))
    }

    /// The crosswalks. A mistake in one stops nobody who does not ask for them.
    pub(super) fn crosswalks(&self) -> Result<Crosswalks> {
        Crosswalks::new(&self.crosswalks, &self.formats)
    }

    /// The domain in identifiers made from local ones.
    pub(super) fn namespace(&self) -> Result<OaiNamespace> {
        let namespace = &self.settings.namespace;
        OaiNamespace::parse(namespace).map_err(|_| {
            let name = &self.settings.name;
            anyhow!("repository {name:?} has no namespace\nTry: namespace = \"your.domain\" in its [[repository]]")
        })
    }

    /// The identifier a person means: a full one, or the local part.
    pub(super) fn identifier(&self, text: &str) -> Result<Identifier> {
        Ok(crate::import::draft::identifier(text, &self.namespace()?)?)
    }
}

/// The store holds nothing but sources, and none of them was named.
fn which_source(store: &Store, name: Option<&str>) -> Result<anyhow::Error> {
    let sources = source::all(store)?.into_iter().map(|source| source.name);
    let sources = sources.collect::<Vec<_>>().join(", ");
    Ok(match name {
        Some(name) => anyhow!("there is no source {name:?}\nTry: one of {sources}"),
        None => anyhow!("which source?\nTry: -r NAME, one of {sources}"),
    })
}

/// The configuration; without a file, a store beside the place where one would be.
pub(super) fn configuration(place: &Place) -> Result<Config> {
    if place.config.exists() {
        return Config::load(&place.config, None);
    }
    let folder = place.config.parent().unwrap_or(Path::new(""));
    Ok(Config {
        store: StoreAddress::default().relative_to(folder),
        ..Config::default()
    })
}

/// The configuration of what is there already: without a file, that of a store which a harvest has made.
pub(super) fn existing_configuration(place: &Place, listen: Option<&str>) -> Result<Config> {
    if place.config.exists() {
        return Config::load(&place.config, listen);
    }
    let mut config = configuration(place)?;
    if !config.store.is_there() {
        // Says what is missing and how to make it.
        return Config::load(&place.config, listen);
    }
    if let Some(listen) = listen {
        config.server.listen = listen.to_owned();
    }
    Ok(config)
}

/// The store of a configuration, made if it is not there yet.
pub(super) fn open_store(config: &Config) -> Result<Store> {
    let store = config.store.open(Clock::system())?;
    store.on_wait(stop::while_waiting());
    Ok(store)
}

/// The store of a configuration, with its replicas, if it is there.
pub(super) fn existing_store(config: &Config) -> Result<Store> {
    let store = config.store.open_existing(&config.read_urls, Clock::system())?;
    store.on_wait(stop::while_waiting());
    Ok(store)
}
