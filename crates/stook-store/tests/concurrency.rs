//! Writers and harvesters at the same time, in threads with handles of their own and in processes of their own.
//!
//! However they interleave and whatever the clock does, a harvester that asks once more at the end has everything.

#![allow(clippy::unwrap_used)]

mod fixture;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fixture::harvester::Harvester;
use fixture::*;
use stook_oai::Granularity;
use stook_store::{Change, Clock, RepositoryId, Store, StoreAddress};
use testserver::Server;

const WRITERS: usize = 3;
const HARVESTERS: usize = 4;
/// How long writers write in each test.
const DURATION: Duration = Duration::from_millis(1_500);
/// … at least, and at most if the machine is too busy for them to meet the harvesters.
const PATIENCE: Duration = Duration::from_secs(30);

/// A batch of random changes. Half of them concern records that only this writer touches.
fn batch(writer: usize, dice: &mut Dice) -> Vec<Change> {
    let size = 1 + dice.below(40);
    (0..size)
        .map(|_| {
            let number = match dice.below(2) {
                0 => dice.below(100),
                _ => 1_000 * (writer + 1) + dice.below(100),
            };
            let sets = &["a:x", "a", "b"][dice.below(3)..];
            match dice.below(10) {
                0 => deleted(number),
                1 => restored(number),
                2 => erased(number),
                _ => live(number, sets, &format!("<map>{}</map>", dice.below(1_000_000))),
            }
        })
        .collect()
}

fn write(store: &Store, maps: RepositoryId, writer: usize, commits: &AtomicUsize, until: impl Fn() -> bool) {
    let mut dice = Dice::new(writer as u64 + 1);
    while !until() {
        store.apply(maps, batch(writer, &mut dice)).unwrap();
        commits.fetch_add(1, Ordering::SeqCst);
    }
}

/// Harvests again and again, stopping between pages while the others go on.
fn harvest(store: &Store, maps: RepositoryId, at: usize, lists: &AtomicUsize, until: impl Fn() -> bool) -> Harvester {
    let granularity = if at == 3 { Granularity::Day } else { Granularity::Second };
    let mut harvester = Harvester::new(maps, oai_dc(), None, granularity);
    while !until() {
        harvester.harvest(store, 17 + at * 50);
        lists.fetch_add(1, Ordering::SeqCst);
    }
    harvester
}

/// What is wrong with a copy; nothing if it equals the final state.
fn differences(copied: &[Seen], final_state: &[Seen]) -> Vec<String> {
    let by_identifier = |records: &[Seen]| -> BTreeMap<String, Seen> {
        records
            .iter()
            .map(|seen| (seen.identifier.clone(), seen.clone()))
            .collect()
    };
    let (copied, mut missing) = (by_identifier(copied), by_identifier(final_state));
    let mut wrong = Vec::new();
    for (identifier, seen) in copied {
        match missing.remove(&identifier) {
            Some(now) if now == seen => {}
            now => wrong.push(format!("has {seen:?} instead of {now:?}")),
        }
    }
    wrong.extend(missing.into_values().map(|seen| format!("misses {seen:?}")));
    wrong
}

/// Runs writers and harvesters on a store, each with a handle of its own, then compares.
fn run(clock: &Clock) {
    let folder = tempfile::tempdir().unwrap();
    run_on(&StoreAddress::File(folder.path().join("records.db")), clock);
}

