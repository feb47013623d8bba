//! Rows as they come, gathered to records.
//!
//! Rows of all queries go into a temporary database on disk, and come out by record. So memory does not grow, rows of one
//! record need not stand together, no collation of the source decides what belongs together, and the source is done with
//! as fast as it can be read: it does not wait for the store.

use std::collections::HashSet;

use rusqlite::{Connection, Error};

/// A value that is not there, in the place of its length.
const NULL: u32 = u32::MAX;

pub(super) struct Spool {
    database: Connection,
    /// A record with more text than this is only mentioned.
    limit: usize,
    rows: u64,
}

/// Everything the queries said of one id.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gathered {
    pub(super) id: String,
    /// The first row of it, counted from 1 over all queries.
    pub(super) row: u64,
    /// Whether the query of the records has it.
    pub(super) is_record: bool,
    pub(super) rows: u64,
    /// Distinct values in order, each with its query and its column.
    pub(super) values: Vec<(usize, usize, Vec<u8>)>,
    /// It is larger than the limit, so that the values are not all of them.
    pub(super) is_too_large: bool,
}

impl Spool {
    pub(super) fn new(limit: usize) -> Result<Spool, Error> {
        let database = Connection::open("")?;
        database.execute_batch(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384;
             CREATE TABLE row (number INTEGER PRIMARY KEY, id TEXT NOT NULL, query INTEGER NOT NULL, position BLOB,
                 cells BLOB) STRICT;
             BEGIN;",
        )?;
        Ok(Spool {
            database,
            limit,
            rows: 0,
        })
    }

    /// The number of the row that comes next.
    pub(super) fn next_row(&self) -> u64 {
        self.rows + 1
    }

    /// Counts a row that is not kept.
    pub(super) fn pass(&mut self) {
        self.rows += 1;
    }

    /// Keeps a row of a query: which record it is of, where it stands among that record's, and its cells.
    pub(super) fn push(
        &mut self,
        query: usize,
        id: &str,
        position: Option<&[u8]>,
        cells: &[Option<&[u8]>],
    ) -> Result<(), Error> {
        self.rows += 1;
        let size: usize = cells.iter().flatten().map(|cell| cell.len()).sum();
        let packed = (size <= self.limit).then(|| pack(cells, size));
        let number = i64::try_from(self.rows).unwrap_or(i64::MAX);
        let query = i64::try_from(query).unwrap_or(i64::MAX);
        self.database
            .prepare_cached("INSERT INTO row VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute((number, id, query, position, packed))?;
        Ok(())
    }

    /// Hands over record after record, in the order of their ids, until `hear` wants no more.
    pub(super) fn each_record<E: From<Error>>(self, mut hear: impl FnMut(Gathered) -> Result<(), E>) -> Result<(), E> {
        self.database.execute_batch("CREATE INDEX by_id ON row (id, query)")?;
        let mut statement = self
            .database
            .prepare("SELECT number, id, query, position, cells FROM row ORDER BY id, query, number")?;
        let mut rows = statement.query([])?;
        let mut group: Option<Group> = None;
        while let Some(row) = rows.next()? {
            let id = row.get_ref(1)?.as_str().map_err(Error::from)?;
            if group.as_ref().is_none_or(|group| group.id != id)
                && let Some(full) = group.replace(Group::new(id, self.limit))
            {
                hear(full.gather())?;
            }
            if let Some(group) = &mut group {
                group.push(row)?;
            }
        }
        match group {
            Some(last) => hear(last.gather()),
            None => Ok(()),
        }
    }
}

/// One row of a record.
struct Row {
    query: usize,
    position: Option<Vec<u8>>,
    cells: Vec<Option<Vec<u8>>>,
}

/// The rows of one record.
struct Group {
    id: String,
    first: u64,
    count: u64,
    is_record: bool,
    rows: Vec<Row>,
    /// How much more is held.
    room: usize,
    is_too_large: bool,
}

impl Group {
    fn new(id: &str, limit: usize) -> Group {
        Group {
            id: id.to_owned(),
            first: 0,
            count: 0,
            is_record: false,
            rows: Vec::new(),
            room: limit,
            is_too_large: false,
        }
    }

    fn push(&mut self, row: &rusqlite::Row<'_>) -> Result<(), Error> {
        let (number, query): (i64, i64) = (row.get(0)?, row.get(2)?);
        if self.count == 0 {
            self.first = u64::try_from(number).unwrap_or_default();
        }
        self.count += 1;
        self.is_record |= query == 0;
        let Some(packed) = row.get_ref(4)?.as_blob_or_null().map_err(Error::from)? else {
            self.is_too_large = true;
            return Ok(());
        };
        // A row costs something even if it is empty.
        let cost = packed.len() + size_of::<Row>();
        if self.is_too_large || (self.count > 1 && cost > self.room) {
            self.is_too_large = true;
            return Ok(());
        }
        self.room = self.room.saturating_sub(cost);
        self.rows.push(Row {
            query: usize::try_from(query).unwrap_or_default(),
            position: row.get(3)?,
            cells: unpack(packed),
        });
        Ok(())
    }

