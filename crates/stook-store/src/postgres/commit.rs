//! From an encoded batch to a new state of the lists, in one transaction.
//!
//! ```text
//! compare   each record with what is there, in two questions       → what changes (see plan.rs)
//! write     rows by COPY, changes to rows by one statement a kind  → record, ident, member, tally
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tokio_postgres::types::Type;

use super::connection::Connection;
use super::plan::{Entry, Found, Key, Plan};
use super::{Postgres, Write, notes, quarantine};
use crate::backend::{Existing, Published, Screen};
use crate::body::{Decompressor, Digest, Volatile, digest};
use crate::change::sets_with_ancestors;
use crate::encode::{Batch, EncodedContent};
use crate::segment::Segments;
use crate::{Beside, Outcome, Position, RepositoryId, StoreError};

impl Postgres {
    /// Commits the batch; outcomes are in the order of its changes.
    pub(crate) fn commit(
        &self,
        batch: &Batch,
        screen: &mut Screen<'_>,
    ) -> Result<(Vec<Outcome>, Published), StoreError> {
        self.write(|write| self.publish(write, batch, screen))
    }

    /// Commits the batch and what belongs to it.
    pub(crate) fn commit_beside(&self, batch: &Batch, beside: &Beside) -> Result<Vec<Outcome>, StoreError> {
        self.write(|write| {
            let (outcomes, _) = self.publish(write, batch, &mut |_, _| Ok(None))?;
            let (connection, repository) = (&mut *write.connection, batch.repository);
            let said = batch.changes.iter().filter(|change| change.has_content());
            let published = said.map(|change| change.identifier.as_str());
            let released = beside.released.iter().map(String::as_str);
            quarantine::release(connection, repository, published.chain(released))?;
            quarantine::forget_same(connection, repository, &beside.quarantined)?;
            quarantine::put(connection, repository, &beside.quarantined, write.stamp)?;
            notes::put(connection, repository, &beside.notes)?;
            Ok(outcomes)
        })
    }

    fn publish(
        &self,
        write: &mut Write<'_>,
        batch: &Batch,
        screen: &mut Screen<'_>,
    ) -> Result<(Vec<Outcome>, Published), StoreError> {
        let found = compare(write.connection, batch)?;
        let mut plan = Plan::make(&batch.changes, &found, screen, write.last, write.stamp)?;
        let published = Published {
            first: write.last.next_at(write.stamp),
            last: plan.last,
        };
        self.digest_restored(write.connection, batch.repository, &mut plan)?;
        let mut writing = Writing {
            connection: write.connection,
            repository: batch.repository,
        };
        writing.records(&plan)?;
        writing.adopt(&plan)?;
        if plan.last != write.last {
            writing.idents(&mut plan.entries)?;
            writing.lists(&plan, published.first)?;
            writing.counts(&plan, published)?;
        }
        Ok((plan.outcomes, published))
    }

    /// The digest of a record that keeps its content is made from that.
    fn digest_restored(
        &self,
        connection: &mut Connection,
        repository: RepositoryId,
        plan: &mut Plan<'_>,
    ) -> Result<(), StoreError> {
        let old: HashMap<Position, Position> = plan.carries.iter().map(|carry| (carry.to, carry.from)).collect();
        for entry in plan.entries.iter_mut().filter(|entry| entry.digest.is_none()) {
            let from = old.get(&entry.position).copied().unwrap_or_default();
            let row = connection.one(
                "SELECT dictionary, body, volatile FROM record WHERE repository = $1 AND position = $2",
                &[&repository.0, &from.to_sql()],
            )?;
            let dictionary: Option<i64> = row.try_get(0)?;
            let dictionary = dictionary.map(|id| self.dictionary_over(id, connection)).transpose()?;
            let mut fragment = Vec::new();
            Decompressor::new().append(row.try_get(1)?, dictionary.as_deref(), &mut fragment)?;
            let volatile: Option<i64> = row.try_get(2)?;
            entry.digest = Some(digest(&entry.set_specs, &fragment, volatile.map(Volatile::from_sql)));
        }
        Ok(())
    }
}

