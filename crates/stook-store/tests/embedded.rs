//! The store in one file: what may lie at its path, copies made while it is in use, and damage found.

#![allow(clippy::unwrap_used)]

mod fixture;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use fixture::*;
use rusqlite::Connection;
use stook_store::{Clock, RepositoryId, Store, StoreError};
use tempfile::TempDir;

fn clock() -> Clock {
    Clock::fixed(datestamp(NEW_YEAR))
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.db");
    (folder, path)
}

/// A store with a few records of every kind, closed again.
fn filled(path: &Path) -> RepositoryId {
    let store = Store::create(path, clock()).unwrap();
    let maps = repository(&store);
    let text = |n: usize| {
        format!(
            "<map><title>Plan {n}</title><scale>1 : {}</scale></map>",
            n * 7919 % 1_000
        )
    };
    let changes = (0..700).map(|n| live(n, &["a:x", "b"][n % 2..], &text(n)));
    store.apply(maps, changes.collect()).unwrap();
    store
        .apply(maps, (0..20).map(|n| live(n * 9, &["c"], "<map>2</map>")).collect())
        .unwrap();
    store.apply(maps, (0..10).map(deleted).collect()).unwrap();
    assert_eq!(faults(&store), [] as [&str; 0]);
    maps
}

/// The failure of something that must fail; a store has no `Debug`.
fn failure(result: Result<Store, StoreError>) -> StoreError {
    result.err().unwrap()
}

mod what_lies_at_the_path {
    use super::*;

    #[test]
    fn nothing_is_missing_and_not_made_by_opening() {
        let (folder, path) = folder();
        assert!(matches!(failure(Store::open(&path, clock())), StoreError::Missing(missing) if missing == path));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_of_any_kind_is_never_overwritten() {
        let (_folder, path) = folder();
        for content in ["", "precious notes\n"] {
            fs::write(&path, content).unwrap();
            assert!(matches!(failure(Store::create(&path, clock())), StoreError::Exists(found) if found == path));
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        fs::remove_file(&path).unwrap();
        filled(&path);
        assert!(matches!(failure(Store::create(&path, clock())), StoreError::Exists(_)));
    }

    #[test]
    fn text_nothing_and_another_program_s_database_are_not_stores_and_stay_as_they_are() {
        let (folder, path) = folder();
        let foreign = folder.path().join("foreign.db");
        Connection::open(&foreign)
            .and_then(|database| database.execute_batch("CREATE TABLE store (secret); PRAGMA user_version = 1"))
            .unwrap();
        let database = fs::read(&foreign).unwrap();
        let long = "identifier,title\n".repeat(1_000);
        for content in [&b""[..], b"x", long.as_bytes(), &database] {
            fs::write(&path, content).unwrap();
            assert!(matches!(failure(Store::open(&path, clock())), StoreError::NotAStore(found) if found == path));
            assert!(fs::read(&path).unwrap() == content);
        }
    }

    #[test]
    fn a_folder_is_an_error() {
        let (folder, _) = folder();
        let failure = failure(Store::open(folder.path(), clock()));
        assert!(
            matches!(failure, StoreError::NotWritable(_) | StoreError::NotAStore(_)),
            "{failure:?}"
        );
    }

    #[test]
    fn a_store_of_a_later_version_is_refused_and_stays_as_it_is() {
        let (_folder, path) = folder();
        filled(&path);
        let database = Connection::open(&path).unwrap();
        database.execute_batch("PRAGMA user_version = 4711").unwrap();
        let failure = failure(Store::open(&path, clock()));
        assert!(matches!(failure, StoreError::TooNew { found: 4711, known } if known < 4711));
        let version = database.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0));
        assert_eq!(version.unwrap(), 4711);
    }

