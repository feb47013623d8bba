//! Stores that are copied: the copy is the same, row by row and answer by answer, and goes on as the original would have.

#![allow(clippy::unwrap_used)]

mod fixture;
mod history;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use fixture::*;
use history::{Side, Step, step};
use proptest::collection::vec;
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;
use stook_store::{
    Beside, Change, Clock, Copied, CopyOptions, Note, Quarantined, Store, StoreAddress, StoreError, copy,
};
use tempfile::TempDir;
use testserver::Server;

const ONCE: CopyOptions = CopyOptions {
    again: false,
    discard_later: false,
    batch: 100,
};
const AGAIN: CopyOptions = CopyOptions { again: true, ..ONCE };

fn server() -> StoreAddress {
    StoreAddress::Server(Server::shared().fresh_url())
}

fn file(folder: &TempDir, name: &str) -> StoreAddress {
    StoreAddress::File(folder.path().join(name))
}

fn try_copy(from: &StoreAddress, to: &StoreAddress, options: CopyOptions) -> Result<Copied, StoreError> {
    copy(from, to, options, |_, _, _| {}, || false)
}

fn copied(from: &StoreAddress, to: &StoreAddress, options: CopyOptions) -> Copied {
    let copied = try_copy(from, to, options).unwrap();
    assert!(copied.finished);
    copied
}

/// Every row of every table of a store, and the time in its clock; those of a server by way of a file.
fn rows(store: &StoreAddress) -> BTreeMap<String, Vec<Vec<Value>>> {
    let folder = tempfile::tempdir().unwrap();
    let StoreAddress::File(path) = store else {
        let there = file(&folder, "there.db");
        copied(store, &there, ONCE);
        return rows(&there);
    };
    let connection = Connection::open(path).unwrap();
    let names: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut tables: BTreeMap<String, Vec<Vec<Value>>> = BTreeMap::new();
    for name in names {
        let mut select = connection.prepare(&format!("SELECT * FROM {name}")).unwrap();
        let width = select.column_count();
        let found = select
            .query_map([], |row| (0..width).map(|at| row.get(at)).collect())
            .unwrap();
        let mut found: Vec<Vec<Value>> = found.map(Result::unwrap).collect();
        found.sort_by_key(|row| format!("{row:?}"));
        tables.insert(name, found);
    }
    let clock = fs::read(format!("{}-clock", path.display())).unwrap();
    tables.insert("clock".into(), vec![vec![Value::Blob(clock[8..16].to_vec())]]);
    tables
}

