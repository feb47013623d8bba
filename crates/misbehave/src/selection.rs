//! What a source holds in the eyes of those who ask: which items it shows, in
//! which sets, with which datestamps; as it should be, and as faults bend it.

use std::sync::LazyLock;

use crate::fault::Fault;
use crate::script::Setting;
use crate::source::Turn;
use crate::world::{Item, datestamp};

/// What `long-sets` appends to every setSpec.
pub(crate) static LONG_SUFFIX: LazyLock<String> = LazyLock::new(|| ":a-very-long-name-of-a-set".repeat(80));
/// How much earlier `datestamp-not-filtered-by` shows datestamps.
const SHOWN_EARLIER_SECONDS: i64 = 400 * 86_400;
/// What a list shows of one item.
pub(crate) struct Entry {
    pub(crate) identifier: String,
    pub(crate) datestamp: i64,
    /// Separated by spaces.
    pub(crate) set_specs: String,
    pub(crate) deleted: bool,
    pub(crate) metadata: String,
}

impl Entry {
    pub(crate) fn new(turn: &Turn<'_>, item: &Item, prefix: &str) -> Self {
        let earlier = if turn.has(Fault::DatestampNotFilteredBy) {
            SHOWN_EARLIER_SECONDS
        } else {
            0
        };
        let set_specs: Vec<String> = item.set_specs.iter().filter_map(|spec| shown_set(turn, spec)).collect();
        Self {
            identifier: item.identifier.clone(),
            datestamp: item.datestamp - earlier,
            set_specs: set_specs.join(" "),
            deleted: item.deleted,
            metadata: item.metadata.get(prefix).cloned().unwrap_or_default(),
        }
    }
}

/// Which records a list is to hold.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) prefix: String,
    pub(crate) from: Option<i64>,
    pub(crate) until: Option<i64>,
    pub(crate) set: Option<String>,
}

/// The item of an identifier, if the source admits to it.
pub(crate) fn visible<'a>(turn: &Turn<'a>, identifier: &str) -> Option<&'a Item> {
    turn.world.item(identifier).filter(|item| is_shown(turn, item, None))
}

/// The sets that ListSets shows: setSpec and setName.
pub(crate) fn sets(turn: &Turn<'_>) -> Vec<(String, String)> {
    let own = turn
        .world
        .sets
        .iter()
        .filter_map(|(spec, name)| Some((shown_set(turn, spec)?, name.clone())));
    let extra = if turn.has(Fault::ManySlowSets) {
        turn.script.setting(Setting::ExtraSets)
    } else {
        0
    };
    own.chain((1..=extra).map(|number| (format!("extra-{number}"), format!("Extra set {number}"))))
        .collect()
}

/// A setSpec as the source shows it; none if it does not.
fn shown_set(turn: &Turn<'_>, spec: &str) -> Option<String> {
    if turn.has(Fault::SetVanished) && is_gone(turn, spec) {
        return None;
    }
    let suffix = if turn.has(Fault::LongSets) {
        LONG_SUFFIX.as_str()
    } else {
        ""
    };
    Some(format!("{spec}{suffix}"))
}

/// Whether a set is the one that vanished.
fn is_gone(turn: &Turn<'_>, spec: &str) -> bool {
    turn.world.sets.first().is_some_and(|(gone, _)| gone == spec)
}

/// Whether the source shows an item at all, or to those who ask for a set.
fn is_shown(turn: &Turn<'_>, item: &Item, set: Option<&str>) -> bool {
    let hides_deletion =
        turn.has(Fault::DeletionsUnannounced) || (turn.has(Fault::DeletionsOutsideSets) && set.is_some());
    let is_late = turn.has(Fault::RecordsSurfaceLate) && surfaces_late(item) && {
        let late = i64::try_from(turn.script.setting(Setting::LateSeconds)).unwrap_or(i64::MAX);
        turn.world.now() < item.datestamp.saturating_add(late)
    };
    let is_hidden = is_late || (item.deleted && hides_deletion);
    !turn.has(Fault::EverythingVanishes) && !is_hidden
}

/// Every third record, by its identifier, so that it is always the same ones.
fn surfaces_late(item: &Item) -> bool {
    item.identifier.bytes().map(u32::from).sum::<u32>() % 3 == 0
}

impl Selection {
    pub(crate) fn matches(&self, turn: &Turn<'_>, item: &Item) -> bool {
        let in_set = |set: &String| item.is_in(set) && !(turn.has(Fault::SetVanished) && is_gone(turn, set));
        let is_early = self.from.is_some_and(|from| item.datestamp < from) && !turn.has(Fault::FromIgnored);
        let is_late = self.until.is_some_and(|until| item.datestamp > until) && !turn.has(Fault::UntilIgnored);
        item.metadata.contains_key(&self.prefix)
            && !is_early
            && !is_late
            && self.set.as_ref().is_none_or(in_set)
            && is_shown(turn, item, self.set.as_deref())
    }

    pub(crate) fn count(&self, turn: &Turn<'_>) -> u64 {
        turn.world.behind(None).filter(|item| self.matches(turn, item)).count() as u64
    }

    /// Whether a fault makes the selection empty, whatever the source holds.
    pub(crate) fn is_void(&self, turn: &Turn<'_>) -> bool {
        let has_dates = self.from.is_some() || self.until.is_some();
        let one_day = match (self.from, self.until) {
            (Some(from), Some(until)) => datestamp(from).start_of_day() == datestamp(until).start_of_day(),
            _ => false,
        };
        (turn.has(Fault::UntilMatchesNothing) && self.until.is_some())
            || (turn.has(Fault::DatesRequired) && !has_dates)
            || (turn.has(Fault::OneDayMatchesNothing) && one_day)
    }
}
