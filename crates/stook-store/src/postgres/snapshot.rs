//! One consistent view of the store: what an answer is made from. The same as the embedded store's; see there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stook_oai::{Datestamp, MetadataFormat, MetadataPrefix, Set, SetSpec};
use tokio_postgres::Row;

use super::connection::{Connection, Pool};
use super::{Postgres, last_position};
use crate::backend::{PageVisitor, RecordVisitor};
use crate::body::{Decompressor, Dictionary};
use crate::segment::{Part, parts_of_span};
use crate::set::set_from;
use crate::{Known, List, Page, Position, RepositoryFacts, RepositoryId, Span, StoreError, StoredRecord};

/// Records fetched at once: as many as a page has, or of a longer walk a part.
const CHUNK: usize = 1_000;
/// Segments looked up at once.
const SEGMENTS: i64 = 8;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A read transaction.
pub(crate) struct Snapshot {
    postgres: Arc<Postgres>,
    /// Where the connection came from.
    pool: Arc<Pool>,
    connection: Mutex<Reading>,
    decompressor: Decompressor,
    response_date: Datestamp,
    last: Position,
}

/// The connection; always there until the snapshot is dropped.
struct Reading(Option<Connection>);

impl Reading {
    fn get(&mut self) -> Result<&mut Connection, StoreError> {
        self.0.as_mut().ok_or(StoreError::Busy)
    }
}

impl Snapshot {
    /// A view of the primary.
    pub(crate) fn new(postgres: Arc<Postgres>) -> Result<Snapshot, StoreError> {
        let pool = postgres.pool.clone();
        let (snapshot, ()) = Snapshot::begin(postgres, pool, |postgres, connection| {
            // The date before the data: see clock.rs.
            let date = postgres.clock.response_date(connection)?;
            connection.batch(BEGIN)?;
            Ok((date, ()))
        })?;
        Ok(snapshot)
    }

    /// A view of a replica, and how many seconds it is behind.
    pub(super) fn of_replica(postgres: Arc<Postgres>, pool: Arc<Pool>) -> Result<(Snapshot, u64), StoreError> {
        let place = pool.place();
        Snapshot::begin(postgres, pool, |postgres, connection| {
            connection.batch(BEGIN)?;
            let row = connection.one("SELECT horizon, secret FROM clock, store", &[])?;
            let horizon: i64 = row.try_get(0)?;
            // Another store may stand there, with records of its own.
            if row.try_get::<_, &[u8]>(1)? != postgres.secret {
                return Err(StoreError::NotAReplica(place));
            }
            let now = postgres.clock.system_now(connection)?;
            let date = Datestamp::from_unix(horizon).unwrap_or_default();
            Ok((date, u64::try_from(now.unix() - horizon).unwrap_or(0)))
        })
    }

