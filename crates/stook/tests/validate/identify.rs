//! Repositories that say something wrong of themselves.

use misbehave::{Fault, Given, Heard, Script, When, World};
use stook::validate::table::Severity;
use stook_oai::DeletedRecord;

use crate::harness::{Case, case, hold, world};

/// Another text between two tags of Identify.
fn said(name: &'static str, text: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.is("Identify") {
            given.replace_between(&format!("<{name}>"), &format!("</{name}>"), text);
        }
    }
}

/// Without an element of Identify.
fn without(name: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        said(name, "")(heard, given);
        given.replace(&format!("<{name}></{name}>"), "");
    }
}

/// With something more at the end of Identify.
fn with(more: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.is("Identify") {
            given.replace("</Identify>", &format!("{more}</Identify>"));
        }
    }
}

/// One error for another.
fn refuses(query: &'static str, wrong: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.query.starts_with(query) {
            given.answer_error(wrong);
        }
    }
}

/// Without deleted records, and said to be so.
fn forgetful() -> World {
    let mut world = world();
    world.deleted_record = DeletedRecord::No;
    for identifier in world.identifiers() {
        if world.item(&identifier).is_some_and(|item| item.deleted) {
            world.remove(&identifier);
        }
    }
    world
}

fn base_url_becomes(end: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |_, given| given.replace("/oai</", &format!("/{end}</"))
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("I-1", |heard, given| {
            if heard.query == "verb=Identify" {
                given.answer_error("badVerb");
            }
        })
        .also(&["X-12"]),
        case("I-2", said("repositoryName", "")),
        case("I-2", with("<repositoryName>Another</repositoryName>")).also(&["I-11", "X-7"]),
        case("I-3", base_url_becomes("other")),
        case("I-3", said("baseURL", "")).also(&["X-10", "X-7"]),
        case("I-4", base_url_becomes("oai#top")).with_severity(Severity::Error),
        case("I-4", |_, _| {})
            .by(Script::new().fault(Fault::BaseUrlWithQuery, When::always()))
            .with_severity(Severity::Warn),
        case("I-5", said("protocolVersion", "1.1")).with_severity(Severity::Fatal),
        case("I-5", said("protocolVersion", "2"))
            .with_severity(Severity::Error)
            .also(&["X-7"]),
        case("I-6", without("adminEmail")).also(&["X-7"]),
        case("I-6", said("adminEmail", "root@localhost")).with_severity(Severity::Error),
        case("I-6", said("adminEmail", "the library")).with_severity(Severity::Error),
        case("I-6", said("adminEmail", "mailto:oai@misbehave.example.org")).with_severity(Severity::Warn),
        case("I-6", said("adminEmail", "dspace-help@myu.edu")).with_severity(Severity::Warn),
        case("I-6", said("adminEmail", "oai@example.org")).with_severity(Severity::Info),
        case("I-7", said("granularity", "yyyy-mm-dd")).with_severity(Severity::Fatal),
        case("I-7", said("granularity", " YYYY-MM-DDThh:mm:ssZ "))
            .with_severity(Severity::Error)
            .also(&["X-7"]),
        case("I-8", said("earliestDatestamp", "2020-01-01")),
        case("I-8", said("earliestDatestamp", "2999-01-01T00:00:00Z")).also(&["D-1"]),
        case("I-8", said("earliestDatestamp", "a long time ago")),
        case("I-9", said("deletedRecord", "sometimes")),
        case("I-10", |_, _| {}).in_world(forgetful).with_severity(Severity::Rec),
        case("I-11", with("<granularity>YYYY-MM-DDThh:mm:ssZ</granularity>")).also(&["X-7"]),
        case("I-11", with("<compression>gzip</compression><contact>me</contact>")).also(&["X-7", "C-3"]),
    ];
    cases.extend(described());
    cases.extend([
        case("I-13", refuses("verb=Identify&test", "idDoesNotExist")),
        case("I-14", refuses("verb=Identify&identifier", "idDoesNotExist")),
        case("I-15", said("earliestDatestamp", "2020-01-01T12:00:00Z")).also(&["D-1"]),
        case("I-16", said("earliestDatestamp", "1970-01-01T00:00:00Z")).with_severity(Severity::Rec),
        case("I-17", |_, _| {}).with_severity(Severity::Info),
    ]);
    cases
}

/// Descriptions that are none.
fn described() -> Vec<Case> {
    let wrong = [
        "",
        "A library.",
        "<about>A library.</about>",
        "<x xmlns=''/>",
        "<a xmlns='urn:a'/><b xmlns='urn:b'/>",
        "<a xmlns='urn:a'/>",
    ];
    let described = |text: &'static str| {
        move |heard: &Heard<'_>, given: &mut Given| {
            if heard.is("Identify") {
                given.replace("</Identify>", &format!("<description>{text}</description></Identify>"));
            }
        }
    };
    wrong
        .into_iter()
        .map(|text| case("I-12", described(text)).also(&["X-7"]))
        .collect()
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
