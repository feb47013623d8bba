//! The configuration, `stook.toml`: one table of name, default and sentence.
//!
//! Enters: the file's text. Leaves: settings that have been checked (`check.rs`), or an error that names the place and
//! the remedy.
//! The same table ([`settings`]) writes the commented file of `stook init` and the page docs/configuration.md
//! ([`text`]), so neither can say what the program does not do.

mod check;
mod mistake;
pub mod settings;
mod source;
pub mod text;

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stook_metadata::{Format, Formats};
use stook_oai::MetadataPrefix;
use stook_store::{PostgresAddress, StoreAddress};

use crate::crosswalk::Crosswalks;
use crate::sets;
pub(crate) use check::is_url;
pub(crate) use mistake::mistake;
pub use settings::{
    Access, Branding, Coding, Crosswalk, Eprints, Explore, GranularityName, Harvest, HouseFormat, LogFormat, Network,
    Repository, Rights, Server, Source, User,
};
pub use source::check_web_address;
pub use text::{commented, documentation};

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the records live: a file, relative to the configuration file, or a server, `postgres://…`.
    #[serde(deserialize_with = "store_address", serialize_with = "without_password")]
    pub store: StoreAddress,
    /// Replicas of that server, from which harvesters are answered.
    #[serde(skip_serializing)]
    pub read_urls: Vec<String>,
    /// How to answer.
    pub server: Server,
    /// What to serve.
    pub repository: Vec<Repository>,
    /// Formats of one's own.
    pub format: Vec<HouseFormat>,
    /// Records of one format made from those of another.
    pub crosswalk: Vec<Crosswalk>,
    /// How to harvest.
    pub harvest: Harvest,
}

/// What a parser quotes of the file, without what stands between `://user:` and `@`.
pub(crate) fn without_passwords(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, address) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = address.find(|sign: char| sign.is_whitespace() || matches!(sign, '/' | '"' | '\''));
        let (authority, after) = address.split_at(end.unwrap_or(address.len()));
        match authority
            .rsplit_once('@')
            .map(|(login, host)| (login.split_once(':'), host))
        {
            Some((Some((user, _)), host)) => shown.extend([user, ":…@", host]),
            _ => shown.push_str(authority),
        }
        rest = after;
    }
    shown + rest
}

fn without_password<S: Serializer>(store: &StoreAddress, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(store)
}

/// An empty one is the default.
fn store_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<StoreAddress, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.as_str() {
        "" => Ok(StoreAddress::default()),
        text => text.parse().map_err(serde::de::Error::custom),
    }
}

