//! Repositories whose formats are not what they say.

use misbehave::{Given, Heard};
use stook::validate::table::Severity;

use crate::harness::{Case, case, hold};

/// Another text in the list of the repository's formats.
fn listed(old: &'static str, new: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.query == "verb=ListMetadataFormats" {
            given.replace(old, new);
        }
    }
}

/// One format more, in all lists of formats.
fn with(format: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.is("ListMetadataFormats") {
            given.replace("</ListMetadataFormats>", &format!("{format}</ListMetadataFormats>"));
        }
    }
}

fn refuses(query: &'static str, wrong: &'static str) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.query.starts_with(query) {
            given.answer_error(wrong);
        }
    }
}

/// A format whose schema is at the endpoint itself, where something else than that schema is.
fn with_schema(answer: &'static str, status: u16) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| {
        if heard.query == "schema" {
            given.status = status;
            given.body = answer.into();
        }
        if heard.query == "verb=ListMetadataFormats" {
            let text = given.text();
            let own = text
                .split_once("</request>")
                .and_then(|(start, _)| start.rsplit_once('>'));
            let own = own.map_or("", |(_, own)| own);
            let format = format!(
                "<metadataFormat><metadataPrefix>own</metadataPrefix><schema>{own}?schema</schema>\
                 <metadataNamespace>urn:own</metadataNamespace></metadataFormat></ListMetadataFormats>"
            );
            given.replace("</ListMetadataFormats>", &format);
        }
    }
}

const TWIN: &str = "<metadataFormat><metadataPrefix>dublin_core</metadataPrefix>\
    <schema>http://www.openarchives.org/OAI/2.0/oai_dc.xsd</schema>\
    <metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></metadataFormat>";
const AGAIN: &str = "<metadataFormat><metadataPrefix>mods</metadataPrefix>\
    <schema>http://www.loc.gov/standards/mods/v3/mods-3-8.xsd</schema>\
    <metadataNamespace>http://www.loc.gov/mods/v3</metadataNamespace></metadataFormat>";
const ALL: &str = "<metadataFormat><metadataPrefix>all</metadataPrefix>\
    <schema>http://www.loc.gov/ead/ead.xsd</schema>\
    <metadataNamespace>urn:isbn:1-931666-22-9</metadataNamespace></metadataFormat>";
const ODD: &str = "<metadataFormat><metadataPrefix>ead/2002</metadataPrefix>\
    <schema>http://www.loc.gov/ead/ead.xsd</schema>\
    <metadataNamespace>urn:isbn:1-931666-22-9</metadataNamespace></metadataFormat>";

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("M-1", |heard, given| {
            if heard.query == "verb=ListMetadataFormats" {
                given.answer_error("noMetadataFormats");
            }
        }),
        // The list alone; records in oai_dc are there all the same.
        case("M-2", |heard, given| {
            if heard.query == "verb=ListMetadataFormats" {
                given.replace_first("<metadataFormat>", "<!--");
                given.replace_first("</metadataFormat>", "-->");
            }
        }),
        case("M-3", listed("OAI/2.0/oai_dc.xsd", "OAI/2.0/dc.xsd"))
            .also(&["R-4"])
            .with_severity(Severity::Error),
        case("M-3", |heard, given| {
            if heard.is("ListMetadataFormats") {
                given.replace(
                    "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
                    "https://www.openarchives.org/OAI/2.0/oai_dc.xsd",
                );
            }
        })
        .also(&["R-4"])
        .with_severity(Severity::Warn),
        case("M-4", with(AGAIN)).with_severity(Severity::Error),
        case("M-4", with(ODD)).with_severity(Severity::Error).also(&["X-7"]),
        case("M-4", with(ALL)).with_severity(Severity::Warn),
        case("M-5", with(TWIN)),
        case(
            "M-6",
            with_schema(
                "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:other'/>",
                200,
            ),
        )
        .with_severity(Severity::Warn),
        case("M-6", with_schema("<html/>", 200)).with_severity(Severity::Warn),
        case("M-6", with_schema("gone", 404)).with_severity(Severity::Info),
        case("M-7", |heard, given| {
            if heard.is("ListMetadataFormats") && heard.argument("identifier").is_some() {
                given.replace("<metadataPrefix>mods<", "<metadataPrefix>marc21<");
            }
        }),
        case("M-7", |heard, given| {
            let identifier = heard.argument("identifier");
            if heard.is("ListMetadataFormats") && identifier.as_deref() == Some("oai:misbehave.example.org:0") {
                given.answer_error("idDoesNotExist");
            }
        })
        .also(&["E-9", "M-10", "X-12"]),
        case(
            "M-8",
            refuses("verb=ListMetadataFormats&identifier=really", "noMetadataFormats"),
        ),
        case(
            "M-9",
            refuses("verb=ListMetadataFormats&resumptionToken", "badResumptionToken"),
        ),
        case("M-10", |heard, given| {
            if heard.is("ListMetadataFormats") && heard.query.matches("identifier=").count() == 2 {
                given.answer_error("idDoesNotExist");
            }
        })
        .also(&["E-9"]),
        case("M-11", |heard, given| {
            let identifier = heard.argument("identifier");
            if heard.is("ListMetadataFormats") && identifier.as_deref() == Some("oai:misbehave.example.org:7") {
                given.answer_error("idDoesNotExist");
            }
        }),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}
