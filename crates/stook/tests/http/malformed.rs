//! Requests that are too long, too many, too slow or not HTTP at all. After each of them the server still serves.

use std::time::{Duration, Instant};

use stook::config::Server;
use stook_oai::ErrorCode::{BadArgument, BadResumptionToken, IdDoesNotExist};

use crate::support::answer::Seen;
use crate::support::http::{Connection, Running};
use crate::support::plain_settings;

fn assert_serves(server: &Running) {
    let response = server.get("/oai?verb=Identify");
    assert_eq!(response.status, 200);
    assert!(Seen::read(&response.body).identify.is_some());
}

fn codes(connection: &mut Connection, query: &str) -> Vec<stook_oai::ErrorCode> {
    let response = connection.get(&format!("/oai?{query}"));
    assert_eq!(response.status, 200, "{}", &query[..query.len().min(80)]);
    assert_eq!(response.header("content-type"), Some("text/xml; charset=UTF-8"));
    Seen::read(&response.body).codes
}

#[test]
fn urls_of_any_length_are_answered_or_refused() {
    let server = Running::small();
    for (length, expected) in [
        (8_000, &[200][..]),
        (60_000, &[200]),
        (100_000, &[414]),
        (2_000_000, &[414, 431]),
    ] {
        let mut connection = server.connect();
        let long = "x".repeat(length);
        let response = connection.get(&format!("/oai?verb=GetRecord&metadataPrefix=oai_dc&identifier={long}"));
        assert!(expected.contains(&response.status), "{length}: {}", response.status);
        if response.status == 200 {
            assert_eq!(Seen::read(&response.body).codes, [IdDoesNotExist]);
        }
        assert_serves(&server);
    }
}

#[test]
fn ten_thousand_arguments_are_one_fault() {
    let server = Running::small();
    let many = format!("verb=Identify{}", "&a=1".repeat(10_000));
    assert_eq!(codes(&mut server.connect(), &many), [BadArgument]);
    let posted = server.connect().post("/oai", &many);
    assert_eq!(Seen::read(&posted.body).codes, [BadArgument]);
    assert!(posted.body.len() < 4096);
}

#[test]
fn headers_without_end_are_refused() {
    let server = Running::small();
    let many = "X-A: b\r\n".repeat(1_000);
    assert_eq!(server.connect().get_with("/oai?verb=Identify", &many).status, 431);
    let long = format!("X-A: {}\r\n", "b".repeat(2_000_000));
    let mut connection = server.connect();
    connection.send(format!("GET /oai HTTP/1.1\r\nHost: localhost\r\n{long}\r\n").as_bytes());
    assert!(connection.receive().is_none_or(|response| response.status == 431));
    assert_serves(&server);
}

#[test]
fn broken_escapes_and_characters_are_faults_of_the_argument() {
    let server = Running::small();
    let mut connection = server.connect();
    for value in [
        "%",
        "%4",
        "%zz",
        "a%00b",
        "%FF%FE",
        "%C0%AF",
        "%ED%A0%80",
        "%EF%BF%BF",
        "%0B",
    ] {
        let query = format!("verb=ListRecords&metadataPrefix=oai_dc&set={value}");
        assert_eq!(codes(&mut connection, &query), [BadArgument], "{value}");
    }
    // Lines inside an argument stay inside it.
    let query = "verb=ListRecords&resumptionToken=a%0D%0ASet-Cookie:%20b=c%0D%0A%0D%0A%3Chtml%3E";
    let response = connection.get(&format!("/oai?{query}"));
    assert_eq!(Seen::read(&response.body).codes, [BadResumptionToken]);
    assert_eq!(response.header("set-cookie"), None);
    assert!(!response.text().contains("<html>"));
}

#[test]
fn bytes_that_no_url_has_are_refused_or_answered() {
    let server = Running::small();
    let head = |middle: &[u8]| {
        [
            b"GET /oai?verb=GetRecord&metadataPrefix=oai_dc&identifier=",
            middle,
            b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ]
        .concat()
    };
    for middle in [
        &b"a\0b"[..],
        b"a\x01b",
        b"a\x7fb",
        b"a\rb",
        b"a\nb",
        b"a b",
        b"\xff\xfe",
        "é地図".as_bytes(),
        b"a\"b<c>",
    ] {
        let mut connection = server.connect();
        connection.send(&head(middle));
        connection.finish();
        if let Some(response) = connection.receive() {
            let shown = String::from_utf8_lossy(middle);
            assert!([200, 400].contains(&response.status), "{shown}: {}", response.status);
            if response.status == 200 {
                assert!(!Seen::read(&response.body).codes.is_empty(), "{shown}");
            }
        }
        assert_serves(&server);
    }
}

