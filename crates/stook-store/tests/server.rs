//! What happens to servers: they are killed, they cut connections, they want to be sure who is who.

#![allow(clippy::unwrap_used)]

mod fixture;

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use fixture::*;
use stook_store::{Change, Clock, PostgresAddress, Store, StoreError};
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
    assert!(matches!(error, StoreError::NotWritable(_)), "{error}");
    server.run("CREATE SCHEMA stook AUTHORIZATION poor").unwrap();
    let store = open().unwrap();
    let maps = repository(&store);
    store.apply(maps, batch(0)).unwrap();
    assert_eq!(all(&store, maps).len(), 50);
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
        StoreError::Unreachable(_)
    ));
    server.run("ALTER SYSTEM SET ssl = off").unwrap();
    let plain = Server::start().unwrap();
    let url = format!("{}?sslmode=require", plain.url());
    assert!(Store::connect(&url.parse().unwrap(), Clock::system()).is_err());
}
