//! The first four promises, tried with random histories against a simple model.
//!
//! A history mixes imports, deletions, restorations, clock steps in both directions, restarts, two handles on one store
//! and harvesters that stop between pages. At every step the model says what must be seen.

#![allow(clippy::unwrap_used)]

mod fixture;
mod model;

use fixture::NEW_YEAR;
use model::world::{HARVESTERS, SETS, Step, World};
use model::{Act, Say};
use proptest::collection::vec;
use proptest::prelude::*;

const NUMBERS: usize = 7;
const DAY: i64 = 86_400;

fn acts(say: impl Strategy<Value = Say> + 'static) -> impl Strategy<Value = Act> {
    let set_specs = prop_oneof![
        2 => Just(vec![]),
        3 => proptest::sample::subsequence(&SETS[..], 0..=SETS.len()).prop_shuffle(),
    ];
    // Most of what happens concerns one list, so that histories are long enough to go wrong.
    let place = prop_oneof![4 => Just((0, 0)), 1 => Just((0, 1)), 1 => Just((1, 0))];
    (place, 0..NUMBERS, set_specs, say).prop_map(|((repository, format), number, set_specs, say)| Act {
        key: (repository, format, number),
        set_specs,
        say,
    })
}

fn live_or_deleted() -> impl Strategy<Value = Say> {
    prop_oneof![
        5 => (0..3).prop_map(|version| Say::Live(format!("<map>{version}</map>"))),
        2 => Just(Say::Deleted),
    ]
}

fn anything() -> impl Strategy<Value = Say> {
    prop_oneof![4 => live_or_deleted(), 1 => Just(Say::Erased), 2 => Just(Say::Restored)]
}

fn step() -> impl Strategy<Value = Step> {
    let handle = || 0..2_usize;
    let import = (handle(), vec(vec(acts(live_or_deleted()), 0..5), 1..4));
    let sync = (
        handle(),
        0..2_usize,
        0..2_usize,
        vec(vec(acts(live_or_deleted()), 0..6), 1..3),
    );
    let turn = prop_oneof![
        4 => 1..4_i64,
        2 => -3..0_i64,
        1 => prop_oneof![Just(DAY), Just(-DAY), Just(400 * DAY), Just(-400 * DAY)],
    ];
    prop_oneof![
        6 => (handle(), vec(acts(anything()), 1..6)).prop_map(|(handle, acts)| Step::Import { handle, batches: vec![acts] }),
        2 => import.prop_map(|(handle, batches)| Step::Import { handle, batches }),
        1 => sync.prop_map(|(handle, repository, format, batches)| Step::Sync { handle, repository, format, batches }),
        4 => turn.prop_map(Step::Turn),
        1 => handle().prop_map(|handle| Step::Restart { handle }),
        8 => (0..HARVESTERS.len(), handle(), 1..4_usize)
            .prop_map(|(harvester, handle, limit)| Step::Fetch { harvester, handle, limit }),
    ]
}

fn live_through(mut world: World, steps: &[Step], ends: &[(i64, i64)]) {
    for step in steps {
        world.take(step);
    }
    world.settle();
    // Ranges between datestamps that occur, and a second beside them.
    let mut stamps: Vec<i64> = world.model.records.values().map(|known| known.datestamp).collect();
    stamps.push(NEW_YEAR);
    stamps.sort_unstable();
    let end = |at: i64| stamps[usize::try_from(at).unwrap() % stamps.len()] + at % 3 - 1;
    let ranges: Vec<(i64, i64)> = ends.iter().map(|(from, until)| (end(*from), end(*until))).collect();
    world.compare_all(&ranges);
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        max_shrink_time: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn no_history_makes_a_harvester_miss_repeat_or_misread_anything(
        steps in vec(step(), 1..70),
        ends in vec((0..12_i64, 0..12_i64), 4),
    ) {
        live_through(World::in_file(), &steps, &ends);
    }
}

proptest! {
    #![proptest_config(config(10))]

    #[test]
    fn nor_does_it_on_a_server(steps in vec(step(), 1..70), ends in vec((0..12_i64, 0..12_i64), 4)) {
        live_through(World::on_server(), &steps, &ends);
    }
}

#[test]
fn a_harvester_of_days_and_one_of_seconds_end_with_the_same() {
    let mut world = World::in_file();
    for round in 0..12 {
        let acts = (0..NUMBERS)
            .filter(|number| (number + round) % 3 == 0)
            .map(|number| Act {
                key: (0, 0, number),
                set_specs: vec![SETS[(number + round) % 5]],
                say: if round % 4 == 3 {
                    Say::Deleted
                } else {
                    Say::Live(format!("<map>{round}</map>"))
                },
            });
        world.import(round % 2, &[acts.collect()], None);
        for harvester in 0..HARVESTERS.len() {
            world.fetch(harvester, round % 2, 2);
        }
        world.hand.turn([1, DAY / 2, -DAY, 0, 5][round % 5]);
    }
    world.settle();
    assert_eq!(world.harvesters[0].copied(), world.harvesters[1].copied());
    assert_eq!(world.harvesters[0].copied().len(), world.model.list(0, 0, None).len());
}
