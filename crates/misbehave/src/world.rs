//! The records a source holds, and its clock.
//!
//! Tests change a world while it is served; every change is stamped with the
//! world's clock, never earlier, so a correct harvester that asks again from
//! the last responseDate misses nothing. What a harvester must end with is
//! [`World::expected`]. Nothing here knows of requests or faults.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use stook_oai::{Datestamp, DeletedRecord, Granularity};

use crate::made_up;

/// The beginning of 2020: no made-up record is older.
const FIRST_DATESTAMP: i64 = 1_577_836_800;
/// Made-up records are spread over at most this time, so that none is stamped
/// later than today however many there are.
const SPREAD_SECONDS: i64 = 3 * 365 * 86_400;
/// As many made-up records share a datestamp: lists are cut in the middle of a second.
const SHARE_A_SECOND: u64 = 3;

/// Where a record stands in every list: by datestamp, then by identifier.
pub(crate) type Position = (i64, Arc<str>);

/// Where a world takes the time from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The system's time.
    System,
    /// This second since 1970, until it is set again.
    Fixed(i64),
}

/// One item with its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its identifier.
    pub identifier: String,
    /// Seconds since 1970.
    pub datestamp: i64,
    /// The sets it says it is in; ancestors are implied.
    pub set_specs: Vec<String>,
    /// Whether it is shown as deleted.
    pub deleted: bool,
    /// One element of XML per metadataPrefix. Kept when the item is deleted:
    /// it says in which lists the deletion is shown.
    pub metadata: BTreeMap<String, String>,
}

impl Item {
    /// Whether the item is in the set or in one below it.
    pub(crate) fn is_in(&self, set_spec: &str) -> bool {
        let below = |own: &String| {
            own.strip_prefix(set_spec)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        self.set_specs.iter().any(below)
    }
}

/// What a harvester must hold of one item after an exact harvest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Seconds since 1970, of the granularity that is disseminated.
    pub datestamp: i64,
    /// Whether it is deleted.
    pub deleted: bool,
    /// The setSpecs of the header.
    pub set_specs: Vec<String>,
    /// The element inside `metadata`; none for a deleted record.
    pub metadata: Option<Vec<u8>>,
}

/// The records a source holds.
#[derive(Debug, Clone)]
pub struct World {
    /// Items by identifier.
    items: BTreeMap<Arc<str>, Item>,
    /// The same items in the order of lists.
    order: BTreeSet<Position>,
    /// setSpec and setName, in the order of ListSets.
    pub sets: Vec<(String, String)>,
    /// What Identify says; the earliest datestamp held where it is none.
    pub earliest_datestamp: Option<i64>,
    /// The granularity of datestamps and requests.
    pub granularity: Granularity,
    /// What Identify promises. With `No`, deleting removes without a trace.
    pub deleted_record: DeletedRecord,
    /// Where the time comes from.
    pub clock: Clock,
    /// Counts changes, so that every change gives another text.
    revision: u64,
}

impl World {
    /// A source without records but with sets.
    #[must_use]
    pub fn empty() -> Self {
        let named = |(spec, name): (&str, &str)| (spec.to_owned(), name.to_owned());
        Self {
            items: BTreeMap::new(),
            order: BTreeSet::new(),
            sets: made_up::SETS.into_iter().map(named).collect(),
            earliest_datestamp: None,
            granularity: Granularity::Second,
            deleted_record: DeletedRecord::Persistent,
            clock: Clock::System,
            revision: 0,
        }
    }

    /// `count` made-up records, the same every time: all have oai_dc, every
    /// second mods too; one in 13 is deleted, one in 7 is in no set, three
    /// share each datestamp.
    #[must_use]
    pub fn of(count: u64) -> Self {
        let mut world = Self::empty();
        let groups = i64::try_from(count / SHARE_A_SECOND).unwrap_or(i64::MAX);
        let step = (SPREAD_SECONDS / groups.saturating_add(1)).clamp(1, 3_607);
        for number in 0..count {
            let group = i64::try_from(number / SHARE_A_SECOND).unwrap_or(0);
            world.put(made_up_item(number, FIRST_DATESTAMP + group * step));
        }
        world
    }

    /// The same world with datestamps and requests of that granularity.
    #[must_use]
    pub fn with_granularity(mut self, granularity: Granularity) -> Self {
        self.granularity = granularity;
        self
    }

    /// The same world at that second, where time stands still until it is
    /// stepped.
    #[must_use]
    pub fn at(mut self, unix: i64) -> Self {
        self.clock = Clock::Fixed(unix);
        self
    }

