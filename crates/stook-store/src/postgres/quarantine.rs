//! What could not be published, kept for a person to look at.

use std::borrow::Cow;

use stook_oai::Datestamp;

use super::Postgres;
use super::connection::Connection;
use crate::{Quarantined, RepositoryId, StoreError};

impl Postgres {
    /// Keeps what could not be published.
    pub(crate) fn quarantine(&self, repository: RepositoryId, entries: &[Quarantined]) -> Result<(), StoreError> {
        self.write(|write| {
            let now = self.clock.system_now(write.connection)?;
            put(write.connection, repository, entries, now)
        })
    }

    /// Forgets the entries of a source up to one of them.
    pub(crate) fn forget_quarantined(
        &self,
        repository: RepositoryId,
        source: &str,
        through: i64,
    ) -> Result<(), StoreError> {
        self.write(|write| {
            write.connection.execute(
                "DELETE FROM quarantine WHERE repository = $1 AND source = $2 AND id <= $3",
                &[&repository.0, &text(source), &through],
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
        self.reader()?.each(
            "SELECT source, line, identifier, reason, excerpt FROM quarantine WHERE repository = $1 ORDER BY id",
            &[&repository.0],
            &mut |row| {
                visit(Quarantined {
                    source: row.try_get(0)?,
                    line: u64::try_from(row.try_get::<_, i64>(1)?).unwrap_or(0),
                    identifier: row.try_get(2)?,
                    reason: row.try_get(3)?,
                    excerpt: row.try_get(4)?,
                });
                Ok(())
            },
        )
    }

    /// How many entries are quarantined.
    pub(crate) fn quarantine_count(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        let row = self.look_up(|connection| {
            connection.one(
                "SELECT count(*) FROM quarantine WHERE repository = $1",
                &[&repository.0],
            )
        })?;
        Ok(u64::try_from(row.try_get::<_, i64>(0)?).unwrap_or(0))
    }

    /// Empties the quarantine; returns how many entries there were.
    pub(crate) fn clear_quarantine(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        self.write(|write| {
            write
                .connection
                .execute("DELETE FROM quarantine WHERE repository = $1", &[&repository.0])
        })
    }
}

/// Quarantines entries in a transaction that is under way.
pub(super) fn put(
    connection: &mut Connection,
    repository: RepositoryId,
    entries: &[Quarantined],
    now: Datestamp,
) -> Result<(), StoreError> {
    for entry in entries {
        let line = i64::try_from(entry.line).unwrap_or(i64::MAX);
        connection.execute(
            "INSERT INTO quarantine (repository, source, line, identifier, reason, excerpt, at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            &[
                &repository.0,
                &text(&entry.source),
                &line,
                &entry.identifier.as_deref().map(text),
                &text(&entry.reason),
                &entry.excerpt,
                &now.unix(),
            ],
        )?;
    }
    Ok(())
}

/// Lets go of records: they have now been published, or are wanted no more.
pub(super) fn release<'a>(
    connection: &mut Connection,
    repository: RepositoryId,
    identifiers: impl Iterator<Item = &'a str>,
) -> Result<(), StoreError> {
    let anything = connection.maybe(
        "SELECT 1 FROM quarantine WHERE repository = $1 LIMIT 1",
        &[&repository.0],
    )?;
    if anything.is_some() {
        let identifiers: Vec<&str> = identifiers.collect();
        connection.execute(
            "DELETE FROM quarantine WHERE repository = $1 AND identifier = ANY ($2)",
            &[&repository.0, &identifiers],
        )?;
    }
    Ok(())
}

/// Makes room for entries that were there before.
pub(super) fn forget_same(
    connection: &mut Connection,
    repository: RepositoryId,
    entries: &[Quarantined],
) -> Result<(), StoreError> {
    for entry in entries {
        match &entry.identifier {
            Some(identifier) => connection.execute(
                "DELETE FROM quarantine WHERE repository = $1 AND identifier = $2",
                &[&repository.0, &text(identifier)],
            )?,
            None => {
                let line = i64::try_from(entry.line).unwrap_or(i64::MAX);
                connection.execute(
                    "DELETE FROM quarantine WHERE repository = $1 AND source = $2 AND line = $3
                     AND identifier IS NULL AND excerpt = $4",
                    &[&repository.0, &text(&entry.source), &line, &entry.excerpt],
                )?
            }
        };
    }
    Ok(())
}

/// The one character that the server's text cannot hold is shown as what it is: damage.
fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}
