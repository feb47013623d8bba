//! The page for people, /healthz, /metrics, and paths that lead nowhere.

use stook::config::{Repository, Server};

use crate::support::http::{Response, Running};
use crate::support::{Bench, deleted, plain_settings, titled};

/// Start and end tags of the page match, as far as HTML wants them to.
fn assert_balanced(html: &str) {
    const ALONE: [&str; 5] = ["meta", "br", "link", "img", "hr"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').unwrap() + start;
        let tag = &rest[start + 1..end];
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !ALONE.contains(&name.as_str()) {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

fn landing(server: &Running) -> Response {
    let page = server.get("/");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_balanced(page.text());
    page
}

#[test]
fn the_page_shows_what_there_is_and_how_to_harvest_it() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(plain_settings(3));
    bench.declare_format(&provider, "mods");
    let changes = (0..5)
        .map(|number| titled(&format!("{number}"), &["maps:city"], "A map"))
        .collect();
    bench.apply(&provider, changes);
    bench.apply(&provider, vec![deleted("4")]);
    let server = Running::start(bench, vec![provider], Server::default());
    let page = landing(&server);
    for text in [
        "Ferry Town Archive",
        "https://ferry.example.org/oai",
        "oai@ferry.example.org",
        "maps:city",
        "mods",
    ] {
        assert!(page.text().contains(text), "{text}");
    }
    // Every link to the repository leads to an answer.
    let links = links(&page, &format!("http://{}/", server.address));
    assert!(links.len() >= 8, "{links:?}");
    for link in links {
        let answer = server.get(&link[url::Position::BeforePath..]);
        assert_eq!(answer.status, 200, "{link}");
        assert!(
            answer.text().contains("<OAI-PMH") && !answer.text().contains("badArgument"),
            "{link}"
        );
    }
}

/// Where the links of the page lead when it was found at this URL.
fn links(page: &Response, at: &str) -> Vec<url::Url> {
    let at = url::Url::parse(at).unwrap();
    let links = page
        .text()
        .split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    links
        .map(|link| at.join(&link.replace("&amp;", "&")).unwrap())
        .filter(|link| link.scheme() != "mailto" && !link.path().ends_with("/explore"))
        .collect()
}

#[test]
fn links_lead_to_the_repository_through_any_proxy() {
    for (base_url, found_at) in [
        ("https://ferry.example.org/oai", "https://ferry.example.org/"),
        (
            "https://ferry.example.org/repository/oai",
            "https://ferry.example.org/repository/",
        ),
        ("https://ferry.example.org/request", "https://elsewhere.example.org/"),
    ] {
        let bench = Bench::at("2024-03-01T08:00:00Z");
        let provider = bench.provider(Repository {
            base_url: base_url.to_owned(),
            ..plain_settings(3)
        });
        bench.apply(&provider, vec![titled("1", &["maps"], "A map")]);
        let server = Running::start(bench, vec![provider], Server::default());
        let links = links(&landing(&server), found_at);
        assert!(links.len() >= 8, "{links:?}");
        for link in links {
            assert!(link.as_str().starts_with(&format!("{base_url}?verb=")), "{link}");
        }
    }
}

#[test]
fn hostile_names_are_text() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let evil = "<script>alert(\"1\")</script>'&amp;<img src=x onerror=alert(1)>";
    let provider = bench.provider(Repository {
        repository_name: evil.to_owned(),
        admin_emails: vec!["\"><script>alert(1)</script>@example.org".to_owned()],
        ..plain_settings(3)
    });
    bench.define_set(&provider, "maps", evil, vec![]);
    bench.apply(&provider, vec![titled("1", &["maps"], evil)]);
    let server = Running::start(bench, vec![provider], Server::default());
    let page = landing(&server);
    for smuggled in ["<script", "<img", "onerror=alert(1)>"] {
        assert!(!page.text().contains(smuggled), "{smuggled}");
    }
    assert!(page.text().contains("&lt;script&gt;"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("default-src 'none'") && !policy.contains("script-src"),
        "{policy}"
    );
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert!(
        !page.text().contains("http-equiv") && !page.text().contains("src=\""),
        "nothing is loaded from elsewhere"
    );
}

#[test]
fn an_empty_repository_has_a_page_too() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(plain_settings(3));
    landing(&Running::start(bench, vec![provider], Server::default()));
}

#[test]
fn several_repositories_share_a_page() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let other = Repository {
        name: "other".to_owned(),
        path: "/other".to_owned(),
        base_url: "https://ferry.example.org/other".to_owned(),
        repository_name: "The Other One".to_owned(),
        ..plain_settings(3)
    };
    let providers = vec![bench.provider(plain_settings(3)), bench.provider(other)];
    let server = Running::start(bench, providers, Server::default());
    let page = landing(&server);
    assert!(page.text().contains("Ferry Town Archive") && page.text().contains("The Other One"));
    for path in ["/oai", "/other"] {
        let identify = server.get(&format!("{path}?verb=Identify"));
        assert!(
            identify
                .text()
                .contains(&format!("<baseURL>https://ferry.example.org{path}</baseURL>"))
        );
    }
}

