//! What a path may hold, and what becomes of it.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use stook_store::{Store, StoreError};

use super::fixture::*;
use super::{clock, failure, filled, folder};

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
    assert_eq!(after.place(), moved.display().to_string());
}
