//! Repositories whose records could say more.

use misbehave::{Endpoint, Given, Heard, Script, World};
use stook::validate::report::{Status, to_text};
use stook::validate::table::{self, Severity};
use stook::validate::{Options, Profile};

use crate::harness::{Case, case, hold, validated, world};

/// All records in the set by which OpenAIRE harvests.
fn with_openaire() -> World {
    let mut world = world();
    world.sets.push(("openaire".into(), "OpenAIRE".into()));
    for identifier in world.identifiers() {
        let mut item = world.item(&identifier).unwrap().clone();
        item.set_specs.push("openaire".into());
        world.put(item);
    }
    world
}

fn openaire(options: &mut Options) {
    options.profiles = vec![Profile::Openaire];
}

fn dini(options: &mut Options) {
    options.profiles = vec![Profile::Dini];
}

/// The values of an element changed in every record.
fn values(breaks: &'static str, element: &'static str, value: &'static str) -> Case {
    case(breaks, move |_, given| {
        given.replace_between(&format!("<dc:{element}>"), &format!("</dc:{element}>"), value);
    })
}

/// A format more in ListMetadataFormats, whose records are those of oai_dc.
fn with_format(given: &mut Given, prefix: &str, schema: &str, namespace: &str) {
    let format = format!(
        "<metadataFormat><metadataPrefix>{prefix}</metadataPrefix><schema>{schema}</schema>\
         <metadataNamespace>{namespace}</metadataNamespace></metadataFormat></ListMetadataFormats>"
    );
    given.replace("</ListMetadataFormats>", &format);
}

fn with_set(given: &mut Given, spec: &str) {
    given.replace_first(
        "<ListSets>",
        &format!("<ListSets><set><setSpec>{spec}</setSpec><setName>{spec}</setName></set>"),
    );
}

pub fn cases() -> Vec<Case> {
    let mut cases = records();
    cases.extend(profiles());
    cases
}

fn records() -> Vec<Case> {
    vec![
        case("Q-1", |_, given| given.replace("<dc:type>Text</dc:type>", "")).with_severity(Severity::Rec),
        case("Q-1", |_, given| {
            let text = given.text();
            given.body = text.replacen("<dc:type>Text</dc:type>", "", 1).into_bytes();
        })
        .with_severity(Severity::Info),
        values("Q-2", "date", "17 May 1893"),
        values("Q-3", "language", "German"),
        values("Q-4", "identifier", "shelf 12"),
        values("Q-4", "identifier", "https://misbehave.example.org/"),
        values("Q-5", "description", "Die MÃ¼hlen der GroÃŸstadt"),
        values("Q-6", "identifier", "http://hdl.handle.net/123456789/{}").also(&["Q-4"]),
        case("Q-7", |_, given| {
            given.replace("<dc:language>", "<dc:format>");
            given.replace("</dc:language>", "</dc:format>");
            given.replace("<dc:description>", "<dc:format>");
            given.replace("</dc:description>", "</dc:format>");
        })
        .with_severity(Severity::Info),
        values("Q-8", "creator", "NN").with_severity(Severity::Info),
        case("Q-8", |_, given| {
            given.replace(
                "</oai_dc:dc>",
                "<dc:relation>https://doi.org/11.5/x</dc:relation></oai_dc:dc>",
            );
        }),
        values("Q-9", "description", "&lt;p&gt;Cats &amp;amp; dogs&lt;/p&gt;").with_severity(Severity::Warn),
        values("Q-9", "description", "").with_severity(Severity::Warn),
        values("Q-9", "description", " Blanks ").with_severity(Severity::Rec),
    ]
}

fn profiles() -> Vec<Case> {
    vec![
        case("Q-10", literature).with(openaire).also(FOREIGN),
        case("Q-11", |_, _| {}).in_world(with_openaire).with(openaire),
        case("Q-12", |_, given| {
            with_set(given, "openaire_data");
            with_format(
                given,
                "oai_openaire",
                "https://www.openaire.eu/schema/repo-lit/4.0/openaire.xsd",
                "http://namespace.openaire.eu/schema/oaire/",
            );
        })
        .with(openaire)
        .also(FOREIGN),
        case("Q-13", |_, given| {
            with_format(
                given,
                "oai_cerif_openaire",
                "https://www.openaire.eu/schema/cris/1.1/openaire-cerif-profile.xsd",
                "https://www.openaire.eu/cerif-profile/1.1/",
            );
        })
        .with(openaire)
        .also(FOREIGN),
        case("Q-14", |_, _| {}).with(dini),
    ]
}

/// What a format brings along that is announced and not really there.
const FOREIGN: &[&str] = &[
    "M-6", "M-7", "G-4", "L-5", "R-3", "R-4", "R-6", "R-10", "X-7", "X-10", "X-11", "S-11", "T-1", "T-2", "G-1", "S-5",
    "S-12",
];

/// Records of oai_openaire without rights and dates.
fn literature(heard: &Heard<'_>, given: &mut Given) {
    with_format(
        given,
        "oai_openaire",
        "https://www.openaire.eu/schema/repo-lit/4.0/openaire.xsd",
        "http://namespace.openaire.eu/schema/oaire/",
    );
    if heard.argument("metadataPrefix").as_deref() == Some("oai_openaire") && heard.is("ListRecords") {
        let record = "<ListRecords><record><header><identifier>oai:misbehave.example.org:0</identifier>\
            <datestamp>2020-01-01T00:00:00Z</datestamp></header><metadata>\
            <resource xmlns=\"http://namespace.openaire.eu/schema/oaire/\" xmlns:datacite=\"http://datacite.org/schema/kernel-4\">\
            <datacite:titles><datacite:title>A map</datacite:title></datacite:titles>\
            <datacite:identifier>10.1234/5</datacite:identifier><resourceType>map</resourceType></resource>\
            </metadata></record></ListRecords></OAI-PMH>";
        let text = given.text();
        if let Some((start, _)) = text.split_once("<error") {
            given.body = format!("{start}{record}").into_bytes();
        }
    }
}

#[test]
fn each_breaks_its_check_and_no_other() {
    hold(cases());
}

#[test]
fn who_follows_a_profile_has_no_finding() {
    let bend = |heard: &Heard<'_>, given: &mut Given| {
        if heard.is("ListSets") {
            for spec in ["ddc:510", "doc-type:article", "open_access"] {
                with_set(given, spec);
            }
        }
        given.replace(
            "<dc:type>Text</dc:type>",
            "<dc:type>info:eu-repo/semantics/book</dc:type><dc:rights>info:eu-repo/semantics/openAccess</dc:rights>",
        );
    };
    let endpoint = Endpoint::start_bent(with_openaire(), Script::new(), bend).unwrap();
    let report = validated(&endpoint.url(), |options| {
        options.profiles = vec![Profile::Openaire, Profile::Dini];
        options.only = vec!["Q".into()];
    });
    assert!(report.is_clean(), "{}", to_text(&report));
    for id in ["Q-11", "Q-14"] {
        assert_eq!(report.status(table::check(id).unwrap()), Status::Holds, "{id}");
    }
}
