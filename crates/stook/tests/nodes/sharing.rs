//! Several `stook harvest --all` on one database share the sources.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use misbehave::{Endpoint, Script, World};
use stook::config::Source;
use stook::harvest::{Quirks, source};
use stook_store::{Clock, Note, Store, StoreAddress};
use testserver::Server;

use crate::place::SOME_REPOSITORY;
use crate::support::{NOW, difference, held, patient};
use crate::{PATIENCE, Running, Site};

const SOURCES: usize = 30;
const WORKERS: usize = 3;
/// Longer than the others take for the rest.
const LEASE: Duration = Duration::from_secs(8);

fn name(at: usize) -> String {
    format!("source-{at:02}")
}

/// The lease of a source: until when, of which process, started when, on which machine.
fn lease(store: &Store, at: usize) -> Option<String> {
    let repository = store.repository(&name(at)).unwrap();
    let notes = store.notes(repository, "lease").unwrap();
    notes.into_iter().next().map(|(_, text)| text)
}

/// The sources that a process has.
fn held_by(store: &Store, process: &str) -> BTreeSet<usize> {
    let is_its = |text: String| text.split(' ').nth(1) == Some(process);
    (0..SOURCES)
        .filter(|at| lease(store, *at).is_some_and(is_its))
        .collect()
}

/// Makes a lease one of another machine, where nobody here can see whether its process lives.
fn move_elsewhere(store: &Store, at: usize) -> bool {
    let repository = store.repository(&name(at)).unwrap();
    let Some(text) = lease(store, at) else { return false };
    let (rest, _) = text.rsplit_once(' ').unwrap();
    let note = Note {
        key: "lease".into(),
        text: Some(format!("{rest} elsewhere")),
    };
    store.swap_note(repository, Some(&text), &note).unwrap()
}

fn introductions(endpoint: &Endpoint) -> Vec<Instant> {
    let asked = endpoint.requests().into_iter();
    asked
        .filter(|asked| asked.verb == "Identify")
        .map(|asked| asked.at)
        .collect()
}

#[test]
fn every_source_is_harvested_once_and_those_of_a_dead_process_by_another() {
    let url = Server::shared().fresh_url();
    let store = StoreAddress::Server(url.clone()).open(Clock::system()).unwrap();
    let script = || Script::new().page_size(5);
    let endpoints: Vec<Endpoint> = (0..SOURCES)
        .map(|_| Endpoint::start(World::of(60).at(NOW), script()).unwrap())
        .collect();
    for (at, endpoint) in endpoints.iter().enumerate() {
        let settings = Source {
            url: endpoint.url(),
            pause_milliseconds: 40,
            lease_seconds: LEASE.as_secs(),
            ..patient()
        };
        source::keep(&store, &name(at), &settings, &Quirks::default()).unwrap();
    }
    let site = Site::new(&format!(
        "store = \"{url}\"\n[harvest]\nsources_at_once = 3\n{SOME_REPOSITORY}"
    ));
    let mut workers: Vec<Running> = (0..WORKERS).map(|_| site.start(&["harvest", "--all"])).collect();

    // In the middle of at least two lists.
    let mut doomed = workers.remove(0);
    let process = doomed.id().to_string();
    let began = Instant::now();
    let has_begun = |at: &usize| endpoints[*at].requests().len() > 4;
    while held_by(&store, &process).iter().filter(|at| has_begun(at)).count() < 2 {
        assert!(began.elapsed() < PATIENCE, "a process got nothing to do");
        sleep(Duration::from_millis(20));
    }
    let mut lost = held_by(&store, &process);
    let elsewhere: Vec<usize> = lost.iter().copied().filter(|at| move_elsewhere(&store, *at)).collect();
    doomed.kill();
    let killed = Instant::now();
    lost.extend(held_by(&store, &process));

    workers.iter_mut().for_each(Running::assert_it_ends_well);
    for (at, endpoint) in endpoints.iter().enumerate() {
        let expected = endpoint.world().expected("oai_dc");
        assert_eq!(difference(&held(&store, &name(at)), &expected), "", "{}", name(at));
        let times = introductions(endpoint).len();
        let most = if lost.contains(&at) { 2 } else { 1 };
        assert!(times <= most, "{} was harvested {times} times", name(at));
    }
    let taken_over: Vec<Instant> = elsewhere
        .iter()
        .filter_map(|at| introductions(&endpoints[*at]).get(1).copied())
        .collect();
    assert!(!taken_over.is_empty(), "nothing was taken over");
    for began in taken_over {
        let later = began - killed;
        assert!(
            later > LEASE / 2,
            "taken over after {later:?}, when its process might have been alive"
        );
    }
}