/// What is there of the records a batch speaks of.
fn compare<'a>(connection: &mut Connection, batch: &'a Batch) -> Result<HashMap<Key<'a>, Found>, StoreError> {
    let keys: BTreeMap<Key<'a>, ()> = batch
        .changes
        .iter()
        .map(|change| ((change.format, change.identifier.as_str()), ()))
        .collect();
    let mut found = HashMap::new();
    let (Some((first, ())), Some((last, ()))) = (keys.first_key_value(), keys.last_key_value()) else {
        return Ok(found);
    };
    let repository = batch.repository.0;
    // Most batches of a first load lie where nothing is yet: then one look is enough. In the order of the index, because
    // a planner that expects many rows in the range would rather read the table from its beginning until it meets one.
    let next = connection.maybe(
        "SELECT format, identifier FROM ident WHERE repository = $1 AND (format, identifier) >= ($2, $3)
         ORDER BY format, identifier LIMIT 1",
        &[&repository, &first.0, &first.1],
    )?;
    let is_trodden = match &next {
        Some(row) => (row.try_get(0)?, row.try_get(1)?) <= *last,
        None => false,
    };
    if !is_trodden {
        return Ok(found);
    }
    let formats: Vec<i64> = keys.keys().map(|key| key.0).collect();
    let identifiers: Vec<&str> = keys.keys().map(|key| key.1).collect();
    let rows = connection.all(
        "SELECT wanted.at, ident.position, ident.digest, ident.derived
         FROM unnest($2::int8[], $3::text[]) WITH ORDINALITY AS wanted (format, identifier, at)
         JOIN ident ON ident.repository = $1 AND ident.format = wanted.format
             AND ident.identifier = wanted.identifier",
        &[&repository, &formats, &identifiers],
    )?;
    let keys: Vec<Key<'a>> = keys.into_keys().collect();
    for row in rows {
        let at = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or(1) - 1;
        let digest: &[u8] = row.try_get(2)?;
        let digest: Digest = digest
            .try_into()
            .map_err(|_| StoreError::Damaged("a digest has not its length".into()))?;
        let existing = Existing {
            position: Position::from_sql(row.try_get(1)?),
            digest,
            derived: row.try_get(3)?,
        };
        found.insert(keys[at], Found::new(existing));
    }
    read_changing(connection, batch, &mut found)?;
    read_other_ways(connection, batch, &mut found)?;
    Ok(found)
}

/// Reads the records that something changes. Those that come again as they are, most of them in most batches, are known
/// by their digests alone.
fn read_changing<'a>(
    connection: &mut Connection,
    batch: &'a Batch,
    found: &mut HashMap<Key<'a>, Found>,
) -> Result<(), StoreError> {
    let mut changing: BTreeMap<i64, Key<'a>> = BTreeMap::new();
    for change in &batch.changes {
        let key = (change.format, change.identifier.as_str());
        if let Some(found) = found.get(&key).filter(|found| !found.has_the_digest_of(change)) {
            changing.insert(found.existing.position.to_sql(), key);
        }
    }
    if changing.is_empty() {
        return Ok(());
    }
    let positions: Vec<i64> = changing.keys().copied().collect();
    let rows = connection.all(
        "SELECT position, set_specs, deleted, body IS NOT NULL FROM record
         WHERE repository = $1 AND position = ANY ($2)",
        &[&batch.repository.0, &positions],
    )?;
    for row in rows {
        let key = changing.get(&row.try_get(0)?);
        if let Some(found) = key.and_then(|key| found.get_mut(key)) {
            found.set_specs = row.try_get(1)?;
            found.deleted = row.try_get(2)?;
            found.has_body = row.try_get(3)?;
        }
    }
    Ok(())
}

