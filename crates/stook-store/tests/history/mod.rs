//! Random operations, for stores that must come to the same by them.

// Each test program uses its own part of this.
#![allow(dead_code)]

use proptest::collection::vec;
use proptest::prelude::*;
use stook_oai::Set;
use stook_store::{Beside, Change, Content, Note, Origin, Outcome, Quarantined, RepositoryId, Span, Store};

use super::fixture::*;

pub(crate) const SETS: [&str; 5] = ["a", "a:x", "a:x:1", "ab", "b"];
pub(crate) const FORMATS: [&str; 2] = ["oai_dc", "mods"];
const NUMBERS: usize = 8;

/// One operation.
#[derive(Clone, Debug)]
pub(crate) enum Step {
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
    (0..NUMBERS, sets, 0..8_usize, 0..3_usize, 0..4_usize).prop_map(|(number, sets, what, version, format)| {
        let change = match what {
            0..=2 => live(number, &sets, &format!("<map>{version} é</map>")),
            3 => into_sets(&sets, deleted(number)),
            4 => into_sets(&sets, erased(number)),
            6 => derived(live(number, &sets, &format!("<map>{version} é</map>"))),
            5 => harvested(live(number, &sets, &format!("<map>{version}</map>")), version),
            _ => into_sets(&sets, restored(number)),
        };
        as_format(FORMATS[usize::from(format == 0)], change)
    })
}

/// The same change as a harvest makes it.
pub(crate) fn harvested(change: Change, version: usize) -> Change {
    let Content::Live { metadata, about } = change.content else {
        return change;
    };
    let origin = Origin {
        datestamp: i64::try_from(version).ok().map(datestamp),
        provenance: format!("<p>{version} </p>"),
        volatile: 3..4,
    };
    Change {
        content: Content::Harvested {
            metadata,
            about,
            origin,
        },
        ..change
    }
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

/// Any operation.
pub(crate) fn step() -> impl Strategy<Value = Step> {
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

/// One of several stores that go through the same.
pub(crate) struct Side {
    pub(crate) store: Store,
    pub(crate) maps: RepositoryId,
}

impl Side {
    pub(crate) fn new(store: Store) -> Side {
        Side::of(store, "maps")
    }

    /// With a repository of another name.
    pub(crate) fn of(store: Store, name: &str) -> Side {
        let maps = store.declare_repository(name).unwrap();
        for name in FORMATS {
            store.declare_format(maps, &format(name)).unwrap();
        }
        Side { store, maps }
    }

    /// Does it and says everything it hears.
    pub(crate) fn take(&self, step: &Step) -> String {
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
    pub(crate) fn answers(&self) -> Vec<String> {
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