    /// Begins a transaction by `dated`, which also says the response date.
    fn begin<T>(
        postgres: Arc<Postgres>,
        pool: Arc<Pool>,
        dated: impl FnOnce(&Postgres, &mut Connection) -> Result<(Datestamp, T), StoreError>,
    ) -> Result<(Snapshot, T), StoreError> {
        let mut connection = pool.take_owned()?;
        let begun = dated(&postgres, &mut connection)
            .and_then(|(date, beside)| Ok((date, beside, last_position(&mut connection)?)))
            .inspect_err(|_| pool.lost());
        let (date, beside, last) = begun?;
        let snapshot = Snapshot {
            postgres,
            pool,
            connection: Mutex::new(Reading(Some(connection))),
            decompressor: Decompressor::new(),
            // After a clock step back the newest datestamp may be later than the server's time. Writes to come are
            // stamped at or after it too, so it is a safe date to give.
            response_date: date.max(last.datestamp()),
            last,
        };
        Ok((snapshot, beside))
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn response_date(&self) -> Datestamp {
        self.response_date
    }

    pub(crate) fn last(&self) -> Position {
        self.last
    }

    pub(crate) fn facts(&self, repository: RepositoryId) -> Result<RepositoryFacts, StoreError> {
        let row = self.reading().get()?.one(
            "SELECT coalesce(earliest, created) FROM repository WHERE id = $1",
            &[&repository.0],
        )?;
        Ok(RepositoryFacts {
            earliest_datestamp: Datestamp::from_unix(row.try_get(0)?).unwrap_or_default(),
        })
    }

    pub(crate) fn formats(&self, repository: RepositoryId) -> Result<Vec<MetadataFormat>, StoreError> {
        let rows = self.reading().get()?.all(
            // oai_dc first: every repository has it and every harvester looks for it.
            "SELECT prefix, schema, namespace FROM format WHERE repository = $1 ORDER BY prefix <> 'oai_dc', prefix",
            &[&repository.0],
        )?;
        rows.iter().map(format_of).collect()
    }

    pub(crate) fn formats_of(
        &self,
        repository: RepositoryId,
        identifier: &str,
    ) -> Result<Option<Vec<MetadataFormat>>, StoreError> {
        let rows = self.reading().get()?.all(
            "SELECT prefix, schema, namespace, record.deleted FROM format
             JOIN ident ON ident.repository = $1 AND ident.format = format.id AND ident.identifier = $2
             JOIN record ON record.repository = $1 AND record.position = ident.position
             WHERE format.repository = $1 ORDER BY prefix <> 'oai_dc', prefix",
            &[&repository.0, &identifier],
        )?;
        if rows.is_empty() {
            return Ok(None);
        }
        let mut formats = Vec::new();
        for row in &rows {
            if !row.try_get::<_, bool>(3)? {
                formats.push(format_of(row)?);
            }
        }
        Ok(Some(formats))
    }

    pub(crate) fn list(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        set: Option<&SetSpec>,
    ) -> Result<Option<List>, StoreError> {
        let row = self.reading().get()?.maybe(
            "SELECT list.id FROM list JOIN format ON format.id = list.format
             WHERE list.repository = $1 AND format.repository = $1 AND format.prefix = $2 AND list.set_spec = $3",
            &[&repository.0, &prefix.as_str(), &set.map_or("", SetSpec::as_str)],
        )?;
        row.map(|row| {
            Ok(List {
                repository,
                id: row.try_get(0)?,
            })
        })
        .transpose()
    }

    /// How many records of a format are deleted.
    pub(crate) fn deleted(&self, repository: RepositoryId, prefix: &MetadataPrefix) -> Result<u64, StoreError> {
        let row = self.reading().get()?.maybe(
            "SELECT deleted FROM format WHERE repository = $1 AND prefix = $2",
            &[&repository.0, &prefix.as_str()],
        )?;
        let deleted: i64 = row.map_or(Ok(0), |row| row.try_get(0))?;
        Ok(u64::try_from(deleted).unwrap_or(0))
    }

    /// Visits up to `limit` records of the span, in order, until the visitor has enough.
    pub(crate) fn page(
        &mut self,
        list: List,
        span: Span,
        limit: usize,
        visit: &mut PageVisitor<'_>,
    ) -> Result<Page, StoreError> {
        let postgres = self.postgres.clone();
        let mut reading = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = reading.get()?;
        let mut walk = Walk {
            list,
            after: span.after,
            through: span.through,
            segment: None,
            passed: -1,
            segments: Vec::new(),
        };
        let mut page = Page::default();
        let mut enough = limit == 0;
        let mut dictionary: Option<Arc<Dictionary>> = None;
        loop {
            // One more than wanted tells whether there is more.
            let wanted = CHUNK.min(limit.saturating_sub(page.records).saturating_add(1));
            let rows = walk.next(connection, wanted)?;
            if rows.is_empty() {
                return Ok(page);
            }
            for row in &rows {
                if enough {
                    page.more = true;
                    return Ok(page);
                }
                let wanted: Option<i64> = row.try_get(4)?;
                if dictionary.as_ref().map(|dictionary| dictionary.id) != wanted {
                    dictionary = wanted.map(|id| postgres.dictionary_over(id, connection)).transpose()?;
                }
                let mut record = stored_record(row, dictionary.as_deref(), &mut self.decompressor)?;
                let flow = visit(&mut record)?;
                page.records += 1;
                page.last = record.position;
                enough = page.records >= limit || flow.is_break();
            }
        }
    }

    /// Visits one record; `false` if the repository has no such record.
    pub(crate) fn record(
        &mut self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        identifier: &str,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<bool, StoreError> {
        let postgres = self.postgres.clone();
        let mut reading = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = reading.get()?;
        let row = connection.maybe(
            "SELECT record.position, record.identifier, set_specs, record.deleted, record.dictionary, body FROM format
             JOIN ident ON ident.repository = $1 AND ident.format = format.id AND ident.identifier = $3
             JOIN record ON record.repository = $1 AND record.position = ident.position
             WHERE format.repository = $1 AND format.prefix = $2",
            &[&repository.0, &prefix.as_str(), &identifier],
        )?;
        let Some(row) = row else { return Ok(false) };
        let dictionary: Option<i64> = row.try_get(4)?;
        let dictionary = dictionary
            .map(|id| postgres.dictionary_over(id, connection))
            .transpose()?;
        visit(&mut stored_record(&row, dictionary.as_deref(), &mut self.decompressor)?)?;
        Ok(true)
    }

    /// What is known of a record without reading it.
    pub(crate) fn known(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        identifier: &str,
    ) -> Result<Option<Known>, StoreError> {
        let row = self.reading().get()?.maybe(
            "SELECT record.deleted, ident.origin, ident.derived FROM format
             JOIN ident ON ident.repository = $1 AND ident.format = format.id AND ident.identifier = $3
             JOIN record ON record.repository = $1 AND record.position = ident.position
             WHERE format.repository = $1 AND format.prefix = $2",
            &[&repository.0, &prefix.as_str(), &identifier],
        )?;
        row.map(|row| {
            let origin: Option<i64> = row.try_get(1)?;
            Ok(Known {
                deleted: row.try_get(0)?,
                origin: origin.and_then(Datestamp::from_unix),
                derived: row.try_get(2)?,
            })
        })
        .transpose()
    }

    /// How many records the span holds, without visiting them: whole segments by their tallies, the two at its ends
    /// by counting.
    pub(crate) fn count(&self, list: List, span: Span) -> Result<u64, StoreError> {
        let mut reading = self.reading();
        let connection = reading.get()?;
        let first = segment_of(connection, span.after)?;
        let last = segment_of(connection, span.through)?;
        let mut count = 0;
        for part in parts_of_span(first, last, span.through >= self.last) {
            count += match part {
                Part::Whole(from, to) => whole(connection, list, from, to)?,
                Part::Edge(segment) => edge(connection, list, segment, span)?,
            };
        }
        Ok(u64::try_from(count).unwrap_or(0))
    }

    pub(crate) fn sets(
        &self,
        repository: RepositoryId,
        after: Option<&SetSpec>,
        limit: usize,
    ) -> Result<Vec<Set>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.reading().get()?.all(
            "SELECT spec, name, descriptions FROM set_ WHERE repository = $1 AND spec > $2 ORDER BY spec LIMIT $3",
            &[&repository.0, &after.map_or("", SetSpec::as_str), &limit],
        )?;
        rows.iter().map(set_of).collect()
    }

    pub(crate) fn set(&self, repository: RepositoryId, spec: &SetSpec) -> Result<Option<Set>, StoreError> {
        let row = self.reading().get()?.maybe(
            "SELECT spec, name, descriptions FROM set_ WHERE repository = $1 AND spec = $2",
            &[&repository.0, &spec.as_str()],
        )?;
        row.as_ref().map(set_of).transpose()
    }

    pub(crate) fn set_count(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        let row = self
            .reading()
            .get()?
            .one("SELECT count(*) FROM set_ WHERE repository = $1", &[&repository.0])?;
        Ok(u64::try_from(row.try_get::<_, i64>(0)?).unwrap_or(0))
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        let reading = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut connection) = reading.0.take() {
            match connection.batch("ROLLBACK") {
                Ok(()) => self.pool.give_back(connection),
                Err(_) => self.pool.lost(),
            }
        }
    }
}

