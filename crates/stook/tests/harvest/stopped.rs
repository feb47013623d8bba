//! A harvest is stopped in the middle: the next one goes on, and leaves nothing behind.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use misbehave::{Script, World};
use stook::harvest::{Outside, Polite, Report, Wanted};
use stook_oai::{Datestamp, Granularity, UtcDatetime};

use crate::support::{Bench, NOW, difference};

/// Harvests until the first page has come.
fn stop_after_a_page(bench: &Bench, wanted: Wanted) -> Report {
    let (polite, stop) = (Polite::new(2), AtomicBool::new(false));
    let outside = Outside {
        contact: "harvest@example.org",
        polite: &polite,
        stop: &stop,
        progress: &|_, _| stop.store(true, Relaxed),
    };
    bench.harvest_by(wanted, &outside)
}

fn assert_exact(bench: &Bench, report: &Report) {
    assert!(report.complete, "{report}");
    let differs = difference(&bench.held(), &bench.expected());
    assert!(differs.is_empty(), "{differs}");
}

#[test]
fn what_changed_behind_the_page_it_stopped_at_comes_too() {
    let bench = Bench::new(World::of(10).at(NOW), Script::new().page_size(2));
    let change = |number: u32| {
        bench
            .endpoint
            .world()
            .change(&format!("oai:misbehave.example.org:{number}"))
    };
    bench.harvest();
    (1..=5).for_each(change);
    assert!(!stop_after_a_page(&bench, Wanted::default()).complete);
    // In the same second, and so before those that have come.
    change(0);
    assert_exact(&bench, &bench.harvest());
}

#[test]
fn a_range_of_dates_never_moves_the_cursor_even_when_another_harvest_ends_it() {
    let bench = Bench::new(World::of(10).at(NOW), Script::new().page_size(2));
    let mut dates: Vec<i64> = bench.expected().values().map(|record| record.datestamp).collect();
    dates.sort_unstable();
    let from = Datestamp::from_unix(dates[5]).unwrap();
    let wanted = Wanted {
        from: Some(UtcDatetime::new(from, Granularity::Second)),
        ..Wanted::default()
    };
    let stopped = stop_after_a_page(&bench, wanted);
    assert!(!stopped.complete, "{stopped}");
    assert_exact(&bench, &bench.harvest());
}

#[test]
fn a_full_harvest_forgets_the_windows_of_the_one_that_was_stopped() {
    let bench = Bench::new(World::of(10).at(NOW), Script::new().page_size(2));
    stop_after_a_page(&bench, Wanted::default());
    let full = Wanted {
        full: true,
        ..Wanted::default()
    };
    assert_exact(&bench, &bench.harvest_with(full));
    let repository = bench.store.repository("source").unwrap();
    let windows = bench.store.notes(repository, "window/").unwrap();
    assert_eq!(windows.len(), 1, "{windows:?}");
}
