//! From an encoded batch to a new state of the lists, in one transaction.
//!
//! ```text
//! compare   each record with what is there, in index order        → what changes
//! publish   the changed ones, in input order, at new positions    → record rows
//! file      identifiers, list members and tallies, in index order → ident, member, tally
//! ```
//! Looking up and filing in index order keeps a batch's work on neighbouring pages even when the input is not sorted.

use std::collections::{BTreeMap, HashMap};

use rusqlite::OptionalExtension;

use super::{Sqlite, Write, notes, quarantine};
use crate::backend::{Existing, Met, Published, Screen};
use crate::body::{Decompressor, Digest, Volatile, digest, digest_deleted};
use crate::change::sets_with_ancestors;
use crate::encode::{Batch, Encoded, EncodedContent};
use crate::segment::Segments;
use crate::{Beside, Outcome, Position, StoreError};

impl Sqlite {
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
            let said = batch.changes.iter().filter(|change| change.has_content());
            let published = said.map(|change| change.identifier.as_str());
            let released = beside.released.iter().map(String::as_str);
            quarantine::release(&write.transaction, batch.repository, published.chain(released))?;
            quarantine::forget_same(&write.transaction, batch.repository, &beside.quarantined)?;
            quarantine::put(&write.transaction, batch.repository, &beside.quarantined, write.stamp)?;
            notes::put(&write.transaction, batch.repository, &beside.notes)?;
            Ok(outcomes)
        })
    }

    fn publish(
        &self,
        write: &Write<'_>,
        batch: &Batch,
        screen: &mut Screen<'_>,
    ) -> Result<(Vec<Outcome>, Published), StoreError> {
        let plans = compare(write, &batch.changes, screen)?;
        let mut publication = Publication::new(self, write, batch)?;
        let mut outcomes = Vec::with_capacity(plans.len());
        for (change, plan) in batch.changes.iter().zip(plans) {
            outcomes.push(match plan {
                Plan::Settled(outcome) => outcome,
                Plan::Publish(existing) => publication.publish(change, existing)?,
            });
        }
        let published = publication.file()?;
        Ok((outcomes, published))
    }
}

/// A record as the index of identifiers knows it.
struct Entered {
    position: Position,
    digest: Digest,
    origin: Option<i64>,
    /// None leaves it as it is.
    derived: Option<bool>,
    /// Whether the origin stays as it is.
    keeps_origin: bool,
}

enum Plan {
    Settled(Outcome),
    Publish(Option<Existing>),
}

fn compare(write: &Write<'_>, changes: &[Encoded], screen: &mut Screen<'_>) -> Result<Vec<Plan>, StoreError> {
    let mut order: Vec<usize> = (0..changes.len()).collect();
    order.sort_by_key(|&at| (changes[at].format, changes[at].identifier.as_str(), at));
    let mut find = write
        .transaction
        .prepare_cached("SELECT position, digest, derived FROM ident WHERE format = ?1 AND identifier = ?2")?;
    let untrodden = match (order.first(), order.last()) {
        (Some(&first), Some(&last)) => is_untrodden(write, &changes[first], &changes[last])?,
        _ => true,
    };
    let mut plans: Vec<Option<Plan>> = (0..changes.len()).map(|_| None).collect();
    // The last change that was not a repetition within the batch, and the record that stays if it changes nothing.
    let mut previous: Option<(&Encoded, Option<Existing>)> = None;
    for at in order {
        let change = &changes[at];
        let is_twin = |other: &Encoded| other.format == change.format && other.identifier == change.identifier;
        if let Some((twin, stays)) = previous.filter(|(other, _)| is_twin(other)) {
            let same = match stays {
                Some(existing) => is_same(write, &existing, change)?,
                None => twin.says_the_same_as(change),
            };
            plans[at] = Some(Plan::Settled(Outcome::Repeated { same }));
            continue;
        }
        let mut existing = None;
        if !untrodden {
            existing = find
                .query_row((change.format, &change.identifier), |row| {
                    Ok(Existing {
                        position: Position::from_sql(row.get(0)?),
                        digest: row.get(1)?,
                        derived: row.get(2)?,
                    })
                })
                .optional()?;
        }
        let plan = match existing {
            None => Plan::Publish(None),
            Some(existing) if outlives(write, &existing, change)? => {
                screen(&existing, Met::Outranked)?;
                Plan::Settled(Outcome::Unchanged)
            }
            Some(existing) => {
                let same = is_same(write, &existing, change)?;
                if same && existing.is_outranked_by(change) {
                    adopt(write, change)?;
                }
                // What was given is no repetition of what was made from something else in the same import.
                let screened = match same || !existing.is_outranked_by(change) {
                    true => screen(&existing, if same { Met::Same } else { Met::Other })?,
                    false => None,
                };
                match screened {
                    Some(outcome) => Plan::Settled(outcome),
                    None if same => Plan::Settled(Outcome::Unchanged),
                    None => Plan::Publish(Some(existing)),
                }
            }
        };
        previous = Some((change, existing.filter(|_| matches!(plan, Plan::Settled(_)))));
        plans[at] = Some(plan);
    }
    Ok(plans
        .into_iter()
        .map(|plan| plan.unwrap_or(Plan::Settled(Outcome::Unchanged)))
        .collect())
}

