//! A store on a server as one end of a copy: its tables as rows.

use std::error::Error;
use std::time::Duration;

use stook_oai::Datestamp;
use tokio_postgres::types::{IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

use super::connection::{Connection, Pool};
use super::patience::Patience;
use super::{PostgresAddress, schema};
use crate::StoreError;
use crate::copy::{BATCH_BYTES, Column, End, Found, Kind, Row, TABLES, Table, USED, Value, admit, bytes_of, new_run};

/// Walking through a large table may take long to begin.
const ANSWER_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// A store that is copied, or copied into.
pub(crate) struct CopyServer {
    address: PostgresAddress,
    pool: Pool,
    /// Whether everything is asked of the view. A target is looked at as it is now, but for walks through it.
    is_source: bool,
    view: Option<Connection>,
    patience: Patience,
    /// What the mark of this copy says.
    run: String,
}

impl CopyServer {
    /// An existing store.
    pub(crate) fn source(address: &PostgresAddress) -> Result<CopyServer, StoreError> {
        let mut server = CopyServer::over(address, true)?;
        let known = schema::VERSION;
        match schema::version(server.view()?)? {
            None => return Err(StoreError::NothingToCopy(address.to_string())),
            Some(found) if found < known => return Err(StoreError::TooOld { found, known }),
            Some(found) if found > known => return Err(StoreError::TooNew { found, known }),
            Some(_) => {}
        }
        match schema::is_unfinished(server.view()?)? {
            true => Err(StoreError::Unfinished(address.to_string())),
            false => Ok(server),
        }
    }

    /// A store to copy into, made if it is not there.
    pub(crate) fn target(address: &PostgresAddress) -> Result<CopyServer, StoreError> {
        let server = CopyServer::over(address, false)?;
        schema::migrate(&mut *server.pool.take()?, address)?;
        Ok(server)
    }

    fn over(address: &PostgresAddress, is_source: bool) -> Result<CopyServer, StoreError> {
        let address = address.clone().with_answer_limit(ANSWER_LIMIT);
        Ok(CopyServer {
            pool: Pool::new(&address),
            address,
            is_source,
            view: None,
            patience: Patience::default(),
            run: new_run()?,
        })
    }

    /// A view of everything as it is when this is first called. If the server goes away, so does the view.
    fn view(&mut self) -> Result<&mut Connection, StoreError> {
        let view = match self.view.take() {
            Some(view) => view,
            None => {
                let mut view = Connection::open(&self.address)?;
                view.batch(
                    // Between two pages it may wait for the other end, and all of a walk is wanted.
                    "SET idle_in_transaction_session_timeout = 0; SET cursor_tuple_fraction = 1;
                     BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                )?;
                view
            }
        };
        Ok(self.view.insert(view))
    }

    /// Looks something up. A target that goes away is waited for.
    fn look<T>(&mut self, mut work: impl FnMut(&mut Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match self.is_source {
            true => work(self.view()?),
            false => self.patience.exert(|| work(&mut *self.pool.take()?)),
        }
    }

    /// Runs `work` in a transaction of this copy: nobody has begun another since, or can before its end.
    fn write_marked(&self, work: impl FnOnce(&mut Connection) -> Result<(), StoreError>) -> Result<(), StoreError> {
        in_transaction(&mut *self.pool.take()?, |connection| {
            let ours = schema::is_unfinished(connection)? && {
                let row = connection.maybe("SELECT run FROM copying FOR UPDATE", &[])?;
                row.is_some_and(|row| row.try_get::<_, &str>(0).is_ok_and(|run| run == self.run))
            };
            match ours {
                true => work(connection),
                false => Err(StoreError::Overtaken(self.address.to_string())),
            }
        })
    }
}

impl End for CopyServer {
    fn identity(&mut self) -> Result<String, StoreError> {
        // Two names of one server lead to one that was started at the same microsecond.
        self.look(|connection| {
            let row = connection.one(
                "SELECT concat_ws(' ', pg_postmaster_start_time(), pg_database.oid, pg_namespace.oid)
                 FROM pg_database, pg_namespace WHERE datname = current_database() AND nspname = current_schema()",
                &[],
            )?;
            Ok(row.try_get(0)?)
        })
    }

    fn number(&mut self, sql: &str) -> Result<i64, StoreError> {
        self.look(|connection| Ok(connection.one(sql, &[])?.try_get(0)?))
    }

    fn secret(&mut self) -> Result<Vec<u8>, StoreError> {
        self.look(|connection| Ok(connection.one("SELECT secret FROM store", &[])?.try_get(0)?))
    }

    fn page(&mut self, table: &Table, after: Option<&[Value]>, rows: usize) -> Result<Vec<Row>, StoreError> {
        let key = names("", table.key());
        let places: Vec<String> = (1..=table.key().len()).map(|at| format!("${at}")).collect();
        let past = after.map(|_| format!("WHERE ({key}) > ({})", places.join(", ")));
        let sql = format!(
            "SELECT {} FROM {} {} ORDER BY {key} LIMIT {rows}",
            names("", table.columns),
            table.name,
            past.unwrap_or_default()
        );
        let after: Vec<&(dyn ToSql + Sync)> = after.unwrap_or_default().iter().map(|value| value as _).collect();
        let (mut page, mut size) = (Vec::new(), 0);
        self.view()?.each(&sql, &after, &mut |row| {
            if size < BATCH_BYTES {
                let row = read(&row, table)?;
                size += bytes_of(&row);
                page.push(row);
            }
            Ok(())
        })?;
        Ok(page)
    }

    fn find(&mut self, table: &Table, keys: &[Row]) -> Result<Vec<Row>, StoreError> {
        let sql = format!(
            "SELECT {} FROM {} JOIN {} ON {}",
            names(table.name, table.columns),
            wanted(table),
            table.name,
            is_wanted(table)
        );
        let keys = arrays(table, keys);
        let keys: Vec<&(dyn ToSql + Sync)> = keys.iter().map(|values| values as _).collect();
        let mut found = Vec::new();
        self.view()?.each(&sql, &keys, &mut |row| {
            found.push(read(&row, table)?);
            Ok(())
        })?;
        Ok(found)
    }

    fn walk(&mut self, table: &Table, after: Option<&Row>, rows: usize) -> Result<Vec<Row>, StoreError> {
        let cursor = format!("walk_{}", table.name);
        if after.is_none() {
            let columns: Vec<String> = table.columns.iter().map(hashed).collect();
            let sql = format!(
                "DECLARE {cursor} CURSOR FOR SELECT {} FROM {} ORDER BY {}",
                columns.join(", "),
                table.name,
                names("", table.walk_key(table.columns))
            );
            self.view()?.batch(&sql)?;
        }
        let mut page = Vec::new();
        self.view()?
            .each(&format!("FETCH {rows} FROM {cursor}"), &[], &mut |row| {
                page.push(read(&row, table)?);
                Ok(())
            })?;
        if page.is_empty() {
            self.view()?.batch(&format!("CLOSE {cursor}"))?;
        }
        Ok(page)
    }

    fn latest(&mut self) -> Result<Datestamp, StoreError> {
        self.view = None;
        let noted = self.number("SELECT noted FROM clock")?;
        Ok(Datestamp::from_unix(noted).unwrap_or_default())
    }

    fn begin(&mut self, secret: &[u8], again: bool) -> Result<(), StoreError> {
        in_transaction(&mut *self.pool.take()?, |connection| {
            connection.execute("SELECT pg_advisory_xact_lock($1)", &[&schema::MIGRATION_LOCK])?;
            let found = Found {
                unfinished: schema::is_unfinished(connection)?,
                repositories: connection.one(USED, &[])?.try_get(0)?,
                secret: connection.one("SELECT secret FROM store", &[])?.try_get(0)?,
            };
            admit(&found, secret, again, &self.address.to_string())?;
            connection.batch("CREATE TABLE IF NOT EXISTS copying (run text NOT NULL); DELETE FROM copying")?;
            connection.execute("INSERT INTO copying VALUES ($1)", &[&self.run])?;
            connection.execute("UPDATE store SET secret = $1", &[&secret])?;
            for table in TABLES.iter().rev().filter(|table| table.small) {
                connection.batch(&format!("DELETE FROM {}", table.name))?;
            }
            Ok(())
        })
    }

    fn write(&mut self, table: &Table, gone: &[Row], new: &[Row]) -> Result<(), StoreError> {
        let mut attempts = 0;
        self.patience.exert(|| {
            attempts += 1;
            self.write_marked(|connection| {
                remove(connection, table, gone)?;
                // A connection that was lost leaves open whether its transaction was kept.
                if attempts > 1 {
                    remove(connection, table, new)?;
                }
                insert(connection, table, new)
            })
        })
    }

    fn finish(&mut self, last_position: i64, given_out: Datestamp) -> Result<(), StoreError> {
        let mut attempts = 0;
        self.patience.exert(|| {
            attempts += 1;
            // Lost was only the answer.
            if attempts > 1 && !schema::is_unfinished(&mut *self.pool.take()?)? {
                return Ok(());
            }
            self.write_marked(|connection| finish(connection, last_position, given_out))
        })
    }
}

fn finish(connection: &mut Connection, last_position: i64, given_out: Datestamp) -> Result<(), StoreError> {
    for table in TABLES {
        if table.has("id") {
            let largest = format!("(SELECT max(id) FROM {})", table.name);
            connection.batch(&format!(
                "SELECT setval(pg_get_serial_sequence('{}', 'id'), coalesce({largest}, 1), {largest} IS NOT NULL)",
                table.name
            ))?;
        }
        // The server knows nothing yet about what it was given.
        connection.batch(&format!("ANALYZE {}", table.name))?;
    }
    connection.execute("UPDATE store SET last_position = $1", &[&last_position])?;
    connection.execute("UPDATE clock SET noted = $1 WHERE noted < $1", &[&given_out.unix()])?;
    connection.batch("DROP TABLE copying")
}

fn in_transaction(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    connection.batch("BEGIN ISOLATION LEVEL READ COMMITTED")?;
    match work(connection) {
        Ok(()) => connection.batch("COMMIT"),
        Err(error) => {
            // On a connection that is gone there is nothing to take back.
            let _ = connection.batch("ROLLBACK");
            Err(error)
        }
    }
}

fn remove(connection: &mut Connection, table: &Table, keys: &[Row]) -> Result<(), StoreError> {
    if keys.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "DELETE FROM {} USING {} WHERE {}",
        table.name,
        wanted(table),
        is_wanted(table)
    );
    let keys = arrays(table, keys);
    let keys: Vec<&(dyn ToSql + Sync)> = keys.iter().map(|values| values as _).collect();
    connection.execute(&sql, &keys)?;
    Ok(())
}

fn insert(connection: &mut Connection, table: &Table, rows: &[Row]) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let sql = format!("COPY {} ({}) FROM STDIN BINARY", table.name, names("", table.columns));
    let types: Vec<Type> = table.columns.iter().map(|(_, kind)| type_of(*kind)).collect();
    connection.copy(&sql, &types, &mut |writer| {
        for row in rows {
            writer.write_raw(row)?;
        }
        Ok(())
    })
}

