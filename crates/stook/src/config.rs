//! The configuration, `stook.toml`: one table of name, default and sentence.
//!
//! Enters: the file's text. Leaves: settings that have been checked, or an error that names the place and the remedy.
//! The same table writes the commented file of `stook init` and the page docs/configuration.md, so neither can say
//! what the program does not do.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use stook_metadata::{Format, Formats};
use stook_oai::{Granularity, MetadataPrefix, OaiNamespace};
use url::Url;

/// One line of the table.
pub struct Setting {
    /// As it is written in the file.
    pub name: &'static str,
    /// The default, in TOML.
    pub default: String,
    /// What it does.
    pub sentence: &'static str,
}

/// Declares a group of settings once: the struct serde reads, its defaults, and the table people read.
macro_rules! settings {
    ($(#[$doc:meta])* $group:ident { $($name:ident: $type:ty = $default:expr, $sentence:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize, Serialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $group { $(#[doc = $sentence] pub $name: $type,)* }

        impl Default for $group {
            fn default() -> Self { Self { $($name: $default,)* } }
        }

        impl $group {
            /// Name, default and sentence of each setting, in the order of the file.
            pub fn table() -> Vec<Setting> {
                let defaults = Self::default();
                vec![$(Setting {
                    name: stringify!($name),
                    default: toml_text(&defaults.$name),
                    sentence: $sentence,
                },)*]
            }
        }
    };
}

settings! {
    /// How the program answers over HTTP.
    Server {
        listen: String = "127.0.0.1:8080".into(),
            "Address and port to listen on. Behind a reverse proxy keep it on 127.0.0.1.";
        trusted_proxies: Vec<IpNet> = vec![],
            "Addresses of reverse proxies whose X-Forwarded-For header is believed, such as [\"127.0.0.1/32\"].";
        max_connections: usize = 1024,
            "Connections open at the same time; more wait in the system's queue.";
        max_requests: usize = 0,
            "Requests answered at the same time; 0 means four for each processor core.";
        queue_seconds: u64 = 5,
            "How long a request may wait for its turn before it is told to come back (503 with Retry-After).";
        client_requests_per_second: u32 = 100,
            "Sustained requests of one client address; 0 means no limit. More are told to come back.";
        client_burst: u32 = 500,
            "Requests one client may make at once before the limit above applies.";
        client_concurrent_requests: usize = 64,
            "Requests of one client answered or waiting at the same time; 0 means no limit.";
        header_timeout_seconds: u64 = 15,
            "How long a client may take to send its request.";
        shutdown_seconds: u64 = 30,
            "How long answers in flight may take to finish when the server is stopped.";
        log_format: LogFormat = LogFormat::Text,
            "\"text\" for people, \"json\" for machines.";
    }
}

settings! {
    /// One repository to serve.
    Repository {
        name: String = "main".into(),
            "Short name of the repository in the store and on the command line.";
        path: String = "/oai".into(),
            "Where it answers on this server.";
        base_url: String = String::new(),
            "Its public URL, exactly as harvesters use it. Empty: http://LISTEN/PATH, good for trying out.";
        repository_name: String = String::new(),
            "Its name for people.";
        admin_emails: Vec<String> = vec![],
            "Who answers for it; at least one address.";
        namespace: String = String::new(),
            "The domain name in identifiers: the local identifier 42 becomes oai:NAMESPACE:42.";
        granularity: GranularityName = GranularityName::Seconds,
            "\"seconds\" or \"days\": how precisely harvesters may ask. Seconds suit everybody.";
        page_size: usize = 200,
            "Records in one answer; harvesters expect 100 to 500.";
        page_kilobytes: usize = 4096,
            "An answer is also ended when it reaches this size.";
        set_page_size: usize = 1000,
            "Sets in one answer.";
        token_hours: u64 = 48,
            "How long a resumption token stays valid.";
        compression: Vec<Coding> = vec![Coding::Gzip, Coding::Zstd],
            "Content codings offered to clients that ask for them.";
        friends: Vec<String> = vec![],
            "Base URLs of other repositories, listed in Identify for harvesters to discover.";
        description_files: Vec<PathBuf> = vec![],
            "XML files whose root elements are added to Identify as they are.";
        access: Access = Access::default(),
            "Who may harvest; without it everybody. See below.";
        branding: Option<Branding> = None,
            "An icon and style sheets for those who show the records. See below.";
        eprints: Option<Eprints> = None,
            "Policies, as the eprints community states them. See below.";
        rights: Vec<Rights> = vec![],
            "Rights that apply to metadata of this repository. See below.";
    }
}

settings! {
    /// Who may harvest a repository. A client that meets any one of the rules is let in.
    Access {
        addresses: Vec<IpNet> = vec![],
            "Client addresses that may harvest, such as [\"192.0.2.0/24\", \"2001:db8::/32\"].";
        users: Vec<User> = vec![],
            "Names and passwords for HTTP basic authentication: [{ name = \"aggregator\", password = \"…\" }].";
        tokens: Vec<String> = vec![],
            "Bearer tokens, each at least 16 characters.";
    }
}

settings! {
    /// A metadata format of one's own, beside those the program knows.
    HouseFormat {
        prefix: String = String::new(),
            "Its metadataPrefix.";
        namespace: String = String::new(),
            "The namespace of its root element.";
        schema: String = String::new(),
            "The URL of its XML schema.";
        root: String = String::new(),
            "The local name of its root element.";
    }
}

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the records live; relative to the configuration file.
    pub store: PathBuf,
    /// How to answer.
    pub server: Server,
    /// What to serve.
    pub repository: Vec<Repository>,
    /// Formats of one's own.
    pub format: Vec<HouseFormat>,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

/// Granularity as people write it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum GranularityName {
    /// YYYY-MM-DDThh:mm:ssZ
    Seconds,
    /// YYYY-MM-DD
    Days,
}

