//! Static repositories: files behind URLs that each do one thing wrong, and files on disk.

use std::fmt::Write;

use misbehave::{Endpoint, Given, Heard, Item, Script, World};
use stook::validate::report::to_text;
use stook::validate::table::Severity;
use stook::validate::{self, Options, Outside};
use stook_oai::{Datestamp, DeletedRecord, Granularity};

use crate::harness::{Case, case, hold, validated};

const CHANGED: &str = "Fri, 17 May 2024 08:00:00 GMT";

/// Records as a static repository has them: without sets, deletions and seconds.
pub fn world() -> World {
    let mut world = World::of(12).with_granularity(Granularity::Day);
    world.deleted_record = DeletedRecord::No;
    world.sets.clear();
    for identifier in world.identifiers() {
        let item = world.item(&identifier).unwrap().clone();
        world.put(Item {
            deleted: false,
            set_specs: Vec::new(),
            ..item
        });
    }
    world
}

/// The file with the records of a world.
pub fn file(world: &World, base_url: &str) -> String {
    let mut text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<Repository xmlns="http://www.openarchives.org/OAI/2.0/static-repository"
  xmlns:oai="http://www.openarchives.org/OAI/2.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/static-repository
    http://www.openarchives.org/OAI/2.0/static-repository.xsd">
<Identify>
  <oai:repositoryName>A small archive</oai:repositoryName>
  <oai:baseURL>{base_url}</oai:baseURL>
  <oai:protocolVersion>2.0</oai:protocolVersion>
  <oai:adminEmail>archive@example.org</oai:adminEmail>
  <oai:earliestDatestamp>2020-01-01</oai:earliestDatestamp>
  <oai:deletedRecord>no</oai:deletedRecord>
  <oai:granularity>YYYY-MM-DD</oai:granularity>
</Identify>
<ListMetadataFormats>
  <oai:metadataFormat>
    <oai:metadataPrefix>oai_dc</oai:metadataPrefix>
    <oai:schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</oai:schema>
    <oai:metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</oai:metadataNamespace>
  </oai:metadataFormat>
</ListMetadataFormats>
<ListRecords metadataPrefix="oai_dc">
"#
    );
    for identifier in world.identifiers() {
        let item = world.item(&identifier).unwrap();
        let datestamp = Datestamp::from_unix(item.datestamp).unwrap().format(Granularity::Day);
        let metadata = &item.metadata["oai_dc"];
        writeln!(
            text,
            "<oai:record><oai:header><oai:identifier>{identifier}</oai:identifier>\
             <oai:datestamp>{datestamp}</oai:datestamp></oai:header><oai:metadata>{metadata}</oai:metadata></oai:record>"
        )
        .unwrap();
    }
    text + "</ListRecords>\n</Repository>\n"
}

/// A web server that has nothing but the file.
pub fn serve_file(heard: &Heard<'_>, given: &mut Given) {
    let host = heard.header("Host").unwrap_or_default().replace(':', "%3A");
    given.status = 200;
    given.headers = vec![
        ("Content-Type".into(), "text/xml".into()),
        ("Last-Modified".into(), CHANGED.into()),
    ];
    given.body = file(&world(), &format!("http://gateway.example.org/oai/{host}/oai")).into_bytes();
    if heard.header("If-Modified-Since") == Some(CHANGED) {
        given.status = 304;
        given.body.clear();
    }
}

fn file_case(breaks: &'static str, bend: fn(&mut Given)) -> Case {
    case(breaks, move |heard, given| {
        serve_file(heard, given);
        bend(given);
    })
    .in_world(world)
}

