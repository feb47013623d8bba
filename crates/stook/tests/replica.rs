//! Harvesters answered from replicas, by the provider and by the built program.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{TcpListener, TcpStream};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use stook::provider::Provider;
use stook_metadata::Formats;
use stook_oai::MetadataPrefix;
use stook_oai::response::split_fragment;
use stook_store::{Clock, PostgresAddress, RepositoryId, Span, Store};
use support::{deleted, encoded, encoded_identifier, plain_settings, titled};
use tempfile::TempDir;
use testserver::Server;

/// A provider that answers from these replicas.
fn provider(primary: &Server, replicas: &[&Server]) -> Provider {
    let address: PostgresAddress = primary.url().parse().unwrap();
    let replicas: Vec<PostgresAddress> = replicas.iter().map(|replica| replica.url().parse().unwrap()).collect();
    let store = Store::connect_with_replicas(&address, &replicas, Clock::system()).unwrap();
    Provider::open(store, plain_settings(2), &Formats::default()).unwrap()
}

fn wait_for_replica(provider: &Provider) {
    let began = Instant::now();
    let store = provider.store();
    let last = store.read().unwrap().last();
    while !store.replicas()[0].is_close() || store.read_replica().unwrap().last() < last {
        assert!(began.elapsed() < Duration::from_secs(30), "the replica does not follow");
        thread::sleep(Duration::from_millis(20));
    }
}

fn ask(provider: &Provider, query: &str) -> String {
    String::from_utf8(provider.answer(query.as_bytes()).unwrap().xml).unwrap()
}

fn token(answer: &str) -> Option<String> {
    let (_, rest) = answer.split_once("<resumptionToken")?;
    let (_, rest) = rest.split_once('>')?;
    let (token, _) = rest.split_once('<')?;
    (!token.is_empty()).then(|| encoded(token))
}

