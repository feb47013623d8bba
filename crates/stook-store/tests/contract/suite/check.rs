//! A store that has lived through everything is still sound.

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
