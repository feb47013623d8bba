//! Datestamps and response dates under clocks that step.

use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use stook_oai::Datestamp;
use stook_store::{Clock, Span};

use super::super::Backend;
use super::super::fixture::*;

const YEAR: i64 = 366 * 86_400;

pub(crate) fn a_record_is_stamped_with_the_time_of_its_publication<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let batch = store.encoder(maps).encode(vec![live(1, &[], "<map/>")]).unwrap();
    let mut importer = store.importer(maps).unwrap();
    hand.turn(100);
    importer.commit(&batch).unwrap();
    assert_eq!(one(&store, maps, 1).datestamp, NEW_YEAR + 100);
    assert_eq!(store.read().unwrap().response_date().unix(), NEW_YEAR + 100);
}

pub(crate) fn datestamps_never_go_backwards<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let mut backend = B::create(hand.clock());
    let maps = repository(&backend.store());
    let mut latest = 0;
    for (number, step) in [0, 5, -3, -YEAR, 2 * YEAR, -86_400, 1, 0].into_iter().enumerate() {
        hand.turn(step);
        let store = backend.store();
        store.apply(maps, vec![live(number, &[], "<map/>")]).unwrap();
        let stamped = one(&store, maps, number).datestamp;
        assert_eq!(stamped, hand.now().max(latest), "after a step of {step}");
        let response_date = store.read().unwrap().response_date().unix();
        assert!(
            response_date >= stamped,
            "a datestamp of the future after a step of {step}"
        );
        latest = stamped;
        drop(store);
        backend.reopen();
    }
    let order: Vec<usize> = all(&backend.store(), maps).iter().map(Seen::number).collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
}

pub(crate) fn nothing_is_stamped_before_a_response_date_given_out<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let mut backend = B::create(hand.clock());
    let maps = repository(&backend.store());
    hand.turn(1_000);
    let given = backend.store().read().unwrap().response_date().unix();
    assert_eq!(given, NEW_YEAR + 1_000);
    hand.turn(-900);
    backend.reopen();
    let store = backend.store();
    assert_eq!(store.read().unwrap().response_date().unix(), given);
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    assert_eq!(one(&store, maps, 1).datestamp, given);
}

/// A clock whose reader is held up: it tells when it is read, and answers when released or after `patience`.
fn held_up(answer: i64, patience: Duration) -> (Clock, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (arrived, arrival) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let clock = Clock::new(move || {
        let _ = arrived.send(());
        let _ = released.lock().unwrap().recv_timeout(patience);
        datestamp(answer)
    });
    (clock, arrival, release)
}

pub(crate) fn a_reader_with_a_slow_clock_does_not_take_back_what_another_has_said<B: Backend>() {
    // One reader is held up between looking at the clock and saying the time; another says a later time meanwhile;
    // then the clock steps back. The later time must still bound the next stamp.
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let (clock, arrival, release) = held_up(NEW_YEAR + 5, Duration::from_millis(100));
    let slow = backend.another(clock);
    let slow_reader = thread::spawn(move || slow.read().unwrap().response_date());
    arrival.recv().unwrap();
    hand.turn_to(NEW_YEAR + 20);
    let given = store.read().unwrap().response_date();
    drop(release);
    slow_reader.join().unwrap();
    hand.turn_to(NEW_YEAR);
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    assert!(one(&store, maps, 1).datestamp >= given.unix());
}

pub(crate) fn a_reader_that_is_stopped_does_not_stop_the_others<B: Backend>() {
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let (clock, arrival, release) = held_up(NEW_YEAR + 5, Duration::from_secs(30));
    let stopped = backend.another(clock);
    let stopped_reader = thread::spawn(move || stopped.read().unwrap().response_date());
    arrival.recv().unwrap();
    let began = Instant::now();
    hand.turn_to(NEW_YEAR + 20);
    let given = store.read().unwrap().response_date();
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "it waited for the one that was stopped"
    );
    hand.turn_to(NEW_YEAR);
    release.send(()).unwrap();
    stopped_reader.join().unwrap();
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    assert!(one(&store, maps, 1).datestamp >= given.unix());
}

pub(crate) fn a_writer_held_up_holds_back_the_response_dates_of_other_handles<B: Backend>() {
    // The writer has begun at one second and commits much later: readers in between must not say a later second.
    let hand = Hand::at(NEW_YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let (clock, arrival, release) = held_up(NEW_YEAR + 5, Duration::from_secs(30));
    let slow = backend.another(clock);
    let batch = slow.encoder(maps).encode(vec![live(1, &[], "<map/>")]).unwrap();
    let writer = thread::spawn(move || slow.importer(maps).unwrap().commit(&batch).unwrap());
    arrival.recv().unwrap();
    hand.turn_to(NEW_YEAR + 50);
    let snapshot = store.read().unwrap();
    release.send(()).unwrap();
    writer.join().unwrap();
    assert_eq!(snapshot.list(maps, &oai_dc(), None).unwrap(), None);
    assert!(one(&store, maps, 1).datestamp >= snapshot.response_date().unix());
    assert_eq!(store.read().unwrap().response_date().unix(), NEW_YEAR + 50);
}

pub(crate) fn a_clock_gone_mad_costs_no_record_and_no_order<B: Backend>() {
    let hand = Hand::at(-YEAR);
    let backend = B::create(hand.clock());
    let store = backend.store();
    let maps = repository(&store);
    let times = [
        -YEAR,
        0,
        NEW_YEAR,
        2_000 * YEAR,
        Datestamp::MAX.unix(),
        Datestamp::MIN.unix(),
        NEW_YEAR,
    ];
    for (number, time) in times.into_iter().enumerate() {
        hand.turn_to(time);
        store
            .apply(
                maps,
                vec![live(number, &[], "<map/>"), live(100 + number, &[], "<map/>")],
            )
            .unwrap();
        let response_date = store.read().unwrap().response_date().unix();
        assert!(response_date >= one(&store, maps, 100 + number).datestamp, "at {time}");
    }
    let listed = all(&store, maps);
    let order: Vec<usize> = listed.iter().map(Seen::number).collect();
    assert_eq!(
        order,
        (0..7).flat_map(|number| [number, 100 + number]).collect::<Vec<_>>()
    );
    assert!(listed.is_sorted_by_key(|seen| seen.datestamp));
    let snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
    assert_eq!(snapshot.count(list, Span::ALL).unwrap(), 14);
}

pub(crate) fn a_range_to_the_far_future_holds_everything<B: Backend>() {
    let backend = B::create(Hand::at(NEW_YEAR).clock());
    let store = backend.store();
    let maps = repository(&store);
    store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    let mut snapshot = store.read().unwrap();
    let list = snapshot.list(maps, &oai_dc(), None).unwrap().unwrap();
    for year in (2_100..=9_999).step_by(37).chain([9_999]) {
        let until = Datestamp::parse(&format!("{year}-12-31T23:59:59Z")).unwrap();
        let through = stook_store::Position::last_of(until);
        let after = stook_store::Position::first_of(until).before();
        let to_there = Span { through, ..Span::ALL };
        let from_there = Span { after, ..Span::ALL };
        assert_eq!(page(&mut snapshot, list, to_there, 10).0.len(), 1, "until {until}");
        assert_eq!(page(&mut snapshot, list, from_there, 10).0.len(), 0, "from {until}");
    }
}
