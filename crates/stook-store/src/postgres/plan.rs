//! What a batch does to the store, decided without it: from the changes and what is there, to rows.
//!
//! The rules are those of the embedded store's `commit`, which reads as it goes; here everything a batch needs to know
//! has been read at once, because every question is a journey to the server.

use std::collections::{BTreeMap, HashMap};

use stook_oai::Datestamp;

use crate::backend::{Existing, Met, Screen};
use crate::body::{Digest, digest_deleted};
use crate::encode::{Encoded, EncodedContent};
use crate::{Outcome, Position, StoreError};

/// A record as it is before the batch. Beyond its digest nothing is known of one that nothing changes.
pub(super) struct Found {
    pub(super) existing: Existing,
    pub(super) set_specs: String,
    pub(super) deleted: bool,
    pub(super) has_body: bool,
    /// Whether the item has a live record, given in one of the formats that a withdrawal in the batch names.
    pub(super) can_be_made_otherwise: bool,
}

impl Found {
    pub(super) fn new(existing: Existing) -> Found {
        Found {
            existing,
            set_specs: String::new(),
            deleted: false,
            has_body: true,
            can_be_made_otherwise: false,
        }
    }

    /// Whether it stays live in spite of a change, because it counts more or can be made from something else.
    fn outlives(&self, change: &Encoded) -> bool {
        let is_withdrawal = matches!(change.content, EncodedContent::Underived { .. });
        let stays = self.existing.outranks(change) || is_withdrawal && self.can_be_made_otherwise;
        stays && !self.deleted
    }

    /// Whether it is, to the byte, what the change says.
    pub(super) fn has_the_digest_of(&self, change: &Encoded) -> bool {
        matches!(&change.content, EncodedContent::Live { digest, .. } if *digest == self.existing.digest)
    }
}

/// A record's format and identifier.
pub(super) type Key<'a> = (i64, &'a str);

/// Rows to write.
#[derive(Default)]
pub(super) struct Plan<'a> {
    pub(super) outcomes: Vec<Outcome>,
    /// New rows.
    pub(super) inserts: Vec<Insert<'a>>,
    /// Rows that move and keep their content.
    pub(super) carries: Vec<Carry>,
    /// Rows that others take the place of.
    pub(super) removed: Vec<Position>,
    /// Rows whose kept content is dropped where they are.
    pub(super) forgotten: Vec<Position>,
    /// Records that were made from others and have now been given, the very same.
    pub(super) adopted: Vec<Key<'a>>,
    /// What the index of identifiers shall say.
    pub(super) entries: Vec<Entry<'a>>,
    /// Places in lists that are left: format, sets, position.
    pub(super) left: Vec<(i64, String, Position)>,
    /// Change of the number of deleted records, by format.
    pub(super) deleted: BTreeMap<i64, i64>,
    /// The positions taken.
    pub(super) last: Position,
}

/// A new row.
pub(super) struct Insert<'a> {
    pub(super) position: Position,
    pub(super) change: &'a Encoded,
    pub(super) set_specs: String,
    pub(super) deleted: bool,
}

/// A row that moves.
pub(super) struct Carry {
    pub(super) from: Position,
    pub(super) to: Position,
    pub(super) set_specs: String,
    pub(super) deleted: bool,
}

/// What the index of identifiers says of a record.
pub(super) struct Entry<'a> {
    pub(super) change: &'a Encoded,
    pub(super) set_specs: String,
    pub(super) position: Position,
    /// None: of a record that keeps its content, to be made from that.
    pub(super) digest: Option<Digest>,
    pub(super) is_new: bool,
}

