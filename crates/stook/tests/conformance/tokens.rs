//! How lists go on when time passes, the store is opened again, and records change between two pages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use stook::config::Repository;
use stook::provider::Provider;
use stook_metadata::Formats;
use stook_oai::Datestamp;
use stook_oai::ErrorCode::{BadResumptionToken, NoRecordsMatch};
use stook_store::{Clock, Store};

use crate::support::answer::{Seen, granted, pages, refused, resume, whole_list};
use crate::support::{Bench, deleted, plain_settings, titled};

const LIST: &str = "verb=ListRecords&metadataPrefix=oai_dc";
const MAPS: &str = "verb=ListRecords&metadataPrefix=oai_dc&set=maps";
const HOUR: Duration = Duration::from_secs(3_600);

/// Records 00, 01, … in the set maps, a second apart.
fn shelf(count: usize, page_size: usize) -> (Bench, Provider) {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(plain_settings(page_size));
    for number in 0..count {
        bench.hand.turn(Duration::from_secs(1));
        bench.apply(&provider, vec![titled(&local(number), &["maps"], "As it was")]);
    }
    bench.hand.turn_to("2024-03-02T08:00:00Z");
    (bench, provider)
}

fn local(number: usize) -> String {
    format!("{number:02}")
}

fn next(provider: &Provider, page: &Seen) -> Seen {
    granted(provider, &resume("ListRecords", page.next_token().unwrap()))
}

/// Changes records an hour later.
fn change(bench: &Bench, provider: &Provider, numbers: impl IntoIterator<Item = usize>, sets: &[&str], title: &str) {
    bench.hand.turn(HOUR);
    let changes = numbers
        .into_iter()
        .map(|number| titled(&local(number), sets, title))
        .collect();
    bench.apply(provider, changes);
}

#[test]
fn a_token_works_until_it_expires_and_no_longer() {
    let (bench, provider) = shelf(5, 3);
    let first = granted(&provider, LIST);
    let token = first.token.as_ref().unwrap();
    assert_eq!(
        token.expiration_date.unwrap().unix() - first.response_date.unix(),
        48 * 3_600
    );
    let query = resume("ListRecords", &token.value);
    bench.hand.turn(48 * HOUR);
    assert_eq!(granted(&provider, &query).locals(), ["03", "04"]);
    bench.hand.turn(Duration::from_secs(1));
    let seen = refused(&provider, &query, &[BadResumptionToken]);
    assert!(
        seen.document.contains("expired at 2024-03-04T08:00:00Z"),
        "{}",
        seen.document
    );
}

#[test]
fn each_page_gives_a_token_that_lasts_as_long_from_then() {
    let (bench, provider) = shelf(7, 3);
    let first = granted(&provider, LIST);
    bench.hand.turn(40 * HOUR);
    let second = next(&provider, &first);
    bench.hand.turn(40 * HOUR);
    assert_eq!(next(&provider, &second).locals(), ["06"]);
}

#[test]
fn a_token_works_after_the_store_was_opened_again() {
    let (bench, provider) = shelf(5, 3);
    let query = resume("ListRecords", granted(&provider, LIST).next_token().unwrap());
    let expected = granted(&provider, &query).document;
    drop(provider);
    assert_eq!(granted(&bench.reopened(plain_settings(3)), &query).document, expected);
    // A new page size holds from the next page on.
    let smaller = bench.reopened(plain_settings(1));
    assert_eq!(granted(&smaller, &query).locals(), ["03"]);
}

#[test]
fn a_token_of_another_repository_is_refused() {
    let (bench, provider) = shelf(5, 3);
    let token = granted(&provider, LIST).next_token().unwrap().to_owned();
    let other = Repository {
        name: "other".to_owned(),
        path: "/other".to_owned(),
        ..plain_settings(3)
    };
    let other = bench.provider(other);
    bench.apply(
        &other,
        (0..9)
            .map(|number| titled(&local(number), &["maps"], "Other"))
            .collect(),
    );
    refused(&other, &resume("ListRecords", &token), &[BadResumptionToken]);
    // The same name in another store: another secret.
    let (_elsewhere, namesake) = shelf(5, 3);
    refused(&namesake, &resume("ListRecords", &token), &[BadResumptionToken]);
}

#[test]
fn a_repository_shows_nothing_of_its_neighbour() {
    let (bench, provider) = shelf(5, 3);
    let other = Repository {
        name: "other".to_owned(),
        path: "/other".to_owned(),
        ..plain_settings(3)
    };
    let other = bench.provider(other);
    refused(&other, LIST, &[NoRecordsMatch]);
    bench.apply(&other, vec![titled("00", &[], "Other")]);
    let seen = granted(&other, LIST);
    assert_eq!(seen.locals(), ["00"]);
    assert!(seen.document.contains("Other"));
    assert_eq!(whole_list(&provider, LIST).len(), 5);
    refused(&other, "verb=ListSets", &[stook_oai::ErrorCode::NoSetHierarchy]);
}

