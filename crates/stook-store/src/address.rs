//! Where a store is: a file, or a server.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::postgres::Postgres;
use crate::{Clock, PostgresAddress, Store, StoreError};

/// Where a store is, as a setting says it.
#[derive(Clone, Debug)]
pub enum StoreAddress {
    /// In this file.
    File(PathBuf),
    /// On a PostgreSQL server: `postgres://…`.
    Server(String),
}

impl StoreAddress {
    /// The same, where the path of a file is relative to a folder.
    #[must_use]
    pub fn relative_to(self, folder: &Path) -> StoreAddress {
        match self {
            Self::File(path) => Self::File(folder.join(path)),
            server @ Self::Server(_) => server,
        }
    }

    /// Whether there may be a store: a server always promises one.
    #[must_use]
    pub fn is_there(&self) -> bool {
        match self {
            Self::File(path) => path.exists(),
            Self::Server(_) => true,
        }
    }

    /// Opens a store that is there: to look into it, nothing is made.
    ///
    /// # Errors
    /// When there is none, or it cannot be opened.
    pub fn open_existing(&self, replicas: &[String], clock: Clock) -> Result<Store, StoreError> {
        match self {
            Self::File(path) if !path.exists() => Err(StoreError::Missing(path.clone())),
            Self::Server(url) if !Postgres::is_at(&url.parse()?)? => Err(StoreError::NoSchema(self.to_string())),
            _ => self.open_with_replicas(replicas, clock),
        }
    }

    /// Whether a password stands in it.
    #[must_use]
    pub fn has_password(&self) -> bool {
        matches!(self, Self::Server(url) if PostgresAddress::has_password(url))
    }

    /// Opens the store, making it if it is not there yet.
    ///
    /// # Errors
    /// When it cannot be opened or made.
    pub fn open(&self, clock: Clock) -> Result<Store, StoreError> {
        self.open_with_replicas(&[], clock)
    }

    /// The same, with replicas of the server to read from.
    ///
    /// # Errors
    /// As [`open`](Self::open), and when a file is said to have replicas.
    pub fn open_with_replicas(&self, replicas: &[String], clock: Clock) -> Result<Store, StoreError> {
        let replicas = replicas.iter().map(|url| url.parse()).collect::<Result<Vec<_>, _>>()?;
        match self {
            Self::File(_) if !replicas.is_empty() => Err(StoreError::Address("a file has no replicas".into())),
            Self::File(path) if path.exists() => Store::open(path, clock),
            Self::File(path) => Store::create(path, clock),
            Self::Server(url) => Store::connect_with_replicas(&url.parse()?, &replicas, clock),
        }
    }
}

impl FromStr for StoreAddress {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<StoreAddress, Infallible> {
        Ok(if PostgresAddress::is_meant_by(text) {
            Self::Server(text.to_owned())
        } else {
            Self::File(PathBuf::from(text))
        })
    }
}

impl Default for StoreAddress {
    fn default() -> StoreAddress {
        Self::File(PathBuf::from("stook.db"))
    }
}

impl fmt::Display for StoreAddress {
    /// Without passwords.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Server(url) => match url.parse::<PostgresAddress>() {
                Ok(address) => write!(formatter, "{address}"),
                Err(_) => formatter.write_str("postgres:"),
            },
        }
    }
}
