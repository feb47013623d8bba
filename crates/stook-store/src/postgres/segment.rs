//! Segments: contiguous ranges of positions that keep the list index small where it is hot. The same as those of the
//! embedded store; see there.

use super::connection::Connection;
use crate::{Position, StoreError};

/// A segment takes at least this many changes … In unit tests few, so that short histories fill, sweep and merge many.
const LEAST_CHANGES: i64 = if cfg!(test) { 6 } else { 16 * 1024 };
/// … and at least this share of the repository, so that there are never too many of them to sum up.
const SHARE: i64 = 64;
/// Segments swept in one commit, to keep commits short.
const SWEEPS: usize = 2;

#[derive(Clone, Debug)]
struct Segment {
    id: i64,
    first: Position,
    changes: i64,
    stale: i64,
    /// Whether this transaction made it staler.
    touched: bool,
}

/// All segments, in order.
pub(super) struct Segments(Vec<Segment>);

impl Segments {
    pub(super) fn load(connection: &mut Connection) -> Result<Segments, StoreError> {
        let rows = connection.all("SELECT id, first, changes, stale FROM segment ORDER BY first", &[])?;
        let segments = rows.iter().map(|row| {
            Ok(Segment {
                id: row.try_get(0)?,
                first: Position::from_sql(row.try_get(1)?),
                changes: row.try_get(2)?,
                stale: row.try_get(3)?,
                touched: false,
            })
        });
        Ok(Segments(segments.collect::<Result<_, StoreError>>()?))
    }

    /// The segment `position` is in, which from now on has one more stale change.
    pub(super) fn leave(&mut self, position: Position) -> i64 {
        let after = self.0.partition_point(|segment| segment.first <= position);
        match after.checked_sub(1).and_then(|at| self.0.get_mut(at)) {
            Some(segment) => {
                segment.stale += 1;
                segment.touched = true;
                segment.id
            }
            None => 0,
        }
    }

    /// The segment for a batch of `changes` that begins at `first`: the open one, or a new one when that is full.
    pub(super) fn append(
        &mut self,
        connection: &mut Connection,
        first: Position,
        changes: usize,
    ) -> Result<i64, StoreError> {
        let changes = i64::try_from(changes).unwrap_or(i64::MAX);
        let live: i64 = self.0.iter().map(|segment| segment.changes - segment.stale).sum();
        let capacity = LEAST_CHANGES.max(live / SHARE);
        if let Some(open) = self.0.last_mut().filter(|open| open.changes < capacity) {
            open.changes += changes;
            open.touched = true;
            return Ok(open.id);
        }
        let row = connection.one(
            "INSERT INTO segment (first, changes, stale) VALUES ($1, 0, 0) RETURNING id",
            &[&first.to_sql()],
        )?;
        let id = row.try_get(0)?;
        self.0.push(Segment {
            id,
            first,
            changes,
            stale: 0,
            touched: true,
        });
        Ok(id)
    }

    /// Saves the counts, and sweeps and merges what has gone stale.
    pub(super) fn sweep(&mut self, connection: &mut Connection) -> Result<(), StoreError> {
        let mut swept = 0;
        let mut at = 0;
        while at < self.0.len() {
            let closed = at + 1 < self.0.len();
            let segment = &mut self.0[at];
            if closed && swept < SWEEPS && segment.stale * 2 > segment.changes {
                swept += 1;
                delete_stale(connection, segment)?;
                if at > 0 && self.0[at - 1].changes + self.0[at].changes <= LEAST_CHANGES {
                    let segment = self.0.remove(at);
                    merge(connection, &mut self.0[at - 1], &segment)?;
                    continue;
                }
            }
            at += 1;
        }
        for segment in self.0.iter().filter(|segment| segment.touched) {
            connection.execute(
                "UPDATE segment SET changes = $2, stale = $3 WHERE id = $1",
                &[&segment.id, &segment.changes, &segment.stale],
            )?;
        }
        Ok(())
    }
}

fn delete_stale(connection: &mut Connection, segment: &mut Segment) -> Result<(), StoreError> {
    connection.execute(
        "DELETE FROM member WHERE repository IN (SELECT id FROM repository) AND segment = $1 AND NOT EXISTS (
             SELECT 1 FROM record WHERE record.repository = member.repository AND record.position = member.position)",
        &[&segment.id],
    )?;
    segment.changes -= segment.stale;
    segment.stale = 0;
    segment.touched = true;
    Ok(())
}

fn merge(connection: &mut Connection, into: &mut Segment, from: &Segment) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE member SET segment = $1 WHERE repository IN (SELECT id FROM repository) AND segment = $2",
        &[&into.id, &from.id],
    )?;
    connection.execute(
        "INSERT INTO tally SELECT repository, list, $1, live FROM tally WHERE segment = $2
         ON CONFLICT (repository, list, segment) DO UPDATE SET live = tally.live + excluded.live",
        &[&into.id, &from.id],
    )?;
    connection.execute("DELETE FROM tally WHERE segment = $1", &[&from.id])?;
    connection.execute("DELETE FROM segment WHERE id = $1", &[&from.id])?;
    into.changes += from.changes;
    into.stale += from.stale;
    into.touched = true;
    Ok(())
}
