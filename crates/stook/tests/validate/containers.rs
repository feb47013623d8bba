//! Repositories with descriptions that are wrong, and with some that are not.

use misbehave::{Endpoint, Given, Heard, Item, Script, World};
use stook::validate::report::{Status, to_text};
use stook::validate::table::{self, Severity};

use crate::harness::{Case, case, hold, is_serious, validated, world};

/// An element of a namespace, with its schema, and what is inside.
fn element(start: &str, namespace: &str, inside: &str) -> String {
    let name = start.split(' ').next().unwrap_or_default();
    format!(
        "<{start} xmlns=\"{namespace}\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xsi:schemaLocation=\"{namespace} http://www.openarchives.org/OAI/2.0/{name}.xsd\">{inside}</{name}>"
    )
}

fn describe(heard: &Heard<'_>, given: &mut Given, elements: &[String]) {
    if heard.is("Identify") {
        let all: String = elements
            .iter()
            .map(|one| format!("<description>{one}</description>"))
            .collect();
        given.replace("</Identify>", &format!("{all}</Identify>"));
    }
}

fn describe_sets(heard: &Heard<'_>, given: &mut Given, element: &str) {
    if heard.is("ListSets") {
        let name = "<setName>Photographs</setName>";
        given.replace(name, &format!("{name}<setDescription>{element}</setDescription>"));
    }
}

/// Says something about every record that is there.
fn say_about(given: &mut Given, elements: &[String]) {
    let all: String = elements.iter().map(|one| format!("<about>{one}</about>")).collect();
    given.replace("</metadata>", &format!("</metadata>{all}"));
}

fn described(elements: Vec<String>) -> impl Fn(&Heard<'_>, &mut Given) {
    move |heard, given| describe(heard, given, &elements)
}

fn about(elements: Vec<String>) -> impl Fn(&Heard<'_>, &mut Given) {
    move |_, given| say_about(given, &elements)
}

fn identifier(version: &str, repository: &str, scheme: &str, sample: &str) -> String {
    element(
        "oai-identifier",
        &format!("http://www.openarchives.org/OAI/{version}/oai-identifier"),
        &format!(
            "<scheme>{scheme}</scheme><repositoryIdentifier>{repository}</repositoryIdentifier>\
             <delimiter>:</delimiter><sampleIdentifier>{sample}</sampleIdentifier>"
        ),
    )
}

const OWN: &str = "misbehave.example.org";
const SAMPLE: &str = "oai:misbehave.example.org:1";
const REFERENCE: &str = "<rightsReference ref=\"http://example.org/free\"/>";

fn friends(inside: &str) -> String {
    element("friends", "http://www.openarchives.org/OAI/2.0/friends/", inside)
}

fn rights(inside: &str) -> String {
    element("rights", "http://www.openarchives.org/OAI/2.0/rights/", inside)
}

fn manifest(attributes: &str, inside: &str) -> String {
    let start = format!("rightsManifest {attributes}");
    element(&start, "http://www.openarchives.org/OAI/2.0/rights/", inside)
}

fn origin(harvested: &str, more: &str) -> String {
    format!(
        "<originDescription harvestDate=\"{harvested}\" altered=\"true\"><baseURL>http://example.org/oai</baseURL>\
         <identifier>oai:example.org:1</identifier><datestamp>2019-05-31</datestamp>\
         <metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace>{more}</originDescription>"
    )
}

fn provenance(inside: &str) -> String {
    element("provenance", "http://www.openarchives.org/OAI/2.0/provenance", inside)
}

fn eprints(inside: &str) -> String {
    element("eprints", "http://www.openarchives.org/OAI/1.1/eprints", inside)
}

fn gateway() -> String {
    element(
        "gateway",
        "http://www.openarchives.org/OAI/2.0/gateway/",
        "<source>http://example.org/catalogue</source><gatewayDescription>\
         http://example.org/about-our-z3950-gateway</gatewayDescription>\
         <gatewayAdmin>gateway@misbehave.example.org</gatewayAdmin>",
    )
}

fn branding(title: &str) -> String {
    element(
        "branding",
        "http://www.openarchives.org/OAI/2.0/branding/",
        &format!("<collectionIcon><url>http://example.org/icon.png</url>{title}</collectionIcon>"),
    )
}

const METADATA: &str = "appliesTo=\"http://www.openarchives.org/OAI/2.0/entity#metadata\"";

fn manifest_of_rights() -> String {
    manifest(METADATA, &format!("<rights>{REFERENCE}</rights>"))
}

fn chain() -> String {
    provenance(&origin("2019-06-01T00:00:00Z", &origin("2018-06-01T00:00:00Z", "")))
}