/// Finds out what could be made from something else than what it was made from. Most batches withdraw nothing of the kind.
fn read_other_ways<'a>(
    connection: &mut Connection,
    batch: &'a Batch,
    found: &mut HashMap<Key<'a>, Found>,
) -> Result<(), StoreError> {
    let (mut keys, mut formats, mut identifiers) = (Vec::new(), Vec::new(), Vec::new());
    for change in &batch.changes {
        let key = (change.format, change.identifier.as_str());
        if let EncodedContent::Underived { unless } = &change.content
            && found.contains_key(&key)
        {
            for format in unless {
                keys.push(key);
                formats.push(*format);
                identifiers.push(change.identifier.as_str());
            }
        }
    }
    if keys.is_empty() {
        return Ok(());
    }
    let rows = connection.all(
        "SELECT wanted.at FROM unnest($2::int8[], $3::text[]) WITH ORDINALITY AS wanted (format, identifier, at)
         JOIN ident ON ident.repository = $1 AND ident.format = wanted.format
             AND ident.identifier = wanted.identifier AND NOT ident.derived
         JOIN record ON record.repository = $1 AND record.position = ident.position AND NOT record.deleted",
        &[&batch.repository.0, &formats, &identifiers],
    )?;
    for row in rows {
        let at = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or(1) - 1;
        if let Some(found) = keys.get(at).and_then(|key| found.get_mut(key)) {
            found.can_be_made_otherwise = true;
        }
    }
    Ok(())
}

/// A plan on its way into the tables.
struct Writing<'a> {
    connection: &'a mut Connection,
    repository: RepositoryId,
}

