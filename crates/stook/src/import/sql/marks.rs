//! How far earlier readings of a definition came, as the store remembers it.
//!
//! A mark is written only after everything up to it is published. A reading asks from the mark of the last one, or, where
//! transactions may commit late, from one that is older than the last by the overlap: what was stamped before the last
//! reading and committed after it lies behind that.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stook_store::{Note, RepositoryId, Store, StoreError};

use super::dialect::Mark;

/// Marks are at least so small a part of the overlap apart: there are never many more of them than this.
const MOST: u32 = 100;

/// What the store remembers of a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Marks {
    /// Of the definition they belong to.
    pub(super) definition: String,
    /// When the last reading began, in seconds since 1970.
    last: i64,
    /// In the order of time.
    passed: Vec<Passed>,
}

/// How far one reading came.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct Passed {
    /// When it began.
    at: i64,
    mark: Mark,
}

impl Marks {
    /// What is remembered under a name. What cannot be read any more is as if it were not there: everything is read.
    pub(super) fn load(store: &Store, repository: RepositoryId, name: &str) -> Result<Option<Marks>, StoreError> {
        let key = key(name);
        let notes = store.notes(repository, &key)?;
        let found = notes.into_iter().find(|(found, _)| *found == key);
        Ok(found.and_then(|(_, text)| serde_json::from_str(&text).ok()))
    }

    pub(super) fn save(&self, store: &Store, repository: RepositoryId, name: &str) -> Result<(), StoreError> {
        let note = Note {
            key: key(name),
            text: serde_json::to_string(self).ok(),
        };
        store.write_notes(repository, &[note])
    }

    /// Where the next reading begins; none if it has to read everything.
    pub(super) fn start(&self, overlap: Duration) -> Option<&Mark> {
        let latest = self.last - seconds(overlap);
        let found = self.passed.iter().rfind(|passed| passed.at <= latest);
        found.map(|passed| &passed.mark)
    }

    /// Adds how far a reading came that began at a time, and forgets what is no longer needed.
    pub(super) fn pass(&mut self, mark: Mark, at: i64, overlap: Duration) {
        self.last = at.max(self.last);
        let newest = self.passed.last().map(|passed| passed.at);
        if newest.is_none_or(|newest| self.last - newest >= seconds(overlap / MOST)) {
            self.passed.push(Passed { at: self.last, mark });
        }
        let latest = self.last - seconds(overlap);
        let needed = self.passed.iter().rposition(|passed| passed.at <= latest);
        self.passed.drain(..needed.unwrap_or(0));
    }

    pub(super) fn forget(&mut self) {
        self.passed.clear();
    }
}

fn key(name: &str) -> String {
    format!("sql/{name}")
}

fn seconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_secs()).unwrap_or(i64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(value: &str) -> Mark {
        Mark::new(value, false).unwrap()
    }

    fn start(marks: &Marks, overlap: Duration) -> Option<&str> {
        marks.start(overlap).map(|mark| mark.value.as_str())
    }

    #[test]
    fn without_an_overlap_the_last_mark_counts() {
        let mut marks = Marks::default();
        assert_eq!(start(&marks, Duration::ZERO), None);
        marks.pass(mark("a"), 100, Duration::ZERO);
        marks.pass(mark("b"), 200, Duration::ZERO);
        assert_eq!(start(&marks, Duration::ZERO), Some("b"));
        assert_eq!(marks.passed.len(), 1);
        // A clock that went back changes nothing.
        marks.pass(mark("c"), 150, Duration::ZERO);
        assert_eq!(start(&marks, Duration::ZERO), Some("c"));
    }

    #[test]
    fn with_an_overlap_it_is_one_that_is_older_than_the_last_by_so_much() {
        let overlap = Duration::from_secs(60);
        let mut marks = Marks::default();
        marks.pass(mark("a"), 1000, overlap);
        // Nothing is old enough: everything is read.
        assert_eq!(start(&marks, overlap), None);
        marks.pass(mark("b"), 1030, overlap);
        assert_eq!(start(&marks, overlap), None);
        marks.pass(mark("c"), 1070, overlap);
        assert_eq!(start(&marks, overlap), Some("a"));
        marks.pass(mark("d"), 1200, overlap);
        assert_eq!(start(&marks, overlap), Some("c"));
        assert_eq!(marks.passed.len(), 2);
    }

    #[test]
    fn marks_do_not_pile_up() {
        let overlap = Duration::from_secs(3600);
        let mut marks = Marks::default();
        for at in 0..10_000 {
            marks.pass(mark(&at.to_string()), at, overlap);
        }
        assert!(marks.passed.len() <= 102);
        let from: i64 = start(&marks, overlap).unwrap().parse().unwrap();
        assert!((9_999 - 3_700..=9_999 - 3_600).contains(&from), "{from}");
    }
}
