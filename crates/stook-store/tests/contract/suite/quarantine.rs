//! What could not be published: kept for a person, replaced when its source is read again.

use stook_store::{Quarantined, RepositoryId, Store};

use super::super::Backend;
use super::super::fixture::*;

fn entry(source: &str, line: u64) -> Quarantined {
    Quarantined {
        source: source.into(),
        line,
        identifier: line.is_multiple_of(2).then(|| format!("oai:example.org:{line}")),
        reason: format!("line {line} cannot be read"),
        excerpt: b"\xff\x00<broken".to_vec(),
    }
}

fn kept(store: &Store, repository: RepositoryId) -> Vec<Quarantined> {
    let mut entries = Vec::new();
    store.quarantined(repository, |entry| entries.push(entry)).unwrap();
    assert_eq!(store.quarantine_count(repository).unwrap(), entries.len() as u64);
    entries
}

pub(crate) fn entries_come_back_whole_oldest_first_and_survive_a_restart<B: Backend>() {
    let mut backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let mut importer = store.importer(maps).unwrap();
    importer.quarantine(&[entry("b.csv", 7), entry("b.csv", 2)]).unwrap();
    importer.quarantine(&[]).unwrap();
    importer.quarantine(&[entry("a.csv", 1)]).unwrap();
    importer.finish_source("b.csv").unwrap();
    importer.finish_source("a.csv").unwrap();
    drop((importer, store));
    backend.reopen();
    let expected = [entry("b.csv", 7), entry("b.csv", 2), entry("a.csv", 1)];
    assert_eq!(kept(&backend.store(), maps), expected);
}

pub(crate) fn reading_a_source_again_replaces_its_entries_and_no_others<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let atlases = store.declare_repository("atlases").unwrap();
    store
        .importer(atlases)
        .unwrap()
        .quarantine(&[entry("a.csv", 1)])
        .unwrap();
    let mut first = store.importer(maps).unwrap();
    first
        .quarantine(&[entry("a.csv", 1), entry("a.csv", 2), entry("b.csv", 1)])
        .unwrap();
    first.finish_source("a.csv").unwrap();
    let mut second = store.importer(maps).unwrap();
    second.quarantine(&[entry("a.csv", 2)]).unwrap();
    // Until the source has been read to its end the old entries stay: the import may be interrupted.
    assert_eq!(kept(&store, maps).len(), 4);
    second.finish_source("a.csv").unwrap();
    assert_eq!(kept(&store, maps), [entry("b.csv", 1), entry("a.csv", 2)]);
    let mut third = store.importer(maps).unwrap();
    third.finish_source("a.csv").unwrap();
    assert_eq!(kept(&store, maps), [entry("b.csv", 1)]);
    assert_eq!(kept(&store, atlases), [entry("a.csv", 1)]);
}

pub(crate) fn clearing_empties_one_repository<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let atlases = store.declare_repository("atlases").unwrap();
    store
        .importer(maps)
        .unwrap()
        .quarantine(&[entry("a.csv", 1), entry("a.csv", 2)])
        .unwrap();
    store
        .importer(atlases)
        .unwrap()
        .quarantine(&[entry("a.csv", 3)])
        .unwrap();
    assert_eq!(store.clear_quarantine(maps).unwrap(), 2);
    assert_eq!(store.clear_quarantine(maps).unwrap(), 0);
    assert_eq!(kept(&store, maps), []);
    assert_eq!(kept(&store, atlases), [entry("a.csv", 3)]);
}

pub(crate) fn an_import_keeps_its_own_entries_when_others_are_cleared_while_it_runs<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store
        .importer(maps)
        .unwrap()
        .quarantine(&[entry("a.csv", 1), entry("a.csv", 2)])
        .unwrap();
    let mut importer = store.importer(maps).unwrap();
    store.clear_quarantine(maps).unwrap();
    importer.quarantine(&[entry("a.csv", 3)]).unwrap();
    importer.finish_source("a.csv").unwrap();
    assert_eq!(kept(&store, maps), [entry("a.csv", 3)]);
}
