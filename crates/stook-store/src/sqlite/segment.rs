//! Segments in their tables; what they are for, and when what happens, is in `crate::segment`.

use rusqlite::Connection;

use crate::segment::{Segment, SegmentTable};
use crate::{Position, StoreError};

impl SegmentTable for &Connection {
    fn load(&mut self) -> Result<Vec<Segment>, StoreError> {
        let mut select = self.prepare_cached("SELECT id, first, changes, stale FROM segment ORDER BY first")?;
        let segments = select.query_map([], |row| {
            Ok(Segment::new(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        Ok(segments.collect::<Result<_, _>>()?)
    }

    fn insert(&mut self, first: Position) -> Result<i64, StoreError> {
        self.execute(
            "INSERT INTO segment (first, changes, stale) VALUES (?1, 0, 0)",
            [first.to_sql()],
        )?;
        Ok(self.last_insert_rowid())
    }

    fn save(&mut self, segment: &Segment) -> Result<(), StoreError> {
        self.prepare_cached("UPDATE segment SET changes = ?2, stale = ?3 WHERE id = ?1")?
            .execute((segment.id, segment.changes, segment.stale))?;
        Ok(())
    }

    fn delete_stale(&mut self, id: i64) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM member WHERE segment = ?1
             AND NOT EXISTS (SELECT 1 FROM record WHERE record.position = member.position)",
            [id],
        )?;
        Ok(())
    }

    fn merge(&mut self, into: i64, from: i64) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO member SELECT ?1, list, position FROM member WHERE segment = ?2",
            (into, from),
        )?;
        self.execute("DELETE FROM member WHERE segment = ?1", [from])?;
        self.execute(
            "INSERT INTO tally SELECT list, ?1, live FROM tally WHERE segment = ?2
             ON CONFLICT (list, segment) DO UPDATE SET live = live + excluded.live",
            (into, from),
        )?;
        self.execute("DELETE FROM tally WHERE segment = ?1", [from])?;
        self.execute("DELETE FROM segment WHERE id = ?1", [from])?;
        Ok(())
    }
}