#[test]
fn what_is_not_http_is_refused() {
    let server = Running::small();
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /oai\r\n\r\n",
        b"GET /oai HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET * HTTP/1.1\r\n\r\n",
        b"\r\n\r\n\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ] {
        let mut connection = server.connect();
        connection.send(bytes);
        connection.finish();
        if let Some(response) = connection.receive() {
            assert!((400..=505).contains(&response.status), "{}", response.status);
        }
        assert_serves(&server);
    }
}

#[test]
fn a_request_names_its_host_once() {
    let server = Running::small();
    let response = server
        .connect()
        .get_with("/oai?verb=Identify", "Host: evil.example.org\r\n");
    assert_eq!(response.status, 400);
    assert!(
        !response.text().contains("evil.example.org"),
        "the base URL is the configured one"
    );
    let nameless = server.connect().exchange(b"GET /oai?verb=Identify HTTP/1.1\r\n\r\n");
    assert_eq!(nameless.status, 400);
    let mut connection = server.connect();
    let response = connection.exchange(b"GET / HTTP/1.1\r\nHost: evil.example.org\r\n\r\n");
    assert!(!response.text().contains("evil.example.org"));
}

#[test]
fn a_length_that_is_not_one_is_refused() {
    let server = Running::small();
    for headers in [
        "Content-Length: 13\r\nContent-Length: 14\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 1e3\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 13\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip\r\n",
    ] {
        let mut connection = server.connect();
        let head = "POST /oai HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";
        connection.send(format!("{head}{headers}\r\nverb=Identify").as_bytes());
        connection.finish();
        if let Some(response) = connection.receive() {
            assert_eq!(response.status, 400, "{headers}");
        }
        assert!(
            connection.is_closed(),
            "{headers}: what follows must not be taken for a request"
        );
        assert_serves(&server);
    }
}

/// A server that waits so long for requests, and answers two at once.
fn hasty(header_timeout_seconds: u64) -> Running {
    let settings = Server {
        header_timeout_seconds,
        max_requests: 2,
        ..Server::default()
    };
    Running::library(7, plain_settings(3), settings)
}

#[test]
fn a_request_that_does_not_come_is_not_waited_for() {
    let server = hasty(1);
    for beginning in [
        "",
        "GET /oai?verb=Id",
        "GET /oai?verb=Identify HTTP/1.1\r\nHost: localhost\r\nX-A",
    ] {
        let mut connection = server.connect();
        connection.send(beginning.as_bytes());
        let began = Instant::now();
        if let Some(response) = connection.receive() {
            assert_eq!(response.status, 408);
        }
        assert!(connection.is_closed());
        assert!(began.elapsed() < Duration::from_secs(10), "{beginning:?}");
    }
    assert_serves(&server);
}

#[test]
fn a_body_that_does_not_come_is_not_waited_for_and_holds_nobody_up() {
    let server = hasty(3);
    let mut slow: Vec<Connection> = (0..8).map(|_| server.connect()).collect();
    for connection in &mut slow {
        connection.send(b"POST /oai HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nverb=");
    }
    std::thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    assert_serves(&server);
    let held_up = began.elapsed();
    assert!(held_up < Duration::from_secs(2), "others were held up for {held_up:?}");
    for mut connection in slow {
        assert_eq!(connection.receive().unwrap().status, 408);
        assert!(connection.is_closed());
    }
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn clients_that_go_away_are_forgotten() {
    let server = hasty(1);
    for _ in 0..50 {
        let mut connection = server.connect();
        connection.send(b"GET /oai?verb=ListRecords&metadataPrefix=oai_dc HTTP/1.1\r\nHost: localhost\r\n\r\n");
        drop(connection);
        let mut connection = server.connect();
        connection.send(b"POST /oai HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n");
        drop(connection);
    }
    assert_serves(&server);
    // Those that were read to their end are answered, though nobody listens.
    let is_idle = || server.get("/metrics").text().contains("stook_requests_in_flight 0");
    let began = Instant::now();
    while !is_idle() {
        assert!(began.elapsed() < Duration::from_secs(20), "requests are kept in flight");
        std::thread::sleep(Duration::from_millis(20));
    }
}
