//! Sets: a hierarchy that lists by whole elements, defined by people or brought into being by records.

use stook_oai::Set;
use stook_store::{Outcome, StoreError};

use super::super::Backend;
use super::super::fixture::*;

fn named(spec: &str, name: &str, descriptions: &[&str]) -> Set {
    Set {
        spec: set(spec),
        name: name.into(),
        descriptions: descriptions.iter().map(|text| (*text).into()).collect(),
    }
}

pub(crate) fn a_parent_includes_its_descendants_by_whole_elements<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store
        .apply(
            maps,
            vec![
                live(1, &["a"], "<map/>"),
                live(2, &["a:b"], "<map/>"),
                live(3, &["a:b:c", "x"], "<map/>"),
                live(4, &["ab"], "<map/>"),
                live(5, &["a:bc"], "<map/>"),
                live(6, &[], "<map/>"),
            ],
        )
        .unwrap();
    for (spec, numbers) in [
        ("a", &[1, 2, 3, 5][..]),
        ("a:b", &[2, 3]),
        ("a:b:c", &[3]),
        ("ab", &[4]),
        ("a:bc", &[5]),
        ("x", &[3]),
        ("b", &[]),
    ] {
        assert_eq!(numbers_in(&store, maps, spec), numbers, "set {spec}");
    }
    assert_eq!(all(&store, maps).len(), 6);
}

pub(crate) fn a_record_in_two_sets_of_one_branch_is_listed_once_in_their_parent<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store
        .apply(maps, vec![live(1, &["a:x", "a:y", "a:y:1"], "<map/>")])
        .unwrap();
    assert_eq!(numbers_in(&store, maps, "a"), [1]);
    let snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), Some(&set("a"))).unwrap().unwrap();
    assert_eq!(snapshot.count(list, stook_store::Span::ALL).unwrap(), 1);
}

pub(crate) fn headers_show_sets_sorted_and_without_implied_ancestors<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let messy = ["z", "a:b", "a", "ab", "a:b:c", "z", "a:x"];
    store.apply(maps, vec![live(1, &messy, "<map/>")]).unwrap();
    assert_eq!(one(&store, maps, 1).set_specs, "a:b:c a:x ab z");
}

pub(crate) fn leaving_a_set_moves_the_datestamp_and_leaves_its_list<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    store.apply(maps, vec![live(1, &["a:x", "b"], "<map/>")]).unwrap();
    hand.turn(10);
    let outcomes = store.apply(maps, vec![live(1, &["b"], "<map/>")]).unwrap();
    assert_eq!(outcomes, [Outcome::Changed]);
    assert_eq!(one(&store, maps, 1).datestamp, NEW_YEAR + 10);
    for (spec, numbers) in [("a", &[][..]), ("a:x", &[]), ("b", &[1])] {
        assert_eq!(numbers_in(&store, maps, spec), numbers, "set {spec}");
        let snapshot = store.read().unwrap();
        let list = snapshot.list(maps, &oai_dc(), Some(&set(spec))).unwrap().unwrap();
        let count = snapshot.count(list, stook_store::Span::ALL).unwrap();
        assert_eq!(count, numbers.len() as u64, "set {spec}");
    }
}

pub(crate) fn sets_come_into_being_with_their_records_and_ancestors<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store.apply(maps, vec![live(1, &["maps:city:old"], "<map/>")]).unwrap();
    let snapshot = store.read().unwrap();
    let expected = [
        named("maps", "maps", &[]),
        named("maps:city", "city", &[]),
        named("maps:city:old", "old", &[]),
    ];
    assert_eq!(snapshot.sets(maps, None, 100).unwrap(), expected);
    assert_eq!(snapshot.set_count(maps).unwrap(), 3);
}

pub(crate) fn names_and_descriptions_come_back_one_by_one<B: Backend>() {
    let mut backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let old = named(
        "maps:old",
        "Staré mapy & 古地図",
        &["<dc>one\n\ntwo</dc>", "<dc>three</dc>"],
    );
    store.define_set(maps, &old).unwrap();
    drop(store);
    backend.reopen();
    let store = backend.store();
    let snapshot = store.read().unwrap();
    assert_eq!(snapshot.set(maps, &set("maps:old")).unwrap(), Some(old.clone()));
    assert_eq!(
        snapshot.set(maps, &set("maps")).unwrap(),
        Some(named("maps", "maps", &[]))
    );
    assert_eq!(snapshot.set(maps, &set("old")).unwrap(), None);
    assert_eq!(
        snapshot.sets(maps, None, 100).unwrap(),
        [named("maps", "maps", &[]), old]
    );
}

