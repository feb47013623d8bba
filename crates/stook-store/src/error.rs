//! What can go wrong in a store, and what the operator may try.

use std::io;
use std::path::PathBuf;

use stook_oai::{Identifier, MetadataPrefix, SetSpec};

/// A failure of the store. Protocol errors are not here: an unknown record is an answer, not a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store at this path.
    #[error("there is no store at {}", .0.display())]
    Missing(PathBuf),
    /// A store is already at this path.
    #[error("there is already a file at {}", .0.display())]
    Exists(PathBuf),
    /// The file is something else.
    #[error("{} is not a Stook store", .0.display())]
    NotAStore(PathBuf),
    /// The store was written by a later version of the program.
    #[error("the store has layout version {found}; this program knows versions up to {known}")]
    TooNew {
        /// The version in the file.
        found: i64,
        /// The latest version this program can read.
        known: i64,
    },
    /// The repository is not in the store.
    #[error("the store has no repository named {0:?}")]
    UnknownRepository(String),
    /// The format was never declared for this repository.
    #[error("the repository has no metadata format {0}")]
    UnknownFormat(MetadataPrefix),
    /// No such record.
    #[error("there is no record {0}")]
    UnknownRecord(Identifier),
    /// The set is used by records and cannot be removed.
    #[error("set {0} still has {1} record{s}", s = if *.1 == 1 { "" } else { "s" })]
    SetInUse(SetSpec, u64),
    /// The disk has no room left. Nothing of the unfinished transaction was kept.
    #[error("the disk is full; everything committed before is safe")]
    DiskFull,
    /// The store or its folder cannot be written.
    #[error("the store cannot be written: {0}")]
    NotWritable(String),
    /// Another program holds the store for longer than we wait.
    #[error("the store is held by another program")]
    Busy,
    /// The server that holds the store cannot be reached, or has sent us away.
    #[error("the database server is not there: {0}")]
    Unreachable(String),
    /// The server does not let us in.
    #[error("the database server does not let us in: {0}")]
    NotLetIn(String),
    /// The server has no such database.
    #[error("the server has no such database: {0}")]
    NoDatabase(String),
    /// The user of the database lacks a right.
    #[error("the database does not allow this: {0}")]
    NotAllowed(String),
    /// An encrypted connection does not come about.
    #[error("no encrypted connection to the database comes about: {0}")]
    Encryption(String),
    /// The server follows another one and cannot be written.
    #[error("the database server is a standby, which cannot be written: {0}")]
    Standby(String),
    /// There is a database, but no store in it.
    #[error("there is no store at {0}")]
    NoSchema(String),
    /// What was named as a replica follows another server, or none.
    #[error("{0} is not a replica of this store")]
    NotAReplica(String),
    /// This kind of store leaves it to others.
    #[error("a store on a server cannot do this: {0}")]
    LeftToServer(&'static str),
    /// What was given is not an address of a server.
    #[error("the address of the database cannot be used: {0}")]
    Address(String),
    /// There is no store where one is to be copied from.
    #[error("there is no store at {0}")]
    NothingToCopy(String),
    /// The store to copy from was written by an earlier version of the program.
    #[error("the store has layout version {found}, older than {known}")]
    TooOld {
        /// The version in the store.
        found: i64,
        /// The version that can be copied.
        known: i64,
    },
    /// A store would be copied onto itself.
    #[error("{0} would be copied onto itself")]
    SamePlace(String),
    /// A store is already where one is to be copied to.
    #[error("{0} has a store with repositories already")]
    Occupied(String),
    /// What is there has records that would be lost.
    #[error("{0} has later records than the store it would be made the same as")]
    LaterThere(String),
    /// What is there came from another store.
    #[error("what is at {0} is not a copy of this store")]
    NotACopy(String),
    /// A store is there in part only.
    #[error("a copy into {0} was begun and not finished")]
    Unfinished(String),
    /// Somebody else copies into the same place.
    #[error("another copy into {0} was begun after this one")]
    Overtaken(String),
    /// The file is damaged.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// Reading or writing a file beside the store failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// Anything else the database reports.
    #[error("the database reports: {0}")]
    Database(String),
}

