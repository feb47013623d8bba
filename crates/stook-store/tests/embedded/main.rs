//! The store in one file: what may lie at its path, copies made while it is in use, and damage found.

#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod a_disk_that_takes_no_more;
mod backup;
mod damage;
#[path = "../fixture/mod.rs"]
mod fixture;
mod what_lies_at_the_path;

use std::path::{Path, PathBuf};

use fixture::*;
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
