//! Checks of lists in pages: group F.

use std::collections::BTreeSet;

use stook_oai::ErrorCode::{BadArgument, BadResumptionToken};

use crate::Check;
use crate::scene::{NOW, Scene};
use crate::support::answer::{Seen, granted, pages, refused, resume};
use crate::support::{datestamp, encoded, set_spec};

pub const CHECKS: &[Check] = &[
    ("F-1", the_token_comes_last),
    ("F-2", a_first_page_has_no_empty_token),
    ("F-3", every_page_has_members),
    ("F-4", the_last_page_of_several_has_an_empty_token),
    ("F-5", no_token_repeats),
    ("F-6", pages_make_up_the_list),
    ("F-7", the_cursor_counts_what_came_before),
    ("F-8", the_size_is_true),
    ("F-9", tokens_expire_in_the_future),
    ("F-10", tokens_expire_in_the_future),
    ("F-11", tokens_expire_in_the_future),
    ("F-12", a_token_can_be_sent_again),
    ("F-13", a_token_can_be_sent_again),
    ("F-15", a_token_wants_no_company),
    ("F-17", a_token_is_for_its_verb),
    ("F-18", a_damaged_token_is_refused),
    ("F-19", tokens_survive_any_encoding),
    ("F-21", pages_are_of_the_size_that_harvesters_expect),
    ("F-22", pages_are_of_the_size_that_harvesters_expect),
    ("F-23", later_pages_keep_to_the_selection),
    ("F-25", a_list_of_whole_pages_ends_with_a_page),
];

/// Lists of several pages.
fn lists(scene: &Scene) -> Vec<&'static str> {
    let mut lists = vec![
        "verb=ListRecords&metadataPrefix=oai_dc",
        "verb=ListIdentifiers&metadataPrefix=oai_dc",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2024-03-01&until=2024-04-30",
        "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2024-03-02",
    ];
    if scene.sets {
        lists.push("verb=ListSets");
        lists.push("verb=ListRecords&metadataPrefix=oai_dc&set=a");
        lists.push("verb=ListIdentifiers&metadataPrefix=oai_dc&set=a%3Ab&until=2024-04-30");
    }
    lists
}

fn each_list(scene: &Scene, mut see: impl FnMut(&str, Vec<Seen>)) {
    for query in lists(scene) {
        let pages = pages(&scene.provider, query);
        assert!(pages.len() > 1, "{query}");
        see(query, pages);
    }
}

fn verb(query: &str) -> &str {
    query.split(['=', '&']).nth(1).unwrap()
}

/// What a page holds: identifiers or setSpecs.
fn members(page: &Seen) -> Vec<String> {
    let headers = page.headers.iter().map(|header| header.identifier.to_string());
    headers
        .chain(page.sets.iter().map(|set| set.spec.to_string()))
        .collect()
}

fn the_token_comes_last(scene: &Scene) {
    each_list(scene, |query, pages| {
        for page in pages {
            assert_eq!(page.body().all("resumptionToken").count(), 1, "{query}");
            assert_eq!(page.body().children.last().unwrap().name, "resumptionToken", "{query}");
        }
    });
}

fn a_first_page_has_no_empty_token(scene: &Scene) {
    each_list(scene, |query, pages| {
        assert!(pages[0].next_token().is_some(), "{query}")
    });
    // A list of one page has no token at all.
    for query in [
        "verb=ListRecords&metadataPrefix=mods",
        "verb=ListIdentifiers&metadataPrefix=mods&from=2024-03-20",
    ] {
        assert!(scene.granted(query).token.is_none(), "{query}");
    }
}

fn every_page_has_members(scene: &Scene) {
    each_list(scene, |query, pages| {
        for page in pages {
            assert!(!members(&page).is_empty(), "{query}");
        }
    });
}

fn the_last_page_of_several_has_an_empty_token(scene: &Scene) {
    each_list(scene, |query, pages| {
        let token = pages.last().unwrap().token.as_ref();
        assert_eq!(token.map(|token| token.value.as_str()), Some(""), "{query}");
    });
}

fn no_token_repeats(scene: &Scene) {
    each_list(scene, |query, pages| {
        let tokens: Vec<&str> = pages.iter().filter_map(Seen::next_token).collect();
        assert_eq!(tokens.iter().collect::<BTreeSet<_>>().len(), tokens.len(), "{query}");
        assert_eq!(tokens.len(), pages.len() - 1, "{query}");
    });
}

fn pages_make_up_the_list(scene: &Scene) {
    each_list(scene, |query, pages| {
        let all: Vec<String> = pages.iter().flat_map(members).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{query}");
        let size = pages[0].token.as_ref().unwrap().complete_list_size;
        assert_eq!(size, Some(all.len() as u64), "{query}");
    });
}

fn the_cursor_counts_what_came_before(scene: &Scene) {
    each_list(scene, |query, pages| {
        let mut before = 0;
        for page in pages {
            assert_eq!(page.token.as_ref().unwrap().cursor, Some(before), "{query}");
            before += members(&page).len() as u64;
        }
    });
}

