//! Imports: the same input gives the same repository, whichever way it is cut into batches.

use stook_store::{Change, Importer, Outcome, RepositoryId, Store};

use super::super::Backend;
use super::super::fixture::*;

fn commit(store: &Store, maps: RepositoryId, importer: &mut Importer, changes: Vec<Change>) -> Vec<Outcome> {
    importer.commit(&store.encoder(maps).encode(changes).unwrap()).unwrap()
}

const SAME: Outcome = Outcome::Repeated { same: true };
const OTHER: Outcome = Outcome::Repeated { same: false };

pub(crate) fn the_first_of_repeated_records_wins_within_a_batch<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    let outcomes = store
        .apply(
            maps,
            vec![
                live(1, &["a"], "<first/>"),
                live(2, &[], "<map/>"),
                live(1, &["a"], "<second/>"),
                live(1, &["a"], "<first/>"),
                live(1, &["b"], "<first/>"),
                deleted(1),
            ],
        )
        .unwrap();
    assert_eq!(outcomes, [Outcome::New, Outcome::New, OTHER, SAME, OTHER, OTHER]);
    let first = one(&store, maps, 1);
    assert_eq!(
        (first.content.as_str(), first.set_specs.as_str()),
        ("<metadata><first/></metadata>", "a")
    );
    assert_eq!(all(&store, maps).len(), 2);
}

pub(crate) fn the_first_of_repeated_records_wins_across_batches<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    store
        .apply(
            maps,
            vec![live(1, &[], "<old/>"), live(2, &[], "<same/>"), live(4, &[], "<old/>")],
        )
        .unwrap();
    let mut importer = store.importer(maps).unwrap();
    let mut import = |changes| {
        hand.turn(1);
        commit(&store, maps, &mut importer, changes)
    };
    let first = import(vec![
        live(1, &[], "<first/>"),
        live(2, &[], "<same/>"),
        live(3, &[], "<first/>"),
        deleted(4),
    ]);
    use Outcome::{Changed, Deleted, New, Unchanged};
    assert_eq!(first, [Changed, Unchanged, New, Deleted]);
    let second = import(vec![
        live(1, &[], "<second/>"),
        live(2, &[], "<second/>"),
        live(3, &[], "<first/>"),
        live(4, &[], "<second/>"),
        live(5, &[], "<first/>"),
    ]);
    assert_eq!(second, [OTHER, OTHER, SAME, OTHER, New]);
    let third = import(vec![
        live(1, &[], "<first/>"),
        live(2, &[], "<same/>"),
        deleted(4),
        live(5, &[], "<x/>"),
    ]);
    assert_eq!(third, [SAME, SAME, SAME, OTHER]);
    let contents: Vec<String> = [1, 2, 3, 5].map(|n| one(&store, maps, n).content).to_vec();
    assert_eq!(
        contents,
        ["<first/>", "<same/>", "<first/>", "<first/>"].map(|text| format!("<metadata>{text}</metadata>"))
    );
    assert!(one(&store, maps, 4).deleted);
}

/// An input with repeated records, deletions and several formats.
fn input() -> Vec<Change> {
    let mut changes: Vec<Change> = (0..60)
        .map(|n| match n % 10 {
            9 => into_sets(&["gone"], deleted(n)),
            _ => live(n, &["b", "a:x"], &format!("<map>{}</map>", n % 4)),
        })
        .collect();
    changes.extend(
        (0..60)
            .step_by(5)
            .map(|n| live(n, &["a:x", "b"], &format!("<map>{}</map>", n % 3))),
    );
    changes.extend((0..60).step_by(6).map(|n| as_format("mods", live(n, &[], "<mods/>"))));
    changes
}

pub(crate) fn a_claimed_record_counts_as_having_come_in_that_format_only<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store.declare_format(maps, &format("mods")).unwrap();
    let as_mods = |body| as_format("mods", live(1, &[], body));
    store
        .apply(maps, vec![live(1, &[], "<map/>"), as_mods("<mods/>")])
        .unwrap();
    let mut importer = store.importer(maps).unwrap();
    importer.claim(&oai_dc(), identifier(1).as_str()).unwrap();
    // What is not there can be claimed by nobody.
    importer.claim(&oai_dc(), identifier(2).as_str()).unwrap();
    importer.claim(&prefix("other"), identifier(1).as_str()).unwrap();
    let changes = vec![live(1, &[], "<new/>"), as_mods("<newer/>"), live(2, &[], "<map/>")];
    let outcomes = commit(&store, maps, &mut importer, changes);
    assert_eq!(outcomes, [OTHER, Outcome::Changed, Outcome::New]);
    assert_eq!(
        commit(&store, maps, &mut importer, vec![live(1, &[], "<map/>")]),
        [SAME]
    );
}

