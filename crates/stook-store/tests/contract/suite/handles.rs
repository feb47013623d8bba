//! One store through several handles, as several processes would have it.

use std::thread;

use stook_oai::Set;
use stook_store::Outcome;

use super::super::Backend;
use super::super::fixture::*;

pub(crate) fn what_one_handle_commits_the_other_sees_at_once<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let (store, another) = (backend.store(), backend.another(hand.clock()));
    let maps = repository(&store);
    assert_eq!(another.repository("maps").unwrap(), maps);
    for number in 0..20 {
        let (writer, reader) = match number % 2 {
            0 => (&store, &another),
            _ => (&another, &store),
        };
        hand.turn(1);
        writer.apply(maps, vec![live(number, &["a"], "<map/>")]).unwrap();
        assert_eq!(one(reader, maps, number).datestamp, hand.now());
        assert_eq!(all(reader, maps).len(), number + 1);
        assert_eq!(reader.read().unwrap().response_date().unix(), hand.now());
    }
    let named = Set {
        spec: set("a"),
        name: "A".into(),
        descriptions: vec![],
    };
    store.define_set(maps, &named).unwrap();
    assert_eq!(another.read().unwrap().set(maps, &set("a")).unwrap(), Some(named));
}

pub(crate) fn handles_that_write_at_once_lose_nothing_and_share_no_position<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    thread::scope(|scope| {
        for writer in 0..4 {
            let another = backend.another(hand.clock());
            scope.spawn(move || {
                for batch in 0..10 {
                    let numbers = (0..10).map(|n| writer * 1_000 + batch * 10 + n);
                    let changes = numbers.map(|n| live(n, &["a:x"], "<map/>")).collect();
                    let outcomes = another.apply(maps, changes).unwrap();
                    assert!(outcomes.iter().all(|outcome| *outcome == Outcome::New));
                }
            });
        }
    });
    let listed = all(&store, maps);
    assert_eq!(listed.len(), 400);
    assert!(listed.is_sorted_by(|one, next| one.position < next.position));
    assert_eq!(numbers_in(&store, maps, "a").len(), 400);
    assert_eq!(faults(&store), [] as [&str; 0]);
}

pub(crate) fn the_same_change_through_two_handles_is_published_once<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let handles: Vec<_> = (0..4)
            .map(|_| {
                let another = backend.another(hand.clock());
                scope.spawn(move || another.apply(maps, vec![live(1, &[], "<map/>")]).unwrap())
            })
            .collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_published()).count(), 1);
    assert_eq!(all(&store, maps).len(), 1);
}
