//! Damage is found and named, and never silently served.

use std::fs;

use rusqlite::Connection;
use stook_store::{Clock, Store};

use super::fixture::*;
use super::{clock, filled, folder};

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