#[test]
fn a_healthy_server_says_so() {
    let server = Running::small();
    let response = server.get("/healthz");
    assert_eq!((response.status, response.text()), (200, "ok\n"));
}

#[test]
fn paths_that_lead_nowhere_say_where_to_go() {
    let server = Running::small();
    for path in [
        "/nowhere",
        "/oai2",
        "/oai/more",
        "/../etc/passwd",
        "/%2e%2e/etc/passwd",
        "/OAI",
        "/favicon.ico",
    ] {
        let response = server.get(path);
        assert_eq!(response.status, 404, "{path}");
        assert_ne!(response.header("content-type"), Some("text/xml; charset=UTF-8"));
    }
    assert!(server.get("/nowhere").text().contains("/oai"));
}

/// The value of a line of /metrics.
fn value(metrics: &str, line: &str) -> Option<f64> {
    metrics
        .lines()
        .find_map(|known| known.strip_prefix(line)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn metrics_count_what_happened() {
    let server = Running::small();
    let mut connection = server.connect();
    let mut bytes = 0;
    for query in [
        "verb=Identify",
        "verb=Identify",
        "verb=ListRecords&metadataPrefix=oai_dc",
        "verb=ListRecords&metadataPrefix=nothing",
        "verb=GetRecord&metadataPrefix=nothing&identifier=nothing",
        "verb=junk",
    ] {
        bytes += connection.get(&format!("/oai?{query}")).body.len();
    }
    // None of these is an answer.
    connection.get("/");
    connection.get("/nowhere");
    connection.post_as("/oai", "text/plain", b"");
    let response = connection.get("/metrics");
    assert_eq!(response.status, 200);
    assert!(
        response
            .header("content-type")
            .unwrap()
            .starts_with("application/openmetrics-text; version=1.0.0")
    );
    let metrics = response.text();
    assert!(metrics.ends_with("# EOF\n"));
    for (line, expected) in [
        ("stook_requests_total{repository=\"main\",verb=\"Identify\"}", 2.0),
        ("stook_requests_total{repository=\"main\",verb=\"ListRecords\"}", 2.0),
        ("stook_requests_total{repository=\"main\",verb=\"GetRecord\"}", 1.0),
        ("stook_requests_total{repository=\"main\",verb=\"none\"}", 1.0),
        (
            "stook_protocol_errors_total{repository=\"main\",code=\"cannotDisseminateFormat\"}",
            2.0,
        ),
        (
            "stook_protocol_errors_total{repository=\"main\",code=\"idDoesNotExist\"}",
            1.0,
        ),
        ("stook_protocol_errors_total{repository=\"main\",code=\"badVerb\"}", 1.0),
        ("stook_answer_seconds_count", 6.0),
        ("stook_answer_bytes_total", bytes as f64),
        ("stook_requests_in_flight", 0.0),
        ("stook_failures_total", 0.0),
    ] {
        assert_eq!(value(metrics, line), Some(expected), "{line}\n{metrics}");
    }
}

#[test]
fn every_check_of_the_validator_has_a_page() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(plain_settings(3));
    let server = Running::start(bench, vec![provider], Server::default());
    for path in ["/checks/", "/checks/E", "/checks/E-3"] {
        let page = server.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(
            page.header("content-security-policy")
                .is_some_and(|policy| policy.contains("default-src 'none'"))
        );
        assert_balanced(page.text());
    }
    let moved = server.get("/checks");
    assert_eq!((moved.status, moved.header("location")), (308, Some("checks/")));
    for path in [
        "/checks/E-99",
        "/checks/e-3",
        "/checks/../stook.toml",
        "/checks/%2e%2e",
        "/checks/E-3/",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
}
