//! Without faults, a correct repository; and one process hosts many.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

mod client;

use std::time::{Duration, Instant};

use client::{ask, encode, harvest, pages, post};
use misbehave::{Endpoint, Fast, Fault, Host, Script, When, World};
use stook_oai::Granularity;

const LIST: &str = "verb=ListRecords&metadataPrefix=oai_dc";

fn start(world: World) -> Endpoint {
    Endpoint::start(world, Script::new().page_size(7)).unwrap()
}

#[test]
fn a_naive_harvest_is_exact() {
    for granularity in [Granularity::Second, Granularity::Day] {
        let endpoint = start(World::of(100).with_granularity(granularity));
        for prefix in ["oai_dc", "mods"] {
            let query = format!("verb=ListRecords&metadataPrefix={prefix}");
            let expected = endpoint.world().expected(prefix);
            assert_eq!(harvest(&endpoint.url(), &query), expected);
        }
        assert_eq!(endpoint.world().expected("mods").len(), 50);
    }
}

#[test]
fn pages_tell_their_size_and_place() {
    let endpoint = start(World::of(100));
    let pages = pages(&endpoint.url(), "verb=ListIdentifiers&metadataPrefix=oai_dc");
    assert_eq!(pages.len(), 15);
    for (at, page) in pages.iter().enumerate() {
        assert!(
            page.has(&format!("completeListSize=\"100\" cursor=\"{}\"", at * 7)),
            "{}",
            page.text()
        );
    }
    assert_eq!(pages[14].token().as_deref(), Some(""));
}

#[test]
fn selection_by_date_and_set_is_exact() {
    let endpoint = start(World::of(100));
    let url = endpoint.url();
    let all = endpoint.world().expected("oai_dc");
    let in_maps = |specs: &[String]| specs.iter().any(|spec| spec == "maps" || spec.starts_with("maps:"));
    let maps: Vec<_> = all.iter().filter(|(_, record)| in_maps(&record.set_specs)).collect();
    let got = harvest(&url, &format!("{LIST}&set=maps"));
    assert_eq!(got.iter().collect::<Vec<_>>(), maps);
    let day = 1_577_836_800 + 86_400;
    let first_day = all.values().filter(|record| record.datestamp < day).count();
    assert_eq!(harvest(&url, &format!("{LIST}&until=2020-01-01")).len(), first_day);
    assert_eq!(harvest(&url, &format!("{LIST}&from=2020-01-02")).len(), 100 - first_day);
    assert_eq!(
        ask(&url, &format!("{LIST}&from=2021-01-01")).error().as_deref(),
        Some("noRecordsMatch")
    );
}

#[test]
fn every_verb_is_answered_and_refused_as_the_protocol_says() {
    let endpoint = start(World::of(30));
    let url = endpoint.url();
    assert!(ask(&url, "verb=Identify").has(&format!("<baseURL>{url}</baseURL>")));
    assert_eq!(ask(&url, "verb=ListSets").count("<set>"), 6);
    assert_eq!(ask(&url, "verb=ListMetadataFormats").count("<metadataFormat>"), 2);
    let second = format!("identifier={}", encode("oai:misbehave.example.org:1"));
    assert_eq!(
        ask(&url, &format!("verb=ListMetadataFormats&{second}")).count("<metadataFormat>"),
        1
    );
    assert!(ask(&url, &format!("verb=GetRecord&metadataPrefix=oai_dc&{second}")).has("<dc:title>"));
    assert_eq!(post(&url, "verb=ListSets").count("<set>"), 6);
    for (query, code) in [
        ("verb=Nonsense", "badVerb"),
        ("verb=ListRecords", "badArgument"),
        ("verb=ListRecords&resumptionToken=x", "badResumptionToken"),
        ("verb=ListRecords&metadataPrefix=nope", "cannotDisseminateFormat"),
        (
            "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Ax%3Ay",
            "idDoesNotExist",
        ),
        (
            &format!("verb=GetRecord&metadataPrefix=mods&{second}"),
            "cannotDisseminateFormat",
        ),
    ] {
        assert_eq!(ask(&url, query).error().as_deref(), Some(code), "{query}");
    }
}