#[test]
fn lists_of_any_length_end_with_records() {
    let (_bench, provider) = shelf(13, 1);
    for page_size in 1..=14 {
        let provider =
            Provider::open(provider.store().clone(), plain_settings(page_size), &Formats::default()).unwrap();
        let pages = pages(&provider, LIST);
        let sizes: Vec<usize> = pages.iter().map(|page| page.records.len()).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 13);
        assert_eq!(sizes.len(), 13_usize.div_ceil(page_size));
        assert!(
            sizes[..sizes.len() - 1].iter().all(|size| *size == page_size),
            "{sizes:?}"
        );
        assert_eq!(pages[0].token.is_some(), page_size < 13);
    }
}

#[test]
fn what_changes_between_two_pages_leaves_the_rest_as_it_was() {
    let (bench, provider) = shelf(10, 3);
    let first = granted(&provider, LIST);
    // One record already delivered, one of the next page, one of the last.
    change(&bench, &provider, [1, 4, 9], &["maps"], "New");
    let second = next(&provider, &first);
    assert_eq!(second.locals(), ["03", "05", "06"]);
    let third = next(&provider, &second);
    assert_eq!(third.locals(), ["07", "08"]);
    let end = third.token.as_ref().unwrap();
    assert_eq!(
        (end.value.as_str(), end.cursor, end.complete_list_size),
        ("", Some(6), Some(8))
    );
    // What moved comes with the next harvest, which begins where this one did.
    let again = whole_list(&provider, &format!("{LIST}&from={}", first.response_date));
    assert_eq!(again, ["01", "04", "09"]);
}

#[test]
fn a_harvest_during_changes_ends_with_the_state_of_the_repository() {
    let (bench, provider) = shelf(12, 3);
    let mut copy: BTreeMap<String, (bool, Option<String>)> = BTreeMap::new();
    let mut store = |page: &Seen| {
        for record in &page.records {
            let value = (record.header.deleted, record.metadata.clone());
            copy.insert(record.header.identifier.to_string(), value);
        }
    };
    let mut page = granted(&provider, LIST);
    let since = page.response_date;
    store(&page);
    for round in 0..20 {
        change(
            &bench,
            &provider,
            [round % 12, (round * 5) % 12],
            &["maps"],
            &format!("Round {round}"),
        );
        bench.apply(
            &provider,
            vec![
                deleted(&local((round * 7) % 12)),
                titled(&format!("new-{round}"), &[], "New"),
            ],
        );
        if page.next_token().is_none() {
            break;
        }
        page = next(&provider, &page);
        store(&page);
    }
    assert!(page.next_token().is_none(), "a list that is being changed still ends");
    for page in pages(&provider, &format!("{LIST}&from={since}")) {
        store(&page);
    }
    let mut truth = BTreeMap::new();
    for page in pages(&provider, LIST) {
        for record in page.records {
            truth.insert(
                record.header.identifier.to_string(),
                (record.header.deleted, record.metadata),
            );
        }
    }
    assert_eq!(copy, truth);
}

#[test]
fn a_list_whose_whole_rest_has_changed_goes_on_with_the_changed_records() {
    let (bench, provider) = shelf(7, 3);
    let first = granted(&provider, LIST);
    change(&bench, &provider, 3..7, &["maps"], "New");
    let second = next(&provider, &first);
    assert_eq!(second.locals(), ["03", "04", "05"]);
    let third = next(&provider, &second);
    assert_eq!(third.locals(), ["06"]);
    assert_eq!(third.token.as_ref().unwrap().value, "");
    // Deletions are changes too.
    bench.hand.turn(HOUR);
    bench.apply(&provider, (3..7).map(|number| deleted(&local(number))).collect());
    let second = next(&provider, &first);
    assert_eq!(second.locals(), ["03", "04", "05"]);
    assert!(second.headers.iter().all(|header| header.deleted));
}

#[test]
fn a_list_up_to_a_date_does_not_go_on_past_it() {
    let (bench, provider) = shelf(5, 3);
    let first = granted(&provider, &format!("{LIST}&until=2024-03-01"));
    let second = resume("ListRecords", first.next_token().unwrap());
    // Still within the life of the token, past the until of the request.
    bench.hand.turn_to("2024-03-03T00:00:00Z");
    bench.apply(
        &provider,
        vec![titled("03", &["maps"], "New"), titled("04", &["maps"], "New")],
    );
    refused(&provider, &second, &[BadResumptionToken]);
}