impl From<GranularityName> for Granularity {
    fn from(name: GranularityName) -> Granularity {
        match name {
            GranularityName::Seconds => Granularity::Second,
            GranularityName::Days => Granularity::Day,
        }
    }
}

/// A content coding we can produce.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Coding {
    /// Understood by everybody.
    Gzip,
    /// Smaller and faster, for clients that know it.
    Zstd,
}

impl Coding {
    /// As HTTP and Identify write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Zstd => "zstd",
        }
    }
}

/// A name and password.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    /// The name.
    pub name: String,
    /// The password.
    pub password: String,
}

impl std::fmt::Debug for User {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "User({})", self.name)
    }
}

/// How the collection likes to be shown.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Branding {
    /// URL of an icon of about 88×31 pixels.
    pub icon: String,
    /// Where a click on it leads.
    pub link: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Width in pixels.
    pub width: Option<u32>,
    /// Height in pixels.
    pub height: Option<u32>,
}

/// Policies of the eprints description. Each is a text or a URL.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Eprints {
    /// What the repository holds.
    pub content: Option<String>,
    /// What may be done with the metadata.
    pub metadata_policy: String,
    /// What may be done with the full content.
    pub data_policy: String,
    /// Who may submit.
    pub submission_policy: Option<String>,
    /// Anything else.
    #[serde(default)]
    pub comments: Vec<String>,
}