    #[test]
    fn a_store_whose_making_was_interrupted_is_finished_by_opening_it() {
        let (folder, path) = folder();
        let reference = folder.path().join("reference.db");
        drop(Store::create(&reference, clock()).unwrap());
        let id: i64 = Connection::open(&reference)
            .unwrap()
            .query_row("PRAGMA application_id", [], |row| row.get(0))
            .unwrap();
        Connection::open(&path)
            .and_then(|database| database.execute_batch(&format!("PRAGMA application_id = {id}")))
            .unwrap();
        let store = Store::open(&path, clock()).unwrap();
        let maps = repository(&store);
        store.apply(maps, vec![live(1, &[], "<map/>")]).unwrap();
        let secret = store.secret().unwrap();
        drop(store);
        let store = Store::open(&path, clock()).unwrap();
        assert_eq!((all(&store, maps).len(), store.secret().unwrap()), (1, secret));
    }

    #[test]
    fn a_folder_that_is_not_there_or_cannot_be_written_is_an_error_that_names_the_path() {
        let (folder, _) = folder();
        let mut places = vec![folder.path().join("missing"), folder.path().join("file")];
        fs::write(&places[1], "").unwrap();
        // Permissions do not hold back every user who runs tests; /proc does.
        places.extend(Path::new("/proc").is_dir().then(|| "/proc".into()));
        let locked = folder.path().join("locked");
        fs::create_dir(&locked).unwrap();
        let mut permissions = fs::metadata(&locked).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&locked, permissions).unwrap();
        if fs::write(locked.join("probe"), "").is_err() {
            places.push(locked);
        }
        for place in places {
            let path = place.join("records.db");
            let failure = failure(Store::create(&path, clock()));
            assert!(matches!(failure, StoreError::NotWritable(_)), "{failure:?}");
            assert!(failure.to_string().contains(path.to_str().unwrap()), "{failure}");
        }
    }

    #[test]
    fn a_store_keeps_its_records_and_its_secret_when_it_is_moved() {
        let (folder, path) = folder();
        let maps = filled(&path);
        let before = Store::open(&path, clock()).unwrap();
        let (records, secret) = (all(&before, maps), before.secret().unwrap());
        drop(before);
        let moved = folder.path().join("moved.db");
        fs::rename(&path, &moved).unwrap();
        let after = Store::open(&moved, clock()).unwrap();
        assert_eq!((all(&after, maps), after.secret().unwrap()), (records, secret));
        assert_eq!(after.path(), moved);
    }
}

mod backup {
    use super::*;

    #[test]
    fn a_backup_is_a_store_with_the_same_records_and_secret() {
        let (folder, path) = folder();
        let maps = filled(&path);
        let store = Store::open(&path, clock()).unwrap();
        let target = folder.path().join("copy.db");
        store.backup(&target).unwrap();
        let copy = Store::open(&target, clock()).unwrap();
        assert_eq!(faults(&copy), [] as [&str; 0]);
        assert_eq!(all(&copy, maps), all(&store, maps));
        assert_eq!(copy.secret().unwrap(), store.secret().unwrap());
        copy.apply(maps, vec![restored(0), live(1_000, &["z"], "<map/>")])
            .unwrap();
        assert_eq!(numbers_in(&copy, maps, "z"), [1_000]);
        assert_eq!(numbers_in(&store, maps, "z"), [] as [usize; 0]);
        let mut files: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        files.retain(|name| name.to_string_lossy().contains("partial"));
        assert_eq!(files, [""; 0]);
    }

    #[test]
    fn a_backup_overwrites_nothing_but_its_own_unfinished_attempt() {
        let (folder, path) = folder();
        filled(&path);
        let store = Store::open(&path, clock()).unwrap();
        let target = folder.path().join("copy.db");
        fs::write(&target, "precious").unwrap();
        assert!(matches!(store.backup(&target), Err(StoreError::Exists(found)) if found == target));
        assert!(matches!(store.backup(&path), Err(StoreError::Exists(_))));
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
        fs::remove_file(&target).unwrap();
        fs::write(folder.path().join("copy.db.partial"), "half a backup").unwrap();
        store.backup(&target).unwrap();
        assert_eq!(faults(&Store::open(&target, clock()).unwrap()), [] as [&str; 0]);
    }

