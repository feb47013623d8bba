//! One import: batches go in, and at its end it knows which records the input did not mention.
//!
//! What was seen is remembered without growing in memory: everything this import published lies in its own ranges of
//! positions, and the positions of records found unchanged go to a temporary database on disk.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};
use stook_oai::{Identifier, MetadataPrefix};

use super::commit::Existing;
use super::encode::{Batch, Encoded, EncodedContent};
use super::{Sqlite, last_position};
use crate::{Outcome, Position, RepositoryId, StoreError, Vanished};

/// Deletions in one transaction.
const DELETION_BATCH: u32 = 2_000;

/// One run over one input.
pub(crate) struct Importer {
    sqlite: Arc<Sqlite>,
    repository: RepositoryId,
    /// Everything at or before this was there when the import began.
    start: Position,
    own: Ranges,
    seen: Seen,
    /// Quarantined entries up to this one are of earlier imports.
    quarantine_start: i64,
}

impl Importer {
    pub(crate) fn new(sqlite: Arc<Sqlite>, repository: RepositoryId) -> Result<Importer, StoreError> {
        let reader = sqlite.reader()?;
        let start = last_position(&reader.connection)?;
        let quarantine_start =
            reader
                .connection
                .query_row("SELECT coalesce(max(id), 0) FROM quarantine", [], |row| row.get(0))?;
        sqlite.return_reader(reader);
        Ok(Importer {
            sqlite,
            repository,
            start,
            own: Ranges::default(),
            seen: Seen::new()?,
            quarantine_start,
        })
    }

    /// Commits a batch: durable when this returns.
    pub(crate) fn commit(&mut self, batch: &Batch) -> Result<Vec<Outcome>, StoreError> {
        let Importer { own, seen, .. } = self;
        let mut screen = |existing: &Existing, same: bool| {
            if own.contains(existing.position) || seen.contains(existing.position)? {
                return Ok(Some(Outcome::Repeated { same }));
            }
            if same {
                seen.insert(existing.position)?;
            }
            Ok(None)
        };
        let (outcomes, published) = self.sqlite.commit(batch, &mut screen)?;
        if outcomes.iter().any(|outcome| outcome.is_published()) {
            self.own.push(published.first, published.last);
        }
        Ok(outcomes)
    }

    /// Counts a record as mentioned by the input although it could not be read.
    pub(crate) fn spare(&mut self, identifier: &Identifier) -> Result<(), StoreError> {
        let reader = self.sqlite.reader()?;
        {
            let mut find = reader.connection.prepare_cached(
                "SELECT position FROM ident WHERE identifier = ?2
                 AND format IN (SELECT id FROM format WHERE repository = ?1)",
            )?;
            let mut rows = find.query((self.repository.0, identifier.as_str()))?;
            while let Some(row) = rows.next()? {
                self.seen.spare(Position::from_sql(row.get(0)?))?;
            }
        }
        self.sqlite.return_reader(reader);
        Ok(())
    }

    /// Finds the live records of these formats that the input did not mention.
    pub(crate) fn vanished(&mut self, prefixes: &[MetadataPrefix]) -> Result<Vanished, StoreError> {
        self.seen.database.execute_batch("DELETE FROM vanished")?;
        let reader = self.sqlite.reader()?;
        let mut found = Vanished { records: 0, of: 0 };
        for prefix in prefixes {
            let format: Option<i64> = reader
                .connection
                .query_row(
                    "SELECT id FROM format WHERE repository = ?1 AND prefix = ?2",
                    (self.repository.0, prefix.as_str()),
                    |row| row.get(0),
                )
                .optional()?;
            let Some(format) = format else { continue };
            self.vanished_of(&reader.connection, format, &mut found)?;
        }
        self.sqlite.return_reader(reader);
        Ok(found)
    }

    /// Walks the format's old records and what was seen side by side: both are in order.
    fn vanished_of(&self, connection: &Connection, format: i64, found: &mut Vanished) -> Result<(), StoreError> {
        let mut old = connection.prepare_cached(
            "SELECT position FROM record WHERE position <= ?1 AND format = ?2 AND deleted = 0 ORDER BY position",
        )?;
        let mut old = old.query((self.start.to_sql(), format))?;
        let mut seen = self
            .seen
            .database
            .prepare("SELECT position FROM seen UNION SELECT position FROM spared ORDER BY position")?;
        let mut seen = seen.query([])?;
        let mut add = self.seen.database.prepare("INSERT INTO vanished VALUES (?1)")?;
        let mut next_seen: Option<i64> = seen.next()?.map(|row| row.get(0)).transpose()?;
        while let Some(row) = old.next()? {
            let position: i64 = row.get(0)?;
            found.of += 1;
            while next_seen.is_some_and(|seen| seen < position) {
                next_seen = seen.next()?.map(|row| row.get(0)).transpose()?;
            }
            if next_seen != Some(position) {
                add.execute([position])?;
                found.records += 1;
            }
        }
        // What this run changed is no longer among the old, but it was there before.
        Ok(())
    }

