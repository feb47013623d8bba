//! Faults 49 to 57: granularity, datestamps and selection by them.

use misbehave::Fault::*;
use misbehave::{Setting, When, World};
use stook::config::GranularityName;

use super::{Case, VICTIM, always, cases, change};
use crate::support::{Held, NOW, difference};

cases! {
    f49_granularity_missing: always(GranularityMissing).found("missing-granularity").run();
    f49_granularity_lower_case: always(GranularityLowerCase).found("odd-granularity").run();
    f49_granularity_odd: always(GranularityOdd).found("odd-granularity").run();
    f50_earliest_missing: cut(always(EarliestMissing)).found("odd-earliest-datestamp").run();
    f50_earliest_other_granularity: cut(always(EarliestOtherGranularity)).run();
    f50_earliest_too_late: cut(always(EarliestTooLate)).found("earlier-than-earliest").run();
    f50_earliest_impossible: cut(always(EarliestImpossible)).found("odd-earliest-datestamp").run();
    f51_seconds_rejected: always(SecondsRejected)
        .learned(|quirks| quirks.granularity == Some(GranularityName::Days)).run();
    f51_days_rejected: always(DaysRejected).also(GranularityMissing, When::always())
        .learned(|quirks| quirks.granularity == Some(GranularityName::Seconds)).run();
    f52_from_ignored: always(FromIgnored).found("from-ignored").run();
    f52_until_ignored: poisoned(always(UntilIgnored)).found("until-ignored")
        .learned(|quirks| quirks.no_until).run();
    f52_until_matches_nothing: poisoned(always(UntilMatchesNothing)).learned(|quirks| quirks.no_until).run();
    f52_dates_rejected: always(DatesRejected).learned(|quirks| quirks.no_dates).run();
    f52_dates_crash: always(DatesCrash).learned(|quirks| quirks.no_dates).run();
    f53_dates_required: always(DatesRequired).learned(|quirks| quirks.needs_dates).run();
    f54_one_day_matches_nothing: poisoned(always(OneDayMatchesNothing)).world(spread())
        .learned(|quirks| quirks.whole_days).run();
    f55_datestamp_milliseconds: always(DatestampMilliseconds).found("odd-datestamp").run();
    f55_datestamp_offset: always(DatestampOffset).found("odd-datestamp").run();
    f55_datestamp_empty: always(DatestampEmpty).found("missing-datestamp").expecting(|held| shift(held, None)).run();
    f55_response_date_milliseconds: always(ResponseDateMilliseconds).found("odd-response-date").run();
    f55_response_date_offset: always(ResponseDateOffset).found("odd-response-date").run();
    f55_response_date_missing: cut(always(ResponseDateMissing)).found("missing-response-date").run();
    f56_datestamp_not_filtered_by: always(DatestampNotFilteredBy).found("other-dates-shown")
        .expecting(|held| shift(held, Some(400 * 86_400))).run();
}

/// So that the window has to be cut.
fn cut(case: Case) -> Case {
    case.also(TooManyRecords, When::always()).with(Setting::Limit, 20)
}

/// So that the window has to be cut around one record.
fn poisoned(case: Case) -> Case {
    case.also(PoisonRecord, When::always().identifier(VICTIM))
        .expecting(|held| {
            held.remove(VICTIM);
        })
}

/// Records over many days.
fn spread() -> World {
    let mut world = World::of(60).at(NOW);
    for (number, identifier) in (0..).zip(world.identifiers()) {
        world.restamp(&identifier, NOW - 100 * 86_400 + number * 30_000);
    }
    world
}

fn shift(held: &mut Held, earlier: Option<i64>) {
    for record in held.values_mut() {
        record.datestamp = earlier.map_or(0, |earlier| record.datestamp - earlier);
    }
}

#[test]
fn f57_records_surface_late() {
    // A sufficient overlap gets them.
    let patient = always(RecordsSurfaceLate)
        .settings(|source| source.overlap_seconds = 7_200)
        .bench();
    // A small one does not, and then a comparison does.
    let hasty = always(RecordsSurfaceLate).bench();
    for bench in [&patient, &hasty] {
        bench.harvest();
        for step in 0..3 {
            change(bench, step);
            bench.harvest();
            bench.endpoint.world().advance(std::time::Duration::from_secs(1_000));
            bench.harvest();
            // Those that were hidden have surfaced.
            bench.endpoint.world().advance(std::time::Duration::from_secs(5_000));
            bench.harvest();
        }
    }
    assert_eq!(difference(&patient.held(), &patient.expected()), "");
    assert_ne!(difference(&hasty.held(), &hasty.expected()), "");
    let report = hasty.verify();
    assert!(report.found("mended") > 0, "{report}");
    assert_eq!(difference(&hasty.held(), &hasty.expected()), "", "{report}");
}

/// A repository of days, where a change of today may come after today's harvest.
#[test]
fn f49_changes_of_the_same_day_are_seen_in_days() {
    let world = World::of(60).at(NOW).with_granularity(stook_oai::Granularity::Day);
    let bench = always(GranularityLowerCase).world(world).bench();
    bench.harvest();
    for number in 1..4 {
        bench.endpoint.world().change("oai:misbehave.example.org:2");
        bench
            .endpoint
            .world()
            .add(&format!("oai:misbehave.example.org:today-{number}"), number);
        let report = bench.harvest();
        assert_eq!(difference(&bench.held(), &bench.expected()), "", "{report}");
    }
}