/// The names of columns, of a table if it is named.
fn names(table: &str, columns: &[Column]) -> String {
    let dot = if table.is_empty() { "" } else { "." };
    let names: Vec<String> = columns
        .iter()
        .map(|(name, _)| format!("{table}{dot}\"{name}\""))
        .collect();
    names.join(", ")
}

/// Keys that come as [`arrays`], one for each column, as a table.
fn wanted(table: &Table) -> String {
    let array = |(at, (_, kind)): (usize, &Column)| format!("${}::{}[]", at + 1, type_of(*kind));
    let arrays: Vec<String> = table.key().iter().enumerate().map(array).collect();
    format!("unnest({}) AS wanted ({})", arrays.join(", "), names("", table.key()))
}

fn is_wanted(table: &Table) -> String {
    let equal = |(name, _): &Column| format!("{}.\"{name}\" = wanted.\"{name}\"", table.name);
    let equal: Vec<String> = table.key().iter().map(equal).collect();
    equal.join(" AND ")
}

fn arrays<'a>(table: &Table, keys: &'a [Row]) -> Vec<Vec<&'a Value>> {
    (0..table.key().len())
        .map(|at| keys.iter().map(|key| &key[at]).collect())
        .collect()
}

/// A column, or what stands for its bytes.
fn hashed((name, kind): &Column) -> String {
    match kind {
        Kind::Bytes => format!("sha256(\"{name}\")"),
        _ => format!("\"{name}\""),
    }
}

fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Int => Type::INT8,
        Kind::Text => Type::TEXT,
        Kind::Bytes => Type::BYTEA,
        Kind::Flag => Type::BOOL,
    }
}

fn read(row: &tokio_postgres::Row, table: &Table) -> Result<Row, StoreError> {
    let value = |(at, (_, kind)): (usize, &Column)| {
        Ok(match kind {
            Kind::Int => row.try_get::<_, Option<i64>>(at)?.map(Value::Int),
            Kind::Text => row.try_get::<_, Option<String>>(at)?.map(Value::Text),
            Kind::Bytes => row.try_get::<_, Option<Vec<u8>>>(at)?.map(Value::Bytes),
            Kind::Flag => row
                .try_get::<_, Option<bool>>(at)?
                .map(|flag| Value::Int(i64::from(flag))),
        }
        .unwrap_or(Value::Null))
    };
    table.columns.iter().enumerate().map(value).collect()
}

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) if *kind == Type::BOOL => (*number != 0).to_sql(kind, out),
            Value::Int(number) => number.to_sql(kind, out),
            // The one character that the server's text cannot hold is shown as what it is: damage.
            Value::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(kind, out),
            Value::Text(text) => text.to_sql(kind, out),
            Value::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
