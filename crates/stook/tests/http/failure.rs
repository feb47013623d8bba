//! When the store fails: an HTTP error that tells strangers nothing, never an answer that is not true.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use stook::config::Server;

use crate::support::http::Running;
use crate::support::plain_settings;

/// Spoils everything behind the first pages of a file.
fn spoil(path: &Path) {
    let length = File::open(path).unwrap().metadata().unwrap().len();
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    let start = 4 * 4096;
    if length > start {
        file.seek(SeekFrom::Start(start)).unwrap();
        file.write_all(&vec![0xA5; usize::try_from(length - start).unwrap()])
            .unwrap();
    }
}

#[test]
fn a_damaged_store_is_a_failure_that_tells_nothing() {
    let server = Running::library(3_000, plain_settings(1_000), Server::default());
    let path = std::path::PathBuf::from(server.bench.store.place());
    spoil(&path);
    let log = path.with_file_name(format!("{}-wal", path.file_name().unwrap().to_str().unwrap()));
    if log.exists() {
        spoil(&log);
    }
    let mut failures = 0;
    for query in [
        "verb=ListRecords&metadataPrefix=oai_dc",
        "verb=ListIdentifiers&metadataPrefix=oai_dc",
        "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3A02999",
        "verb=ListSets",
        "verb=Identify",
    ] {
        let response = server.get(&format!("/oai?{query}"));
        let text = response.text().to_lowercase();
        for inside in ["sql", "database", "malformed", "damaged", "records.db", "/tmp", ".rs"] {
            assert!(!text.contains(inside), "{query}: {text}");
        }
        match response.status {
            500 => {
                assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
                failures += 1;
            }
            // What was in memory may still be told.
            status => assert_eq!(status, 200, "{query}"),
        }
    }
    assert!(failures > 0, "the store was not spoilt enough");
    let metrics = server.get("/metrics");
    assert!(
        metrics.text().contains(&format!("stook_failures_total {failures}\n")),
        "{}",
        metrics.text()
    );
    assert!([200, 500].contains(&server.get("/").status));
}
