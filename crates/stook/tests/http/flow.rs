//! Flow control under real load: whoever gets no turn is told when to come back, and nobody gets half an answer.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stook::config::Server;

use crate::support::answer::Seen;
use crate::support::http::{Connection, Response, Running};
use crate::support::{encoded, plain_settings};

const LIST: &str = "verb=ListRecords&metadataPrefix=oai_dc";

/// Either a whole answer or the time to wait.
fn whole_or_wait(response: &Response) -> Result<Seen, Duration> {
    match response.status {
        200 => {
            assert_eq!(response.header("retry-after"), None);
            Ok(Seen::read(&response.body))
        }
        503 => {
            let seconds: u64 = response.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&seconds), "{seconds}");
            assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
            assert!(!response.text().contains("OAI-PMH"));
            Err(Duration::from_secs(seconds))
        }
        other => panic!("{other}: {}", response.text()),
    }
}

/// How many requests are granted in a row, and how long to wait after that.
fn until_refused(mut ask: impl FnMut() -> Result<Seen, Duration>) -> (u64, Duration) {
    for granted in 0..100 {
        if let Err(wait) = ask() {
            return (granted, wait);
        }
    }
    panic!("never refused");
}

/// Harvests a list as a well-behaved client does; how often it had to wait, and what it got.
fn harvest(connection: &mut Connection, headers: &str) -> (usize, Vec<String>) {
    let (mut waits, mut identifiers, mut query) = (0, Vec::new(), LIST.to_owned());
    loop {
        match whole_or_wait(&connection.get_with(&format!("/oai?{query}"), headers)) {
            Err(wait) => {
                waits += 1;
                assert!(waits < 200, "it never gets through");
                std::thread::sleep(wait);
            }
            Ok(seen) => {
                assert_eq!(seen.codes, []);
                identifiers.extend(seen.headers.iter().map(|header| header.identifier.to_string()));
                match seen.next_token() {
                    Some(token) => query = format!("verb=ListRecords&resumptionToken={}", encoded(token)),
                    None => return (waits, identifiers),
                }
            }
        }
    }
}

#[test]
fn a_client_that_asks_too_often_is_told_when_to_come_back() {
    let settings = Server {
        client_requests_per_second: 1,
        client_burst: 3,
        ..Server::default()
    };
    let server = Running::library(3, plain_settings(3), settings);
    let mut connection = server.connect();
    let mut ask = || whole_or_wait(&connection.get("/oai?verb=Identify"));
    let began = Instant::now();
    let (granted, wait) = until_refused(&mut ask);
    assert!(
        granted >= 3 && granted <= 3 + began.elapsed().as_secs(),
        "{granted} in {:?}",
        began.elapsed()
    );
    assert_eq!(wait, Duration::from_secs(1));
    // Asking again too early does not make it longer.
    for _ in 0..5 {
        assert!(ask().map_or_else(|wait| wait <= Duration::from_secs(1), |_| true));
    }
    std::thread::sleep(wait);
    assert!(ask().is_ok(), "whoever comes back when told gets in");
    // Pages for people and machines are not counted.
    assert_eq!(server.get("/healthz").status, 200);
    assert!(
        server
            .get("/metrics")
            .text()
            .contains("stook_refused_total{limit=\"client rate\"}")
    );
}

#[test]
fn clients_behind_a_proxy_have_limits_of_their_own() {
    let settings = Server {
        client_requests_per_second: 1,
        client_burst: 2,
        trusted_proxies: vec!["127.0.0.1/32".parse().unwrap()],
        ..Server::default()
    };
    let server = Running::library(3, plain_settings(3), settings);
    let mut connection = server.connect();
    for client in ["192.0.2.1", "192.0.2.2", "2001:db8::1"] {
        let header = format!("X-Forwarded-For: {client}\r\n");
        let began = Instant::now();
        let (granted, _) = until_refused(|| whole_or_wait(&connection.get_with("/oai?verb=Identify", &header)));
        assert!(
            granted >= 2 && granted <= 2 + began.elapsed().as_secs(),
            "{client}: {granted}"
        );
    }
}

#[test]
fn patient_clients_all_get_everything_from_a_server_that_does_one_thing_at_a_time() {
    let settings = Server {
        max_requests: 1,
        queue_seconds: 0,
        ..Server::default()
    };
    let server = Running::library(600, plain_settings(200), settings);
    let clients: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..12)
            .map(|_| scope.spawn(|| harvest(&mut server.connect(), "")))
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    for (_, identifiers) in &clients {
        assert_eq!(identifiers.len(), 600);
        assert_eq!(identifiers.iter().collect::<BTreeSet<_>>().len(), 600);
    }
    let waits: usize = clients.iter().map(|(waits, _)| waits).sum();
    assert!(waits > 0, "twelve clients were never one too many");
    let metrics = server.get("/metrics");
    let line = metrics
        .text()
        .lines()
        .find(|line| line.starts_with("stook_refused_total{limit=\"server\"}"));
    assert!(
        line.is_some_and(|line| line.ends_with(&format!(" {waits}"))),
        "{waits} {line:?}"
    );
}

#[test]
fn a_queue_spares_clients_the_wait() {
    let settings = Server {
        max_requests: 1,
        queue_seconds: 30,
        client_requests_per_second: 0,
        client_concurrent_requests: 0,
        ..Server::default()
    };
    let server = Running::library(200, plain_settings(200), settings);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let mut connection = server.connect();
                for _ in 0..3 {
                    assert_eq!(
                        whole_or_wait(&connection.get(&format!("/oai?{LIST}")))
                            .unwrap()
                            .records
                            .len(),
                        200
                    );
                }
            });
        }
    });
}

#[test]
fn a_client_cannot_take_every_turn() {
    let settings = Server {
        client_concurrent_requests: 1,
        queue_seconds: 30,
        ..Server::default()
    };
    let server = Running::library(1_000, plain_settings(1_000), settings);
    let (mut whole, mut waits) = (0, 0);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    (0..5)
                        .map(|_| whole_or_wait(&server.get(&format!("/oai?{LIST}"))).is_ok())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        for answered in clients.into_iter().flat_map(|client| client.join().unwrap()) {
            *(if answered { &mut whole } else { &mut waits }) += 1;
        }
    });
    assert!(whole > 0 && waits > 0, "{whole} answers, {waits} refusals");
    // When it is alone again it is welcome.
    assert!(whole_or_wait(&server.get("/oai?verb=Identify")).is_ok());
}

#[test]
fn more_connections_than_allowed_wait_for_their_turn() {
    let settings = Server {
        max_connections: 2,
        header_timeout_seconds: 1,
        ..Server::default()
    };
    let server = Running::library(3, plain_settings(3), settings);
    let idle = (server.connect(), server.connect());
    let began = Instant::now();
    // Idle connections are closed after a while, and the third gets its turn.
    assert_eq!(server.get("/healthz").status, 200);
    assert!(began.elapsed() < Duration::from_secs(10));
    drop(idle);
}