    #[test]
    fn a_backup_that_cannot_be_written_is_an_error_and_harms_nothing() {
        let (folder, path) = folder();
        let maps = filled(&path);
        let store = Store::open(&path, clock()).unwrap();
        let target = folder.path().join("missing").join("copy.db");
        assert!(store.backup(&target).is_err());
        assert_eq!(all(&store, maps).len(), 700);
        store.apply(maps, vec![live(1_000, &[], "<map/>")]).unwrap();
    }

    #[test]
    fn a_backup_made_while_a_writer_writes_holds_whole_batches_only() {
        let (folder, path) = folder();
        let store = Store::create(&path, clock()).unwrap();
        let maps = repository(&store);
        let (done, committed) = (AtomicBool::new(false), AtomicUsize::new(0));
        let publish = |store: &Store, version: usize| {
            // Every batch gives every record the same new version.
            let changes = (0..400).map(|n| live(n, &["a"], &format!("<v>{version}</v>")));
            store.apply(maps, changes.collect()).unwrap();
            committed.store(version, Ordering::SeqCst);
        };
        publish(&store, 1);
        thread::scope(|scope| {
            let another = Store::open(&path, clock()).unwrap();
            let (publish, done) = (&publish, &done);
            scope.spawn(move || {
                let mut version = 1;
                while !done.load(Ordering::SeqCst) {
                    version += 1;
                    publish(&another, version);
                }
            });
            // As many backups as it takes for several commits to fall into them.
            for attempt in 0..200 {
                if attempt >= 5 && committed.load(Ordering::SeqCst) > 5 {
                    break;
                }
                let target = folder.path().join(format!("copy-{attempt}.db"));
                let before = committed.load(Ordering::SeqCst);
                store.backup(&target).unwrap();
                let copy = Store::open(&target, clock()).unwrap();
                assert_eq!(faults(&copy), [] as [&str; 0]);
                let listed = all(&copy, maps);
                assert_eq!(listed.len(), 400);
                assert!(
                    listed.iter().all(|seen| seen.content == listed[0].content),
                    "half a batch"
                );
                let version = listed[0].content.trim_start_matches("<metadata><v>");
                let version: usize = version.split('<').next().unwrap().parse().unwrap();
                assert!(version >= before, "version {version} though {before} was committed");
            }
            done.store(true, Ordering::SeqCst);
        });
        assert!(committed.load(Ordering::SeqCst) > 5, "the writer never wrote meanwhile");
    }
}

mod damage {
    use super::*;

    /// Does `sql` to a sound store and checks it.
    fn faults_after(sql: &str) -> Vec<String> {
        let (_folder, path) = folder();
        filled(&path);
        let database = Connection::open(&path).unwrap();
        database.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        assert!(database.execute(sql, []).unwrap() > 0, "{sql} did nothing");
        drop(database);
        faults(&Store::open(&path, clock()).unwrap())
    }

    #[test]
    fn every_kind_of_planted_damage_is_found_and_named() {
        let number_500 = "(SELECT position FROM record WHERE identifier = 'oai:example.org:00500')";
        let list_a = "(SELECT id FROM list WHERE set_spec = 'a')";
        let cases = [
            (
                "DELETE FROM ident WHERE identifier = 'oai:example.org:00500'",
                "oai:example.org:00500",
            ),
            (
                "UPDATE ident SET position = position + 1 WHERE identifier = 'oai:example.org:00500'",
                "identifier",
            ),
            (
                &format!("DELETE FROM record WHERE position = {number_500}"),
                "leads to no record",
            ),
            (
                &format!("UPDATE tally SET live = live + 1 WHERE list = {list_a}"),
                "count differs",
            ),
            (&format!("DELETE FROM tally WHERE list = {list_a}"), "count differs"),
            (
                &format!("DELETE FROM member WHERE list = {list_a} AND position = {number_500}"),
                "count differs",
            ),
            (
                &format!("UPDATE member SET list = 4711 WHERE list = {list_a}"),
                "count differs",
            ),
            ("UPDATE member SET segment = segment + 1", "outside its segment"),
            ("UPDATE format SET deleted = 9", "count of deleted records"),
            ("UPDATE store SET last_position = 1", "past the last position"),
            (
                &format!("UPDATE record SET set_specs = 'z' WHERE position = {number_500}"),
                "00500",
            ),
            (
                &format!("UPDATE record SET deleted = 1 WHERE position = {number_500}"),
                "00500",
            ),
            (
                &format!("UPDATE record SET body = NULL WHERE position = {number_500}"),
                "00500",
            ),
            (
                &format!("UPDATE record SET body = x'28b52ffd' WHERE position = {number_500}"),
                "00500",
            ),
            (
                &format!("UPDATE record SET dictionary = NULL WHERE position = {number_500}"),
                "00500",
            ),
            ("UPDATE dictionary SET bytes = zeroblob(length(bytes))", "damaged"),
        ];
        for (sql, name) in cases {
            let found = faults_after(sql);
            assert!(
                found.iter().any(|fault| fault.contains(name)),
                "{sql} was reported as {found:?}"
            );
        }
    }

