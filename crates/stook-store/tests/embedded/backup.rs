//! A copy made while the store is in use.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use stook_store::{Store, StoreError};

use super::fixture::*;
use super::{clock, filled, folder};

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
