//! What a caller keeps beside the records of a repository, by keys of its own: the store does not read it.

use super::Postgres;
use super::connection::Connection;
use crate::{Note, RepositoryId, StoreError};

impl Postgres {
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
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // The comparison lets the index find the first of them; that they begin so is decided row by row.
        let rows = self.look_up(|connection| {
            connection.all(
                "SELECT key, text FROM note WHERE repository = $1 AND key >= $2 AND starts_with(key, $2) AND key > $3
                 ORDER BY key LIMIT $4",
                &[&repository.0, &prefix, &after, &limit],
            )
        })?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// Every repository that has a note of this key: its name and the note, in order of the names.
    pub(crate) fn noted(&self, key: &str) -> Result<Vec<(String, String)>, StoreError> {
        let rows = self.look_up(|connection| {
            connection.all(
                "SELECT name, text FROM repository JOIN note ON note.repository = repository.id AND key = $1
             ORDER BY name",
                &[&key],
            )
        })?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// Writes notes and nothing else.
    pub(crate) fn write_notes(&self, repository: RepositoryId, notes: &[Note]) -> Result<(), StoreError> {
        self.write(|write| put(write.connection, repository, notes))
    }

    /// Replaces a note if it still says what is expected; whether it did.
    pub(crate) fn swap_note(
        &self,
        repository: RepositoryId,
        expected: Option<&str>,
        note: &Note,
    ) -> Result<bool, StoreError> {
        self.write(|write| {
            let row = write.connection.maybe(
                "SELECT text FROM note WHERE repository = $1 AND key = $2",
                &[&repository.0, &note.key],
            )?;
            let found: Option<String> = row.map(|row| row.try_get(0)).transpose()?;
            if found.as_deref() != expected {
                return Ok(false);
            }
            put(write.connection, repository, std::slice::from_ref(note))?;
            Ok(true)
        })
    }
}

/// Writes notes in a transaction that is under way.
pub(super) fn put(connection: &mut Connection, repository: RepositoryId, notes: &[Note]) -> Result<(), StoreError> {
    for note in notes {
        match &note.text {
            Some(text) => connection.execute(
                "INSERT INTO note VALUES ($1, $2, $3) ON CONFLICT (repository, key) DO UPDATE SET text = excluded.text",
                &[&repository.0, &note.key, text],
            )?,
            None => connection.execute(
                "DELETE FROM note WHERE repository = $1 AND key = $2",
                &[&repository.0, &note.key],
            )?,
        };
    }
    Ok(())
}
