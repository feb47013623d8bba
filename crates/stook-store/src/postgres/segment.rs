//! Segments in their tables; what they are for, and when what happens, is in `crate::segment`.

use super::connection::Connection;
use crate::segment::{Segment, SegmentTable};
use crate::{Position, StoreError};

impl SegmentTable for Connection {
    fn load(&mut self) -> Result<Vec<Segment>, StoreError> {
        let rows = self.all("SELECT id, first, changes, stale FROM segment ORDER BY first", &[])?;
        rows.iter()
            .map(|row| {
                Ok(Segment::new(
                    row.try_get(0)?,
                    row.try_get(1)?,
                    row.try_get(2)?,
                    row.try_get(3)?,
                ))
            })
            .collect()
    }

    fn insert(&mut self, first: Position) -> Result<i64, StoreError> {
        let row = self.one(
            "INSERT INTO segment (first, changes, stale) VALUES ($1, 0, 0) RETURNING id",
            &[&first.to_sql()],
        )?;
        Ok(row.try_get(0)?)
    }

    fn save(&mut self, segment: &Segment) -> Result<(), StoreError> {
        self.execute(
            "UPDATE segment SET changes = $2, stale = $3 WHERE id = $1",
            &[&segment.id, &segment.changes, &segment.stale],
        )?;
        Ok(())
    }

    fn delete_stale(&mut self, id: i64) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM member WHERE repository IN (SELECT id FROM repository) AND segment = $1 AND NOT EXISTS (
                 SELECT 1 FROM record WHERE record.repository = member.repository AND record.position = member.position)",
            &[&id],
        )?;
        Ok(())
    }

    fn merge(&mut self, into: i64, from: i64) -> Result<(), StoreError> {
        self.execute(
            "UPDATE member SET segment = $1 WHERE repository IN (SELECT id FROM repository) AND segment = $2",
            &[&into, &from],
        )?;
        self.execute(
            "INSERT INTO tally SELECT repository, list, $1, live FROM tally WHERE segment = $2
             ON CONFLICT (repository, list, segment) DO UPDATE SET live = tally.live + excluded.live",
            &[&into, &from],
        )?;
        self.execute("DELETE FROM tally WHERE segment = $1", &[&from])?;
        self.execute("DELETE FROM segment WHERE id = $1", &[&from])?;
        Ok(())
    }
}
