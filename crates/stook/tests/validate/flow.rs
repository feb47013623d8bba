//! Endpoints whose lists lead nowhere, round in circles, or somewhere else.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use misbehave::{Fault, Given, Heard, Script, Setting, When};
use stook::validate::table::Severity;

use crate::bends::{is_first, is_last, is_later, token, without_attribute, without_entries};
use crate::harness::{Case, case, hold};

pub(crate) fn cases() -> Vec<Case> {
    [tokens(), pages(), attributes(), again(), misuses(), selections()]
        .into_iter()
        .flatten()
        .collect()
}

fn script(fault: Fault) -> Script {
    Script::new().page_size(20).fault(fault, When::always())
}

/// A fault that the endpoint has a name for.
fn known(breaks: &'static str, fault: Fault) -> Case {
    case(breaks, |_, _| {}).by(script(fault))
}

fn tokens() -> Vec<Case> {
    vec![
        case("F-1", |heard, given| {
            if let Some((_, element)) = token(given).filter(|_| is_first(heard, "ListRecords")) {
                given.replace(&element, "");
                given.replace("<ListRecords>\n", &format!("<ListRecords>\n{element}"));
            }
        })
        .also(&["X-7"]),
        known("F-2", Fault::EmptyTokenAlways),
        case("F-4", |heard, given| {
            if let Some((_, element)) = token(given).filter(|_| heard.is("ListIdentifiers") && is_last(given)) {
                given.replace(&element, "");
            }
        })
        .with_severity(Severity::Warn),
        known("F-4", Fault::LastTokenMatchesNothing).with_severity(Severity::Error),
        known("F-5", Fault::TokenForEver),
        case("F-9", |heard, given| {
            if heard.is("ListRecords") {
                given.replace(
                    "<resumptionToken ",
                    "<resumptionToken expirationDate=\"2001-01-01T00:00:00Z\" ",
                );
            }
        }),
        case("F-9", |heard, given| {
            if heard.is("ListRecords") {
                given.replace("<resumptionToken ", "<resumptionToken expirationDate=\"2099-01-01\" ");
            }
        })
        .also(&["X-7"]),
        known("F-10", Fault::TokensExpireInTime),
        case("F-11", |heard, given| {
            if is_first(heard, "ListRecords") {
                without_attribute(given, "completeListSize");
            }
        })
        .with_severity(Severity::Rec),
        case("F-11", |_, _| {}).with_severity(Severity::Info),
    ]
}

fn pages() -> Vec<Case> {
    vec![
        case("F-3", |heard, given| {
            if is_later(heard, "ListRecords") && given.text().contains("<ListRecords>") {
                given.answer_error("badResumptionToken");
            }
        })
        .also(&["P-3"]),
        case("F-3", |heard, given| {
            if is_later(heard, "ListRecords") {
                without_entries(given, "ListRecords");
            }
        })
        .also(&["X-7", "P-3"]),
        known("F-6", Fault::Duplicates)
            .also(&["F-8", "L-3"])
            .with_severity(Severity::Error),
        case("F-6", |_, given| {
            given.replace("completeListSize=\"50\"", "completeListSize=\"51\"")
        })
        .with_severity(Severity::Warn),
        case("F-21", |_, _| {}),
        case("F-22", |_, _| {}),
        case("F-25", |heard, given| {
            if heard.is("ListIdentifiers") && is_last(given) {
                without_entries(given, "ListIdentifiers");
            }
        })
        .also(&["X-7"]),
    ]
}

fn attributes() -> Vec<Case> {
    let size = |verb: &'static str, new: &'static str| {
        move |heard: &Heard<'_>, given: &mut Given| {
            if heard.is(verb) {
                given.replace("completeListSize=\"100\"", &format!("completeListSize=\"{new}\""));
            }
        }
    };
    vec![
        known("F-7", Fault::CursorWrong).with_severity(Severity::Error),
        case("F-7", |heard, given| {
            if is_later(heard, "ListRecords") {
                without_attribute(given, "cursor");
            }
        })
        .with_severity(Severity::Warn),
        case("F-8", size("ListRecords", "0"))
            .also(&["X-7"])
            .with_severity(Severity::Error),
        case("F-8", size("ListRecords", "20")).with_severity(Severity::Warn),
        case("F-8", |_, given| {
            given.replace("completeListSize=\"50\"", "completeListSize=\"49\"")
        })
        .with_severity(Severity::Warn),
        case("F-8", |heard, given| {
            if is_later(heard, "ListRecords") {
                given.replace("completeListSize=\"100\"", "completeListSize=\"101\"");
            }
        })
        .with_severity(Severity::Info),
    ]
}