#[test]
fn a_list_of_a_set_that_was_emptied_is_refused_rather_than_empty() {
    let (bench, provider) = shelf(5, 3);
    let first = granted(&provider, MAPS);
    let second = resume("ListRecords", first.next_token().unwrap());
    change(&bench, &provider, 3..5, &["elsewhere"], "As it was");
    refused(&provider, &second, &[BadResumptionToken]);
    // When something has come into the set meanwhile, the list goes on with that.
    change(&bench, &provider, [4], &["maps"], "Back again");
    assert_eq!(granted(&provider, &second).locals(), ["04"]);
}

#[test]
fn leaving_a_set_shows_in_the_whole_list_and_the_new_set() {
    let (bench, provider) = shelf(2, 5);
    let since = granted(&provider, LIST).response_date;
    change(&bench, &provider, [0], &["elsewhere"], "As it was");
    assert_eq!(granted(&provider, MAPS).locals(), ["01"]);
    assert_eq!(granted(&provider, &format!("{LIST}&from={since}")).locals(), ["00"]);
    assert_eq!(granted(&provider, &format!("{LIST}&set=elsewhere")).locals(), ["00"]);
}

#[test]
fn an_answer_is_ended_when_it_reaches_its_size() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let settings = Repository {
        page_kilobytes: 64,
        ..plain_settings(100)
    };
    let provider = bench.provider(settings);
    let long = |kilobytes: usize| "x".repeat(kilobytes * 1024);
    let changes = (0..7)
        .map(|number| titled(&local(number), &["maps"], &long(30)))
        .collect();
    bench.apply(&provider, changes);
    bench.apply(
        &provider,
        vec![titled("07", &["maps"], &long(300)), titled("08", &["maps"], "short")],
    );
    let pages = pages(&provider, LIST);
    let sizes: Vec<usize> = pages.iter().map(|page| page.records.len()).collect();
    assert_eq!(sizes, [3, 3, 2, 1]);
    for page in &pages {
        let last = page.records.last().unwrap().metadata.as_ref().unwrap().len();
        assert!(
            page.document.len() < 64 * 1024 + last + 4096,
            "at most one record past the size"
        );
        assert_eq!(page.token.as_ref().unwrap().complete_list_size, Some(9));
    }
    // Headers are short: their pages are counted, not measured.
    assert_eq!(
        whole_list(&provider, "verb=ListIdentifiers&metadataPrefix=oai_dc").len(),
        9
    );
}

#[test]
fn lists_of_sets_go_on_when_sets_come_and_go() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let settings = Repository {
        set_page_size: 2,
        ..plain_settings(10)
    };
    let provider = bench.provider(settings);
    let define = |spec: &str| bench.define_set(&provider, spec, spec, vec![]);
    let remove = |spec: &str| {
        bench
            .store
            .remove_set(provider.repository(), &crate::support::set_spec(spec))
            .unwrap()
    };
    ["a", "b", "c", "d", "e"].into_iter().for_each(define);
    let first = granted(&provider, "verb=ListSets");
    let specs = |page: &Seen| page.sets.iter().map(|set| set.spec.to_string()).collect::<Vec<_>>();
    assert_eq!(specs(&first), ["a", "b"]);
    let second = resume("ListSets", first.next_token().unwrap());
    // The last set delivered goes, one comes before it and one after it.
    assert!(remove("b"));
    ["aa", "cc"].into_iter().for_each(define);
    assert_eq!(specs(&granted(&provider, &second)), ["c", "cc"]);
    // All the rest goes: an empty list cannot be said.
    for spec in ["c", "cc", "d", "e"] {
        assert!(remove(spec));
    }
    refused(&provider, &second, &[BadResumptionToken]);
    // And when no set is left at all, that is what is said.
    assert!(remove("a") && remove("aa"));
    refused(&provider, &second, &[stook_oai::ErrorCode::NoSetHierarchy]);
}

/// A harvester takes the date of an answer without records as the beginning of its next harvest. A date later than
/// what was looked at would hide what was published in between.
#[test]
fn an_answer_without_records_is_dated_by_what_it_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let seconds = Arc::new(AtomicI64::new(1_700_000_000));
    let hand = seconds.clone();
    // Every look at this clock costs a second.
    let clock = Clock::new(move || Datestamp::from_unix(hand.fetch_add(1, Ordering::SeqCst)).unwrap());
    let store = Store::create(&folder.path().join("records.db"), clock).unwrap();
    let provider = Provider::open(store, plain_settings(3), &Formats::default()).unwrap();
    for query in [
        LIST,
        "verb=Identify",
        "verb=ListSets",
        "verb=GetRecord&metadataPrefix=x&identifier=y",
        "verb=x",
    ] {
        let before = seconds.load(Ordering::SeqCst);
        let document = provider.answer(query.as_bytes()).unwrap().xml;
        assert_eq!(Seen::read(&document).response_date.unix(), before, "{query}");
    }
}