pub(crate) fn the_same_input_again_changes_nothing_however_it_is_cut<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let mut backend = B::create(hand.clock());
    let maps = repository(&backend.store());
    backend.store().declare_format(maps, &format("mods")).unwrap();
    let state = |store: &Store| {
        let sets = store.read().unwrap().sets(maps, None, 100).unwrap();
        (
            all(store, maps),
            list_of(store, maps, "mods", None),
            sets,
            store.read().unwrap().last(),
        )
    };
    let mut imported = None;
    for size in [7, 1_000, 1, 13] {
        let store = backend.store();
        let mut importer = store.importer(maps).unwrap();
        for changes in input().chunks(size) {
            hand.turn(1);
            let outcomes = commit(&store, maps, &mut importer, changes.to_vec());
            let published = outcomes.iter().any(|outcome| outcome.is_published());
            assert!(imported.is_none() || !published, "{outcomes:?} in batches of {size}");
        }
        let now = state(&store);
        assert_eq!(
            *imported.get_or_insert_with(|| now.clone()),
            now,
            "in batches of {size}"
        );
        drop((store, importer));
        backend.reopen();
    }
}

pub(crate) fn an_interrupted_import_run_again_ends_in_the_same_state<B: Backend>() {
    let outcome_of = |interruptions: &[usize]| {
        let mut backend = B::create(Hand::at(NEW_YEAR).clock());
        let maps = repository(&backend.store());
        backend.store().declare_format(maps, &format("mods")).unwrap();
        for &batches in interruptions {
            let store = backend.store();
            let mut importer = store.importer(maps).unwrap();
            for changes in input().chunks(8).take(batches) {
                commit(&store, maps, &mut importer, changes.to_vec());
            }
            drop((store, importer));
            backend.reopen();
        }
        let store = backend.store();
        (all(&store, maps), list_of(&store, maps, "mods", None))
    };
    assert_eq!(outcome_of(&[1, 3, 0, 5, 100]), outcome_of(&[100]));
}

pub(crate) fn an_import_sees_what_others_publish_meanwhile<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let mut importer = store.importer(maps).unwrap();
    commit(&store, maps, &mut importer, vec![live(1, &[], "<ours/>")]);
    let another = backend.another(hand.clock());
    another
        .apply(maps, vec![live(1, &[], "<theirs/>"), live(2, &[], "<theirs/>")])
        .unwrap();
    let outcomes = commit(
        &store,
        maps,
        &mut importer,
        vec![live(2, &[], "<theirs/>"), live(3, &[], "<ours/>")],
    );
    assert_eq!(outcomes, [Outcome::Unchanged, Outcome::New]);
    assert_eq!(one(&store, maps, 1).content, "<metadata><theirs/></metadata>");
}

pub(crate) fn a_trained_dictionary_changes_no_content<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let mut backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let text = |n: usize| {
        let words = ["Karte", "mapa", "карта", "地図"];
        let (word, scale) = (words[n % 4], n * 7919 % 1000);
        format!("<dc><title>{word} {n}</title><subject>1 : {scale}</subject><type>StillImage</type></dc>").repeat(4)
    };
    let changes = |numbers: std::ops::Range<usize>| numbers.map(|n| live(n, &[], &text(n))).collect::<Vec<_>>();
    // Too few to learn from; enough to learn from; few again, with what was learnt.
    store.apply(maps, changes(0..20)).unwrap();
    store.apply(maps, changes(20..1_500)).unwrap();
    let another = backend.another(hand.clock());
    another.apply(maps, changes(1_500..1_510)).unwrap();
    hand.turn(10);
    let outcomes = another.apply(maps, changes(0..1_510)).unwrap();
    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Unchanged));
    for store in [store, another] {
        for seen in all(&store, maps) {
            assert_eq!(seen.content, format!("<metadata>{}</metadata>", text(seen.number())));
        }
        store.apply(maps, vec![deleted(700), deleted(3)]).unwrap();
        store.apply(maps, vec![restored(700), restored(3)]).unwrap();
    }
    backend.reopen();
    for number in [3, 700, 1_505] {
        let content = one(&backend.store(), maps, number).content;
        assert_eq!(content, format!("<metadata>{}</metadata>", text(number)));
    }
    assert_eq!(faults(&backend.store()), [] as [&str; 0]);
}
