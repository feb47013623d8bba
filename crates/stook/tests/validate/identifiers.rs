//! Repositories whose lists of identifiers are wrong.

use misbehave::{Given, Heard, Item, World};
use stook::validate::table::Severity;

use crate::harness::{Case, case, hold, world};

fn refuses(query: &'static str, wrong: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.query.starts_with(query) {
            given.answer_error(wrong);
        }
    }
}

/// With one record more, of that identifier.
fn with_identifier(identifier: &str) -> World {
    let mut world = world();
    if let Some(item) = world.item("oai:misbehave.example.org:11").cloned() {
        world.put(Item {
            identifier: identifier.to_owned(),
            ..item
        });
    }
    world
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("L-1", |_, _| {})
            .in_world(World::empty)
            .with_severity(Severity::Fatal),
        case("L-1", |_, _| {})
            .in_world(|| {
                let mut world = world();
                world.delete_all();
                world
            })
            .with_severity(Severity::Fatal),
        case("L-2", |_, _| {}).in_world(|| with_identifier("map-11")),
        case("L-2", |heard, given| {
            if heard.is("ListIdentifiers") {
                given.replace_first("<identifier>oai:misbehave.example.org:5</identifier>", "");
            }
        })
        .also(&["X-7", "F-6", "L-7"]),
        case("L-3", |heard, given| {
            if heard.query == "verb=ListIdentifiers&metadataPrefix=oai_dc" {
                let text = given.text();
                let second = text
                    .split("<header>")
                    .nth(2)
                    .and_then(|header| header.split_once("</header>"));
                let second = second.map_or(String::new(), |(header, _)| format!("<header>{header}</header>"));
                given.replace_first(&second, &second.repeat(2));
            }
        })
        .also(&["D-17", "F-6", "F-7", "F-8"]),
        case("L-4", |heard, given| {
            if heard.query == "verb=ListIdentifiers" {
                given.answer_error("cannotDisseminateFormat");
            }
        }),
        case(
            "L-5",
            refuses("verb=ListIdentifiers&metadataPrefix=mods", "cannotDisseminateFormat"),
        ),
        case(
            "L-6",
            refuses("verb=ListIdentifiers&metadataPrefix=illegal", "noRecordsMatch"),
        ),
        case("L-7", |heard, given| {
            let is_slice = heard.argument("from").is_some() && heard.argument("from") == heard.argument("until");
            if heard.is("ListIdentifiers") && is_slice {
                given.replace(":2</identifier>", ":222</identifier>");
            }
        }),
        case("L-8", |heard, given| {
            if heard.is("ListIdentifiers") && heard.argument("set").is_some() {
                given.answer_error("cannotDisseminateFormat");
            }
        })
        .also(&["D-19", "T-1", "T-2", "T-3", "T-5", "T-6", "T-7", "T-8", "Z-4"]),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
