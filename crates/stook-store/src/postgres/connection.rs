//! Connections to the server: prepared statements by their text, a pool with a limit.
//!
//! The client blocks its thread. Where that thread belongs to an asynchronous runtime, the runtime is told, so that
//! others go on meanwhile.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use postgres::binary_copy::BinaryCopyInWriter;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{ToSql, Type};
use postgres::{Client, Row, Statement};
use tokio::runtime::{Handle, RuntimeFlavor};

use super::address::PostgresAddress;
use crate::StoreError;

type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// How long somebody waits for a connection when all are taken, or for a sign of life.
const PATIENCE: Duration = Duration::from_secs(30);
/// A connection that was used so lately is believed to be there still.
const FRESH: Duration = Duration::from_millis(500);

/// Lets the runtime, if this thread belongs to one, go on without it.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// One connection.
pub(super) struct Connection {
    /// Always there until it is dropped.
    client: Option<Client>,
    statements: HashMap<String, Statement>,
    /// When it was given back.
    idle_since: Instant,
}

impl Connection {
    pub(super) fn open(address: &PostgresAddress) -> Result<Connection, StoreError> {
        let client = blocking(|| address.connect())?;
        let mut connection = Connection {
            client: Some(client),
            statements: HashMap::new(),
            idle_since: Instant::now(),
        };
        connection.batch(&format!(
            // Every query knows its index: nothing is gained by compiling it for each value, or by parallel workers.
            "SET search_path = {}; SET plan_cache_mode = force_generic_plan; SET jit = off;
             SET max_parallel_workers_per_gather = 0",
            address.quoted_schema()
        ))?;
        Ok(connection)
    }

    fn client(&mut self) -> Result<&mut Client, StoreError> {
        self.client.as_mut().ok_or(StoreError::Busy)
    }

    fn prepared(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = blocking(|| self.client()?.prepare(sql).map_err(StoreError::from))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Runs statements without parameters or answers.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        blocking(|| Ok(self.client()?.batch_execute(sql)?))
    }

    /// Runs a statement; how many rows it touched.
    pub(super) fn execute(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<u64, StoreError> {
        let statement = self.prepared(sql)?;
        blocking(|| Ok(self.client()?.execute(&statement, parameters)?))
    }

    /// All rows of a query.
    pub(super) fn all(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepared(sql)?;
        blocking(|| Ok(self.client()?.query(&statement, parameters)?))
    }

    /// The one row of a query.
    pub(super) fn one(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Row, StoreError> {
        let statement = self.prepared(sql)?;
        blocking(|| Ok(self.client()?.query_one(&statement, parameters)?))
    }

    /// The row of a query, if there is one.
    pub(super) fn maybe(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Option<Row>, StoreError> {
        let statement = self.prepared(sql)?;
        blocking(|| Ok(self.client()?.query_opt(&statement, parameters)?))
    }

    /// Visits the rows of a query as they come.
    pub(super) fn each(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
        visit: &mut dyn FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let statement = self.prepared(sql)?;
        blocking(|| {
            let mut rows = self.client()?.query_raw(&statement, parameters.iter().copied())?;
            while let Some(row) = rows.next()? {
                visit(row)?;
            }
            Ok(())
        })
    }

    /// Copies rows into a table.
    pub(super) fn copy(
        &mut self,
        sql: &str,
        types: &[Type],
        fill: &mut dyn FnMut(&mut BinaryCopyInWriter<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        blocking(|| {
            let writer = self.client()?.copy_in(sql)?;
            let mut writer = BinaryCopyInWriter::new(writer, types);
            fill(&mut writer)?;
            writer.finish()?;
            Ok(())
        })
    }

    fn is_usable(&self) -> bool {
        self.client.as_ref().is_some_and(|client| !client.is_closed())
    }

    /// Whether the server still knows it: one that has waited may have been cut without a word.
    fn is_alive(&mut self) -> bool {
        let fresh = self.idle_since.elapsed() < FRESH;
        self.is_usable() && (fresh || blocking(|| self.client().is_ok_and(|client| client.is_valid(PATIENCE).is_ok())))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Saying goodbye blocks too.
        let client = self.client.take();
        blocking(|| drop(client));
    }
}

/// Connections that wait for work, and how many there may be.
pub(super) struct Pool {
    address: PostgresAddress,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    open: usize,
}

impl Pool {
    pub(super) fn new(address: &PostgresAddress) -> Pool {
        Pool {
            address: address.clone(),
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Where its connections lead, for messages.
    pub(super) fn place(&self) -> String {
        self.address.to_string()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection: one that waits, or a new one, or the next that is returned.
    pub(super) fn take(&self) -> Result<Pooled<'_>, StoreError> {
        Ok(Pooled {
            connection: Some(self.take_owned()?),
            pool: self,
        })
    }

    /// The same, to be [given back](Self::give_back) by hand.
    pub(super) fn take_owned(&self) -> Result<Connection, StoreError> {
        let began = Instant::now();
        let mut state = self.state();
        loop {
            if let Some(mut connection) = state.idle.pop() {
                drop(state);
                if connection.is_alive() {
                    return Ok(connection);
                }
                self.lost();
                state = self.state();
                continue;
            }
            if state.open < self.address.connections() {
                state.open += 1;
                drop(state);
                return Connection::open(&self.address).inspect_err(|_| self.lost());
            }
            let Some(left) = PATIENCE.checked_sub(began.elapsed()) else {
                return Err(StoreError::Busy);
            };
            state = blocking(|| self.returned.wait_timeout(state, left))
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        }
    }

    /// A connection is wanted no more, and in no transaction.
    pub(super) fn give_back(&self, mut connection: Connection) {
        if connection.is_usable() {
            connection.idle_since = Instant::now();
            self.state().idle.push(connection);
            self.returned.notify_one();
        } else {
            self.lost();
        }
    }

    /// A connection will not come back.
    pub(super) fn lost(&self) {
        self.state().open -= 1;
        self.returned.notify_one();
    }
}

/// A connection that goes back by itself.
pub(super) struct Pooled<'a> {
    connection: Option<Connection>,
    pool: &'a Pool,
}

impl Deref for Pooled<'_> {
    type Target = Connection;

    #[expect(clippy::expect_used, reason = "it is taken only when dropped")]
    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("a connection")
    }
}

impl DerefMut for Pooled<'_> {
    #[expect(clippy::expect_used, reason = "it is taken only when dropped")]
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("a connection")
    }
}

impl Drop for Pooled<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.give_back(connection);
        }
    }
}
