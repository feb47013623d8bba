//! Where a server is: `postgres://…`, or what libpq's environment says.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};

use super::client::Client;
use super::password_file;
use super::tls::{self, Verification};
use crate::StoreError;

const DEFAULT_SCHEMA: &str = "stook";
const DEFAULT_CONNECTIONS: usize = 32;
const DEFAULT_PORT: u16 = 5432;
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// A machine that has vanished is noticed after half a minute, not after the hours that systems allow.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 4;
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// The address of a store on a PostgreSQL server.
///
/// Beside what libpq knows, a URL may say `schema=NAME` (default `stook`; a store is a schema, so a database can hold
/// several), `connections=N` (at most so many at a time) and `answer_seconds=N` (how long an answer may take).
#[derive(Clone)]
pub struct PostgresAddress {
    config: Config,
    schema: String,
    connections: usize,
    answer_limit: Duration,
    verification: Verification,
    /// The file of the authorities that sign the server's certificate; none means those everybody knows.
    root_certificates: Option<String>,
}

impl PostgresAddress {
    /// Whether a setting is meant to be such an address.
    pub fn is_meant_by(text: &str) -> bool {
        text.starts_with("postgres:") || text.starts_with("postgresql:")
    }

    /// The same, with this password.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> PostgresAddress {
        self.config.password(password);
        self
    }

    /// A connection for somebody who has nothing to do with a store: it is as the server makes it, in no schema of ours,
    /// and a query may take as long as it takes.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not let us in.
    pub fn client(&self) -> Result<postgres::Client, StoreError> {
        let config = postgres::Config::from(self.config.clone());
        let connected = if self.config.get_ssl_mode() == SslMode::Disable {
            config.connect(NoTls)
        } else {
            config.connect(tls::connector(self.verification, self.root_certificates.as_deref())?)
        };
        connected.map_err(|error| StoreError::from(error).at(self))
    }

    pub(super) fn connect(&self) -> Result<Client, StoreError> {
        let hosts = u32::try_from(self.config.get_hosts().len()).unwrap_or(1).max(1);
        let patience = self.config.get_connect_timeout().copied().unwrap_or(CONNECT_PATIENCE) * hosts;
        let connected = if self.config.get_ssl_mode() == SslMode::Disable {
            Client::connect(&self.config, NoTls, patience)
        } else {
            let connector = tls::connector(self.verification, self.root_certificates.as_deref())?;
            Client::connect(&self.config, connector, patience)
        };
        connected.map_err(|error| error.at(self))
    }

    /// The same, tried for no longer than this.
    pub(super) fn with_connect_timeout(mut self, patience: Duration) -> PostgresAddress {
        self.config.connect_timeout(patience);
        self
    }

    /// The same, with another limit to the time that an answer takes.
    pub(super) fn with_answer_limit(mut self, limit: Duration) -> PostgresAddress {
        self.answer_limit = limit;
        self
    }

    pub(super) fn quoted_schema(&self) -> String {
        format!("\"{}\"", self.schema.replace('"', "\"\""))
    }

    pub(super) fn connections(&self) -> usize {
        self.connections
    }

    /// How long the server may take to answer.
    pub(super) fn answer_limit(&self) -> Duration {
        self.answer_limit
    }

    /// Whether a password stands in an address as it is written.
    pub(crate) fn has_password(text: &str) -> bool {
        let given = |text: &str| Config::from_str(text).is_ok_and(|config| config.get_password().is_some());
        given(text) || given(text.split_once('?').map_or(text, |(start, _)| start))
    }
}

impl FromStr for PostgresAddress {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<PostgresAddress, StoreError> {
        let (mut schema, mut connections) = (DEFAULT_SCHEMA.to_owned(), DEFAULT_CONNECTIONS);
        let mut answer_limit = ANSWER_LIMIT;
        let (mut mode, mut root_certificates) = (variable("PGSSLMODE"), variable("PGSSLROOTCERT"));
        let (start, query) = text.split_once('?').unwrap_or((text, ""));
        let mut rest = Vec::new();
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("schema", name)) if !name.is_empty() => schema = name.to_owned(),
                Some((name @ "connections", number)) => {
                    connections = usize::try_from(at_least(2, name, number)?).unwrap_or(usize::MAX);
                }
                Some((name @ "answer_seconds", number)) => {
                    answer_limit = Duration::from_secs(at_least(1, name, number)?);
                }
                Some(("sslmode", text)) => mode = Some(text.to_owned()),
                Some(("sslrootcert", path)) => root_certificates = Some(path.to_owned()),
                _ => rest.push(parameter),
            }
        }
        let url = format!("{start}{}{}", if rest.is_empty() { "" } else { "?" }, rest.join("&"));
        let mut config = Config::from_str(&url).map_err(|error| StoreError::Address(describe(&error)))?;
        complete(&mut config)?;
        let (ssl_mode, verification) = ssl_mode(mode.as_deref().unwrap_or("prefer"))?;
        config.ssl_mode(ssl_mode);
        config.application_name("stook");
        Ok(PostgresAddress {
            config,
            schema,
            connections,
            answer_limit,
            verification,
            root_certificates,
        })
    }
}

