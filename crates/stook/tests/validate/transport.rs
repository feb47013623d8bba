//! Endpoints whose answers travel in the wrong way.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use misbehave::{Fault, Given, Heard, Script, When};
use stook::validate::table::Severity;
use stook_oai::Verb;

use crate::harness::{Case, case, hold};

/// A request whose answer is an error, and that only one check asks for.
const SELDOM: &str = "verb=Identify&nonsense=1";

pub fn cases() -> Vec<Case> {
    let mut cases = statuses_and_types();
    cases.extend(limits());
    cases.extend(delays());
    cases.extend(redirects());
    cases.extend(others());
    cases
}

/// Bends every second answer to a request: the validator follows, and gets the good one.
fn at_first(
    query: &'static str,
    bend: impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static,
) -> impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static {
    let heard_so_far = AtomicUsize::new(0);
    move |heard, given| {
        if heard.method == "GET" && heard.query == query && heard_so_far.fetch_add(1, SeqCst).is_multiple_of(2) {
            bend(heard, given);
        }
    }
}

fn answering(
    query: &'static str,
    bend: impl Fn(&mut Given) + Send + Sync + 'static,
) -> impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static {
    move |heard, given| {
        if heard.method == "GET" && heard.query == query {
            bend(given);
        }
    }
}

fn redirect(status: u16, to: impl Fn(&str) -> String + Send + Sync + 'static) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        let host = heard.header("Host").unwrap_or_default();
        given.status = status;
        given.set_header("Location", &to(&format!("http://{host}/oai?{}", heard.query)));
        given.body.clear();
    }
}

fn web_page(given: &mut Given) {
    given.set_header("Content-Type", "text/html");
    given.body = b"<!DOCTYPE html><html><head><title>Log in</title></head></html>".to_vec();
}

fn statuses_and_types() -> Vec<Case> {
    let by_script = |fault, when: When| case("H-1", |_, _| {}).by(Script::new().page_size(20).fault(fault, when));
    vec![
        by_script(Fault::Status400WithErrors, When::always()).with_severity(Severity::Error),
        case("H-1", answering(SELDOM, |given| given.status = 404)).with_severity(Severity::Error),
        by_script(Fault::ResetAtOnce, When::always().on(Verb::Identify)).with_severity(Severity::Fatal),
        by_script(Fault::InternalServerError, When::always().on(Verb::Identify)).with_severity(Severity::Fatal),
        case("H-2", |_, given| {
            given.set_header("Content-Type", "application/xml; charset=UTF-8");
        })
        .with_severity(Severity::Warn),
        case("H-2", |_, given| given.set_header("Content-Type", "text/html")).with_severity(Severity::Error),
        case("H-2", |_, given| given.remove_header("Content-Type")).with_severity(Severity::Error),
        case("H-2", answering(SELDOM, web_page)).with_severity(Severity::Error),
        case("H-2", answering("verb=Identify", web_page)).with_severity(Severity::Fatal),
        case("H-3", |_, given| {
            given.set_header("Content-Type", "text/xml; charset=ISO-8859-1");
        })
        .with_severity(Severity::Error),
    ]
}

fn limits() -> Vec<Case> {
    let silent = case("H-4", |heard, _| {
        if heard.query == SELDOM {
            std::thread::sleep(Duration::from_secs(4));
        }
    });
    let large = case(
        "H-4",
        answering(SELDOM, |given| given.body.extend(vec![b' '; 2_000_000])),
    );
    vec![
        silent
            .with(|options| options.manners.timeout = Duration::from_secs(3))
            .with_severity(Severity::Warn),
        large
            .with(|options| options.manners.most_bytes = 1_500_000)
            .with_severity(Severity::Warn),
    ]
}

fn delays() -> Vec<Case> {
    let later = |told: Option<&'static str>| {
        move |_: &Heard<'_>, given: &mut Given| {
            given.status = 503;
            given.body.clear();
            if let Some(told) = told {
                given.set_header("Retry-After", told);
            }
        }
    };
    let always = |told| {
        move |heard: &Heard<'_>, given: &mut Given| {
            if heard.query == SELDOM {
                later(told)(heard, given);
            }
        }
    };
    vec![
        case("H-5", at_first(SELDOM, later(None))).with_severity(Severity::Warn),
        case("H-5", at_first(SELDOM, later(Some("in a while")))).with_severity(Severity::Error),
        case("H-5", at_first(SELDOM, later(Some("9999")))).with_severity(Severity::Fatal),
        case("H-5", always(Some("0"))).with_severity(Severity::Fatal),
        case("H-5", at_first(SELDOM, later(Some("3000")))).with_severity(Severity::Info),
        case("H-5", at_first("verb=Identify", later(None))).with_severity(Severity::Fatal),
    ]
}

fn redirects() -> Vec<Case> {
    let path = |url: &str| {
        url.split_once("/oai")
            .map_or(String::new(), |(_, query)| format!("/oai{query}"))
    };
    let without_query = |url: &str| url.split('?').next().unwrap_or_default().to_owned();
    let lost = answering(SELDOM, |given| {
        given.status = 302;
        given.body.clear();
    });
    vec![
        case("H-6", at_first(SELDOM, redirect(302, path))).with_severity(Severity::Error),
        // Answered with badVerb here as there.
        case(
            "H-6",
            at_first("verb=Identify&verb=Identify", redirect(302, without_query)),
        ),
        case("H-6", lost),
        case("H-6", move |heard, given| {
            if heard.query == SELDOM {
                redirect(302, str::to_owned)(heard, given);
            }
        }),
        case("H-7", at_first("verb=Identify", redirect(301, str::to_owned))),
        case("H-7", at_first(SELDOM, redirect(308, str::to_owned))),
        case(
            "H-8",
            at_first(
                "verb=Identify",
                redirect(302, |url| url.replace("127.0.0.1", "localhost")),
            ),
        ),
    ]
}

fn others() -> Vec<Case> {
    let to_identify = |fault| {
        Script::new()
            .page_size(20)
            .fault(fault, When::always().on(Verb::Identify))
    };
    let is_list = |heard: &Heard<'_>| heard.query == "verb=ListIdentifiers&metadataPrefix=oai_dc";
    let count = AtomicUsize::new(0);
    vec![
        case("H-9", |_, _| {})
            .by(Script::new().fault(Fault::TlsTooOld, When::always()))
            .with_severity(Severity::Fatal),
        case("H-10", |heard, given| {
            if heard.method == "DELETE" {
                given.status = 500;
            }
        }),
        case("H-11", move |heard, given| {
            if is_list(heard) {
                let name = format!("<setSpec>order-{}</setSpec></header>", count.fetch_add(1, SeqCst));
                given.replace_first("</header>", &name);
            }
        })
        .with(|options| options.only = vec!["H".to_owned()]),
        case("H-12", |heard, given| {
            if heard.is("Identify") {
                given.body.clear();
            }
        })
        .with_severity(Severity::Fatal),
        case("H-12", |_, _| {})
            .by(to_identify(Fault::TruncatedXml))
            .with_severity(Severity::Fatal),
        case("H-12", |_, _| {})
            .by(to_identify(Fault::UnexpectedEnd))
            .with_severity(Severity::Fatal),
        case("H-12", |_, _| {})
            .by(Script::new()
                .page_size(20)
                .fault(Fault::NoticeAfterRoot, When::always()))
            .with_severity(Severity::Error),
        case("H-13", |_, _| {}).with_severity(Severity::Info),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
