//! What a change does to a record, and what it leaves alone.

use stook_store::{Change, Content, Outcome, Store};

use super::super::Backend;
use super::super::fixture::*;

/// A store with one repository, and the hand of its clock.
fn open<B: Backend>() -> (B, Store, stook_store::RepositoryId, Hand) {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    (backend, store, maps, hand)
}

pub(crate) fn each_format_of_an_item_has_its_own_datestamp_and_deletion<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.declare_format(maps, &format("mods")).unwrap();
    let both = || vec![live(1, &["a"], "<map/>"), as_format("mods", live(1, &["a"], "<mods/>"))];
    assert_eq!(store.apply(maps, both()).unwrap(), [Outcome::New, Outcome::New]);
    hand.turn(10);
    let mut second = both();
    second[1].content = Content::Live {
        metadata: "<mods>2</mods>".into(),
        about: vec![],
    };
    assert_eq!(
        store.apply(maps, second).unwrap(),
        [Outcome::Unchanged, Outcome::Changed]
    );
    hand.turn(10);
    store.apply(maps, vec![deleted(1)]).unwrap();

    let (map, mods) = (one(&store, maps, 1), record(&store, maps, "mods", 1).unwrap());
    assert_eq!((map.datestamp, map.deleted), (NEW_YEAR + 20, true));
    assert_eq!((mods.datestamp, mods.deleted), (NEW_YEAR + 10, false));
    assert_eq!(mods.content, "<metadata><mods>2</mods></metadata>");
    assert_eq!(list_of(&store, maps, "oai_dc", Some("a")), [map]);
    assert_eq!(list_of(&store, maps, "mods", Some("a")), [mods]);
}

pub(crate) fn about_containers_come_back_after_the_metadata_in_their_order<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    let with_about = |about: &[&str]| Change {
        content: Content::Live {
            metadata: "<map/>".into(),
            about: about.iter().map(|text| (*text).to_owned()).collect(),
        },
        ..live(1, &[], "")
    };
    store
        .apply(maps, vec![with_about(&["<rights/>", "<provenance/>"])])
        .unwrap();
    assert_eq!(
        one(&store, maps, 1).content,
        "<metadata><map/></metadata><about><rights/></about><about><provenance/></about>"
    );
    hand.turn(10);
    let outcomes = store.apply(maps, vec![with_about(&["<rights/>"])]).unwrap();
    assert_eq!(outcomes, [Outcome::Changed]);
    assert_eq!(one(&store, maps, 1).datestamp, NEW_YEAR + 10);
}

pub(crate) fn content_of_any_size_and_script_comes_back_byte_for_byte<B: Backend>() {
    let (mut backend, store, maps, _) = open::<B>();
    let texts = [
        "<t/>".to_owned(),
        "<t>Übersichtskarte, přehledná mapa, прегледна карта, 一覧図, \u{1F5FA}\r\n\t&amp;</t>".to_owned(),
        format!("<t>{}</t>", "地図 ".repeat(400_000)),
        format!(
            "<t>{}</t>",
            (0..200_000)
                .map(|n| (n * 7919 % 65_521).to_string())
                .collect::<String>()
        ),
    ];
    let changes = texts.iter().enumerate().map(|(n, text)| live(n, &[], text)).collect();
    store.apply(maps, changes).unwrap();
    drop(store);
    backend.reopen();
    for (n, text) in texts.iter().enumerate() {
        let content = one(&backend.store(), maps, n).content;
        assert!(content == format!("<metadata>{text}</metadata>"), "text {n}");
    }
}

pub(crate) fn the_same_record_again_keeps_its_datestamp<B: Backend>() {
    let (mut backend, store, maps, hand) = open::<B>();
    let publish = |store: &Store| store.apply(maps, vec![live(1, &["b", "a:x"], "<map/>")]).unwrap();
    assert_eq!(publish(&store), [Outcome::New]);
    let before = one(&store, maps, 1);
    hand.turn(10);
    assert_eq!(publish(&store), [Outcome::Unchanged]);
    drop(store);
    backend.reopen();
    assert_eq!(publish(&backend.store()), [Outcome::Unchanged]);
    assert_eq!(one(&backend.store(), maps, 1), before);
}

pub(crate) fn the_same_sets_in_another_order_or_with_ancestors_are_no_change<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &["b", "a:x"], "<map/>")]).unwrap();
    let before = one(&store, maps, 1);
    hand.turn(10);
    for same in [&["a:x", "b"][..], &["a", "a:x", "b"], &["b", "b", "a:x", "a:x"]] {
        let outcomes = store.apply(maps, vec![live(1, same, "<map/>")]).unwrap();
        assert_eq!(outcomes, [Outcome::Unchanged], "{same:?}");
    }
    assert_eq!(one(&store, maps, 1), before);
}