/// A walk over the members of a list, a chunk at a time.
struct Walk {
    list: List,
    after: Position,
    through: Position,
    /// The segment at hand, if any.
    segment: Option<i64>,
    /// The last segment that was at hand.
    passed: i64,
    /// The next segments that hold members of the list, the last one first.
    segments: Vec<i64>,
}

impl Walk {
    /// The next members, at most so many; none at the end.
    fn next(&mut self, connection: &mut Connection, most: usize) -> Result<Vec<Row>, StoreError> {
        let List { repository, id } = self.list;
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        loop {
            let segment = match self.segment {
                Some(segment) => segment,
                None => match self.find_segment(connection)? {
                    Some(segment) => *self.segment.insert(segment),
                    None => return Ok(Vec::new()),
                },
            };
            let rows = connection.all(
                "SELECT record.position, identifier, set_specs, deleted, dictionary, body
                 FROM member JOIN record ON record.repository = $1 AND record.position = member.position
                 WHERE member.repository = $1 AND member.segment = $2 AND member.list = $3
                     AND member.position > $4 AND member.position <= $5
                 ORDER BY member.position LIMIT $6",
                &[
                    &repository.0,
                    &segment,
                    &id,
                    &self.after.to_sql(),
                    &self.through.to_sql(),
                    &limit,
                ],
            )?;
            match rows.last() {
                Some(last) => {
                    self.after = Position::from_sql(last.try_get(0)?);
                    return Ok(rows);
                }
                None => self.segment = None,
            }
        }
    }

