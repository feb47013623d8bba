//! What a caller asks of the store, and what came of it.

use std::ops::Range;

use stook_oai::{Datestamp, Identifier, MetadataPrefix, SetSpec};

use crate::Position;

/// One record as it shall be from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The item.
    pub identifier: Identifier,
    /// The format; declared for the repository beforehand.
    pub prefix: MetadataPrefix,
    /// The sets the record is in. Ancestors are implied and need not be named.
    ///
    /// Empty in a deletion or restoration means "the sets it was in".
    pub set_specs: Vec<SetSpec>,
    /// What is disseminated.
    pub content: Content,
}

/// What a record disseminates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Metadata and about containers: one root element each, checked and standing alone.
    Live {
        /// The metadata part's root element.
        metadata: String,
        /// The root elements of the about containers.
        about: Vec<String>,
    },
    /// Live, and made from the item's record in another format. Never takes the place of a live record that was given,
    /// and gives way to one.
    Derived {
        /// The metadata part's root element.
        metadata: String,
        /// The root elements of the about containers.
        about: Vec<String>,
    },
    /// Withdrawn, because what it was made from says nothing of the kind any more. Leaves alone what was given, and what
    /// never was.
    Underived {
        /// Other formats it can be made from. As long as the item has a live record that was given in one of them, the
        /// record stays: whoever knows the way makes it from that one.
        unless: Vec<MetadataPrefix>,
    },
    /// Live, and taken from another repository.
    Harvested {
        /// The metadata part's root element.
        metadata: String,
        /// The root elements of the about containers, without the one that tells the origin.
        about: Vec<String>,
        /// Where it comes from.
        origin: Origin,
    },
    /// Withdrawn. What it was is kept, so that it can be restored.
    Deleted,
    /// Withdrawn, and its content forgotten.
    Erased,
    /// Live again with the content it had before its deletion.
    Restored,
    /// Live with the content it has, in these sets and no others. Nothing happens to a record that is deleted, or that
    /// somebody has changed since it was read: whoever did has decided about its sets, too.
    Kept {
        /// Where it stood when it was read.
        at: Position,
    },
}

/// Where a harvested record comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its datestamp there, if that could be read.
    pub datestamp: Option<Datestamp>,
    /// The root element of one more about container, which says so.
    pub provenance: String,
    /// The part of `provenance` that differs each time the record is harvested and alone makes no change.
    pub volatile: Range<usize>,
}

/// What a caller keeps beside the records, by a key of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The key, one of its kind in a repository.
    pub key: String,
    /// What it says; none takes the note away.
    pub text: Option<String>,
}

/// What is known of a record without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Whether it is deleted.
    pub deleted: bool,
    /// Its datestamp where it was harvested from.
    pub origin: Option<Datestamp>,
    /// Whether it was made from the item's record in another format.
    pub derived: bool,
}

/// What a change did to the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The record was not there before.
    New,
    /// What is disseminated changed: the record has a new datestamp.
    Changed,
    /// The record is now deleted: it has a new datestamp.
    Deleted,
    /// Nothing changed, the datestamp least of all.
    Unchanged,
    /// The same record came earlier in the same import, which keeps the first.
    Repeated {
        /// Whether it said the same.
        same: bool,
    },
    /// There was nothing to restore.
    NothingToRestore,
}

impl Outcome {
    /// Whether the record moved to a new datestamp.
    pub fn is_published(self) -> bool {
        matches!(self, Outcome::New | Outcome::Changed | Outcome::Deleted)
    }
}

/// The set specs of one record as the header shows them: sorted, without those implied by a descendant, one space
/// between.
///
/// Sorting makes "the same sets in another order" no change; dropping ancestors is what section 2.6 of the
/// specification asks of headers.
pub(crate) fn header_set_specs(set_specs: &[SetSpec]) -> String {
    let mut minimal: Vec<&SetSpec> = set_specs
        .iter()
        .filter(|spec| !set_specs.iter().any(|other| other != *spec && spec.contains(other)))
        .collect();
    minimal.sort();
    minimal.dedup();
    let mut text = String::new();
    for spec in minimal {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(spec.as_str());
    }
    text
}

/// Every set a record with these header set specs is in: the sets named and all their ancestors, each once.
pub(crate) fn sets_with_ancestors(header_set_specs: &str) -> Vec<&str> {
    let mut sets = Vec::new();
    for spec in header_set_specs.split_ascii_whitespace() {
        let ends = spec.match_indices(':').map(|(at, _)| at).chain([spec.len()]);
        for set in ends.map(|end| &spec[..end]) {
            if !sets.contains(&set) {
                sets.push(set);
            }
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_sets_are_sorted_and_minimal() {
        let sets = ["b", "a:x", "a", "a:x", "ab"].map(|spec| SetSpec::parse(spec).unwrap());
        assert_eq!(header_set_specs(&sets), "a:x ab b");
    }

    #[test]
    fn ancestors_are_implied_once() {
        assert_eq!(
            sets_with_ancestors("a:x:1 a:x:2 b"),
            ["a", "a:x", "a:x:1", "a:x:2", "b"]
        );
        assert!(sets_with_ancestors("").is_empty());
    }
}
