//! What pages show and where they lead.

use std::collections::{BTreeSet, VecDeque};

use stook::config::{Explore, Repository, Server};

use crate::page::{any, at, check, elsewhere, link_to, links, open, small};
use crate::support::http::Running;
use crate::support::{Bench, plain_settings, titled};

#[test]
fn the_first_page_offers_what_may_be_explored() {
    let own = small(Server::default());
    let page = open(&own, "/explore");
    assert!(page.text().contains("Ferry Town Archive"));
    assert!(!page.text().contains("name=\"url\""));
    assert!(open(&small(any()), "/explore").text().contains("name=\"url\""));
    let off = small(Server {
        explore: Explore::Off,
        ..Server::default()
    });
    assert_eq!(off.get("/explore").status, 404);
    assert!(!off.get("/").text().contains("explore?"));
    assert!(own.get("/").text().contains("href=\"explore?repository=main\""));
}

#[test]
fn a_repository_is_seen_at_a_glance() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(Repository {
        friends: vec!["https://hill.example.org/oai".to_owned()],
        ..plain_settings(3)
    });
    bench.declare_format(&provider, "mods");
    bench.define_set(&provider, "maps", "Maps of the river", vec![]);
    bench.apply(&provider, vec![titled("1", &["maps"], "A map")]);
    let server = Running::start(bench, vec![provider], Server::default());
    let page = open(&server, "/explore?repository=main");
    for text in [
        "<h1>Ferry Town Archive</h1>",
        "2024-03-01",
        "the second",
        "kept for ever",
        "oai@ferry.example.org",
        "gzip, zstd",
        "Maps of the river",
        "<option value=\"mods\">",
        "<option value=\"maps\">maps – Maps of the river</option>",
        "type=\"datetime-local\"",
        "href=\"https://hill.example.org/oai\"",
        "Test this repository",
    ] {
        assert!(page.text().contains(text), "{text}\n{}", page.text());
    }
}

#[test]
fn date_fields_follow_the_granularity() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(Repository {
        granularity: stook::config::GranularityName::Days,
        ..plain_settings(3)
    });
    bench.apply(&provider, vec![titled("1", &[], "A map")]);
    let server = Running::start(bench, vec![provider], Server::default());
    let page = open(&server, "/explore?repository=main");
    assert!(page.text().contains("type=\"date\"") && !page.text().contains("datetime-local"));
    let asked = "/explore?repository=main&verb=ListRecords&metadataPrefix=oai_dc&from=2024-03-01&until=";
    assert!(open(&server, asked).text().contains("This is the whole list"));
}

/// Every page that can be reached by links is a page, and shows an answer.
#[test]
fn every_link_leads_to_a_page() {
    let (server, endpoint) = (small(any()), elsewhere());
    for start in ["/explore?repository=main".to_owned(), at(&endpoint.url(), "")] {
        let (mut seen, mut todo) = (BTreeSet::new(), VecDeque::from([start]));
        while let Some(target) = todo.pop_front() {
            // Records that differ in a number lead to the same pages.
            if !seen.insert(target.replace(|sign: char| sign.is_ascii_digit(), "")) {
                continue;
            }
            assert!(seen.len() < 500, "{seen:#?}");
            if target.contains("show=raw") {
                let raw = server.get(&target);
                assert_eq!(raw.header("content-type"), Some("text/plain; charset=utf-8"));
                assert_eq!(raw.header("x-content-type-options"), Some("nosniff"));
                assert!(raw.text().starts_with("<?xml"));
                continue;
            }
            let page = open(&server, &target);
            let links = links(page.text()).into_iter().map(|(link, _)| link);
            todo.extend(
                links
                    .filter(|link| link.starts_with("explore?"))
                    .map(|link| format!("/{link}")),
            );
        }
        for verb in [
            "Identify",
            "ListMetadataFormats",
            "ListSets",
            "ListIdentifiers",
            "ListRecords",
            "GetRecord",
        ] {
            for view in ["show=xml", "show=http", "show=raw"] {
                let both = |target: &String| target.contains(&format!("verb={verb}")) && target.contains(view);
                assert!(seen.iter().any(both), "{verb} {view} in {} pages", seen.len());
            }
        }
    }
}

