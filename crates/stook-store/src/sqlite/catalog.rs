//! What a repository consists of besides records: its name, formats and sets. Small tables, rarely written.

use rusqlite::OptionalExtension;
use stook_oai::{MetadataFormat, Set, SetSpec};

use super::{Sqlite, Write};
use crate::set::descriptions_of;
use crate::{RepositoryId, StoreError};

impl Sqlite {
    /// The key that signs resumption tokens.
    pub(crate) fn secret(&self) -> Result<[u8; 32], StoreError> {
        let reader = self.reader()?;
        let secret = reader
            .connection
            .query_row("SELECT secret FROM store", [], |row| row.get(0))?;
        self.return_reader(reader);
        Ok(secret)
    }

    /// The repository of this name, made if it is new.
    pub(crate) fn declare_repository(&self, name: &str) -> Result<RepositoryId, StoreError> {
        if let Ok(known) = self.repository(name) {
            return Ok(known);
        }
        self.write(|write| {
            write.transaction.execute(
                "INSERT OR IGNORE INTO repository (name, created) VALUES (?1, ?2)",
                (name, write.stamp.unix()),
            )?;
            // A repository's first response date must not be later than its first datestamp.
            let id = write
                .transaction
                .query_row("SELECT id FROM repository WHERE name = ?1", [name], |row| row.get(0));
            Ok(RepositoryId(id?))
        })
    }

    /// The repository of this name.
    pub(crate) fn repository(&self, name: &str) -> Result<RepositoryId, StoreError> {
        let reader = self.reader()?;
        let found = reader
            .connection
            .query_row("SELECT id FROM repository WHERE name = ?1", [name], |row| row.get(0));
        let found = found.optional()?;
        self.return_reader(reader);
        found
            .map(RepositoryId)
            .ok_or_else(|| StoreError::UnknownRepository(name.to_owned()))
    }

    /// The names of all repositories.
    pub(crate) fn repositories(&self) -> Result<Vec<String>, StoreError> {
        let reader = self.reader()?;
        let names = reader
            .connection
            .prepare_cached("SELECT name FROM repository ORDER BY name")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        self.return_reader(reader);
        Ok(names)
    }

    /// Adds a format to the repository, or corrects its schema and namespace.
    pub(crate) fn declare_format(&self, repository: RepositoryId, format: &MetadataFormat) -> Result<(), StoreError> {
        let row = (repository.0, format.prefix.as_str(), &format.schema, &format.namespace);
        let reader = self.reader()?;
        let same = reader
            .connection
            .prepare_cached(
                "SELECT 1 FROM format WHERE repository = ?1 AND prefix = ?2 AND schema = ?3 AND namespace = ?4",
            )?
            .exists(row)?;
        self.return_reader(reader);
        if same {
            return Ok(());
        }
        self.write(|write| {
            write.transaction.execute(
                "INSERT INTO format (repository, prefix, schema, namespace, deleted) VALUES (?1, ?2, ?3, ?4, 0)
                 ON CONFLICT (repository, prefix) DO UPDATE SET schema = excluded.schema, namespace = excluded.namespace",
                row,
            )?;
            Ok(())
        })
    }

    /// Defines a set, or gives a known one a new name and descriptions. Ancestors come into being with it.
    pub(crate) fn define_set(&self, repository: RepositoryId, set: &Set) -> Result<(), StoreError> {
        let descriptions = descriptions_of(set);
        self.write(|write| {
            for ancestor in set.spec.lineage() {
                touch_set(write, repository, &ancestor)?;
            }
            write.transaction.execute(
                "UPDATE set_ SET name = ?3, descriptions = ?4 WHERE repository = ?1 AND spec = ?2",
                (repository.0, set.spec.as_str(), &set.name, descriptions),
            )?;
            Ok(())
        })
    }

    /// Names sets that nobody has named, each with its ancestors.
    pub(crate) fn name_sets(&self, repository: RepositoryId, names: &[(SetSpec, String)]) -> Result<(), StoreError> {
        self.write(|write| {
            for (spec, name) in names {
                for ancestor in spec.lineage() {
                    touch_set(write, repository, &ancestor)?;
                }
                write
                    .transaction
                    .prepare_cached("UPDATE set_ SET name = ?3 WHERE repository = ?1 AND spec = ?2 AND name IS NULL")?
                    .execute((repository.0, spec.as_str(), name))?;
            }
            Ok(())
        })
    }

    /// Removes a set that no record and no other set needs.
    pub(crate) fn remove_set(&self, repository: RepositoryId, spec: &SetSpec) -> Result<bool, StoreError> {
        self.write(|write| {
            let used: i64 = write.transaction.query_row(
                "SELECT coalesce(sum(live), 0) FROM tally WHERE list IN (
                     SELECT list.id FROM list JOIN format ON format.id = list.format
                     WHERE format.repository = ?1 AND list.set_spec = ?2)",
                (repository.0, spec.as_str()),
                |row| row.get(0),
            )?;
            if used > 0 {
                return Err(StoreError::SetInUse(spec.clone(), used.unsigned_abs()));
            }
            let removed = write.transaction.execute(
                "DELETE FROM set_ WHERE repository = ?1 AND (spec = ?2 OR substr(spec, 1, length(?2) + 1) = ?2 || ':')",
                (repository.0, spec.as_str()),
            )?;
            Ok(removed > 0)
        })
    }
}

fn touch_set(write: &Write<'_>, repository: RepositoryId, spec: &SetSpec) -> Result<(), StoreError> {
    write
        .transaction
        .prepare_cached("INSERT OR IGNORE INTO set_ (repository, spec) VALUES (?1, ?2)")?
        .execute((repository.0, spec.as_str()))?;
    Ok(())
}
