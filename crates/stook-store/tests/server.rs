//! What happens to servers: they are killed, they cut connections, they want to be sure who is who.

#![allow(clippy::unwrap_used)]

mod fixture;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use fixture::*;
use stook_store::{Change, Clock, PostgresAddress, Store, StoreAddress, StoreError};
use testserver::Server;

fn store_on(server: &Server) -> Store {
    let address: PostgresAddress = server.url().parse().unwrap();
    Store::connect(&address, Clock::system()).unwrap()
}

fn batch(at: usize) -> Vec<Change> {
    (at * 50..(at + 1) * 50)
        .map(|number| live(number, &["a"], &format!("<map>{number}</map>")))
        .collect()
}

#[test]
fn an_import_waits_for_a_server_that_is_killed_and_ends_exact() {
    let mut server = Server::start().unwrap();
    let store = store_on(&server);
    let maps = repository(&store);
    let writer = {
        let store = store.clone();
        thread::spawn(move || {
            for at in 0..40 {
                store.apply(maps, batch(at)).unwrap();
                thread::sleep(Duration::from_millis(10));
            }
        })
    };
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(150));
        server.kill().unwrap();
        let error = store.read().err().unwrap();
        assert!(
            error.is_passing() && matches!(error, StoreError::Unreachable(_)),
            "{error}"
        );
        server.resume().unwrap();
    }
    writer.join().unwrap();
    let all = all(&store, maps);
    assert_eq!(all.len(), 2_000);
    let mut numbers: Vec<usize> = all.iter().map(Seen::number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..2_000).collect::<Vec<_>>());
    assert_eq!(faults(&store), Vec::<String>::new());
}

#[test]
fn a_connection_that_was_cut_while_it_waited_is_not_used() {
    let server = Server::start().unwrap();
    let store = store_on(&server);
    let maps = repository(&store);
    store.apply(maps, batch(0)).unwrap();
    for _ in 0..3 {
        server
            .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stook'")
            .unwrap();
        thread::sleep(Duration::from_millis(700));
        assert_eq!(all(&store, maps).len(), 50);
    }
    // A snapshot that loses its connection in the middle is over; the next one is not.
    let snapshot = store.read().unwrap();
    server
        .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stook'")
        .unwrap();
    assert!(snapshot.formats(maps).err().unwrap().is_passing());
    drop(snapshot);
    thread::sleep(Duration::from_millis(700));
    assert_eq!(all(&store, maps).len(), 50);
}

#[test]
fn a_user_without_rights_is_told_and_one_with_few_is_enough() {
    let server = Server::start().unwrap();
    server.run("CREATE ROLE poor LOGIN").unwrap();
    let url = server.url().replace("stook@", "poor@");
    let open = || Store::connect(&url.parse().unwrap(), Clock::system());
    let error = open().err().unwrap();
    assert!(matches!(error, StoreError::NotAllowed(_)), "{error}");
    server.run("CREATE SCHEMA stook AUTHORIZATION poor").unwrap();
    let store = open().unwrap();
    let maps = repository(&store);
    store.apply(maps, batch(0)).unwrap();
    assert_eq!(all(&store, maps).len(), 50);
    // The tables may belong to somebody else.
    server
        .run("CREATE ROLE worker LOGIN; GRANT USAGE ON SCHEMA stook TO worker")
        .unwrap();
    let url = server.url().replace("stook@", "worker@");
    let there = Store::connect(&url.parse().unwrap(), Clock::system());
    assert!(matches!(there.err().unwrap(), StoreError::NotAllowed(_)));
    server
        .run("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA stook TO worker")
        .unwrap();
    let store = Store::connect(&url.parse().unwrap(), Clock::system()).unwrap();
    store.declare_repository("others").unwrap();
    store.apply(maps, batch(1)).unwrap();
    assert_eq!(all(&store, maps).len(), 100);
    assert_eq!(faults(&store), Vec::<String>::new());
}

#[test]
fn encryption_keeps_its_promises() {
    let fixture = |name: &str| {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../stook/tests/harvest/fixtures");
        folder.join(name)
    };
    let certificate = fixture("localhost.pem");
    let server = Server::start_encrypted(&certificate, &fixture("localhost.key")).unwrap();
    let open = |settings: &str| {
        let url = format!("{}?{settings}", server.url());
        Store::connect(&url.parse().unwrap(), Clock::system())
    };
    let path = certificate.display();
    for good in [
        "sslmode=require".to_owned(),
        "sslmode=prefer".to_owned(),
        "sslmode=disable".to_owned(),
        format!("sslmode=verify-full&sslrootcert={path}"),
    ] {
        assert!(open(&good).is_ok(), "{good}: {:?}", open(&good).err());
    }
    // Signed by nobody whom everybody knows.
    assert!(matches!(
        open("sslmode=verify-full").err().unwrap(),
        StoreError::Encryption(_)
    ));
    server.run("ALTER SYSTEM SET ssl = off").unwrap();
    let plain = Server::start().unwrap();
    let url = format!("{}?sslmode=require", plain.url());
    let error = Store::connect(&url.parse().unwrap(), Clock::system()).err().unwrap();
    assert!(matches!(error, StoreError::Encryption(_)), "{error}");
}

