//! Killed at random moments while the source changes, a harvest goes on and ends exactly where an undisturbed one would.
//!
//! By default a short run; STOOK_KILLS and STOOK_RECORDS make it as long as one likes (`cargo xtask soak harvest`).

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use misbehave::{Endpoint, Script, World};
use stook_store::{Clock, StoreAddress};
use tempfile::TempDir;

use crate::place;
use crate::support::{NOW, difference, held, number};

/// A run to the end, and a comparison, after so many kills.
const KILLS_BETWEEN_COMPARISONS: u64 = 10;

/// An empty folder to harvest into, and where its store will be.
fn begin() -> (TempDir, StoreAddress) {
    let folder = tempfile::tempdir().unwrap();
    let address = place::configured(folder.path());
    (folder, address)
}

fn command(folder: &Path, url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stook"));
    command
        .current_dir(folder)
        .args(["harvest", url])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// A generator of our own, so that a run can be repeated.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

fn change(world: &mut World, dice: &mut Dice, records: u64) {
    world.advance(Duration::from_secs(dice.below(3)));
    for _ in 0..dice.below(20) {
        let name = format!("oai:misbehave.example.org:{}", dice.below(records + records / 10));
        match dice.below(4) {
            0 => world.delete(&name),
            1 if world.item(&name).is_none() => world.add(&name, dice.below(1_000)),
            _ => world.change(&name),
        }
    }
}

#[test]
fn killed_at_random_moments_a_harvest_loses_nothing_and_doubles_nothing() {
    let (kills, records) = (
        number("STOOK_KILLS", if place::is_server() { 20 } else { 40 }),
        number("STOOK_RECORDS", 1_500),
    );
    let page_size = (records / 60).max(1);
    let endpoint = Endpoint::start(World::of(records).at(NOW), Script::new().page_size(page_size)).unwrap();
    let (mut folder, mut address) = begin();
    let started = Instant::now();
    let whole = {
        let (apart, _) = begin();
        assert!(command(apart.path(), &endpoint.url()).status().unwrap().success());
        started.elapsed()
    };
    let mut dice = Dice(number("STOOK_SEED", 1));
    let (mut killed, mut stretches, mut longest) = (0, 0, whole);
    while killed < kills {
        let mut child = command(folder.path(), &endpoint.url()).spawn().unwrap();
        let moment = longest.mul_f64(dice.below(1_000) as f64 / 1_000.0);
        let asleep = Instant::now();
        while asleep.elapsed() < moment {
            change(&mut endpoint.world(), &mut dice, records);
            std::thread::sleep(Duration::from_millis(2).min(moment.saturating_sub(asleep.elapsed())));
        }
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            // It was over before: the next moment comes sooner.
            longest = longest.mul_f64(0.8);
            continue;
        }
        killed += 1;
        if killed % KILLS_BETWEEN_COMPARISONS == 0 || killed == kills {
            assert!(command(folder.path(), &endpoint.url()).status().unwrap().success());
            let store = address.open(Clock::system()).unwrap();
            let name = store.noted("source").unwrap()[0].0.clone();
            let differs = difference(&held(&store, &name), &endpoint.world().expected("oai_dc"));
            assert!(differs.is_empty(), "after {killed} kills: {differs}");
            assert_eq!(store.check(|_, _, _| {}).unwrap(), Vec::<String>::new());
            println!("{killed} kills, {:.0} s", started.elapsed().as_secs_f64());
            // Every other stretch of kills is of a first harvest, the rest of later ones.
            stretches += 1;
            if u32::is_multiple_of(stretches, 2) {
                (folder, address) = begin();
                longest = whole;
            }
        }
    }
}
