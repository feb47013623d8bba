//! What a harvester needs: records with an origin, and notes that are never ahead of the records they speak of.

use stook_store::{
    Beside, Change, Content, Known, Note, Origin, Outcome, Quarantined, RepositoryId, Store, StoreError,
};

use super::super::Backend;
use super::super::fixture::*;

fn note(key: &str, text: &str) -> Note {
    Note {
        key: key.into(),
        text: Some(text.into()),
    }
}

/// A record as it was harvested: at the source from `datestamp`, received at `harvested`.
fn harvested(number: usize, title: &str, origin: i64, harvest_date: &str) -> Change {
    let before = format!("<provenance><origin of=\"{origin}\" on=\"");
    Change {
        identifier: identifier(number),
        prefix: oai_dc(),
        set_specs: sets(&["maps"]),
        content: Content::Harvested {
            metadata: format!("<dc>{title}</dc>"),
            about: vec!["<rights/>".into()],
            origin: Origin {
                datestamp: Some(datestamp(origin)),
                volatile: before.len()..before.len() + harvest_date.len(),
                provenance: format!("{before}{harvest_date}\"/></provenance>"),
            },
        },
    }
}

fn commit(store: &Store, maps: RepositoryId, changes: Vec<Change>, notes: Vec<Note>) -> Vec<Outcome> {
    let batch = store.encoder(maps).encode(changes).unwrap();
    let beside = Beside {
        notes,
        ..Beside::default()
    };
    store.commit(&batch, &beside).unwrap()
}

pub(crate) fn the_harvest_date_alone_is_no_change<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let first = commit(&store, maps, vec![harvested(1, "A", 7, "monday")], vec![]);
    assert_eq!(first, [Outcome::New]);
    hand.turn(60);
    let again = commit(&store, maps, vec![harvested(1, "A", 7, "tuesday")], vec![]);
    assert_eq!(again, [Outcome::Unchanged]);
    let mut fragment = Vec::new();
    let mut snapshot = store.read().unwrap();
    snapshot
        .record(maps, &oai_dc(), identifier(1).as_str(), |record| {
            assert_eq!(record.datestamp(), datestamp(NEW_YEAR));
            record.append_content(&mut fragment)
        })
        .unwrap();
    let text = String::from_utf8(fragment).unwrap();
    assert_eq!(
        text,
        "<metadata><dc>A</dc></metadata><about><rights/></about>\
         <about><provenance><origin of=\"7\" on=\"monday\"/></provenance></about>"
    );
    // The check knows which part does not count, and so does bringing the record back.
    assert_eq!(faults(&store), Vec::<String>::new());
    commit(&store, maps, vec![into_sets(&["maps"], deleted(1))], vec![]);
    commit(&store, maps, vec![restored(1)], vec![]);
    assert_eq!(faults(&store), Vec::<String>::new());
    let again = commit(&store, maps, vec![harvested(1, "A", 7, "friday")], vec![]);
    assert_eq!(again, [Outcome::Unchanged]);
    // Another date at the source is something else to say, and so is another title.
    for change in [harvested(1, "A", 8, "tuesday"), harvested(1, "B", 8, "tuesday")] {
        assert_eq!(commit(&store, maps, vec![change], vec![]), [Outcome::Changed]);
    }
}

pub(crate) fn the_datestamp_at_the_source_is_known<B: Backend>() {
    let mut backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let changes = vec![harvested(1, "A", 7, "x"), live(2, &[], "<dc>B</dc>"), deleted(3)];
    commit(&store, maps, changes, vec![]);
    commit(&store, maps, vec![harvested(1, "A", 9, "x")], vec![]);
    drop(store);
    backend.reopen();
    let snapshot = backend.store().read().unwrap();
    let known = |number: usize| snapshot.known(maps, &oai_dc(), identifier(number).as_str()).unwrap();
    let expected = |deleted, origin: Option<i64>| {
        let origin = origin.map(datestamp);
        let derived = false;
        Some(Known {
            deleted,
            origin,
            derived,
        })
    };
    assert_eq!(known(1), expected(false, Some(9)));
    assert_eq!(known(2), expected(false, None));
    assert_eq!(known(3), expected(true, None));
    assert_eq!(known(4), None);
}

