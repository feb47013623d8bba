//! Gateways for static repositories that describe themselves wrongly, or change what they pass on.

use std::sync::Arc;

use misbehave::{Endpoint, Given, Heard, Script};
use stook::validate::report::{Finding, Status, to_text};
use stook::validate::table;

use crate::harness::{Case, case, hold, validated};
use crate::static_repository::{serve_file, world};

/// A gateway for a file that is really there, whose answers are bent further.
fn gateway(breaks: &'static str, bend: impl Fn(&Heard<'_>, &mut Given) + Send + Sync + 'static) -> Case {
    let files = Arc::new(Endpoint::start_bent(world(), Script::new(), serve_file).unwrap());
    let source = files.url();
    let behind = source.trim_start_matches("http://").replace(':', "%3A");
    case(breaks, move |heard, given| {
        // As long as the gateway is there, so is the file.
        let source = files.url();
        describe(heard, given, &source);
        bend(heard, given);
    })
    .in_world(world)
    .at(format!("/gateway/{behind}"))
    // A file remembers no deletions.
    .also(&["I-10"])
}

fn describe(heard: &Heard<'_>, given: &mut Given, source: &str) {
    let host = heard.header("Host").unwrap_or_default();
    let description = format!(
        "<description><gateway xmlns=\"http://www.openarchives.org/OAI/2.0/gateway/\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/gateway/ http://www.openarchives.org/OAI/2.0/gateway.xsd\">\
         <source>{source}</source>\
         <gatewayDescription>http://www.openarchives.org/OAI/2.0/guidelines-static-repository.htm</gatewayDescription>\
         <gatewayAdmin>keeper@example.org</gatewayAdmin><gatewayURL>http://{host}/gateway</gatewayURL>\
         </gateway></description></Identify>"
    );
    given.replace("</Identify>", &description);
    if heard.argument("set").is_some() && heard.is("ListRecords") {
        given.answer_error("noSetHierarchy");
    }
}

pub fn cases() -> Vec<Case> {
    vec![
        gateway("GW-7", |_, given| {
            given.replace("guidelines-static-repository.htm", "guidelines-gateway.htm")
        }),
        gateway("GW-7", |_, given| {
            given.replace("/gateway</gatewayURL>", "/gate</gatewayURL>")
        }),
        gateway("GW-9", |heard, given| {
            let is_plain = heard.argument("set").is_some() && heard.argument("from").is_none();
            if is_plain && heard.is("ListRecords") {
                given.answer_error("noRecordsMatch");
            }
        })
        .also(&["S-10", "I-10"]),
        gateway("GW-12", |heard, given| {
            if heard.is("ListRecords") || heard.is("GetRecord") {
                given.replace("<dc:type>Text</dc:type>", "<dc:type>Image</dc:type>");
            }
        }),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn a_good_gateway_is_compared_with_its_file() {
    let files = Endpoint::start_bent(world(), Script::new(), serve_file).unwrap();
    let source = files.url();
    let path = format!("/gateway/{}", source.trim_start_matches("http://").replace(':', "%3A"));
    let bend = move |heard: &Heard<'_>, given: &mut Given| describe(heard, given, &source);
    let endpoint = Endpoint::start_bent_at(&path, world(), Script::new(), bend).unwrap();
    let report = validated(&endpoint.url(), |_| {});
    // A file remembers no deletions, which is worth a recommendation elsewhere.
    let is_serious = |finding: &&Finding| crate::harness::is_serious(finding) && finding.check != "I-10";
    assert!(!report.findings().iter().any(is_serious), "{}", to_text(&report));
    for id in ["GW-7", "GW-9", "GW-12"] {
        assert_eq!(report.status(table::check(id).unwrap()), Status::Holds, "{id}");
    }
}