    #[test]
    fn a_record_taken_out_of_its_set_with_its_count_is_missed_there() {
        let (_folder, path) = folder();
        filled(&path);
        let database = Connection::open(&path).unwrap();
        let list_a = "(SELECT id FROM list WHERE set_spec = 'a')";
        database
            .execute_batch(&format!(
                "DELETE FROM member WHERE list = {list_a} AND position =
                     (SELECT position FROM record WHERE identifier = 'oai:example.org:00500');
                 UPDATE tally SET live = live - 1 WHERE list = {list_a};"
            ))
            .unwrap();
        let found = faults(&Store::open(&path, clock()).unwrap());
        assert!(found.iter().any(|fault| fault.ends_with("in it: a")), "{found:?}");
    }

    #[test]
    fn one_changed_byte_of_a_body_is_found_and_costs_only_that_record() {
        let (_folder, path) = folder();
        let maps = filled(&path);
        let database = Connection::open(&path).unwrap();
        let body: Vec<u8> = database
            .query_row(
                "SELECT body FROM record WHERE identifier = 'oai:example.org:00500'",
                [],
                |row| row.get(0),
            )
            .unwrap();
        let whole = all(&Store::open(&path, clock()).unwrap(), maps);
        let before = |number| whole.iter().find(|seen| seen.number() == number).unwrap();
        let mut harmless = 0;
        for at in 0..body.len() {
            let mut damaged = body.clone();
            damaged[at] ^= 0x10;
            database
                .execute(
                    "UPDATE record SET body = ?1 WHERE identifier = 'oai:example.org:00500'",
                    [&damaged],
                )
                .unwrap();
            let store = Store::open(&path, clock()).unwrap();
            match &faults(&store)[..] {
                [] => {
                    // zstd's header has a bit that means nothing.
                    harmless += 1;
                    assert_eq!(one(&store, maps, 500), *before(500), "byte {at}");
                }
                [fault] => assert!(fault.contains("00500"), "{fault}"),
                found => panic!("byte {at}: {found:?}"),
            }
            assert_eq!(one(&store, maps, 501), *before(501));
        }
        assert!(harmless <= 1);
    }

    #[test]
    fn a_byte_changed_anywhere_in_the_file_is_found_or_changes_no_record() {
        let (folder, path) = folder();
        let maps = filled(&path);
        let store = Store::open(&path, clock()).unwrap();
        let whole = all(&store, maps);
        let image = folder.path().join("image.db");
        store.backup(&image).unwrap();
        let sound = fs::read(&image).unwrap();
        let mut dice = Dice::new(5);
        let (mut found, mut harmless) = (0, 0);
        for attempt in 0..250 {
            let mut damaged = sound.clone();
            damaged[dice.below(sound.len())] ^= 1 << dice.below(8);
            let path = folder.path().join(format!("damaged-{attempt}.db"));
            fs::write(&path, damaged).unwrap();
            let Ok(store) = Store::open(&path, clock()) else {
                found += 1;
                continue;
            };
            if store.check(|_, _, _| ()).map_or(true, |faults| !faults.is_empty()) {
                found += 1;
            } else {
                harmless += 1;
                assert_eq!(
                    all(&store, maps),
                    whole,
                    "attempt {attempt}: changed, and the check saw nothing"
                );
            }
        }
        assert!(
            found > 20 && harmless > 20,
            "{found} found, {harmless} harmless: the test tests nothing"
        );
    }