/// One rights statement: a reference or the statement itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum Rights {
    /// URL of a licence.
    Reference(String),
    /// One XML element that states the rights.
    Definition(String),
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
        config.store = folder.join(&config.store);
        for file in config
            .repository
            .iter_mut()
            .flat_map(|repository| &mut repository.description_files)
        {
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
        let mut config: Config = toml::from_str(text)?;
        if let Some(listen) = listen {
            config.server.listen = listen.to_owned();
        }
        if config.store.as_os_str().is_empty() {
            config.store = PathBuf::from("stook.db");
        }
        config.check()?;
        Ok(config)
    }

    fn check(&mut self) -> Result<()> {
        if self.repository.is_empty() {
            bail!("there is no [[repository]]\nTry: stook init, which writes one");
        }
        self.formats()?;
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

    /// Every format the program and this configuration know.
    ///
    /// # Errors
    /// When a format of one's own is incomplete or takes a known prefix.
    pub fn formats(&self) -> Result<Formats> {
        let mut own: Vec<Format> = Vec::new();
        for house in &self.format {
            let prefix = MetadataPrefix::parse(&house.prefix)
                .map_err(|error| anyhow!("[[format]] prefix {:?}: {error}", house.prefix))?;
            if house.namespace.is_empty() || house.schema.is_empty() || house.root.is_empty() {
                bail!("[[format]] {prefix} needs namespace, schema and root");
            }
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

impl Repository {
    fn check(&mut self, listen: &str) -> Result<()> {
        if self.name.is_empty()
            || !self
                .name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        {
            bail!("name {:?}: use letters, digits, - and _", self.name);
        }
        if !self.path.starts_with('/') || self.path.len() < 2 || self.path.ends_with('/') {
            bail!(
                "path {:?}: begin with a slash and end without one, such as /oai",
                self.path
            );
        }
        if self.base_url.is_empty() {
            self.base_url = format!("http://{listen}{}", self.path);
        }
        check_base_url(&self.base_url)?;
        if self.repository_name.trim().is_empty() {
            bail!("repository_name is empty\nTry: repository_name = \"Library of …\"");
        }
        if self.admin_emails.is_empty() {
            bail!("admin_emails is empty\nTry: admin_emails = [\"oai@your.domain\"]");
        }
        for email in &self.admin_emails {
            if !stook_oai::admin_email_is_valid(email) {
                bail!("admin_emails: {email:?} is not an address such as oai@example.org");
            }
        }
        if !self.namespace.is_empty() {
            OaiNamespace::parse(&self.namespace)
                .map_err(|error| anyhow!("namespace {:?}: {error}\nTry: your domain name", self.namespace))?;
        }
        for (name, value) in [("page_size", self.page_size), ("set_page_size", self.set_page_size)] {
            if !(1..=10_000).contains(&value) {
                bail!("{name} = {value}: use 1 to 10000");
            }
        }
        if !(64..=65_536).contains(&self.page_kilobytes) || !(1..=8_760).contains(&self.token_hours) {
            bail!("page_kilobytes must be 64 to 65536 and token_hours 1 to 8760");
        }
        if let Some(short) = self.access.tokens.iter().position(|token| token.len() < 16) {
            bail!(
                "access.tokens: number {} is shorter than 16 characters\nTry: openssl rand -hex 24",
                short + 1
            );
        }
        Ok(())
    }
}

/// A base URL is absolute, http or https, without query and fragment (sections 3.1.1 and 4.2 of the specification).
fn check_base_url(text: &str) -> Result<()> {
    let url = Url::parse(text).map_err(|error| anyhow!("base_url {text:?}: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        bail!("base_url {text:?} must begin with http:// or https://");
    }
    if url.query().is_some() || url.fragment().is_some() || text.contains(char::is_whitespace) {
        bail!("base_url {text:?} must have no ?, # or white space");
    }
    Ok(())
}

fn toml_text<T: Serialize>(value: &T) -> String {
    toml::Value::try_from(value).map_or_else(|_| String::new(), |value| value.to_string())
}

/// The commented file of `stook init`: what was answered is set, everything else stands there as a comment.
pub fn commented(store: &str, listen: &str, repository: &Repository) -> String {
    let mut text = String::from("# Configuration of Stook. Settings with a # before them show their defaults.\n\n");
    let _ = writeln!(
        text,
        "# Where the records live, relative to this file.\nstore = {}\n",
        toml_text(&store)
    );
    text.push_str("[server]\n");
    section(&mut text, Server::table(), &[("listen", toml_text(&listen))]);
    text.push_str("\n[[repository]]\n");
    let answered = [
        ("name", toml_text(&repository.name)),
        ("path", toml_text(&repository.path)),
        ("base_url", toml_text(&repository.base_url)),
        ("repository_name", toml_text(&repository.repository_name)),
        ("admin_emails", toml_text(&repository.admin_emails)),
        ("namespace", toml_text(&repository.namespace)),
        ("granularity", toml_text(&repository.granularity)),
    ];
    let scalars = Repository::table()
        .into_iter()
        .filter(|setting| !NESTED.contains(&setting.name))
        .collect();
    section(&mut text, scalars, &answered);
    text.push_str(EXAMPLES);
    text
}

/// Settings that are tables of their own; the examples show them.
const NESTED: [&str; 4] = ["access", "branding", "eprints", "rights"];

fn section(text: &mut String, settings: Vec<Setting>, answered: &[(&str, String)]) {
    for Setting {
        name,
        default,
        sentence,
    } in settings
    {
        let _ = match answered.iter().find(|(answered, _)| *answered == name) {
            Some((_, value)) => writeln!(text, "# {sentence}\n{name} = {value}"),
            None => writeln!(text, "# {sentence}\n# {name} = {default}"),
        };
    }
}

const EXAMPLES: &str = r##"
# Who may harvest. A client that meets any one of these is let in; without this table everybody is.
# [repository.access]
# addresses = ["192.0.2.0/24"]
# users = [{ name = "aggregator", password = "a long password" }]
# tokens = ["at least sixteen characters"]

# An icon for those who show the records.
# [repository.branding]
# icon = "https://example.org/icon.png"
# link = "https://example.org/"
# title = "Example Library"
# width = 88
# height = 31

# Policies as the eprints community states them; a text or a URL each.
# [repository.eprints]
# content = "Theses and articles of the faculty."
# metadata_policy = "https://example.org/metadata-policy"
# data_policy = "Full texts may be read and copied for study."

# Rights in the metadata; a reference or a statement in XML.
# [[repository.rights]]
# reference = "https://creativecommons.org/publicdomain/zero/1.0/"

# A metadata format of your own, beside the well-known ones.
# [[format]]
# prefix = "house"
# namespace = "https://example.org/ns/house/"
# schema = "https://example.org/ns/house.xsd"
# root = "record"
"##;

/// The page docs/configuration.md.
pub fn documentation() -> String {
    let mut text = String::from(DOCUMENTATION_HEAD);
    let groups = [
        ("`[server]`", "How the program answers over HTTP.", Server::table()),
        ("`[[repository]]`", "One for each repository; the name and the path of each are its own.", Repository::table()),
        (
            "`[repository.access]`",
            "Who may harvest. A client that meets any one of the rules is let in; without rules everybody is.",
            Access::table(),
        ),
        ("`[[format]]`", "A metadata format of your own, beside the well-known ones.", HouseFormat::table()),
    ];
    for (name, what, settings) in groups {
        let _ = write!(text, "\n## {name}\n\n{what}\n\n| setting | default | meaning |\n|---|---|---|\n");
        for Setting { name, default, sentence } in settings {
            let default = if default.is_empty() { "none".to_owned() } else { format!("`{default}`") };
            let _ = writeln!(text, "| `{name}` | {default} | {sentence} |");
        }
    }
    text.push_str("\n## Tables that are longer than a line\n\n```toml");
    text.push_str(EXAMPLES);
    text.push_str("```\n");
    text
}

const DOCUMENTATION_HEAD: &str = "# Configuration

<!-- Made from the table in crates/stook/src/config.rs; `STOOK_UPDATE_GOLDEN=1 cargo test -p stook config` writes it. -->

`stook init` writes a commented `stook.toml` with these settings; `-c FILE` or the environment variable `STOOK_CONFIG` names
another file. A setting that is not there has its default; one that does not exist is an error. Paths are relative to the
file. `store`, at the top, is the file the records live in; its default is `stook.db`.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_setting_as_it_is() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
        if std::env::var_os("STOOK_UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, documentation()).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, documentation(), "run this test with STOOK_UPDATE_GOLDEN=1 and read the difference");
    }

    fn minimal() -> Repository {
        Repository {
            repository_name: "Test".into(),
            admin_emails: vec!["a@example.org".into()],
            namespace: "example.org".into(),
            ..Repository::default()
        }
    }

    #[test]
    fn the_commented_file_is_read_back_as_what_was_answered() {
        let text = commented("records.db", "127.0.0.1:9000", &minimal());
        let config = Config::parse(&text).unwrap();
        assert_eq!(config.server.listen, "127.0.0.1:9000");
        assert_eq!(config.repository[0].namespace, "example.org");
        assert_eq!(config.repository[0].base_url, "http://127.0.0.1:9000/oai");
    }

    #[test]
    fn the_commented_file_with_every_comment_taken_off_is_valid_too() {
        let text = commented("records.db", "127.0.0.1:9000", &minimal());
        let is_setting = |line: &str| {
            line.starts_with("# [")
                || line.split_once(" = ").is_some_and(|(name, _)| {
                    name.strip_prefix("# ")
                        .is_some_and(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
                })
        };
        let open: String = text
            .lines()
            .map(|line| {
                if is_setting(line) {
                    line.trim_start_matches("# ")
                } else {
                    line
                }
            })
            .map(|line| format!("{line}\n"))
            .collect();
        let config = Config::parse(&open).unwrap_or_else(|error| panic!("{error:#}\n{open}"));
        assert_eq!(config.repository[0].access.users[0].name, "aggregator");
        assert!(config.formats().unwrap().by_prefix("house").is_some());
    }

    #[test]
    fn mistakes_name_the_place() {
        let base = "[[repository]]\nrepository_name = \"T\"\nadmin_emails = [\"a@example.org\"]\n";
        for (more, expected) in [
            ("page_sise = 3", "page_sise"),
            ("page_size = 0", "page_size"),
            ("base_url = \"example.org/oai\"", "base_url"),
            ("base_url = \"https://example.org/oai?x=1\"", "base_url"),
            ("path = \"oai\"", "path"),
            ("namespace = \"localhost\"", "namespace"),
            ("granularity = \"minutes\"", "granularity"),
            ("[repository.access]\ntokens = [\"short\"]", "access.tokens"),
            ("[[repository]]\nname = \"main\"", "share a name"),
        ] {
            let error = Config::parse(&format!("{base}{more}\n")).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{more}: {error:#}");
        }
    }
}
