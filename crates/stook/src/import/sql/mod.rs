//! Records from a database: PostgreSQL, MariaDB, MySQL or SQLite, by queries of the person who publishes.
//!
//! A [`Definition`] enters, a small file of TOML; pieces of records leave, as from a table:
//!
//! 1. `address`, `database` connect: one view at one moment, read-only (`postgres`, `mysql`, `sqlite`);
//! 2. `columns` finds out what the columns of each query mean;
//! 3. `dialect` writes what is asked: everything, or what changed since the mark of the last time (`marks`);
//! 4. `spool` gathers the rows of each record on disk, after which the database is left;
//! 5. `record` drafts what was gathered, as the rows of a table are.
//!
//! Nothing is ever written to the database. What goes wrong before the last row was read refuses the import, and nothing
//! of the database is published then.

mod address;
mod columns;
mod database;
mod definition;
mod dialect;
mod marks;
mod mysql;
mod postgres;
mod record;
mod spool;
mod sqlite;
mod text;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use stook_oai::Datestamp;
use stook_store::{RepositoryId, Store, StoreError};

use super::draft::Rejected;
use super::options::Options;
use super::source::{Halt, Raw, Refusal, Sink, Source, send};
use crate::count::{counted, verb};
use address::At;
use columns::Resolved;
use database::{Database, Ended, Fault, Kind, Why};
use dialect::{Asked, Mark, Wanted};
use marks::Marks;
use spool::Spool;
use text::begins_with_date;

pub use definition::Definition;
pub use record::Records;
pub(super) use record::draft;

/// How much is handed on at once.
const STRETCH: usize = 256 << 10;
/// A day beyond today somewhere on earth is still no mistake.
const DAYS_AHEAD: i64 = 2;

/// How much of a database is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What changed since the last time, if the definition can tell.
    Changed,
    /// Everything.
    All,
    /// A few records, to look at.
    First(u64),
}

/// One reading of a database by a definition.
#[derive(Debug)]
pub struct Reading {
    definition: Definition,
    digest: String,
    wanted: Wanted,
    ignore_unknown: bool,
    /// Rows that were read so far.
    rows: AtomicU64,
    found: Mutex<Found>,
}

/// What a reading found out beside records.
#[derive(Clone, Debug, Default)]
struct Found {
    /// When it began, in seconds since 1970.
    began: i64,
    highest: Option<Mark>,
    /// Rows of values whose record is not there, by their query.
    orphans: Vec<(String, u64)>,
}

impl Reading {
    /// Decides what is to be read, by what the store remembers.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn plan(
        definition: Definition,
        extent: Extent,
        options: &Options,
        ignore_unknown: bool,
        store: &Store,
        repository: RepositoryId,
    ) -> Result<(Reading, Plan), StoreError> {
        let also = format!("{} {:?} {ignore_unknown}", options.namespace, options.prefix);
        let digest = definition.digest(&also);
        let (wanted, plan) = match (extent, &definition.changed) {
            (Extent::First(number), _) => (Wanted::First(number), Plan::Everything),
            (Extent::All, _) | (_, None) => (Wanted::All, Plan::Everything),
            (Extent::Changed, Some(column)) => match Marks::load(store, repository, &definition.name)? {
                Some(marks) if marks.definition != digest => (Wanted::All, Plan::Anew),
                Some(marks) => match marks.start(definition.overlap) {
                    Some(mark) => {
                        let since = Plan::Since(format!("{column} {}", mark.value));
                        (Wanted::Since(mark.clone()), since)
                    }
                    None => (Wanted::All, Plan::Everything),
                },
                None => (Wanted::All, Plan::Everything),
            },
        };
        let reading = Reading {
            definition,
            digest,
            wanted,
            ignore_unknown,
            rows: AtomicU64::new(0),
            found: Mutex::default(),
        };
        Ok((reading, plan))
    }

    /// The definition as it was named.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.definition.path
    }

    /// Whether only some of the records are read, so that what is not among them is none the worse for it.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.wanted != Wanted::All
    }

    /// Rows that were read so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }

    /// Remembers how far this reading came; to be called when everything it read is published. What somebody should know
    /// is told.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn remember(&self, store: &Store, repository: RepositoryId) -> Result<Vec<String>, StoreError> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut told = Vec::new();
        for (key, rows) in &found.orphans {
            told.push(format!(
                "{} of the {key} {} to no record, and {} left out",
                counted(*rows, "row"),
                verb(*rows, "belongs", "belong"),
                verb(*rows, "was", "were")
            ));
        }
        let Some(column) = &self.definition.changed else {
            return Ok(told);
        };
        let name = &self.definition.name;
        let known = Marks::load(store, repository, name)?.filter(|marks| marks.definition == self.digest);
        let mut marks = known.unwrap_or_default();
        marks.definition.clone_from(&self.digest);
        match found.highest {
            Some(mark) if is_in_the_future(&mark.value, found.began) => {
                told.push(format!(
                    "the highest value of {column} is {}, which is in the future; what changes before would be missed, \
                     so everything will be read again next time\nTry: mend that row",
                    mark.value
                ));
                marks.forget();
            }
            Some(mark) => marks.pass(mark, found.began, self.definition.overlap),
            None => {}
        }
        marks.save(store, repository, name)?;
        Ok(told)
    }
}

