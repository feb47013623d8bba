//! A connection to a database: one view of it at one moment, read-only, whatever kind it is.
//!
//! Values leave as the bytes of their text; nothing here knows types beyond what [`Kind`] tells apart.

use std::fmt;

use super::address::{Address, At};
use super::dialect::{Dialect, Mark};
use super::mysql::MysqlReader;
use super::postgres::PostgresReader;
use super::sqlite::SqliteReader;
use crate::import::source::Halt;

/// As much as has to be known of a column's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// Its values are compared as numbers.
    Number,
    /// A number whose text is not all of it.
    Inexact,
    /// Bits, which have no text of their own.
    Bits,
    /// Several values in one.
    Array,
    /// Not text.
    Bytes,
}

/// A column of a query.
#[derive(Debug)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// What a database says when it does not do what it was asked.
#[derive(Debug)]
pub(super) struct Fault {
    /// In its own words.
    pub(super) said: String,
    pub(super) why: Why,
}

/// What to do about it depends on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Nobody answers, or no longer.
    Away,
    /// It does not let us in.
    Denied,
    /// It does not understand, or has no such thing.
    Refused,
}

/// Why rows were not read to the last.
pub(super) enum Ended {
    Fault(Fault),
    Halt(Halt),
}

impl From<Halt> for Ended {
    fn from(halt: Halt) -> Self {
        Ended::Halt(halt)
    }
}

/// What hears a row: the bytes of each value, none for NULL.
pub(super) type Hear<'h> = dyn FnMut(&[Option<&[u8]>]) -> Result<(), Halt> + 'h;

/// The highest value of a column; `None` if there is no row.
pub(super) type Highest = Result<Option<Mark>, Fault>;

pub(super) enum Database {
    Postgres(Box<PostgresReader>),
    Mysql(Box<MysqlReader>),
    Sqlite(SqliteReader),
}

impl Database {
    /// Connects, and fixes what is seen from now on.
    pub(super) fn open(address: &Address) -> Result<Database, Fault> {
        Ok(match &address.at {
            At::Postgres(at) => Self::Postgres(Box::new(PostgresReader::open(at)?)),
            At::Mysql(at) => Self::Mysql(Box::new(MysqlReader::open(at)?)),
            At::Sqlite(path) => Self::Sqlite(SqliteReader::open(path)?),
        })
    }

    pub(super) fn dialect(&self) -> Dialect {
        match self {
            Self::Postgres(_) => Dialect::Postgres,
            Self::Mysql(_) => Dialect::Mysql,
            Self::Sqlite(_) => Dialect::Sqlite,
        }
    }

    /// The columns of a query, without running it.
    pub(super) fn describe(&mut self, sql: &str) -> Result<Vec<Described>, Fault> {
        match self {
            Self::Postgres(it) => it.describe(sql),
            Self::Mysql(it) => it.describe(sql),
            Self::Sqlite(it) => it.describe(sql),
        }
    }

    /// Runs a query. One row is held at a time.
    pub(super) fn each_row(&mut self, sql: &str, hear: &mut Hear<'_>) -> Result<(), Ended> {
        match self {
            Self::Postgres(it) => it.each_row(sql, hear),
            Self::Mysql(it) => it.each_row(sql, hear),
            Self::Sqlite(it) => it.each_row(sql, hear),
        }
    }

    /// Runs a query for the highest value of a column of this kind.
    pub(super) fn highest(&mut self, sql: &str, kind: Kind) -> Highest {
        if let Self::Sqlite(it) = self {
            return it.highest(sql);
        }
        let mut highest = None;
        let outcome = self.each_row(sql, &mut |row| {
            let value = row.first().copied().flatten();
            highest = value.map(|value| String::from_utf8_lossy(value).into_owned());
            Ok(())
        });
        match outcome {
            Ok(()) => highest.map(|value| mark(&value, kind == Kind::Number)).transpose(),
            Err(Ended::Fault(fault)) => Err(fault),
            Err(Ended::Halt(_)) => Ok(None),
        }
    }
}

/// A mark, or the complaint that it cannot be one.
pub(super) fn mark(value: &str, is_number: bool) -> Result<Mark, Fault> {
    Mark::new(value, is_number).ok_or_else(|| Fault {
        said: format!("{value:?} cannot be compared with later"),
        why: Why::Refused,
    })
}

impl Fault {
    pub(super) fn new(why: Why, said: impl fmt::Display) -> Fault {
        Fault {
            said: said.to_string(),
            why,
        }
    }
}
