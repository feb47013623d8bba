//! Records that keep what they say and change their sets.

use stook_store::{Beside, Change, Content, Outcome, Quarantined, RepositoryId, Store};

use super::super::Backend;
use super::super::fixture::*;

fn open<B: Backend>() -> (B, Store, RepositoryId, Hand) {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    (backend, store, maps, hand)
}

/// The record as it is now, in other sets.
fn kept(store: &Store, maps: RepositoryId, number: usize, set_specs: &[&str]) -> Change {
    let at = one(store, maps, number).position;
    into_sets(
        set_specs,
        Change {
            content: Content::Kept { at },
            ..deleted(number)
        },
    )
}

pub(crate) fn a_record_changes_its_sets_and_nothing_else<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    let about = vec!["<rights/>".to_owned()];
    let metadata = "<map>é</map>".to_owned();
    let content = Content::Live { metadata, about };
    let change = Change {
        content,
        ..live(1, &["a:x", "b"], "")
    };
    store.apply(maps, vec![change]).unwrap();
    let before = one(&store, maps, 1);
    hand.turn(5);
    let outcomes = store.apply(maps, vec![kept(&store, maps, 1, &["a:y"])]).unwrap();
    assert_eq!(outcomes, [Outcome::Changed]);
    let after = one(&store, maps, 1);
    assert_eq!((after.datestamp, after.set_specs.as_str()), (NEW_YEAR + 5, "a:y"));
    assert_eq!(after.content, before.content);
    for (spec, numbers) in [("a", 1), ("a:x", 0), ("a:y", 1), ("b", 0)] {
        assert_eq!(numbers_in(&store, maps, spec).len(), numbers, "{spec}");
    }
    // The same sets, however they are written, are no change; no sets are sets, too.
    hand.turn(5);
    let outcomes = store.apply(maps, vec![kept(&store, maps, 1, &["a", "a:y"])]).unwrap();
    assert_eq!(outcomes, [Outcome::Unchanged]);
    assert_eq!(one(&store, maps, 1), after);
    store.apply(maps, vec![kept(&store, maps, 1, &[])]).unwrap();
    assert_eq!(one(&store, maps, 1).set_specs, "");
    // What it says has the digest of what is given again.
    let again = Change {
        content: Content::Live {
            metadata: "<map>é</map>".into(),
            about: vec!["<rights/>".into()],
        },
        ..live(1, &[], "")
    };
    assert_eq!(store.apply(maps, vec![again]).unwrap(), [Outcome::Unchanged]);
    assert_eq!(faults(&store), Vec::<String>::new());
}

pub(crate) fn what_is_deleted_gone_or_changed_meanwhile_is_left_alone<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store
        .apply(maps, vec![live(1, &["a"], "<map/>"), live(2, &["a"], "<map/>")])
        .unwrap();
    let changes = vec![kept(&store, maps, 1, &["b"]), kept(&store, maps, 2, &["b"])];
    hand.turn(1);
    store
        .apply(maps, vec![live(1, &["c"], "<newer/>"), deleted(2)])
        .unwrap();
    let never = Change {
        identifier: identifier(3),
        ..changes[0].clone()
    };
    hand.turn(1);
    let outcomes = store.apply(maps, [changes, vec![never]].concat()).unwrap();
    assert_eq!(outcomes, [Outcome::Unchanged; 3]);
    assert_eq!(one(&store, maps, 1).set_specs, "c");
    assert_eq!(one(&store, maps, 2).set_specs, "a");
    assert_eq!(
        store.apply(maps, vec![kept(&store, maps, 2, &["b"])]).unwrap(),
        [Outcome::Unchanged]
    );
    assert_eq!(record(&store, maps, "oai_dc", 3), None);
}

pub(crate) fn where_a_record_comes_from_stays_known<B: Backend>() {
    let (_backend, store, maps, _hand) = open::<B>();
    let known = |number: usize| {
        let snapshot = store.read().unwrap();
        snapshot
            .known(maps, &oai_dc(), identifier(number).as_str())
            .unwrap()
            .unwrap()
    };
    let origin = stook_store::Origin {
        datestamp: Some(datestamp(7)),
        provenance: "<from/>".into(),
        volatile: 0..0,
    };
    let harvested = Content::Harvested {
        metadata: "<map/>".into(),
        about: vec![],
        origin,
    };
    let harvested = Change {
        content: harvested,
        ..live(3, &[], "")
    };
    store
        .apply(
            maps,
            vec![live(1, &[], "<map/>"), derived(live(2, &[], "<map/>")), harvested],
        )
        .unwrap();
    for number in 1..=3 {
        let before = known(number);
        assert_eq!((before.derived, before.origin.is_some()), (number == 2, number == 3));
        let outcomes = store.apply(maps, vec![kept(&store, maps, number, &["a"])]).unwrap();
        assert_eq!((outcomes, known(number)), (vec![Outcome::Changed], before));
    }
}

pub(crate) fn new_sets_release_nothing_from_the_quarantine<B: Backend>() {
    let (_backend, store, maps, _hand) = open::<B>();
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    let entry = Quarantined {
        source: "maps.csv".into(),
        line: 1,
        identifier: Some(identifier(1).to_string()),
        reason: "broken".into(),
        excerpt: vec![],
    };
    store.importer(maps).unwrap().quarantine(&[entry]).unwrap();
    let batch = store.encoder(maps).encode(vec![kept(&store, maps, 1, &["a"])]).unwrap();
    assert_eq!(store.commit(&batch, &Beside::default()).unwrap(), [Outcome::Changed]);
    assert_eq!(store.quarantine_count(maps).unwrap(), 1);
}
