//! The embedded store: one SQLite file, one small clock file beside it.
//!
//! One writer at a time (across threads and processes, by the clock file's lock), any number of readers, each on a
//! snapshot. The modules follow a change on its way: [`commit`] → [`segment`]s → [`snapshot`].

mod backup;
mod catalog;
mod check;
mod commit;
mod copy;
mod lookup;
mod notes;
mod quarantine;
mod schema;
mod segment;
mod snapshot;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use stook_oai::Datestamp;

use crate::body::{Decompressor, Dictionaries, Dictionary};
use crate::clock::{Clock, StoreClock};
use crate::{Position, StoreError};

pub(crate) use copy::CopyFile;
pub(crate) use snapshot::Snapshot;

/// Page cache of one reader. Pages of a list are read once and in order, so more would not help.
const READER_CACHE_KIB: i64 = 2 * 1024;
/// Page cache of the writer: holds the hot corner of the indexes.
const WRITER_CACHE_KIB: i64 = 64 * 1024;
/// Readers kept open between requests.
const IDLE_READERS: usize = 16;

/// One open store file.
pub(crate) struct Sqlite {
    path: PathBuf,
    clock: StoreClock,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Reader>>,
    dictionaries: Dictionaries,
}

/// A connection that only reads, with what it needs to unpack bodies.
struct Reader {
    connection: Connection,
    decompressor: Decompressor,
}

/// A write transaction and the datestamp its records get.
struct Write<'a> {
    transaction: Transaction<'a>,
    /// The last position taken before this write.
    last: Position,
    /// Not before any response date given out, not before any datestamp in the store.
    stamp: Datestamp,
}

impl Sqlite {
    /// Makes a new store.
    pub(crate) fn create(path: &Path, clock: Clock) -> Result<Sqlite, StoreError> {
        if path.exists() {
            return Err(StoreError::Exists(path.to_owned()));
        }
        let mut writer = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        schema::create(&mut writer)?;
        Self::over(path, writer, clock)
    }

    /// Opens a store, bringing its layout up to date.
    pub(crate) fn open(path: &Path, clock: Clock) -> Result<Sqlite, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let mut writer = connect(path, OpenFlags::empty())?;
        schema::open(&mut writer, path)?;
        if schema::is_unfinished(&writer)? {
            return Err(StoreError::Unfinished(path.display().to_string()));
        }
        Self::over(path, writer, clock)
    }

    fn over(path: &Path, writer: Connection, clock: Clock) -> Result<Sqlite, StoreError> {
        writer.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
        writer.set_prepared_statement_cache_capacity(64);
        let clock_path = clock_path(path);
        let clock = StoreClock::open(&clock_path, clock)
            .map_err(StoreError::io(format!("opening {}", clock_path.display())))?;
        Ok(Sqlite {
            path: path.to_owned(),
            clock,
            writer: Mutex::new(writer),
            readers: Mutex::default(),
            dictionaries: Dictionaries::default(),
        })
    }

    /// Where the store is, for messages.
    pub(crate) fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// How much room the file takes, and the log beside it.
    #[expect(clippy::unnecessary_wraps, reason = "as a server must")]
    pub(crate) fn bytes(&self) -> Result<u64, StoreError> {
        let sizes = ["", "-wal"].map(|suffix| {
            let mut path = self.path.clone().into_os_string();
            path.push(suffix);
            std::fs::metadata(path).map_or(0, |metadata| metadata.len())
        });
        Ok(sizes.iter().sum())
    }

    /// Runs `work` in one write transaction: all of it is kept, durably, or none.
    fn write<T>(&self, work: impl FnOnce(&Write<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        // First the flight, then the clock inside it, then the transaction: a reader that sees no flight and
        // takes its snapshot afterwards sees everything stamped before its response date.
        let flight = self.clock.begin().map_err(StoreError::io("locking the clock file"))?;
        let mut connection = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let last = last_position(&transaction)?;
        let write = Write {
            transaction,
            last,
            stamp: flight.stamp.max(last.datestamp()),
        };
        let outcome = work(&write)?;
        write.transaction.commit()?;
        Ok(outcome)
    }

    /// A reader from the pool, or a new one.
    fn reader(&self) -> Result<Reader, StoreError> {
        if let Some(reader) = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(reader);
        }
        let connection = connect(&self.path, OpenFlags::empty())?;
        schema::configure(&connection)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(Reader {
            connection,
            decompressor: Decompressor::new(),
        })
    }

    fn return_reader(&self, reader: Reader) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < IDLE_READERS {
            readers.push(reader);
        }
    }

    /// A dictionary, read over a connection at its first use.
    fn dictionary_over(&self, id: i64, connection: &Connection) -> Result<Arc<Dictionary>, StoreError> {
        self.dictionaries.by_id(id, || {
            Ok(connection.query_row("SELECT bytes FROM dictionary WHERE id = ?1", [id], |row| row.get(0))?)
        })
    }
}

/// The clock file of a store.
fn clock_path(path: &Path) -> PathBuf {
    let mut clock = path.as_os_str().to_owned();
    clock.push("-clock");
    clock.into()
}

fn connect(path: &Path, more: OpenFlags) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    Connection::open_with_flags(path, flags).map_err(|error| match StoreError::from(error) {
        StoreError::NotWritable(reason) => StoreError::NotWritable(format!("{}: {reason}", path.display())),
        other => other,
    })
}

fn last_position(connection: &Connection) -> Result<Position, StoreError> {
    let last = connection
        .prepare_cached("SELECT last_position FROM store")?
        .query_row([], |row| row.get(0))?;
    Ok(Position::from_sql(last))
}
