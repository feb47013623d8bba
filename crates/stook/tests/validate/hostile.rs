//! Endpoints that take harm from what an attacker sends.

use std::time::Duration;

use misbehave::{Endpoint, Given, Heard, Script};
use stook::validate::Options;
use stook::validate::report::{Status, to_text};
use stook::validate::table::{self, When};

use crate::harness::{Case, case, hold, is_serious, validated, world};

fn hostile(options: &mut Options) {
    options.hostile = true;
    options.only = vec!["U".to_owned()];
}

/// Bends answers to requests that hold a text.
fn hearing(
    text: &'static str,
    bend: impl Fn(&mut Given) + Send + Sync + 'static,
) -> impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static {
    move |heard, given| {
        if heard.query.contains(text) {
            bend(given);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let cases = vec![
        case("U-1", hearing("OR%20", |given| given.status = 500)),
        case(
            "U-1",
            hearing("OR%20", |given| given.replace("</error>", "SQLSTATE[42000]</error>")),
        ),
        case(
            "U-2",
            hearing("%3Cscript", |given| {
                given.replace("</error>", "<script>stook()</script></error>");
            }),
        ),
        case(
            "U-2",
            hearing("%3Cscript", |given| {
                given.status = 404;
                given.set_header("Content-Type", "text/html");
                given.body = b"<html>No <script>stook()</script> here.</html>".to_vec();
            }),
        ),
        case(
            "U-2",
            hearing("%ff%fe", |given| {
                let at = given.text().find("</error>").unwrap();
                given.body.splice(at..at, *b"\xff\xfe");
            }),
        ),
        case(
            "U-2",
            hearing("%0D%0A", |given| given.set_header("X-Stook", "injected")),
        ),
        case(
            "U-3",
            hearing("DOCTYPE", |given| given.replace("</error>", "root:x:0:0:root</error>")),
        ),
        case(
            "U-4",
            hearing("SLEEP", |_| std::thread::sleep(Duration::from_millis(1500))),
        ),
        case("U-5", |heard, given| {
            if heard.is("ListRecords") && heard.query.contains("resumptionToken=%E2%80%AE") {
                given.answer_error("noRecordsMatch");
            }
        }),
    ];
    cases.into_iter().map(|case| case.with(hostile)).collect()
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn a_good_endpoint_takes_no_harm() {
    let endpoint = Endpoint::start(world(), Script::new()).unwrap();
    let report = validated(&endpoint.url(), hostile);
    let serious = report.findings().into_iter().any(is_serious);
    assert!(!serious && report.ended_early.is_none(), "{}", to_text(&report));
    for check in table::all().filter(|check| check.when == When::Hostile) {
        assert_eq!(report.status(check), Status::Holds, "{}", check.id);
    }
    let sent = endpoint.requests().len();
    assert!(sent < 200, "{sent} requests");
}

#[test]
fn nothing_hostile_is_sent_unless_it_is_asked_for() {
    let endpoint = Endpoint::start(world(), Script::new()).unwrap();
    validated(&endpoint.url(), |_| {});
    let hostile = endpoint
        .requests()
        .into_iter()
        .find(|asked| asked.query.contains("SLEEP"));
    assert!(hostile.is_none(), "{hostile:?}");
}
