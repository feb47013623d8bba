//! One session with the server, for threads that block. No wait is for ever.
//!
//! A server that ends closes its connections. One that hangs, or whose machine has vanished, leaves silence, and silence
//! that is borne without limit becomes ours. So every answer is waited for only so long; then the session is given up.

use std::pin::Pin;
use std::time::Duration;

use futures_util::TryStreamExt;
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client as Session, Config, Error, Row, Socket, Statement};

use crate::StoreError;

pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// How long the server is given to hear that we go.
const GOODBYE: Duration = Duration::from_secs(1);

/// Lets the runtime, if this thread belongs to one, go on without it.
pub(super) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// A session and what drives it.
pub(super) struct Client {
    runtime: Unblocking,
    /// None when it was given up.
    session: Option<Session>,
    driver: Option<JoinHandle<()>>,
    /// How long an answer may take; none is for ever.
    limit: Option<Duration>,
}

impl Client {
    /// Connects, in no more time than `limit`, which is also the limit of answers.
    pub(super) fn connect<T>(config: &Config, tls: T, limit: Duration) -> Result<Client, StoreError>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
    {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(StoreError::io("starting a connection"))?;
        let runtime = Unblocking(Some(runtime));
        let connected = runtime.block_on(async { timeout(limit, config.connect(tls)).await });
        let (session, connection) = connected?.map_err(|_| silence(limit))??;
        let driver = runtime.get()?.spawn(async {
            // Its errors reach whoever waits for an answer.
            let _ = connection.await;
        });
        Ok(Client {
            runtime,
            session: Some(session),
            driver: Some(driver),
            limit: Some(limit),
        })
    }

    pub(super) fn set_limit(&mut self, limit: Option<Duration>) {
        self.limit = limit;
    }

    /// Whether it can still be used, as far as we know.
    pub(super) fn is_open(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.is_closed())
    }

    /// Whether the server answers, within `limit`.
    pub(super) fn answers_within(&mut self, limit: Duration) -> bool {
        let usual = self.limit.replace(limit);
        let answer = self.wait(async |session| session.simple_query("").await);
        self.limit = usual;
        answer.is_ok()
    }

    /// Ends it without a word: nobody would hear it.
    pub(super) fn give_up(&mut self) {
        self.session = None;
        self.driver = None;
    }

    fn wait<T>(&mut self, work: impl AsyncFnOnce(&Session) -> Result<T, Error>) -> Result<T, StoreError> {
        let Some(session) = &self.session else {
            return Err(StoreError::Unreachable("the connection was given up".into()));
        };
        let limit = self.limit;
        let outcome = self.runtime.block_on(async {
            match limit {
                Some(limit) => timeout(limit, work(session)).await.map_err(|_| limit),
                None => Ok(work(session).await),
            }
        });
        match outcome? {
            Ok(outcome) => Ok(outcome?),
            Err(limit) => {
                self.give_up();
                Err(silence(limit))
            }
        }
    }

    pub(super) fn prepare(&mut self, sql: &str) -> Result<Statement, StoreError> {
        self.wait(async |session| session.prepare(sql).await)
    }

    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        self.wait(async |session| session.batch_execute(sql).await)
    }

    pub(super) fn execute(&mut self, statement: &Statement, parameters: Parameters<'_>) -> Result<u64, StoreError> {
        self.wait(async |session| session.execute(statement, parameters).await)
    }

    pub(super) fn all(&mut self, statement: &Statement, parameters: Parameters<'_>) -> Result<Vec<Row>, StoreError> {
        self.wait(async |session| session.query(statement, parameters).await)
    }

    pub(super) fn one(&mut self, statement: &Statement, parameters: Parameters<'_>) -> Result<Row, StoreError> {
        self.wait(async |session| session.query_one(statement, parameters).await)
    }

    pub(super) fn maybe(
        &mut self,
        statement: &Statement,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, StoreError> {
        self.wait(async |session| session.query_opt(statement, parameters).await)
    }

    pub(super) fn each(
        &mut self,
        statement: &Statement,
        parameters: Parameters<'_>,
        visit: &mut dyn FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let rows = self.wait(async |session| session.query_raw(statement, parameters.iter().copied()).await)?;
        let mut rows = Box::pin(rows);
        while let Some(row) = self.wait(async |_| rows.try_next().await)? {
            visit(row)?;
        }
        Ok(())
    }

    pub(super) fn copy(
        &mut self,
        sql: &str,
        types: &[Type],
        fill: &mut dyn FnMut(&mut Rows<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let sink = self.wait(async |session| session.copy_in(sql).await)?;
        let mut rows = Rows {
            writer: Box::pin(BinaryCopyInWriter::new(sink, types)),
            client: self,
        };
        fill(&mut rows)?;
        let Rows { mut writer, client } = rows;
        client.wait(async |_| writer.as_mut().finish().await)?;
        Ok(())
    }
}

/// Rows on their way into a table.
pub(super) struct Rows<'c> {
    writer: Pin<Box<BinaryCopyInWriter>>,
    client: &'c mut Client,
}

impl Rows<'_> {
    pub(super) fn write(&mut self, values: Parameters<'_>) -> Result<(), StoreError> {
        let writer = self.writer.as_mut();
        self.client.wait(async |_| writer.write(values).await)
    }

    pub(super) fn write_raw<'v, V: ToSql + Sync + 'v>(&mut self, values: &'v [V]) -> Result<(), StoreError> {
        let writer = self.writer.as_mut();
        self.client.wait(async |_| writer.write_raw(values).await)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Without its session the driver says goodbye, and ends.
        self.session = None;
        if let Some(driver) = self.driver.take() {
            let _ = self.runtime.block_on(async { timeout(GOODBYE, driver).await });
        }
    }
}

/// A runtime that may be used and dropped on a thread of another.
struct Unblocking(Option<Runtime>);

impl Unblocking {
    fn get(&self) -> Result<&Runtime, StoreError> {
        self.0.as_ref().ok_or(StoreError::Busy)
    }

    fn block_on<T>(&self, work: impl Future<Output = T>) -> Result<T, StoreError> {
        let runtime = self.get()?;
        Ok(blocking(|| runtime.block_on(work)))
    }
}

impl Drop for Unblocking {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

fn silence(limit: Duration) -> StoreError {
    StoreError::Unreachable(format!("no answer for {} seconds", limit.as_secs()))
}