    #[test]
    fn a_truncated_file_is_an_error_or_a_fault_never_a_shorter_repository() {
        let (folder, path) = folder();
        filled(&path);
        let image = folder.path().join("image.db");
        Store::open(&path, clock()).unwrap().backup(&image).unwrap();
        let sound = fs::read(&image).unwrap();
        for part in 1..20 {
            let path = folder.path().join(format!("truncated-{part}.db"));
            fs::write(&path, &sound[..sound.len() * part / 20]).unwrap();
            if let Ok(store) = Store::open(&path, clock()) {
                assert!(
                    store.check(|_, _, _| ()).map_or(true, |faults| !faults.is_empty()),
                    "part {part}"
                );
            }
        }
    }

    #[test]
    fn a_clock_that_was_once_ahead_is_reported() {
        let (_folder, path) = folder();
        filled(&path);
        let store = Store::open(&path, Clock::fixed(datestamp(NEW_YEAR - 3_600))).unwrap();
        let found = faults(&store);
        assert!(
            found.len() == 1 && found[0].contains("later than the system's clock"),
            "{found:?}"
        );
    }
}

#[cfg(unix)]
mod a_disk_that_takes_no_more {
    use std::process::Command;

    use super::*;

    /// Names the store to the process that fills it.
    const FILLED_STORE: &str = "STOOK_TEST_FILLED_STORE";

    fn batch(number: usize) -> Vec<stook_store::Change> {
        // Numbers that do not compress, so that the file grows.
        let mut dice = Dice::new(number as u64 + 1);
        let text = (0..40)
            .map(|_| dice.below(usize::MAX >> 16).to_string())
            .collect::<String>();
        (0..200)
            .map(|n| live(number * 200 + n, &["a"], &format!("<m>{n}{text}</m>")))
            .collect()
    }

    /// Not a test of its own: fills the store until it cannot be written, and says what it has committed.
    #[test]
    fn filling_process() {
        let Some(path) = std::env::var_os(FILLED_STORE).map(PathBuf::from) else {
            return;
        };
        let store = Store::open(&path, clock()).unwrap();
        let maps = store.repository("maps").unwrap();
        let committed = (0..10_000)
            .take_while(|number| store.apply(maps, batch(*number)).is_ok())
            .count();
        // Again, because a failed write must leave no lock and no half of a batch behind.
        let again = store.apply(maps, batch(committed)).is_err();
        println!(
            "committed {committed}, listed {}, again {again}",
            all(&store, maps).len()
        );
    }

    #[test]
    fn fails_the_batch_keeps_what_was_committed_and_goes_on_when_there_is_room() {
        let (_folder, path) = folder();
        let store = Store::create(&path, clock()).unwrap();
        let maps = repository(&store);
        drop(store);
        // A limit on the size of files stands for the full disk: writes fail in the middle of a transaction.
        let output = Command::new("sh")
            .args(["-c", "trap '' XFSZ; ulimit -f 4000; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["a_disk_that_takes_no_more::filling_process", "--exact", "--nocapture"])
            .env(FILLED_STORE, &path)
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = output
            .lines()
            .find_map(|line| line.split_once("committed "))
            .map(|(_, rest)| rest);
        let committed: usize = line
            .and_then(|rest| rest.split(',').next()?.parse().ok())
            .expect(&output);
        assert!((1..10_000).contains(&committed), "{output}");
        assert!(
            output.contains(&format!("listed {}, again true", committed * 200)),
            "{output}"
        );

        let store = Store::open(&path, clock()).unwrap();
        assert_eq!(faults(&store), [] as [&str; 0]);
        assert_eq!(all(&store, maps).len(), committed * 200);
        store.apply(maps, batch(committed)).unwrap();
        assert_eq!(all(&store, maps).len(), (committed + 1) * 200);
        assert_eq!(faults(&store), [] as [&str; 0]);
    }
}
