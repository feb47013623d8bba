//! A file as one end of a copy: its tables as rows.

use std::path::{Path, PathBuf};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql, TransactionBehavior, params_from_iter};
use sha2::{Digest, Sha256};
use stook_oai::Datestamp;

use super::{clock_path, connect, schema};
use crate::StoreError;
use crate::clock;
use crate::copy::{BATCH_BYTES, Column, End, Found, InFile, Row, TABLES, Table, USED, Value, admit, bytes_of, new_run};

/// A file that is copied, or copied into.
pub(crate) struct CopyFile {
    path: PathBuf,
    connection: Connection,
    /// What the mark of this copy says.
    run: String,
}

impl CopyFile {
    /// A view of an existing store.
    pub(crate) fn source(path: &Path) -> Result<CopyFile, StoreError> {
        let place = path.display().to_string();
        if !path.exists() {
            return Err(StoreError::NothingToCopy(place));
        }
        let connection = connect(path, OpenFlags::empty())?;
        schema::inspect(&connection, path)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.execute_batch("BEGIN")?;
        match schema::is_unfinished(&connection)? {
            true => Err(StoreError::Unfinished(place)),
            false => CopyFile::over(path, connection),
        }
    }

    /// A store to copy into, made if it is not there.
    pub(crate) fn target(path: &Path) -> Result<CopyFile, StoreError> {
        // An empty file is what a copy leaves behind that was killed at once.
        let is_there = path.metadata().is_ok_and(|metadata| metadata.len() > 0);
        let mut connection = connect(path, OpenFlags::SQLITE_OPEN_CREATE)?;
        match is_there {
            true => schema::open(&mut connection, path)?,
            false => schema::create(&mut connection)?,
        }
        // Small tables are emptied while others still lead there.
        connection.pragma_update(None, "foreign_keys", false)?;
        connection.pragma_update(None, "cache_size", -super::WRITER_CACHE_KIB)?;
        CopyFile::over(path, connection)
    }

    fn over(path: &Path, connection: Connection) -> Result<CopyFile, StoreError> {
        connection.set_prepared_statement_cache_capacity(64);
        Ok(CopyFile {
            path: path.to_owned(),
            connection,
            run: new_run()?,
        })
    }

    /// Visits rows in the order of the file's keys, past one if it is given, until there are enough.
    fn rows(
        &self,
        table: &Table,
        after: Option<&[Value]>,
        rows: usize,
        mut visit: impl FnMut(&rusqlite::Row<'_>) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let key = names(table.walk_key(table.columns));
        let after = after.map(|row| table.walk_key(row)).unwrap_or_default();
        let past = match after.len() {
            0 => String::new(),
            length => format!("WHERE ({key}) > ({})", places(length)),
        };
        let (columns, table) = (selected(table), table.name);
        let sql = format!("SELECT {columns} FROM {table} {past} ORDER BY {key} LIMIT {rows}");
        let mut select = self.connection.prepare_cached(&sql)?;
        let mut found = select.query(params_from_iter(after))?;
        while let Some(row) = found.next()? {
            if !visit(row)? {
                break;
            }
        }
        Ok(())
    }

    /// Runs `work` in a transaction of this copy: nobody has begun another since.
    fn write_marked(&mut self, work: impl FnOnce(&Connection) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let ours = schema::is_unfinished(&transaction)?
            && transaction
                .prepare_cached("SELECT 1 FROM copying WHERE run = ?1")?
                .exists([&self.run])?;
        if !ours {
            return Err(StoreError::Overtaken(self.path.display().to_string()));
        }
        work(&transaction)?;
        Ok(transaction.commit()?)
    }
}

impl End for CopyFile {
    fn identity(&mut self) -> Result<String, StoreError> {
        let path = self.path.canonicalize();
        let path = path.map_err(StoreError::io(format!("finding {}", self.path.display())))?;
        Ok(path.display().to_string())
    }