/// The number in a token of the good endpoint.
fn number(token: &str) -> Option<u64> {
    token.strip_prefix("list-")?.parse().ok()
}

fn again() -> Vec<Case> {
    let newest = AtomicU64::new(0);
    let issued: Mutex<HashSet<String>> = Mutex::default();
    vec![
        known("F-12", Fault::SingleUseTokens).also(&["P-3"]),
        case("F-13", move |heard, given| {
            let own = heard.argument("resumptionToken").filter(|_| heard.is("ListRecords"));
            let is_older = |number: u64| number < newest.fetch_max(number, SeqCst);
            let is_refused = own.and_then(|token| number(&token)).is_some_and(is_older);
            if is_refused && given.text().contains("<ListRecords>") {
                given.answer_error("badResumptionToken");
            }
        }),
        case("F-14", move |heard, given| {
            let mut issued = issued.lock().unwrap();
            let own = heard.argument("resumptionToken").unwrap_or_default();
            if heard.is("ListIdentifiers") && issued.contains(&own) && given.text().contains("badResumptionToken") {
                given.answer_error("cannotDisseminateFormat");
            }
            issued.extend(
                token(given)
                    .filter(|_| heard.is("ListIdentifiers"))
                    .map(|(value, _)| value),
            );
        })
        .by(script(Fault::TokensExpireInTime).with(Setting::TokenSeconds, 2))
        .with(|options| options.only = vec!["F-14".to_owned()]),
    ]
}

fn misuses() -> Vec<Case> {
    let refused = |is_it: fn(&Heard<'_>) -> bool| {
        move |heard: &Heard<'_>, given: &mut Given| {
            if is_it(heard) {
                given.answer_error("noRecordsMatch");
            }
        }
    };
    vec![
        case(
            "F-15",
            refused(|heard| is_later(heard, "ListRecords") && heard.argument("until").is_some()),
        ),
        case(
            "F-16",
            refused(|heard| heard.is("ListRecords") && heard.argument("resumptionToken").as_deref() == Some("junk")),
        ),
        case("F-17", |heard, given| {
            let own = heard.argument("resumptionToken").unwrap_or_default();
            let is_other = heard.is("ListIdentifiers") && number(&own).is_some();
            if is_other && given.text().contains("badResumptionToken") {
                given.answer_error("noRecordsMatch");
            }
        }),
        case(
            "F-18",
            refused(|heard| {
                heard
                    .argument("resumptionToken")
                    .is_some_and(|token| token.starts_with("list-") && token.ends_with('x'))
            }),
        ),
        case("F-19", |heard, given| {
            let is_escaped = heard.query.contains("resumptionToken=list%2D");
            if is_escaped && token(given).is_some() {
                given.answer_error("badResumptionToken");
            }
        })
        .also(&["P-3"]),
        case(
            "F-20",
            refused(|heard| heard.is("ListIdentifiers") && heard.query.ends_with("resumptionToken=")),
        ),
        case(
            "F-24",
            refused(|heard| heard.query.matches("resumptionToken=").count() == 2),
        ),
    ]
}

fn selections() -> Vec<Case> {
    let of_dates: Mutex<HashSet<String>> = Mutex::default();
    vec![
        known("F-23", Fault::TokenLosesSet),
        case("F-23", move |heard, given| {
            let mut of_dates = of_dates.lock().unwrap();
            let own = heard.argument("resumptionToken").unwrap_or_default();
            if heard.is("ListIdentifiers") && of_dates.contains(&own) {
                let text = given.text();
                if let Some((_, rest)) = text.split_once("<datestamp>") {
                    given.replace_first(&rest[..20], "2020-01-01T00:00:00Z");
                }
            }
            if heard
                .argument("from")
                .is_some_and(|from| from.as_str() > "2020-01-01T01")
            {
                of_dates.extend(token(given).map(|(value, _)| value));
            }
        }),
        case("F-23", |heard, given| {
            if is_later(heard, "ListRecords") {
                given.replace("http://www.loc.gov/mods/v3", "http://www.loc.gov/mods/v2");
            }
        })
        .also(&["R-3"]),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
