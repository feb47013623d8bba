//! What came of an import.

use std::collections::BTreeSet;
use std::time::Duration;

use stook_oai::MetadataPrefix;
use stook_store::Outcome;

use super::rewrite::Rewritten;
use crate::count::{counted, verb};

/// Counts of one import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records that were not there before.
    pub new: u64,
    /// Records that say something else now.
    pub changed: u64,
    /// Records that are as they were.
    pub unchanged: u64,
    /// Records that are deleted now and were not before.
    pub deleted: u64,
    /// Records that came a second time; the first counts.
    pub repeated: u64,
    /// Records in other formats that were made from these, and came out new or differently.
    pub derived: u64,
    /// Records of these items in other formats that were there already, and came into other sets.
    pub regrouped: u64,
    /// What could not be published, and is in the quarantine.
    pub quarantined: u64,
    /// Records that lost characters XML cannot carry.
    pub cleaned: u64,
    /// How many such characters there were.
    pub dropped_characters: u64,
    /// What was done by a mapping of the records' own format.
    pub rewritten: Rewritten,
    /// Records in Dublin Core, given or made, that could say something better.
    pub improvable: u64,
    /// Bytes read, as they lie on disk.
    pub bytes: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Whether it was asked to stop before the end.
    pub stopped: bool,
    /// Sources that could not be read to their end.
    pub broken_sources: u64,
    /// Quarantined records of which not even the identifier is known.
    pub unidentified: u64,
    /// The formats the input has records in.
    pub prefixes: BTreeSet<MetadataPrefix>,
}

/// Why an input cannot stand for the whole repository, so that nothing may be deleted for not being in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomplete {
    /// It was not read to its end.
    #[error("the import was stopped before the end of its input")]
    Stopped,
    /// A source broke off.
    #[error("{} could not be read to the end", counted(*.0, "file"))]
    BrokenSources(u64),
    /// A record could not be read at all, and could be any.
    #[error(
        "{} could not be read far enough to know which {}",
        counted(*.0, "record"),
        verb(*.0, "it is", "they are")
    )]
    Unidentified(u64),
}

impl Summary {
    /// How many records were read, whatever became of them.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.new + self.changed + self.unchanged + self.deleted + self.repeated + self.quarantined
    }

    /// Whether the input was read so completely that what it does not mention is really gone.
    ///
    /// # Errors
    /// Why it was not.
    pub fn is_complete(&self) -> Result<(), Incomplete> {
        match self {
            Self { stopped: true, .. } => Err(Incomplete::Stopped),
            Self {
                broken_sources: 1.., ..
            } => Err(Incomplete::BrokenSources(self.broken_sources)),
            Self { unidentified: 1.., .. } => Err(Incomplete::Unidentified(self.unidentified)),
            _ => Ok(()),
        }
    }

    pub(super) fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::New => self.new += 1,
            Outcome::Changed => self.changed += 1,
            Outcome::Deleted => self.deleted += 1,
            Outcome::Unchanged | Outcome::NothingToRestore => self.unchanged += 1,
            Outcome::Repeated { .. } => self.repeated += 1,
        }
    }
}