#[test]
fn changes_between_pages_make_a_list_neither_skip_nor_repeat() {
    let endpoint = start(World::of(60).at(1_700_000_000));
    let url = endpoint.url();
    let untouched = endpoint.world().identifiers()[30..].to_vec();
    let first = ask(&url, LIST);
    let mut seen = first.identifiers();
    for identifier in &seen[..5] {
        endpoint.world().remove(identifier);
    }
    endpoint.world().delete("oai:misbehave.example.org:20");
    let mut token = first.token();
    while let Some(value) = token.filter(|token| !token.is_empty()) {
        let page = ask(&url, &format!("verb=ListRecords&resumptionToken={value}"));
        seen.extend(page.identifiers());
        token = page.token();
    }
    for identifier in untouched {
        assert_eq!(
            seen.iter().filter(|held| **held == identifier).count(),
            1,
            "{identifier}"
        );
    }
    assert!(harvest(&url, LIST)["oai:misbehave.example.org:20"].deleted);
}

#[test]
fn the_log_tells_what_was_asked() {
    let endpoint = start(World::of(5));
    ask(&endpoint.url(), "verb=Identify&x=%41");
    let asked = endpoint.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        (asked[0].verb.as_str(), asked[0].query.as_str()),
        ("Identify", "verb=Identify&x=%41")
    );
    assert_eq!((asked[0].header("user-agent"), asked[0].status), (Some("naive"), 200));
}

#[test]
fn five_hundred_sources_live_behind_one_listener() {
    let source = |number: u64| {
        let script = Script::new().page_size(50);
        let fault = if number.is_multiple_of(5) {
            script.fault(Fault::NotFound, When::always())
        } else {
            script
        };
        (format!("/{number}/oai"), World::of(20 + number % 7), fault)
    };
    let host = Host::start((0..500).map(source).collect()).unwrap();
    for (number, url) in host.urls().iter().enumerate() {
        let got = ask(url, LIST);
        if number % 5 == 0 {
            assert_eq!(got.status, 404);
        } else {
            assert_eq!(got.count("<record>"), 20 + number % 7);
        }
        assert_eq!(host.requests(number).len(), 1);
    }
    let nowhere = format!("http://{}/nowhere", host.address());
    assert_eq!(ask(&nowhere, LIST).status, 404);
}

#[test]
fn dropping_does_not_wait_for_what_never_ends() {
    let script = Script::new().fault(Fault::SilentServer, When::always());
    let endpoint = Endpoint::start(World::of(5), script).unwrap();
    let url = endpoint.url();
    let client = std::thread::spawn(move || ask(&url, LIST));
    while endpoint.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let started = Instant::now();
    drop(endpoint);
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(client.join().unwrap().status, 0);
}

#[test]
fn the_fast_endpoint_is_correct_too() {
    for page_size in [100, 333, 5_000] {
        let fast = Fast::start(1_234, page_size).unwrap();
        let held = harvest(&fast.url(), LIST);
        assert_eq!(held.len(), 1_234);
        for number in [0, 599, 600, 1_233] {
            let record = &held[&Fast::identifier(number)];
            assert_eq!(record.datestamp, 1_577_836_800 + i64::try_from(number / 100).unwrap());
            let identifier = encode(&Fast::identifier(number));
            let one = ask(
                &fast.url(),
                &format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}"),
            );
            assert!(one.has(std::str::from_utf8(record.metadata.as_ref().unwrap()).unwrap()));
        }
        let window = format!("{LIST}&from=2020-01-01T00:00:02Z&until=2020-01-01T00:00:03Z");
        assert_eq!(harvest(&fast.url(), &window).len(), 200);
        let headers: usize = pages(&fast.url(), "verb=ListIdentifiers&metadataPrefix=oai_dc")
            .iter()
            .map(|page| page.count("<header>"))
            .sum();
        assert_eq!(headers, 1_234);
    }
}