impl Writing<'_> {
    fn records(&mut self, plan: &Plan<'_>) -> Result<(), StoreError> {
        let repository = self.repository.0;
        if !plan.forgotten.is_empty() {
            let positions: Vec<i64> = plan.forgotten.iter().map(|position| position.to_sql()).collect();
            self.connection.execute(
                "UPDATE record SET body = NULL, dictionary = NULL, volatile = NULL
                 WHERE repository = $1 AND position = ANY ($2)",
                &[&repository, &positions],
            )?;
        }
        if !plan.carries.is_empty() {
            let of = |number: fn(&super::plan::Carry) -> i64| plan.carries.iter().map(number).collect::<Vec<i64>>();
            let set_specs: Vec<&str> = plan.carries.iter().map(|carry| carry.set_specs.as_str()).collect();
            let deleted: Vec<bool> = plan.carries.iter().map(|carry| carry.deleted).collect();
            self.connection.execute(
                "UPDATE record SET position = moved.new, set_specs = moved.set_specs, deleted = moved.deleted
                 FROM unnest($2::int8[], $3::int8[], $4::text[], $5::bool[]) AS moved (old, new, set_specs, deleted)
                 WHERE repository = $1 AND position = moved.old",
                &[
                    &repository,
                    &of(|carry| carry.from.to_sql()),
                    &of(|carry| carry.to.to_sql()),
                    &set_specs,
                    &deleted,
                ],
            )?;
        }
        if !plan.removed.is_empty() {
            let positions: Vec<i64> = plan.removed.iter().map(|position| position.to_sql()).collect();
            self.connection.execute(
                "DELETE FROM record WHERE repository = $1 AND position = ANY ($2)",
                &[&repository, &positions],
            )?;
        }
        if plan.inserts.is_empty() {
            return Ok(());
        }
        let types = [
            Type::INT8,
            Type::INT8,
            Type::INT8,
            Type::BOOL,
            Type::INT8,
            Type::INT8,
            Type::TEXT,
            Type::TEXT,
            Type::BYTEA,
        ];
        self.connection
            .copy("COPY record FROM STDIN BINARY", &types, &mut |rows| {
                for insert in &plan.inserts {
                    let (dictionary, body, volatile) = match &insert.change.content {
                        EncodedContent::Live {
                            dictionary,
                            body,
                            volatile,
                            ..
                        } => (*dictionary, Some(body), *volatile),
                        _ => (None, None, None),
                    };
                    rows.write(&[
                        &repository,
                        &insert.position.to_sql(),
                        &insert.change.format,
                        &insert.deleted,
                        &dictionary,
                        &volatile.map(Volatile::to_sql),
                        &insert.change.identifier,
                        &insert.set_specs,
                        &body,
                    ])?;
                }
                Ok(())
            })
    }

    fn adopt(&mut self, plan: &Plan<'_>) -> Result<(), StoreError> {
        if plan.adopted.is_empty() {
            return Ok(());
        }
        let (formats, identifiers): (Vec<i64>, Vec<&str>) = plan.adopted.iter().copied().unzip();
        self.connection.execute(
            "UPDATE ident SET derived = false FROM unnest($2::int8[], $3::text[]) AS own (format, identifier)
             WHERE ident.repository = $1 AND ident.format = own.format AND ident.identifier = own.identifier",
            &[&self.repository.0, &formats, &identifiers],
        )?;
        Ok(())
    }

    /// The index of identifiers, in its own order, which keeps a batch's work on neighbouring pages.
    fn idents(&mut self, entries: &mut [Entry<'_>]) -> Result<(), StoreError> {
        let repository = self.repository.0;
        let origin = |entry: &Entry<'_>| match entry.change.content {
            EncodedContent::Live { origin, .. } => origin,
            _ => None,
        };
        let digest = |entry: &Entry<'_>| entry.digest.unwrap_or_default();
        entries.sort_by_key(|entry| (entry.change.format, entry.change.identifier.as_str()));
        let (new, known): (Vec<&Entry<'_>>, Vec<&Entry<'_>>) = entries.iter().partition(|entry| entry.is_new);
        if !known.is_empty() {
            let formats: Vec<i64> = known.iter().map(|entry| entry.change.format).collect();
            let identifiers: Vec<&str> = known.iter().map(|entry| entry.change.identifier.as_str()).collect();
            let positions: Vec<i64> = known.iter().map(|entry| entry.position.to_sql()).collect();
            let digests: Vec<Vec<u8>> = known.iter().map(|entry| digest(entry).to_vec()).collect();
            let origins: Vec<Option<i64>> = known.iter().map(|entry| origin(entry)).collect();
            let derived: Vec<Option<bool>> = known.iter().map(|entry| entry.change.derived()).collect();
            let keeps_origin: Vec<bool> = known.iter().map(|entry| !entry.change.has_content()).collect();
            self.connection.execute(
                "UPDATE ident SET position = new.position, digest = new.digest,
                     origin = CASE WHEN new.keeps_origin THEN ident.origin ELSE new.origin END,
                     derived = coalesce(new.derived, ident.derived)
                 FROM unnest($2::int8[], $3::text[], $4::int8[], $5::bytea[], $6::int8[], $7::bool[], $8::bool[])
                     AS new (format, identifier, position, digest, origin, derived, keeps_origin)
                 WHERE ident.repository = $1 AND ident.format = new.format AND ident.identifier = new.identifier",
                &[
                    &repository,
                    &formats,
                    &identifiers,
                    &positions,
                    &digests,
                    &origins,
                    &derived,
                    &keeps_origin,
                ],
            )?;
        }
        if new.is_empty() {
            return Ok(());
        }
        let types = [
            Type::INT8,
            Type::INT8,
            Type::INT8,
            Type::INT8,
            Type::TEXT,
            Type::BYTEA,
            Type::BOOL,
        ];
        self.connection
            .copy("COPY ident FROM STDIN BINARY", &types, &mut |rows| {
                for entry in &new {
                    rows.write(&[
                        &repository,
                        &entry.change.format,
                        &entry.position.to_sql(),
                        &origin(entry),
                        &entry.change.identifier,
                        &digest(entry).as_slice(),
                        &entry.change.derived().unwrap_or(false),
                    ])?;
                }
                Ok(())
            })
    }

    /// List members, tallies and segments.
    fn lists(&mut self, plan: &Plan<'_>, first: Position) -> Result<(), StoreError> {
        let repository = self.repository.0;
        let entered = plan
            .entries
            .iter()
            .map(|entry| (entry.change.format, entry.set_specs.as_str()));
        let left = plan
            .left
            .iter()
            .map(|(format, set_specs, _)| (*format, set_specs.as_str()));
        let lists = self.known_lists(entered.chain(left))?;
        let mut tallies: BTreeMap<(i64, i64), i64> = BTreeMap::new();
        let mut segments = Segments::load(self.connection)?;
        for (format, set_specs, position) in &plan.left {
            let segment = segments.leave(*position);
            for set_spec in lists_of(set_specs) {
                *tallies
                    .entry((lists[&(*format, set_spec.to_owned())], segment))
                    .or_default() -= 1;
            }
        }
        let segment = segments.append(self.connection, first, plan.entries.len())?;
        let mut members: Vec<(i64, i64)> = Vec::new();
        for entry in &plan.entries {
            for set_spec in lists_of(&entry.set_specs) {
                let list = lists[&(entry.change.format, set_spec.to_owned())];
                members.push((list, entry.position.to_sql()));
                *tallies.entry((list, segment)).or_default() += 1;
            }
        }
        members.sort_unstable();
        let types = [Type::INT8, Type::INT8, Type::INT8, Type::INT8];
        self.connection
            .copy("COPY member FROM STDIN BINARY", &types, &mut |rows| {
                for (list, position) in &members {
                    rows.write(&[&repository, &segment, list, position])?;
                }
                Ok(())
            })?;
        self.tallies(&tallies)?;
        segments.sweep(self.connection)
    }

    fn tallies(&mut self, tallies: &BTreeMap<(i64, i64), i64>) -> Result<(), StoreError> {
        let repository = self.repository.0;
        let lists: Vec<i64> = tallies.keys().map(|(list, _)| *list).collect();
        let segments: Vec<i64> = tallies.keys().map(|(_, segment)| *segment).collect();
        let differences: Vec<i64> = tallies.values().copied().collect();
        self.connection.execute(
            "INSERT INTO tally SELECT $1, * FROM unnest($2::int8[], $3::int8[], $4::int8[])
             ON CONFLICT (repository, list, segment) DO UPDATE SET live = tally.live + excluded.live",
            &[&repository, &lists, &segments, &differences],
        )?;
        self.connection.execute(
            "DELETE FROM tally USING unnest($2::int8[], $3::int8[]) AS gone (list, segment)
             WHERE repository = $1 AND tally.list = gone.list AND tally.segment = gone.segment AND live = 0",
            &[&repository, &lists, &segments],
        )?;
        Ok(())
    }

    /// The ids of all lists that records with these formats and sets are in; those that are new are made.
    fn known_lists<'a>(
        &mut self,
        places: impl Iterator<Item = (i64, &'a str)>,
    ) -> Result<HashMap<(i64, String), i64>, StoreError> {
        let repository = self.repository.0;
        let mut wanted: BTreeSet<(i64, &str)> = BTreeSet::new();
        for (format, set_specs) in places {
            wanted.extend(lists_of(set_specs).map(|set_spec| (format, set_spec)));
        }
        let formats: Vec<i64> = wanted.iter().map(|(format, _)| *format).collect();
        let set_specs: Vec<&str> = wanted.iter().map(|(_, set_spec)| *set_spec).collect();
        self.connection.execute(
            "INSERT INTO list (repository, format, set_spec) SELECT $1, * FROM unnest($2::int8[], $3::text[])
             ON CONFLICT DO NOTHING",
            &[&repository, &formats, &set_specs],
        )?;
        self.connection.execute(
            "INSERT INTO set_ (repository, spec)
             SELECT DISTINCT $1::int8, spec FROM unnest($2::text[]) AS used (spec) WHERE spec <> ''
             ON CONFLICT DO NOTHING",
            &[&repository, &set_specs],
        )?;
        let rows = self.connection.all(
            "SELECT list.format, list.set_spec, id FROM list
             JOIN unnest($2::int8[], $3::text[]) AS wanted (format, set_spec)
                 ON list.format = wanted.format AND list.set_spec = wanted.set_spec
             WHERE repository = $1",
            &[&repository, &formats, &set_specs],
        )?;
        rows.iter()
            .map(|row| Ok(((row.try_get(0)?, row.try_get(1)?), row.try_get(2)?)))
            .collect()
    }

    fn counts(&mut self, plan: &Plan<'_>, published: Published) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE store SET last_position = $1", &[&published.last.to_sql()])?;
        self.connection.execute(
            "UPDATE repository SET earliest = $2 WHERE id = $1 AND earliest IS NULL",
            &[&self.repository.0, &published.first.datestamp().unix()],
        )?;
        for (format, difference) in plan.deleted.iter().filter(|(_, difference)| **difference != 0) {
            self.connection.execute(
                "UPDATE format SET deleted = deleted + $2 WHERE id = $1",
                &[format, difference],
            )?;
        }
        Ok(())
    }
}

/// The lists a record with these sets is in, beside its format's own, which is the empty one.
fn lists_of(set_specs: &str) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(sets_with_ancestors(set_specs))
}