#[test]
fn a_list_is_followed_to_its_end() {
    let (server, endpoint) = (small(any()), elsewhere());
    for (start, prefix, pages) in [
        (
            "/explore?repository=main&verb=ListRecords&metadataPrefix=oai_dc".to_owned(),
            "oai_dc",
            3,
        ),
        (
            at(&endpoint.url(), "&verb=ListIdentifiers&metadataPrefix=oai_dc"),
            "oai_dc",
            3,
        ),
        (
            at(&endpoint.url(), "&verb=ListIdentifiers&metadataPrefix=mods"),
            "mods",
            2,
        ),
    ] {
        let mut target = start;
        for number in 1.. {
            let page = open(&server, &target);
            assert!(number <= pages, "{target}");
            // Links to records know the format, though the token does not tell it.
            let links = links(page.text()).into_iter().map(|(link, _)| link);
            let mut records = links.filter(|link| link.contains("GetRecord&identifier=")).peekable();
            assert!(records.peek().is_some());
            assert!(
                records.all(|link| link.ends_with(&format!("&metadataPrefix={prefix}"))),
                "{target}"
            );
            match link_to(page.text(), "Next page") {
                Some(next) => target = next,
                None => {
                    assert_eq!(number, pages);
                    assert!(page.text().contains("This is the end of the list."));
                    assert!(page.text().contains("in the whole list"));
                    break;
                }
            }
        }
    }
}

#[test]
fn one_goes_from_set_to_list_to_record_to_formats() {
    let server = small(Server::default());
    let sets = open(&server, "/explore?repository=main&verb=ListSets");
    let list = open(&server, &link_to(sets.text(), "maps").unwrap());
    let record = open(&server, &link_to(list.text(), "oai:ferry.example.org:0").unwrap());
    assert!(record.text().contains("Map 0"));
    let formats = open(&server, &link_to(record.text(), "Formats of this item").unwrap());
    let again = open(&server, &link_to(formats.text(), "oai_dc").unwrap());
    assert!(again.text().contains("Map 0"));
    let deleted = open(
        &server,
        "/explore?repository=main&verb=GetRecord&identifier=oai%3Aferry.example.org%3A6&metadataPrefix=oai_dc",
    );
    assert!(deleted.text().contains("This record is deleted"));
}

#[test]
fn requests_can_be_copied() {
    let server = small(Server::default());
    let page = open(
        &server,
        "/explore?repository=main&verb=ListRecords&metadataPrefix=oai_dc&set=maps",
    );
    let url = "https://ferry.example.org/oai?verb=ListRecords&amp;metadataPrefix=oai_dc&amp;set=maps";
    assert!(
        page.text().contains(&format!("readonly value=\"{url}\"")),
        "{}",
        page.text()
    );
    assert!(page.text().contains(&format!("readonly value=\"curl -i '{url}'\"")));
}

#[test]
fn pages_about_others_are_kept_from_search_engines() {
    let (server, endpoint) = (small(any()), elsewhere());
    let noindex = "<meta name=\"robots\" content=\"noindex, nofollow\">";
    assert!(open(&server, &at(&endpoint.url(), "")).text().contains(noindex));
    assert!(!open(&server, "/explore?repository=main").text().contains(noindex));
}

#[test]
fn http_tells_how_the_answer_came() {
    let (server, endpoint) = (small(any()), elsewhere());
    let page = open(&server, &at(&endpoint.url(), "&verb=Identify&show=http"));
    for text in ["to the first byte", "content-type", "text/xml", "as it travelled"] {
        assert!(page.text().contains(text), "{text}");
    }
    let own = open(&server, "/explore?repository=main&verb=Identify&show=http");
    assert!(own.text().contains("no network was used"));
}

#[test]
fn long_answers_are_cut_and_there_to_be_had() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(plain_settings(500));
    let text = "Eine lange Beschreibung. ".repeat(100);
    let changes = (0..200).map(|number| titled(&number.to_string(), &[], &text));
    bench.apply(&provider, changes.collect());
    let server = Running::start(bench, vec![provider], Server::default());
    let page = open(
        &server,
        "/explore?repository=main&verb=ListRecords&metadataPrefix=oai_dc&show=xml",
    );
    assert!(page.text().contains("This is the beginning, 200.0 kB of"));
    assert!(page.body.len() < 1_000_000);
    let whole = server.get(&link_to(page.text(), "The whole answer as text").unwrap());
    assert!(whole.text().trim_end().ends_with("</OAI-PMH>"));
    assert_eq!(whole.header("content-type"), Some("text/plain; charset=utf-8"));
}

#[test]
fn an_empty_repository_can_be_explored() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(plain_settings(3));
    let server = Running::start(bench, vec![provider], Server::default());
    open(&server, "/explore?repository=main");
    let page = open(
        &server,
        "/explore?repository=main&verb=ListRecords&metadataPrefix=oai_dc",
    );
    assert!(page.text().contains("noRecordsMatch"));
}

#[test]
fn methods_that_mean_nothing_here_are_refused() {
    let server = small(Server::default());
    let response = server
        .connect()
        .exchange(b"DELETE /explore HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(
        (response.status, response.header("allow")),
        (405, Some("GET, HEAD, POST"))
    );
    let mut connection = server.connect();
    connection.send(b"HEAD /explore?repository=main HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(connection.receive_head().unwrap().status, 200);
    for odd in [
        "/explore?",
        "/explore?&&=&x",
        "/explore?show=nothing",
        "/explore?verb=Identify",
    ] {
        check(&server.get(odd), odd);
    }
}