    fn number(&mut self, sql: &str) -> Result<i64, StoreError> {
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    fn secret(&mut self) -> Result<Vec<u8>, StoreError> {
        let secret = "SELECT secret FROM store";
        Ok(self.connection.query_row(secret, [], |row| row.get(0))?)
    }

    fn page(&mut self, table: &Table, after: Option<&[Value]>, rows: usize) -> Result<Vec<Row>, StoreError> {
        let (mut page, mut size) = (Vec::new(), 0);
        self.rows(table, after, rows, |row| {
            let row = read(row, table)?;
            size += bytes_of(&row);
            page.push(row);
            Ok(size < BATCH_BYTES)
        })?;
        Ok(page)
    }

    fn walk(&mut self, table: &Table, after: Option<&Row>, rows: usize) -> Result<Vec<Row>, StoreError> {
        let mut page = Vec::new();
        self.rows(table, after.map(Vec::as_slice), rows, |row| {
            let mut row = read(row, table)?;
            for value in &mut row {
                if let Value::Bytes(bytes) = value {
                    *bytes = Sha256::digest(&bytes).to_vec();
                }
            }
            page.push(row);
            Ok(true)
        })?;
        Ok(page)
    }

    fn find(&mut self, table: &Table, keys: &[Row]) -> Result<Vec<Row>, StoreError> {
        let sql = format!("SELECT {} FROM {} WHERE {}", selected(table), table.name, key_is(table));
        let mut select = self.connection.prepare_cached(&sql)?;
        let mut rows = Vec::new();
        for key in keys {
            let mut found = select.query(params_from_iter(table.walk_key(key)))?;
            if let Some(row) = found.next()? {
                rows.push(read(row, table)?);
            }
        }
        Ok(rows)
    }

    fn latest(&mut self) -> Result<Datestamp, StoreError> {
        clock::latest(&clock_path(&self.path)).map_err(StoreError::io("reading the clock file"))
    }

    fn begin(&mut self, secret: &[u8], again: bool) -> Result<(), StoreError> {
        let place = self.path.display().to_string();
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = Found {
            unfinished: schema::is_unfinished(&transaction)?,
            repositories: transaction.query_row(USED, [], |row| row.get(0))?,
            secret: transaction.query_row("SELECT secret FROM store", [], |row| row.get(0))?,
        };
        admit(&found, secret, again, &place)?;
        transaction
            .execute_batch("CREATE TABLE IF NOT EXISTS copying (run TEXT NOT NULL) STRICT; DELETE FROM copying")?;
        transaction.execute("INSERT INTO copying VALUES (?1)", [&self.run])?;
        transaction.execute("UPDATE store SET secret = ?1", [secret])?;
        for table in TABLES.iter().rev().filter(|table| table.small) {
            transaction.execute(&format!("DELETE FROM {}", table.name), [])?;
        }
        Ok(transaction.commit()?)
    }

    fn write(&mut self, table: &Table, gone: &[Row], new: &[Row]) -> Result<(), StoreError> {
        self.write_marked(|connection| {
            let delete = format!("DELETE FROM {} WHERE {}", table.name, key_is(table));
            let mut delete = connection.prepare_cached(&delete)?;
            for key in gone {
                delete.execute(params_from_iter(table.walk_key(key)))?;
            }
            let columns = &table.columns[usize::from(is_derived(table))..];
            let insert = format!(
                "INSERT INTO {} ({}) VALUES ({})",
                table.name,
                names(columns),
                places(columns.len())
            );
            let mut insert = connection.prepare_cached(&insert)?;
            for row in new {
                insert.execute(params_from_iter(&row[row.len() - columns.len()..]))?;
            }
            Ok(())
        })
    }

    fn finish(&mut self, last_position: i64, given_out: Datestamp) -> Result<(), StoreError> {
        // Before the mark goes: from then on somebody may write.
        clock::advance(&clock_path(&self.path), given_out).map_err(StoreError::io("writing the clock file"))?;
        self.write_marked(|connection| {
            connection.execute("UPDATE store SET last_position = ?1", [last_position])?;
            Ok(connection.execute_batch("DROP TABLE copying")?)
        })
    }
}

/// Whether the file leaves the repository, which is the first column, to another table.
fn is_derived(table: &Table) -> bool {
    matches!(table.in_file, InFile::ByFormat | InFile::ByList)
}

fn key_is(table: &Table) -> String {
    let equal: Vec<String> = table
        .walk_key(table.columns)
        .iter()
        .map(|(name, _)| format!("\"{name}\" = ?"))
        .collect();
    equal.join(" AND ")
}

fn names(columns: &[Column]) -> String {
    let names: Vec<String> = columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    names.join(", ")
}

fn places(number: usize) -> String {
    vec!["?"; number].join(", ")
}

/// What to select for all columns.
fn selected(table: &Table) -> String {
    let (name, columns) = (table.name, table.columns);
    match table.in_file {
        InFile::Same | InFile::Beside => names(columns),
        InFile::ByFormat => format!(
            "(SELECT repository FROM format WHERE format.id = {name}.format), {}",
            names(&columns[1..])
        ),
        InFile::ByList => format!(
            "(SELECT repository FROM format WHERE format.id = (SELECT format FROM list WHERE list.id = {name}.list)), {}",
            names(&columns[1..])
        ),
    }
}

fn read(row: &rusqlite::Row<'_>, table: &Table) -> Result<Row, StoreError> {
    (0..table.columns.len())
        .map(|at| {
            Ok(match row.get_ref(at)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => Value::Int(number),
                ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
                value @ (ValueRef::Text(_) | ValueRef::Real(_)) => {
                    Value::Text(value.as_str().map_err(rusqlite::Error::from)?.to_owned())
                }
            })
        })
        .collect()
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
