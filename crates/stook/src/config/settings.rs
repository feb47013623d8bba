//! THE table: every setting with its default and a sentence.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use stook_oai::Granularity;

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
        trusted_proxies: Vec<Network> = vec![],
            "Addresses of reverse proxies whose X-Forwarded-For header is believed, such as [\"127.0.0.1\"].";
        max_connections: usize = 1024,
            "Connections open at the same time; more wait in the system's queue.";
        max_requests: usize = 0,
            "Requests answered at the same time; 0 means two for each processor core.";
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
        stall_timeout_seconds: u64 = 120,
            "How long a client may stop taking its answer before it is disconnected.";
        shutdown_seconds: u64 = 30,
            "How long answers in flight may take to finish when the server is stopped.";
        log_format: LogFormat = LogFormat::Text,
            "\"text\" for people, \"json\" for machines.";
        explore: Explore = Explore::Own,
            "What visitors may explore and test at /explore: \"own\" repositories, \"any\" repository by its URL, or \"off\". See docs/exploring.md.";
        explore_private: bool = false,
            "With \"any\": whether URLs may lead inside this network. Visitors could then ask machines that only this one can reach.";
        explore_requests_per_minute: u32 = 60,
            "With \"any\": requests to other repositories that one client may cause; 0 means no limit.";
        explore_concurrent_requests: usize = 4,
            "With \"any\": requests to other repositories at the same time, of all clients together.";
        explore_runs: usize = 2,
            "Runs of the validator at the same time, started at /explore; one for each client. 0 means none.";
    }
}

settings! {
    /// One repository to serve.
    Repository {
        name: String = "main".into(),
            "Short name of the repository in the store and on the command line. Another name is another repository.";
        path: String = "/oai".into(),
            "Where it answers on this server.";
        base_url: String = String::new(),
            "Its public URL, exactly as harvesters use it. Empty: http://LISTEN/PATH, good for trying out.";
        repository_name: String = String::new(),
            "Its name for people.";
        admin_emails: Vec<String> = vec![],
            "Who answers for it; at least one address.";
        namespace: String = String::new(),
            "The domain name in identifiers: the local identifier 42 becomes oai:NAMESPACE:42. Never change it: every record would be a new one.";
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
        set_rules: Vec<PathBuf> = vec![],
            "Rules that put records into sets by what they say: files, or \"dini\". See docs/sets.md; after a change `stook set refresh`.";
        watch: Vec<PathBuf> = vec![],
            "Folders that `stook serve` watches: files that come, change and go become records, changes and deletions. See docs/watching.md.";
        watch_seconds: u64 = 5,
            "How often it looks at them.";
        access: Access = Access::default(),
            "Who may harvest; without it everybody. See below.";
        branding: Option<Branding> = None,
            "An icon for those who show the records. See below.";
        eprints: Option<Eprints> = None,
            "Policies, as the eprints community states them. See below.";
        rights: Vec<Rights> = vec![],
            "Rights that apply to metadata of this repository. See below.";
    }
}

