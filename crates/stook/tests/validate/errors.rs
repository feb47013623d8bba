//! Endpoints that answer nonsense without an error, or with the wrong one.

use misbehave::{Given, Heard};
use stook::validate::table::Severity;

use crate::harness::{Case, case, hold};

pub fn cases() -> Vec<Case> {
    let refuses = |wrong: &'static str, query: &'static str| {
        move |heard: &Heard<'_>, given: &mut Given| {
            if heard.method == "GET" && heard.query == query {
                given.answer_error(wrong);
            }
        }
    };
    vec![
        case("E-1", refuses("idDoesNotExist", "")),
        case("E-2", refuses("idDoesNotExist", "junk")),
        case("E-3", refuses("idDoesNotExist", "verb=IllegalVerb")),
        case("E-4", refuses("idDoesNotExist", "verb=identify")),
        case("E-5", refuses("idDoesNotExist", "verb=")),
        case("E-6", refuses("badArgument", "verb=Identify&verb=Identify")).with_severity(Severity::Warn),
        case("E-6", refuses("idDoesNotExist", "verb=Identify&verb=ListSets")).with_severity(Severity::Error),
        case("E-7", |heard, given| {
            if heard.argument("Identifier").is_some() {
                given.answer_error("idDoesNotExist");
            }
        }),
        case("E-8", |heard, given| {
            if heard.is("ListSets") && heard.argument("nonsense").is_some() {
                given.answer_error("noSetHierarchy");
            }
        }),
        case("E-9", |heard, given| {
            if heard.is("GetRecord") && heard.query.matches("identifier=").count() == 2 {
                given.answer_error("idDoesNotExist");
            }
        }),
        case("E-10", |heard, given| {
            if heard.argument("nonsense").is_some() && heard.argument("from").is_some() {
                given.answer_error("badArgument");
            }
        })
        .with_severity(Severity::Rec),
        case("E-11", |heard, given| {
            if heard.query.ends_with("&&") {
                given.status = 500;
            }
        }),
        case("E-12", |heard, given| {
            if heard.argument("metadataPrefix").as_deref() == Some("bad/prefix") {
                given.answer_error("cannotDisseminateFormat");
            }
        })
        .with_severity(Severity::Warn),
        case("E-12", |heard, given| {
            if heard.argument("metadataPrefix").as_deref() == Some("bad/prefix") {
                given.answer_error("noRecordsMatch");
            }
        }),
        case("E-13", |heard, given| {
            if heard.query.len() > 5_000 {
                given.status = 500;
            }
        }),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
