//! The store on a PostgreSQL server: many processes, one database.
//!
//! One writer at a time (across processes, by an advisory lock), any number of readers, each on a snapshot. The modules
//! follow a change on its way, as those of the embedded store do: [`commit`] → [`segment`]s → [`snapshot`]; [`clock`]
//! is what the clock file is there; [`replica`]s take
//! reads off the primary.

mod address;
mod catalog;
mod check;
mod clock;
mod commit;
mod connection;
mod copy;
mod lookup;
mod notes;
mod password;
mod plan;
mod quarantine;
mod replica;
mod schema;
mod segment;
mod snapshot;
mod tls;

use std::sync::Arc;
use std::time::{Duration, Instant};

use stook_oai::Datestamp;

use crate::body::{Dictionaries, Dictionary};
use crate::clock::Clock;
use crate::{Position, StoreError};
use clock::ServerClock;
use connection::{Connection, Pool, Pooled};
use replica::Replicas;

pub use address::PostgresAddress;
pub(crate) use address::describe;
pub(crate) use copy::CopyServer;
pub use replica::ReplicaState;
pub(crate) use snapshot::Snapshot;

/// How long a write waits for a server that is gone: long enough for a failover.
const PATIENCE: Duration = Duration::from_secs(300);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// One open store on a server.
pub(crate) struct Postgres {
    address: PostgresAddress,
    pool: Arc<Pool>,
    replicas: Replicas,
    clock: ServerClock,
    dictionaries: Dictionaries,
    /// The key that signs tokens: a replica has the same.
    secret: Vec<u8>,
}

/// A write transaction and the datestamp its records get.
struct Write<'a> {
    connection: &'a mut Connection,
    /// The last position taken before this write.
    last: Position,
    /// Not before any response date given out, not before any datestamp in the store.
    stamp: Datestamp,
}

impl Postgres {
    /// Opens the store, making it or bringing its layout up to date where that is allowed.
    pub(crate) fn open(
        address: PostgresAddress,
        replicas: &[PostgresAddress],
        clock: Clock,
    ) -> Result<Arc<Postgres>, StoreError> {
        let pool = Arc::new(Pool::new(&address));
        let mut connection = pool.take()?;
        schema::migrate(&mut connection, &address)?;
        if schema::is_unfinished(&mut connection)? {
            return Err(StoreError::Unfinished(address.to_string()));
        }
        let clock = ServerClock::new(&mut connection, clock)?;
        let secret = connection.one("SELECT secret FROM store", &[])?.try_get(0)?;
        drop(connection);
        let postgres = Arc::new(Postgres {
            address,
            pool,
            replicas: Replicas::new(replicas),
            clock,
            dictionaries: Dictionaries::default(),
            secret,
        });
        replica::keep_horizon(&postgres)?;
        Ok(postgres)
    }

    pub(crate) fn replicas(self: &Arc<Self>) -> Vec<ReplicaState> {
        replica::states(self)
    }

    /// A view for an answer, of a replica where there is one.
    pub(crate) fn read_replica(self: &Arc<Self>) -> Result<Snapshot, StoreError> {
        replica::read(self)
    }

    /// Where the store is, for messages: without the password.
    pub(crate) fn place(&self) -> String {
        self.address.to_string()
    }

    /// How much room the tables and their indexes take.
    pub(crate) fn bytes(&self) -> Result<u64, StoreError> {
        let row = self.reader()?.one(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class
             WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace",
            &[],
        )?;
        Ok(u64::try_from(row.try_get::<_, i64>(0)?).unwrap_or(0))
    }

    /// Copies are the business of whoever runs the server.
    pub(crate) fn backup(&self, _: &std::path::Path) -> Result<(), StoreError> {
        Err(StoreError::LeftToServer("a copy in a file"))
    }

    /// A connection for reading outside of a snapshot.
    fn reader(&self) -> Result<Pooled<'_>, StoreError> {
        self.pool.take()
    }

    /// Runs `work` in one write transaction: all of it is kept, durably, or none. A server that goes away is waited
    /// for; then everything is done again. Whether the lost transaction was kept or not, the outcome is the same,
    /// because a change that is there already changes nothing.
    fn write<T>(&self, mut work: impl FnMut(&mut Write<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        patiently(|| self.write_once(&mut work))
    }

    /// Reads something for a write to come: a server that goes away is waited for, as for the write itself.
    fn look_up<T>(&self, mut work: impl FnMut(&mut Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        patiently(|| work(&mut *self.pool.take()?))
    }

    fn write_once<T>(&self, work: &mut impl FnMut(&mut Write<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut connection = self.pool.take()?;
        connection.batch("BEGIN ISOLATION LEVEL READ COMMITTED")?;
        let outcome = self.begin(&mut connection).and_then(|mut write| {
            let stamp = write.stamp;
            Ok((work(&mut write)?, stamp))
        });
        match outcome {
            Ok((outcome, stamp)) => {
                connection.batch("COMMIT")?;
                // So that the time does not go back either where nothing was published. What is committed is committed.
                let _ = self.clock.note(&mut connection, stamp);
                Ok(outcome)
            }
            Err(error) => {
                // On a connection that is gone there is nothing to take back.
                let _ = connection.batch("ROLLBACK");
                Err(error)
            }
        }
    }

    /// Waits for any other write to end, then fixes the stamp.
    fn begin<'a>(&self, connection: &'a mut Connection) -> Result<Write<'a>, StoreError> {
        let flight = self.clock.begin(connection)?;
        let last = last_position(connection)?;
        Ok(Write {
            connection,
            last,
            stamp: flight.max(last.datestamp()),
        })
    }

    /// A dictionary, read over a connection at its first use.
    fn dictionary_over(&self, id: i64, connection: &mut Connection) -> Result<Arc<Dictionary>, StoreError> {
        self.dictionaries.by_id(id, || {
            let row = connection.one("SELECT bytes FROM dictionary WHERE id = $1", &[&id])?;
            Ok(row.try_get(0)?)
        })
    }
}

/// Does it again as long as it may help.
pub(crate) fn patiently<T>(mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match work() {
            Err(error) if error.is_passing() && began.elapsed() + pause < PATIENCE => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            outcome => return outcome,
        }
    }
}

fn last_position(connection: &mut Connection) -> Result<Position, StoreError> {
    let row = connection.one("SELECT last_position FROM store", &[])?;
    Ok(Position::from_sql(row.try_get(0)?))
}