fn run_on(address: &StoreAddress, clock: &Clock) {
    let store = address.open(clock.clone()).unwrap();
    let maps = repository(&store);
    let open = || address.open(clock.clone()).unwrap();
    let (began, written) = (Instant::now(), AtomicBool::new(false));
    let (commits, lists) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let enough = || {
        let busy = commits.load(Ordering::SeqCst) > 60 && lists.load(Ordering::SeqCst) > 6 * HARVESTERS;
        began.elapsed() > if busy { DURATION } else { PATIENCE }
    };
    let copies: Vec<Harvester> = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|at| {
                let store = open();
                let (enough, commits) = (&enough, &commits);
                scope.spawn(move || write(&store, maps, at, commits, enough))
            })
            .collect();
        let harvesters: Vec<_> = (0..HARVESTERS)
            .map(|at| {
                let (store, written, lists) = (open(), &written, &lists);
                scope.spawn(move || {
                    let mut harvester = harvest(&store, maps, at, lists, || written.load(Ordering::SeqCst));
                    harvester.harvest(&store, 100);
                    harvester
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        written.store(true, Ordering::SeqCst);
        harvesters
            .into_iter()
            .map(|harvester| harvester.join().unwrap())
            .collect()
    });
    let final_state = all(&store, maps);
    assert!(final_state.len() > 200, "the writers were too slow to test anything");
    for (at, copy) in copies.iter().enumerate() {
        assert_eq!(
            differences(&copy.copied(), &final_state),
            [] as [&str; 0],
            "harvester {at}"
        );
    }
    let mut found = faults(&store);
    found.retain(|fault| !fault.contains("later than the system's clock"));
    assert_eq!(found, [] as [&str; 0]);
}

#[test]
fn harvesters_miss_nothing_while_writers_write_by_the_system_s_clock() {
    run(&Clock::system());
}

#[test]
fn harvesters_miss_nothing_while_writers_write_and_the_clock_runs_fast() {
    let hand = Hand::at(NEW_YEAR);
    with_clock_driver(&hand, |_| 1, || run(&hand.clock()));
}

#[test]
fn harvesters_miss_nothing_while_writers_write_and_the_clock_steps_both_ways() {
    let hand = Hand::at(NEW_YEAR);
    let step = |dice: &mut Dice| [1, 1, 2, 5, -1, -3, -7, 0, 30, -25][dice.below(10)];
    with_clock_driver(&hand, step, || run(&hand.clock()));
}

/// Moves the clock every fraction of a millisecond while `work` runs.
fn with_clock_driver(hand: &Hand, step: impl Fn(&mut Dice) -> i64 + Sync, work: impl FnOnce()) {
    /// Stops the driver even if the work panics.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let stop = Stop(&done);
        scope.spawn(|| {
            let mut dice = Dice::new(99);
            while !done.load(Ordering::SeqCst) {
                hand.turn(step(&mut dice));
                thread::sleep(Duration::from_micros(300));
            }
        });
        work();
        drop(stop);
    });
}

/// Names the store to the process that is to write into it.
const WRITER_STORE: &str = "STOOK_TEST_WRITER_STORE";
const WRITER_CLOCK: &str = "STOOK_TEST_WRITER_CLOCK";
const WRITER_NUMBER: &str = "STOOK_TEST_WRITER_NUMBER";

/// A clock that several processes share: the number in a file.
fn clock_in(file: PathBuf) -> Clock {
    Clock::new(move || {
        let bytes = fs::read(&file).unwrap_or_default();
        datestamp(bytes.try_into().map_or(NEW_YEAR, i64::from_le_bytes))
    })
}

/// Not a test of its own: what a writing process of the tests below does.
#[test]
fn writer_process() {
    let (Ok(address), Some(time)) = (std::env::var(WRITER_STORE), std::env::var_os(WRITER_CLOCK)) else {
        return;
    };
    let address: StoreAddress = address.parse().unwrap();
    let writer: usize = std::env::var(WRITER_NUMBER).unwrap().parse().unwrap();
    let store = address.open(clock_in(PathBuf::from(time))).unwrap();
    let maps = store.repository("maps").unwrap();
    let mut dice = Dice::new(writer as u64 + 1);
    for commit in 0.. {
        let mut changes = batch(writer, &mut dice);
        // A record that only this process publishes tells which commits must be there.
        changes.push(live(10_000 * (writer + 1) + commit, &["own"], "<own/>"));
        store.apply(maps, changes).unwrap();
        println!("committed {commit}");
        std::io::stdout().flush().unwrap();
    }
}

/// Starts a writing process, and a thread that counts what it says it has committed.
fn start_writer(address: &str, time: &Path, writer: usize) -> (Child, thread::JoinHandle<usize>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["writer_process", "--exact", "--nocapture"])
        .env(WRITER_STORE, address)
        .env(WRITER_CLOCK, time)
        .env(WRITER_NUMBER, writer.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let count = thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        lines.filter(|line| line.starts_with("committed ")).count()
    });
    (child, count)
}

