//! One consistent view of the store: what an answer is made from.
//!
//! A snapshot has a response date such that nothing it cannot see is stamped earlier. A page is a walk over list members
//! and their records from a position on: its cost depends on its length, not on where it lies.

use std::sync::Arc;

use rusqlite::OptionalExtension;
use stook_oai::{Datestamp, MetadataFormat, MetadataPrefix, Set, SetSpec};

use super::{Reader, Sqlite, last_position};
use crate::backend::{PageVisitor, RecordVisitor};
use crate::body::{Decompressor, Dictionary};
use crate::segment::{Part, parts_of_span};
use crate::set::set_from;
use crate::{Known, List, Page, Position, RepositoryFacts, RepositoryId, Span, StoreError, StoredRecord};

/// A read transaction.
pub(crate) struct Snapshot {
    sqlite: Arc<Sqlite>,
    /// Always there until the snapshot is dropped.
    reader: Option<Reader>,
    response_date: Datestamp,
    last: Position,
}

impl Snapshot {
    pub(crate) fn new(sqlite: Arc<Sqlite>) -> Result<Snapshot, StoreError> {
        // The date before the data: see clock.rs.
        let date = sqlite
            .clock
            .response_date()
            .map_err(StoreError::io("reading the clock file"))?;
        let reader = sqlite.reader()?;
        reader.connection.execute_batch("BEGIN")?;
        let last = last_position(&reader.connection)?;
        // After a clock step back the newest datestamp may be later than the system's time. Writes to come are
        // stamped at or after it too, so it is a safe date to give.
        let response_date = date.max(last.datestamp());
        Ok(Snapshot {
            sqlite,
            reader: Some(reader),
            response_date,
            last,
        })
    }

    fn reader(&self) -> Result<&Reader, StoreError> {
        self.reader.as_ref().ok_or(StoreError::Busy)
    }

    pub(crate) fn response_date(&self) -> Datestamp {
        self.response_date
    }

    pub(crate) fn last(&self) -> Position {
        self.last
    }

