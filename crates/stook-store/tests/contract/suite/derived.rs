//! Records made from others: what was given counts more.

use stook_store::{Change, Content, Outcome, Store};

use super::super::Backend;
use super::super::fixture::*;

fn open<B: Backend>() -> (B, Store, stook_store::RepositoryId, Hand) {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    (backend, store, maps, hand)
}

fn content(store: &Store, maps: stook_store::RepositoryId) -> String {
    let content = one(store, maps, 1).content;
    let inside = content.strip_prefix("<metadata>").unwrap_or(&content);
    inside.strip_suffix("</metadata>").unwrap_or(inside).to_owned()
}

pub(crate) fn what_is_made_again_changes_only_when_it_differs<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    for (metadata, outcome) in [
        ("<a/>", Outcome::New),
        ("<a/>", Outcome::Unchanged),
        ("<b/>", Outcome::Changed),
    ] {
        hand.turn(1);
        assert_eq!(
            store.apply(maps, vec![derived(live(1, &[], metadata))]).unwrap(),
            [outcome]
        );
    }
    assert_eq!(one(&store, maps, 1).datestamp, NEW_YEAR + 3);
}

pub(crate) fn what_was_given_is_not_replaced_by_what_is_made<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &[], "<given/>")]).unwrap();
    hand.turn(1);
    let outcomes = store.apply(maps, vec![derived(live(1, &["a"], "<made/>"))]).unwrap();
    assert_eq!(outcomes, [Outcome::Unchanged]);
    assert_eq!(content(&store, maps), "<given/>");
    assert_eq!(one(&store, maps, 1).datestamp, NEW_YEAR);
}

pub(crate) fn what_is_given_replaces_what_was_made_also_in_the_same_import<B: Backend>() {
    let (_backend, store, maps, _hand) = open::<B>();
    let mut importer = store.importer(maps).unwrap();
    let mut commit = |change: Change| {
        importer
            .commit(&store.encoder(maps).encode(vec![change]).unwrap())
            .unwrap()
    };
    assert_eq!(commit(derived(live(1, &[], "<made/>"))), [Outcome::New]);
    assert_eq!(commit(live(1, &[], "<given/>")), [Outcome::Changed]);
    assert_eq!(commit(derived(live(1, &[], "<made/>"))), [Outcome::Unchanged]);
    assert_eq!(commit(live(1, &[], "<other/>")), [Outcome::Repeated { same: false }]);
    assert_eq!(content(&store, maps), "<given/>");
}

pub(crate) fn what_was_given_before_may_change_after_what_would_be_made<B: Backend>() {
    let (_backend, store, maps, _hand) = open::<B>();
    store.apply(maps, vec![live(1, &[], "<given/>")]).unwrap();
    let mut importer = store.importer(maps).unwrap();
    let mut commit = |change: Change| {
        importer
            .commit(&store.encoder(maps).encode(vec![change]).unwrap())
            .unwrap()
    };
    assert_eq!(commit(derived(live(1, &[], "<made/>"))), [Outcome::Unchanged]);
    assert_eq!(commit(live(1, &[], "<other/>")), [Outcome::Changed]);
    assert_eq!(commit(live(1, &[], "<third/>")), [Outcome::Repeated { same: false }]);
    assert_eq!(content(&store, maps), "<other/>");
    // Who says nothing of it, but has what it would be made from, does not delete it either.
    let mut importer = store.importer(maps).unwrap();
    let made = store
        .encoder(maps)
        .encode(vec![derived(live(1, &[], "<made/>"))])
        .unwrap();
    importer.commit(&made).unwrap();
    let prefix = stook_oai::MetadataPrefix::oai_dc();
    assert_eq!(importer.vanished(&[prefix], &[]).unwrap().records, 0);
}

pub(crate) fn what_is_given_as_it_was_made_stays_and_is_replaced_no_more<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![derived(live(1, &[], "<same/>"))]).unwrap();
    hand.turn(1);
    assert_eq!(
        store.apply(maps, vec![live(1, &[], "<same/>")]).unwrap(),
        [Outcome::Unchanged]
    );
    let outcomes = store.apply(maps, vec![derived(live(1, &[], "<made/>"))]).unwrap();
    assert_eq!(outcomes, [Outcome::Unchanged]);
    assert_eq!(
        (content(&store, maps).as_str(), one(&store, maps, 1).datestamp),
        ("<same/>", NEW_YEAR)
    );
}

pub(crate) fn what_was_made_is_made_again_after_it_was_deleted<B: Backend>() {
    let (_backend, store, maps, _hand) = open::<B>();
    let made = || vec![derived(live(1, &[], "<made/>"))];
    store.apply(maps, made()).unwrap();
    assert_eq!(store.apply(maps, vec![deleted(1)]).unwrap(), [Outcome::Deleted]);
    assert_eq!(store.apply(maps, made()).unwrap(), [Outcome::Changed]);
    // Also where what was deleted had been given.
    store.apply(maps, vec![live(1, &[], "<given/>")]).unwrap();
    store.apply(maps, vec![deleted(1)]).unwrap();
    assert_eq!(store.apply(maps, made()).unwrap(), [Outcome::Changed]);
    // It stays what it is when it is restored.
    store.apply(maps, vec![deleted(1)]).unwrap();
    store.apply(maps, vec![restored(1)]).unwrap();
    let other = Content::Derived {
        metadata: "<other/>".into(),
        about: vec![],
    };
    let change = Change {
        content: other,
        ..live(1, &[], "")
    };
    assert_eq!(store.apply(maps, vec![change]).unwrap(), [Outcome::Changed]);
}