impl<'a> Plan<'a> {
    /// Decides. Positions are given out in the order of the changes.
    pub(super) fn make(
        changes: &'a [Encoded],
        found: &HashMap<Key<'_>, Found>,
        screen: &mut Screen<'_>,
        last: Position,
        stamp: Datestamp,
    ) -> Result<Plan<'a>, StoreError> {
        let mut plan = Plan {
            last,
            ..Plan::default()
        };
        // The first change of each record, and whether it leaves the record as it is.
        let mut firsts: HashMap<Key<'_>, (&Encoded, bool)> = HashMap::new();
        for change in changes {
            let key = (change.format, change.identifier.as_str());
            let there = found.get(&key);
            if let Some((first, stays)) = firsts.get(&key) {
                let same = match there.filter(|_| *stays) {
                    Some(found) => is_same(found, change),
                    None => first.says_the_same_as(change),
                };
                plan.outcomes.push(Outcome::Repeated { same });
                continue;
            }
            let settled = match there {
                None => None,
                Some(found) if found.outlives(change) => {
                    screen(&found.existing, Met::Outranked)?;
                    Some(Outcome::Unchanged)
                }
                Some(found) => {
                    let (same, outranked) = (is_same(found, change), found.existing.is_outranked_by(change));
                    if same && outranked {
                        plan.adopted.push((change.format, &change.identifier));
                    }
                    // What was given is no repetition of what was made from something else in the same import.
                    let screened = match same || !outranked {
                        true => screen(&found.existing, if same { Met::Same } else { Met::Other })?,
                        false => None,
                    };
                    screened.or(same.then_some(Outcome::Unchanged))
                }
            };
            firsts.insert(key, (change, settled.is_some() && there.is_some()));
            let outcome = match (settled, there) {
                (Some(outcome), _) => outcome,
                (None, None) => plan.publish_new(change, stamp),
                (None, Some(found)) => plan.publish_over(change, found, stamp),
            };
            plan.outcomes.push(outcome);
        }
        Ok(plan)
    }

    fn take_position(&mut self, stamp: Datestamp) -> Position {
        self.last = self.last.next_at(stamp);
        self.last
    }

    fn publish_new(&mut self, change: &'a Encoded, stamp: Datestamp) -> Outcome {
        let (outcome, digest) = match &change.content {
            EncodedContent::Live { digest, .. } => (Outcome::New, *digest),
            EncodedContent::Restored => return Outcome::NothingToRestore,
            EncodedContent::Underived { .. } | EncodedContent::Kept(_) => return Outcome::Unchanged,
            EncodedContent::Deleted | EncodedContent::Erased => (Outcome::Deleted, digest_deleted(&change.set_specs)),
        };
        let deleted = outcome == Outcome::Deleted;
        let position = self.take_position(stamp);
        self.inserts.push(Insert {
            position,
            change,
            set_specs: change.set_specs.clone(),
            deleted,
        });
        self.entries.push(Entry {
            change,
            set_specs: change.set_specs.clone(),
            position,
            digest: Some(digest),
            is_new: true,
        });
        *self.deleted.entry(change.format).or_default() += i64::from(deleted);
        outcome
    }

    fn publish_over(&mut self, change: &'a Encoded, found: &Found, stamp: Datestamp) -> Outcome {
        if matches!(change.content, EncodedContent::Restored) && !found.has_body {
            return Outcome::NothingToRestore;
        }
        let keeps_sets = change.set_specs.is_empty()
            && !matches!(change.content, EncodedContent::Live { .. } | EncodedContent::Kept(_));
        let set_specs = if keeps_sets {
            &found.set_specs
        } else {
            &change.set_specs
        }
        .clone();
        let from = found.existing.position;
        if matches!(change.content, EncodedContent::Erased) && found.deleted && set_specs == found.set_specs {
            if found.has_body {
                self.forgotten.push(from);
            }
            return Outcome::Unchanged;
        }
        let position = self.take_position(stamp);
        let (outcome, digest) = match &change.content {
            EncodedContent::Live { digest, .. } => (Outcome::Changed, Some(*digest)),
            EncodedContent::Deleted | EncodedContent::Underived { .. } | EncodedContent::Erased => {
                (Outcome::Deleted, Some(digest_deleted(&set_specs)))
            }
            EncodedContent::Restored | EncodedContent::Kept(_) => (Outcome::Changed, None),
        };
        let deleted = outcome == Outcome::Deleted;
        match &change.content {
            EncodedContent::Live { .. } | EncodedContent::Erased => {
                self.removed.push(from);
                self.inserts.push(Insert {
                    position,
                    change,
                    set_specs: set_specs.clone(),
                    deleted,
                });
            }
            EncodedContent::Deleted
            | EncodedContent::Underived { .. }
            | EncodedContent::Restored
            | EncodedContent::Kept(_) => self.carries.push(Carry {
                from,
                to: position,
                set_specs: set_specs.clone(),
                deleted,
            }),
        }
        self.left.push((change.format, found.set_specs.clone(), from));
        *self.deleted.entry(change.format).or_default() += i64::from(deleted) - i64::from(found.deleted);
        self.entries.push(Entry {
            change,
            set_specs,
            position,
            digest,
            is_new: false,
        });
        outcome
    }
}

/// Whether the change would leave everything as it is.
fn is_same(found: &Found, change: &Encoded) -> bool {
    match &change.content {
        EncodedContent::Live { .. } => found.has_the_digest_of(change),
        EncodedContent::Deleted if !change.set_specs.is_empty() => {
            found.existing.digest == digest_deleted(&change.set_specs)
        }
        EncodedContent::Deleted | EncodedContent::Underived { .. } => found.deleted,
        EncodedContent::Restored => !found.deleted,
        // A deleted record may still have content to forget.
        EncodedContent::Erased => false,
        EncodedContent::Kept(at) => {
            found.existing.position != *at || found.deleted || found.set_specs == change.set_specs
        }
    }
}
