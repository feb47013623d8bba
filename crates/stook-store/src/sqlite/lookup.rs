//! What encoding and imports need to know before they write.

use std::sync::Arc;

use rusqlite::OptionalExtension;
use stook_oai::MetadataPrefix;

use super::{Sqlite, last_position};
use crate::backend::{ImportStart, StoredFormat};
use crate::body::Dictionary;
use crate::{Position, RepositoryId, StoreError};

impl Sqlite {
    pub(crate) fn format(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
    ) -> Result<Option<StoredFormat>, StoreError> {
        let reader = self.reader()?;
        let found = reader
            .connection
            .prepare_cached("SELECT id, dictionary FROM format WHERE repository = ?1 AND prefix = ?2")?
            .query_row((repository.0, prefix.as_str()), |row| {
                Ok(StoredFormat {
                    id: row.get(0)?,
                    dictionary: row.get(1)?,
                })
            })
            .optional()?;
        self.return_reader(reader);
        Ok(found)
    }

    pub(crate) fn dictionary(&self, id: i64) -> Result<Arc<Dictionary>, StoreError> {
        let reader = self.reader()?;
        let dictionary = self.dictionary_over(id, &reader.connection)?;
        self.return_reader(reader);
        Ok(dictionary)
    }

    /// Gives a format its dictionary, unless another was faster.
    pub(crate) fn keep_dictionary(&self, format: i64, bytes: &[u8]) -> Result<i64, StoreError> {
        self.write(|write| {
            let transaction = &write.transaction;
            let made = transaction.query_row("SELECT dictionary FROM format WHERE id = ?1", [format], |row| {
                row.get::<_, Option<i64>>(0)
            })?;
            if let Some(made) = made {
                return Ok(made);
            }
            transaction.execute("INSERT INTO dictionary (bytes) VALUES (?1)", [bytes])?;
            let id = transaction.last_insert_rowid();
            transaction.execute("UPDATE format SET dictionary = ?2 WHERE id = ?1", (format, id))?;
            Ok(id)
        })
    }

    pub(crate) fn import_start(&self) -> Result<ImportStart, StoreError> {
        let reader = self.reader()?;
        let start = ImportStart {
            position: last_position(&reader.connection)?,
            quarantine: reader
                .connection
                .query_row("SELECT coalesce(max(id), 0) FROM quarantine", [], |row| row.get(0))?,
        };
        self.return_reader(reader);
        Ok(start)
    }

    /// The positions of an item's records.
    pub(crate) fn positions_of(&self, repository: RepositoryId, identifier: &str) -> Result<Vec<Position>, StoreError> {
        let reader = self.reader()?;
        let positions = reader
            .connection
            .prepare_cached(
                "SELECT position FROM ident WHERE identifier = ?2
                 AND format IN (SELECT id FROM format WHERE repository = ?1)",
            )?
            .query_map((repository.0, identifier), |row| row.get(0).map(Position::from_sql))?
            .collect::<Result<_, _>>()?;
        self.return_reader(reader);
        Ok(positions)
    }

    /// The formats and identifiers of the records that are still at these positions.
    pub(crate) fn records_at(&self, _: RepositoryId, positions: &[Position]) -> Result<Vec<(i64, String)>, StoreError> {
        let reader = self.reader()?;
        let mut found = Vec::with_capacity(positions.len());
        {
            let mut find = reader
                .connection
                .prepare_cached("SELECT format, identifier FROM record WHERE position = ?1")?;
            for position in positions {
                let record = find.query_row([position.to_sql()], |row| Ok((row.get(0)?, row.get(1)?)));
                found.extend(record.optional()?);
            }
        }
        self.return_reader(reader);
        Ok(found)
    }
}
