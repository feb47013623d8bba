//! One import: batches go in, and at its end it knows which records the input did not mention.
//!
//! What was seen is remembered without growing in memory: everything this import published lies in its own ranges of
//! positions, and the positions of records found unchanged go to a temporary database on disk.

use std::collections::HashSet;
use std::ops::ControlFlow;

use rusqlite::Connection;
use stook_oai::{Identifier, MetadataPrefix, SetSpec};

use crate::backend::{Backend, Existing, ImportStart, Met, StoredFormat, View, each};
use crate::encode::{Batch, Encoded, EncodedContent};
use crate::{Gone, Outcome, Position, Quarantined, RepositoryId, Span, StoreError, StoredRecord, Vanished};

/// Deletions in one transaction.
const DELETION_BATCH: u32 = 2_000;

/// One run over one input.
pub(crate) struct Importer {
    backend: Backend,
    repository: RepositoryId,
    start: ImportStart,
    own: Ranges,
    seen: Seen,
    ways: Vec<Way>,
}

/// From one format to another, whose records are made from those of the first.
struct Way {
    from: i64,
    to: i64,
    prefix: MetadataPrefix,
}

/// Deletions on their way.
struct Withdrawal {
    batch: Batch,
    bereft: Vec<(String, MetadataPrefix)>,
}

impl Importer {
    pub(crate) fn new(backend: Backend, repository: RepositoryId) -> Result<Importer, StoreError> {
        Ok(Importer {
            start: backend.import_start()?,
            backend,
            repository,
            own: Ranges::default(),
            seen: Seen::new()?,
            ways: Vec::new(),
        })
    }

    /// Commits a batch: durable when this returns.
    pub(crate) fn commit(&mut self, batch: &Batch) -> Result<Vec<Outcome>, StoreError> {
        let Importer { own, seen, .. } = self;
        // Seen only when the batch is committed: a back end may have to try several times.
        let (mut unchanged, mut spared) = (Vec::new(), Vec::new());
        let mut screen = |existing: &Existing, met: Met| {
            if met == Met::Outranked {
                // The input has what it would be made from, but may still say what it is itself.
                spared.push(existing.position);
                return Ok(None);
            }
            let same = met == Met::Same;
            if own.contains(existing.position) || seen.contains(existing.position)? {
                return Ok(Some(Outcome::Repeated { same }));
            }
            if same {
                unchanged.push(existing.position);
            }
            Ok(None)
        };
        let (outcomes, published) = self.backend.commit(batch, &mut screen)?;
        for position in unchanged {
            self.seen.insert(position)?;
        }
        for position in spared {
            self.seen.spare(position)?;
        }
        if outcomes.iter().any(|outcome| outcome.is_published()) {
            self.own.push(published.first, published.last);
        }
        Ok(outcomes)
    }

    /// What is made from a record that vanishes vanishes too. Formats nobody has heard of are passed over.
    pub(crate) fn derives(&mut self, from: &MetadataPrefix, to: &MetadataPrefix) -> Result<(), StoreError> {
        let prefix = to.clone();
        let from = self.backend.format(self.repository, from)?;
        let to = self.backend.format(self.repository, to)?;
        if let (Some(StoredFormat { id: from, .. }), Some(StoredFormat { id: to, .. })) = (from, to) {
            self.ways.push(Way { from, to, prefix });
        }
        Ok(())
    }

    /// Keeps what could not be published.
    pub(crate) fn quarantine(&mut self, entries: &[Quarantined]) -> Result<(), StoreError> {
        self.backend.quarantine(self.repository, entries)
    }

    /// Forgets what earlier imports quarantined of this source, because it has now been read again to its end.
    pub(crate) fn finish_source(&mut self, source: &str) -> Result<(), StoreError> {
        match self.start.quarantine {
            0 => Ok(()),
            earlier => self.backend.forget_quarantined(self.repository, source, earlier),
        }
    }

    /// Counts a record as mentioned by the input although it could not be read.
    pub(crate) fn spare(&mut self, identifier: &Identifier) -> Result<(), StoreError> {
        for position in self.backend.positions_of(self.repository, identifier.as_str())? {
            self.seen.spare(position)?;
        }
        Ok(())
    }

    /// Counts a record as seen, so that what comes of it now is repeated.
    pub(crate) fn claim(&mut self, prefix: &MetadataPrefix, identifier: &str) -> Result<(), StoreError> {
        let Some(format) = self.backend.format(self.repository, prefix)? else {
            return Ok(());
        };
        for position in self.backend.positions_of(self.repository, identifier)? {
            let found = self.backend.records_at(self.repository, &[position])?;
            if found.iter().any(|(id, _)| *id == format.id) {
                self.seen.insert(position)?;
            }
        }
        Ok(())
    }

    /// Finds the live records of these formats that the input did not mention, in these sets if there are any.
    pub(crate) fn vanished(&mut self, prefixes: &[MetadataPrefix], sets: &[SetSpec]) -> Result<Vanished, StoreError> {
        self.backend.patiently(|| self.vanished_once(prefixes, sets))
    }