#[test]
fn writing_processes_killed_at_any_moment_lose_no_commit_and_no_harvester_misses_one() {
    let folder = tempfile::tempdir().unwrap();
    kill_writers(folder.path().join("records.db").to_str().unwrap());
}

#[test]
fn nor_do_they_on_a_server() {
    kill_writers(&Server::shared().fresh_url());
}

#[test]
fn many_handles_on_a_server_with_a_clock_that_jumps() {
    let address = StoreAddress::Server(Server::shared().fresh_url());
    let hand = Hand::at(NEW_YEAR);
    let dice = std::sync::Mutex::new(Dice::new(9));
    let clock = Clock::new(move || {
        let step = [0, 0, 0, 1, 2, -1, -2, 30, -25][dice.lock().unwrap().below(9)];
        hand.turn(step);
        datestamp(hand.now())
    });
    run_on(&address, &clock);
}

#[test]
fn many_handles_on_a_server_by_its_own_clock() {
    run_on(&StoreAddress::Server(Server::shared().fresh_url()), &Clock::system());
}

/// How long writers may take to get going.
const SLOWEST: Duration = Duration::from_secs(60);

fn kill_writers(address: &str) {
    let folder = tempfile::tempdir().unwrap();
    let time = folder.path().join("time");
    let clock = clock_in(time.clone());
    let place: StoreAddress = address.parse().unwrap();
    let store = place.open(clock.clone()).unwrap();
    let maps = repository(&store);
    let (hand, written, lists) = (Hand::at(NEW_YEAR), AtomicBool::new(false), AtomicUsize::new(0));
    let (copies, commits) = thread::scope(|scope| {
        let harvesters: Vec<_> = (0..HARVESTERS)
            .map(|at| {
                let store = place.open(clock.clone()).unwrap();
                let (written, lists) = (&written, &lists);
                scope.spawn(move || harvest(&store, maps, at, lists, || written.load(Ordering::SeqCst)))
            })
            .collect();
        let mut dice = Dice::new(4);
        let mut commits = Vec::new();
        for round in 0..4 {
            let writers: Vec<_> = (0..WRITERS)
                .map(|at| start_writer(address, &time, round * WRITERS + at))
                .collect();
            let (began, least) = (Instant::now(), Duration::from_millis(400 + dice.below(200) as u64));
            // On a slow machine longer, so that there is something to kill.
            let few = || numbers_in(&store, maps, "own").len() < 10 * (round + 1);
            while began.elapsed() < least || (few() && began.elapsed() < SLOWEST) {
                hand.turn([1, 1, 3, -2, 0, 20, -15][dice.below(7)]);
                fs::write(&time, hand.now().to_le_bytes()).unwrap();
                thread::sleep(Duration::from_micros(500));
            }
            for (mut child, count) in writers {
                child.kill().unwrap();
                child.wait().unwrap();
                commits.push(count.join().unwrap());
            }
        }
        written.store(true, Ordering::SeqCst);
        let copies: Vec<Harvester> = harvesters
            .into_iter()
            .map(|harvester| harvester.join().unwrap())
            .collect();
        (copies, commits)
    });
    assert!(
        commits.iter().sum::<usize>() > 20,
        "the processes were too slow to test anything"
    );
    for (writer, commits) in commits.into_iter().enumerate() {
        for commit in 0..commits {
            let own = record(&store, maps, "oai_dc", 10_000 * (writer + 1) + commit);
            assert!(own.is_some(), "commit {commit} of writer {writer} is lost");
        }
    }
    for (at, mut copy) in copies.into_iter().enumerate() {
        copy.harvest(&store, 100);
        assert_eq!(
            differences(&copy.copied(), &all(&store, maps)),
            [] as [&str; 0],
            "harvester {at}"
        );
    }
    let mut found = faults(&store);
    found.retain(|fault| !fault.contains("later than the system's clock"));
    assert_eq!(found, [] as [&str; 0]);
}
