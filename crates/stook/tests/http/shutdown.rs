//! Many clients at once, slow readers, and stopping without breaking off an answer.

use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use stook::config::{Repository, Server};
use stook::provider::serve;

use crate::support::answer::Seen;
use crate::support::http::{Connection, Running};
use crate::support::plain_settings;

const LIST: &str = "GET /oai?verb=ListRecords&metadataPrefix=oai_dc HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Pages far larger than what sockets hold in their buffers.
fn heavy(settings: Server) -> Running {
    let repository = Repository {
        page_kilobytes: 65_536,
        ..plain_settings(10_000)
    };
    Running::library(10_000, repository, settings)
}

#[test]
fn an_answer_in_flight_is_finished_before_the_server_stops() {
    let mut server = heavy(Server::default());
    let mut connection = server.connect();
    connection.send(LIST.as_bytes());
    let mut received = vec![0; 1000];
    connection.stream.read_exact(&mut received).unwrap();
    server.ask_to_stop();
    std::thread::sleep(Duration::from_millis(300));
    assert!(!server.has_stopped(), "the answer is still on its way");
    assert!(TcpStream::connect(server.address).is_err(), "nobody new is let in");
    // A reader that takes its time.
    let mut piece = vec![0; 256 * 1024];
    loop {
        let count = connection.stream.read(&mut piece).unwrap();
        if count == 0 {
            break;
        }
        received.extend_from_slice(&piece[..count]);
        std::thread::sleep(Duration::from_millis(2));
    }
    let body = received.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert!(received.len() > 8 * 1024 * 1024, "{} bytes", received.len());
    assert_eq!(Seen::read(&received[body..]).records.len(), 10_000);
    server.stop();
}

#[test]
fn a_reader_that_never_reads_does_not_keep_the_server() {
    let settings = Server {
        shutdown_seconds: 1,
        ..Server::default()
    };
    let mut server = heavy(settings);
    let mut connection = server.connect();
    connection.send(LIST.as_bytes());
    let mut first = [0; 100];
    connection.stream.read_exact(&mut first).unwrap();
    let began = Instant::now();
    server.stop();
    assert!((1..10).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

#[test]
fn a_reader_that_stops_reading_is_disconnected_and_a_slow_one_is_not() {
    let settings = Server {
        stall_timeout_seconds: 3,
        max_connections: 2,
        ..Server::default()
    };
    let server = heavy(settings);
    let (mut stopped, mut slow) = (server.connect(), server.connect());
    stopped.send(LIST.as_bytes());
    slow.send(LIST.as_bytes());
    // In small sips, so that the whole takes longer than the patience.
    let (began, mut received, mut sip) = (Instant::now(), 0, vec![0; 64 * 1024]);
    while received < 10 * 1024 * 1024 {
        let count = slow.stream.read(&mut sip).unwrap();
        assert!(count > 0, "cut off after {received} bytes and {:?}", began.elapsed());
        received += count;
        std::thread::sleep(Duration::from_millis(25));
    }
    assert!(began.elapsed() > Duration::from_secs(3));
    // The one that stopped has given its place to the next.
    assert_eq!(server.get("/healthz").status, 200);
    let mut rest = Vec::new();
    let _ = stopped.stream.read_to_end(&mut rest);
    assert!(rest.len() < 8 * 1024 * 1024, "{} bytes", rest.len());
}

#[test]
fn idle_connections_do_not_delay_the_end() {
    let mut server = Running::small();
    let mut idle: Vec<Connection> = (0..10).map(|_| server.connect()).collect();
    for connection in &mut idle[..5] {
        assert_eq!(connection.get("/healthz").status, 200);
    }
    let began = Instant::now();
    server.stop();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    for mut connection in idle {
        assert!(connection.is_closed());
    }
}

#[test]
fn a_server_with_all_connections_taken_can_be_stopped() {
    let settings = Server {
        max_connections: 2,
        ..Server::default()
    };
    let mut server = Running::library(3, plain_settings(3), settings);
    let mut taken: Vec<Connection> = (0..2).map(|_| server.connect()).collect();
    for connection in &mut taken {
        assert_eq!(connection.get("/healthz").status, 200);
    }
    let began = Instant::now();
    server.stop();
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn many_connections_are_served_at_once_and_kept_alive() {
    let settings = Server {
        client_concurrent_requests: 0,
        client_requests_per_second: 0,
        queue_seconds: 60,
        ..Server::default()
    };
    let server = Running::library(50, plain_settings(10), settings);
    std::thread::scope(|scope| {
        for part in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let mut connections: Vec<Connection> = (0..25).map(|_| server.connect()).collect();
                for round in 0..8 {
                    // All ask before any is answered.
                    for connection in &mut connections {
                        connection.send(LIST.as_bytes());
                    }
                    for connection in &mut connections {
                        let response = connection.receive().unwrap();
                        assert_eq!(response.status, 200, "part {part} round {round}");
                        assert_eq!(Seen::read(&response.body).records.len(), 10);
                    }
                }
            });
        }
    });
}

#[test]
fn a_port_that_is_taken_is_named_with_what_to_try() {
    let server = Running::small();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let bind = |listen: &str| runtime.block_on(serve::bind(listen)).err().unwrap().to_string();
    let message = bind(&server.address.to_string());
    assert!(
        message.contains(&server.address.to_string()) && message.contains("Try: stop the other program"),
        "{message}"
    );
    assert!(bind("localhost").contains("Try: write it as ADDRESS:PORT"));
    assert!(bind("192.0.2.1:80").contains("Try: "));
}
