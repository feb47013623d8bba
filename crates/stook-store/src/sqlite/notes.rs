//! What a caller keeps beside the records of a repository, by keys of its own: the store does not read it.
//!
//! A note is written in the same transaction as the records it speaks of, so that neither is ever ahead of the other.

use rusqlite::{Connection, OptionalExtension};

use super::Sqlite;
use crate::{Note, RepositoryId, StoreError};

impl Sqlite {
    /// The notes whose keys begin with `prefix`, in order of their keys.
    pub(crate) fn notes(&self, repository: RepositoryId, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.notes_after(repository, prefix, "", usize::MAX)
    }

    /// At most `limit` of them, past the key `after`.
    pub(crate) fn notes_after(
        &self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let reader = self.reader()?;
        let notes = {
            let mut select = reader.connection.prepare_cached(
                "SELECT key, text FROM note WHERE repository = ?1 AND key >= ?2 AND key > ?3 ORDER BY key LIMIT ?4",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut rows = select.query((repository.0, prefix, after, limit))?;
            let mut notes = Vec::new();
            while let Some(row) = rows.next()? {
                let key: String = row.get(0)?;
                if !key.starts_with(prefix) {
                    break;
                }
                notes.push((key, row.get(1)?));
            }
            notes
        };
        self.return_reader(reader);
        Ok(notes)
    }

    /// Every repository that has a note of this key: its name and the note, in order of the names.
    pub(crate) fn noted(&self, key: &str) -> Result<Vec<(String, String)>, StoreError> {
        let reader = self.reader()?;
        let found = reader
            .connection
            .prepare_cached(
                "SELECT name, text FROM repository JOIN note ON note.repository = repository.id AND key = ?1
                 ORDER BY name",
            )?
            .query_map([key], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        self.return_reader(reader);
        Ok(found)
    }

    /// Writes notes and nothing else.
    pub(crate) fn write_notes(&self, repository: RepositoryId, notes: &[Note]) -> Result<(), StoreError> {
        self.write(|write| put(&write.transaction, repository, notes))
    }

    /// Replaces a note if it still says what is expected; whether it did.
    pub(crate) fn swap_note(
        &self,
        repository: RepositoryId,
        expected: Option<&str>,
        note: &Note,
    ) -> Result<bool, StoreError> {
        self.write(|write| {
            let found: Option<String> = write
                .transaction
                .prepare_cached("SELECT text FROM note WHERE repository = ?1 AND key = ?2")?
                .query_row((repository.0, &note.key), |row| row.get(0))
                .optional()?;
            if found.as_deref() != expected {
                return Ok(false);
            }
            put(&write.transaction, repository, std::slice::from_ref(note))?;
            Ok(true)
        })
    }
}

/// Writes notes in a transaction that is under way.
pub(super) fn put(connection: &Connection, repository: RepositoryId, notes: &[Note]) -> Result<(), StoreError> {
    let mut write = connection.prepare_cached(
        "INSERT INTO note VALUES (?1, ?2, ?3) ON CONFLICT (repository, key) DO UPDATE SET text = excluded.text",
    )?;
    let mut remove = connection.prepare_cached("DELETE FROM note WHERE repository = ?1 AND key = ?2")?;
    for note in notes {
        match &note.text {
            Some(text) => write.execute((repository.0, &note.key, text))?,
            None => remove.execute((repository.0, &note.key))?,
        };
    }
    Ok(())
}
