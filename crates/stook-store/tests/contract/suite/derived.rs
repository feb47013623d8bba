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
        content: Content::Underived,
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
