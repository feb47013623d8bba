//! Reading from PostgreSQL.

use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{Kind as TypeKind, ToSql, Type};
use postgres::{Client, Error};
use stook_store::{PostgresAddress, StoreError};

use super::database::{Described, Ended, Fault, Hear, Kind, Why};

/// Values are to look the same whatever the server's settings are; a time stamp in particular is not to change with
/// daylight saving.
const SESSION: &str = "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'iso_8601'; \
     SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
     BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

pub(super) struct PostgresReader {
    client: Client,
}

impl PostgresReader {
    pub(super) fn open(address: &PostgresAddress) -> Result<PostgresReader, Fault> {
        // Whoever hears of the fault names the database.
        let named = format!("{address}: ");
        let without_name = |said: String| said.strip_prefix(&named).map(str::to_owned).unwrap_or(said);
        let mut client = address.client().map_err(|error| match error {
            StoreError::Unreachable(said) => Fault::new(Why::Away, without_name(said)),
            StoreError::NotLetIn(said)
            | StoreError::NoDatabase(said)
            | StoreError::NotAllowed(said)
            | StoreError::Encryption(said) => Fault::new(Why::Denied, without_name(said)),
            other => Fault::new(Why::Denied, other),
        })?;
        client.batch_execute(SESSION).map_err(|error| fault(&error))?;
        Ok(PostgresReader { client })
    }

    pub(super) fn describe(&mut self, sql: &str) -> Result<Vec<Described>, Fault> {
        let statement = self.client.prepare(sql).map_err(|error| fault(&error))?;
        let columns = statement.columns().iter();
        Ok(columns
            .map(|column| Described {
                name: column.name().to_owned(),
                kind: kind(column.type_()),
            })
            .collect())
    }

    pub(super) fn each_row(&mut self, sql: &str, hear: &mut Hear<'_>) -> Result<(), Ended> {
        let none: [&(dyn ToSql + Sync); 0] = [];
        let ended = |error: Error| Ended::Fault(fault(&error));
        // Rows are taken from the connection as they come: the server waits for us, and nothing piles up.
        let mut rows = self.client.query_raw(sql, none).map_err(ended)?;
        while let Some(row) = rows.next().map_err(ended)? {
            let mut values = Vec::with_capacity(row.len());
            for at in 0..row.len() {
                let value: Option<&str> = row.try_get(at).map_err(ended)?;
                values.push(value.map(str::as_bytes));
            }
            hear(&values)?;
        }
        Ok(())
    }
}

fn kind(it: &Type) -> Kind {
    match it.kind() {
        TypeKind::Array(_) => Kind::Array,
        TypeKind::Domain(inner) => kind(inner),
        _ if *it == Type::BYTEA => Kind::Bytes,
        _ => Kind::Plain,
    }
}

/// The server's own words, with its hint.
fn fault(error: &Error) -> Fault {
    use std::error::Error as _;
    let Some(server) = error.as_db_error() else {
        let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        return Fault::new(Why::Away, format!("{error}{cause}"));
    };
    // Class 57: an administrator, or a crash, ended it.
    let why = if server.code().code().starts_with("57") {
        Why::Away
    } else {
        Why::Refused
    };
    let hint = server.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
    Fault::new(why, format!("{}{hint}", server.message()))
}
