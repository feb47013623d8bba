//! What encoding and imports need to know before they write.

use std::sync::Arc;

use stook_oai::MetadataPrefix;

use super::{Postgres, last_position};
use crate::backend::{ImportStart, StoredFormat};
use crate::body::Dictionary;
use crate::{Position, RepositoryId, StoreError};

impl Postgres {
    pub(crate) fn format(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
    ) -> Result<Option<StoredFormat>, StoreError> {
        let row = self.look_up(|connection| {
            connection.maybe(
                "SELECT id, dictionary FROM format WHERE repository = $1 AND prefix = $2",
                &[&repository.0, &prefix.as_str()],
            )
        })?;
        row.map(|row| {
            Ok(StoredFormat {
                id: row.try_get(0)?,
                dictionary: row.try_get(1)?,
            })
        })
        .transpose()
    }

    pub(crate) fn dictionary(&self, id: i64) -> Result<Arc<Dictionary>, StoreError> {
        self.look_up(|connection| self.dictionary_over(id, connection))
    }

    /// Gives a format its dictionary, unless another was faster.
    pub(crate) fn keep_dictionary(&self, format: i64, bytes: &[u8]) -> Result<i64, StoreError> {
        self.write(|write| {
            let row = write
                .connection
                .one("SELECT dictionary FROM format WHERE id = $1", &[&format])?;
            if let Some(made) = row.try_get(0)? {
                return Ok(made);
            }
            let row = write
                .connection
                .one("INSERT INTO dictionary (bytes) VALUES ($1) RETURNING id", &[&bytes])?;
            let id: i64 = row.try_get(0)?;
            write
                .connection
                .execute("UPDATE format SET dictionary = $2 WHERE id = $1", &[&format, &id])?;
            Ok(id)
        })
    }

    pub(crate) fn import_start(&self) -> Result<ImportStart, StoreError> {
        self.look_up(|connection| {
            Ok(ImportStart {
                position: last_position(connection)?,
                quarantine: connection
                    .one("SELECT coalesce(max(id), 0) FROM quarantine", &[])?
                    .try_get(0)?,
            })
        })
    }

    /// The positions of an item's records.
    pub(crate) fn positions_of(&self, repository: RepositoryId, identifier: &str) -> Result<Vec<Position>, StoreError> {
        let rows = self.look_up(|connection| {
            connection.all(
                "SELECT position FROM ident WHERE repository = $1 AND identifier = $2
             AND format IN (SELECT id FROM format WHERE repository = $1)",
                &[&repository.0, &identifier],
            )
        })?;
        rows.iter().map(|row| Ok(Position::from_sql(row.try_get(0)?))).collect()
    }

    /// The formats and identifiers of the records that are still at these positions, in order.
    pub(crate) fn records_at(
        &self,
        repository: RepositoryId,
        positions: &[Position],
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let positions: Vec<i64> = positions.iter().map(|position| position.to_sql()).collect();
        let rows = self.look_up(|connection| {
            connection.all(
                "SELECT format, identifier FROM record WHERE repository = $1 AND position = ANY ($2) ORDER BY position",
                &[&repository.0, &positions],
            )
        })?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }
}