    /// The same world with every item stamped with that second.
    #[must_use]
    pub fn all_stamped(mut self, unix: i64) -> Self {
        for identifier in self.identifiers() {
            self.restamp(&identifier, unix);
        }
        self
    }

    /// Seconds since 1970 by the world's clock.
    #[must_use]
    pub fn now(&self) -> i64 {
        match self.clock {
            Clock::Fixed(unix) => unix,
            Clock::System => SystemTime::UNIX_EPOCH
                .elapsed()
                .ok()
                .and_then(|since| i64::try_from(since.as_secs()).ok())
                .unwrap_or(0),
        }
    }

    /// Stops the clock that many seconds after what it shows now.
    pub fn advance(&mut self, step: Duration) {
        let seconds = i64::try_from(step.as_secs()).unwrap_or(i64::MAX);
        self.clock = Clock::Fixed(self.now().saturating_add(seconds));
    }

    /// Adds a made-up item, stamped now; its number makes its metadata. An item
    /// of that identifier is replaced, whatever it was.
    pub fn add(&mut self, identifier: &str, number: u64) {
        let item = Item {
            identifier: identifier.to_owned(),
            ..made_up_item(number, self.now())
        };
        self.put(Item { deleted: false, ..item });
    }

    /// Puts an item as it is, also with a datestamp of the past.
    pub fn put(&mut self, item: Item) {
        let key: Arc<str> = Arc::from(item.identifier.as_str());
        if let Some(before) = self.items.get(&key) {
            self.order.remove(&(before.datestamp, Arc::clone(&key)));
        }
        self.order.insert((item.datestamp, Arc::clone(&key)));
        self.items.insert(key, item);
    }

    /// Gives an item other metadata, stamped now; a deleted one comes back.
    pub fn change(&mut self, identifier: &str) {
        self.revision += 1;
        let revision = self.revision;
        self.edit(identifier, |item| {
            item.deleted = false;
            for (prefix, metadata) in &mut item.metadata {
                *metadata = made_up::metadata(prefix, revision, revision);
            }
        });
    }

    /// Puts an item into other sets, stamped now.
    pub fn move_to(&mut self, identifier: &str, set_specs: &[&str]) {
        self.edit(identifier, |item| {
            item.set_specs = set_specs.iter().map(|spec| (*spec).to_owned()).collect()
        });
    }

    /// Deletes an item, stamped now; without a trace where
    /// [`deleted_record`](Self::deleted_record) is `No`.
    pub fn delete(&mut self, identifier: &str) {
        if self.deleted_record == DeletedRecord::No {
            self.remove(identifier);
        } else {
            self.edit(identifier, |item| item.deleted = true);
        }
    }

    /// Undoes a deletion, stamped now.
    pub fn restore(&mut self, identifier: &str) {
        self.edit(identifier, |item| item.deleted = false);
    }

    /// Changes the datestamp and nothing else.
    pub fn restamp(&mut self, identifier: &str, unix: i64) {
        if let Some(item) = self.items.get(identifier) {
            let item = Item {
                datestamp: unix,
                ..item.clone()
            };
            self.put(item);
        }
    }

    /// Takes an item out without a trace.
    pub fn remove(&mut self, identifier: &str) {
        if let Some((key, item)) = self.items.remove_entry(identifier) {
            self.order.remove(&(item.datestamp, key));
        }
    }

    /// Takes everything out without a trace.
    pub fn clear(&mut self) {
        self.items.clear();
        self.order.clear();
    }

    /// Deletes everything, stamped now.
    pub fn delete_all(&mut self) {
        for identifier in self.identifiers() {
            self.delete(&identifier);
        }
    }

    /// One item.
    #[must_use]
    pub fn item(&self, identifier: &str) -> Option<&Item> {
        self.items.get(identifier)
    }

    /// How many items there are, deleted ones too.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All identifiers, in the order of lists.
    #[must_use]
    pub fn identifiers(&self) -> Vec<String> {
        self.order
            .iter()
            .map(|(_, identifier)| identifier.to_string())
            .collect()
    }

    /// What an exact harvester of a format must end with, by identifier.
    #[must_use]
    pub fn expected(&self, prefix: &str) -> BTreeMap<String, Expected> {
        let held = self.items.values().filter(|item| item.metadata.contains_key(prefix));
        held.map(|item| (item.identifier.clone(), self.expected_of(item, prefix)))
            .collect()
    }

    fn expected_of(&self, item: &Item, prefix: &str) -> Expected {
        let metadata = item.metadata.get(prefix).filter(|_| !item.deleted);
        Expected {
            datestamp: datestamp(item.datestamp).truncate(self.granularity).unix(),
            deleted: item.deleted,
            set_specs: item.set_specs.clone(),
            metadata: metadata.map(|xml| xml.as_bytes().to_vec()),
        }
    }

