//! Repositories whose records are not what they say.

use misbehave::{Fault, Given, Heard, Item, Script, When, World};
use stook::validate::table::Severity;

use crate::harness::{Case, case, hold, world};

/// Another text wherever records are.
fn replaced(old: &'static str, new: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.is("ListRecords") || heard.is("GetRecord") {
            given.replace(old, new);
        }
    }
}

const SCHEMA_OF_MODS: &str = " xsi:schemaLocation=\"http://www.loc.gov/mods/v3 \
    http://www.loc.gov/standards/mods/v3/mods-3-8.xsd\"";

/// A format whose rules are not known, but whose schema is.
const EAD: &str = "<metadataFormat><metadataPrefix>ead</metadataPrefix><schema>http://www.loc.gov/ead/ead.xsd</schema>\
    <metadataNamespace>urn:isbn:1-931666-22-9</metadataNamespace></metadataFormat></ListMetadataFormats>";

/// With a record that says nothing in oai_dc.
fn with_an_empty_record() -> World {
    let mut world = world();
    if let Some(mut item) = world.item("oai:misbehave.example.org:5").cloned() {
        let start = item.metadata.get("oai_dc").and_then(|xml| xml.split_once('>'));
        let empty = start.map_or(String::new(), |(start, _)| format!("{start}></oai_dc:dc>"));
        item.metadata.insert("oai_dc".to_owned(), empty);
        world.put(Item { ..item });
    }
    world
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("R-1", |heard, given| {
            if heard.query == "verb=ListRecords&metadataPrefix=oai_dc" {
                given.answer_error("noRecordsMatch");
            }
        })
        .also(&["F-3", "P-3"]),
        case("R-2", |heard, given| {
            if heard.query == "verb=ListRecords" {
                given.answer_error("cannotDisseminateFormat");
            }
        }),
    ];
    cases.extend(metadata());
    cases.extend([
        case(
            "R-8",
            replaced("</metadata>", "</metadata><about>Free for all.</about>"),
        )
        .also(&["X-7"]),
        case(
            "R-8",
            replaced(
                "</metadata>",
                "</metadata><about><x xmlns=\"urn:x\"/><y xmlns=\"urn:y\"/></about>",
            ),
        )
        .also(&["X-7"]),
        case("R-9", replaced("<mods ", "<mods ID=\"m1\" ")).also(&["X-7"]),
        case("R-10", |heard, given| {
            if heard.query.starts_with("verb=ListRecords&metadataPrefix=mods&from") {
                given.answer_error("cannotDisseminateFormat");
            }
        }),
        case("R-11", |heard, given| {
            if heard.is("ListRecords") {
                let (start, record) = match given.text().split_once("misbehave.example.org:2</identifier>") {
                    Some((start, record)) => (start.to_owned(), record.to_owned()),
                    None => return,
                };
                let (header, rest) = record.split_once("<metadata>").unwrap_or_default();
                let (_, rest) = rest.split_once("</metadata>").unwrap_or_default();
                given.body = format!("{start}misbehave.example.org:2</identifier>{header}{rest}").into_bytes();
            }
        }),
        case("R-12", |heard, given| {
            if heard.is("ListRecords") && heard.query.matches("metadataPrefix=oai_dc").count() == 2 {
                given.answer_error("cannotDisseminateFormat");
            }
        })
        .also(&["E-9"]),
    ]);
    cases
}

fn metadata() -> Vec<Case> {
    vec![
        case(
            "R-3",
            replaced(
                "<mods xmlns=\"http://www.loc.gov/mods/v3\"",
                "<mods xmlns=\"urn:other\"",
            ),
        )
        .also(&["X-7"]),
        case("R-4", replaced(SCHEMA_OF_MODS, "")).with_severity(Severity::Error),
        case("R-4", replaced("mods/v3/mods-3-8.xsd", "mods/v3/mods-3-5.xsd")).with_severity(Severity::Error),
        case(
            "R-4",
            replaced("http://www.loc.gov/standards", "https://www.loc.gov/standards"),
        )
        .with_severity(Severity::Warn),
        case("R-5", |_, _| {}).by(Script::new().fault(Fault::NamespacesOnRecord, When::always())),
        case("R-6", replaced("titleInfo>", "tilteInfo>")).also(&["X-7"]),
        case("R-6", |heard, given| {
            if heard.is("ListMetadataFormats") {
                given.replace("</ListMetadataFormats>", EAD);
            }
        })
        .with_severity(Severity::Info),
        case("R-7", replaced("<dc:creator>", "<dc:creator role=\"author\">"))
            .with_severity(Severity::Error)
            .also(&["X-7"]),
        case("R-7", replaced("dc:date>", "dc:issued>"))
            .with_severity(Severity::Error)
            .also(&["X-7", "Q-1", "Q-2"]),
        case("R-7", |_, _| {})
            .in_world(with_an_empty_record)
            .with_severity(Severity::Warn)
            .also(&["Q-1", "Q-4"]),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
