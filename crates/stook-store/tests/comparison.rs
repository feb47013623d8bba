//! The same operations on a store in a file and on one on a server: every answer is the same, byte for byte.

#![allow(clippy::unwrap_used)]

mod fixture;

use fixture::*;
use proptest::collection::vec;
use proptest::prelude::*;
use stook_oai::{Datestamp, Set};
use stook_store::{Beside, Change, Note, Outcome, Quarantined, RepositoryId, Span, Store};
use tempfile::TempDir;
use testserver::Server;

const SETS: [&str; 5] = ["a", "a:x", "a:x:1", "ab", "b"];
const FORMATS: [&str; 2] = ["oai_dc", "mods"];
const NUMBERS: usize = 8;

/// One operation.
#[derive(Clone, Debug)]
enum Step {
    Apply(Vec<Change>),
    /// An import of batches that deletes what it does not mention, in these sets if there are any.
    Sync(Vec<Vec<Change>>, Vec<&'static str>),
    /// As a harvest commits.
    Commit(Vec<Change>, Beside),
    Name(&'static str, String),
    Remove(&'static str),
    Turn(i64),
    ClearQuarantine,
}

fn changes() -> impl Strategy<Value = Change> {
    let sets = proptest::sample::subsequence(&SETS[..], 0..=SETS.len());
    (0..NUMBERS, sets, 0..6_usize, 0..3_usize, 0..4_usize).prop_map(|(number, sets, what, version, format)| {
        let change = match what {
            0..=2 => live(number, &sets, &format!("<map>{version} é</map>")),
            3 => into_sets(&sets, deleted(number)),
            4 => into_sets(&sets, erased(number)),
            _ => into_sets(&sets, restored(number)),
        };
        as_format(FORMATS[usize::from(format == 0)], change)
    })
}

fn beside() -> impl Strategy<Value = Beside> {
    let note = (0..4_usize, proptest::option::of("[a-z]{0,5}")).prop_map(|(key, text)| Note {
        key: format!("note/{key}"),
        text,
    });
    let broken =
        (0..NUMBERS, proptest::option::of(Just(())), 0..3_u8).prop_map(|(number, named, excerpt)| Quarantined {
            source: "https://example.org/oai".into(),
            line: 0,
            identifier: named.map(|()| identifier(number).as_str().to_owned()),
            reason: "it is broken".into(),
            excerpt: vec![excerpt],
        });
    let released = (0..NUMBERS).prop_map(|number| identifier(number).as_str().to_owned());
    (vec(note, 0..3), vec(broken, 0..3), vec(released, 0..2)).prop_map(|(notes, quarantined, released)| Beside {
        notes,
        quarantined,
        released,
    })
}

/// Of changes to the same record only one, as such a commit wants it.
fn distinct(changes: Vec<Change>) -> Vec<Change> {
    let mut kept: Vec<Change> = Vec::new();
    for change in changes {
        let same = |other: &Change| other.identifier == change.identifier && other.prefix == change.prefix;
        if !kept.iter().any(same) {
            kept.push(change);
        }
    }
    kept
}

fn step() -> impl Strategy<Value = Step> {
    let some_set = || proptest::sample::select(&SETS[..]);
    prop_oneof![
        5 => vec(changes(), 0..8).prop_map(Step::Apply),
        2 => (vec(vec(changes(), 0..6), 1..3), vec(some_set(), 0..3)).prop_map(|(batches, sets)| Step::Sync(batches, sets)),
        3 => (vec(changes(), 0..8), beside()).prop_map(|(changes, beside)| Step::Commit(distinct(changes), beside)),
        1 => (some_set(), "[a-zé]{0,6}").prop_map(|(set, name)| Step::Name(set, name)),
        1 => some_set().prop_map(Step::Remove),
        3 => (-3..9_i64).prop_map(Step::Turn),
        1 => Just(Step::ClearQuarantine),
    ]
}

/// One of the two stores.
struct Side {
    store: Store,
    maps: RepositoryId,
}

impl Side {
    fn new(store: Store) -> Side {
        let maps = store.declare_repository("maps").unwrap();
        for name in FORMATS {
            store.declare_format(maps, &format(name)).unwrap();
        }
        Side { store, maps }
    }

    /// Does it and says everything it hears.
    fn take(&self, step: &Step) -> String {
        let (store, maps) = (&self.store, self.maps);
        match step {
            Step::Apply(changes) => format!("{:?}", store.apply(maps, changes.clone()).unwrap()),
            Step::Sync(batches, within) => {
                let encoder = store.encoder(maps);
                let mut importer = store.importer(maps).unwrap();
                let commit = |batch: &Vec<Change>| importer.commit(&encoder.encode(batch.clone()).unwrap()).unwrap();
                let outcomes: Vec<Vec<Outcome>> = batches.iter().map(commit).collect();
                let vanished = importer.vanished(&[oai_dc()], &sets(within)).unwrap();
                let deleted = importer.delete_vanished(|_| {}).unwrap();
                format!("{outcomes:?} {vanished:?} {deleted}")
            }
            Step::Commit(changes, beside) => {
                let batch = store.encoder(maps).encode(changes.clone()).unwrap();
                format!("{:?}", store.commit(&batch, beside).unwrap())
            }
            Step::Name(spec, name) => {
                let set = Set {
                    spec: set(spec),
                    name: name.clone(),
                    descriptions: vec![format!("<a>{name}</a>")],
                };
                format!("{:?}", store.define_set(maps, &set).is_ok())
            }
            Step::Remove(spec) => format!(
                "{:?}",
                store.remove_set(maps, &set(spec)).map_err(|error| error.to_string())
            ),
            Step::Turn(_) => String::new(),
            Step::ClearQuarantine => format!("{:?}", store.clear_quarantine(maps).unwrap()),
        }
    }

    /// Everything that can be asked.
    fn answers(&self) -> Vec<String> {
        let (store, maps) = (&self.store, self.maps);
        let mut answers = Vec::new();
        let mut snapshot = store.read().unwrap();
        answers.push(format!("{} {:?}", snapshot.response_date(), snapshot.last()));
        answers.push(format!("{:?}", snapshot.facts(maps).unwrap().earliest_datestamp));
        answers.push(format!("{:?}", snapshot.sets(maps, None, 100).unwrap()));
        answers.push(format!("{:?}", snapshot.sets(maps, Some(&set("a:x")), 2).unwrap()));
        answers.push(format!("{:?}", snapshot.formats(maps).unwrap()));
        for format in FORMATS {
            let format = prefix(format);
            answers.push(format!("{:?}", snapshot.deleted(maps, &format).unwrap()));
            for within in [None].into_iter().chain(SETS.map(Some)) {
                let within = within.map(set);
                let Some(list) = snapshot.list(maps, &format, within.as_ref()).unwrap() else {
                    answers.push("no list".into());
                    continue;
                };
                let all = in_pages(&mut snapshot, list, Span::ALL, 3);
                answers.push(format!(
                    "{within:?} {} {all:?}",
                    snapshot.count(list, Span::ALL).unwrap()
                ));
                for pair in all.windows(3) {
                    let span = Span {
                        after: pair[0].position,
                        through: pair[2].position,
                    };
                    answers.push(format!("{}", snapshot.count(list, span).unwrap()));
                }
            }
            for number in 0..NUMBERS {
                let identifier = identifier(number);
                answers.push(format!(
                    "{:?}",
                    snapshot.known(maps, &format, identifier.as_str()).unwrap()
                ));
                answers.push(format!("{:?}", snapshot.formats_of(maps, identifier.as_str()).unwrap()));
            }
        }
        drop(snapshot);
        answers.push(format!("{:?}", store.notes(maps, "note/").unwrap()));
        store
            .quarantined(maps, |entry| answers.push(format!("{entry:?}")))
            .unwrap();
        answers.push(format!("{} {:?}", store.quarantine_count(maps).unwrap(), faults(store)));
        answers
    }
}

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
