//! The database is killed and comes back, under a server, an import and a harvest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use misbehave::{Endpoint, Fault, Script, When, World};
use stook::config::Source;
use stook::harvest::{Quirks, source};
use stook_oai::MetadataPrefix;
use stook_store::{Clock, Span, Store, StoreAddress};
use testserver::Server;

use crate::place::SOME_REPOSITORY;
use crate::support::{NOW, difference, held, patient};
use crate::{Answer, Running, Site, ask, base_url, free_port, lines};

/// Kills the database under a process, each time when that has got on by so much. What goes on goes on with growing
/// pauses: where the database is hardly ever there, it would take for ever.
fn kill_three_times(server: &mut Server, process: &mut Running, step: usize, progress: impl Fn() -> usize) {
    for _ in 0..3 {
        let before = progress();
        while progress() < before + step {
            if process.is_over() {
                process.assert_it_ends_well();
                panic!("it was over too soon");
            }
            sleep(Duration::from_millis(10));
        }
        server.kill().unwrap();
        sleep(Duration::from_millis(400));
        server.resume().unwrap();
    }
}

/// How many records there are.
fn count(store: &Store) -> usize {
    let count = store.look_up(|snapshot| {
        let repository = store.repository("main")?;
        match snapshot.list(repository, &MetadataPrefix::oai_dc(), None)? {
            Some(list) => snapshot.count(list, Span::ALL),
            None => Ok(0),
        }
    });
    usize::try_from(count.unwrap()).unwrap()
}

#[test]
fn answers_are_whole_or_503_and_an_import_goes_on() {
    let mut server = Server::start().unwrap();
    let port = free_port();
    let site = Site::with_repository(&server.url(), port, 100);
    site.write("first.jsonl", &lines(0..300, 1));
    site.fine(&["import", "first.jsonl"]);
    let _node = site.serve(port);
    // Deletions of whole items look something up before they are written.
    site.write("second.jsonl", &lines(0..20_000, 2));
    let store = StoreAddress::Server(server.url()).open(Clock::system()).unwrap();
    let mut import = site.start(&["import", "second.jsonl"]);

    let over = Arc::new(AtomicBool::new(false));
    let asking = {
        let (over, url) = (
            over.clone(),
            format!("{}?verb=ListRecords&metadataPrefix=oai_dc", base_url(port)),
        );
        spawn(move || {
            let mut answers = Vec::new();
            while !over.load(Relaxed) {
                answers.push(ask(&url).unwrap());
                sleep(Duration::from_millis(5));
            }
            answers
        })
    };
    kill_three_times(&mut server, &mut import, 1, || count(&store));
    import.assert_it_ends_well();
    over.store(true, Relaxed);
    let answers: Vec<Answer> = asking.join().unwrap();
    for answer in &answers {
        let body = answer.body.as_deref().expect("an answer broke off");
        match answer.status {
            200 => assert!(body.ends_with("</OAI-PMH>") || body.ends_with("</OAI-PMH>\n"), "{body}"),
            503 => {
                let seconds: u64 = answer.retry_after.as_deref().expect("no Retry-After").parse().unwrap();
                assert!(seconds > 0);
            }
            status => panic!("{status}: {body}"),
        }
    }
    let with = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert!(with(200) > 0 && with(503) > 0, "{} and {}", with(200), with(503));

    site.fine(&["check"]);
    let reference = Site::with_repository(&Server::shared().fresh_url(), port, 100);
    reference.write("second.jsonl", &lines(0..20_000, 2));
    reference.fine(&["import", "second.jsonl"]);
    assert!(site.content(&[]) == reference.content(&[]), "the contents differ");
}

#[test]
fn a_database_that_hangs_hangs_nobody() {
    let server = Server::start().unwrap();
    let port = free_port();
    let database = format!("{}?answer_seconds=2&connect_timeout=2", server.url());
    let site = Site::with_repository(&database, port, 100);
    site.write("first.jsonl", &lines(0..300, 1));
    site.fine(&["import", "first.jsonl"]);
    let node = site.serve(port);
    let pages = ["oai?verb=ListRecords&metadataPrefix=oai_dc", "healthz", ""];
    let ask_all = || pages.map(|page| ask(&format!("http://127.0.0.1:{port}/{page}")).unwrap());
    assert!(ask_all().iter().all(|answer| answer.status == 200));
    server.freeze().unwrap();
    let began = Instant::now();
    for (answer, page) in ask_all().iter().zip(pages) {
        assert_eq!(answer.status, 503, "{page}\n{}", node.printed());
        assert!(answer.retry_after.is_some(), "{page}");
    }
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    server.thaw().unwrap();
    sleep(Duration::from_millis(500));
    assert!(ask_all().iter().all(|answer| answer.status == 200));
}

#[test]
fn who_waits_for_the_database_says_so_and_stops_when_asked() {
    let mut server = Server::start().unwrap();
    let site = Site::with_repository(&server.url(), free_port(), 100);
    site.write("many.jsonl", &lines(0..20_000, 1));
    let store = StoreAddress::Server(server.url()).open(Clock::system()).unwrap();
    store.declare_repository("main").unwrap();
    let mut import = site.start(&["import", "many.jsonl"]);
    while count(&store) == 0 {
        assert!(!import.is_over(), "{}", import.printed());
        sleep(Duration::from_millis(10));
    }
    server.kill().unwrap();
    let began = Instant::now();
    while !import.printed().contains("Waiting for it to come back") {
        assert!(began.elapsed() < Duration::from_secs(30), "{}", import.printed());
        sleep(Duration::from_millis(50));
    }
    import.signal("-TERM");
    let status = import.wait();
    assert!(matches!(status.code(), Some(1 | 2)), "{}", import.printed());
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_harvest_waits_and_ends_exact() {
    let mut server = Server::start().unwrap();
    let store = StoreAddress::Server(server.url()).open(Clock::system()).unwrap();
    // One by lists, which is written, and one record by record, of which each is looked up first.
    let broken = Script::new()
        .page_size(20)
        .fault(Fault::ListRecordsBroken, When::always());
    let sources = [("lists", Script::new().page_size(5)), ("records", broken)];
    let endpoints = sources.map(|(name, script)| {
        let endpoint = Endpoint::start(World::of(400).at(NOW), script).unwrap();
        let settings = Source {
            url: endpoint.url(),
            pause_milliseconds: 10,
            ..patient()
        };
        source::keep(&store, name, &settings, &Quirks::default()).unwrap();
        (name, endpoint)
    });
    let site = Site::new(&format!("store = \"{}\"\n{SOME_REPOSITORY}", server.url()));
    let mut harvest = site.start(&["harvest", "--all"]);
    let asked = || endpoints.iter().map(|(_, endpoint)| endpoint.requests().len()).min();
    kill_three_times(&mut server, &mut harvest, 15, || asked().unwrap());
    harvest.assert_it_ends_well();
    for (name, endpoint) in &endpoints {
        let expected = endpoint.world().expected("oai_dc");
        assert_eq!(difference(&held(&store, name), &expected), "", "{name}");
    }
    assert_eq!(store.check(|_, _, _| {}).unwrap(), Vec::<String>::new());
}