/// What is going to be read, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Everything.
    Everything,
    /// Everything, because the definition is not the one of the last time.
    Anew,
    /// What changed since this.
    Since(String),
}

/// Reads the database and hands its records on. `bytes` counts the text that came.
///
/// # Errors
/// When the sink wants no more, or the import has to be refused.
pub(super) fn read(
    reading: &Reading,
    options: &Options,
    bytes: &Arc<AtomicU64>,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let source = Source {
        name: reading.path().into(),
        file_name: None,
        named: true,
    };
    let mut found = Found {
        began: now(),
        ..Found::default()
    };
    let (queries, spool) = gather(reading, options, bytes, &source, &mut found, sink)?;
    hand_on(reading, &source, queries, spool, &mut found, sink)?;
    *reading.found.lock().unwrap_or_else(PoisonError::into_inner) = found;
    // What was quarantined before and is not read now is still as it was.
    match reading.wanted {
        Wanted::All => send(sink, Raw::Finished(source.name.clone())),
        _ => Ok(()),
    }
}

/// Everything that needs the database.
fn gather(
    reading: &Reading,
    options: &Options,
    bytes: &AtomicU64,
    source: &Source,
    found: &mut Found,
    sink: &mut Sink<'_>,
) -> Result<(Vec<Resolved>, Spool), Halt> {
    let definition = &reading.definition;
    let mut database = Database::open(&definition.address).map_err(|fault| reading.cannot_open(&fault))?;
    let queries = resolve_all(reading, &mut database)?;
    let dialect = database.dialect();
    let records = Asked {
        sql: &definition.records.sql,
        columns: &queries[0],
    };
    found.highest = highest(reading, &mut database, records)?;
    let mut spool = Spool::new(options.max_record_bytes).map_err(|error| reading.cannot_spool(&error))?;
    for (at, (query, columns)) in definition.queries().zip(&queries).enumerate() {
        let asked = Asked {
            sql: &query.sql,
            columns,
        };
        let sql = match at {
            0 => dialect.records(asked, &reading.wanted),
            _ => dialect.values(asked, records, &reading.wanted),
        };
        let outcome = database.each_row(&sql, &mut |row| {
            reading.rows.fetch_add(1, Relaxed);
            bytes.fetch_add(row.iter().flatten().map(|value| value.len() as u64).sum(), Relaxed);
            let (id, rest) = row.split_first().unwrap_or((&None, &[]));
            let (position, cells) = match rest.split_first() {
                Some((position, cells)) if columns.order.is_some() => (*position, cells),
                _ => (None, rest),
            };
            match id_of(*id) {
                Ok(id) => spool
                    .push(at, id, position, cells)
                    .map_err(|error| reading.cannot_spool(&error)),
                Err(reason) => {
                    let place = source.place(spool.next_row());
                    spool.pass();
                    let excerpt = row.iter().flatten().copied().collect::<Vec<_>>().join(&b" | "[..]);
                    let reason = format!("{}: {reason}", query.key);
                    send(sink, Raw::Rejected(Rejected::new(place, None, reason, &excerpt)))
                }
            }
        });
        outcome.map_err(|ended| match ended {
            Ended::Halt(halt) => halt,
            Ended::Fault(fault) => reading.broke_off(&query.key, &fault),
        })?;
    }
    Ok((queries, spool))
}

/// What the columns of every query mean.
fn resolve_all(reading: &Reading, database: &mut Database) -> Result<Vec<Resolved>, Halt> {
    let definition = &reading.definition;
    let mut queries = Vec::new();
    for query in definition.queries() {
        let described = database
            .describe(&query.sql)
            .map_err(|fault| reading.refused(&query.key, &fault))?;
        let resolved = columns::resolve(definition, query, &described, reading.ignore_unknown);
        queries.push(resolved.map_err(|reason| reading.refusal(&reason))?);
    }
    columns::check_together(&queries).map_err(|reason| reading.refusal(&reason))?;
    Ok(queries)
}

/// The highest value of the column that tells what changed, if there is one.
fn highest(reading: &Reading, database: &mut Database, records: Asked<'_>) -> Result<Option<Mark>, Halt> {
    let Some(changed) = &records.columns.changed else {
        return Ok(None);
    };
    let kind = records.columns.changed_kind;
    if matches!(kind, Kind::Inexact | Kind::Array | Kind::Bits | Kind::Bytes) {
        return Err(reading.refusal(&format!(
            "changed: {changed} cannot tell what is newer\nTry: a column with a date, a time stamp or a whole number"
        )));
    }
    if matches!(reading.wanted, Wanted::First(_)) {
        return Ok(None);
    }
    let sql = database.dialect().highest(records, changed, &reading.wanted);
    database
        .highest(&sql, kind)
        .map_err(|fault| reading.refused("changed", &fault))
}