pub fn cases() -> Vec<Case> {
    vec![
        file_case("SR-1", |given| given.set_header("Content-Type", "text/html")).with_severity(Severity::Error),
        file_case("SR-1", |given| given.set_header("Content-Type", "application/xml")).with_severity(Severity::Warn),
        file_case("SR-1", |given| {
            given.set_header("Content-Type", "text/xml; charset=ISO-8859-1")
        }),
        file_case("SR-1", |given| {
            given.replace_first("<oai:adminEmail>archive@example.org</oai:adminEmail>", "")
        }),
        file_case("SR-1", |given| given.replace_first("archive@example.org", "archive")),
        file_case("SR-1", |given| given.replace_first("<dc:title>", "<dc:title><dc:x/>")),
        file_case("SR-1", |given| {
            given.replace_first("<dc:date>", "<dc:titel>x</dc:titel><dc:date>")
        }),
        file_case("SR-1", |given| {
            given.replace_first("</oai:header>", "</oai:header><oai:note>x</oai:note>");
        }),
        file_case("SR-2", |given| {
            given.replace_first("</oai:datestamp>", "</oai:datestamp><oai:setSpec>a</oai:setSpec>")
        }),
        file_case("SR-2", |given| {
            given.replace_first("<oai:header>", "<oai:header status=\"deleted\">")
        }),
        file_case("SR-2", |given| {
            given.replace_first(">no</oai:deletedRecord>", ">transient</oai:deletedRecord>")
        }),
        file_case("SR-2", |given| {
            given.replace_first("</ListRecords>", "<oai:resumptionToken/></ListRecords>")
        }),
        file_case("SR-2", |given| {
            given.replace_first("</oai:datestamp>", "T00:00:00Z</oai:datestamp>")
        }),
        file_case("SR-3", |given| given.replace("\"oai_dc\"", "\"oai_cd\"")),
        file_case("SR-3", |given| {
            given.replace_first("<oai:metadataPrefix>oai_dc<", "<oai:metadataPrefix>dc<")
        }),
        file_case("SR-3", |given| {
            given.replace("misbehave.example.org:1<", "misbehave.example.org:0<")
        }),
        file_case("SR-4", |given| {
            given.replace_first("/oai</oai:baseURL>", "/other</oai:baseURL>")
        }),
        file_case("SR-4", |given| {
            given.replace_first("http://gateway.example.org", "gateway.example.org")
        }),
        file_case("SR-5", |given| {
            given.replace_first(">2020-01-01</oai:earliest", ">2020-01-02</oai:earliest")
        })
        .with_severity(Severity::Error),
        file_case("SR-5", |given| given.remove_header("Last-Modified")).with_severity(Severity::Rec),
        file_case("SR-5", |given| given.status = 200).with_severity(Severity::Rec),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn a_good_file_behind_a_url_has_no_finding() {
    let endpoint = Endpoint::start_bent(world(), Script::new(), serve_file).unwrap();
    let report = validated(&endpoint.url(), |_| {});
    assert!(report.is_clean() && report.could_test, "{}", to_text(&report));
    assert_eq!(report.repository_name.as_deref(), Some("A small archive"));
    assert!(report.requests < 5, "{}", report.requests);
}

/// Judges a text as a file on disk.
fn of_file(text: &str) -> validate::Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.xml");
    std::fs::write(&path, text).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let outside = Outside {
        progress: &mut |_| {},
        stop: &stop,
    };
    validate::file(&path, &Options::default(), outside).unwrap()
}

#[test]
fn a_file_is_judged_where_it_lies() {
    let good = file(
        &world(),
        "http://gateway.example.org/oai/library.example.org/records.xml",
    );
    let report = of_file(&good);
    assert!(report.is_clean() && report.could_test, "{}", to_text(&report));
    assert_eq!(report.requests, 0);
    for (wrong, check) in [
        (good.replacen("</oai:metadata>", "", 1), "SR-1"),
        (
            good.replacen("<oai:protocolVersion>2.0", "<oai:protocolVersion>1.1", 1),
            "SR-1",
        ),
        (good.replacen("YYYY-MM-DD", "YYYY-MM-DDThh:mm:ssZ", 1), "SR-2"),
    ] {
        let report = of_file(&wrong);
        let found: Vec<&str> = report.findings().iter().map(|finding| finding.check.as_str()).collect();
        assert_eq!(found, [check], "{}", to_text(&report));
        assert!(
            report.findings()[0].line.is_some_and(|line| line > 1),
            "{}",
            to_text(&report)
        );
    }
}

#[test]
fn what_is_no_static_repository_could_not_be_tested() {
    for text in [
        "",
        "<a/>",
        "not XML",
        "<?xml version='1.0'?><OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'/>",
    ] {
        let report = of_file(text);
        assert!(!report.could_test && !report.is_clean(), "{text}: {}", to_text(&report));
        assert_eq!(report.findings()[0].check, "SR-1");
    }
}
