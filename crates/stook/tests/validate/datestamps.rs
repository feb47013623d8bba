//! Endpoints whose datestamps or date ranges are not what they should be.

use misbehave::{Given, Heard, World};
use stook::validate::table::Severity;
use stook_oai::Granularity;

use crate::bends::{header, is_between, put_first};
use crate::harness::{Case, case, hold, world};

/// Of the record that most requests are made of.
const FIRST: &str = "2020-01-01T00:00:00Z";
const FIRST_DAY: &str = "2020-01-01";

type Bent = Box<dyn Fn(&Heard<'_>, &mut Given) + Send + Sync>;

/// Answers a selection of ListIdentifiers with an error.
fn refuses(code: &'static str, from: Option<&'static str>, until: Option<&'static str>) -> Bent {
    Box::new(move |heard, given| {
        if is_between(heard, from, until) {
            given.answer_error(code);
        }
    })
}

/// Shows a record more in a selection of ListIdentifiers.
fn shows(number: u32, datestamp: &'static str, from: Option<&'static str>, until: Option<&'static str>) -> Bent {
    Box::new(move |heard, given| {
        if is_between(heard, from, until) {
            put_first(given, &header(number, datestamp, "photographs"));
        }
    })
}

/// Whether a date is one of the years in which these tests are run.
fn is_to_come(date: &str) -> bool {
    date > "2026" && date < "3"
}

/// Shows another datestamp of one record in ListRecords.
fn stamps(datestamp: &'static str) -> Bent {
    Box::new(move |heard, given| {
        let own = ":5</identifier><datestamp>";
        if heard.is("ListRecords") {
            given.replace(&format!("{own}2020-01-01T01:00:07Z"), &format!("{own}{datestamp}"));
        }
    })
}

pub(crate) fn cases() -> Vec<Case> {
    [selections(), refusals(), others()].into_iter().flatten().collect()
}

fn selections() -> Vec<Case> {
    let (first, day) = (Some(FIRST), Some(FIRST_DAY));
    vec![
        case("D-2", refuses("noRecordsMatch", first, first)).also(&["L-7"]),
        case("D-3", shows(50, "2020-01-01T16:01:52Z", first, first)).also(&["L-7"]),
        case("D-4", refuses("noRecordsMatch", day, day)),
        case("D-4", shows(75, "2020-01-02T01:02:55Z", day, day)),
        case("D-5", shows(75, "2020-01-02T01:02:55Z", None, day)),
        case("D-5", refuses("noRecordsMatch", day, None)),
        case("D-6", shows(0, FIRST, Some("2020-01-01T00:00:01Z"), None)),
        case("D-15", refuses("cannotDisseminateFormat", None, Some("2018-12-31"))),
        case("D-16", |heard, given| {
            if heard.argument("from").is_some_and(|from| is_to_come(&from)) {
                given.answer_error("cannotDisseminateFormat");
            }
        }),
        case("D-17", |heard, given| {
            let is_late = heard.argument("until").is_some_and(|until| is_to_come(&until));
            if is_late && heard.argument("resumptionToken").is_none() {
                given.answer_error("noRecordsMatch");
            }
        }),
        case("D-19", |heard, given| {
            let with_set = heard.argument("set").as_deref() == Some("maps");
            if with_set && heard.argument("from").as_deref() == Some(FIRST) {
                put_first(given, &header(1000, FIRST, "photographs"));
            }
        }),
    ]
}

fn refusals() -> Vec<Case> {
    vec![
        case("D-7", refuses("cannotDisseminateFormat", Some("2001-01-01"), None)),
        case(
            "D-8",
            refuses("cannotDisseminateFormat", Some("2001-01-01T00:00:00Z"), None),
        ),
        case("D-8", refuses("noRecordsMatch", Some("2001-01-01T00:00:00Z"), None))
            .in_world(|| world().with_granularity(Granularity::Day)),
        case("D-9", refuses("noRecordsMatch", Some("2001-1-1"), None)),
        case(
            "D-10",
            refuses("noRecordsMatch", Some("2001-01-01T00:00:00+00:00"), None),
        ),
        case("D-11", refuses("noRecordsMatch", Some("2001-02-30"), None)).with_severity(Severity::Error),
        case("D-11", refuses("noRecordsMatch", Some("2001-12-31T23:59:60Z"), None)).with_severity(Severity::Info),
        case("D-12", |heard, given| {
            if heard.is("ListRecords") && heard.argument("until").as_deref() == Some("junk") {
                given.answer_error("noRecordsMatch");
            }
        }),
        case(
            "D-13",
            refuses("noRecordsMatch", Some("2020-01-01"), Some("2020-01-01T23:59:59Z")),
        ),
        case(
            "D-14",
            refuses("noRecordsMatch", Some("2000-01-01"), Some("1999-01-01")),
        )
        .with_severity(Severity::Warn),
        case(
            "D-14",
            refuses("cannotDisseminateFormat", Some("2000-01-01"), Some("1999-01-01")),
        )
        .with_severity(Severity::Error),
        case(
            "D-18",
            refuses("cannotDisseminateFormat", Some("2000-01-01"), Some("2000-01-01")),
        ),
        case("D-20", refuses("noRecordsMatch", None, Some(""))),
    ]
}

fn others() -> Vec<Case> {
    vec![
        case("D-1", stamps("2020-01-01")),
        case("D-1", stamps("2020-01-01T01:00:07.5Z")),
        case("D-1", stamps("2099-01-01T00:00:00Z")),
        case("D-22", |_, _| {})
            .in_world(dated_by_publication)
            .with_severity(Severity::Rec),
        case("D-22", |_, _| {})
            .in_world(|| world().all_stamped(1_600_000_000))
            .with_severity(Severity::Info),
    ]
}

/// Records whose datestamps are their dates of publication.
fn dated_by_publication() -> World {
    let mut world = world();
    for (day, identifier) in (0..).zip(world.identifiers()) {
        let Some(mut item) = world.item(&identifier).cloned() else {
            continue;
        };
        item.datestamp = 1_577_836_800 + day * 86_400;
        let date = stook_oai::Datestamp::from_unix(item.datestamp).unwrap();
        let metadata = item.metadata.get_mut("oai_dc").unwrap();
        let (start, rest) = metadata.split_once("<dc:date>").unwrap();
        let (_, end) = rest.split_once("</dc:date>").unwrap();
        *metadata = format!("{start}<dc:date>{}</dc:date>{end}", date.format(Granularity::Day));
        world.put(item);
    }
    world
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
