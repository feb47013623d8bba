//! Segments: contiguous ranges of positions that keep the list index small where it is hot.
//!
//! List members are keyed (segment, list, position), so the appends of a batch land in the open segment's corner of the
//! index, however many lists they touch. A record that changes leaves its old member rows behind as stale; a segment
//! that is mostly stale is swept, and merged into the one before it when both have become small.
//!
//! When all that happens is decided here; a back end does it ([`SegmentTable`]).

use crate::{Position, StoreError};

/// A segment takes at least this many changes … In unit tests few, so that short histories fill, sweep and merge many.
const LEAST_CHANGES: i64 = if cfg!(test) { 6 } else { 16 * 1024 };
/// … and at least this share of the repository, so that there are never too many of them to sum up.
const SHARE: i64 = 64;
/// Segments swept in one commit, to keep commits short.
const SWEEPS: usize = 2;

/// The tables that segments are about, in a transaction.
pub(crate) trait SegmentTable {
    /// All segments, in order.
    fn load(&mut self) -> Result<Vec<Segment>, StoreError>;
    /// A new one, without changes; its id.
    fn insert(&mut self, first: Position) -> Result<i64, StoreError>;
    /// Saves how many changes it has.
    fn save(&mut self, segment: &Segment) -> Result<(), StoreError>;
    /// Drops its member rows that lead to no record.
    fn delete_stale(&mut self, id: i64) -> Result<(), StoreError>;
    /// Gives what one has to another, and drops it.
    fn merge(&mut self, into: i64, from: i64) -> Result<(), StoreError>;
}

/// One segment.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) id: i64,
    /// Its range ends where the next begins.
    pub(crate) first: Position,
    /// Records appended.
    pub(crate) changes: i64,
    /// Of those, moved on since.
    pub(crate) stale: i64,
    /// Whether this transaction has changed it.
    touched: bool,
}

impl Segment {
    pub(crate) fn new(id: i64, first: i64, changes: i64, stale: i64) -> Segment {
        Segment {
            id,
            first: Position::from_sql(first),
            changes,
            stale,
            touched: false,
        }
    }
}

/// All segments, in order.
pub(crate) struct Segments(Vec<Segment>);

impl Segments {
    pub(crate) fn load(table: &mut impl SegmentTable) -> Result<Segments, StoreError> {
        table.load().map(Segments)
    }

    /// The segment `position` is in, which from now on has one more stale change.
    pub(crate) fn leave(&mut self, position: Position) -> i64 {
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
    pub(crate) fn append(
        &mut self,
        table: &mut impl SegmentTable,
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
        let id = table.insert(first)?;
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
    pub(crate) fn sweep(&mut self, table: &mut impl SegmentTable) -> Result<(), StoreError> {
        let mut swept = 0;
        let mut at = 0;
        while at < self.0.len() {
            let closed = at + 1 < self.0.len();
            let segment = &mut self.0[at];
            if closed && swept < SWEEPS && segment.stale * 2 > segment.changes {
                swept += 1;
                table.delete_stale(segment.id)?;
                segment.changes -= segment.stale;
                segment.stale = 0;
                segment.touched = true;
                if at > 0 && self.0[at - 1].changes + self.0[at].changes <= LEAST_CHANGES {
                    let from = self.0.remove(at);
                    let into = &mut self.0[at - 1];
                    table.merge(into.id, from.id)?;
                    into.changes += from.changes;
                    into.stale += from.stale;
                    into.touched = true;
                    continue;
                }
            }
            at += 1;
        }
        for segment in self.0.iter().filter(|segment| segment.touched) {
            table.save(segment)?;
        }
        Ok(())
    }
}

/// A part of a span that is counted in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Segments that lie in it whole, the first and the last of them: their tallies are summed up.
    Whole(i64, i64),
    /// A segment that lies in it partly: its members are counted.
    Edge(i64),
}

/// The parts of a span that begins in one segment and ends in another (0 is before all). The segment of the last
/// position ends there, so a span to the end needs no counting on that side.
pub(crate) fn parts_of_span(first: i64, last: i64, to_the_end: bool) -> Vec<Part> {
    match (first == last, to_the_end) {
        (_, true) if first == 0 => vec![Part::Whole(0, last)],
        (true, _) => vec![Part::Edge(first)],
        (false, true) => vec![Part::Edge(first), Part::Whole(first + 1, last)],
        (false, false) => vec![Part::Edge(first), Part::Whole(first + 1, last - 1), Part::Edge(last)],
    }
}