    pub(crate) fn facts(&self, repository: RepositoryId) -> Result<RepositoryFacts, StoreError> {
        let connection = &self.reader()?.connection;
        let (created, earliest): (i64, Option<i64>) = connection
            .prepare_cached("SELECT created, earliest FROM repository WHERE id = ?1")?
            .query_row([repository.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let earliest = Datestamp::from_unix(earliest.unwrap_or(created)).unwrap_or_default();
        Ok(RepositoryFacts {
            earliest_datestamp: earliest,
        })
    }

    pub(crate) fn formats(&self, repository: RepositoryId) -> Result<Vec<MetadataFormat>, StoreError> {
        let mut select = self.reader()?.connection.prepare_cached(
            // oai_dc first: every repository has it and every harvester looks for it.
            "SELECT prefix, schema, namespace FROM format WHERE repository = ?1 ORDER BY prefix <> 'oai_dc', prefix",
        )?;
        let mut rows = select.query([repository.0])?;
        let mut formats = Vec::new();
        while let Some(row) = rows.next()? {
            formats.push(format_of(row)?);
        }
        Ok(formats)
    }

    pub(crate) fn formats_of(
        &self,
        repository: RepositoryId,
        identifier: &str,
    ) -> Result<Option<Vec<MetadataFormat>>, StoreError> {
        let mut select = self.reader()?.connection.prepare_cached(
            "SELECT prefix, schema, namespace, record.deleted FROM format
             JOIN ident ON ident.format = format.id AND ident.identifier = ?2
             JOIN record ON record.position = ident.position
             WHERE format.repository = ?1 ORDER BY prefix <> 'oai_dc', prefix",
        )?;
        let mut rows = select.query((repository.0, identifier))?;
        let mut formats = None;
        while let Some(row) = rows.next()? {
            let formats = formats.get_or_insert_with(Vec::new);
            if !row.get::<_, bool>(3)? {
                formats.push(format_of(row)?);
            }
        }
        Ok(formats)
    }

    pub(crate) fn list(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        set: Option<&SetSpec>,
    ) -> Result<Option<List>, StoreError> {
        let connection = &self.reader()?.connection;
        let found = connection
            .prepare_cached(
                "SELECT list.id, list.format FROM list JOIN format ON format.id = list.format
                 WHERE format.repository = ?1 AND format.prefix = ?2 AND list.set_spec = ?3",
            )?
            .query_row(
                (repository.0, prefix.as_str(), set.map_or("", SetSpec::as_str)),
                |row| row.get(0),
            )
            .optional()?;
        Ok(found.map(|id| List { repository, id }))
    }

    /// How many records of a format are deleted.
    pub(crate) fn deleted(&self, repository: RepositoryId, prefix: &MetadataPrefix) -> Result<u64, StoreError> {
        let connection = &self.reader()?.connection;
        let deleted = connection
            .prepare_cached("SELECT deleted FROM format WHERE repository = ?1 AND prefix = ?2")?
            .query_row((repository.0, prefix.as_str()), |row| row.get::<_, i64>(0))
            .optional()?;
        Ok(deleted.map_or(0, |count| u64::try_from(count).unwrap_or(0)))
    }

    /// Visits up to `limit` records of the span, in order, until the visitor has enough.
    pub(crate) fn page(
        &mut self,
        list: List,
        span: Span,
        limit: usize,
        visit: &mut PageVisitor<'_>,
    ) -> Result<Page, StoreError> {
        let sqlite = self.sqlite.clone();
        let Some(Reader {
            connection,
            decompressor,
        }) = self.reader.as_mut()
        else {
            return Err(StoreError::Busy);
        };
        let mut segments = connection.prepare_cached(
            // Only segments that hold members of this list: a rare set skips the others.
            "SELECT segment FROM tally WHERE list = ?1 AND live > 0 AND segment >= coalesce(
                 (SELECT id FROM segment WHERE first <= ?2 ORDER BY first DESC LIMIT 1), 0)
             AND segment <= coalesce((SELECT id FROM segment WHERE first <= ?3 ORDER BY first DESC LIMIT 1), 0)
             ORDER BY segment",
        )?;
        let mut members = connection.prepare_cached(
            "SELECT record.position, identifier, set_specs, deleted, dictionary, body
             FROM member JOIN record ON record.position = member.position
             WHERE member.segment = ?1 AND member.list = ?2 AND member.position > ?3 AND member.position <= ?4
             ORDER BY member.position",
        )?;
        let mut page = Page::default();
        let mut enough = limit == 0;
        let mut dictionary: Option<Arc<Dictionary>> = None;
        let mut segments = segments.query((list.id, span.after.to_sql(), span.through.to_sql()))?;
        while let Some(segment) = segments.next()? {
            let segment: i64 = segment.get(0)?;
            let mut rows = members.query((segment, list.id, span.after.to_sql(), span.through.to_sql()))?;
            while let Some(row) = rows.next()? {
                if enough {
                    page.more = true;
                    return Ok(page);
                }
                let wanted: Option<i64> = row.get(4)?;
                if dictionary.as_ref().map(|dictionary| dictionary.id) != wanted {
                    dictionary = wanted.map(|id| sqlite.dictionary_over(id, connection)).transpose()?;
                }
                let mut record = stored_record(row, dictionary.as_deref(), decompressor)?;
                let flow = visit(&mut record)?;
                page.records += 1;
                page.last = record.position;
                enough = page.records >= limit || flow.is_break();
            }
        }
        Ok(page)
    }

    /// Visits one record; `false` if the repository has no such record.
    pub(crate) fn record(
        &mut self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        identifier: &str,
        visit: &mut RecordVisitor<'_>,
    ) -> Result<bool, StoreError> {
        let sqlite = self.sqlite.clone();
        let Some(Reader {
            connection,
            decompressor,
        }) = self.reader.as_mut()
        else {
            return Err(StoreError::Busy);
        };
        let mut select = connection.prepare_cached(
            "SELECT record.position, record.identifier, set_specs, record.deleted, record.dictionary, body FROM format
             JOIN ident ON ident.format = format.id AND ident.identifier = ?3
             JOIN record ON record.position = ident.position
             WHERE format.repository = ?1 AND format.prefix = ?2",
        )?;
        let mut rows = select.query((repository.0, prefix.as_str(), identifier))?;
        let Some(row) = rows.next()? else {
            return Ok(false);
        };
        let dictionary = row
            .get::<_, Option<i64>>(4)?
            .map(|id| sqlite.dictionary_over(id, connection))
            .transpose()?;
        visit(&mut stored_record(row, dictionary.as_deref(), decompressor)?)?;
        Ok(true)
    }

    /// What is known of a record without reading it.
    pub(crate) fn known(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        identifier: &str,
    ) -> Result<Option<Known>, StoreError> {
        let connection = &self.reader()?.connection;
        let found = connection
            .prepare_cached(
                "SELECT record.deleted, ident.origin, ident.derived FROM format
                 JOIN ident ON ident.format = format.id AND ident.identifier = ?3
                 JOIN record ON record.position = ident.position
                 WHERE format.repository = ?1 AND format.prefix = ?2",
            )?
            .query_row((repository.0, prefix.as_str(), identifier), |row| {
                Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?, row.get(2)?))
            })
            .optional()?;
        Ok(found.map(|(deleted, origin, derived)| Known {
            deleted,
            origin: origin.and_then(Datestamp::from_unix),
            derived,
        }))
    }

    /// How many records the span holds, without visiting them: whole segments by their tallies, the two at its ends
    /// by counting.
    pub(crate) fn count(&self, list: List, span: Span) -> Result<u64, StoreError> {
        let connection = &self.reader()?.connection;
        let segment_of = |position: Position| -> Result<i64, StoreError> {
            let found = connection
                .prepare_cached("SELECT id FROM segment WHERE first <= ?1 ORDER BY first DESC LIMIT 1")?
                .query_row([position.to_sql()], |row| row.get(0))
                .optional()?;
            Ok(found.unwrap_or(0))
        };
        let (first, last) = (segment_of(span.after)?, segment_of(span.through)?);
        let edge = |segment: i64| -> Result<i64, StoreError> {
            let (after, through) = (span.after.to_sql(), span.through.to_sql());
            Ok(connection
                .prepare_cached(
                    "SELECT count(*) FROM member JOIN record ON record.position = member.position
                     WHERE segment = ?1 AND list = ?2 AND member.position > ?3 AND member.position <= ?4",
                )?
                .query_row((segment, list.id, after, through), |row| row.get(0))?)
        };
        let whole = |from: i64, to: i64| -> Result<i64, StoreError> {
            Ok(connection
                .prepare_cached(
                    "SELECT coalesce(sum(live), 0) FROM tally WHERE list = ?1 AND segment BETWEEN ?2 AND ?3",
                )?
                .query_row((list.id, from, to), |row| row.get(0))?)
        };
        let mut count = 0;
        for part in parts_of_span(first, last, span.through >= self.last) {
            count += match part {
                Part::Whole(from, to) => whole(from, to)?,
                Part::Edge(segment) => edge(segment)?,
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
        let mut select = self.reader()?.connection.prepare_cached(
            "SELECT spec, name, descriptions FROM set_ WHERE repository = ?1 AND spec > ?2 ORDER BY spec LIMIT ?3",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut rows = select.query((repository.0, after.map_or("", SetSpec::as_str), limit))?;
        let mut sets = Vec::new();
        while let Some(row) = rows.next()? {
            sets.push(set_of(row)?);
        }
        Ok(sets)
    }

    pub(crate) fn set(&self, repository: RepositoryId, spec: &SetSpec) -> Result<Option<Set>, StoreError> {
        let mut select = self
            .reader()?
            .connection
            .prepare_cached("SELECT spec, name, descriptions FROM set_ WHERE repository = ?1 AND spec = ?2")?;
        let mut rows = select.query((repository.0, spec.as_str()))?;
        rows.next()?.map(set_of).transpose()
    }

    pub(crate) fn set_count(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        let connection = &self.reader()?.connection;
        let count: i64 = connection
            .prepare_cached("SELECT count(*) FROM set_ WHERE repository = ?1")?
            .query_row([repository.0], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take()
            && reader.connection.execute_batch("ROLLBACK").is_ok()
        {
            self.sqlite.return_reader(reader);
        }
    }
}

/// A row of position, identifier, set_specs, deleted, dictionary, body.
fn stored_record<'a>(
    row: &'a rusqlite::Row<'_>,
    dictionary: Option<&'a Dictionary>,
    decompressor: &'a mut Decompressor,
) -> Result<StoredRecord<'a>, StoreError> {
    Ok(StoredRecord {
        position: Position::from_sql(row.get(0)?),
        identifier: text(row, 1)?,
        set_specs: text(row, 2)?,
        deleted: row.get(3)?,
        body: row.get_ref(5)?.as_blob_or_null().map_err(rusqlite::Error::from)?,
        dictionary,
        decompressor,
    })
}

fn format_of(row: &rusqlite::Row<'_>) -> Result<MetadataFormat, StoreError> {
    let prefix: String = row.get(0)?;
    Ok(MetadataFormat {
        prefix: MetadataPrefix::parse(&prefix).map_err(|_| StoreError::Damaged(format!("format {prefix:?}")))?,
        schema: row.get(1)?,
        namespace: row.get(2)?,
    })
}

fn text<'a>(row: &'a rusqlite::Row<'_>, column: usize) -> Result<&'a str, StoreError> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
}

fn set_of(row: &rusqlite::Row<'_>) -> Result<Set, StoreError> {
    let descriptions: Option<String> = row.get(2)?;
    set_from(text(row, 0)?, row.get(1)?, descriptions.as_deref())
}