    fn gather(mut self) -> Gathered {
        settle(&mut self.rows);
        let mut values = Vec::new();
        let mut seen: HashSet<(usize, usize, Vec<u8>)> = HashSet::new();
        let is_single = self.rows.len() == 1;
        for row in self.rows {
            for (column, cell) in row.cells.into_iter().enumerate() {
                let Some(cell) = cell else { continue };
                if is_single || seen.insert((row.query, column, cell.clone())) {
                    values.push((row.query, column, cell));
                }
            }
        }
        // Elements stand together, whatever rows they come from.
        values.sort_by_key(|(query, column, _)| (*query, *column));
        Gathered {
            id: self.id,
            row: self.first,
            is_record: self.is_record,
            rows: self.count,
            values,
            is_too_large: self.is_too_large,
        }
    }
}

/// Puts rows of equal position, or without any, into an order that is the same every time: a database that is not told
/// an order gives them as it likes, and a record must not change by that.
fn settle(rows: &mut [Row]) {
    let mut start = 0;
    while start < rows.len() {
        let (query, position) = (rows[start].query, rows[start].position.clone());
        let same = rows[start..]
            .iter()
            .take_while(|row| row.query == query && row.position == position)
            .count();
        rows[start..start + same].sort_by(|one, other| one.cells.cmp(&other.cells));
        start += same;
    }
}

/// Cells one behind the other, each with its length before it.
fn pack(cells: &[Option<&[u8]>], size: usize) -> Vec<u8> {
    let mut packed = Vec::with_capacity(size + cells.len() * size_of::<u32>());
    for cell in cells {
        // What is kept is smaller than the limit, which is smaller than this can say.
        let length = cell.map_or(NULL, |cell| u32::try_from(cell.len()).unwrap_or(NULL));
        packed.extend_from_slice(&length.to_le_bytes());
        packed.extend_from_slice(cell.unwrap_or_default());
    }
    packed
}

fn unpack(mut packed: &[u8]) -> Vec<Option<Vec<u8>>> {
    let mut cells = Vec::new();
    while let Some((length, rest)) = packed.split_first_chunk() {
        let length = u32::from_le_bytes(*length);
        let size = if length == NULL { 0 } else { length as usize };
        let (cell, rest) = rest.split_at_checked(size).unwrap_or((rest, &[]));
        cells.push((length != NULL).then(|| cell.to_vec()));
        packed = rest;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A query, an id, a position and cells.
    type Given<'a> = (usize, &'a str, Option<&'a str>, &'a [Option<&'a str>]);

    fn gathered(limit: usize, rows: &[Given<'_>]) -> Vec<String> {
        let mut spool = Spool::new(limit).unwrap();
        for (query, id, position, cells) in rows {
            let cells: Vec<_> = cells.iter().map(|cell| cell.map(str::as_bytes)).collect();
            spool.push(*query, id, position.map(str::as_bytes), &cells).unwrap();
        }
        let mut out = Vec::new();
        spool
            .each_record::<Error>(|it| {
                let values = it.values.iter();
                let values: Vec<String> = values
                    .map(|(query, column, value)| format!("{query}.{column}={}", String::from_utf8_lossy(value)))
                    .collect();
                let large = if it.is_too_large { " too large" } else { "" };
                let orphan = if it.is_record { "" } else { " orphan" };
                out.push(format!("{}@{}: {}{large}{orphan}", it.id, it.row, values.join(" ")));
                Ok(())
            })
            .unwrap();
        out
    }

    #[test]
    fn rows_of_one_record_come_together_wherever_they_stood() {
        let rows: &[Given<'_>] = &[
            (0, "b", None, &[Some("B"), None]),
            (0, "a", None, &[Some("A"), Some("x")]),
            (0, "b", None, &[Some("B"), Some("y")]),
            (1, "b", None, &[Some("author")]),
            (1, "c", None, &[Some("nobody")]),
            (0, "É", None, &[Some("")]),
        ];
        assert_eq!(
            gathered(1000, rows),
            [
                "a@2: 0.0=A 0.1=x",
                "b@1: 0.0=B 0.1=y 1.0=author",
                "c@5: 1.0=nobody orphan",
                "É@6: 0.0="
            ]
        );
    }

    #[test]
    fn order_is_as_told_and_otherwise_always_the_same() {
        let told: &[Given<'_>] = &[
            (0, "a", None, &[]),
            (1, "a", Some("1"), &[Some("Zuse")]),
            (1, "a", Some("2"), &[Some("Noether")]),
            (1, "a", Some("2"), &[Some("Abel")]),
            (1, "a", Some("3"), &[Some("Zuse")]),
        ];
        assert_eq!(gathered(1000, told), ["a@1: 1.0=Zuse 1.0=Abel 1.0=Noether"]);
        let one: &[Given<'_>] = &[(0, "a", None, &[Some("z")]), (0, "a", None, &[Some("aa")])];
        let other = [one[1], one[0]];
        assert_eq!(gathered(1000, one), ["a@1: 0.0=aa 0.0=z"]);
        assert_eq!(gathered(1000, &other), ["a@1: 0.0=aa 0.0=z"]);
    }

    #[test]
    fn what_is_too_large_is_mentioned_and_not_held() {
        let long = "x".repeat(300);
        let rows: &[Given<'_>] = &[
            (0, "a", None, &[Some(&long)]),
            (0, "b", None, &[Some("small")]),
            (1, "c", None, &[Some("one")]),
            (1, "c", None, &[Some("two")]),
            (1, "c", None, &[Some("three")]),
        ];
        let out = gathered(150, rows);
        assert_eq!(out[0], "a@1:  too large");
        assert_eq!(out[1], "b@2: 0.0=small");
        assert!(out[2].ends_with("too large orphan"), "{out:?}");
    }
}