pub(crate) fn every_kind_of_change_moves_the_datestamp<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    let about = Change {
        content: Content::Live {
            metadata: "<map>2</map>".into(),
            about: vec!["<rights/>".into()],
        },
        ..live(1, &["a"], "")
    };
    let steps = [
        (live(1, &[], "<map/>"), Outcome::New),
        (live(1, &[], "<map>2</map>"), Outcome::Changed),
        (live(1, &["a"], "<map>2</map>"), Outcome::Changed),
        (about, Outcome::Changed),
        (deleted(1), Outcome::Deleted),
        (into_sets(&["b"], deleted(1)), Outcome::Deleted),
        (restored(1), Outcome::Changed),
        (erased(1), Outcome::Deleted),
        (live(1, &["b"], "<map>2</map>"), Outcome::Changed),
    ];
    for (change, outcome) in steps {
        hand.turn(10);
        assert_eq!(
            store.apply(maps, vec![change.clone()]).unwrap(),
            [outcome],
            "{change:?}"
        );
        assert_eq!(one(&store, maps, 1).datestamp, hand.now(), "{change:?}");
        assert_eq!(all(&store, maps).len(), 1);
    }
    assert_eq!(faults(&store), [] as [&str; 0]);
}

pub(crate) fn a_deletion_shows_its_sets_and_no_content<B: Backend>() {
    let (mut backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &["b", "a:x"], "<map/>")]).unwrap();
    hand.turn(10);
    assert_eq!(store.apply(maps, vec![deleted(1)]).unwrap(), [Outcome::Deleted]);
    drop(store);
    backend.reopen();
    let store = backend.store();
    let gone = one(&store, maps, 1);
    assert_eq!((gone.deleted, gone.content.as_str()), (true, ""));
    assert_eq!((gone.set_specs.as_str(), gone.datestamp), ("a:x b", NEW_YEAR + 10));
    for set_spec in ["a", "a:x", "b"] {
        assert_eq!(
            list_of(&store, maps, "oai_dc", Some(set_spec)),
            std::slice::from_ref(&gone)
        );
    }
}

pub(crate) fn deleting_twice_is_deleting_once<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &["a"], "<map/>")]).unwrap();
    store.apply(maps, vec![deleted(1)]).unwrap();
    let before = one(&store, maps, 1);
    hand.turn(10);
    assert_eq!(store.apply(maps, vec![deleted(1)]).unwrap(), [Outcome::Unchanged]);
    let with_its_sets = into_sets(&["a"], deleted(1));
    assert_eq!(store.apply(maps, vec![with_its_sets]).unwrap(), [Outcome::Unchanged]);
    assert_eq!(one(&store, maps, 1), before);
    assert_eq!(store.read().unwrap().deleted(maps, &oai_dc()).unwrap(), 1);
}

pub(crate) fn deleting_what_never_was_leaves_a_deleted_record_with_its_sets<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    let changes = vec![into_sets(&["a:x"], deleted(1)), erased(2)];
    assert_eq!(
        store.apply(maps, changes).unwrap(),
        [Outcome::Deleted, Outcome::Deleted]
    );
    assert!(one(&store, maps, 1).deleted && one(&store, maps, 2).deleted);
    assert_eq!(numbers_in(&store, maps, "a"), [1]);
    assert_eq!(store.read().unwrap().deleted(maps, &oai_dc()).unwrap(), 2);
    let outcomes = store.apply(maps, vec![restored(1), restored(2)]).unwrap();
    assert_eq!(outcomes, [Outcome::NothingToRestore, Outcome::NothingToRestore]);
}

pub(crate) fn a_restored_record_is_what_it_was_with_a_new_datestamp<B: Backend>() {
    let (mut backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &["b", "a:x"], "<map/>")]).unwrap();
    let before = one(&store, maps, 1);
    store.apply(maps, vec![deleted(1)]).unwrap();
    hand.turn(10);
    drop(store);
    backend.reopen();
    let store = backend.store();
    assert_eq!(store.apply(maps, vec![restored(1)]).unwrap(), [Outcome::Changed]);
    let after = one(&store, maps, 1);
    assert_eq!(after.datestamp, NEW_YEAR + 10);
    assert_eq!((&after.content, &after.set_specs), (&before.content, &before.set_specs));
    assert_eq!(store.read().unwrap().deleted(maps, &oai_dc()).unwrap(), 0);
    // What was restored counts as what it is: publishing the same again changes nothing.
    let same = store.apply(maps, vec![live(1, &["b", "a:x"], "<map/>")]).unwrap();
    assert_eq!(same, [Outcome::Unchanged]);
}

