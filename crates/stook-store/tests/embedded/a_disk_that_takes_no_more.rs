//! Writes that fail in the middle of a transaction.

use std::path::PathBuf;
use std::process::Command;

use stook_store::Store;

use super::fixture::*;
use super::{clock, folder};

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
