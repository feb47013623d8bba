//! A server that answers from a replica while everything changes.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use stook_metadata::{DublinCore, Element, Formats};
use stook_oai::{Identifier, MetadataPrefix, SetSpec};
use stook_store::{Change, Clock, Content, RepositoryId, Store};
use testserver::Server;

use crate::{Site, base_url, free_port, support};

const RECORDS: usize = 5_000;
const WRITES_A_SECOND: usize = 1_000;
const AT_ONCE: usize = 50;

/// A record as it is from now on; every tenth is deleted.
fn change(number: usize, random: &mut impl FnMut(usize) -> usize) -> Change {
    let mut record = DublinCore::default();
    record.push(Element::Title, format!("Map {}", random(1_000_000)), None);
    let deleted = random(10) == 0;
    Change {
        identifier: Identifier::parse(&format!("oai:example.org:{number}")).unwrap(),
        prefix: MetadataPrefix::oai_dc(),
        set_specs: match deleted {
            true => Vec::new(),
            false => vec![SetSpec::parse("maps").unwrap()],
        },
        content: match deleted {
            true => Content::Deleted,
            false => Content::Live {
                metadata: record.write(),
                about: Vec::new(),
            },
        },
    }
}

/// Random changes, so many a second; how many there were.
fn write(store: &Store, repository: RepositoryId, seconds: u64) -> usize {
    let (began, mut state, mut written) = (Instant::now(), 0x9e37_79b9_7f4a_7c15_u64, 0);
    let mut random = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % limit
    };
    while began.elapsed() < Duration::from_secs(seconds) {
        let numbers: BTreeSet<usize> = (0..AT_ONCE).map(|_| random(RECORDS)).collect();
        let changes = numbers.into_iter().map(|number| change(number, &mut random)).collect();
        written += store.apply(repository, changes).unwrap().len();
        let due = Duration::from_secs_f64(written as f64 / WRITES_A_SECOND as f64);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    written
}

/// STOOK_REPLICA_SECONDS makes it longer.
#[test]
fn an_incremental_harvester_of_a_replica_ends_exact_while_everything_changes() {
    let seconds = support::number("STOOK_REPLICA_SECONDS", 6);
    let primary = Server::start().unwrap();
    let replica = primary.replica().unwrap();
    let store = Store::connect(&primary.url().parse().unwrap(), Clock::system()).unwrap();
    let repository = store.declare_repository("main").unwrap();
    let formats = Formats::default();
    let oai_dc = formats.by_prefix("oai_dc").unwrap().metadata_format();
    store.declare_format(repository, &oai_dc).unwrap();
    store.apply(repository, vec![change(0, &mut |_| 1)]).unwrap();
    let port = free_port();
    let origin = Site::with_repository(&primary.url(), port, 200);
    let configuration = std::fs::read_to_string(origin.path().join("stook.toml")).unwrap();
    origin.write(
        "stook.toml",
        &format!("read_urls = [\"{}\"]\n{configuration}", replica.url()),
    );
    let _serving = origin.serve(port);
    let (mirror, url) = (Site::new(""), base_url(port));

    let mut harvests = 0;
    thread::scope(|scope| {
        let writer = scope.spawn(|| write(&store, repository, seconds));
        let jolts = scope.spawn(|| {
            // Replay that stops and goes on, as a loaded replica's does.
            for _ in 0..seconds / 2 {
                replica.run_on_replica("SELECT pg_wal_replay_pause()").unwrap();
                thread::sleep(Duration::from_millis(1_500));
                replica.run_on_replica("SELECT pg_wal_replay_resume()").unwrap();
                thread::sleep(Duration::from_millis(500));
            }
        });
        while !writer.is_finished() {
            mirror.fine(&["harvest", &url]);
            harvests += 1;
        }
        jolts.join().unwrap();
        println!("{} writes in {seconds} s, {harvests} harvests", writer.join().unwrap());
    });
    // By now the replica shows everything.
    thread::sleep(Duration::from_secs(3));
    mirror.fine(&["harvest", &url]);
    let mirrored = Store::open(&mirror.path().join("stook.db"), Clock::system()).unwrap();
    let name = mirrored.repositories().unwrap().remove(0);
    let (copy, original) = (mirror.content(&["-r", &name]), origin.content(&[]));
    let different: Vec<_> = original
        .iter()
        .filter(|(key, said)| copy.get(*key) != Some(said))
        .take(3)
        .collect();
    assert!(
        copy == original,
        "{} records of {}: {different:?}",
        copy.len(),
        original.len()
    );
    assert!(harvests > 2, "only {harvests} harvests");
}