pub(crate) fn a_record_can_be_restored_into_other_sets<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    store.apply(maps, vec![live(1, &["a"], "<map/>")]).unwrap();
    store.apply(maps, vec![deleted(1)]).unwrap();
    store.apply(maps, vec![into_sets(&["b"], restored(1))]).unwrap();
    assert_eq!(one(&store, maps, 1).set_specs, "b");
    assert_eq!(numbers_in(&store, maps, "a"), [] as [usize; 0]);
    assert_eq!(numbers_in(&store, maps, "b"), [1]);
}

pub(crate) fn restoring_what_lives_or_never_was_does_nothing<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    let before = all(&store, maps);
    hand.turn(10);
    let outcomes = store.apply(maps, vec![restored(1), restored(2)]).unwrap();
    assert_eq!(outcomes, [Outcome::Unchanged, Outcome::NothingToRestore]);
    assert_eq!(all(&store, maps), before);
}

pub(crate) fn an_erased_record_keeps_its_sets_and_cannot_be_restored<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &["a"], "<secret/>")]).unwrap();
    hand.turn(10);
    assert_eq!(store.apply(maps, vec![erased(1)]).unwrap(), [Outcome::Deleted]);
    let gone = one(&store, maps, 1);
    assert_eq!(
        (gone.deleted, gone.set_specs.as_str(), gone.datestamp),
        (true, "a", NEW_YEAR + 10)
    );
    assert_eq!(
        store.apply(maps, vec![restored(1)]).unwrap(),
        [Outcome::NothingToRestore]
    );
    assert_eq!(one(&store, maps, 1), gone);
}

pub(crate) fn erasing_a_deleted_record_forgets_its_content_and_moves_nothing<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &["a"], "<secret/>")]).unwrap();
    store.apply(maps, vec![deleted(1)]).unwrap();
    let before = one(&store, maps, 1);
    hand.turn(10);
    assert_eq!(store.apply(maps, vec![erased(1)]).unwrap(), [Outcome::Unchanged]);
    assert_eq!(store.apply(maps, vec![erased(1)]).unwrap(), [Outcome::Unchanged]);
    assert_eq!(one(&store, maps, 1), before);
    assert_eq!(
        store.apply(maps, vec![restored(1)]).unwrap(),
        [Outcome::NothingToRestore]
    );
    assert_eq!(faults(&store), [] as [&str; 0]);
}

pub(crate) fn erasing_a_deleted_record_into_other_sets_publishes_those_sets<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &["a"], "<secret/>")]).unwrap();
    store.apply(maps, vec![deleted(1)]).unwrap();
    hand.turn(10);
    let outcomes = store.apply(maps, vec![into_sets(&["b"], erased(1))]).unwrap();
    assert_eq!(outcomes, [Outcome::Deleted]);
    let gone = one(&store, maps, 1);
    assert_eq!((gone.set_specs.as_str(), gone.datestamp), ("b", NEW_YEAR + 10));
    assert_eq!(store.read().unwrap().deleted(maps, &oai_dc()).unwrap(), 1);
    assert_eq!(
        store.apply(maps, vec![restored(1)]).unwrap(),
        [Outcome::NothingToRestore]
    );
    assert_eq!(faults(&store), [] as [&str; 0]);
}

pub(crate) fn publishing_a_deleted_record_brings_it_back<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    store.apply(maps, vec![live(1, &["a"], "<map/>")]).unwrap();
    store.apply(maps, vec![deleted(1)]).unwrap();
    hand.turn(10);
    let outcomes = store.apply(maps, vec![live(1, &["a"], "<map/>")]).unwrap();
    assert_eq!(outcomes, [Outcome::Changed]);
    let back = one(&store, maps, 1);
    assert_eq!((back.deleted, back.datestamp), (false, NEW_YEAR + 10));
    assert_eq!(store.read().unwrap().deleted(maps, &oai_dc()).unwrap(), 0);
}

pub(crate) fn outcomes_are_in_the_order_of_the_changes_and_lists_in_the_order_of_publication<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    store
        .apply(maps, vec![live(5, &[], "<map/>"), live(3, &[], "<map/>")])
        .unwrap();
    let outcomes = store
        .apply(
            maps,
            vec![
                live(9, &[], "<map/>"),
                live(5, &[], "<map/>"),
                restored(7),
                live(1, &[], "<map/>"),
                deleted(3),
            ],
        )
        .unwrap();
    use Outcome::{Deleted, New, NothingToRestore, Unchanged};
    assert_eq!(outcomes, [New, Unchanged, NothingToRestore, New, Deleted]);
    let order: Vec<usize> = all(&store, maps).iter().map(Seen::number).collect();
    assert_eq!(order, [5, 9, 1, 3]);
}

pub(crate) fn an_empty_batch_does_nothing<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    let last = store.read().unwrap().last();
    assert_eq!(store.apply(maps, vec![]).unwrap(), []);
    assert_eq!(store.read().unwrap().last(), last);
}
