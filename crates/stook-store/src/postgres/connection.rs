//! Connections to the server: prepared statements by their text, a pool with a limit.
//!
//! The client blocks its thread. Where that thread belongs to an asynchronous runtime, the runtime is told, so that
//! others go on meanwhile.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_postgres::types::Type;
use tokio_postgres::{Row, Statement};

use super::address::PostgresAddress;
use super::client::{Client, Parameters, Rows, blocking};
use crate::StoreError;

/// How long somebody waits for a connection when all are taken.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a connection that has waited may take to show that it is there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);
/// A connection that was used so lately is believed to be there still.
const FRESH: Duration = Duration::from_millis(500);

/// One connection.
pub(super) struct Connection {
    client: Client,
    statements: HashMap<String, Statement>,
    /// When it was given back.
    idle_since: Instant,
}

impl Connection {
    pub(super) fn open(address: &PostgresAddress) -> Result<Connection, StoreError> {
        let mut connection = Connection {
            client: address.connect()?,
            statements: HashMap::new(),
            idle_since: Instant::now(),
        };
        connection.batch(&format!(
            // Every query knows its index: nothing is gained by compiling it for each value, or by parallel workers.
            "SET search_path = {}; SET plan_cache_mode = force_generic_plan; SET jit = off;
             SET max_parallel_workers_per_gather = 0",
            address.quoted_schema()
        ))?;
        connection.set_limit(Some(address.answer_limit()));
        Ok(connection)
    }

    /// Gives the server other time to answer, until the connection is given back; none is for ever.
    pub(super) fn set_limit(&mut self, limit: Option<Duration>) {
        self.client.set_limit(limit);
    }

    fn prepared(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Runs statements without parameters or answers.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        self.client.batch(sql)
    }

    /// Runs a statement; how many rows it touched.
    pub(super) fn execute(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<u64, StoreError> {
        let statement = self.prepared(sql)?;
        self.client.execute(&statement, parameters)
    }

    /// All rows of a query.
    pub(super) fn all(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepared(sql)?;
        self.client.all(&statement, parameters)
    }

    /// The one row of a query.
    pub(super) fn one(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Row, StoreError> {
        let statement = self.prepared(sql)?;
        self.client.one(&statement, parameters)
    }

    /// The row of a query, if there is one.
    pub(super) fn maybe(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Option<Row>, StoreError> {
        let statement = self.prepared(sql)?;
        self.client.maybe(&statement, parameters)
    }

    /// Visits the rows of a query as they come.
    pub(super) fn each(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
        visit: &mut dyn FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let statement = self.prepared(sql)?;
        self.client.each(&statement, parameters, visit)
    }

    /// Copies rows into a table.
    pub(super) fn copy(
        &mut self,
        sql: &str,
        types: &[Type],
        fill: &mut dyn FnMut(&mut Rows<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.client.copy(sql, types, fill)
    }

    /// Whether the server still knows it: one that has waited may have been cut without a word.
    fn is_alive(&mut self) -> bool {
        let fresh = self.idle_since.elapsed() < FRESH;
        self.client.is_open() && (fresh || self.client.answers_within(SIGN_OF_LIFE))
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
                // What has cut one off has most likely cut off those that have waited longer.
                state.open -= state.idle.len();
                for mut other in state.idle.drain(..) {
                    other.client.give_up();
                }
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
        if connection.client.is_open() {
            connection.set_limit(Some(self.address.answer_limit()));
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