pub(crate) fn notes_are_kept_by_repository_and_found_by_prefix<B: Backend>() {
    let mut backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let (maps, atlases) = (repository(&store), store.declare_repository("atlases").unwrap());
    let written = [
        note("window/b", "2"),
        note("window/a", "1"),
        note("windows", "no"),
        note("x", ""),
    ];
    store.write_notes(maps, &written).unwrap();
    store.write_notes(atlases, &[note("window/a", "other")]).unwrap();
    store
        .write_notes(
            maps,
            &[Note {
                key: "x".into(),
                text: None,
            }],
        )
        .unwrap();
    drop(store);
    backend.reopen();
    let store = backend.store();
    let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
    assert_eq!(
        store.notes(maps, "window/").unwrap(),
        [pair("window/a", "1"), pair("window/b", "2")]
    );
    assert_eq!(store.notes(maps, "").unwrap().len(), 3);
    // A few at a time, each once.
    let page = |after: &str, limit| store.notes_after(maps, "window/", after, limit).unwrap();
    assert_eq!(page("", 1), [pair("window/a", "1")]);
    assert_eq!(page("window/a", 5), [pair("window/b", "2")]);
    assert!(page("window/b", 5).is_empty());
    assert_eq!(
        store.noted("window/a").unwrap(),
        [pair("atlases", "other"), pair("maps", "1")]
    );
    assert!(store.noted("x").unwrap().is_empty());
}

pub(crate) fn a_note_is_swapped_only_by_who_knows_it<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    assert!(!store.swap_note(maps, Some("a"), &note("lease", "b")).unwrap());
    assert!(store.swap_note(maps, None, &note("lease", "a")).unwrap());
    assert!(!store.swap_note(maps, None, &note("lease", "b")).unwrap());
    assert!(store.swap_note(maps, Some("a"), &note("lease", "b")).unwrap());
    assert_eq!(store.notes(maps, "lease").unwrap()[0].1, "b");
}

pub(crate) fn records_and_notes_are_committed_together_or_not_at_all<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let outcomes = commit(&store, maps, vec![harvested(1, "A", 7, "x")], vec![note("page", "1")]);
    assert_eq!(outcomes, [Outcome::New]);
    assert_eq!(store.notes(maps, "page").unwrap().len(), 1);
    let mut unknown = harvested(2, "B", 7, "x");
    unknown.prefix = prefix("marc21");
    let refused = store.encoder(maps).encode(vec![unknown]);
    assert!(matches!(refused, Err(StoreError::UnknownFormat(_))));
    // Nothing but notes is a commit, too.
    commit(&store, maps, vec![], vec![note("page", "2")]);
    assert_eq!(store.notes(maps, "page").unwrap()[0].1, "2");
}

pub(crate) fn a_record_that_is_published_leaves_the_quarantine<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let broken = |number: usize| Quarantined {
        source: "https://example.org/oai".into(),
        line: 0,
        identifier: Some(identifier(number).as_str().to_owned()),
        reason: "it has no metadata".into(),
        excerpt: b"<record/>".to_vec(),
    };
    let nothing = store.encoder(maps).encode(vec![]).unwrap();
    let beside = Beside {
        quarantined: vec![broken(1), broken(2)],
        ..Beside::default()
    };
    store.commit(&nothing, &beside).unwrap();
    commit(&store, maps, vec![harvested(1, "A", 7, "x")], vec![]);
    let mut left = Vec::new();
    store.quarantined(maps, |entry| left.push(entry)).unwrap();
    assert_eq!(left, [broken(2)]);
}

pub(crate) fn a_record_is_quarantined_once_however_often_it_comes<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let broken = |identifier: Option<&str>, excerpt: &str, reason: &str| Quarantined {
        source: "https://example.org/oai".into(),
        line: 0,
        identifier: identifier.map(str::to_owned),
        reason: reason.into(),
        excerpt: excerpt.as_bytes().to_vec(),
    };
    let commit = |beside: Beside| {
        let nothing = store.encoder(maps).encode(vec![]).unwrap();
        store.commit(&nothing, &beside).unwrap();
    };
    for reason in ["first", "second"] {
        commit(Beside {
            quarantined: vec![
                broken(Some("a"), "<x/>", reason),
                broken(None, "<y/>", reason),
                broken(None, "<z/>", reason),
            ],
            ..Beside::default()
        });
    }
    let left = || {
        let mut left = Vec::new();
        store.quarantined(maps, |entry| left.push(entry)).unwrap();
        left
    };
    assert_eq!(left().len(), 3);
    assert!(left().iter().all(|entry| entry.reason == "second"));
    commit(Beside {
        released: vec!["a".into(), "never there".into()],
        ..Beside::default()
    });
    assert_eq!(left().len(), 2);
}