#[test]
fn a_server_that_hangs_is_given_up_and_taken_up_again() {
    let server = Server::start().unwrap();
    let url = format!("{}?answer_seconds=1&connect_timeout=1", server.url());
    let store = Store::connect(&url.parse().unwrap(), Clock::system()).unwrap();
    let maps = repository(&store);
    store.apply(maps, batch(0)).unwrap();
    let views: Vec<_> = (0..5).map(|_| store.read().unwrap()).collect();
    server.freeze().unwrap();
    let began = Instant::now();
    let error = views[0].formats(maps).err().unwrap();
    assert!(
        matches!(&error, StoreError::Unreachable(text) if text.contains("no answer")),
        "{error}"
    );
    drop(views);
    // Those that were given back, and a new one.
    for _ in 0..3 {
        assert!(store.read().err().unwrap().is_passing());
    }
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // A write waits, for its turn and for the server.
    let writer = {
        let store = store.clone();
        thread::spawn(move || store.apply(maps, batch(1)).unwrap())
    };
    thread::sleep(Duration::from_millis(500));
    server.thaw().unwrap();
    writer.join().unwrap();
    assert_eq!(all(&store, maps).len(), 100);
    assert_eq!(faults(&store), Vec::<String>::new());
}

#[test]
fn what_stands_in_the_way_is_told_apart() {
    let server = Server::shared();
    let open = |url: String| Store::connect(&url.parse().unwrap(), Clock::system()).err().unwrap();
    let error = open(format!("postgres://stook@127.0.0.1:{}/nowhere", server.port()));
    assert!(matches!(error, StoreError::NoDatabase(_)), "{error}");
    let error = open(server.url().replace("stook@", "nobody@"));
    assert!(matches!(error, StoreError::NotLetIn(_)), "{error}");
    let error = open("postgres://stook@127.0.0.1:1/stook".into());
    assert!(
        matches!(&error, StoreError::Unreachable(text) if text.contains("127.0.0.1:1/")),
        "{error}"
    );
}

#[test]
fn a_standby_is_not_waited_for_but_one_that_has_become_one_is() {
    let server = Server::start().unwrap();
    let store = store_on(&server);
    let maps = repository(&store);
    let standby = server.replica().unwrap();
    let began = Instant::now();
    let there = store_on(&standby);
    let error = there.apply(maps, batch(0)).err().unwrap();
    assert!(matches!(error, StoreError::Standby(_)), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10));
    store.apply(maps, batch(0)).unwrap();
    // What a primary that is being replaced says. Whoever asks it to change back says first that he means to write.
    let read_only = |is: &str| {
        let change = format!("ALTER DATABASE stook SET default_transaction_read_only = {is}");
        server
            .run(&format!("SET transaction_read_only = off; {change}"))
            .unwrap();
        server
            .run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stook'")
            .unwrap();
    };
    read_only("on");
    let heard = Arc::new(AtomicUsize::new(0));
    let hear = heard.clone();
    store.on_wait(move |_| {
        hear.fetch_add(1, Relaxed);
        ControlFlow::Continue(())
    });
    let writer = {
        let store = store.clone();
        thread::spawn(move || store.apply(maps, batch(1)).unwrap())
    };
    thread::sleep(Duration::from_millis(700));
    read_only("off");
    writer.join().unwrap();
    assert!(heard.load(Relaxed) > 0);
    assert_eq!(all(&store, maps).len(), 100);
}

#[test]
fn waiting_ends_when_somebody_says_so() {
    let mut server = Server::start().unwrap();
    let store = store_on(&server);
    let maps = repository(&store);
    store.on_wait(|_| ControlFlow::Break(()));
    server.kill().unwrap();
    let began = Instant::now();
    assert!(store.apply(maps, batch(0)).err().unwrap().is_passing());
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_store_that_is_only_looked_for_is_not_made() {
    let address = StoreAddress::Server(Server::shared().fresh_url());
    let look = || address.open_existing(&[], Clock::system());
    assert!(matches!(look().err().unwrap(), StoreError::NoSchema(_)));
    assert!(matches!(look().err().unwrap(), StoreError::NoSchema(_)));
    address.open(Clock::system()).unwrap();
    look().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let address = StoreAddress::File(folder.path().join("stook.db"));
    assert!(matches!(
        address.open_existing(&[], Clock::system()).err().unwrap(),
        StoreError::Missing(_)
    ));
    assert!(!address.is_there());
}

#[test]
fn many_who_come_first_at_once_make_one_store() {
    let server = Server::start().unwrap();
    for round in 0..5 {
        let url = format!("{}?schema=first_{round}", server.url());
        let comers: Vec<_> = (0..6)
            .map(|_| {
                let address: PostgresAddress = url.parse().unwrap();
                thread::spawn(move || Store::connect(&address, Clock::system()).map(|store| store.secret().unwrap()))
            })
            .collect();
        let secrets: Vec<_> = comers.into_iter().map(|comer| comer.join().unwrap().unwrap()).collect();
        assert!(secrets.iter().all(|secret| *secret == secrets[0]));
    }
}
