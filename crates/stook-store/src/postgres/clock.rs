//! The store's time, on a server that many processes share: what datestamps and response dates are made from.
//!
//! The same two promises as the clock file of the embedded store keeps (`crate::clock`), kept by the server:
//!
//! - a **writer** first says since when it is there, by a shared advisory lock whose key is that second and which the
//!   server takes back when the writer ends or dies; then it waits for its turn, the exclusive lock; then it reads the
//!   latest time anybody gave out, and stamps its records with the later of the two;
//! - a **reader** first notes the time it is about to give out, then looks which writers are there, then takes its
//!   snapshot; it gives out no later time than the earliest of those writers came.
//!
//! ```text
//! A write that a snapshot cannot see ended after the reader looked. Either it was there when the reader looked: then
//! the response date is no later than the second it came, and its stamp is no earlier than that. Or it came later:
//! then it read the time that the reader had noted, and its stamp is no earlier than that.
//! ```
//! None of this depends on whose clock is right. All processes ask the server's clock.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use stook_oai::Datestamp;

use super::connection::Connection;
use crate::clock::Clock;
use crate::{Position, StoreError};

/// Locks of ours have keys that begin like this: "Stok".
const LOCK_SPACE: i32 = 0x5374_6f6b;
/// A key has 32 bits: seconds are counted from 2020.
const KEY_EPOCH: i64 = 1_577_836_800;

/// The clock of one store.
pub(super) struct ServerClock {
    /// None is the server's own.
    clock: Option<Clock>,
    /// Tells the locks of this store from those of others in the database.
    space: i32,
    /// The latest time that this process knows to be noted.
    noted: AtomicI64,
}

impl ServerClock {
    pub(super) fn new(connection: &mut Connection, clock: Clock) -> Result<ServerClock, StoreError> {
        let row = connection.one(
            "SELECT oid::int8 FROM pg_namespace WHERE nspname = current_schema()",
            &[],
        )?;
        let schema: i64 = row.try_get(0)?;
        Ok(ServerClock {
            clock: (!clock.is_system()).then_some(clock),
            // Wrapping is as good as anything for telling few things apart.
            space: LOCK_SPACE ^ (schema as i32),
            noted: AtomicI64::new(0),
        })
    }

    /// The time of whoever asks, which may be behind the store's.
    pub(super) fn system_now(&self, connection: &mut Connection) -> Result<Datestamp, StoreError> {
        let now = match &self.clock {
            Some(clock) => clock.now().unix(),
            None => connection
                .one("SELECT floor(extract(epoch FROM clock_timestamp()))::int8", &[])?
                .try_get(0)?,
        };
        Ok(Datestamp::from_unix(now)
            .unwrap_or_default()
            .min(Position::latest_datestamp()))
    }

    /// Begins a write in a transaction: waits for any other to end, then fixes the earliest stamp.
    pub(super) fn begin(&self, connection: &mut Connection) -> Result<Datestamp, StoreError> {
        let came = self.system_now(connection)?;
        connection.execute(
            "SELECT pg_advisory_xact_lock_shared($1, $2)",
            &[&self.space, &key_of(came)],
        )?;
        connection.execute("SELECT pg_advisory_xact_lock($1::int8)", &[&i64::from(self.space)])?;
        let noted: i64 = connection.one("SELECT noted FROM clock", &[])?.try_get(0)?;
        let noted = Datestamp::from_unix(noted).unwrap_or_default();
        Ok(came.max(noted))
    }

    /// Notes a time, for everybody and for ever. Not to be called inside a transaction: others would wait for its end.
    pub(super) fn note(&self, connection: &mut Connection, time: Datestamp) -> Result<(), StoreError> {
        let time = time.unix();
        if self.noted.load(Relaxed) < time {
            connection.execute("UPDATE clock SET noted = $1 WHERE noted < $1", &[&time])?;
            self.noted.fetch_max(time, Relaxed);
        }
        Ok(())
    }

    /// A response date: no write that is invisible to a snapshot taken *after* this call has an earlier stamp. Not to
    /// be called inside a transaction.
    pub(super) fn response_date(&self, connection: &mut Connection) -> Result<Datestamp, StoreError> {
        let now = self.system_now(connection)?;
        self.note(connection, now)?;
        let row = connection.one(
            "SELECT noted, (SELECT min(objid::int8::int4) FROM pg_locks WHERE locktype = 'advisory' AND granted
                 AND classid::int8::int4 = $1 AND objsubid = 2
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
             FROM clock",
            &[&self.space],
        )?;
        let noted: i64 = row.try_get(0)?;
        let earliest: Option<i32> = row.try_get(1)?;
        let date = earliest.map_or(noted, |key| noted.min(i64::from(key) + KEY_EPOCH));
        Ok(Datestamp::from_unix(date).unwrap_or_default())
    }
}

/// A date as the key of a lock; dates beyond what a key can say hold everything back, which is safe.
fn key_of(date: Datestamp) -> i32 {
    i32::try_from(date.unix() - KEY_EPOCH).unwrap_or(if date.unix() < KEY_EPOCH { i32::MIN } else { i32::MAX })
}