/// Whether there is no record between two in index order, as for most batches of a first load: then one look is enough.
fn is_untrodden(write: &Write<'_>, first: &Encoded, last: &Encoded) -> Result<bool, StoreError> {
    let mut find = write
        .transaction
        .prepare_cached("SELECT 1 FROM ident WHERE (format, identifier) BETWEEN (?1, ?2) AND (?3, ?4) LIMIT 1")?;
    Ok(!find.exists((first.format, &first.identifier, last.format, &last.identifier))?)
}

/// Whether a live record stays in spite of a change, because it counts more or can be made from something else.
fn outlives(write: &Write<'_>, existing: &Existing, change: &Encoded) -> Result<bool, StoreError> {
    let stays = existing.outranks(change) || can_be_made_otherwise(write, change)?;
    Ok(stays && is_deleted(write, existing, false)?)
}

/// Whether the item has a live record, given in one of the formats that the change names.
fn can_be_made_otherwise(write: &Write<'_>, change: &Encoded) -> Result<bool, StoreError> {
    let EncodedContent::Underived { unless } = &change.content else {
        return Ok(false);
    };
    let mut find = write.transaction.prepare_cached(
        "SELECT 1 FROM ident JOIN record ON record.position = ident.position
         WHERE ident.format = ?1 AND ident.identifier = ?2 AND NOT ident.derived AND NOT record.deleted",
    )?;
    for format in unless {
        if find.exists((format, &change.identifier))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the change would leave everything as it is.
fn is_same(write: &Write<'_>, existing: &Existing, change: &Encoded) -> Result<bool, StoreError> {
    match &change.content {
        EncodedContent::Live { digest, .. } => Ok(*digest == existing.digest),
        EncodedContent::Deleted if !change.set_specs.is_empty() => {
            Ok(existing.digest == digest_deleted(&change.set_specs))
        }
        EncodedContent::Deleted | EncodedContent::Underived { .. } => is_deleted(write, existing, true),
        EncodedContent::Restored => is_deleted(write, existing, false),
        // A deleted record may still have content to forget.
        EncodedContent::Erased => Ok(false),
        EncodedContent::Kept(at) => Ok(existing.position != *at || !is_live_in_others(write, existing, change)?),
    }
}

/// What was made from another record has now been given, the very same.
fn adopt(write: &Write<'_>, change: &Encoded) -> Result<(), StoreError> {
    let mut own = write
        .transaction
        .prepare_cached("UPDATE ident SET derived = 0 WHERE format = ?1 AND identifier = ?2")?;
    own.execute((change.format, &change.identifier))?;
    Ok(())
}

fn is_deleted(write: &Write<'_>, existing: &Existing, deleted: bool) -> Result<bool, StoreError> {
    let mut find = write
        .transaction
        .prepare_cached("SELECT deleted FROM record WHERE position = ?1")?;
    Ok(find.query_row([existing.position.to_sql()], |row| row.get::<_, bool>(0))? == deleted)
}

/// Whether it is live, and in other sets than the change says.
fn is_live_in_others(write: &Write<'_>, existing: &Existing, change: &Encoded) -> Result<bool, StoreError> {
    let mut find = write
        .transaction
        .prepare_cached("SELECT 1 FROM record WHERE position = ?1 AND NOT deleted AND set_specs <> ?2")?;
    Ok(find.exists((existing.position.to_sql(), &change.set_specs))?)
}

/// A batch on its way into the lists.
struct Publication<'a> {
    sqlite: &'a Sqlite,
    write: &'a Write<'a>,
    batch: &'a Batch,
    segments: Segments,
    first: Position,
    last: Position,
    /// What the index of identifiers shall say, to be sorted before it is written.
    idents: Vec<(i64, &'a str, Entered)>,
    /// New list members, to be sorted before they are written.
    members: Vec<(i64, Position)>,
    lists: HashMap<(i64, String), i64>,
    /// Change of the tallies: (list, segment) → members gained or lost.
    tallies: BTreeMap<(i64, i64), i64>,
    /// Change of the number of deleted records: format → gained or lost.
    deleted: BTreeMap<i64, i64>,
}

impl<'a> Publication<'a> {
    fn new(sqlite: &'a Sqlite, write: &'a Write<'a>, batch: &'a Batch) -> Result<Self, StoreError> {
        Ok(Publication {
            sqlite,
            write,
            batch,
            segments: Segments::load(&mut &*write.transaction)?,
            first: write.last.next_at(write.stamp),
            last: write.last,
            idents: Vec::new(),
            members: Vec::new(),
            lists: HashMap::new(),
            tallies: BTreeMap::new(),
            deleted: BTreeMap::new(),
        })
    }

    /// Gives the record its new position and contents.
    fn publish(&mut self, change: &'a Encoded, existing: Option<Existing>) -> Result<Outcome, StoreError> {
        let Some(existing) = existing else {
            return self.publish_new(change);
        };
        let (old_set_specs, was_deleted, has_body): (String, bool, bool) = self
            .write
            .transaction
            .prepare_cached("SELECT set_specs, deleted, body IS NOT NULL FROM record WHERE position = ?1")?
            .query_row([existing.position.to_sql()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        if matches!(change.content, EncodedContent::Restored) && !has_body {
            return Ok(Outcome::NothingToRestore);
        }
        let keeps_sets = change.set_specs.is_empty()
            && !matches!(change.content, EncodedContent::Live { .. } | EncodedContent::Kept(_));
        let set_specs = if keeps_sets { &old_set_specs } else { &change.set_specs };
        if matches!(change.content, EncodedContent::Erased) && was_deleted && *set_specs == old_set_specs {
            return self.forget(existing, has_body);
        }
        let position = self.take_position();
        let (outcome, digest) = match &change.content {
            EncodedContent::Live { digest, .. } => {
                self.insert(change, position, set_specs, false)?;
                (Outcome::Changed, *digest)
            }
            EncodedContent::Deleted | EncodedContent::Underived { .. } => {
                self.carry(existing.position, position, set_specs, true)?;
                (Outcome::Deleted, digest_deleted(set_specs))
            }
            EncodedContent::Erased => {
                self.insert(change, position, set_specs, true)?;
                (Outcome::Deleted, digest_deleted(set_specs))
            }
            EncodedContent::Restored | EncodedContent::Kept(_) => {
                self.carry(existing.position, position, set_specs, false)?;
                (Outcome::Changed, self.digest_at(position, set_specs)?)
            }
        };
        self.write
            .transaction
            .prepare_cached("DELETE FROM record WHERE position = ?1")?
            .execute([existing.position.to_sql()])?;
        self.leave(change.format, &old_set_specs, existing.position)?;
        *self.deleted.entry(change.format).or_default() +=
            i64::from(outcome == Outcome::Deleted) - i64::from(was_deleted);
        self.enter(change, set_specs, position, digest)?;
        Ok(outcome)
    }

    fn publish_new(&mut self, change: &'a Encoded) -> Result<Outcome, StoreError> {
        let (outcome, digest) = match &change.content {
            EncodedContent::Live { digest, .. } => (Outcome::New, *digest),
            EncodedContent::Restored => return Ok(Outcome::NothingToRestore),
            EncodedContent::Underived { .. } | EncodedContent::Kept(_) => return Ok(Outcome::Unchanged),
            EncodedContent::Deleted | EncodedContent::Erased => (Outcome::Deleted, digest_deleted(&change.set_specs)),
        };
        let position = self.take_position();
        self.insert(change, position, &change.set_specs, outcome == Outcome::Deleted)?;
        self.enter(change, &change.set_specs, position, digest)?;
        *self.deleted.entry(change.format).or_default() += i64::from(outcome == Outcome::Deleted);
        Ok(outcome)
    }

    fn take_position(&mut self) -> Position {
        self.last = self.last.next_at(self.write.stamp);
        self.last
    }

    fn insert(&self, change: &Encoded, position: Position, set_specs: &str, deleted: bool) -> Result<(), StoreError> {
        let (dictionary, body, volatile) = match &change.content {
            EncodedContent::Live {
                dictionary,
                body,
                volatile,
                ..
            } => (*dictionary, Some(body), *volatile),
            _ => (None, None, None),
        };
        self.write
            .transaction
            .prepare_cached("INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?
            .execute((
                position.to_sql(),
                change.format,
                &change.identifier,
                set_specs,
                deleted,
                dictionary,
                body,
                volatile.map(Volatile::to_sql),
            ))?;
        Ok(())
    }

    /// Copies the record's content to its new position.
    fn carry(&self, from: Position, to: Position, set_specs: &str, deleted: bool) -> Result<(), StoreError> {
        self.write
            .transaction
            .prepare_cached(
                "INSERT INTO record SELECT ?2, format, identifier, ?3, ?4, dictionary, body, volatile
                 FROM record WHERE position = ?1",
            )?
            .execute((from.to_sql(), to.to_sql(), set_specs, deleted))?;
        Ok(())
    }

    /// Drops the kept content of a record that is deleted already: nothing disseminated changes.
    fn forget(&self, existing: Existing, has_body: bool) -> Result<Outcome, StoreError> {
        if has_body {
            self.write
                .transaction
                .prepare_cached(
                    "UPDATE record SET body = NULL, dictionary = NULL, volatile = NULL WHERE position = ?1",
                )?
                .execute([existing.position.to_sql()])?;
        }
        Ok(Outcome::Unchanged)
    }

    fn digest_at(&self, position: Position, set_specs: &str) -> Result<Digest, StoreError> {
        let (dictionary, body, volatile): (Option<i64>, Vec<u8>, Option<i64>) = self
            .write
            .transaction
            .prepare_cached("SELECT dictionary, body, volatile FROM record WHERE position = ?1")?
            .query_row([position.to_sql()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        let dictionary = dictionary
            .map(|id| self.sqlite.dictionary_over(id, &self.write.transaction))
            .transpose()?;
        let mut fragment = Vec::new();
        Decompressor::new().append(&body, dictionary.as_deref(), &mut fragment)?;
        Ok(digest(set_specs, &fragment, volatile.map(Volatile::from_sql)))
    }

    /// Takes the old version out of the counts. Its member rows stay behind until the segment is swept: nothing
    /// finds a record through them any more.
    fn leave(&mut self, format: i64, set_specs: &str, position: Position) -> Result<(), StoreError> {
        let segment = self.segments.leave(position);
        for list in self.lists_of(format, set_specs)? {
            *self.tallies.entry((list, segment)).or_default() -= 1;
        }
        Ok(())
    }

    fn enter(
        &mut self,
        change: &'a Encoded,
        set_specs: &str,
        position: Position,
        digest: Digest,
    ) -> Result<(), StoreError> {
        let origin = match change.content {
            EncodedContent::Live { origin, .. } => origin,
            _ => None,
        };
        let entered = Entered {
            position,
            digest,
            origin,
            derived: change.derived(),
            keeps_origin: !change.has_content(),
        };
        self.idents.push((change.format, &change.identifier, entered));
        for list in self.lists_of(change.format, set_specs)? {
            self.members.push((list, position));
        }
        Ok(())
    }

    /// The lists a record is in: its format's, and one for each of its sets and their ancestors.
    fn lists_of(&mut self, format: i64, set_specs: &str) -> Result<Vec<i64>, StoreError> {
        let mut lists = vec![self.list(format, "")?];
        for set_spec in sets_with_ancestors(set_specs) {
            lists.push(self.list(format, set_spec)?);
        }
        Ok(lists)
    }

    fn list(&mut self, format: i64, set_spec: &str) -> Result<i64, StoreError> {
        let key = (format, set_spec.to_owned());
        if let Some(list) = self.lists.get(&key) {
            return Ok(*list);
        }
        let transaction = &self.write.transaction;
        let known = transaction
            .prepare_cached("SELECT id FROM list WHERE format = ?1 AND set_spec = ?2")?
            .query_row((format, set_spec), |row| row.get(0))
            .optional()?;
        let list = match known {
            Some(list) => list,
            None => {
                transaction.execute(
                    "INSERT INTO list (format, set_spec) VALUES (?1, ?2)",
                    (format, set_spec),
                )?;
                transaction.last_insert_rowid()
            }
        };
        if !set_spec.is_empty() {
            transaction
                .prepare_cached("INSERT OR IGNORE INTO set_ (repository, spec) VALUES (?1, ?2)")?
                .execute((self.batch.repository.0, set_spec))?;
        }
        self.lists.insert(key, list);
        Ok(list)
    }

    /// Writes the indexes for everything that was published.
    fn file(mut self) -> Result<Published, StoreError> {
        let published = Published {
            first: self.first,
            last: self.last,
        };
        if self.last == self.write.last {
            return Ok(published);
        }
        let transaction = &self.write.transaction;
        let mut ident = transaction.prepare_cached(
            "INSERT INTO ident VALUES (?1, ?2, ?3, ?4, ?5, coalesce(?6, 0)) ON CONFLICT (format, identifier)
             DO UPDATE SET position = excluded.position, digest = excluded.digest,
                 origin = iif(?7, origin, excluded.origin), derived = coalesce(?6, derived)",
        )?;
        self.idents
            .sort_by_key(|(format, identifier, _)| (*format, *identifier));
        for (format, identifier, entered) in &self.idents {
            let Entered {
                digest,
                origin,
                derived,
                keeps_origin,
                ..
            } = entered;
            let position = entered.position.to_sql();
            ident.execute((format, identifier, position, digest, origin, derived, keeps_origin))?;
        }
        let segment = self
            .segments
            .append(&mut &**transaction, self.first, self.idents.len())?;
        self.members.sort_unstable();
        let mut member = transaction.prepare_cached("INSERT INTO member VALUES (?1, ?2, ?3)")?;
        for (list, position) in &self.members {
            member.execute((segment, list, position.to_sql()))?;
            *self.tallies.entry((*list, segment)).or_default() += 1;
        }
        self.file_tallies()?;
        transaction
            .prepare_cached("UPDATE store SET last_position = ?1")?
            .execute([self.last.to_sql()])?;
        transaction
            .prepare_cached("UPDATE repository SET earliest = ?2 WHERE id = ?1 AND earliest IS NULL")?
            .execute((self.batch.repository.0, self.first.datestamp().unix()))?;
        let mut count = transaction.prepare_cached("UPDATE format SET deleted = deleted + ?2 WHERE id = ?1")?;
        for (format, difference) in self.deleted.iter().filter(|(_, difference)| **difference != 0) {
            count.execute((format, difference))?;
        }
        self.segments.sweep(&mut &**transaction)?;
        Ok(published)
    }

    fn file_tallies(&self) -> Result<(), StoreError> {
        let transaction = &self.write.transaction;
        let mut add = transaction.prepare_cached(
            "INSERT INTO tally VALUES (?1, ?2, ?3) ON CONFLICT (list, segment) DO UPDATE SET live = live + excluded.live",
        )?;
        let mut drop_empty =
            transaction.prepare_cached("DELETE FROM tally WHERE list = ?1 AND segment = ?2 AND live = 0")?;
        for ((list, segment), difference) in &self.tallies {
            add.execute((list, segment, difference))?;
            if *difference < 0 {
                drop_empty.execute((list, segment))?;
            }
        }
        Ok(())
    }
}