    /// Goes on to the next segment with members of the list: a rare set skips the others.
    fn find_segment(&mut self, connection: &mut Connection) -> Result<Option<i64>, StoreError> {
        if self.segments.is_empty() {
            let rows = connection.all(
                "SELECT segment FROM tally WHERE repository = $1 AND list = $2 AND live > 0 AND segment >= coalesce(
                     (SELECT id FROM segment WHERE first <= $3 ORDER BY first DESC LIMIT 1), 0)
                 AND segment <= coalesce((SELECT id FROM segment WHERE first <= $4 ORDER BY first DESC LIMIT 1), 0)
                 AND segment > $5 ORDER BY segment LIMIT $6",
                &[
                    &self.list.repository.0,
                    &self.list.id,
                    &self.after.to_sql(),
                    &self.through.to_sql(),
                    &self.passed,
                    &SEGMENTS,
                ],
            )?;
            for row in rows.iter().rev() {
                self.segments.push(row.try_get(0)?);
            }
        }
        let next = self.segments.pop();
        self.passed = next.unwrap_or(self.passed);
        Ok(next)
    }
}

fn segment_of(connection: &mut Connection, position: Position) -> Result<i64, StoreError> {
    let row = connection.maybe(
        "SELECT id FROM segment WHERE first <= $1 ORDER BY first DESC LIMIT 1",
        &[&position.to_sql()],
    )?;
    Ok(row.map_or(Ok(0), |row| row.try_get(0))?)
}

/// Counts the part of a span that lies in one segment.
fn edge(connection: &mut Connection, list: List, segment: i64, span: Span) -> Result<i64, StoreError> {
    let row = connection.one(
        "SELECT count(*) FROM member JOIN record ON record.repository = $1 AND record.position = member.position
         WHERE member.repository = $1 AND segment = $2 AND list = $3 AND member.position > $4
             AND member.position <= $5",
        &[
            &list.repository.0,
            &segment,
            &list.id,
            &span.after.to_sql(),
            &span.through.to_sql(),
        ],
    )?;
    Ok(row.try_get(0)?)
}

/// Sums up whole segments.
fn whole(connection: &mut Connection, list: List, from: i64, to: i64) -> Result<i64, StoreError> {
    let row = connection.one(
        "SELECT coalesce(sum(live), 0)::int8 FROM tally
         WHERE repository = $1 AND list = $2 AND segment BETWEEN $3 AND $4",
        &[&list.repository.0, &list.id, &from, &to],
    )?;
    Ok(row.try_get(0)?)
}

/// A row of position, identifier, set_specs, deleted, dictionary, body.
fn stored_record<'a>(
    row: &'a Row,
    dictionary: Option<&'a Dictionary>,
    decompressor: &'a mut Decompressor,
) -> Result<StoredRecord<'a>, StoreError> {
    Ok(StoredRecord {
        position: Position::from_sql(row.try_get(0)?),
        identifier: row.try_get(1)?,
        set_specs: row.try_get(2)?,
        deleted: row.try_get(3)?,
        body: row.try_get(5)?,
        dictionary,
        decompressor,
    })
}

fn format_of(row: &Row) -> Result<MetadataFormat, StoreError> {
    let prefix: &str = row.try_get(0)?;
    Ok(MetadataFormat {
        prefix: MetadataPrefix::parse(prefix).map_err(|_| StoreError::Damaged(format!("format {prefix:?}")))?,
        schema: row.try_get(1)?,
        namespace: row.try_get(2)?,
    })
}

fn set_of(row: &Row) -> Result<Set, StoreError> {
    set_from(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)
}
