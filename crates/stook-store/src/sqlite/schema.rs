//! The tables, and how older files become newer ones.
//!
//! The layout serves three things: a page is one range scan, a change is an append, and a count is a sum of a few
//! rows. ARCHITECTURE.md tells the story.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::StoreError;

/// "Stok" in the file's header: tells our files from other SQLite files.
const APPLICATION_ID: i64 = 0x5374_6f6b;

/// Each entry takes a file from the version before it to its own, which is its place in the list, from 1.
const MIGRATIONS: &[&str] = &[
    // 1: the first layout.
    "
    CREATE TABLE store (
        only          INTEGER PRIMARY KEY CHECK (only = 1),
        secret        BLOB NOT NULL,              -- the key that signs resumption tokens
        last_position INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE repository (
        id       INTEGER PRIMARY KEY,
        name     TEXT NOT NULL UNIQUE,
        created  INTEGER NOT NULL,
        earliest INTEGER                          -- datestamp of the first record ever published
    ) STRICT;

    CREATE TABLE format (
        id         INTEGER PRIMARY KEY,
        repository INTEGER NOT NULL REFERENCES repository,
        prefix     TEXT NOT NULL,
        schema     TEXT NOT NULL,
        namespace  TEXT NOT NULL,
        deleted    INTEGER NOT NULL,              -- how many of its records are
        dictionary INTEGER REFERENCES dictionary, -- for bodies written from now on
        UNIQUE (repository, prefix)
    ) STRICT;

    CREATE TABLE dictionary (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;

    CREATE TABLE set_ (
        repository   INTEGER NOT NULL REFERENCES repository,
        spec         TEXT NOT NULL,
        name         TEXT,
        descriptions TEXT,                        -- root elements, U+001E between them
        PRIMARY KEY (repository, spec)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE record (
        position   INTEGER PRIMARY KEY,           -- datestamp and sequence: list order
        format     INTEGER NOT NULL,
        identifier TEXT NOT NULL,
        set_specs  TEXT NOT NULL,                 -- as the header shows them, space between
        deleted    INTEGER NOT NULL,
        dictionary INTEGER,
        body       BLOB                           -- kept when deleted, so that it can be restored
    ) STRICT;

    CREATE TABLE ident (
        format     INTEGER NOT NULL,
        identifier TEXT NOT NULL,
        position   INTEGER NOT NULL,
        digest     BLOB NOT NULL,                 -- of everything disseminated: equal means unchanged
        PRIMARY KEY (format, identifier)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE list (
        id       INTEGER PRIMARY KEY,
        format   INTEGER NOT NULL,
        set_spec TEXT NOT NULL,                   -- '' is the whole format
        UNIQUE (format, set_spec)
    ) STRICT;

    CREATE TABLE segment (
        id      INTEGER PRIMARY KEY,
        first   INTEGER NOT NULL UNIQUE,          -- its range ends where the next begins
        changes INTEGER NOT NULL,                 -- records appended
        stale   INTEGER NOT NULL                  -- of those, moved on since
    ) STRICT;

    CREATE TABLE member (
        segment  INTEGER NOT NULL,
        list     INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (segment, list, position)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE tally (
        list    INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        live    INTEGER NOT NULL,                 -- members still at their position
        PRIMARY KEY (list, segment)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE quarantine (
        id         INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: an import tells its own from earlier ones by it
        repository INTEGER NOT NULL REFERENCES repository,
        source     TEXT NOT NULL,
        line       INTEGER NOT NULL,
        identifier TEXT,
        reason     TEXT NOT NULL,
        excerpt    BLOB NOT NULL,
        at         INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX quarantine_by_place ON quarantine (repository, source, line);
    ",
    // 2: harvested records, and what a harvester keeps beside them.
    "
    ALTER TABLE ident ADD COLUMN origin INTEGER;      -- the datestamp at the source; null if not harvested
    ALTER TABLE record ADD COLUMN volatile INTEGER;   -- the part of the content that alone makes no change

    CREATE TABLE note (
        repository INTEGER NOT NULL REFERENCES repository,
        key        TEXT NOT NULL,
        text       TEXT NOT NULL,
        PRIMARY KEY (repository, key)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX quarantine_by_identifier ON quarantine (repository, identifier);
    ",
    // 3: records made from others.
    "
    ALTER TABLE ident ADD COLUMN derived INTEGER NOT NULL DEFAULT 0; -- made from another record of the item
    ",
];

/// The version this program writes.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Settings of every connection.
pub(super) fn configure(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(std::time::Duration::from_secs(30))?;
    // Else every statement is compiled again whenever other values are bound to it, which takes longer than running it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // FULL: a commit is on the disk before we say so. A larger automatic checkpoint writes hot pages once
    // instead of again and again during a bulk load.
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
         PRAGMA wal_autocheckpoint = 8000; PRAGMA journal_size_limit = 67108864; PRAGMA temp_store = FILE;",
    )?;
    Ok(())
}

/// Lays out a new file.
pub(super) fn create(connection: &mut Connection) -> Result<(), StoreError> {
    connection.execute_batch(&format!(
        "PRAGMA page_size = 8192; PRAGMA application_id = {APPLICATION_ID};"
    ))?;
    configure(connection)?;
    migrate(connection)
}

/// Makes sure the file is ours and brings it to the current version.
pub(super) fn open(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    recognise(connection, path)?;
    configure(connection)?;
    migrate(connection)
}

/// Makes sure the file is ours.
fn recognise(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let not_a_store = || StoreError::NotAStore(path.to_owned());
    let id: Result<i64, _> = connection.query_row("PRAGMA application_id", [], |row| row.get(0));
    let id = id.map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => not_a_store(),
        _ => error.into(),
    })?;
    if id != APPLICATION_ID {
        return Err(not_a_store());
    }
    Ok(())
}

/// Makes sure the file is ours and of the current version, and leaves it as it is.
pub(super) fn inspect(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    recognise(connection, path)?;
    match version(connection)? {
        found if found > VERSION => Err(StoreError::TooNew { found, known: VERSION }),
        found if found < VERSION => Err(StoreError::TooOld { found, known: VERSION }),
        _ => configure(connection),
    }
}

/// Whether a copy into the file was begun and not finished.
pub(super) fn is_unfinished(connection: &Connection) -> Result<bool, StoreError> {
    let mark = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'copying')";
    Ok(connection.query_row(mark, [], |row| row.get(0))?)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    if version(connection)? == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Read again under the lock: another process may have migrated meanwhile.
    let found = version(&transaction)?;
    if found > VERSION {
        return Err(StoreError::TooNew { found, known: VERSION });
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    // In the same transaction as the tables: a file that died while it was made is finished by whoever opens it.
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| StoreError::Database(error.to_string()))?;
    transaction.execute(
        "INSERT OR IGNORE INTO store (only, secret, last_position) VALUES (1, ?1, 0)",
        [&secret[..]],
    )?;
    transaction.execute_batch(&format!("PRAGMA user_version = {VERSION}"))?;
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_file_of_the_first_layout_becomes_one_of_the_last() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(&format!(
                "{} PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1;
                 INSERT INTO store VALUES (1, x'00', 5);
                 INSERT INTO ident VALUES (1, 'oai:example.org:1', 5, x'01');",
                MIGRATIONS[0]
            ))
            .unwrap();
        open(&mut connection, Path::new("old.db")).unwrap();
        let kept: (i64, Option<i64>) = connection
            .query_row("SELECT position, origin FROM ident", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(kept, (5, None));
        let notes: i64 = connection
            .query_row("SELECT count(*) FROM note", [], |row| row.get(0))
            .unwrap();
        assert_eq!(notes, 0);
        let secret: Vec<u8> = connection
            .query_row("SELECT secret FROM store", [], |row| row.get(0))
            .unwrap();
        assert_eq!(secret, [0], "the key of tokens given out stays");
    }

    #[test]
    fn a_statement_is_compiled_once_whatever_is_bound_to_it() {
        let mut connection = Connection::open_in_memory().unwrap();
        create(&mut connection).unwrap();
        let join =
            "SELECT list.id FROM list JOIN format ON format.id = list.format WHERE prefix = ?1 AND set_spec = ?2";
        for value in ["a", "b", "c"] {
            let mut select = connection.prepare_cached(join).unwrap();
            assert!(select.query([value, value]).unwrap().next().unwrap().is_none());
        }
        let select = connection.prepare_cached(join).unwrap();
        assert_eq!(select.get_status(StatementStatus::RePrepare), 0);
    }
}
