//! Identifiers to be compared with others, in a database SQLite keeps in a temporary file: there may be millions.

use anyhow::Result;
use rusqlite::Connection;

/// Identifiers taken out at once.
const PAGE: u32 = 1_000;

/// A set of identifiers, each of them fresh or not.
pub(super) struct Scratch {
    database: Connection,
}

impl Scratch {
    pub(super) fn new() -> Result<Scratch> {
        let database = Connection::open("")?;
        database.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
             CREATE TABLE item (identifier TEXT PRIMARY KEY, fresh INTEGER NOT NULL) STRICT, WITHOUT ROWID;
             BEGIN;",
        )?;
        Ok(Scratch { database })
    }

    pub(super) fn clear(&self) -> Result<()> {
        self.database.prepare_cached("DELETE FROM item")?.execute([])?;
        Ok(())
    }

    /// Adds the identifiers of a chunk. What is fresh already stays so.
    pub(super) fn add(&self, chunk: &str, fresh: bool) -> Result<()> {
        let mut add = self
            .database
            .prepare_cached("INSERT OR IGNORE INTO item VALUES (?1, ?2)")?;
        for identifier in chunk.lines() {
            add.execute((identifier, fresh))?;
        }
        Ok(())
    }

    /// Takes the identifiers of a chunk away; how many of them were there.
    pub(super) fn remove<'i>(&self, identifiers: impl Iterator<Item = &'i str>) -> Result<u64> {
        let mut remove = self.database.prepare_cached("DELETE FROM item WHERE identifier = ?1")?;
        let mut removed = 0;
        for identifier in identifiers {
            removed += remove.execute([identifier])? as u64;
        }
        Ok(removed)
    }

    /// How many there are.
    pub(super) fn count(&self, only_fresh: bool) -> Result<u64> {
        let mut count = self
            .database
            .prepare_cached("SELECT count(*) FROM item WHERE fresh >= ?1")?;
        let count: i64 = count.query_row([only_fresh], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Some of them in order, past `after`; none when there are no more.
    pub(super) fn page(&self, after: &str, only_fresh: bool) -> Result<Vec<String>> {
        let mut select = self.database.prepare_cached(
            "SELECT identifier FROM item WHERE identifier > ?1 AND fresh >= ?2 ORDER BY identifier LIMIT ?3",
        )?;
        let found = select.query_map((after, only_fresh, PAGE), |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Lets somebody ask for all of them, page by page; an empty page is the last.
    pub(super) fn each_page<T>(&self, work: impl FnOnce(&mut dyn FnMut() -> Result<Vec<String>>) -> T) -> T {
        let mut after = String::new();
        work(&mut || {
            let page = self.page(&after, false)?;
            if let Some(last) = page.last() {
                after.clone_from(last);
            }
            Ok(page)
        })
    }
}
