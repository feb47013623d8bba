//! Faults 58 to 68: records, deletions, sets and errors.

use misbehave::Fault::*;
use misbehave::{Script, Setting, When, World};
use stook_oai::{Granularity, Verb};

use super::{Case, PAGE, VICTIM, always, cases, in_victim, inherits, one_record};
use crate::support::{Bench, Held, NOW, difference};

cases! {
    f58_header_missing: one_record(HeaderMissing).found("quarantined-records").quarantines(None).run();
    f58_metadata_missing: one_record(MetadataMissing).found("quarantined-records").quarantines(Some(VICTIM)).run();
    f58_metadata_empty: one_record(MetadataEmpty).found("quarantined-records").quarantines(Some(VICTIM)).run();
    f59_identifier_missing: one_record(IdentifierMissing).found("quarantined-records").quarantines(None).run();
    f59_datestamp_missing: one_record(DatestampMissing).found("missing-datestamp")
        .expecting(|held| if let Some(victim) = held.get_mut(VICTIM) { victim.datestamp = 0 }).run();
    f59_set_spec_missing: always(SetSpecMissing)
        .expecting(|held| held.values_mut().for_each(|record| record.set_specs.clear())).run();
    f60_deleted_capitalised: always(DeletedCapitalised).found("status-case").run();
    f64_list_records_broken: always(ListRecordsBroken).found("record-by-record")
        .learned(|quirks| quirks.get_record).run();
    f65_long_sets: always(LongSets).expecting(lengthen).run();
    f65_long_base_url: always(LongBaseUrl).run();
    f66_set_demanded: always(SetDemanded).found("sliced-by-set").learned(|quirks| quirks.needs_set)
        .expecting(|held| held.retain(|_, record| !record.set_specs.is_empty())).run();
    f67_cannot_disseminate: always(CannotDisseminate).found("cannot-disseminate-nothing").run();
    f67_unknown_error_code: Case::of(UnknownErrorCode).when(When::always().on(Verb::ListRecords).times(1))
        .found("unknown-error-code").run();
    f67_unknown_error_code_behind_a_token: Case::of(UnknownErrorCode)
        .when(When::always().on(Verb::ListRecords).page(3).times(1)).found("list-begun-anew").run();
    f67_unknown_error_code_for_ever: always(UnknownErrorCode).stops("internalError", 3);
    f68_empty_list: always(EmptyList).found("empty-list").run();
    /// Kept; the namespace that it inherited is made explicit.
    f68_html_in_description: one_record(HtmlInDescription).expecting(|held| {
        inherits(held);
        let html = "<dc:description><p>One<br/>two <a href=\"http://example.org/\">three</a></p>";
        in_victim(held, "<dc:description>", html);
    }).run();
}

fn lengthen(held: &mut Held) {
    let suffix = ":a-very-long-name-of-a-set".repeat(80);
    for record in held.values_mut() {
        record.set_specs.iter_mut().for_each(|set| set.push_str(&suffix));
    }
}

fn good() -> Script {
    Script::new().page_size(PAGE)
}

fn is_exact(bench: &Bench, expected: &Held) {
    assert_eq!(difference(&bench.held(), expected), "");
}

#[test]
fn f58_what_lists_do_not_say_a_comparison_finds() {
    let bench = Case::of(HeaderMissing)
        .when(When::always().on(Verb::ListRecords).identifier(VICTIM))
        .bench();
    let report = bench.harvest();
    assert!(
        report.quarantined == 1 && !bench.held().contains_key(VICTIM),
        "{report}"
    );
    let report = bench.verify();
    assert!(report.found("mended") == 1 && report.complete, "{report}");
    is_exact(&bench, &bench.expected());
}

/// Deletions that are never announced are found by comparing, those that are undone come back.
#[test]
fn f61_deletions_unannounced() {
    let bench = always(DeletionsUnannounced).bench();
    bench.harvest();
    let mut expected = bench.expected();
    expected.retain(|_, record| !record.deleted);
    is_exact(&bench, &expected);
    bench.endpoint.world().advance(std::time::Duration::from_secs(90_000));
    bench.endpoint.world().delete(VICTIM);
    bench.harvest();
    assert!(!bench.held()[VICTIM].deleted);
    let report = bench.verify();
    assert_eq!(report.found("deleted-unannounced"), 1, "{report}");
    assert!(bench.held()[VICTIM].deleted);
    // The identifier is used again.
    bench.endpoint.world().advance(std::time::Duration::from_secs(90_000));
    bench.endpoint.world().change(VICTIM);
    bench.harvest();
    let now = bench.expected();
    assert_eq!(bench.held()[VICTIM].metadata, now[VICTIM].metadata);
}