pub(crate) fn defining_a_set_again_replaces_name_and_descriptions_and_moves_no_record<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    store.apply(maps, vec![live(1, &["a:b"], "<map/>")]).unwrap();
    let before = all(&store, maps);
    hand.turn(10);
    store.define_set(maps, &named("a", "First", &["<dc/>"])).unwrap();
    store.define_set(maps, &named("a:b", "Below", &[])).unwrap();
    store.define_set(maps, &named("a", "Second", &[])).unwrap();
    let sets = store.read().unwrap().sets(maps, None, 100).unwrap();
    assert_eq!(sets, [named("a", "Second", &[]), named("a:b", "Below", &[])]);
    // Records that enter a named set leave its name alone.
    store.apply(maps, vec![live(2, &["a:b"], "<map/>")]).unwrap();
    assert_eq!(store.read().unwrap().sets(maps, None, 100).unwrap(), sets);
    assert_eq!(all(&store, maps)[..1], before);
}

pub(crate) fn sets_are_listed_in_order_in_pages_of_any_size<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let mut specs = vec!["a", "a:b", "a-b", "a.b", "ab", "A", "a:B", "z:1", "z:10", "z:2", "z"];
    for spec in &specs {
        store.define_set(maps, &named(spec, spec, &[])).unwrap();
    }
    specs.sort_unstable();
    let snapshot = store.read().unwrap();
    for limit in 1..=specs.len() + 1 {
        let mut listed: Vec<Set> = Vec::new();
        loop {
            let page = snapshot.sets(maps, listed.last().map(|set| &set.spec), limit).unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            listed.extend(page);
        }
        let listed: Vec<&str> = listed.iter().map(|set| set.spec.as_str()).collect();
        assert_eq!(listed, specs);
    }
}

pub(crate) fn a_set_with_records_cannot_be_removed_even_if_they_are_deleted<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store.declare_format(maps, &format("mods")).unwrap();
    store
        .apply(
            maps,
            vec![
                live(1, &["a:x"], "<map/>"),
                live(2, &["a:y"], "<map/>"),
                as_format("mods", live(3, &["a:y"], "<mods/>")),
            ],
        )
        .unwrap();
    store.apply(maps, vec![deleted(2)]).unwrap();
    for (spec, records) in [("a", 3), ("a:x", 1), ("a:y", 2)] {
        match store.remove_set(maps, &set(spec)) {
            Err(StoreError::SetInUse(used, count)) => assert_eq!((used, count), (set(spec), records)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(store.read().unwrap().set_count(maps).unwrap(), 3);
}

pub(crate) fn an_unused_set_is_removed_with_its_descendants_only<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    for spec in ["a:b:c", "ab", "a-b", "b:a"] {
        store.define_set(maps, &named(spec, spec, &[])).unwrap();
    }
    assert!(store.remove_set(maps, &set("a")).unwrap());
    assert!(!store.remove_set(maps, &set("a")).unwrap());
    let left = store.read().unwrap().sets(maps, None, 100).unwrap();
    let left: Vec<&str> = left.iter().map(|set| set.spec.as_str()).collect();
    assert_eq!(left, ["a-b", "ab", "b", "b:a"]);
}

pub(crate) fn a_removed_set_comes_back_unnamed_when_a_record_enters_it<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store.define_set(maps, &named("a:b", "Named", &["<dc/>"])).unwrap();
    store.apply(maps, vec![live(1, &["a:b"], "<map/>")]).unwrap();
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    assert!(store.remove_set(maps, &set("a")).unwrap());
    assert_eq!(store.read().unwrap().set_count(maps).unwrap(), 0);
    store.apply(maps, vec![live(2, &["a:b"], "<map/>")]).unwrap();
    let sets = store.read().unwrap().sets(maps, None, 100).unwrap();
    assert_eq!(sets, [named("a", "a", &[]), named("a:b", "b", &[])]);
    assert_eq!(numbers_in(&store, maps, "a"), [2]);
}

pub(crate) fn only_sets_without_a_name_are_named<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store.define_set(maps, &named("b", "Given", &["<dc/>"])).unwrap();
    store.apply(maps, vec![live(1, &["a:x", "b"], "<map/>")]).unwrap();
    let names = [("a:x", "New"), ("b", "Other"), ("c:y", "Third")];
    let names = names.map(|(spec, name)| (set(spec), name.to_owned()));
    store.name_sets(maps, &names).unwrap();
    store.name_sets(maps, &[(set("a:x"), "Newer".to_owned())]).unwrap();
    store.name_sets(maps, &[]).unwrap();
    let sets = store.read().unwrap().sets(maps, None, 100).unwrap();
    let expected = [
        named("a", "a", &[]),
        named("a:x", "New", &[]),
        named("b", "Given", &["<dc/>"]),
        named("c", "c", &[]),
        named("c:y", "Third", &[]),
    ];
    assert_eq!(sets, expected);
}