/// With records of those identifiers.
fn with_identifiers(identifiers: &[&str]) -> World {
    let mut world = world();
    if let Some(item) = world.item("oai:misbehave.example.org:11").cloned() {
        for identifier in identifiers {
            world.put(Item {
                identifier: (*identifier).to_owned(),
                ..item.clone()
            });
        }
    }
    world
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = of_identifiers();
    cases.extend([
        case("K-5", described(vec![friends("<baseURL>/oai</baseURL>")])),
        case(
            "K-5",
            described(vec![element(
                "friends",
                "http://www.openarchives.org/OAI/2.0/friends",
                "",
            )]),
        ),
        case("K-6", about(vec![rights(REFERENCE), rights(REFERENCE)])),
        case("K-6", about(vec![rights(&REFERENCE.repeat(2))])).also(&["X-7"]),
        case("K-6", about(vec![rights("<rightsDefinition>Free.</rightsDefinition>")])).also(&["X-7"]),
        case("K-6", about(vec![rights("")])).also(&["X-7"]),
        case(
            "K-7",
            described(vec![manifest("", &format!("<rights>{REFERENCE}</rights>"))]),
        )
        .with_severity(Severity::Warn),
        case("K-7", |heard, given| {
            describe_sets(heard, given, &manifest(METADATA, ""))
        })
        .with_severity(Severity::Error)
        .also(&["X-7"]),
        case("K-8", about(vec![provenance(&origin("2019-06-01", ""))])).with_severity(Severity::Error),
        case(
            "K-8",
            about(vec![provenance(&origin("2019-06-01T00:00:00Z", "<by>us</by>"))]),
        )
        .with_severity(Severity::Error)
        .also(&["X-7"]),
        case(
            "K-8",
            about(vec![provenance(&origin(
                "2019-06-01T00:00:00Z",
                &origin("2020-06-01T00:00:00Z", ""),
            ))]),
        )
        .with_severity(Severity::Warn),
        case("K-9", described(vec![eprints("<metadataPolicy/>")])).also(&["X-7"]),
        case("K-9", described(vec![gateway(), gateway()])),
        case("K-9", |heard, given| {
            describe_sets(heard, given, &branding("<width>wide</width>"))
        })
        .also(&["X-7"]),
        case("K-10", |_, _| {})
            .in_world(|| with_identifiers(&["oai:a.example.org:1", "oai:b.example.org:1"]))
            .with_severity(Severity::Rec),
    ]);
    cases
}

fn of_identifiers() -> Vec<Case> {
    let own = identifier("2.0", OWN, "oai", SAMPLE);
    vec![
        case("K-1", described(vec![own.clone(), own])),
        case("K-1", described(vec![identifier("2.1", OWN, "oai", SAMPLE)])),
        case("K-1", described(vec![identifier("2.0", "", "oai", SAMPLE)])).also(&["X-7"]),
        case(
            "K-2",
            described(vec![identifier("2.0", "misbehave", "oai", "oai:misbehave:1")]),
        )
        .also(&["K-4", "X-7"]),
        case(
            "K-2",
            described(vec![identifier("1.1", "mis.behave", "oai", "oai:mis.behave:1")]),
        )
        .also(&["K-4", "X-7"]),
        case("K-3", described(vec![identifier("2.0", OWN, "urn", SAMPLE)]))
            .with_severity(Severity::Error)
            .also(&["X-7"]),
        case(
            "K-3",
            described(vec![identifier("2.0", OWN, "oai", "oai:example.org:1")]),
        )
        .with_severity(Severity::Warn),
        case("K-4", |_, _| {}).in_world(|| with_identifiers(&["oai:misbehave.example.org:a%3cb"])),
        case("K-4", |_, _| {}).in_world(|| with_identifiers(&["oai:misbehave:1"])),
        case(
            "K-4",
            described(vec![identifier("2.0", "example.org", "oai", "oai:example.org:1")]),
        ),
    ]
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn good_containers_have_nothing_wrong_with_them() {
    let endpoint = Endpoint::start_bent(world(), Script::new(), |heard, given| {
        let policies = "<metadataPolicy><text>Free</text></metadataPolicy><dataPolicy/>";
        let descriptions = [
            identifier("2.0", OWN, "oai", SAMPLE),
            friends("<baseURL>http://example.org/oai</baseURL>"),
            manifest_of_rights(),
            eprints(policies),
            gateway(),
        ];
        describe(heard, given, &descriptions);
        describe_sets(heard, given, &branding("<title>Maps</title><width>88</width>"));
        say_about(given, &[rights(REFERENCE), chain()]);
    })
    .unwrap();
    let report = validated(&endpoint.url(), |_| {});
    let serious = report.findings().into_iter().any(is_serious);
    assert!(!serious, "{}", to_text(&report));
    for id in [
        "K-1", "K-2", "K-3", "K-4", "K-5", "K-6", "K-7", "K-8", "K-9", "I-12", "I-17", "R-8", "S-6",
    ] {
        let check = table::check(id).unwrap();
        assert_eq!(report.status(check), Status::Holds, "{id}\n{}", to_text(&report));
    }
}