#[test]
fn f61_deletions_outside_sets() {
    let bench = always(DeletionsOutsideSets)
        .settings(|source| source.sets = vec!["maps".into()])
        .bench();
    bench.harvest();
    bench.endpoint.world().advance(std::time::Duration::from_secs(90_000));
    let in_maps = bench.held().into_iter().find(|(_, record)| !record.deleted).unwrap().0;
    bench.endpoint.world().delete(&in_maps);
    bench.harvest();
    assert!(!bench.held()[&in_maps].deleted);
    let report = bench.verify();
    assert_eq!(report.found("deleted-unannounced"), 1, "{report}");
    assert!(bench.held()[&in_maps].deleted);
}

#[test]
fn f62_everything_vanishes() {
    let bench = Case::of(EverythingVanishes).bench();
    bench.harvest();
    let before = bench.held();
    bench
        .endpoint
        .set_script(good().fault(EverythingVanishes, When::always()));
    let report = bench.harvest();
    is_exact(&bench, &before);
    assert!(report.new + report.changed + report.deleted == 0, "{report}");
    let report = bench.verify();
    assert!(
        report.found("mass-deletion-refused") == 1 && !report.complete,
        "{report}"
    );
    is_exact(&bench, &before);
    // Half of them is too much, too, unless the operator says otherwise.
    bench.endpoint.set_script(good());
    for number in 0..30 {
        bench
            .endpoint
            .world()
            .remove(&format!("oai:misbehave.example.org:{number}"));
    }
    let report = bench.verify();
    assert!(
        report.found("mass-deletion-refused") == 1 && !report.complete,
        "{report}"
    );
    is_exact(&bench, &before);
    let mut bench = bench;
    bench.settings.max_deletions = 60;
    let report = bench.verify();
    assert!(report.found("deleted-unannounced") > 20 && report.complete, "{report}");
    let live = |held: Held| held.into_iter().filter(|(_, record)| !record.deleted).collect::<Held>();
    assert_eq!(difference(&live(bench.held()), &live(bench.expected())), "");
}

#[test]
fn f63_get_record_denies() {
    let bench = Case::of(GetRecordDenies)
        .when(When::always().identifier(VICTIM))
        .also(ListRecordsBroken, When::always())
        .bench();
    let report = bench.harvest();
    assert_eq!(report.found("listed-but-not-given"), 1, "{report}");
    let mut expected = bench.expected();
    expected.remove(VICTIM);
    is_exact(&bench, &expected);
}

/// ListRecords is tried again by whoever asks for everything once more.
#[test]
fn f64_list_records_that_is_mended_is_used_again() {
    let bench = always(ListRecordsBroken).bench();
    bench.harvest();
    assert!(bench.quirks().get_record);
    bench.endpoint.set_script(good());
    let report = bench.harvest_with(stook::harvest::Wanted {
        full: true,
        ..Default::default()
    });
    assert!(report.complete && !bench.quirks().get_record, "{report}");
    is_exact(&bench, &bench.expected());
}

/// A list of identifiers shows no difference between two changes of one day.
#[test]
fn f64_changes_of_the_same_day_are_seen_record_by_record() {
    let world = World::of(20).at(NOW).with_granularity(Granularity::Day);
    let bench = always(ListRecordsBroken).world(world).bench();
    bench.harvest();
    for _ in 0..3 {
        bench.endpoint.world().change("oai:misbehave.example.org:9");
        let report = bench.harvest();
        assert_eq!(difference(&bench.held(), &bench.expected()), "", "{report}");
    }
}

#[test]
fn f65_a_long_set_is_harvested_by_its_name() {
    let bench = always(LongSets)
        .settings(|source| source.sets = vec![format!("maps{}", ":a-very-long-name-of-a-set".repeat(80))])
        .bench();
    let report = bench.harvest();
    let mut expected = bench.expected();
    expected.retain(|_, record| record.set_specs.iter().any(|set| set == "maps"));
    lengthen(&mut expected);
    is_exact(&bench, &expected);
    assert!(report.complete, "{report}");
}

#[test]
fn f66_set_vanished() {
    let bench = Case::of(SetVanished)
        .settings(|source| source.sets = vec!["maps".into()])
        .bench();
    let report = bench.harvest();
    assert_eq!(report.found("set-vanished"), 0);
    let before = bench.held();
    assert!(!before.is_empty());
    bench.endpoint.set_script(good().fault(SetVanished, When::always()));
    let report = bench.harvest();
    assert_eq!(report.found("set-vanished"), 1, "{report}");
    is_exact(&bench, &before);
    let report = bench.verify();
    assert_eq!(report.found("mass-deletion-refused"), 1, "{report}");
    is_exact(&bench, &before);
}

/// Thousands of sets are read, none is asked for.
#[test]
fn f66_many_slow_sets() {
    let case = always(ManySlowSets)
        .with(Setting::ExtraSets, 300)
        .with(Setting::PageSize, 50);
    let bench = case.bench();
    let report = bench.harvest();
    is_exact(&bench, &bench.expected());
    assert!(report.complete && report.findings.is_empty(), "{report}");
    assert!(
        !bench
            .endpoint
            .requests()
            .iter()
            .any(|asked| asked.query.contains("set="))
    );
}
