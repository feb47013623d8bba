//! Answers from replicas, as the provider makes them; `nodes` has the built program do it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod support;

use std::thread;
use std::time::{Duration, Instant};

use stook::provider::Provider;
use stook_metadata::Formats;
use stook_store::{Clock, PostgresAddress, Store};
use support::{encoded, encoded_identifier, plain_settings, titled};
use testserver::Server;

/// A provider that answers from these replicas.
fn provider(primary: &Server, replicas: &[&Server]) -> Provider {
    let address: PostgresAddress = primary.url().parse().unwrap();
    let replicas: Vec<PostgresAddress> = replicas.iter().map(|replica| replica.url().parse().unwrap()).collect();
    let store = Store::connect_with_replicas(&address, &replicas, Clock::system()).unwrap();
    Provider::open(store, plain_settings(2), &Formats::default()).unwrap()
}

fn wait_for_replica(provider: &Provider) {
    let began = Instant::now();
    let store = provider.store();
    let last = store.read().unwrap().last();
    while !store.replicas()[0].is_close() || store.read_replica().unwrap().last() < last {
        assert!(began.elapsed() < Duration::from_secs(30), "the replica does not follow");
        thread::sleep(Duration::from_millis(20));
    }
}

fn ask(provider: &Provider, query: &str) -> String {
    String::from_utf8(provider.answer(query.as_bytes()).unwrap().xml).unwrap()
}

fn token(answer: &str) -> Option<String> {
    let (_, rest) = answer.split_once("<resumptionToken")?;
    let (_, rest) = rest.split_once('>')?;
    let (token, _) = rest.split_once('<')?;
    (!token.is_empty()).then(|| encoded(token))
}

#[test]
fn a_list_is_not_continued_by_a_replica_that_has_not_come_as_far() {
    let primary = Server::start().unwrap();
    let (near, far) = (primary.replica().unwrap(), primary.replica().unwrap());
    let (ahead, behind) = (provider(&primary, &[&near]), provider(&primary, &[&far]));
    let publish = |numbers: std::ops::Range<u32>| {
        let changes = numbers.map(|number| titled(&number.to_string(), &[], "A map"));
        ahead.store().apply(ahead.repository(), changes.collect()).unwrap();
    };
    publish(0..3);
    wait_for_replica(&behind);
    far.run_on_replica("SELECT pg_wal_replay_pause()").unwrap();
    publish(3..9);
    wait_for_replica(&ahead);

    let first = ask(&ahead, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    let listed = ask(&behind, "verb=ListIdentifiers&metadataPrefix=oai_dc");
    assert!(first.contains("completeListSize=\"9\""), "{first}");
    assert!(
        listed.contains("completeListSize=\"3\""),
        "not answered from the replica: {listed}"
    );
    // One node gave the token out, the other has to go on.
    let (mut identifiers, mut next) = (first.matches("<identifier>").count(), token(&first));
    while let Some(token) = next {
        let page = ask(&behind, &format!("verb=ListIdentifiers&resumptionToken={token}"));
        identifiers += page.matches("<identifier>").count();
        next = self::token(&page);
    }
    assert_eq!(identifiers, 9);
    // Who asks for a record that was listed elsewhere is not told that there is none.
    let query = format!(
        "verb=GetRecord&metadataPrefix=oai_dc&identifier={}",
        encoded_identifier("8")
    );
    assert!(ask(&behind, &query).contains("A map"));
    let query = format!("verb=ListMetadataFormats&identifier={}", encoded_identifier("8"));
    assert!(ask(&behind, &query).contains("oai_dc"));
}