settings! {
    /// Who may harvest a repository. A client that meets any one of the rules is let in.
    Access {
        addresses: Vec<Network> = vec![],
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

settings! {
    /// Records of one format, made from those of another.
    Crosswalk {
        from: String = String::new(),
            "The metadataPrefix of the records that are given.";
        to: String = String::new(),
            "The metadataPrefix of those that are made from them.";
        mapping: Option<PathBuf> = None,
            "A mapping of your own, see docs/crosswalks.md; without it the crosswalk that comes with the program.";
        stylesheet: Option<PathBuf> = None,
            "An XSLT 1.0 stylesheet instead of a mapping, run by xsltproc; see docs/crosswalks.md.";
    }
}

settings! {
    /// How the program harvests, whatever the source.
    Harvest {
        contact: String = String::new(),
            "Mail address of a person, sent with every request. Empty: the first of admin_emails.";
        sources_at_once: usize = 16,
            "Sources harvested at the same time by `stook harvest --all`.";
        requests_per_host: usize = 2,
            "Requests to one host at the same time.";
    }
}

settings! {
    /// How one source is harvested.
    Source {
        url: String = String::new(),
            "Its base URL.";
        prefixes: Vec<String> = vec!["oai_dc".into()],
            "The formats to harvest, as a,b; `prefix` is accepted too.";
        sets: Vec<String> = vec![],
            "The sets to harvest, as a,b; none means everything. `set` is accepted too.";
        from: String = String::new(),
            "Only records changed since this date.";
        until: String = String::new(),
            "Only records changed up to this date.";
        every_hours: u32 = 24,
            "How often `stook harvest --all` asks for changes; 0 means never.";
        overlap_seconds: u64 = 300,
            "How far before its last answer the next harvest begins, for records that surface late. With dates in days it is at least one day.";
        lease_seconds: u64 = 300,
            "A harvest whose process has given no sign of life for so long may be taken over by one on another machine; at least 1.";
        pause_milliseconds: u64 = 0,
            "Pause between two requests.";
        retries: u32 = 6,
            "How often a request that fails is tried again, with growing pauses.";
        retry_milliseconds: u64 = 2_000,
            "The first of those pauses; each next one is twice as long.";
        longest_wait_seconds: u64 = 3_600,
            "The longest Retry-After that is waited for; beyond it the harvest ends and goes on next time.";
        read_timeout_seconds: u64 = 120,
            "How long the source may send nothing.";
        answer_timeout_seconds: u64 = 7_200,
            "How long one answer may take altogether.";
        max_answer_megabytes: u64 = 4_096,
            "The largest answer, unpacked.";
        max_record_megabytes: u64 = 64,
            "The largest record; larger ones are quarantined.";
        max_unpacking: u64 = 200,
            "How many times its size a compressed answer may unpack to.";
        max_depth: usize = 256,
            "How deep elements may be nested.";
        max_redirects: u32 = 5,
            "How many redirects are followed.";
        max_deletions: u8 = 10,
            "Percentage of the records, 0 to 100, that `--verify` may delete without being told.";
        strict: bool = false,
            "Refuse what breaks the protocol instead of reading it all the same.";
        user: String = String::new(),
            "Name for HTTP basic authentication.";
        password: String = String::new(),
            "Its password.";
        token: String = String::new(),
            "Bearer token, instead of name and password.";
        headers: Vec<String> = vec![],
            "More request headers, as Name: value; as [\"Name: value\"] where a value has commas.";
        proxy: String = String::new(),
            "URL of a proxy at http:// or https://. Empty: as the environment says (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).";
        ca_file: String = String::new(),
            "File of certificates (PEM) to trust instead of the usual authorities.";
        accept_bad_certificates: bool = false,
            "Do not verify TLS certificates. Said in every report.";
        serve: bool = true,
            "Serve what was harvested as a repository of its own.";
    }
}

/// An address or a range of addresses: `192.0.2.1`, `192.0.2.0/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network(IpNet);

impl Network {
    /// Whether the address is the one, or in the range.
    pub fn contains(&self, address: &IpAddr) -> bool {
        self.0.contains(address)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let range = text
            .parse()
            .ok()
            .or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
        range
            .map(Network)
            .ok_or_else(|| format!("{text:?} is not an address such as 192.0.2.1 or a range such as 192.0.2.0/24"))
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    fn try_from(text: String) -> Result<Network, String> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> String {
        network.0.to_string()
    }
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

/// What may be explored.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Explore {
    /// The repositories of this server.
    Own,
    /// These, and any other by its URL.
    Any,
    /// Nothing.
    Off,
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

/// A value as the file writes it.
pub(super) fn toml_text<T: Serialize>(value: &T) -> String {
    toml::Value::try_from(value).map_or_else(|_| String::new(), |value| value.to_string())
}
