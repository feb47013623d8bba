//! Repositories that give single records wrongly.

use misbehave::{Given, Heard};

use crate::harness::{Case, case, hold};

/// Something else for the record that every run asks for.
fn of_the_sample(bend: fn(&mut Given)) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        let is_it = heard.argument("identifier").as_deref() == Some("oai:misbehave.example.org:0");
        let is_plain = heard.query.matches('&').count() == 2;
        if heard.is("GetRecord") && is_it && is_plain && heard.argument("metadataPrefix").as_deref() == Some("oai_dc") {
            bend(given);
        }
    }
}

/// One error for another where a query holds a text.
fn refuses(part: &'static str, wrong: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.is("GetRecord") && heard.query.contains(part) {
            given.answer_error(wrong);
        }
    }
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("G-1", of_the_sample(|given| given.answer_error("idDoesNotExist"))).also(&["P-2"]),
        case(
            "G-1",
            of_the_sample(|given| {
                given.replace(
                    "<identifier>oai:misbehave.example.org:0<",
                    "<identifier>oai:misbehave.example.org:1<",
                )
            }),
        ),
        case(
            "G-1",
            of_the_sample(|given| {
                given.replace_between("<metadata>", "</metadata>", "");
                given.replace("<metadata></metadata>", "");
            }),
        )
        .also(&["R-11"]),
        case(
            "G-2",
            of_the_sample(|given| given.replace("00Z</datestamp>", "00.000Z</datestamp>")),
        )
        .also(&["D-1", "X-7"]),
        case(
            "G-2",
            of_the_sample(|given| given.replace("T00:00:00Z</datestamp>", "</datestamp>")),
        )
        .also(&["D-1"]),
        case(
            "G-3",
            of_the_sample(|given| {
                given.replace("2020-01-01T00:00:00Z</datestamp>", "2020-01-01T00:00:01Z</datestamp>")
            }),
        ),
        case(
            "G-3",
            of_the_sample(|given| given.replace("<setSpec>maps</setSpec>", "")),
        )
        .also(&["G-14"]),
        case("G-4", refuses("metadataPrefix=mods", "cannotDisseminateFormat")),
        case("G-5", |heard, given| {
            if heard.is("GetRecord") && heard.argument("metadataPrefix").is_none() {
                given.answer_error("cannotDisseminateFormat");
            }
        }),
        case("G-6", |heard, given| {
            if heard.query == "verb=GetRecord&metadataPrefix=oai_dc" {
                given.answer_error("idDoesNotExist");
            }
        }),
        case("G-7", |heard, given| {
            let is_there = heard
                .argument("identifier")
                .is_some_and(|identifier| identifier.starts_with("oai:"));
            if is_there && heard.argument("metadataPrefix").as_deref() == Some("really_wrong_mdp") {
                given.answer_error("idDoesNotExist");
            }
        }),
        case(
            "G-8",
            refuses("=really_wrong_id&metadataPrefix=oai_dc", "cannotDisseminateFormat"),
        ),
        case("G-9", refuses("invalid%22id", "cannotDisseminateFormat")),
        case(
            "G-10",
            refuses("=really_wrong_id&metadataPrefix=really", "noRecordsMatch"),
        )
        .also(&["X-15"]),
        case("G-11", refuses("&set=x", "idDoesNotExist")),
        case("G-12", refuses("oai:misbehave", "idDoesNotExist")),
        case("G-13", |heard, given| {
            if heard.argument("identifier").as_deref() == Some("OAI:MISBEHAVE.EXAMPLE.ORG:0") {
                given.answer_error("idDoesNotExist");
                let record = "<GetRecord><record><header><identifier>oai:misbehave.example.org:0</identifier>\
                    <datestamp>2020-01-01T00:00:00Z</datestamp><setSpec>maps</setSpec></header><metadata>\
                    <oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
                    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
                    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
                    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
                    http://www.openarchives.org/OAI/2.0/oai_dc.xsd\"><dc:title>Bent</dc:title></oai_dc:dc>\
                    </metadata></record></GetRecord>";
                given.replace("<error code=\"idDoesNotExist\">Bent.</error>", record);
            }
        }),
        case("G-14", |heard, given| {
            let is_sample = heard
                .argument("identifier")
                .is_some_and(|identifier| identifier.ends_with(":0"));
            if heard.is("GetRecord") && !is_sample {
                given.replace_between("<setSpec>", "</setSpec>", "photographs");
            }
        }),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