impl StoreError {
    /// What the operator may try.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing(_) => "create it with `stook init`, or name the configuration with -c",
            Self::Exists(_) => "choose another path, or remove the file if it is not needed",
            Self::NotAStore(_) => "check the `store` setting",
            Self::TooNew { .. } => "use the newer Stook that wrote it",
            Self::UnknownRepository(_) => "name one that `stook status` lists",
            Self::UnknownFormat(_) => "add it to the configuration under [[format]]",
            Self::UnknownRecord(_) => "look the identifier up with `stook export`",
            Self::SetInUse(..) => "take the records out of the set first",
            Self::DiskFull => "free some space and run the command again; it continues",
            Self::NotWritable(_) => "check the owner and permissions of the store and its folder",
            Self::Busy => "wait for the other program, or stop it",
            Self::Unreachable(_) => "see that the server runs and can be reached from here",
            Self::NotLetIn(_) => "check the user, and the password in PGPASSWORD or ~/.pgpass",
            Self::NoDatabase(_) => "check its name, or make it with `createdb NAME`",
            Self::NotAllowed(_) => "give the user the rights that docs/postgresql.md lists",
            Self::Encryption(_) => "check sslmode and sslrootcert; docs/postgresql.md says what each mode asks for",
            Self::Standby(_) => "name the primary in `store`, and its standbys in read_urls",
            Self::NoSchema(_) => "check the address and its schema=; `stook import` or `stook migrate` makes a store",
            Self::NotAReplica(_) => "check read_urls: the database and the schema are those of the store",
            Self::LeftToServer(_) => {
                "use `stook copy` for a copy in a file, or the server's own pg_dump --schema=stook"
            }
            Self::Address(_) => "write it as postgres://user@host/database?schema=stook; see docs/postgresql.md",
            Self::NothingToCopy(_) => "check the first address",
            Self::TooOld { .. } => "bring it up to date first with `stook migrate`",
            Self::SamePlace(_) => "name another place to copy to",
            Self::Occupied(_) => "name another place, or, if it is an earlier copy, bring it up to date with --again",
            Self::LaterThere(_) => "name the two the other way round, or let them be lost with --discard-later",
            Self::NotACopy(_) => "name another place to copy to",
            Self::Unfinished(_) => "run the same `stook copy` again: it goes on where it stopped",
            Self::Overtaken(_) => "let the other one finish",
            Self::Damaged(_) => "restore a backup; `stook check` lists what is wrong",
            Self::Io { .. } => "check the path and its permissions",
            Self::Database(_) => "run `stook check`",
        }
    }

    /// Whether the same call may succeed later without anybody mending anything here.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Busy | Self::DiskFull | Self::Unreachable(_) | Self::Standby(_)
        )
    }

    /// Not the server has spoken: a connection does not come about, or has been cut. The client tells the reasons apart by
    /// its words alone.
    fn on_the_way(error: &tokio_postgres::Error, text: String) -> StoreError {
        let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<io::Error>());
        // What is wrong with a certificate is wrong with the data; anything else befalls the connection.
        let is_cut = cause.is_some_and(|cause| cause.kind() != io::ErrorKind::InvalidData);
        if text.contains("password missing") {
            StoreError::NotLetIn("it asks for a password and none is given".into())
        } else if text.contains("TLS") && !is_cut {
            StoreError::Encryption(text)
        } else {
            StoreError::Unreachable(text)
        }
    }

    /// The same, saying which server is meant, where it is about the way to one.
    pub(crate) fn at(self, place: &dyn std::fmt::Display) -> StoreError {
        let said = |text: String| format!("{place}: {text}");
        match self {
            Self::Unreachable(text) => Self::Unreachable(said(text)),
            Self::NotLetIn(text) => Self::NotLetIn(said(text)),
            Self::NoDatabase(text) => Self::NoDatabase(said(text)),
            Self::NotAllowed(text) => Self::NotAllowed(said(text)),
            Self::Encryption(text) => Self::Encryption(said(text)),
            other => other,
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> StoreError {
        let what = what.into();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull => StoreError::DiskFull,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                StoreError::NotWritable(format!("{what}: {source}"))
            }
            _ => StoreError::Io { what, source },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::DiskFull,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                StoreError::NotWritable(error.to_string())
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(error.to_string()),
            _ => StoreError::Database(error.to_string()),
        }
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> StoreError {
        use tokio_postgres::error::SqlState;
        let text = crate::postgres::describe(&error);
        let Some(code) = error.code() else {
            return StoreError::on_the_way(&error, text);
        };
        match *code {
            SqlState::DISK_FULL => StoreError::DiskFull,
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED | SqlState::LOCK_NOT_AVAILABLE => {
                StoreError::Busy
            }
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => StoreError::NotLetIn(text),
            SqlState::INVALID_CATALOG_NAME => StoreError::NoDatabase(text),
            SqlState::INSUFFICIENT_PRIVILEGE => StoreError::NotAllowed(text),
            SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::IDLE_SESSION_TIMEOUT
            | SqlState::TOO_MANY_CONNECTIONS => StoreError::Unreachable(text),
            SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::Standby(text),
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => StoreError::Damaged(text),
            _ => StoreError::Database(text),
        }
    }
}
