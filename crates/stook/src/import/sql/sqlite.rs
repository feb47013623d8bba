//! Reading from a file of SQLite.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags};

use super::database::{Described, Ended, Fault, Hear, Highest, Kind, Why, mark};

/// How long somebody may write before we give up waiting.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct SqliteReader {
    connection: Connection,
}

impl SqliteReader {
    pub(super) fn open(path: &Path) -> Result<SqliteReader, Fault> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || -> Result<Connection, Error> {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(PATIENCE)?;
            // The first thing that is read fixes what is seen from now on.
            connection.execute_batch("BEGIN")?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
            Ok(connection)
        };
        match open() {
            Ok(connection) => Ok(SqliteReader { connection }),
            Err(_) if !path.exists() => Err(Fault::new(Why::Away, "there is no such file")),
            Err(error) => Err(Fault::new(Why::Denied, said(&error))),
        }
    }

    pub(super) fn describe(&mut self, sql: &str) -> Result<Vec<Described>, Fault> {
        let statement = self.connection.prepare(sql).map_err(|error| fault(&error))?;
        let names = statement.column_names();
        Ok(names
            .into_iter()
            .map(|name| Described {
                name: name.to_owned(),
                kind: Kind::Plain,
            })
            .collect())
    }

    pub(super) fn each_row(&mut self, sql: &str, hear: &mut Hear<'_>) -> Result<(), Ended> {
        let ended = |error: Error| Ended::Fault(fault(&error));
        let mut statement = self.connection.prepare(sql).map_err(ended)?;
        let count = statement.column_count();
        let mut rows = statement.query([]).map_err(ended)?;
        while let Some(row) = rows.next().map_err(ended)? {
            let mut numbers = vec![String::new(); count];
            for (at, text) in numbers.iter_mut().enumerate() {
                match row.get_ref(at).map_err(ended)? {
                    ValueRef::Integer(number) => *text = number.to_string(),
                    ValueRef::Real(number) => *text = shown(number),
                    _ => {}
                }
            }
            let mut values = Vec::with_capacity(count);
            for (at, number) in numbers.iter().enumerate() {
                values.push(match row.get_ref(at).map_err(ended)? {
                    ValueRef::Null => None,
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
                    ValueRef::Integer(_) | ValueRef::Real(_) => Some(number.as_bytes()),
                });
            }
            hear(&values)?;
        }
        Ok(())
    }

    /// The highest value, which must not have values of another kind beside it: SQLite takes every text for higher than
    /// every number.
    pub(super) fn highest(&mut self, sql: &str) -> Highest {
        let mut statement = self.connection.prepare(sql).map_err(|error| fault(&error))?;
        let mut rows = statement.query([]).map_err(|error| fault(&error))?;
        let Some(row) = rows.next().map_err(|error| fault(&error))? else {
            return Ok(None);
        };
        let kinds: [Option<String>; 2] = [row.get(1), row.get(2)].map(Result::unwrap_or_default);
        if kinds[0] != kinds[1] {
            let [one, other] = kinds.map(Option::unwrap_or_default);
            let said = format!("some of its values are {one} and some {other}, which cannot be compared");
            return Err(Fault::new(Why::Refused, said));
        }
        match row.get_ref(0).map_err(|error| fault(&error))? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => mark(&number.to_string(), true).map(Some),
            // With all its digits: a mark must not be higher than what it is taken from.
            ValueRef::Real(number) => mark(&format!("{number:?}"), true).map(Some),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => mark(&String::from_utf8_lossy(bytes), false).map(Some),
        }
    }
}

/// A number as SQLite itself would write it: whole ones with a point.
fn shown(number: f64) -> String {
    format!("{number:?}")
}

fn fault(error: &Error) -> Fault {
    let why = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::SystemIoFailure) => Why::Away,
        _ => Why::Refused,
    };
    Fault::new(why, said(error))
}

/// SQLite's words, without the whole query.
fn said(error: &Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(message)) => message.clone(),
        Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}
