//! What a repository consists of besides records: its name, formats and sets. Small tables, rarely written.

use stook_oai::{MetadataFormat, Set, SetSpec};

use super::{Postgres, Write};
use crate::set::descriptions_of;
use crate::{RepositoryId, StoreError};

impl Postgres {
    /// The key that signs resumption tokens.
    pub(crate) fn secret(&self) -> Result<[u8; 32], StoreError> {
        let row = self.reader()?.one("SELECT secret FROM store", &[])?;
        let secret: &[u8] = row.try_get(0)?;
        secret
            .try_into()
            .map_err(|_| StoreError::Damaged("the key of tokens is not one".into()))
    }

    /// The repository of this name, made if it is new.
    pub(crate) fn declare_repository(&self, name: &str) -> Result<RepositoryId, StoreError> {
        if let Ok(known) = self.repository(name) {
            return Ok(known);
        }
        self.write(|write| {
            write.connection.execute(
                "INSERT INTO repository (name, created) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                &[&name, &write.stamp.unix()],
            )?;
            let row = write
                .connection
                .one("SELECT id FROM repository WHERE name = $1", &[&name])?;
            Ok(RepositoryId(row.try_get(0)?))
        })
    }

    /// The repository of this name.
    pub(crate) fn repository(&self, name: &str) -> Result<RepositoryId, StoreError> {
        let row = self.look_up(|connection| connection.maybe("SELECT id FROM repository WHERE name = $1", &[&name]))?;
        match row {
            Some(row) => Ok(RepositoryId(row.try_get(0)?)),
            None => Err(StoreError::UnknownRepository(name.to_owned())),
        }
    }

    /// The names of all repositories.
    pub(crate) fn repositories(&self) -> Result<Vec<String>, StoreError> {
        let rows = self.reader()?.all("SELECT name FROM repository ORDER BY name", &[])?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    /// Adds a format to the repository, or corrects its schema and namespace.
    pub(crate) fn declare_format(&self, repository: RepositoryId, format: &MetadataFormat) -> Result<(), StoreError> {
        let prefix = format.prefix.as_str();
        let same = self.look_up(|connection| {
            connection.maybe(
                "SELECT 1 FROM format WHERE repository = $1 AND prefix = $2 AND schema = $3 AND namespace = $4",
                &[&repository.0, &prefix, &format.schema, &format.namespace],
            )
        })?;
        if same.is_some() {
            return Ok(());
        }
        self.write(|write| {
            write.connection.execute(
                "INSERT INTO format (repository, prefix, schema, namespace, deleted) VALUES ($1, $2, $3, $4, 0)
                 ON CONFLICT (repository, prefix) DO UPDATE SET schema = excluded.schema, namespace = excluded.namespace",
                &[&repository.0, &prefix, &format.schema, &format.namespace],
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
            write.connection.execute(
                "UPDATE set_ SET name = $3, descriptions = $4 WHERE repository = $1 AND spec = $2",
                &[&repository.0, &set.spec.as_str(), &set.name, &descriptions],
            )?;
            Ok(())
        })
    }

    /// Names sets that nobody has named, each with its ancestors.
    pub(crate) fn name_sets(&self, repository: RepositoryId, names: &[(SetSpec, String)]) -> Result<(), StoreError> {
        let lineages: Vec<String> = names
            .iter()
            .flat_map(|(spec, _)| spec.lineage().map(SetSpec::into_string).collect::<Vec<_>>())
            .collect();
        let specs: Vec<&str> = names.iter().map(|(spec, _)| spec.as_str()).collect();
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        self.write(|write| {
            write.connection.execute(
                "INSERT INTO set_ (repository, spec) SELECT DISTINCT $1::int8, spec FROM unnest($2::text[]) AS new (spec)
                 ON CONFLICT DO NOTHING",
                &[&repository.0, &lineages],
            )?;
            write.connection.execute(
                "UPDATE set_ SET name = new.name FROM unnest($2::text[], $3::text[]) AS new (spec, name)
                 WHERE set_.repository = $1 AND set_.spec = new.spec AND set_.name IS NULL",
                &[&repository.0, &specs, &names],
            )?;
            Ok(())
        })
    }

    /// Removes a set that no record and no other set needs.
    pub(crate) fn remove_set(&self, repository: RepositoryId, spec: &SetSpec) -> Result<bool, StoreError> {
        self.write(|write| {
            let row = write.connection.one(
                "SELECT coalesce(sum(live), 0)::int8 FROM tally WHERE repository = $1 AND list IN (
                     SELECT id FROM list WHERE repository = $1 AND set_spec = $2)",
                &[&repository.0, &spec.as_str()],
            )?;
            let used: i64 = row.try_get(0)?;
            if used > 0 {
                return Err(StoreError::SetInUse(spec.clone(), used.unsigned_abs()));
            }
            let removed = write.connection.execute(
                "DELETE FROM set_ WHERE repository = $1 AND (spec = $2 OR starts_with(spec, $2 || ':'))",
                &[&repository.0, &spec.as_str()],
            )?;
            Ok(removed > 0)
        })
    }
}

fn touch_set(write: &mut Write<'_>, repository: RepositoryId, spec: &SetSpec) -> Result<(), StoreError> {
    write.connection.execute(
        "INSERT INTO set_ (repository, spec) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        &[&repository.0, &spec.as_str()],
    )?;
    Ok(())
}
