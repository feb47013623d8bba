//! Read replicas: other servers that follow the primary, each a moment behind it.
//!
//! What a replica has not replayed yet, a snapshot of it cannot see, so its answers must bear the date of the moment it
//! has come to. Processes that read from replicas therefore write the **horizon** into the primary's clock once a second:
//! a response date that the primary could give at that moment. The horizon reaches a replica like any other change, in
//! the order of commits:
//!
//! ```text
//! A replica that shows the horizon D shows everything committed before D was written. What it does not show was
//! committed after that, and after D was worked out, so it is stamped D or later (clock.rs).
//! ```
//! Neither the replica's clock nor a guess of its lag plays a part in that.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::address::PostgresAddress;
use super::connection::Pool;
use super::snapshot::Snapshot;
use super::{Postgres, StoreError};

/// How often the horizon moves on.
const BEAT: Duration = Duration::from_secs(1);
/// A replica that is further behind is asked only when the primary is away: its answers would be true, but old.
const FAR_BEHIND_SECONDS: u64 = 30;
/// How long a replica that failed is left alone.
const LEFT_ALONE: Duration = Duration::from_secs(10);
/// A replica must be there at once: others can answer.
const CONNECT_PATIENCE: Duration = Duration::from_secs(2);

/// How a replica is.
#[derive(Debug)]
pub struct ReplicaState {
    /// Where it is, without a password.
    pub place: String,
    /// How far behind the primary its answers are.
    pub seconds_behind: Result<u64, StoreError>,
}

impl ReplicaState {
    /// Whether it is asked.
    pub fn is_close(&self) -> bool {
        matches!(self.seconds_behind, Ok(seconds) if seconds <= FAR_BEHIND_SECONDS)
    }
}

/// The replicas of a store, asked in turn.
#[derive(Default)]
pub(super) struct Replicas {
    all: Vec<Replica>,
    next: AtomicUsize,
}

struct Replica {
    address: PostgresAddress,
    pool: Arc<Pool>,
    /// When it failed last.
    failed: Mutex<Option<Instant>>,
}

impl Replica {
    fn is_left_alone(&self) -> bool {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|at| at.elapsed() < LEFT_ALONE)
    }

    fn leave_alone(&self) {
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

impl Replicas {
    pub(super) fn new(addresses: &[PostgresAddress]) -> Replicas {
        let replica = |address: &PostgresAddress| Replica {
            address: address.clone(),
            pool: Arc::new(Pool::new(&address.clone().with_connect_timeout(CONNECT_PATIENCE))),
            failed: Mutex::default(),
        };
        Replicas {
            all: addresses.iter().map(replica).collect(),
            next: AtomicUsize::new(0),
        }
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All that may answer, beginning with another each time.
    fn in_turn(&self) -> impl Iterator<Item = &Replica> {
        let first = self.next.fetch_add(1, Relaxed);
        let count = self.all.len();
        (0..count)
            .map(move |at| &self.all[first.wrapping_add(at) % count])
            .filter(|replica| !replica.is_left_alone())
    }
}

/// A view of a replica that is close behind; of the primary where there is none; of a replica far behind where the
/// primary is away.
pub(super) fn read(postgres: &Arc<Postgres>) -> Result<Snapshot, StoreError> {
    let mut far_behind = None;
    for replica in postgres.replicas.in_turn() {
        match Snapshot::of_replica(postgres.clone(), replica.pool.clone()) {
            Ok((snapshot, seconds_behind)) if seconds_behind <= FAR_BEHIND_SECONDS => return Ok(snapshot),
            Ok((snapshot, _)) => far_behind = Some(snapshot),
            Err(_) => replica.leave_alone(),
        }
    }
    match (Snapshot::new(postgres.clone()), far_behind) {
        (Err(StoreError::Unreachable(_)), Some(snapshot)) => Ok(snapshot),
        (outcome, _) => outcome,
    }
}

/// Asks every replica how far it has come.
pub(super) fn states(postgres: &Arc<Postgres>) -> Vec<ReplicaState> {
    let ask = |replica: &Replica| {
        let view = Snapshot::of_replica(postgres.clone(), replica.pool.clone());
        ReplicaState {
            place: replica.address.to_string(),
            seconds_behind: view.map(|(_, seconds)| seconds),
        }
    };
    postgres.replicas.all.iter().map(ask).collect()
}

/// Moves the horizon on, now and for as long as the store is open. Does nothing without replicas.
pub(super) fn keep_horizon(postgres: &Arc<Postgres>) -> Result<(), StoreError> {
    if postgres.replicas.is_empty() {
        return Ok(());
    }
    move_horizon(postgres)?;
    let postgres = Arc::downgrade(postgres);
    let beat = move || {
        while let Some(postgres) = Weak::upgrade(&postgres) {
            // Without the primary it stands still, and so do response dates.
            let _ = move_horizon(&postgres);
            drop(postgres);
            std::thread::sleep(BEAT);
        }
    };
    std::thread::Builder::new()
        .name("horizon".into())
        .spawn(beat)
        .map_err(StoreError::io("starting a thread"))?;
    Ok(())
}

fn move_horizon(postgres: &Postgres) -> Result<(), StoreError> {
    let mut connection = postgres.pool.take()?;
    let date = postgres.clock.response_date(&mut connection)?.unix();
    connection.execute("UPDATE clock SET horizon = $1 WHERE horizon < $1", &[&date])?;
    Ok(())
}
