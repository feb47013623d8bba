//! Aggregators that forget where their records come from, or when they came.

use misbehave::{Given, Heard};
use stook::validate::report::{Status, to_text};
use stook::validate::table::{self, Severity};

use crate::harness::{Case, case, hold, is_serious, validated, world};

/// Every record with a provenance; `bend` may change it further.
fn aggregator(breaks: &'static str, bend: fn(&Heard<'_>, &mut Given)) -> Case {
    case(breaks, move |heard, given| {
        provenance(given);
        bend(heard, given);
    })
}

fn provenance(given: &mut Given) {
    const ABOUT: &str = "</metadata><about><provenance xmlns=\"http://www.openarchives.org/OAI/2.0/provenance\" \
        xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
        xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/provenance \
        http://www.openarchives.org/OAI/2.0/provenance.xsd\">\
        <originDescription harvestDate=\"2019-12-31T23:59:59Z\" altered=\"true\"><baseURL>http://source.example.org/oai</baseURL>\
        <identifier>oai:source.example.org:1</identifier><datestamp>2011-02-01</datestamp>\
        <metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace>\
        </originDescription></provenance></about>";
    given.replace("</metadata>", ABOUT);
}

pub fn cases() -> Vec<Case> {
    vec![
        aggregator("AG-1", |_, given| {
            given.replace("2019-12-31T23:59:59Z", "2024-01-01T00:00:00Z")
        }),
        aggregator("AG-2", |_, given| {
            given.replace_between("<datestamp>2020-01-01", "<", "")
        })
        .also(&["D-1", "D-2", "D-3", "G-2", "L-2", "X-7"]),
        aggregator("AG-3", |_, given| {
            given.replace("oai:source.example.org:1<", "oai:misbehave.example.org:0<");
        })
        .with_severity(Severity::Warn),
        aggregator("AG-4", |heard, given| {
            if heard.is("ListRecords") {
                let text = given.text();
                let about = text.find("<about>").zip(text.find("</about>"));
                if let Some((start, end)) = about {
                    given.body = format!("{}{}", &text[..start], &text[end + "</about>".len()..]).into_bytes();
                }
            }
        })
        .with_severity(Severity::Warn),
        aggregator("AG-4", |heard, given| {
            if heard.is("ListMetadataFormats") {
                return;
            }
            given.replace("altered=\"true\"", "altered=\"false\"");
            given.replace(
                "<metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/<",
                "<metadataNamespace>http://www.loc.gov/mods/v3<",
            );
        })
        .with_severity(Severity::Error),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn a_good_aggregator_has_no_finding() {
    let bend = |_: &Heard<'_>, given: &mut Given| provenance(given);
    let endpoint = misbehave::Endpoint::start_bent(world(), misbehave::Script::new(), bend).unwrap();
    let report = validated(&endpoint.url(), |_| {});
    assert!(!report.findings().into_iter().any(is_serious), "{}", to_text(&report));
    for id in ["AG-1", "AG-2", "AG-3", "AG-4"] {
        assert_eq!(report.status(table::check(id).unwrap()), Status::Holds, "{id}");
    }
}