#[track_caller]
fn assert_same(one: &StoreAddress, other: &StoreAddress) {
    let (one, other) = (rows(one), rows(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (table, rows) in &one {
        assert_eq!(rows, &other[table], "{table}");
    }
}

/// A store with two repositories and a bit of everything.
fn fill(address: &StoreAddress, clock: Clock) -> Store {
    let store = address.open(clock).unwrap();
    for name in ["maps", "atlases"] {
        let side = Side::of(store.clone(), name);
        let changes = |version: &str| -> Vec<Change> {
            let text = |number: usize| format!("<map>{name} {number} {version}</map>");
            let one = |number: usize| match live(number, &[history::SETS[number % 5]], &text(number)) {
                change if number.is_multiple_of(2) => history::harvested(change, number),
                change => change,
            };
            (0..20).map(one).collect()
        };
        side.take(&Step::Apply(changes("1")));
        side.take(&Step::Apply(changes("2")[..7].to_vec()));
        side.take(&Step::Apply(vec![
            deleted(3),
            erased(4),
            as_format("mods", live(1, &["b"], "<mods/>")),
        ]));
        side.take(&Step::Name("a:x", "Über alles".into()));
        let note = Note {
            key: "note/1".into(),
            text: Some("kept".into()),
        };
        let beside = Beside {
            notes: vec![note],
            quarantined: (0..9).map(broken).collect(),
            released: vec![],
        };
        side.take(&Step::Commit(vec![], beside));
    }
    store
}

fn broken(line: u64) -> Quarantined {
    Quarantined {
        source: "records.csv".into(),
        line,
        identifier: None,
        reason: "it is broken".into(),
        excerpt: vec![0, 255, u8::try_from(line).unwrap()],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, max_shrink_time: 60_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn copies_of_copies_are_the_same_and_go_on_alike(
        before in vec((any::<bool>(), step()), 1..30),
        after in vec((any::<bool>(), step()), 1..10),
        batch in 1..40_usize,
    ) {
        let (folder, hand) = (tempfile::tempdir().unwrap(), Hand::at(NEW_YEAR));
        let places = [file(&folder, "1.db"), server(), file(&folder, "2.db"), server(), file(&folder, "3.db")];
        let open = |place: &StoreAddress| {
            let store = place.open(hand.clock()).unwrap();
            ["maps", "atlases"].map(|name| Side::of(store.clone(), name))
        };
        let original = open(&places[0]);
        for (which, step) in &before {
            if let Step::Turn(seconds) = step {
                hand.turn(*seconds);
            }
            original[usize::from(*which)].take(step);
        }
        for pair in places.windows(2) {
            copied(&pair[0], &pair[1], CopyOptions { batch, ..CopyOptions::default() });
        }
        assert_same(&places[0], &places[2]);
        assert_same(&places[0], &places[4]);
        let copies = [open(&places[1]), open(&places[4])];
        for copy in &copies {
            prop_assert_eq!(original[0].store.secret().unwrap(), copy[0].store.secret().unwrap());
        }
        for (which, step) in &after {
            if let Step::Turn(seconds) = step {
                hand.turn(*seconds);
            }
            let which = usize::from(*which);
            let expected = (original[which].take(step), original[which].answers());
            for copy in &copies {
                prop_assert_eq!(&expected, &(copy[which].take(step), copy[which].answers()), "{:?}", step);
            }
        }
    }
}

/// The four ways: from and to.
fn ways(folder: &TempDir, test: &mut dyn FnMut(StoreAddress, &mut dyn FnMut() -> StoreAddress)) {
    for from_server in [false, true] {
        for to_server in [false, true] {
            let place = |is_server, name: &str| if is_server { server() } else { file(folder, name) };
            let mut targets = 0;
            let mut target = || {
                targets += 1;
                place(to_server, &format!("{from_server}-{targets}.db"))
            };
            test(place(from_server, &format!("from-{to_server}.db")), &mut target);
        }
    }
}

#[test]
fn a_copy_stopped_anywhere_cannot_be_used_and_goes_on_to_the_same_end_though_the_source_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    ways(&folder, &mut |from, target| {
        let hand = Hand::at(NEW_YEAR);
        let store = fill(&from, hand.clock());
        let maps = Side::of(store.clone(), "maps");
        let options = CopyOptions { batch: 30, ..ONCE };
        let mut batches = 0;
        for stop_after in 0.. {
            let to = target();
            let stopped = {
                let left = Cell::new(stop_after);
                let stop = || left.replace(left.get() - 1) == 0;
                copy(&from, &to, options, |_, _, _| {}, stop).unwrap()
            };
            if stopped.finished {
                assert_same(&from, &to);
                batches = stop_after;
                break;
            }
            let refusal = to.open(hand.clock()).err().unwrap();
            assert!(matches!(refusal, StoreError::Unfinished(_)), "{refusal}");
            let refusal = try_copy(&to, &target(), options).err().unwrap();
            assert!(matches!(refusal, StoreError::Unfinished(_)), "{refusal}");
            hand.turn(1);
            let text = format!("<map>changed {stop_after}</map>");
            maps.take(&Step::Apply(vec![
                live(stop_after as usize % 25, &["ab"], &text),
                deleted(7),
            ]));
            maps.take(&Step::ClearQuarantine);
            copied(&from, &to, options);
            assert_same(&from, &to);
        }
        assert!(batches > 15, "{batches} batches");
        assert_eq!(faults(&store), Vec::<String>::new());
    });
}

#[test]
fn an_earlier_copy_is_brought_up_to_date_whatever_was_done_to_it() {
    let folder = tempfile::tempdir().unwrap();
    ways(&folder, &mut |from, target| {
        let hand = Hand::at(NEW_YEAR);
        let (store, to) = (fill(&from, hand.clock()), target());
        let first = copied(&from, &to, ONCE);
        let same = copied(&from, &to, AGAIN);
        assert_eq!(same.records, first.records);
        assert!(same.written < 30 && same.removed == 0, "{same:?}");
        {
            // The same new ids for other things, in another order.
            let other = to.open(hand.clock()).unwrap();
            for (store, names) in [(&store, ["x", "y"]), (&other, ["y", "z"])] {
                for name in names {
                    hand.turn(5);
                    let side = Side::of(store.clone(), name);
                    let text = "Karte mapa карта 地図 ".repeat(40);
                    let many =
                        (0..600).map(|number| live(number, &[name], &format!("<map>{text} {number} {name}</map>")));
                    side.take(&Step::Apply(many.collect()));
                    side.take(&Step::Name("a", name.into()));
                }
            }
            Side::of(other.clone(), "maps").take(&Step::Apply(vec![
                deleted(1),
                erased(2),
                live(400, &["b"], "<other/>"),
            ]));
            Side::of(store.clone(), "maps").take(&Step::Apply(vec![restored(3), live(5, &[], "<map/>"), deleted(9)]));
            assert!(other.read().unwrap().last() > store.read().unwrap().last());
        }
        let given_out = to.open(hand.clock()).unwrap().read().unwrap().response_date();
        let refusal = try_copy(&from, &to, AGAIN).err().unwrap();
        assert!(matches!(refusal, StoreError::LaterThere(_)), "{refusal}");
        let discarding = CopyOptions {
            discard_later: true,
            ..AGAIN
        };
        let caught_up = copied(&from, &to, discarding);
        assert!(caught_up.removed > 600, "{caught_up:?}");
        let (mut there, mut here) = (rows(&to), rows(&from));
        // The times that the copy has given out count too.
        there.remove("clock").unwrap();
        here.remove("clock").unwrap();
        assert_eq!(there, here);
        let again = to.open(hand.clock()).unwrap();
        hand.turn_to(NEW_YEAR);
        let maps = repository(&again);
        again.apply(maps, vec![live(900, &["a"], "<new/>")]).unwrap();
        assert!(one(&again, maps, 900).datestamp >= given_out.unix());
        assert_eq!(
            faults(&again).iter().filter(|fault| !fault.contains("clock")).count(),
            0
        );
    });
}

#[test]
fn a_copy_stamps_nothing_before_a_date_that_the_original_gave_out() {
    let folder = tempfile::tempdir().unwrap();
    ways(&folder, &mut |from, target| {
        let hand = Hand::at(NEW_YEAR);
        let (store, to) = (fill(&from, hand.clock()), target());
        hand.turn(1_000);
        let given_out = store.read().unwrap().response_date();
        hand.turn(-1_000);
        copied(&from, &to, ONCE);
        let there = to.open(hand.clock()).unwrap();
        let maps = repository(&there);
        there.apply(maps, vec![live(1, &[], "<new/>")]).unwrap();
        assert_eq!(one(&there, maps, 1).datestamp, given_out.unix());
    });
}

/// So many that dictionaries are trained, in batches of the usual size; what is new afterwards gets numbers of its own.
#[test]
fn a_copy_of_many_records_is_sound_and_grows() {
    let folder = tempfile::tempdir().unwrap();
    ways(&folder, &mut |from, target| {
        let hand = Hand::at(NEW_YEAR);
        let store = fill(&from, hand.clock());
        let maps = repository(&store);
        let text = |number: usize| format!("<map>{} {number}</map>", "Karte mapa карта 地図 ".repeat(number % 50));
        let many = |range: std::ops::Range<usize>| range.map(|number| live(number, &["a:x"], &text(number))).collect();
        store.apply(maps, many(100..10_000)).unwrap();
        let to = target();
        let done = copied(&from, &to, CopyOptions::default());
        assert!(done.records >= 9_900 && done.written > 3 * done.records, "{done:?}");
        assert_same(&from, &to);
        assert!(!rows(&to)["dictionary"].is_empty());
        let there = to.open(hand.clock()).unwrap();
        let charts = Side::of(there.clone(), "charts");
        let new = (0..3_000).map(|number| live(number, &["new"], &text(number))).collect();
        charts.take(&Step::Apply(new));
        let beside = Beside {
            quarantined: (0..3).map(broken).collect(),
            ..Beside::default()
        };
        charts.take(&Step::Commit(vec![], beside));
        assert_eq!(all(&there, charts.maps).len(), 3_000);
        assert_eq!(there.quarantine_count(charts.maps).unwrap(), 3);
        assert_eq!(all(&there, maps), all(&store, maps));
        assert_eq!(faults(&there), Vec::<String>::new());
    });
}

#[test]
fn what_must_not_be_written_over_is_not() {
    let folder = tempfile::tempdir().unwrap();
    ways(&folder, &mut |from, target| {
        let hand = Hand::at(NEW_YEAR);
        fill(&from, hand.clock());
        let occupied = target();
        let there = occupied.open(hand.clock()).unwrap();
        let before = {
            let maps = repository(&there);
            there.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
            rows(&occupied)
        };
        let refusal = try_copy(&from, &occupied, ONCE).err().unwrap();
        assert!(matches!(refusal, StoreError::Occupied(_)), "{refusal}");
        let refusal = try_copy(&from, &occupied, AGAIN).err().unwrap();
        assert!(matches!(refusal, StoreError::NotACopy(_)), "{refusal}");
        let refusal = try_copy(&from, &from, AGAIN).err().unwrap();
        assert!(matches!(refusal, StoreError::SamePlace(_)), "{refusal}");
        assert_eq!(rows(&occupied), before);
        // An unfinished copy of one store is not one of another.
        let unfinished = target();
        copy(&from, &unfinished, ONCE, |_, _, _| {}, || true).unwrap();
        let refusal = try_copy(&occupied, &unfinished, AGAIN).err().unwrap();
        assert!(matches!(refusal, StoreError::NotACopy(_)), "{refusal}");
        // A store that has nothing in it may be filled.
        let empty = target();
        // Somebody has looked into it.
        repository(&empty.open(hand.clock()).unwrap());
        copied(&from, &empty, ONCE);
        assert_same(&from, &empty);
    });
}

#[test]
fn a_store_is_known_by_any_name() {
    let (folder, hand) = (tempfile::tempdir().unwrap(), Hand::at(NEW_YEAR));
    let here = file(&folder, "records.db");
    fill(&here, hand.clock());
    std::os::unix::fs::symlink("records.db", folder.path().join("link.db")).unwrap();
    let url = Server::shared().fresh_url();
    let there = StoreAddress::Server(url.clone());
    fill(&there, hand.clock());
    let alias = StoreAddress::Server(url.replace("127.0.0.1", "localhost"));
    for (one, other) in [(&here, &file(&folder, "link.db")), (&there, &alias)] {
        let refusal = try_copy(one, other, AGAIN).err().unwrap();
        assert!(matches!(refusal, StoreError::SamePlace(_)), "{refusal}");
        drop(one.open(hand.clock()).unwrap());
    }
}

#[test]
fn what_is_not_there_is_not_made_by_copying_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = try_copy(&file(&folder, "none.db"), &file(&folder, "to.db"), ONCE)
        .err()
        .unwrap();
    assert!(
        matches!(&refusal, StoreError::NothingToCopy(place) if place.contains("none.db")),
        "{refusal}"
    );
    let url = Server::shared().fresh_url();
    let schema = url.split("schema=").nth(1).unwrap();
    let secretive = StoreAddress::Server(url.replace("stook@", "stook:hush@"));
    let refusal = try_copy(&secretive, &file(&folder, "to.db"), ONCE).err().unwrap();
    assert!(
        matches!(&refusal, StoreError::NothingToCopy(place) if place.contains(schema)),
        "{refusal}"
    );
    assert!(!refusal.to_string().contains("hush"));
    assert!(
        Server::shared().run(&format!("DROP SCHEMA {schema}")).is_err(),
        "it was made"
    );
    fs::write(folder.path().join("text.db"), "identifier,title\n").unwrap();
    let text = file(&folder, "text.db");
    fill(&file(&folder, "from.db"), Hand::at(NEW_YEAR).clock());
    for (from, to) in [(&text, &file(&folder, "to.db")), (&file(&folder, "from.db"), &text)] {
        let refusal = try_copy(from, to, AGAIN).err().unwrap();
        assert!(matches!(refusal, StoreError::NotAStore(_)), "{refusal}");
    }
    assert!(!folder.path().join("to.db").exists());
    let old = Connection::open(folder.path().join("from.db")).unwrap();
    old.execute_batch("PRAGMA user_version = 1").unwrap();
    let refusal = try_copy(&file(&folder, "from.db"), &file(&folder, "to.db"), ONCE)
        .err()
        .unwrap();
    assert!(matches!(refusal, StoreError::TooOld { found: 1, .. }), "{refusal}");
}

#[test]
fn of_two_copies_into_one_place_the_later_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    ways(&folder, &mut |from, target| {
        fill(&from, Hand::at(NEW_YEAR).clock());
        let to = target();
        let begun = Cell::new(false);
        let overtake = |_: &str, _: u64, _: u64| {
            if !begun.replace(true) {
                copied(&from, &to, ONCE);
            }
        };
        let refusal = copy(&from, &to, ONCE, overtake, || false).err().unwrap();
        assert!(matches!(refusal, StoreError::Overtaken(_)), "{refusal}");
        assert_same(&from, &to);
    });
}