fn at_least(least: u64, name: &str, number: &str) -> Result<u64, StoreError> {
    let wanted = || StoreError::Address(format!("{name}={number}: a number of {least} or more is needed"));
    number.parse().ok().filter(|number| *number >= least).ok_or_else(wanted)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Fills in what the address leaves out from libpq's environment.
fn complete(config: &mut Config) -> Result<(), StoreError> {
    if config.get_hosts().is_empty() {
        match variable("PGHOST") {
            Some(host) => {
                for host in host.split(',') {
                    config.host(host);
                }
            }
            None => drop(config.host("localhost")),
        }
    }
    if config.get_ports().is_empty()
        && let Some(port) = variable("PGPORT")
    {
        let port = port
            .parse()
            .map_err(|_| StoreError::Address(format!("PGPORT={port} is not a port")))?;
        config.port(port);
    }
    if config.get_user().is_none() {
        let user = variable("PGUSER")
            .or_else(|| variable("USER"))
            .or_else(|| variable("LOGNAME"));
        let nobody = || StoreError::Address("it names no user, and neither does PGUSER".into());
        config.user(user.ok_or_else(nobody)?);
    }
    if config.get_dbname().is_none() {
        let name = variable("PGDATABASE").or_else(|| config.get_user().map(str::to_owned));
        config.dbname(name.unwrap_or_default());
    }
    if config.get_password().is_none()
        && let Some(password) = password(config)?
    {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        let seconds = variable("PGCONNECT_TIMEOUT").and_then(|seconds| seconds.parse().ok());
        config.connect_timeout(seconds.map_or(CONNECT_PATIENCE, Duration::from_secs));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNACKNOWLEDGED);
    }
    if config.get_keepalives_interval().is_none() {
        config
            .keepalives_idle(KEEPALIVE_IDLE)
            .keepalives_interval(KEEPALIVE_INTERVAL)
            .keepalives_retries(KEEPALIVE_RETRIES);
    }
    Ok(())
}

/// The password that libpq would find.
fn password(config: &Config) -> Result<Option<String>, StoreError> {
    if let Some(password) = variable("PGPASSWORD") {
        return Ok(Some(password));
    }
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        // libpq calls every socket so.
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(DEFAULT_PORT).to_string();
    let (database, user) = (config.get_dbname(), config.get_user());
    password_file::find(&[&host, &port, database.unwrap_or_default(), user.unwrap_or_default()])
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.display().to_string(),
    }
}

/// libpq's modes, with libpq's meanings: only the last one keeps out a false server.
fn ssl_mode(text: &str) -> Result<(SslMode, Verification), StoreError> {
    Ok(match text {
        "disable" => (SslMode::Disable, Verification::None),
        "allow" | "prefer" => (SslMode::Prefer, Verification::None),
        "require" => (SslMode::Require, Verification::None),
        "verify-full" => (SslMode::Require, Verification::Full),
        other => {
            let known = "disable, prefer, require or verify-full";
            return Err(StoreError::Address(format!("sslmode={other} is not one of {known}")));
        }
    })
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<String> = self.config.get_hosts().iter().map(host_name).collect();
        let port = self.config.get_ports().first().copied().unwrap_or(DEFAULT_PORT);
        let name = self.config.get_dbname().unwrap_or_default();
        let user = self.config.get_user().unwrap_or_default();
        let at = if user.is_empty() { "" } else { "@" };
        write!(formatter, "postgres://{user}{at}{}:{port}/{name}", hosts.join(","))?;
        if self.schema != DEFAULT_SCHEMA {
            write!(formatter, "?schema={}", self.schema)?;
        }
        Ok(())
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PostgresAddress({self})")
    }
}

/// An error with its causes, on one line.
pub(crate) fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<PostgresAddress, StoreError> {
        url.parse()
    }

    #[test]
    fn what_is_ours_is_taken_out_of_the_url_and_passwords_are_never_shown() {
        let address = parse("postgres://joe:secret@db.example.org:5433/maps?schema=a%22b&connections=7").unwrap();
        assert_eq!(address.connections(), 7);
        assert_eq!(
            address.to_string(),
            "postgres://joe@db.example.org:5433/maps?schema=a%22b"
        );
        assert!(!format!("{address:?}").contains("secret"));
        let quoted = parse("postgres://joe@db/maps?schema=a\"b").unwrap().quoted_schema();
        assert_eq!(quoted, "\"a\"\"b\"");
    }

    #[test]
    fn encryption_is_as_libpq_would_have_it() {
        let mode = |url: &str| {
            let address = parse(url).unwrap();
            (address.config.get_ssl_mode(), address.verification)
        };
        assert_eq!(mode("postgres://a@b/c"), (SslMode::Prefer, Verification::None));
        assert_eq!(
            mode("postgres://a@b/c?sslmode=disable"),
            (SslMode::Disable, Verification::None)
        );
        assert_eq!(
            mode("postgres://a@b/c?sslmode=require"),
            (SslMode::Require, Verification::None)
        );
        assert_eq!(
            mode("postgres://a@b/c?sslmode=verify-full"),
            (SslMode::Require, Verification::Full)
        );
        assert!(parse("postgres://a@b/c?sslmode=verify").is_err());
    }

    #[test]
    fn mistakes_are_told() {
        for bad in [
            "postgres://a@b:port/c",
            "postgres://a@b/c?shema=d",
            "postgres://a@b/c?connections=1",
            "postgres://a@b/c?answer_seconds=0",
            "postgres://a@b/c?nonsense=1",
        ] {
            let error = parse(bad).err().unwrap();
            assert!(matches!(error, StoreError::Address(_)), "{bad}: {error}");
        }
    }
}
