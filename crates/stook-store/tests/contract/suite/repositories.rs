//! Many repositories in one store, none of them in another's business.

use stook_oai::Set;
use stook_store::{Outcome, StoreError};

use super::super::Backend;
use super::super::fixture::*;

pub(crate) fn a_repository_is_declared_once_and_found_by_its_name<B: Backend>() {
    let mut backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = store.declare_repository("maps").unwrap();
    let photographs = store.declare_repository("photographs").unwrap();
    assert_ne!(maps, photographs);
    assert_eq!(store.declare_repository("maps").unwrap(), maps);
    drop(store);
    backend.reopen();
    assert_eq!(backend.store().repository("maps").unwrap(), maps);
    assert_eq!(backend.store().repositories().unwrap(), ["maps", "photographs"]);
}

pub(crate) fn an_unknown_repository_is_an_error<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let failure = backend.store().repository("atlantis").unwrap_err();
    assert!(matches!(failure, StoreError::UnknownRepository(name) if name == "atlantis"));
}

pub(crate) fn the_same_identifier_in_two_repositories_is_two_records<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let atlases = store.declare_repository("atlases").unwrap();
    store.declare_format(atlases, &format("oai_dc")).unwrap();
    store.apply(maps, vec![live(1, &["city"], "<map/>")]).unwrap();
    hand.turn(10);
    let outcomes = store.apply(atlases, vec![live(1, &["world"], "<atlas/>")]).unwrap();
    assert_eq!(outcomes, [Outcome::New]);
    hand.turn(10);
    store.apply(atlases, vec![deleted(1)]).unwrap();

    let map = one(&store, maps, 1);
    assert_eq!((map.deleted, map.datestamp), (false, NEW_YEAR));
    assert_eq!(map.content, "<metadata><map/></metadata>");
    let atlas = one(&store, atlases, 1);
    assert_eq!((atlas.deleted, atlas.datestamp), (true, NEW_YEAR + 20));
    assert_eq!(all(&store, maps), [map]);
    assert_eq!(all(&store, atlases), [atlas]);
    let snapshot = store.read().unwrap();
    assert_eq!(snapshot.deleted(maps, &oai_dc()).unwrap(), 0);
    assert_eq!(snapshot.deleted(atlases, &oai_dc()).unwrap(), 1);
}

pub(crate) fn sets_and_formats_of_one_repository_are_unknown_to_another<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let atlases = store.declare_repository("atlases").unwrap();
    store.declare_format(atlases, &format("mods")).unwrap();
    let (spec, name) = (set("city"), "Cities".to_owned());
    store
        .define_set(
            maps,
            &Set {
                spec: spec.clone(),
                name,
                descriptions: vec![],
            },
        )
        .unwrap();
    store.apply(maps, vec![live(1, &["city:old"], "<map/>")]).unwrap();

    let snapshot = store.read().unwrap();
    assert_eq!(snapshot.formats(maps).unwrap(), [format("oai_dc")]);
    assert_eq!(snapshot.formats(atlases).unwrap(), [format("mods")]);
    assert_eq!(snapshot.set_count(maps).unwrap(), 2);
    assert_eq!(snapshot.set_count(atlases).unwrap(), 0);
    assert_eq!(snapshot.set(atlases, &spec).unwrap(), None);
    assert_eq!(snapshot.list(atlases, &oai_dc(), None).unwrap(), None);
    assert_eq!(snapshot.list(atlases, &prefix("mods"), Some(&spec)).unwrap(), None);
    assert_eq!(snapshot.formats_of(atlases, identifier(1).as_str()).unwrap(), None);
    drop(snapshot);
    assert!(!store.remove_set(atlases, &spec).unwrap());
    let refused = store.apply(atlases, vec![live(2, &[], "<map/>")]);
    assert!(matches!(refused, Err(StoreError::UnknownFormat(_))));
}

pub(crate) fn the_earliest_datestamp_is_that_of_the_first_publication_for_ever<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let mut backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let earliest = |store: &stook_store::Store| store.read().unwrap().facts(maps).unwrap().earliest_datestamp.unix();
    assert_eq!(earliest(&store), NEW_YEAR);
    hand.turn(100);
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    assert_eq!(earliest(&store), NEW_YEAR + 100);
    hand.turn(100);
    store.apply(maps, vec![live(1, &[], "<map>2</map>")]).unwrap();
    store.apply(maps, vec![live(2, &[], "<map/>")]).unwrap();
    assert_eq!(earliest(&store), NEW_YEAR + 100);
    drop(store);
    backend.reopen();
    assert_eq!(earliest(&backend.store()), NEW_YEAR + 100);
}

pub(crate) fn the_secret_is_the_same_for_every_handle_and_after_a_restart<B: Backend>() {
    let clock = Hand::at(NEW_YEAR).clock();
    let mut backend = B::create(clock.clone());
    let secret = backend.store().secret().unwrap();
    assert_ne!(secret, [0; 32]);
    assert_eq!(backend.another(clock.clone()).secret().unwrap(), secret);
    backend.reopen();
    assert_eq!(backend.store().secret().unwrap(), secret);
    assert_ne!(B::create(clock).store().secret().unwrap(), secret);
}