    fn vanished_once(&self, prefixes: &[MetadataPrefix], sets: &[SetSpec]) -> Result<Vanished, StoreError> {
        self.seen.database.execute_batch("DELETE FROM vanished")?;
        let mut found = Vanished { records: 0, of: 0 };
        let mut view = self.backend.view()?;
        for prefix in prefixes {
            if sets.is_empty() {
                self.vanished_of(&mut view, prefix, None, &mut found)?;
            }
            for set in sets {
                let is_inside_another = sets.iter().any(|other| other != set && other.contains(set));
                if !is_inside_another {
                    self.vanished_of(&mut view, prefix, Some(set), &mut found)?;
                }
            }
        }
        Ok(found)
    }

    /// Walks a list of old records and what was seen side by side: both are in order. What this run changed is no
    /// longer among the old, but it was there before.
    fn vanished_of(
        &self,
        view: &mut View,
        prefix: &MetadataPrefix,
        set: Option<&SetSpec>,
        found: &mut Vanished,
    ) -> Result<(), StoreError> {
        let Some(list) = each!(View, view, it => it.list(self.repository, prefix, set))? else {
            return Ok(());
        };
        let database = &self.seen.database;
        let mut seen =
            database.prepare("SELECT position FROM seen UNION SELECT position FROM spared ORDER BY position")?;
        let mut seen = seen.query([])?;
        // A record may be in several of the sets.
        let mut add = database.prepare("INSERT OR IGNORE INTO vanished VALUES (?1)")?;
        let mut next_seen: Option<i64> = seen.next()?.map(|row| row.get(0)).transpose()?;
        let mut visit = |record: &mut StoredRecord<'_>| {
            if record.deleted {
                return Ok(ControlFlow::Continue(()));
            }
            let position = record.position.to_sql();
            found.of += 1;
            while next_seen.is_some_and(|seen| seen < position) {
                next_seen = seen.next()?.map(|row| row.get(0)).transpose()?;
            }
            if next_seen != Some(position) {
                found.records += add.execute([position])? as u64;
            }
            Ok(ControlFlow::Continue(()))
        };
        let span = Span {
            after: Position::START,
            through: self.start.position,
        };
        each!(View, view, it => it.page(list, span, usize::MAX, &mut visit))?;
        Ok(())
    }

    /// Deletes what [`vanished`](Self::vanished) found last. `hear` is told after each transaction.
    pub(crate) fn delete_vanished(
        &mut self,
        hear: &mut dyn FnMut(Gone) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        let mut deleted = 0;
        let start = self.start.position;
        // What another program publishes between our finding a record and deleting it is not ours to delete.
        let mut screen = |existing: &Existing, _| Ok((existing.position > start).then_some(Outcome::Unchanged));
        while let Some(Withdrawal { batch, bereft }) = self.next_vanished()? {
            let (outcomes, _) = self.backend.commit(&batch, &mut screen)?;
            deleted += outcomes.iter().filter(|outcome| **outcome == Outcome::Deleted).count() as u64;
            hear(Gone { deleted, bereft })?;
        }
        Ok(deleted)
    }

    /// The next records to delete; `None` when there are no more. A batch may be empty: all of its records changed.
    fn next_vanished(&mut self) -> Result<Option<Withdrawal>, StoreError> {
        let database = &self.seen.database;
        let positions: Vec<Position> = database
            .prepare_cached("SELECT position FROM vanished ORDER BY position LIMIT ?1")?
            .query_map([DELETION_BATCH], |row| row.get(0).map(Position::from_sql))?
            .collect::<Result<_, _>>()?;
        let Some(last) = positions.last() else {
            return Ok(None);
        };
        database
            .prepare_cached("DELETE FROM vanished WHERE position <= ?1")?
            .execute([last.to_sql()])?;
        // A record another program changed meanwhile is no longer there, and is not ours to delete.
        let found = self.backend.records_at(self.repository, &positions)?;
        Ok(Some(self.withdrawal(&found)))
    }

    /// Deletes these records, and what was made from them, unless it can be made from something that stays.
    fn withdrawal(&self, vanished: &[(i64, String)]) -> Withdrawal {
        let change = |format: i64, identifier: &str, content: EncodedContent| Encoded {
            format,
            identifier: identifier.to_owned(),
            set_specs: String::new(),
            content,
        };
        let gone: HashSet<(i64, &str)> = vanished.iter().map(|(format, of)| (*format, of.as_str())).collect();
        // Where several ways lead to a record, it is withdrawn once.
        let mut known = gone.clone();
        let (mut changes, mut bereft) = (Vec::with_capacity(vanished.len()), Vec::new());
        for (format, identifier) in vanished {
            changes.push(change(*format, identifier, EncodedContent::Deleted));
            for way in self.ways.iter().filter(|way| way.from == *format) {
                if !known.insert((way.to, identifier.as_str())) {
                    continue;
                }
                let others = self.ways.iter().filter(|other| other.to == way.to);
                let stays = |from: &i64| !gone.contains(&(*from, identifier.as_str()));
                let unless: Vec<i64> = others.map(|other| other.from).filter(stays).collect();
                if !unless.is_empty() {
                    bereft.push((identifier.clone(), way.prefix.clone()));
                }
                changes.push(change(way.to, identifier, EncodedContent::Underived { unless }));
            }
        }
        let repository = self.repository;
        let batch = Batch { repository, changes };
        Withdrawal { batch, bereft }
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
            .prepare_cached("INSERT OR IGNORE INTO seen VALUES (?1)")?
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
