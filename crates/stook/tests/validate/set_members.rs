//! Endpoints whose sets select too much, too little, or the wrong thing.

use crate::bends::{header, is_first, put_first};
use crate::harness::{Case, case, hold};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("T-1", |heard, given| {
            let is_set = heard.argument("set").as_deref() == Some("maps");
            if is_first(heard, "ListIdentifiers") && is_set && heard.argument("from").is_none() {
                given.replace_first("<setSpec>maps:city</setSpec>", "<setSpec>photographs</setSpec>");
            }
        }),
        case("T-2", |heard, given| {
            if heard.argument("set").as_deref() == Some("maps") {
                given.replace(":1</identifier>", ":1001</identifier>");
            }
        }),
        case("T-3", |heard, given| {
            if heard.argument("set").as_deref() == Some("map") {
                put_first(given, &header(1, "2020-01-01T00:00:00Z", "maps:city"));
            }
        }),
        case("T-4", |heard, given| {
            if !heard.is("ListSets") {
                let both = "<setSpec>maps</setSpec><setSpec>maps:city</setSpec>";
                given.replace("<setSpec>maps:city</setSpec>", both);
            }
        }),
        case("T-5", |heard, given| {
            let is_unknown = heard.argument("set").as_deref() == Some("really_wrong_set");
            if is_unknown && heard.argument("from").is_none() {
                given.answer_error("cannotDisseminateFormat");
            }
        }),
        case("T-6", |heard, given| {
            if heard.argument("set").as_deref() == Some("a b") {
                given.answer_error("noRecordsMatch");
            }
        }),
        case("T-7", |heard, given| {
            if heard.is("ListRecords") && heard.argument("until").as_deref() == Some("time") {
                given.answer_error("noRecordsMatch");
            }
        }),
        case("T-8", |heard, given| {
            if heard.query.matches("set=").count() == 2 {
                given.answer_error("noRecordsMatch");
            }
        }),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
