//! Errors of the protocol and of the transport, explained.

use std::net::TcpListener;

use misbehave::{Endpoint, Script, World};
use stook::config::Server;

use crate::page::{any, at, check, open, small};

#[test]
fn errors_of_the_protocol_are_explained() {
    let server = small(Server::default());
    for (query, code, words) in [
        ("verb=junk", "badVerb", "one of the six verbs"),
        ("verb=ListRecords", "badArgument", "every field that is not optional"),
        (
            "verb=ListRecords&resumptionToken=junk",
            "badResumptionToken",
            "begin the list anew",
        ),
        (
            "verb=ListRecords&metadataPrefix=junk",
            "cannotDisseminateFormat",
            "ListMetadataFormats",
        ),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Ax%3Ay",
            "idDoesNotExist",
            "every character counts",
        ),
        (
            "verb=ListRecords&metadataPrefix=oai_dc&from=2099-01-01",
            "noRecordsMatch",
            "It is no fault",
        ),
    ] {
        let page = open(&server, &format!("/explore?repository=main&{query}"));
        let text = page.text();
        assert!(
            text.contains(&format!("<code>{code}</code>")) && text.contains(words),
            "{query}\n{text}"
        );
        // What was asked can be mended in the form, which is open.
        assert!(
            code == "badVerb" || text.contains("<details class=\"request\" open>"),
            "{query}"
        );
    }
    let page = open(&server, "/explore?repository=main&verb=junk");
    assert!(page.text().contains("href=\"checks/E-3\""), "{}", page.text());
}

#[test]
fn what_is_no_answer_is_explained() {
    let server = small(any());
    type Bend = fn(&mut misbehave::Given);
    let cases: [(Bend, &str); 10] = [
        (|given| given.status = 500, "failed at this request"),
        (
            |given| (given.status, given.body) = (404, b"gone".to_vec()),
            "There is nothing at this URL",
        ),
        (
            |given| (given.status, given.body) = (403, vec![]),
            "open only to those who are known",
        ),
        (
            |given| {
                given.body = b"<!DOCTYPE html><html><body>Hello</body></html>".to_vec();
                given.set_header("Content-Type", "text/html");
            },
            "What came is a web page",
        ),
        (|given| given.body = b"<rss/>".to_vec(), "not a document of OAI-PMH 2.0"),
        (|given| given.body = vec![], "The answer is empty"),
        (
            |given| given.body.truncate(given.body.len() / 2),
            "It is not well-formed",
        ),
        (
            |given| {
                given.status = 503;
                given.set_header("Retry-After", "77");
            },
            "come back in 77 seconds",
        ),
        (
            |given| {
                given.status = 302;
                given.set_header("Location", "ftp://example.org/");
            },
            "which is no web address",
        ),
        (
            |given| given.set_header("Content-Encoding", "junk"),
            "was not asked for",
        ),
    ];
    for (bend, words) in cases {
        let endpoint = Endpoint::start_bent(World::of(5), Script::new(), move |_, given| bend(given)).unwrap();
        // HTTP 500 with the good answer is an answer all the same.
        for more in [
            "",
            "&verb=Identify",
            "&verb=Identify&show=http",
            "&verb=Identify&show=xml",
        ] {
            let target = at(&endpoint.url(), more);
            let page = server.get(&target);
            check(&page, &target);
            let is_told = more == "&verb=Identify" && words != "failed at this request";
            assert!(
                !is_told || page.text().contains(words),
                "{target}: {words}\n{}",
                page.text()
            );
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_explained() {
    let server = small(any());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let free = listener.local_addr().unwrap();
    drop(listener);
    let page = open(&server, &at(&format!("http://{free}/oai"), ""));
    assert!(page.text().contains("could not be reached") && page.text().contains("Try:"));
    // One can mend the URL at once.
    assert!(page.text().contains(&format!("value=\"http://{free}/oai\"")));
}

#[test]
fn what_is_no_base_url_says_what_to_try() {
    let server = small(any());
    for (url, words) in [
        ("example.org/oai", "such as https://example.org/oai"),
        ("file:///etc/passwd", "is not a web address"),
        ("gopher://example.org/", "is not a web address"),
        ("https://example.org/oai?verb=Identify", "Try: https://example.org/oai"),
        ("https://me:secret@example.org/oai", "name or password"),
    ] {
        let target = at(url, "");
        let page = server.get(&target);
        assert_eq!(page.status, 400, "{url}");
        check(&page, &target);
        assert!(page.text().contains(words), "{url}: {}", page.text());
    }
    let long = format!("https://example.org/{}", "a".repeat(3_000));
    assert_eq!(server.get(&at(&long, "")).status, 400);
}