/// Lets a client talk to a server, but from the third COMMIT on hangs up before the answer to every other one.
fn forgetful(port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let commits = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for mut client in listener.incoming().map(Result::unwrap) {
            let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (mut to_client, mut from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let (commits, hang_up) = (commits.clone(), Arc::new(AtomicBool::new(false)));
            let hung_up = hang_up.clone();
            thread::spawn(move || {
                let mut bytes = [0; 1 << 16];
                while let Ok(length @ 1..) = from_server.read(&mut bytes) {
                    if hung_up.load(SeqCst) || to_client.write_all(&bytes[..length]).is_err() {
                        break;
                    }
                }
                let _ = to_client.shutdown(Shutdown::Both);
            });
            thread::spawn(move || {
                let mut bytes = [0; 1 << 16];
                while let Ok(length @ 1..) = client.read(&mut bytes) {
                    let is_commit = bytes[..length].ends_with(b"COMMIT\0");
                    let number = if is_commit { commits.fetch_add(1, SeqCst) } else { 1 };
                    hang_up.store(number >= 2 && number.is_multiple_of(2), SeqCst);
                    server.write_all(&bytes[..length]).unwrap();
                }
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    own
}

#[test]
fn a_batch_whose_answer_is_lost_is_not_written_twice() {
    let folder = tempfile::tempdir().unwrap();
    let from = file(&folder, "from.db");
    fill(&from, Hand::at(NEW_YEAR).clock());
    let (port, url) = (Server::shared().port(), Server::shared().fresh_url());
    // The layout and the mark are not waited for. Every batch after them is, and the end.
    let proxy = forgetful(port);
    let by_proxy = StoreAddress::Server(url.replace(&format!(":{port}/"), &format!(":{proxy}/")));
    copied(&from, &by_proxy, ONCE);
    assert_same(&from, &StoreAddress::Server(url));
}

#[test]
fn a_server_that_is_killed_while_it_is_copied_into_is_waited_for() {
    let (folder, mut server) = (tempfile::tempdir().unwrap(), Server::start().unwrap());
    let from = file(&folder, "from.db");
    let to = StoreAddress::Server(server.url());
    fill(&from, Hand::at(NEW_YEAR).clock());
    let (begun, begins) = channel();
    let copying = {
        let (from, to) = (from.clone(), to.clone());
        thread::spawn(move || {
            let slowly = |_: &str, _: u64, _: u64| {
                let _ = begun.send(());
                thread::sleep(Duration::from_millis(10));
            };
            let options = CopyOptions {
                batch: 2,
                ..CopyOptions::default()
            };
            copy(&from, &to, options, slowly, || false).unwrap()
        })
    };
    begins.recv().unwrap();
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(300));
        server.kill().unwrap();
        server.resume().unwrap();
    }
    assert!(copying.join().unwrap().finished);
    assert_same(&from, &to);
    // A source cannot be waited for, because its view is gone; the next try is as good as the first.
    let back = file(&folder, "back.db");
    let mut kill = Some(&mut server);
    let killing = |_: &str, _: u64, _: u64| {
        if let Some(server) = kill.take() {
            server.kill().unwrap();
            server.resume().unwrap();
        }
    };
    let failure = copy(&to, &back, ONCE, killing, || false).err().unwrap();
    assert!(failure.is_passing(), "{failure}");
    copied(&to, &back, ONCE);
    assert_same(&from, &back);
}

#[test]
fn text_that_a_server_cannot_hold_is_shown_as_damage() {
    let (folder, there) = (tempfile::tempdir().unwrap(), server());
    let here = file(&folder, "records.db");
    let store = here.open(Hand::at(NEW_YEAR).clock()).unwrap();
    let maps = repository(&store);
    let entry = Quarantined {
        reason: "a \0 in it".into(),
        ..broken(1)
    };
    store.importer(maps).unwrap().quarantine(&[entry]).unwrap();
    for options in [ONCE, AGAIN] {
        copied(&here, &there, options);
        let mut reasons = Vec::new();
        let copy = there.open(Clock::system()).unwrap();
        copy.quarantined(maps, |entry| reasons.push(entry.reason)).unwrap();
        assert_eq!(reasons, ["a \u{fffd} in it"]);
    }
}

#[test]
fn a_file_that_a_killed_copy_left_empty_is_no_hindrance() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (file(&folder, "from.db"), file(&folder, "to.db"));
    fill(&from, Hand::at(NEW_YEAR).clock());
    fs::write(Path::new(&folder.path().join("to.db")), "").unwrap();
    copied(&from, &to, ONCE);
    assert_same(&from, &to);
}
