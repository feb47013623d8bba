//! Random interleavings of changes at the source and harvests: after the last harvest nothing differs.
//!
//! The source is a correct one. Changes fall into the same second as harvests, before and after them; lists change
//! while they are read; harvests are stopped in the middle. Both granularities.
//!
//! STOOK_HISTORIES makes it as many as one likes (`cargo xtask soak histories`).

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use misbehave::{Script, World};
use proptest::prelude::*;
use stook::harvest::{Outside, Polite, Report, Wanted};
use stook_oai::Granularity;

use crate::place;
use crate::support::{Bench, NOW, difference, number};

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    Add(u8),
    Change(u8),
    Delete(u8),
    Restore(u8),
    Move(u8, u8),
    /// The source's clock goes on.
    Wait(u32),
    Harvest,
    /// A harvest during which these changes happen, one after each page.
    HarvestWhile(Vec<Step>),
    /// A harvest that is stopped after so many pages.
    HarvestStopped(u8),
}

fn change() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<u8>().prop_map(Step::Add),
        any::<u8>().prop_map(Step::Change),
        any::<u8>().prop_map(Step::Delete),
        any::<u8>().prop_map(Step::Restore),
        (any::<u8>(), 0..4_u8).prop_map(|(record, set)| Step::Move(record, set)),
        // Mostly within the second, sometimes days.
        prop_oneof![Just(1_u32), Just(2), Just(60), Just(86_400), Just(200_000)].prop_map(Step::Wait),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => change(),
        2 => Just(Step::Harvest),
        1 => prop::collection::vec(change(), 1..6).prop_map(Step::HarvestWhile),
        1 => (0..6_u8).prop_map(Step::HarvestStopped),
    ]
}

fn apply(world: &mut World, step: &Step) {
    let name = |record: u8| format!("oai:misbehave.example.org:{}", record % 40);
    match step {
        Step::Add(record) => {
            if world.item(&name(*record)).is_none() {
                world.add(&name(*record), u64::from(*record));
            }
        }
        Step::Change(record) => world.change(&name(*record)),
        Step::Delete(record) => world.delete(&name(*record)),
        Step::Restore(record) => world.restore(&name(*record)),
        Step::Move(record, set) => {
            let specs: &[&str] = [&[][..], &["maps"], &["maps:city"], &["prints", "maps"]][usize::from(*set)];
            world.move_to(&name(*record), specs);
        }
        Step::Wait(seconds) => world.advance(Duration::from_secs(u64::from(*seconds))),
        Step::Harvest | Step::HarvestWhile(_) | Step::HarvestStopped(_) => {}
    }
}

fn harvest(bench: &Bench, on_page: &(dyn Fn(&Report, Option<u64>) + Sync), stop: &AtomicBool) -> Report {
    let polite = Polite::new(2);
    let outside = Outside {
        contact: "harvest@example.org",
        polite: &polite,
        stop,
        progress: on_page,
    };
    bench.harvest_by(Wanted::default(), &outside)
}

fn run(steps: &[Step], granularity: Granularity, page_size: u64) -> Result<(), TestCaseError> {
    let world = World::of(10).with_granularity(granularity).at(NOW);
    let bench = Bench::new(world, Script::new().page_size(page_size));
    let going = AtomicBool::new(false);
    for step in steps {
        match step {
            Step::Harvest => drop(bench.harvest()),
            Step::HarvestWhile(changes) => {
                let left = Mutex::new(changes.iter());
                let on_page = |_: &Report, _: Option<u64>| {
                    if let Some(change) = left.lock().unwrap().next() {
                        apply(&mut bench.endpoint.world(), change);
                    }
                };
                harvest(&bench, &on_page, &going);
            }
            Step::HarvestStopped(pages) => {
                let (stop, count) = (AtomicBool::new(false), Mutex::new(Cell::new(0)));
                let on_page = |_: &Report, _: Option<u64>| {
                    let count = count.lock().unwrap();
                    count.set(count.get() + 1);
                    stop.store(count.get() >= *pages, Relaxed);
                };
                harvest(&bench, &on_page, &stop);
            }
            change => apply(&mut bench.endpoint.world(), change),
        }
    }
    let last = bench.harvest();
    prop_assert!(last.complete, "{last}");
    let differs = difference(&bench.held(), &bench.expected());
    prop_assert!(differs.is_empty(), "{differs}");
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: u32::try_from(number("STOOK_HISTORIES", if place::is_server() { 20 } else { 60 })).unwrap(),
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn after_the_last_harvest_nothing_differs_by_seconds(steps in prop::collection::vec(step(), 1..30), page in 1..8_u64) {
        run(&steps, Granularity::Second, page)?;
    }

    #[test]
    fn after_the_last_harvest_nothing_differs_by_days(steps in prop::collection::vec(step(), 1..30), page in 1..8_u64) {
        run(&steps, Granularity::Day, page)?;
    }
}