#[test]
fn a_list_is_not_continued_by_a_replica_that_has_not_come_as_far() {
    let primary = Server::start().unwrap();
    let (near, far) = (primary.replica().unwrap(), primary.replica().unwrap());
    let (ahead, behind) = (provider(&primary, &[&near]), provider(&primary, &[&far]));
    let publish = |numbers: std::ops::Range<u32>| {
        let changes = numbers.map(|number| titled(&number.to_string(), &[], "A map"));
        ahead.store().apply(ahead.repository(), changes.collect()).unwrap();
    };
    publish(0..3);
    wait_for_replica(&behind);
    far.run_on_replica("SELECT pg_wal_replay_pause()").unwrap();
    publish(3..9);
    wait_for_replica(&ahead);

    let first = ask(&ahead, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    let listed = ask(&behind, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    assert!(first.contains("completeListSize=\"9\""), "{first}");
    assert!(
        listed.contains("completeListSize=\"3\""),
        "not answered from the replica: {listed}"
    );
    // One node gave the token out, the other has to go on.
    let (mut identifiers, mut next) = (first.matches("<identifier>").count(), token(&first));
    while let Some(token) = next {
        let page = ask(&behind, &format!("verb=ListIdentifiers&resumptionToken={token}"));
        identifiers += page.matches("<identifier>").count();
        next = self::token(&page);
    }
    assert_eq!(identifiers, 9);
    // Who asks for a record that was listed elsewhere is not told that there is none.
    let query = format!(
        "verb=GetRecord&metadataPrefix=oai_dc&identifier={}",
        encoded_identifier("8")
    );
    assert!(ask(&behind, &query).contains("A map"));
    let query = format!("verb=ListMetadataFormats&identifier={}", encoded_identifier("8"));
    assert!(ask(&behind, &query).contains("oai_dc"));
}

const RECORDS: usize = 5_000;
const WRITES_A_SECOND: usize = 1_000;
const AT_ONCE: usize = 50;

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
        let locals: BTreeSet<usize> = (0..AT_ONCE).map(|_| random(RECORDS)).collect();
        let changes = locals.into_iter().map(|local| match random(10) {
            0 => deleted(&local.to_string()),
            _ => titled(&local.to_string(), &["maps"], &format!("Map {}", random(1_000_000))),
        });
        written += store.apply(repository, changes.collect()).unwrap().len();
        let due = Duration::from_secs_f64(written as f64 / WRITES_A_SECOND as f64);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    written
}

/// Every record of a repository: its metadata, none if it is deleted.
fn held(store: &Store, repository: RepositoryId) -> BTreeMap<String, Option<String>> {
    let mut snapshot = store.read().unwrap();
    let list = snapshot
        .list(repository, &MetadataPrefix::oai_dc(), None)
        .unwrap()
        .unwrap();
    let mut held = BTreeMap::new();
    let visited = snapshot.page(list, Span::ALL, usize::MAX, |record| {
        let mut content = Vec::new();
        record.append_content(&mut content)?;
        let metadata = split_fragment(&content).map(|parts| parts.metadata.to_owned());
        held.insert(record.identifier.to_owned(), metadata);
        Ok(ControlFlow::Continue(()))
    });
    visited.unwrap();
    held
}

/// A child that does not outlive the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(folder: &Path, primary: &Server, replica: &Server) -> (Serving, String) {
    let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let configuration = format!(
        "store = \"{}\"\nread_urls = [\"{}\"]\n[server]\nlisten = \"{listen}\"\nclient_requests_per_second = 0\n
         [[repository]]\nrepository_name = \"Maps\"\nadmin_emails = [\"a@example.org\"]\nnamespace = \"example.org\"\n",
        primary.url(),
        replica.url(),
    );
    std::fs::write(folder.join("stook.toml"), configuration).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stook"));
    command.current_dir(folder).arg("serve").stderr(Stdio::null());
    let serving = Serving(command.spawn().unwrap());
    let answers = (0..100).any(|_| {
        thread::sleep(Duration::from_millis(100));
        TcpStream::connect(listen).is_ok()
    });
    assert!(answers, "nothing listens on {listen}");
    (serving, format!("http://{listen}/oai"))
}

fn harvest(folder: &Path, url: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stook"));
    let output = command.current_dir(folder).args(["harvest", url]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

/// STOOK_REPLICA_SECONDS makes it longer.
#[test]
fn an_incremental_harvester_of_a_replica_ends_exact_while_everything_changes() {
    let seconds = std::env::var("STOOK_REPLICA_SECONDS").map_or(6, |text| text.parse().unwrap());
    let primary = Server::start().unwrap();
    let replica = primary.replica().unwrap();
    let store = Store::connect(&primary.url().parse().unwrap(), Clock::system()).unwrap();
    let repository = store.declare_repository("main").unwrap();
    let formats = Formats::default();
    let oai_dc = formats.by_prefix("oai_dc").unwrap().metadata_format();
    store.declare_format(repository, &oai_dc).unwrap();
    store.apply(repository, vec![titled("0", &[], "The first")]).unwrap();
    let (site, mirror) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (_serving, url) = serve(site.path(), &primary, &replica);

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
            harvest(mirror.path(), &url);
            harvests += 1;
        }
        jolts.join().unwrap();
        println!("{} writes in {seconds} s, {harvests} harvests", writer.join().unwrap());
    });
    // By now the replica shows everything.
    thread::sleep(Duration::from_secs(3));
    harvest(mirror.path(), &url);
    let mirrored = Store::open(&mirror.path().join("stook.db"), Clock::system()).unwrap();
    let name = mirrored.repositories().unwrap().remove(0);
    let (copy, original) = (
        held(&mirrored, mirrored.repository(&name).unwrap()),
        held(&store, repository),
    );
    let different: Vec<_> = original
        .iter()
        .filter(|(key, value)| copy.get(*key) != Some(value))
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