    /// The datestamp that no item is earlier than.
    pub(crate) fn earliest(&self) -> i64 {
        let held = self.order.first().map_or(FIRST_DATESTAMP, |(datestamp, _)| *datestamp);
        self.earliest_datestamp.unwrap_or(held)
    }

    /// The items behind a position, in the order of lists.
    pub(crate) fn behind(&self, after: Option<&Position>) -> impl Iterator<Item = &Item> {
        let start = after.map_or(Bound::Unbounded, |position| Bound::Excluded(position.clone()));
        self.order
            .range((start, Bound::Unbounded))
            .filter_map(|(_, identifier)| self.items.get(identifier))
    }

    fn edit(&mut self, identifier: &str, edit: impl FnOnce(&mut Item)) {
        let now = self.now();
        if let Some(item) = self.items.get(identifier) {
            let mut item = Item {
                datestamp: now,
                ..item.clone()
            };
            edit(&mut item);
            self.put(item);
        }
    }
}

/// Where an item stands in lists.
pub(crate) fn position(item: &Item) -> Position {
    (item.datestamp, Arc::from(item.identifier.as_str()))
}

/// A second of the calendar; one outside it is the epoch.
pub(crate) fn datestamp(unix: i64) -> Datestamp {
    Datestamp::from_unix(unix).unwrap_or(Datestamp::UNIX_EPOCH)
}

fn made_up_item(number: u64, datestamp: i64) -> Item {
    let prefixes = if number.is_multiple_of(2) {
        &["oai_dc", "mods"][..]
    } else {
        &["oai_dc"]
    };
    let own = |prefix: &&str| ((*prefix).to_owned(), made_up::metadata(prefix, number, 0));
    Item {
        identifier: format!("oai:misbehave.example.org:{number}"),
        datestamp,
        set_specs: made_up_sets(number),
        deleted: number % 13 == 7,
        metadata: prefixes.iter().map(own).collect(),
    }
}

/// Six sevenths are in one set, every fifth of those in a second one too.
fn made_up_sets(number: u64) -> Vec<String> {
    let spec_at = |at: u64| {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        made_up::SETS.get(at).map(|(spec, _)| (*spec).to_owned())
    };
    let first = spec_at(number % 7);
    let second = first
        .as_ref()
        .and_then(|_| spec_at((number + 3) % 7))
        .filter(|_| number.is_multiple_of(5));
    first.into_iter().chain(second).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_moves_to_the_end_and_is_stamped_now() {
        let mut world = World::of(10).at(1_700_000_000);
        let first = world.identifiers()[0].clone();
        let before = world.expected("oai_dc")[&first].clone();
        world.change(&first);
        assert_eq!(world.identifiers().last(), Some(&first));
        let after = &world.expected("oai_dc")[&first];
        assert_eq!(after.datestamp, 1_700_000_000);
        assert_ne!(after.metadata, before.metadata);
        world.advance(Duration::from_secs(5));
        world.delete(&first);
        assert_eq!(world.expected("oai_dc")[&first].metadata, None);
        assert_eq!(world.item(&first).unwrap().datestamp, 1_700_000_005);
        assert_eq!(world.len(), 10);
    }

    #[test]
    fn removal_leaves_no_trace() {
        let mut world = World::of(10);
        world.remove("oai:misbehave.example.org:4");
        assert_eq!((world.len(), world.identifiers().len()), (9, 9));
        world.clear();
        assert!(world.is_empty() && world.identifiers().is_empty());
    }

    #[test]
    fn a_set_holds_what_is_below_it_and_nothing_that_merely_begins_like_it() {
        let item = Item {
            set_specs: vec!["maps:city".to_owned()],
            ..made_up_item(1, 0)
        };
        assert!(item.is_in("maps") && item.is_in("maps:city"));
        assert!(!item.is_in("map") && !item.is_in("maps:city:x"));
    }

    #[test]
    fn a_million_records_are_not_stamped_in_the_future() {
        let world = World::of(30_000);
        assert!(world.order.last().unwrap().0 < FIRST_DATESTAMP + SPREAD_SECONDS);
    }

    #[test]
    fn days_are_expected_where_days_are_disseminated() {
        let world = World::of(3)
            .all_stamped(1_700_000_000)
            .with_granularity(Granularity::Day);
        assert!(
            world
                .expected("oai_dc")
                .values()
                .all(|record| record.datestamp % 86_400 == 0)
        );
    }
}