impl Config {
    /// Reads and checks a configuration file. `listen` takes the place of what the file says.
    ///
    /// # Errors
    /// When it cannot be read, is not TOML, has unknown settings or impossible values.
    pub fn load(path: &Path, listen: Option<&str>) -> Result<Config> {
        let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => anyhow!(
                "there is no configuration at {}\nTry: stook init, or name the file with -c FILE",
                path.display()
            ),
            _ => anyhow!("cannot read {}: {error}", path.display()),
        })?;
        let mut config = Config::read(&text, listen).with_context(|| format!("in {}", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        config.store = config.store.relative_to(folder);
        let descriptions = config.repository.iter_mut();
        let descriptions = descriptions.flat_map(|repository| &mut repository.description_files);
        let crosswalks = config
            .crosswalk
            .iter_mut()
            .flat_map(|crosswalk| [crosswalk.mapping.as_mut(), crosswalk.stylesheet.as_mut()])
            .flatten();
        for file in descriptions.chain(crosswalks) {
            *file = folder.join(&*file);
        }
        for watched in config
            .repository
            .iter_mut()
            .flat_map(|repository| &mut repository.watch)
        {
            *watched = folder.join(&*watched);
        }
        let rules = config.repository.iter_mut();
        let rules = rules.flat_map(|repository| &mut repository.set_rules);
        for file in rules.filter(|name| sets::profile(name).is_none()) {
            *file = folder.join(&*file);
        }
        Ok(config)
    }

    /// Reads and checks a configuration.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(text: &str) -> Result<Config> {
        Config::read(text, None)
    }

    fn read(text: &str, listen: Option<&str>) -> Result<Config> {
        let parsed = toml::from_str(text);
        let mut config: Config = parsed.map_err(|error| mistake(text, &error, "docs/configuration.md"))?;
        if let Some(listen) = listen {
            config.server.listen = listen.to_owned();
        }
        config.check()?;
        Ok(config)
    }

    fn check(&mut self) -> Result<()> {
        if self.repository.is_empty() {
            bail!("there is no [[repository]]\nTry: stook init, which writes one");
        }
        self.formats()?;
        self.check_replicas()?;
        self.server.check()?;
        let listen = self.server.listen.clone();
        for at in 0..self.repository.len() {
            let (before, rest) = self.repository.split_at_mut(at);
            let repository = &mut rest[0];
            let clash = before
                .iter()
                .find(|other| other.name == repository.name || other.path == repository.path);
            if let Some(other) = clash {
                bail!(
                    "repositories {:?} and {:?} share a name or a path",
                    other.name,
                    repository.name
                );
            }
            let name = repository.name.clone();
            repository
                .check(&listen)
                .with_context(|| format!("repository {name:?}"))?;
        }
        Ok(())
    }

    fn check_replicas(&self) -> Result<()> {
        if matches!(self.store, StoreAddress::File(_)) && !self.read_urls.is_empty() {
            bail!(
                "read_urls are replicas of a server, but the store is a file\nTry: store = \"postgres://…\", or no read_urls"
            );
        }
        for url in &self.read_urls {
            let parsed = url.parse::<PostgresAddress>();
            parsed.map_err(|error| anyhow!("read_urls: {error}\nTry: {}", error.hint()))?;
        }
        Ok(())
    }

    /// The repository of this name, or the only one.
    ///
    /// # Errors
    /// When there is no such repository, or several and none was named.
    pub fn select(&self, name: Option<&str>) -> Result<&Repository> {
        let names = || {
            self.repository
                .iter()
                .map(|repository| repository.name.as_str())
                .collect::<Vec<_>>()
                .join(", ")
        };
        match (name, self.repository.as_slice()) {
            (None, [only]) => Ok(only),
            (None, _) => bail!("there are several repositories: {}\nTry: --repository NAME", names()),
            (Some(name), all) => all
                .iter()
                .find(|repository| repository.name == name)
                .ok_or_else(|| anyhow!("there is no repository {name:?}\nTry: one of {}", names())),
        }
    }

    /// The crosswalks of this configuration, and those that come with the program.
    ///
    /// # Errors
    /// When a mapping or a stylesheet cannot be read, or one of them has both.
    pub fn crosswalks(&self) -> Result<Crosswalks> {
        Crosswalks::new(&self.crosswalk, &self.formats()?)
    }

    /// Every format the program and this configuration know.
    ///
    /// # Errors
    /// When a format of one's own is incomplete or takes a known prefix.
    pub fn formats(&self) -> Result<Formats> {
        let mut own: Vec<Format> = Vec::new();
        for house in &self.format {
            let prefix = MetadataPrefix::parse(&house.prefix)
                .map_err(|error| anyhow!("[[format]] prefix {:?}: {error}", house.prefix))?;
            house.check()?;
            if stook_metadata::well_known()
                .iter()
                .chain(&own)
                .any(|known| known.prefix == prefix)
            {
                bail!("[[format]] {prefix} is known already\nTry: another prefix");
            }
            let (namespace, schema, root) = (house.namespace.clone(), house.schema.clone(), house.root.clone());
            own.push(Format::new(prefix, house.prefix.clone(), namespace, schema, Some(root)));
        }
        Ok(Formats::new(own))
    }
}
