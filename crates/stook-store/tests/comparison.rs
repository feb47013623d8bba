//! The same operations on a store in a file and on one on a server: every answer is the same, byte for byte.

#![allow(clippy::unwrap_used)]

mod fixture;
mod history;

use fixture::*;
use history::{SETS, Side, Step, step};
use proptest::collection::vec;
use proptest::prelude::*;
use stook_oai::Datestamp;
use stook_store::{Change, Store};
use tempfile::TempDir;
use testserver::Server;

fn pair(hand: &Hand) -> (TempDir, Side, Side) {
    let folder = tempfile::tempdir().unwrap();
    let file = Store::create(&folder.path().join("records.db"), hand.clock()).unwrap();
    let address = Server::shared().fresh_url().parse().unwrap();
    let server = Store::connect(&address, hand.clock()).unwrap();
    (folder, Side::new(file), Side::new(server))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_time: 60_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_stores_give_the_same_answers(steps in vec(step(), 1..25)) {
        let hand = Hand::at(NEW_YEAR);
        let (_folder, file, server) = pair(&hand);
        for step in &steps {
            if let Step::Turn(seconds) = step {
                hand.turn(*seconds);
            }
            prop_assert_eq!(file.take(step), server.take(step), "{:?}", step);
            prop_assert_eq!(file.answers(), server.answers(), "after {:?}", step);
        }
    }
}

/// Many records at once, so that a dictionary is trained and lists are longer than what is fetched at once.
#[test]
fn both_stores_give_the_same_long_lists() {
    let hand = Hand::at(NEW_YEAR);
    let (_folder, file, server) = pair(&hand);
    for round in 0..3_i64 {
        let batch = (0..2_500).filter(|number| round == 0 || number % 3 == 0);
        let changes: Vec<Change> = batch
            .map(|number| live(number, &[SETS[number % 5]], &format!("<map>{number} {round}</map>")))
            .collect();
        hand.turn(round);
        for side in [&file, &server] {
            side.store.apply(side.maps, changes.clone()).unwrap();
        }
    }
    for within in [None].into_iter().chain(SETS.map(Some)) {
        let one = list_of(&file.store, file.maps, "oai_dc", within);
        assert_eq!(one, list_of(&server.store, server.maps, "oai_dc", within), "{within:?}");
        assert!(!one.is_empty() && one.iter().all(|seen| seen.datestamp >= NEW_YEAR));
    }
    assert_eq!(faults(&server.store), Vec::<String>::new());
    let dates: Vec<Datestamp> = [&file, &server]
        .map(|side| side.store.read().unwrap().response_date())
        .to_vec();
    assert_eq!(dates[0], dates[1]);
}
