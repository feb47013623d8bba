//! Who may explore what, where requests may go, and how often.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stook::config::{Access, Explore, Repository, Server, User};

use crate::page::{any, at, check, elsewhere, open, small};
use crate::support::http::Running;
use crate::support::{Bench, plain_settings, titled};

/// A server with an open and a closed repository.
fn guarded() -> Running {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let closed = Repository {
        name: "closed".to_owned(),
        path: "/closed".to_owned(),
        base_url: "https://ferry.example.org/closed".to_owned(),
        repository_name: "The Vault".to_owned(),
        access: Access {
            users: vec![User {
                name: "a".to_owned(),
                password: "b".to_owned(),
            }],
            ..Access::default()
        },
        ..plain_settings(3)
    };
    let providers = vec![bench.provider(plain_settings(3)), bench.provider(closed)];
    bench.apply(&providers[1], vec![titled("1", &[], "Secret map")]);
    Running::start(bench, providers, any())
}

#[test]
fn a_closed_repository_is_explored_by_those_it_is_open_to() {
    let server = guarded();
    let start = open(&server, "/explore");
    assert!(start.text().contains("The Vault") && start.text().contains("asks for credentials"));
    assert!(!start.text().contains("https://ferry.example.org/closed"));
    let authorization = format!("Authorization: Basic {}\r\n", STANDARD.encode("a:b"));
    let record = "&verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3A1";
    // By its URL it is the same repository, not one elsewhere.
    for place in [
        "/explore?repository=closed".to_owned(),
        at("https://ferry.example.org/closed", ""),
    ] {
        for more in ["", record, &format!("{record}&show=raw"), &format!("{record}&show=xml")] {
            let target = format!("{place}{more}");
            let page = server.get(&target);
            assert_eq!(page.status, 401, "{target}");
            assert!(page.header("www-authenticate").unwrap().starts_with("Basic"));
            assert!(!page.text().contains("Secret map"));
            check(&page, &target);
            let page = server.connect().get_with(&target, &authorization);
            assert_eq!(page.status, 200, "{target}");
            assert!(more.is_empty() || page.text().contains("Secret map"), "{target}");
        }
    }
}

#[test]
fn without_leave_only_own_repositories_are_explored() {
    let endpoint = elsewhere();
    let server = small(Server {
        explore_private: true,
        ..Server::default()
    });
    for more in ["", "&verb=Identify", "&verb=Identify&show=raw"] {
        let target = at(&endpoint.url(), more);
        let page = server.get(&target);
        assert_eq!(page.status, 403);
        check(&page, &target);
    }
    assert_eq!(server.get("/explore?repository=nothing").status, 404);
    assert!(endpoint.requests().is_empty());
}

#[test]
fn nobody_inside_the_network_is_asked() {
    let endpoint = elsewhere();
    let server = small(Server {
        explore_private: false,
        ..any()
    });
    let port = endpoint
        .url()
        .rsplit(':')
        .next()
        .unwrap()
        .split('/')
        .next()
        .unwrap()
        .to_owned();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "2130706433",
        "0x7f.1",
        "127.1",
        "0.0.0.0",
        "169.254.169.254",
        "10.0.0.1",
        "[::ffff:127.0.0.1]",
        "[fd00::1]",
    ] {
        for more in ["", "&verb=Identify", "&verb=Identify&show=raw"] {
            let target = at(&format!("http://{host}:{port}/oai"), more);
            let page = server.get(&target);
            let text = page.text();
            let is_refused = text.contains("inside this network") || text.contains("inside the network");
            assert!(is_refused, "{target}: {text}");
        }
    }
    assert!(endpoint.requests().is_empty(), "{:?}", endpoint.requests());
}

#[test]
fn others_are_asked_only_so_often() {
    let endpoint = elsewhere();
    let server = small(Server {
        explore_requests_per_minute: 5,
        ..any()
    });
    // Three requests: what it is, its formats, its sets.
    open(&server, &at(&endpoint.url(), ""));
    // One each: the rest is remembered.
    for _ in 0..2 {
        open(&server, &at(&endpoint.url(), "&verb=ListRecords&metadataPrefix=oai_dc"));
    }
    assert_eq!(endpoint.requests().len(), 5);
    let target = at(&endpoint.url(), "&verb=Identify");
    let page = server.get(&target);
    assert_eq!(page.status, 503);
    check(&page, &target);
    let wait: u64 = page.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=12).contains(&wait), "{wait}");
    assert!(page.text().contains(&format!("in {wait} seconds")));
    assert_eq!(endpoint.requests().len(), 5);
    // Own repositories can be explored meanwhile.
    open(&server, "/explore?repository=main&verb=Identify");
}

#[test]
fn a_page_that_cannot_know_formats_is_a_page_all_the_same() {
    let endpoint = elsewhere();
    let server = small(Server {
        explore_requests_per_minute: 2,
        ..any()
    });
    let page = open(&server, &at(&endpoint.url(), "&verb=ListRecords&metadataPrefix=oai_dc"));
    assert!(page.text().contains("Next page"));
}

#[test]
fn the_settings_say_what_is_possible() {
    let own = small(Server::default());
    assert_eq!(Server::default().explore, Explore::Own);
    assert!(!Server::default().explore_private);
    open(&own, "/explore");
}
