//! What came of a round, and what is said meanwhile.

use std::fmt;

use crate::import::Summary;

/// Hears what somebody should know.
pub type Tell<'t> = dyn FnMut(Told) + 't;

/// Something somebody should know.
#[derive(Debug)]
pub enum Told {
    /// All is well.
    News(String),
    /// Something is wrong; a line that begins with "Try: " says what to do about it.
    Trouble(String),
    /// A round failed. It is tried again.
    Failed(anyhow::Error),
}

/// What came of one round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Files that were read.
    pub read: u64,
    /// Files that are gone.
    pub gone: u64,
    /// Records that were not there before.
    pub new: u64,
    /// Records that say something else now.
    pub changed: u64,
    /// Records that are as they were.
    pub unchanged: u64,
    /// Records that are deleted because the files say so.
    pub deleted: u64,
    /// Records that are deleted because no file has them any more.
    pub withdrawn: u64,
    /// What could not be published.
    pub quarantined: u64,
    /// Files that seem to be still being written.
    pub unsettled: usize,
    /// Whether another process is at work, so that nothing was done.
    pub is_left: bool,
    /// Whether there is more to do at once.
    pub again: bool,
    /// Whether somebody should look at something.
    pub has_trouble: bool,
}

impl Round {
    /// Whether nothing happened.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.read + self.gone + self.withdrawn == 0
    }

    pub(super) fn add(&mut self, summary: &Summary) {
        self.new += summary.new;
        self.changed += summary.changed;
        self.unchanged += summary.unchanged;
        self.deleted += summary.deleted;
        self.quarantined += summary.quarantined;
        self.has_trouble |= summary.quarantined > 0;
    }

    /// This one and the next.
    pub(super) fn and(self, next: Round) -> Round {
        Round {
            read: self.read + next.read,
            gone: self.gone + next.gone,
            new: self.new + next.new,
            changed: self.changed + next.changed,
            unchanged: self.unchanged + next.unchanged,
            deleted: self.deleted + next.deleted,
            withdrawn: self.withdrawn + next.withdrawn,
            quarantined: self.quarantined + next.quarantined,
            unsettled: next.unsettled,
            is_left: next.is_left,
            again: next.again,
            has_trouble: self.has_trouble || next.has_trouble,
        }
    }
}

impl fmt::Display for Round {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = |number: u64| if number == 1 { "file" } else { "files" };
        write!(formatter, "{} {} read", self.read, files(self.read))?;
        if self.gone > 0 {
            write!(formatter, ", {} {} gone", self.gone, files(self.gone))?;
        }
        let counts = [
            (self.new, "new"),
            (self.changed, "changed"),
            (self.unchanged, "unchanged"),
            (self.deleted + self.withdrawn, "deleted"),
            (self.quarantined, "quarantined"),
        ];
        let mut before = ": ";
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            write!(formatter, "{before}{count} {what}")?;
            before = ", ";
        }
        Ok(())
    }
}
