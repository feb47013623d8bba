//! What could not be published, kept for a person to look at.

use rusqlite::Connection;
use stook_oai::Datestamp;

use super::Sqlite;
use crate::{Quarantined, RepositoryId, StoreError};

/// Quarantines entries in a transaction that is under way.
pub(super) fn put(
    connection: &Connection,
    repository: RepositoryId,
    entries: &[Quarantined],
    now: Datestamp,
) -> Result<(), StoreError> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO quarantine (repository, source, line, identifier, reason, excerpt, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for entry in entries {
        let line = i64::try_from(entry.line).unwrap_or(i64::MAX);
        insert.execute((
            repository.0,
            &entry.source,
            line,
            &entry.identifier,
            &entry.reason,
            &entry.excerpt,
            now.unix(),
        ))?;
    }
    Ok(())
}

/// Lets go of records: they have now been published, or are wanted no more.
pub(super) fn release<'a>(
    connection: &Connection,
    repository: RepositoryId,
    identifiers: impl Iterator<Item = &'a str>,
) -> Result<(), StoreError> {
    let anything = connection
        .prepare_cached("SELECT 1 FROM quarantine WHERE repository = ?1 LIMIT 1")?
        .exists([repository.0])?;
    if anything {
        let mut release =
            connection.prepare_cached("DELETE FROM quarantine WHERE repository = ?1 AND identifier = ?2")?;
        for identifier in identifiers {
            release.execute((repository.0, identifier))?;
        }
    }
    Ok(())
}

/// Makes room for entries that were there before.
pub(super) fn forget_same(
    connection: &Connection,
    repository: RepositoryId,
    entries: &[Quarantined],
) -> Result<(), StoreError> {
    let mut named = connection.prepare_cached("DELETE FROM quarantine WHERE repository = ?1 AND identifier = ?2")?;
    let mut nameless = connection.prepare_cached(
        "DELETE FROM quarantine WHERE repository = ?1 AND source = ?2 AND line = ?3 AND identifier IS NULL
         AND excerpt = ?4",
    )?;
    for entry in entries {
        match &entry.identifier {
            Some(identifier) => named.execute((repository.0, identifier))?,
            None => {
                let line = i64::try_from(entry.line).unwrap_or(i64::MAX);
                nameless.execute((repository.0, &entry.source, line, &entry.excerpt))?
            }
        };
    }
    Ok(())
}

impl Sqlite {
    /// Keeps what could not be published.
    pub(crate) fn quarantine(&self, repository: RepositoryId, entries: &[Quarantined]) -> Result<(), StoreError> {
        let now = self.clock.system_now();
        self.write(|write| put(&write.transaction, repository, entries, now))
    }

    /// Forgets the entries of a source up to one of them.
    pub(crate) fn forget_quarantined(
        &self,
        repository: RepositoryId,
        source: &str,
        through: i64,
    ) -> Result<(), StoreError> {
        self.write(|write| {
            write.transaction.execute(
                "DELETE FROM quarantine WHERE repository = ?1 AND source = ?2 AND id <= ?3",
                (repository.0, source, through),
            )?;
            Ok(())
        })
    }

    /// Calls `visit` with each quarantined entry, oldest first.
    pub(crate) fn quarantined(
        &self,
        repository: RepositoryId,
        visit: &mut dyn FnMut(Quarantined),
    ) -> Result<(), StoreError> {
        let reader = self.reader()?;
        {
            let mut select = reader.connection.prepare_cached(
                "SELECT source, line, identifier, reason, excerpt FROM quarantine WHERE repository = ?1 ORDER BY id",
            )?;
            let mut rows = select.query([repository.0])?;
            while let Some(row) = rows.next()? {
                visit(Quarantined {
                    source: row.get(0)?,
                    line: u64::try_from(row.get::<_, i64>(1)?).unwrap_or(0),
                    identifier: row.get(2)?,
                    reason: row.get(3)?,
                    excerpt: row.get(4)?,
                });
            }
        }
        self.return_reader(reader);
        Ok(())
    }

    /// How many entries are quarantined.
    pub(crate) fn quarantine_count(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        let reader = self.reader()?;
        let count: i64 = reader
            .connection
            .prepare_cached("SELECT count(*) FROM quarantine WHERE repository = ?1")?
            .query_row([repository.0], |row| row.get(0))?;
        self.return_reader(reader);
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Empties the quarantine; returns how many entries there were.
    pub(crate) fn clear_quarantine(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        self.write(|write| {
            let cleared = write
                .transaction
                .execute("DELETE FROM quarantine WHERE repository = ?1", [repository.0])?;
            Ok(cleared as u64)
        })
    }
}