/// The id of a row.
fn id_of(value: Option<&[u8]>) -> Result<&str, &'static str> {
    let value = value.ok_or("the row has no id: it is NULL")?;
    let text = std::str::from_utf8(value).map_err(|_| "the id is not text. Try: hex(id) in the query")?;
    match text.trim() {
        "" => Err("the row has no id: it is empty"),
        id => Ok(id),
    }
}

/// Hands on what was gathered, record by record.
fn hand_on(
    reading: &Reading,
    source: &Source,
    queries: Vec<Resolved>,
    spool: Spool,
    found: &mut Found,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let queries = Arc::new(queries);
    let mut stretch = Records::new(&source.name, &queries);
    let mut orphans = vec![0_u64; queries.len()];
    let outcome = spool.each_record(|record| {
        if !record.is_record {
            let query = record.values.first().map_or(1, |(query, ..)| *query);
            orphans[query.min(queries.len() - 1)] += record.rows;
            return Ok(());
        }
        stretch.push(record);
        if stretch.weight() < STRETCH {
            return Ok(());
        }
        let full = std::mem::replace(&mut stretch, Records::new(&source.name, &queries));
        send(sink, Raw::Records(full)).map_err(Stop::Halt)
    });
    match outcome {
        Ok(()) if stretch.is_empty() => {}
        Ok(()) => send(sink, Raw::Records(stretch))?,
        Err(Stop::Halt(halt)) => return Err(halt),
        Err(Stop::Spool(error)) => return Err(reading.cannot_spool(&error)),
    }
    // Of a part of the records, values of others may come along.
    if !reading.is_partial() {
        let keys = reading.definition.queries().map(|query| query.key.clone());
        found.orphans = keys.zip(orphans).filter(|(_, rows)| *rows > 0).collect();
    }
    Ok(())
}

enum Stop {
    Halt(Halt),
    Spool(rusqlite::Error),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Stop::Spool(error)
    }
}

/// What is told when something goes wrong.
impl Reading {
    fn refusal(&self, reason: &str) -> Halt {
        Refusal::Database {
            path: self.definition.path.clone(),
            reason: reason.to_owned(),
        }
        .into()
    }

    fn cannot_open(&self, fault: &Fault) -> Halt {
        let remedy = match (&self.definition.address.at, fault.why) {
            (At::Sqlite(_), Why::Away) => "check the path in `database`; it begins at the folder of this definition",
            (At::Sqlite(_), _) => "check that it is a file of SQLite, and that you may read it",
            (_, Why::Away) => {
                "check host and port in `database`, and that the server runs and can be reached from here"
            }
            (At::Postgres(_), _) => {
                "check user and database in `database`; the password may stand in PGPASSWORD or ~/.pgpass, or in a file \
                 that password_file names"
            }
            (At::Mysql(_), _) => {
                "check user and database in `database`; the password may stand in MYSQL_PWD, or in a file that \
                 password_file names"
            }
        };
        self.refusal(&format!(
            "cannot open {}: {}\nTry: {remedy}",
            self.definition.address, fault.said
        ))
    }

    fn refused(&self, key: &str, fault: &Fault) -> Halt {
        match fault.why {
            Why::Away => self.broke_off(key, fault),
            Why::Denied | Why::Refused => self.refusal(&format!(
                "{key}: the database says: {}\nTry: run the query by hand first, with {}",
                fault.said,
                match self.definition.address.at {
                    At::Postgres(_) => "psql",
                    At::Mysql(_) => "mariadb or mysql",
                    At::Sqlite(_) => "sqlite3",
                }
            )),
        }
    }

    fn broke_off(&self, key: &str, fault: &Fault) -> Halt {
        if fault.why != Why::Away {
            return self.refused(key, fault);
        }
        self.refusal(&format!(
            "{key}: the connection to the database broke after {}: {}\n\
             Try: the same command again; nothing of this database was published",
            counted(self.rows(), "row"),
            fault.said
        ))
    }

    fn cannot_spool(&self, error: &rusqlite::Error) -> Halt {
        self.refusal(&format!(
            "the rows cannot be kept in a temporary file: {error}\n\
             Try: free some space there, or set SQLITE_TMPDIR to a folder with more of it"
        ))
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

fn is_in_the_future(value: &str, now: i64) -> bool {
    const DAY: i64 = 24 * 60 * 60;
    let Some(latest) = Datestamp::from_unix(now.saturating_add(DAYS_AHEAD * DAY)) else {
        return false;
    };
    // Dates of this form are in the order of their letters.
    begins_with_date(value) && value > latest.format(stook_oai::Granularity::Day).as_str()
}
