//! Repositories that tell wrongly of deletions.

use misbehave::{Fault, Given, Heard, Script, When, World};
use stook::validate::Options;
use stook::validate::table::Severity;
use stook_oai::DeletedRecord;

use crate::harness::{Case, case, hold, world};

/// Says that there is no record that is listed as deleted.
fn forgets(heard: &Heard<'_>, given: &mut Given) {
    let is_deleted = heard.argument("identifier").as_deref() == Some("oai:misbehave.example.org:7");
    if heard.is("GetRecord") && is_deleted {
        given.answer_error("idDoesNotExist");
    }
}

fn transient() -> World {
    let mut world = world();
    world.deleted_record = DeletedRecord::Transient;
    world
}

/// Keeps deletions, but has none.
fn without_deletions() -> World {
    let mut world = world();
    for identifier in world.identifiers() {
        if world.item(&identifier).is_some_and(|item| item.deleted) {
            world.remove(&identifier);
        }
    }
    world
}

/// Edits each header of a deleted record; nothing takes it out.
fn edit_deleted(given: &mut Given, edit: impl Fn(&str) -> Option<String>) {
    const START: &str = "<header status=\"deleted\">";
    let text = given.text();
    let mut pieces = text.split(START);
    let mut bent = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (header, rest) = piece.split_once("</header>").unwrap_or((piece, ""));
        if let Some(header) = edit(header) {
            bent.push_str(&format!("{START}{header}</header>"));
        }
        bent.push_str(rest);
    }
    given.body = bent.into_bytes();
}

/// The report of a run that met a record which is not there any more.
fn with_an_earlier_report(options: &mut Options) {
    let path = std::env::temp_dir().join(format!("stook-earlier-{}.json", std::process::id()));
    let report =
        "{\"seen\": [{\"identifier\": \"oai:misbehave.example.org:1000\", \"datestamp\": \"2020-01-01T00:00:00Z\"}]}";
    if std::fs::write(&path, report).is_ok() {
        options.earlier = Some(path);
    }
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("Z-1", |heard, given| {
            if heard.is("Identify") {
                given.replace_between("<deletedRecord>", "</deletedRecord>", "no");
            }
        })
        .also(&["I-10"]),
        case("Z-2", |_, given| {
            given.replace(
                "</header></record>",
                "</header><metadata><x xmlns=\"urn:x\"/></metadata></record>",
            );
        })
        .also(&["X-7"]),
        case("Z-3", forgets).with_severity(Severity::Error),
        case("Z-3", forgets).in_world(transient).with_severity(Severity::Warn),
        case("Z-4", |_, given| {
            edit_deleted(given, |header| {
                let (start, _) = header.split_once("<setSpec>").unwrap_or((header, ""));
                Some(start.to_owned())
            });
        })
        .also(&["T-1"]),
        case("Z-4", |_, _| {}).by(Script::new()
            .page_size(20)
            .fault(Fault::DeletionsOutsideSets, When::always())),
        case("Z-5", |heard, given| {
            if heard.is("ListIdentifiers") && heard.argument("from").is_some() && heard.argument("set").is_none() {
                edit_deleted(given, |_| None);
            }
        })
        .also(&["D-4", "D-5", "D-21", "L-7"]),
        case("Z-6", |heard, given| {
            if heard.is("ListIdentifiers") {
                given.replace_between("completeListSize=\"", "\"", "50000");
            }
        })
        .in_world(without_deletions)
        .with_severity(Severity::Info)
        .also(&["F-6", "F-8"]),
        case("Z-7", |_, _| {}).with(with_an_earlier_report),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn what_one_run_met_a_later_one_asks_for() {
    use misbehave::Endpoint;
    use stook::validate::report::{Status, to_json, to_text};
    use stook::validate::table;

    let endpoint = Endpoint::start(world(), Script::new().page_size(20)).unwrap();
    let report = crate::harness::validated(&endpoint.url(), |_| {});
    let json: serde_json::Value = serde_json::from_str(&to_json(&report)).unwrap();
    let seen = json["seen"].as_array().unwrap();
    assert!(seen.len() > 20, "{}", seen.len());
    let deleted = seen.iter().find(|seen| seen["deleted"] == true).unwrap();
    assert_eq!(deleted["identifier"], "oai:misbehave.example.org:7");
    assert!(deleted["datestamp"].as_str().unwrap().starts_with("2020-01-01T"));
    let again = crate::harness::validated(&endpoint.url(), |options| {
        let path = std::env::temp_dir().join(format!("stook-first-{}.json", std::process::id()));
        let seen = "{\"seen\": [{\"identifier\": \"oai:misbehave.example.org:99\", \"datestamp\": \"x\"}]}";
        std::fs::write(&path, seen).unwrap();
        options.earlier = Some(path);
    });
    let check = table::check("Z-7").unwrap();
    assert_eq!(again.status(check), Status::Holds, "{}", to_text(&again));
}