    /// Deletes what [`vanished`](Self::vanished) found last.
    pub(crate) fn delete_vanished(&mut self, progress: &mut dyn FnMut(u64)) -> Result<u64, StoreError> {
        let mut deleted = 0;
        let start = self.start;
        // What another program publishes between our finding a record and deleting it is not ours to delete.
        let mut screen = |existing: &Existing, _| Ok((existing.position > start).then_some(Outcome::Unchanged));
        while let Some(batch) = self.next_vanished()? {
            let (outcomes, _) = self.sqlite.commit(&batch, &mut screen)?;
            deleted += outcomes.iter().filter(|outcome| **outcome == Outcome::Deleted).count() as u64;
            progress(deleted);
        }
        Ok(deleted)
    }

    /// The next records to delete; `None` when there are no more. A batch may be empty: all of its records changed.
    fn next_vanished(&mut self) -> Result<Option<Batch>, StoreError> {
        let reader = self.sqlite.reader()?;
        let mut changes = Vec::new();
        {
            let mut next = self
                .seen
                .database
                .prepare_cached("SELECT position FROM vanished ORDER BY position LIMIT ?1")?;
            let positions: Vec<i64> = next
                .query_map([DELETION_BATCH], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            if positions.is_empty() {
                return Ok(None);
            }
            let mut find = reader
                .connection
                .prepare_cached("SELECT format, identifier FROM record WHERE position = ?1")?;
            let mut done = self
                .seen
                .database
                .prepare_cached("DELETE FROM vanished WHERE position = ?1")?;
            for position in positions {
                done.execute([position])?;
                // A record another program changed meanwhile is no longer here, and is not ours to delete.
                if let Some((format, identifier)) = find
                    .query_row([position], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()?
                {
                    let content = EncodedContent::Deleted;
                    changes.push(Encoded {
                        format,
                        identifier,
                        set_specs: String::new(),
                        content,
                    });
                }
            }
        }
        self.sqlite.return_reader(reader);
        Ok(Some(Batch {
            repository: self.repository,
            changes,
        }))
    }

    pub(super) fn sqlite(&self) -> &Sqlite {
        &self.sqlite
    }

    pub(super) fn repository(&self) -> RepositoryId {
        self.repository
    }

    pub(super) fn quarantine_start(&self) -> i64 {
        self.quarantine_start
    }
}

/// Disjoint ranges of positions, in order.
#[derive(Default)]
struct Ranges(Vec<(Position, Position)>);

impl Ranges {
    fn push(&mut self, first: Position, last: Position) {
        match self.0.last_mut() {
            // Nobody else published in between: one longer range.
            Some((_, end)) if *end == first.before() => *end = last,
            _ => self.0.push((first, last)),
        }
    }

    fn contains(&self, position: Position) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= position);
        after.checked_sub(1).is_some_and(|at| position <= self.0[at].1)
    }
}

/// Positions of records the input mentioned without changing them, in a database SQLite keeps in a temporary file.
struct Seen {
    database: Connection,
}

impl Seen {
    fn new() -> Result<Seen, StoreError> {
        let database = Connection::open("")?;
        database.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
             CREATE TABLE seen (position INTEGER PRIMARY KEY) STRICT;
             CREATE TABLE spared (position INTEGER PRIMARY KEY) STRICT;
             CREATE TABLE vanished (position INTEGER PRIMARY KEY) STRICT;
             BEGIN;",
        )?;
        Ok(Seen { database })
    }

    fn contains(&self, position: Position) -> Result<bool, StoreError> {
        let mut find = self.database.prepare_cached("SELECT 1 FROM seen WHERE position = ?1")?;
        Ok(find.exists([position.to_sql()])?)
    }

    fn insert(&self, position: Position) -> Result<(), StoreError> {
        self.database
            .prepare_cached("INSERT INTO seen VALUES (?1)")?
            .execute([position.to_sql()])?;
        Ok(())
    }

    /// Apart from what was seen, because the record may still come in a form that can be read.
    fn spare(&self, position: Position) -> Result<(), StoreError> {
        self.database
            .prepare_cached("INSERT OR IGNORE INTO spared VALUES (?1)")?
            .execute([position.to_sql()])?;
        Ok(())
    }
}