pub(crate) fn what_can_be_made_no_more_is_deleted_and_nothing_else<B: Backend>() {
    let (_backend, store, maps, _hand) = open::<B>();
    let no_more = |number| Change {
        content: Content::Underived { unless: vec![] },
        ..deleted(number)
    };
    store
        .apply(
            maps,
            vec![derived(live(1, &["a"], "<made/>")), live(2, &[], "<given/>")],
        )
        .unwrap();
    let outcomes = store.apply(maps, vec![no_more(1), no_more(2), no_more(3)]).unwrap();
    assert_eq!(outcomes, [Outcome::Deleted, Outcome::Unchanged, Outcome::Unchanged]);
    assert_eq!(store.apply(maps, vec![no_more(1)]).unwrap(), [Outcome::Unchanged]);
    assert_eq!(numbers_in(&store, maps, "a"), [1]);
    assert!(one(&store, maps, 1).deleted && !one(&store, maps, 2).deleted);
    assert_eq!(record(&store, maps, "oai_dc", 3), None);
}

/// A withdrawal that gives way to what can be made from a format.
fn unless(format: &str, number: usize) -> Change {
    let unless = vec![prefix(format), prefix("nosuch")];
    Change {
        content: Content::Underived { unless },
        ..deleted(number)
    }
}

pub(crate) fn what_can_be_made_from_something_else_stays_as_long_as_that_lives<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    for other in ["marc21", "marcxml"] {
        store.declare_format(maps, &format(other)).unwrap();
    }
    let other = |change: Change| as_format("marcxml", change);
    let made = (1..=4).map(|number| derived(live(number, &[], "<made/>")));
    let sources = [
        other(live(1, &[], "<other/>")),
        other(derived(live(2, &[], "<made/>"))),
        other(deleted(3)),
    ];
    store.apply(maps, made.chain(sources).collect()).unwrap();
    hand.turn(1);
    // Another record that was itself made, that is deleted, or that is not there, is nothing to make it from.
    let withdrawn = (1..=4).map(|number| unless("marcxml", number)).collect();
    assert_eq!(
        store.apply(maps, withdrawn).unwrap(),
        [Outcome::Unchanged, Outcome::Deleted, Outcome::Deleted, Outcome::Deleted]
    );
    assert_eq!(one(&store, maps, 1).datestamp, NEW_YEAR);
    // In another format it is no reason, and when it goes, so does what was made.
    assert_eq!(store.apply(maps, vec![other(deleted(1))]).unwrap(), [Outcome::Deleted]);
    assert_eq!(
        store.apply(maps, vec![unless("marcxml", 1)]).unwrap(),
        [Outcome::Deleted]
    );
    assert_eq!(faults(&store), [] as [&str; 0]);
}

pub(crate) fn what_stayed_can_still_be_withdrawn_in_the_same_import<B: Backend>() {
    let (_backend, store, maps, _hand) = open::<B>();
    store.declare_format(maps, &format("marcxml")).unwrap();
    let other = |change: Change| as_format("marcxml", change);
    store
        .apply(
            maps,
            vec![derived(live(1, &[], "<made/>")), other(live(1, &[], "<other/>"))],
        )
        .unwrap();
    let mut importer = store.importer(maps).unwrap();
    let mut commit = |change: Change| {
        importer
            .commit(&store.encoder(maps).encode(vec![change]).unwrap())
            .unwrap()
    };
    assert_eq!(commit(unless("marcxml", 1)), [Outcome::Unchanged]);
    assert_eq!(commit(other(deleted(1))), [Outcome::Deleted]);
    assert_eq!(commit(unless("marcxml", 1)), [Outcome::Deleted]);
}

pub(crate) fn what_vanishes_takes_with_it_only_what_cannot_be_made_otherwise<B: Backend>() {
    let (_backend, store, maps, _hand) = open::<B>();
    let two = ["marc21", "marcxml"];
    let made = (1..=3).map(|number| derived(live(number, &[], "<made/>")));
    let mut changes: Vec<Change> = made.collect();
    for format_of_two in two {
        store.declare_format(maps, &format(format_of_two)).unwrap();
        let given = (1..=3).map(|number| as_format(format_of_two, live(number, &[], "<given/>")));
        changes.extend(given);
    }
    store.apply(maps, changes).unwrap();
    let mut importer = store.importer(maps).unwrap();
    for from in two {
        importer.derives(&prefix(from), &oai_dc()).unwrap();
    }
    // The input has 1 in both formats, 2 in one, 3 in none.
    let mentioned = [(1, "marc21"), (1, "marcxml"), (2, "marcxml")];
    let mentioned = mentioned.map(|(number, format)| as_format(format, live(number, &[], "<given/>")));
    importer
        .commit(&store.encoder(maps).encode(mentioned.to_vec()).unwrap())
        .unwrap();
    assert_eq!(importer.vanished(&two.map(prefix), &[]).unwrap().records, 3);
    let mut bereft = Vec::new();
    let deleted = importer.delete_vanished_step_by_step(|gone| {
        bereft.extend(gone.bereft);
        Ok(())
    });
    assert_eq!(deleted.unwrap(), 4, "two of 3, one of 2, and what was made of 3");
    assert_eq!(bereft, [(identifier(2).to_string(), oai_dc())]);
    let is_deleted = |number| one(&store, maps, number).deleted;
    assert_eq!([1, 2, 3].map(is_deleted), [false, false, true]);
}
