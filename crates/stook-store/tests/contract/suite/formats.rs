//! Formats of a repository, and of an item.

use stook_oai::MetadataFormat;
use stook_store::StoreError;

use super::super::Backend;
use super::super::fixture::*;

pub(crate) fn formats_are_listed_in_order_with_oai_dc_first<B: Backend>() {
    let mut backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = store.declare_repository("maps").unwrap();
    for prefix in ["mods", "oai_dc", "zthes", "ead"] {
        store.declare_format(maps, &format(prefix)).unwrap();
    }
    let expected = ["oai_dc", "ead", "mods", "zthes"].map(format);
    assert_eq!(store.read().unwrap().formats(maps).unwrap(), expected);
    drop(store);
    backend.reopen();
    assert_eq!(backend.store().read().unwrap().formats(maps).unwrap(), expected);
}

pub(crate) fn declaring_a_format_again_corrects_it_and_keeps_its_records<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    let before = all(&store, maps);
    let corrected = MetadataFormat {
        schema: "http://example.org/corrected.xsd".into(),
        ..format("oai_dc")
    };
    store.declare_format(maps, &corrected).unwrap();
    assert_eq!(store.read().unwrap().formats(maps).unwrap(), [corrected]);
    assert_eq!(all(&store, maps), before);
}

pub(crate) fn a_batch_with_an_undeclared_format_is_refused_whole<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let batch = vec![live(1, &[], "<map/>"), as_format("mods", live(1, &[], "<mods/>"))];
    let failure = store.apply(maps, batch).unwrap_err();
    assert!(matches!(failure, StoreError::UnknownFormat(unknown) if unknown == prefix("mods")));
    assert_eq!(all(&store, maps), []);
}

pub(crate) fn a_format_without_records_has_no_list<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let snapshot = store.read().unwrap();
    assert_eq!(snapshot.list(maps, &oai_dc(), None).unwrap(), None);
    assert_eq!(snapshot.deleted(maps, &oai_dc()).unwrap(), 0);
}

pub(crate) fn the_formats_of_an_item_are_those_it_is_live_in<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store.declare_format(maps, &format("mods")).unwrap();
    store.declare_format(maps, &format("ead")).unwrap();
    let mods = |change| as_format("mods", change);
    store
        .apply(
            maps,
            vec![
                mods(live(1, &[], "<mods/>")),
                live(1, &[], "<map/>"),
                live(2, &[], "<map/>"),
            ],
        )
        .unwrap();

    let formats_of = |number| {
        let snapshot = store.read().unwrap();
        snapshot.formats_of(maps, identifier(number).as_str()).unwrap()
    };
    assert_eq!(formats_of(1), Some(vec![format("oai_dc"), format("mods")]));
    assert_eq!(formats_of(2), Some(vec![format("oai_dc")]));
    assert_eq!(formats_of(3), None);
    store.apply(maps, vec![deleted(1)]).unwrap();
    assert_eq!(formats_of(1), Some(vec![format("mods")]));
    store.apply(maps, vec![mods(erased(1))]).unwrap();
    assert_eq!(formats_of(1), Some(vec![]));
}
