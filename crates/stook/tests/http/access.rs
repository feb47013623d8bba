//! Who may harvest, and who a client is behind a proxy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stook::config::{Access, Repository, Server, User};

use crate::support::http::{Response, Running};
use crate::support::{Bench, plain_settings, titled};

const IDENTIFY: &str = "/oai?verb=Identify";
const BEARER: &str = "0123456789abcdef-long";

fn guarded(access: Access, trusted_proxies: &[&str]) -> Running {
    let repository = Repository {
        access,
        ..plain_settings(3)
    };
    let settings = Server {
        trusted_proxies: trusted_proxies.iter().map(|range| range.parse().unwrap()).collect(),
        ..Server::default()
    };
    Running::library(2, repository, settings)
}

fn addresses(ranges: &[&str]) -> Access {
    Access {
        addresses: ranges.iter().map(|range| range.parse().unwrap()).collect(),
        ..Access::default()
    }
}

fn with(server: &Running, headers: &str) -> Response {
    let response = server.connect().get_with(IDENTIFY, headers);
    assert_eq!(
        response.status == 200,
        response.text().contains("<OAI-PMH"),
        "nothing of the answer gets out"
    );
    response
}

fn basic(credentials: &str) -> String {
    format!("Authorization: Basic {}\r\n", STANDARD.encode(credentials))
}

#[test]
fn names_and_passwords() {
    let user = |name: &str, password: &str| User {
        name: name.to_owned(),
        password: password.to_owned(),
    };
    let access = Access {
        users: vec![user("aggregator", "tief:blau"), user("jörg", "čaj")],
        ..Access::default()
    };
    let server = guarded(access, &[]);
    let refused = with(&server, "");
    assert_eq!(refused.status, 401);
    assert_eq!(
        refused.header("www-authenticate"),
        Some("Basic realm=\"OAI-PMH\", charset=\"UTF-8\"")
    );
    for good in ["aggregator:tief:blau", "jörg:čaj"] {
        assert_eq!(with(&server, &basic(good)).status, 200, "{good}");
    }
    for bad in [
        "aggregator:",
        "aggregator:tief",
        "aggregator",
        ":tief:blau",
        "aggregator:čaj",
        "",
        "AGGREGATOR:tief:blau",
    ] {
        assert_eq!(with(&server, &basic(bad)).status, 401, "{bad}");
    }
    for bad in [
        "Basic",
        "Basic !!!",
        "Basic  ",
        "Digest a=b",
        "Bearer aggregator:tief:blau",
        "\u{e9}",
    ] {
        assert_eq!(with(&server, &format!("Authorization: {bad}\r\n")).status, 401, "{bad}");
    }
    assert_eq!(server.connect().post("/oai", "verb=Identify").status, 401);
}

#[test]
fn bearer_tokens() {
    let access = Access {
        tokens: vec![BEARER.to_owned()],
        ..Access::default()
    };
    let server = guarded(access, &[]);
    assert_eq!(
        with(&server, "").header("www-authenticate"),
        Some("Bearer realm=\"OAI-PMH\"")
    );
    assert_eq!(
        with(&server, &format!("Authorization: Bearer {BEARER}\r\n")).status,
        200
    );
    assert_eq!(
        with(&server, &format!("authorization: bearer {BEARER}\r\n")).status,
        200
    );
    for bad in [
        &BEARER[1..],
        &BEARER[..20],
        "",
        &format!("{BEARER}x"),
        &BEARER.to_uppercase(),
    ] {
        assert_eq!(
            with(&server, &format!("Authorization: Bearer {bad}\r\n")).status,
            401,
            "{bad}"
        );
    }
    assert_eq!(with(&server, &basic(BEARER)).status, 401);
}

#[test]
fn addresses_let_in_their_own() {
    assert_eq!(with(&guarded(addresses(&["127.0.0.0/8"]), &[]), "").status, 200);
    let server = guarded(addresses(&["192.0.2.0/24", "2001:db8::/32"]), &[]);
    assert_eq!(with(&server, "").status, 403);
    for pretended in [
        "X-Forwarded-For: 192.0.2.1\r\n",
        "Forwarded: for=192.0.2.1\r\n",
        "X-Real-IP: 192.0.2.1\r\n",
    ] {
        assert_eq!(with(&server, pretended).status, 403, "{pretended}");
    }
}

#[test]
fn a_trusted_proxy_says_who_the_client_is_and_the_client_does_not() {
    let server = guarded(
        addresses(&["192.0.2.0/24", "2001:db8::/32"]),
        &["127.0.0.1/32", "10.0.0.0/8"],
    );
    for (forwarded, status) in [
        ("192.0.2.1", 200),
        ("2001:db8::1", 200),
        (" 192.0.2.1 ", 200),
        ("198.51.100.7", 403),
        // The nearest address was seen by our proxy; what stands before it was sent by the client.
        ("192.0.2.1, 198.51.100.7", 403),
        ("198.51.100.7, 192.0.2.1", 200),
        // Two proxies of ours.
        ("192.0.2.1, 10.1.2.3", 200),
        ("192.0.2.1, 198.51.100.7, 10.1.2.3", 403),
        // With a port, as some proxies write it.
        ("192.0.2.1:4711", 200),
        ("[2001:db8::1]:4711", 200),
        ("192.0.2.1, 198.51.100.7:4711", 403),
        // What is no address hides whatever stands before it.
        ("192.0.2.1, unknown", 403),
        ("192.0.2.1, _hidden, 10.1.2.3", 403),
        ("192.0.2.1,", 403),
        ("unknown", 403),
        ("", 403),
    ] {
        let response = with(&server, &format!("X-Forwarded-For: {forwarded}\r\n"));
        assert_eq!(response.status, status, "{forwarded}");
    }
    let two_lines = "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 198.51.100.7\r\n";
    assert_eq!(with(&server, two_lines).status, 403);
    let odd_line = "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: \u{e9}\r\n";
    assert_eq!(with(&server, odd_line).status, 403);
}

#[test]
fn each_repository_has_rules_of_its_own() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let open = bench.provider(plain_settings(3));
    let closed = bench.provider(Repository {
        name: "closed".to_owned(),
        path: "/closed".to_owned(),
        repository_name: "Closed Stacks".to_owned(),
        access: Access {
            tokens: vec![BEARER.to_owned()],
            ..Access::default()
        },
        ..plain_settings(3)
    });
    bench.apply(&open, vec![titled("1", &["public"], "Open")]);
    bench.apply(
        &closed,
        vec![
            titled("2", &["secret-set"], "Closed"),
            titled("3", &["secret-set"], "Closed"),
        ],
    );
    let server = Running::start(bench, vec![open, closed], Server::default());
    let mut connection = server.connect();
    let list = "verb=ListRecords&metadataPrefix=oai_dc";
    assert!(connection.get(&format!("/oai?{list}")).text().contains("Open"));
    assert_eq!(connection.get(&format!("/closed?{list}")).status, 401);
    let header = format!("Authorization: Bearer {BEARER}\r\n");
    assert!(
        connection
            .get_with(&format!("/closed?{list}"), &header)
            .text()
            .contains("Closed")
    );
    // The page for people says no more to strangers than the repository itself would.
    let page = connection.get("/");
    assert!(page.text().contains("Open") || page.text().contains("public"));
    assert!(!page.text().contains("secret-set"), "{}", page.text());
    assert!(
        page.text().contains("Closed Stacks"),
        "that it exists is no secret: its path answers"
    );
    assert!(connection.get_with("/", &header).text().contains("secret-set"));
}
