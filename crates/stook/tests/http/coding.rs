//! Content codings: what was asked for, and the same document whichever it was.

use std::io::Read;

use stook::config::{Coding, Repository, Server};

use crate::support::answer::Seen;
use crate::support::http::{Connection, Response, Running};
use crate::support::plain_settings;

const VERBS: [&str; 6] = [
    "verb=Identify",
    "verb=ListMetadataFormats",
    "verb=ListSets",
    "verb=ListIdentifiers&metadataPrefix=oai_dc",
    "verb=ListRecords&metadataPrefix=oai_dc",
    "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3A00001",
];

fn ask(connection: &mut Connection, query: &str, accept: &str) -> Response {
    let response = connection.get_with(&format!("/oai?{query}"), accept);
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("text/xml; charset=UTF-8"));
    assert_eq!(response.header("vary"), Some("Accept-Encoding"));
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    response
}

fn unpack(response: &Response) -> Vec<u8> {
    let mut document = Vec::new();
    match response.header("content-encoding") {
        None => document.clone_from(&response.body),
        Some("gzip") => {
            flate2::read::GzDecoder::new(&response.body[..])
                .read_to_end(&mut document)
                .unwrap();
        }
        Some("zstd") => {
            zstd::Decoder::new(&response.body[..])
                .unwrap()
                .read_to_end(&mut document)
                .unwrap();
        }
        Some(other) => panic!("{other}"),
    }
    document
}

#[test]
fn the_client_decides_the_coding() {
    let server = Running::small();
    let mut connection = server.connect();
    let query = VERBS[4];
    let plain = ask(&mut connection, query, "").body;
    for (accept, expected) in [
        ("", None),
        ("Accept-Encoding: gzip\r\n", Some("gzip")),
        ("Accept-Encoding: zstd\r\n", Some("zstd")),
        ("Accept-Encoding: gzip;q=1.0, identity;q=0.5\r\n", Some("gzip")),
        ("Accept-Encoding: gzip, deflate, br\r\n", Some("gzip")),
        ("Accept-Encoding: GZip\r\n", Some("gzip")),
        ("Accept-Encoding: *\r\n", Some("gzip")),
        ("Accept-Encoding: identity\r\n", None),
        ("Accept-Encoding:\r\n", None),
        ("Accept-Encoding: gzip;q=0\r\n", None),
        ("Accept-Encoding: gzip;Q=0\r\n", None),
        ("Accept-Encoding: gzip; q=0.000, zstd ; q=0\r\n", None),
        ("Accept-Encoding: identity;q=1, *;q=0\r\n", None),
        ("Accept-Encoding: zstd;q=0.1, gzip;q=0.2\r\n", Some("gzip")),
        ("Accept-Encoding: compress, deflate, br\r\n", None),
        ("Accept-Encoding: ,,;;q=,=\r\n", None),
        ("Accept-Encoding: identity\r\nAccept-Encoding: gzip\r\n", Some("gzip")),
        ("Accept-Encoding: \u{e9}\r\n", None),
    ] {
        let response = ask(&mut connection, query, accept);
        assert_eq!(response.header("content-encoding"), expected, "{accept}");
        assert_eq!(unpack(&response), plain, "{accept}");
        assert!(expected.is_none() || response.body.len() < plain.len() / 2, "{accept}");
    }
}

#[test]
fn every_coding_that_is_announced_is_delivered_for_every_verb() {
    let server = Running::small();
    let mut connection = server.connect();
    let identify = Seen::read(&ask(&mut connection, "verb=Identify", "").body)
        .identify
        .unwrap();
    assert_eq!(identify.compressions, ["gzip", "zstd"]);
    for coding in &identify.compressions {
        for query in VERBS {
            let plain = ask(&mut connection, query, "");
            assert_eq!(plain.header("content-encoding"), None);
            let packed = ask(&mut connection, query, &format!("Accept-Encoding: {coding}\r\n"));
            assert_eq!(unpack(&packed), plain.body, "{query}");
            // A document that fits one packet gains nothing.
            let expected = (plain.body.len() >= 1024).then_some(coding.as_str());
            assert_eq!(packed.header("content-encoding"), expected, "{query}");
        }
        let identify = ask(
            &mut connection,
            "verb=Identify",
            &format!("Accept-Encoding: {coding}\r\n"),
        );
        assert_eq!(
            identify.header("content-encoding"),
            Some(coding.as_str()),
            "validators ask Identify"
        );
    }
}

#[test]
fn a_coding_that_is_not_offered_is_not_used() {
    for (offered, accept) in [(vec![], "gzip, zstd, *"), (vec![Coding::Gzip], "zstd")] {
        let settings = Repository {
            compression: offered,
            ..plain_settings(3)
        };
        let server = Running::library(7, settings, Server::default());
        let mut connection = server.connect();
        let response = ask(&mut connection, VERBS[4], &format!("Accept-Encoding: {accept}\r\n"));
        assert_eq!(response.header("content-encoding"), None);
        assert_eq!(Seen::read(&response.body).records.len(), 3);
    }
}
