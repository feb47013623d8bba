//! Deleting what an input no longer mentions, and nothing else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use stook_store::{Change, Importer, Outcome, RepositoryId, Store, Vanished};

use super::super::Backend;
use super::super::fixture::*;

/// Ten records, the first of them already deleted.
fn open<B: Backend>() -> (B, Store, RepositoryId, Hand) {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    store
        .apply(maps, (0..10).map(|n| live(n, &["a"], "<map/>")).collect())
        .unwrap();
    store.apply(maps, vec![deleted(0)]).unwrap();
    hand.turn(10);
    (backend, store, maps, hand)
}

fn commit(store: &Store, maps: RepositoryId, importer: &mut Importer, changes: Vec<Change>) -> Vec<Outcome> {
    importer.commit(&store.encoder(maps).encode(changes).unwrap()).unwrap()
}

fn live_numbers(store: &Store, maps: RepositoryId) -> Vec<usize> {
    let mut numbers: Vec<usize> = all(store, maps)
        .iter()
        .filter(|seen| !seen.deleted)
        .map(Seen::number)
        .collect();
    numbers.sort_unstable();
    numbers
}

pub(crate) fn what_the_input_does_not_mention_is_deleted_with_its_sets<B: Backend>() {
    let (_backend, store, maps, hand) = open::<B>();
    let mut importer = store.importer(maps).unwrap();
    // Unchanged, changed, deleted, new.
    let changes = vec![
        live(1, &["a"], "<map/>"),
        live(2, &["a"], "<new/>"),
        deleted(3),
        live(20, &[], "<new/>"),
    ];
    commit(&store, maps, &mut importer, changes);
    commit(&store, maps, &mut importer, vec![live(4, &["a"], "<map/>")]);
    let vanished = importer.vanished(&[oai_dc()], &[]).unwrap();
    assert_eq!(vanished, Vanished { records: 5, of: 7 });
    assert_eq!(live_numbers(&store, maps).len(), 9, "finding is not deleting");
    hand.turn(10);
    let mut heard = Vec::new();
    assert_eq!(importer.delete_vanished(|count| heard.push(count)).unwrap(), 5);
    assert_eq!(heard.last(), Some(&5));
    assert_eq!(live_numbers(&store, maps), [1, 2, 4, 20]);
    let gone = one(&store, maps, 5);
    assert_eq!(
        (gone.deleted, gone.datestamp, gone.set_specs.as_str()),
        (true, hand.now(), "a")
    );
    assert_eq!(one(&store, maps, 1).datestamp, NEW_YEAR);
    // They are deleted, not erased.
    assert_eq!(store.apply(maps, vec![restored(5)]).unwrap(), [Outcome::Changed]);
    assert_eq!(faults(&store), [] as [&str; 0]);
}

pub(crate) fn an_input_that_mentions_everything_deletes_nothing<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    let before = all(&store, maps);
    let mut importer = store.importer(maps).unwrap();
    commit(
        &store,
        maps,
        &mut importer,
        (1..10).rev().map(|n| live(n, &["a"], "<map/>")).collect(),
    );
    assert_eq!(
        importer.vanished(&[oai_dc()], &[]).unwrap(),
        Vanished { records: 0, of: 9 }
    );
    assert_eq!(importer.delete_vanished(|_| ()).unwrap(), 0);
    assert_eq!(all(&store, maps), before);
}

pub(crate) fn nothing_is_deleted_before_it_was_found_vanished<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    let before = all(&store, maps);
    let mut importer = store.importer(maps).unwrap();
    assert_eq!(importer.delete_vanished(|_| ()).unwrap(), 0);
    assert_eq!(all(&store, maps), before);
}

