//! Tests that are told while they go on.

use std::time::{Duration, Instant};

use misbehave::{Endpoint, Script, World};
use stook::config::{Access, Repository, Server, User};

use crate::page::{any, at, check, open, small};
use crate::support::http::{Connection, Running};
use crate::support::{encoded, plain_settings};

/// An endpoint that takes its time and does something wrong.
pub fn slow(milliseconds: u64) -> Endpoint {
    let bend = move |heard: &misbehave::Heard<'_>, given: &mut misbehave::Given| {
        std::thread::sleep(Duration::from_millis(milliseconds));
        if heard.query.is_empty() {
            given.answer_error("badArgument");
        }
    };
    Endpoint::start_bent(World::of(50), Script::new().page_size(20), bend).unwrap()
}

fn start(server: &Running, body: &str) -> Connection {
    let mut connection = server.connect();
    let length = body.len();
    connection.send(
        format!("POST /explore HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}").as_bytes(),
    );
    connection
}

#[test]
fn an_own_repository_is_tested_as_others_see_it() {
    let server = small(Server::default());
    // The validator compares clocks.
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let now = stook_oai::Datestamp::from_unix(i64::try_from(now).unwrap()).unwrap();
    server.bench.hand.turn_to(&now.to_string());
    let page = server.connect().post("/explore", "repository=main");
    assert_eq!(page.status, 200);
    check(&page, "a run");
    let text = page.text();
    assert!(
        text.contains("Test of Ferry Town Archive") && text.contains("id=\"done\""),
        "{text}"
    );
    assert!(!text.contains("ended early"), "{text}");
    // What is tested is the repository under its public name.
    assert!(!text.contains("badge error\" title"), "{text}");
    assert_eq!(page.header("cache-control"), Some("no-store"));
}

#[test]
fn findings_come_before_the_end() {
    let (server, endpoint) = (small(any()), slow(5));
    let mut connection = start(&server, &format!("url={}", encoded(&endpoint.url())));
    let head = connection.read_head();
    assert!(
        head.contains("transfer-encoding: chunked") && head.contains("x-accel-buffering: no"),
        "{head}"
    );
    let (mut page, mut finding, mut done) = (String::new(), None, None);
    while let Some(chunk) = connection.receive_chunk() {
        page.push_str(std::str::from_utf8(&chunk).unwrap());
        let now = Instant::now();
        if page.contains("class=\"finding\"") {
            finding.get_or_insert(now);
        }
        if page.contains("id=\"done\"") {
            done.get_or_insert(now);
        }
    }
    assert!(finding.unwrap() < done.unwrap());
    assert!(
        page.contains("href=\"checks/E-1\"") && page.ends_with("</html>"),
        "{page}"
    );
}

#[test]
fn a_client_has_one_run_and_leaving_its_page_ends_it() {
    let (server, endpoint) = (small(any()), slow(50));
    let body = format!("url={}", encoded(&endpoint.url()));
    let mut first = start(&server, &body);
    first.read_head();
    first.receive_chunk().unwrap();
    let second = server.connect().post("/explore", &body);
    assert_eq!(second.status, 503);
    check(&second, "a second run");
    assert!(second.text().contains("A test of yours is running already"));
    assert_eq!(second.header("retry-after"), Some("60"));
    drop(first);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut again = start(&server, &body);
        if again.read_head().starts_with("HTTP/1.1 200") {
            break;
        }
        assert!(Instant::now() < deadline, "the run that nobody reads goes on");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_run_that_only_waits_ends_when_its_page_is_left() {
    let server = small(any());
    let bend = |heard: &misbehave::Heard<'_>, given: &mut misbehave::Given| {
        if heard.is("ListSets") {
            given.status = 503;
            given.set_header("Retry-After", "25");
        }
    };
    let endpoint = Endpoint::start_bent(World::of(50), Script::new(), bend).unwrap();
    let body = format!("url={}", encoded(&endpoint.url()));
    let mut first = start(&server, &body);
    first.read_head();
    let deadline = Instant::now() + Duration::from_secs(10);
    while !endpoint.requests().iter().any(|asked| asked.query.contains("ListSets")) {
        assert!(Instant::now() < deadline, "it never comes to wait");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(first);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !start(&server, &body).read_head().starts_with("HTTP/1.1 200") {
        assert!(Instant::now() < deadline, "the run that nobody reads still waits");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_run_does_not_keep_the_server_from_stopping() {
    let (mut server, endpoint) = (small(any()), slow(100));
    let mut connection = start(&server, &format!("url={}", encoded(&endpoint.url())));
    connection.read_head();
    connection.receive_chunk().unwrap();
    let began = Instant::now();
    server.stop();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    // Its page is whole, and says so.
    let mut page = String::new();
    while let Some(chunk) = connection.receive_chunk() {
        page.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    assert!(
        page.contains("The test ended early: it was stopped") && page.ends_with("</html>"),
        "{page}"
    );
}

#[test]
fn only_a_form_of_ours_starts_a_run() {
    let (server, endpoint) = (small(any()), slow(0));
    let target = at(&endpoint.url(), "");
    open(&server, &target);
    assert!(endpoint.requests().len() <= 3, "looking at a page starts nothing");
    let body = format!("url={}", encoded(&endpoint.url()));
    let length = body.len();
    let request = format!(
        "POST /explore HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    assert_eq!(server.connect().exchange(request.as_bytes()).status, 403);
    assert_eq!(server.connect().post("/explore", "").status, 404);
    assert_eq!(server.connect().post("/explore", "repository=nothing").status, 404);
    assert!(endpoint.requests().len() <= 3);
}

#[test]
fn an_operator_can_do_without_runs() {
    let server = small(Server {
        explore_runs: 0,
        ..Server::default()
    });
    assert!(
        !open(&server, "/explore?repository=main")
            .text()
            .contains("method=\"post\"")
    );
    let refused = server.connect().post("/explore", "repository=main");
    assert_eq!(refused.status, 403);
    assert!(refused.text().contains("stook validate https://ferry.example.org/oai"));
    // Nor does anybody test what they may not explore.
    let endpoint = slow(0);
    let body = format!("url={}", encoded(&endpoint.url()));
    assert_eq!(small(Server::default()).connect().post("/explore", &body).status, 403);
    let private = small(Server {
        explore_private: false,
        ..any()
    });
    let page = private.connect().post("/explore", &body);
    assert!(page.text().contains("inside this network"), "{}", page.text());
    assert!(endpoint.requests().is_empty());
}

#[test]
fn a_closed_repository_is_tested_by_those_it_is_open_to() {
    let user = User {
        name: "a".to_owned(),
        password: "b".to_owned(),
    };
    let access = Access {
        users: vec![user],
        ..Access::default()
    };
    let closed = Repository {
        access,
        ..plain_settings(3)
    };
    let server = Running::library(3, closed, Server::default());
    assert_eq!(server.connect().post("/explore", "repository=main").status, 401);
    let request = "POST /explore HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic YTpi\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 15\r\n\r\nrepository=main";
    let page = server.connect().exchange(request.as_bytes());
    assert_eq!(page.status, 200);
    assert!(
        page.text().contains("id=\"done\"") && !page.text().contains("ended early"),
        "{}",
        page.text()
    );
}
