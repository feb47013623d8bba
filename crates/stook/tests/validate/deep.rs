//! Endpoints whose faults only show in whole lists.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use misbehave::{Endpoint, Fault, Given, Heard, Script, When};
use stook::validate::report::{Status, to_text};
use stook::validate::table::{self, Severity};
use stook_oai::Granularity;

use crate::bends::{Lists, is_between, is_last, is_later, token};
use crate::harness::{Case, case, hold, is_serious, validated, world};

/// The whole list of records.
const RECORDS: &str = "verb=ListRecords&metadataPrefix=oai_dc";
/// The list of a set.
const MAPS: &str = "verb=ListIdentifiers&metadataPrefix=oai_dc&set=maps";
/// Of the last records.
const LAST: &str = "2020-01-02T08:03:44Z";

fn deep(breaks: &'static str, bend: impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static) -> Case {
    case(breaks, bend).with(|options| options.deep = true)
}

/// Puts a text in the place of another on every page of one list.
fn in_list(breaks: &'static str, list: &'static str, old: impl Into<String>, new: impl Into<String>) -> Case {
    let (lists, old, new) = (Lists::default(), old.into(), new.into());
    deep(breaks, move |heard, given| {
        if lists.query(heard, given) == list {
            given.replace(&old, &new);
        }
    })
}

/// The beginning of the header of a record.
fn header(number: u32, datestamp: &str) -> String {
    format!(":{number}</identifier><datestamp>{datestamp}</datestamp>")
}

/// Cases of checks that other families have texts for are among them.
pub(crate) fn cases() -> Vec<Case> {
    [tokens(), selections(), lists()].into_iter().flatten().collect()
}

fn tokens() -> Vec<Case> {
    vec![
        deep("F-3", |heard, given| {
            if is_later(heard, "ListRecords") && given.text().contains(" cursor=\"60\"") {
                given.answer_error("badResumptionToken");
            }
        }),
        deep("F-4", |heard, given| {
            if let Some((_, element)) = token(given).filter(|_| heard.is("ListRecords") && is_last(given)) {
                given.replace(&element, "");
            }
        })
        .with_severity(Severity::Warn),
        deep("F-5", |heard, given| {
            let own = heard
                .argument("resumptionToken")
                .filter(|_| heard.is("ListRecords") && is_last(given));
            if let Some(own) = own {
                given.replace("></resumptionToken>", &format!(">{own}</resumptionToken>"));
            }
        }),
        in_list("F-6", RECORDS, header(98, LAST), header(5, "2020-01-01T01:00:07Z")).also(&["L-7"]),
        in_list("F-6", RECORDS, "completeListSize=\"100\"", "completeListSize=\"150\"").with_severity(Severity::Warn),
        in_list("F-7", RECORDS, "cursor=\"60\"", "cursor=\"61\""),
        in_list("F-8", RECORDS, "completeListSize=\"100\"", "completeListSize=\"90\"").with_severity(Severity::Warn),
        in_list(
            "F-23",
            MAPS,
            format!("{}<setSpec>maps<", header(98, LAST)),
            format!("{}<setSpec>photographs<", header(98, LAST)),
        )
        .also(&["T-1"]),
    ]
}

fn selections() -> Vec<Case> {
    let nothing = |breaks, from: &'static str, until: &'static str| {
        deep(breaks, move |heard, given| {
            if is_between(heard, Some(from), Some(until)) {
                given.answer_error("noRecordsMatch");
            }
        })
    };
    vec![
        nothing("D-4", "2020-01-01T00:00:00Z", "2020-01-01T23:59:59Z"),
        nothing("D-5", "2020-01-01", "2020-01-07"),
        nothing("D-21", "2020-01-02", "2020-01-02"),
        deep("D-21", |heard, given| {
            // The first day ends a second too late, by what is shown on the next.
            if is_between(heard, Some("2020-01-03"), Some("2020-01-03")) {
                let twice = crate::bends::header(98, LAST, "maps");
                crate::bends::put_first(given, &twice);
            }
        }),
        deep("D-19", |heard, given| {
            let is_set = heard.argument("set").as_deref() == Some("maps");
            if is_set && heard.argument("until").as_deref() == Some("2020-01-07") {
                given.answer_error("noRecordsMatch");
            }
        }),
        in_list(
            "T-1",
            MAPS,
            header(91, "2020-01-02T06:03:30Z"),
            header(1091, "2020-01-02T06:03:30Z"),
        ),
        in_list(
            "T-2",
            MAPS,
            header(99, "2020-01-02T09:03:51Z"),
            header(1099, "2020-01-02T09:03:51Z"),
        )
        .also(&["T-1"]),
        in_list(
            "T-3",
            MAPS,
            format!("{}<setSpec>maps<", header(98, LAST)),
            format!("{}<setSpec>mapsheets<", header(98, LAST)),
        )
        .also(&["T-1", "S-11"]),
    ]
}

fn lists() -> Vec<Case> {
    vec![
        in_list("L-3", RECORDS, header(97, LAST), header(98, LAST)).also(&["L-7"]),
        in_list("L-7", RECORDS, header(98, LAST), header(98, "2020-01-02T08:03:45Z")),
        in_list("L-7", RECORDS, header(98, LAST), header(1098, LAST)),
        deep("Z-4", |_, _| {}).by(Script::new()
            .page_size(20)
            .fault(Fault::DeletionsOutsideSets, When::always())),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn a_good_endpoint_is_good_to_the_end() {
    for granularity in [Granularity::Second, Granularity::Day] {
        let endpoint = Endpoint::start(world().with_granularity(granularity), Script::new()).unwrap();
        let report = validated(&endpoint.url(), |options| options.deep = true);
        let is_serious = report.findings().into_iter().any(is_serious);
        assert!(!is_serious && report.ended_early.is_none(), "{}", to_text(&report));
        for id in [
            "F-3", "F-4", "F-5", "F-6", "F-7", "F-8", "F-25", "D-5", "D-19", "D-21", "T-1", "T-2", "T-3",
        ] {
            let check = table::check(id).unwrap();
            assert_eq!(report.status(check), Status::Holds, "{id}\n{}", to_text(&report));
        }
    }
}

#[test]
fn what_changes_during_the_walk_is_no_fault() {
    let endpoint = Endpoint::start(world(), Script::new()).unwrap();
    let is_over = AtomicBool::new(false);
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0..).take_while(|_| !is_over.load(SeqCst)) {
                let identifier = format!("oai:misbehave.example.org:{}", number % 100);
                let mut world = endpoint.world();
                match number % 3 {
                    0 => world.change(&identifier),
                    1 => world.delete(&identifier),
                    _ => world.move_to(&identifier, &["photographs"]),
                }
                drop(world);
                std::thread::sleep(Duration::from_millis(40));
            }
        });
        let report = validated(&endpoint.url(), |options| {
            options.deep = true;
            options.only = ["D-21", "T-1", "T-2", "T-3", "F-6", "F-8", "F-23"]
                .map(str::to_owned)
                .to_vec();
        });
        is_over.store(true, SeqCst);
        report
    });
    let is_serious = report.findings().into_iter().any(is_serious);
    assert!(!is_serious && report.ended_early.is_none(), "{}", to_text(&report));
}