pub(crate) fn asking_twice_counts_the_same_and_later_mentions_count<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    let mut importer = store.importer(maps).unwrap();
    commit(&store, maps, &mut importer, vec![live(1, &["a"], "<map/>")]);
    assert_eq!(
        importer.vanished(&[oai_dc()], &[]).unwrap(),
        Vanished { records: 8, of: 9 }
    );
    assert_eq!(
        importer.vanished(&[oai_dc()], &[]).unwrap(),
        Vanished { records: 8, of: 9 }
    );
    commit(
        &store,
        maps,
        &mut importer,
        (2..9).map(|n| live(n, &["a"], "<map/>")).collect(),
    );
    assert_eq!(
        importer.vanished(&[oai_dc()], &[]).unwrap(),
        Vanished { records: 1, of: 9 }
    );
    assert_eq!(importer.delete_vanished(|_| ()).unwrap(), 1);
    assert_eq!(live_numbers(&store, maps), (1..9).collect::<Vec<_>>());
}

pub(crate) fn only_the_formats_and_the_repository_of_the_import_are_touched<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    store.declare_format(maps, &format("mods")).unwrap();
    store
        .apply(maps, vec![as_format("mods", live(1, &[], "<mods/>"))])
        .unwrap();
    let atlases = store.declare_repository("atlases").unwrap();
    store.declare_format(atlases, &format("oai_dc")).unwrap();
    store.apply(atlases, vec![live(1, &[], "<atlas/>")]).unwrap();

    let mut importer = store.importer(maps).unwrap();
    commit(&store, maps, &mut importer, vec![live(9, &["a"], "<map/>")]);
    let vanished = importer.vanished(&[oai_dc(), prefix("unknown")], &[]).unwrap();
    assert_eq!(vanished, Vanished { records: 8, of: 9 });
    importer.delete_vanished(|_| ()).unwrap();
    assert_eq!(live_numbers(&store, maps), [9]);
    assert!(!record(&store, maps, "mods", 1).unwrap().deleted);
    assert!(!one(&store, atlases, 1).deleted);
    let both = importer.vanished(&[oai_dc(), prefix("mods")], &[]).unwrap();
    assert_eq!(both, Vanished { records: 1, of: 2 });
}

pub(crate) fn a_spared_record_does_not_vanish_in_any_format<B: Backend>() {
    let (_backend, store, maps, _) = open::<B>();
    store.declare_format(maps, &format("mods")).unwrap();
    store
        .apply(maps, vec![as_format("mods", live(1, &[], "<mods/>"))])
        .unwrap();
    let mut importer = store.importer(maps).unwrap();
    commit(&store, maps, &mut importer, vec![live(2, &["a"], "<map/>")]);
    for number in [1, 2, 1, 777] {
        importer.spare(&identifier(number)).unwrap();
    }
    let vanished = importer.vanished(&[oai_dc(), prefix("mods")], &[]).unwrap();
    assert_eq!(vanished, Vanished { records: 7, of: 10 });
    importer.delete_vanished(|_| ()).unwrap();
    assert_eq!(live_numbers(&store, maps), [1, 2]);
    assert!(!record(&store, maps, "mods", 1).unwrap().deleted);
}

pub(crate) fn a_spared_record_can_still_be_published_when_it_is_read_after_all<B: Backend>() {
    // One format of an item, or one of two lines with the same identifier, is broken: the other is still news.
    let (_backend, store, maps, _) = open::<B>();
    let mut importer = store.importer(maps).unwrap();
    importer.spare(&identifier(1)).unwrap();
    importer.spare(&identifier(2)).unwrap();
    let changes = vec![live(1, &["a"], "<new/>"), live(2, &["a"], "<map/>")];
    let outcomes = commit(&store, maps, &mut importer, changes);
    assert_eq!(outcomes, [Outcome::Changed, Outcome::Unchanged]);
    importer.spare(&identifier(1)).unwrap();
    let again = commit(
        &store,
        maps,
        &mut importer,
        vec![live(1, &["a"], "<newer/>"), live(2, &["a"], "<map/>")],
    );
    assert_eq!(
        again,
        [Outcome::Repeated { same: false }, Outcome::Repeated { same: true }]
    );
    assert_eq!(
        importer.vanished(&[oai_dc()], &[]).unwrap(),
        Vanished { records: 7, of: 8 }
    );
}