fn the_size_is_true(scene: &Scene) {
    each_list(scene, |query, pages| {
        let real = pages.iter().map(|page| members(page).len() as u64).sum();
        for page in pages {
            assert_eq!(page.token.as_ref().unwrap().complete_list_size, Some(real), "{query}");
        }
    });
}

fn tokens_expire_in_the_future(scene: &Scene) {
    each_list(scene, |query, pages| {
        for page in pages.iter().filter(|page| page.next_token().is_some()) {
            let token = page.body().one("resumptionToken");
            let expires = datestamp(token.attribute("expirationDate").unwrap());
            assert_eq!(expires.unix() - datestamp(NOW).unix(), 48 * 3_600, "{query}");
            assert!(token.attribute("completeListSize").is_some(), "{query}");
        }
    });
}

fn a_token_can_be_sent_again(scene: &Scene) {
    each_list(scene, |query, pages| {
        // Twice in a row, and again when later ones have been used.
        for (page, next) in pages.iter().zip(&pages[1..]) {
            let query = resume(verb(query), page.next_token().unwrap());
            for _ in 0..2 {
                assert_eq!(granted(&scene.provider, &query).document, next.document, "{query}");
            }
        }
    });
}

fn a_token_wants_no_company(scene: &Scene) {
    let token = scene.granted("verb=ListRecords&metadataPrefix=oai_dc");
    let query = resume("ListRecords", token.next_token().unwrap());
    for company in [
        "&metadataPrefix=oai_dc",
        "&until=2024-12-31",
        "&from=2024-01-01",
        "&set=a",
        "&x=1",
    ] {
        refused(&scene.provider, &format!("{query}{company}"), &[BadArgument]);
    }
    let twice = format!("{query}&{}", query.split_once('&').unwrap().1);
    refused(&scene.provider, &twice, &[BadArgument]);
}

fn a_token_is_for_its_verb(scene: &Scene) {
    each_list(scene, |query, pages| {
        let token = pages[0].next_token().unwrap();
        for other in ["ListRecords", "ListIdentifiers", "ListSets"] {
            if other != verb(query) && (other != "ListSets" || scene.sets) {
                refused(&scene.provider, &resume(other, token), &[BadResumptionToken]);
            }
        }
    });
}

fn a_damaged_token_is_refused(scene: &Scene) {
    each_list(scene, |query, pages| {
        // One list of each kind of token: there is a lot to damage.
        if query.contains("from=") || query.contains("set=") {
            return;
        }
        let token = pages[0].next_token().unwrap();
        let refuse = |damaged: &str| {
            assert_ne!(damaged, token);
            refused(&scene.provider, &resume(verb(query), damaged), &[BadResumptionToken]);
        };
        for place in 0..token.len() {
            for other in ["A", "_", "+", " "] {
                let damaged = format!("{}{other}{}", &token[..place], &token[place + 1..]);
                if damaged != token {
                    refuse(&damaged);
                }
            }
            refuse(&token[..place]);
            refuse(&token[place + 1..]);
        }
        for more in ["A", "=", "==", " ", "é", "AAAA"] {
            refuse(&format!("{token}{more}"));
            refuse(&format!("{more}{token}"));
        }
        refuse(&token.to_uppercase());
        refuse(&token.chars().rev().collect::<String>());
    });
}

fn tokens_survive_any_encoding(scene: &Scene) {
    each_list(scene, |query, pages| {
        let token = pages[0].next_token().unwrap();
        let every_byte: String = token.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for sent in [token, every_byte.as_str(), encoded(token).as_str()] {
            let query = format!("verb={}&resumptionToken={sent}", verb(query));
            assert_eq!(members(&granted(&scene.provider, &query)), members(&pages[1]));
        }
    });
}

fn pages_are_of_the_size_that_harvesters_expect(_: &Scene) {
    // What a repository has that sets nothing; F-22 is left to the operator, because a page costs the same anywhere.
    let page_size = stook::config::Repository::default().page_size;
    assert!((100..=500).contains(&page_size));
}

fn later_pages_keep_to_the_selection(scene: &Scene) {
    let from = "verb=ListRecords&metadataPrefix=oai_dc&from=2024-03-02&until=2024-04-10";
    for header in scene.headers(from) {
        let day = &header.datestamp.to_string()[..10];
        assert!(("2024-03-02"..="2024-04-10").contains(&day), "{header:?}");
    }
    if scene.sets {
        let wanted = set_spec("a:b");
        let headers = scene.headers("verb=ListIdentifiers&metadataPrefix=oai_dc&set=a%3Ab");
        assert!(headers.len() > 4);
        for header in headers {
            assert!(header.set_specs.iter().any(|spec| wanted.contains(spec)), "{header:?}");
        }
    }
}

fn a_list_of_whole_pages_ends_with_a_page(scene: &Scene) {
    // Eight records in pages of four: two pages and no more.
    let list = "verb=ListRecords&metadataPrefix=oai_dc&from=2024-03-01&until=2024-03-31";
    let pages = pages(&scene.provider, list);
    assert_eq!(pages.iter().map(|page| page.records.len()).collect::<Vec<_>>(), [4, 4]);
    assert_eq!(pages[1].token.as_ref().unwrap().value, "");
}
