//! A store that has lived through everything is still sound.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::super::Backend;
use super::super::fixture::*;

pub(crate) fn a_store_that_has_seen_every_kind_of_change_is_sound<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let mut backend = B::create(hand.clock());
    assert_eq!(faults(&backend.store()), [] as [&str; 0]);
    let maps = repository(&backend.store());
    backend.store().declare_format(maps, &format("mods")).unwrap();
    let mut dice = Dice::new(11);
    for round in 0..30 {
        hand.turn(1);
        let changes = (0..dice.below(20)).map(|_| {
            let number = dice.below(40);
            let sets = &["a:x", "a:y", "b", "a"][dice.below(3)..][..dice.below(2)];
            let change = match dice.below(6) {
                0 => deleted(number),
                1 => erased(number),
                2 => restored(number),
                _ => live(number, sets, &format!("<map>{}</map>", dice.below(4))),
            };
            let change = if dice.below(2) == 0 {
                change
            } else {
                into_sets(sets, change)
            };
            if dice.below(3) == 0 {
                as_format("mods", change)
            } else {
                change
            }
        });
        backend.store().apply(maps, changes.collect()).unwrap();
        if round % 7 == 0 {
            backend.reopen();
        }
    }
    let mut steps = Vec::new();
    let found = backend.store().check(|step, _, _| steps.push(step.to_owned())).unwrap();
    assert_eq!(found, [] as [&str; 0]);
    assert!(!steps.is_empty());
}

pub(crate) fn a_check_while_others_write_finds_nothing<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    store
        .apply(maps, (0..500).map(|n| live(n, &["a:x"], "<map/>")).collect())
        .unwrap();
    let (another, done) = (backend.another(hand.clock()), AtomicBool::new(false));
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut dice = Dice::new(2);
            let mut commits = 0;
            while !done.load(Ordering::SeqCst) || commits < 3 {
                let sets = [&["a:x"][..], &["b"], &[]];
                let changes = (0..20).map(|_| match dice.below(4) {
                    0 => deleted(dice.below(600)),
                    _ => live(dice.below(600), sets[dice.below(3)], &format!("<map>{commits}</map>")),
                });
                another.apply(maps, changes.collect()).unwrap();
                commits += 1;
            }
        });
        let found: Vec<String> = (0..15).flat_map(|_| faults(&store)).collect();
        done.store(true, Ordering::SeqCst);
        writer.join().unwrap();
        assert_eq!(found, [] as [&str; 0]);
    });
}