pub(crate) fn what_somebody_else_changed_meanwhile_is_not_deleted<B: Backend>() {
    let (backend, store, maps, hand) = open::<B>();
    let another = backend.another(hand.clock());
    let mut importer = store.importer(maps).unwrap();
    commit(&store, maps, &mut importer, vec![live(1, &["a"], "<map/>")]);
    // Before we look: a change and a new record. After we looked: another change, and a deletion.
    another
        .apply(maps, vec![live(2, &["a"], "<theirs/>"), live(30, &[], "<theirs/>")])
        .unwrap();
    assert_eq!(
        importer.vanished(&[oai_dc()], &[]).unwrap(),
        Vanished { records: 7, of: 8 }
    );
    another
        .apply(maps, vec![live(3, &["a"], "<theirs/>"), deleted(4)])
        .unwrap();
    assert_eq!(importer.delete_vanished(|_| ()).unwrap(), 5);
    assert_eq!(live_numbers(&store, maps), [1, 2, 3, 30]);
}

pub(crate) fn vanished_records_are_all_deleted_even_if_many_of_them_changed_meanwhile<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let numbers = 4_500;
    store
        .apply(maps, (0..numbers).map(|n| live(n, &[], "<map/>")).collect())
        .unwrap();
    let mut importer = store.importer(maps).unwrap();
    let vanished = importer.vanished(&[oai_dc()], &[]).unwrap();
    assert_eq!(vanished.records, numbers as u64);
    let theirs = (0..4_100).map(|n| live(n, &[], "<theirs/>")).collect();
    backend.another(hand.clock()).apply(maps, theirs).unwrap();
    assert_eq!(importer.delete_vanished(|_| ()).unwrap(), 400);
    assert_eq!(live_numbers(&store, maps), (0..4_100).collect::<Vec<_>>());
}

pub(crate) fn a_record_published_while_deletions_run_stays<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let numbers = 8_000;
    store
        .apply(maps, (0..numbers).map(|n| live(n, &[], "<map/>")).collect())
        .unwrap();
    let mut importer = store.importer(maps).unwrap();
    importer.vanished(&[oai_dc()], &[]).unwrap();
    let (another, done) = (backend.another(hand.clock()), AtomicBool::new(false));
    thread::scope(|scope| {
        // Somebody keeps publishing records here and there, most of the time holding the store.
        let publisher = scope.spawn(|| {
            let (mut published, mut dice) = (Vec::new(), Dice::new(3));
            while !done.load(Ordering::SeqCst) {
                let batch: Vec<usize> = (0..40).map(|_| dice.below(numbers)).collect();
                let changes = batch.iter().map(|&n| live(n, &[], "<theirs/>"));
                another.apply(maps, changes.collect()).unwrap();
                published.extend(batch);
            }
            published
        });
        importer.delete_vanished(|_| ()).unwrap();
        done.store(true, Ordering::SeqCst);
        for number in publisher.join().unwrap() {
            assert!(!one(&store, maps, number).deleted, "{number} was published and is gone");
        }
    });
    assert_eq!(faults(&store), [] as [&str; 0]);
}

pub(crate) fn where_only_some_sets_are_asked_for_only_their_records_vanish<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let repository = repository(&store);
    let records = [(1, "maps"), (2, "maps:city"), (3, "maps:city"), (4, "theses")];
    let changes = records.iter().map(|(number, set)| live(*number, &[set], "<a/>"));
    store
        .apply(repository, changes.chain([live(5, &[], "<a/>")]).collect())
        .unwrap();

    let mut importer = store.importer(repository).unwrap();
    importer.spare(&identifier(1)).unwrap();
    let within = sets(&["maps:city", "maps"]);
    let vanished = importer.vanished(&[oai_dc()], &within).unwrap();
    assert_eq!(vanished, Vanished { records: 2, of: 3 });
    let unknown = importer.vanished(&[oai_dc()], &sets(&["nosuch"])).unwrap();
    assert_eq!(unknown, Vanished { records: 0, of: 0 });
    importer.vanished(&[oai_dc()], &within).unwrap();
    assert_eq!(importer.delete_vanished(|_| {}).unwrap(), 2);
    let deleted = all(&store, repository).into_iter().filter(|record| record.deleted);
    assert_eq!(deleted.map(|record| record.number()).collect::<Vec<_>>(), [2, 3]);
}
