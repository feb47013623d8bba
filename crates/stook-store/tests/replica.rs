//! Reading from replicas that follow a real server by streaming: they are behind, they are far behind, they are away,
//! and nothing is missed.

#![allow(clippy::unwrap_used)]

mod fixture;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fixture::harvester::Harvester;
use fixture::*;
use stook_oai::Granularity;
use stook_store::{Clock, PostgresAddress, RepositoryId, Store, StoreError};
use testserver::Server;

struct Scene {
    primary: Server,
    replica: Server,
    /// What writers use.
    writing: Store,
    /// What answers are made from.
    reading: Store,
}

impl Scene {
    fn new() -> Scene {
        let primary = Server::start().unwrap();
        let replica = primary.replica().unwrap();
        let writing = connect(&primary, &[]);
        let reading = connect(&primary, &[&replica]);
        let scene = Scene {
            primary,
            replica,
            writing,
            reading,
        };
        scene.caught_up();
        scene
    }

    fn pause_replay(&self) {
        self.replica.run_on_replica("SELECT pg_wal_replay_pause()").unwrap();
    }

    fn resume_replay(&self) {
        self.replica.run_on_replica("SELECT pg_wal_replay_resume()").unwrap();
    }

    /// Waits until the replica shows what was written last.
    fn caught_up(&self) {
        let last = self.writing.read().unwrap().last();
        let began = Instant::now();
        while !self.reading.replicas()[0].is_close() || self.reading.read_replica().unwrap().last() < last {
            assert!(began.elapsed() < Duration::from_secs(30), "the replica does not follow");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn connect(primary: &Server, replicas: &[&Server]) -> Store {
    let address: PostgresAddress = primary.url().parse().unwrap();
    let replicas: Vec<PostgresAddress> = replicas.iter().map(|replica| replica.url().parse().unwrap()).collect();
    Store::connect_with_replicas(&address, &replicas, Clock::system()).unwrap()
}

#[test]
fn an_answer_bears_the_date_of_what_the_replica_has_replayed() {
    let scene = Scene::new();
    let maps = repository(&scene.writing);
    scene.writing.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    scene.caught_up();
    scene.pause_replay();
    thread::sleep(Duration::from_millis(2_100));
    scene.writing.apply(maps, vec![live(2, &[], "<map/>")]).unwrap();
    let written = one(&scene.writing, maps, 2).datestamp;

    let behind = scene.reading.read_replica().unwrap();
    let primary = scene.reading.read().unwrap();
    assert!(behind.last() < primary.last(), "the answer is not from the replica");
    assert!(
        behind.response_date().unix() < written,
        "a harvester that asks again from this date would not be given what was written at {written}"
    );
    assert!(primary.response_date().unix() >= written);
    drop((behind, primary));
    let [state] = &scene.reading.replicas()[..] else {
        panic!("one replica")
    };
    assert!(matches!(state.seconds_behind, Ok(seconds) if seconds >= 2), "{state:?}");

    scene.resume_replay();
    scene.caught_up();
    assert!(scene.reading.read_replica().unwrap().response_date().unix() >= written);
}

#[test]
fn what_is_no_replica_of_the_store_is_not_asked() {
    let scene = Scene::new();
    let maps = repository(&scene.writing);
    scene.writing.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    // Another store on the same servers, itself read from the replica.
    let other: PostgresAddress = format!("{}?schema=other", scene.primary.url()).parse().unwrap();
    let wrong: PostgresAddress = format!("{}?schema=other", scene.replica.url()).parse().unwrap();
    let _other = Store::connect_with_replicas(&other, std::slice::from_ref(&wrong), Clock::system()).unwrap();
    let address: PostgresAddress = scene.primary.url().parse().unwrap();
    let store = Store::connect_with_replicas(&address, &[wrong], Clock::system()).unwrap();
    let began = Instant::now();
    while !matches!(store.replicas()[0].seconds_behind, Err(StoreError::NotAReplica(_))) {
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", store.replicas());
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(store.read_replica().unwrap().last(), store.read().unwrap().last());
}

#[test]
fn a_replica_that_is_away_is_not_waited_for() {
    let mut scene = Scene::new();
    let maps = repository(&scene.writing);
    scene.caught_up();
    scene.replica.kill().unwrap();
    scene.writing.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(
            scene.reading.read_replica().unwrap().last(),
            scene.writing.read().unwrap().last(),
            "the primary answers"
        );
    }
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(matches!(
        scene.reading.replicas()[0].seconds_behind,
        Err(StoreError::Unreachable(_))
    ));
}

#[test]
fn without_the_primary_replicas_answer_with_the_date_they_have_come_to() {
    let mut scene = Scene::new();
    let maps = repository(&scene.writing);
    scene.writing.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
    scene.caught_up();
    scene.primary.kill().unwrap();
    assert!(matches!(scene.reading.read().err(), Some(StoreError::Unreachable(_))));
    let first = scene.reading.read_replica().unwrap();
    thread::sleep(Duration::from_millis(1_500));
    let second = scene.reading.read_replica().unwrap();
    assert_eq!(first.last(), second.last());
    assert_eq!(
        first.response_date(),
        second.response_date(),
        "time stands still without the primary"
    );
}

const RECORDS: usize = 5_000;
const WRITES_A_SECOND: usize = 1_000;
const AT_ONCE: usize = 20;
const SECONDS: usize = 6;

/// Random changes, so many a second; how many there were.
fn write(store: &Store, maps: RepositoryId, seed: u64, a_second: usize) -> usize {
    let (mut dice, began, mut written) = (Dice::new(seed + 1), Instant::now(), 0);
    while began.elapsed() < Duration::from_secs(SECONDS as u64) {
        let numbers: BTreeSet<usize> = (0..AT_ONCE).map(|_| dice.below(RECORDS)).collect();
        let changes = numbers.into_iter().map(|number| match dice.below(10) {
            0 => deleted(number),
            _ => live(number, &["a"], &format!("<map>{}</map>", dice.below(1_000_000))),
        });
        written += store.apply(maps, changes.collect()).unwrap().len();
        let due = Duration::from_secs_f64(written as f64 / a_second as f64);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    written
}

#[test]
fn an_incremental_harvester_of_a_replica_misses_none_of_a_thousand_writes_a_second() {
    let scene = Scene::new();
    let maps = repository(&scene.writing);
    let mut harvester = Harvester::new(maps, oai_dc(), None, Granularity::Second);
    let over = AtomicBool::new(false);
    let (mut harvests, mut behind) = (0, 0);
    thread::scope(|scope| {
        let store = &scene.writing;
        let writers = [0, 1].map(|seed| scope.spawn(move || write(store, maps, seed, WRITES_A_SECOND / 2)));
        // Replay that stops and goes on, as a loaded replica's does.
        let jolts = scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                scene.pause_replay();
                thread::sleep(Duration::from_millis(1_700));
                scene.resume_replay();
                thread::sleep(Duration::from_millis(300));
            }
        });
        while writers.iter().any(|writer| !writer.is_finished()) {
            harvests += usize::from(harvester.fetch_replica(&scene.reading, 200).is_last);
            let replica = scene.reading.read_replica().unwrap().last();
            behind += usize::from(replica < scene.reading.read().unwrap().last());
        }
        let written: usize = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        over.store(true, Ordering::Relaxed);
        jolts.join().unwrap();
        println!("{written} writes, {harvests} harvests meanwhile, {behind} views behind");
        assert!(harvests > 3 && behind > 3);
    });
    scene.caught_up();
    // The list under way, and what has changed since it began.
    for _ in 0..2 {
        while !harvester.fetch_replica(&scene.reading, 200).is_last {}
    }
    let (copied, held) = (harvester.copied(), all(&scene.writing, maps));
    let missed: Vec<_> = held.iter().filter(|seen| !copied.contains(seen)).take(5).collect();
    assert!(
        copied == held,
        "{} records of {}; missed {missed:?}",
        copied.len(),
        held.len()
    );
    assert_eq!(faults(&scene.writing), Vec::<String>::new());
}
