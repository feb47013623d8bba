//! Checks of what describes a repository: groups I, K, M and S.

use std::collections::BTreeSet;

use stook_oai::{DeletedRecord, OaiNamespace, SetSpec, UtcDatetime, admin_email_is_valid};

use crate::Check;
use crate::records::{PREFIXES, all_pages, assert_stands_alone, list};
use crate::scene::{NOW, Scene};
use crate::support::answer::{Seen, pages};
use crate::support::xml::Node;
use crate::support::{datestamp, encoded};

pub const CHECKS: &[Check] = &[
    ("X-9", the_date_is_that_of_the_clock),
    ("I-2", identify_has_everything_once),
    ("I-3", identify_has_everything_once),
    ("I-4", the_base_url_is_absolute),
    ("I-5", identify_has_everything_once),
    ("I-6", the_admin_email_is_an_address),
    ("I-7", the_granularity_is_the_one_used),
    ("I-8", the_earliest_datestamp_is_a_lower_limit),
    ("I-9", deletions_are_persistent),
    ("I-10", deletions_are_persistent),
    ("I-11", identify_is_in_order),
    ("I-12", descriptions_stand_alone),
    ("I-15", the_earliest_datestamp_is_a_lower_limit),
    ("I-16", the_earliest_datestamp_is_a_lower_limit),
    ("I-17", descriptions_stand_alone),
    ("K-1", the_identifier_scheme_is_described_once),
    ("K-2", the_identifier_scheme_is_described_once),
    ("K-3", the_identifier_scheme_is_described_once),
    ("K-4", identifiers_obey_the_scheme),
    ("K-5", containers_of_identify_are_complete),
    ("K-7", containers_of_identify_are_complete),
    ("K-9", containers_of_identify_are_complete),
    ("M-2", oai_dc_is_offered_as_reserved),
    ("M-3", oai_dc_is_offered_as_reserved),
    ("M-4", formats_are_distinct),
    ("M-5", formats_are_distinct),
    ("M-7", an_item_has_the_formats_it_was_found_in),
    ("S-2", sets_are_listed_once_with_their_parents),
    ("S-3", sets_are_listed_once_with_their_parents),
    ("S-4", sets_are_listed_once_with_their_parents),
    ("S-5", sets_are_listed_once_with_their_parents),
    ("S-6", set_descriptions_stand_alone),
    ("S-7", sets_are_listed_once_with_their_parents),
    ("S-11", sets_of_headers_are_listed),
];

fn identify(scene: &Scene) -> Seen {
    scene.granted("verb=Identify")
}

/// The element inside each description whose root has this name.
fn described<'a>(identify: &'a Seen, name: &str) -> Vec<&'a Node> {
    let all = identify.body().all("description").map(Node::only_child);
    all.filter(|container| container.name == name).collect()
}

fn the_date_is_that_of_the_clock(scene: &Scene) {
    assert_eq!(identify(scene).response_date, datestamp(NOW));
}

fn identify_has_everything_once(scene: &Scene) {
    let seen = identify(scene);
    let body = seen.body();
    assert_eq!(body.one("repositoryName").text, "Ferry Town Archive");
    assert_eq!(body.one("baseURL").text, "https://ferry.example.org/oai");
    assert_eq!(body.one("protocolVersion").text, "2.0");
}

fn the_base_url_is_absolute(scene: &Scene) {
    let url = url::Url::parse(&identify(scene).body().one("baseURL").text).unwrap();
    assert_eq!((url.scheme(), url.query(), url.fragment()), ("https", None, None));
}

fn the_admin_email_is_an_address(scene: &Scene) {
    let seen = identify(scene);
    let emails: Vec<&Node> = seen.body().all("adminEmail").collect();
    assert!(!emails.is_empty() && emails.iter().all(|email| admin_email_is_valid(&email.text)));
}

fn the_granularity_is_the_one_used(scene: &Scene) {
    let expected = if scene.days {
        "YYYY-MM-DD"
    } else {
        "YYYY-MM-DDThh:mm:ssZ"
    };
    assert_eq!(identify(scene).body().one("granularity").text, expected);
}

fn the_earliest_datestamp_is_a_lower_limit(scene: &Scene) {
    let earliest = identify(scene).body().one("earliestDatestamp").text.clone();
    let seen: BTreeSet<String> = all_pages(scene, "ListIdentifiers")
        .iter()
        .flat_map(|page| &page.headers)
        .map(|header| header.datestamp.to_string())
        .collect();
    assert_eq!(
        UtcDatetime::parse(&earliest).unwrap().granularity(),
        scene.granularity()
    );
    // The first record was published then, and has not been touched since.
    assert_eq!(Some(&earliest), seen.first());
    assert!(UtcDatetime::parse(&earliest).unwrap().first_second() <= datestamp(NOW));
}

fn deletions_are_persistent(scene: &Scene) {
    assert_eq!(
        identify(scene).identify.unwrap().deleted_record,
        DeletedRecord::Persistent
    );
}

fn identify_is_in_order(scene: &Scene) {
    const ORDER: [&str; 9] = [
        "repositoryName",
        "baseURL",
        "protocolVersion",
        "adminEmail",
        "earliestDatestamp",
        "deletedRecord",
        "granularity",
        "compression",
        "description",
    ];
    let seen = identify(scene);
    let places: Vec<usize> = seen
        .body()
        .children
        .iter()
        .map(|child| ORDER.iter().position(|name| *name == child.name).unwrap())
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), ORDER.len());
}

fn descriptions_stand_alone(scene: &Scene) {
    let seen = identify(scene);
    let descriptions: Vec<&Node> = seen.body().all("description").collect();
    assert_eq!(descriptions.len(), 5);
    for description in descriptions {
        assert_stands_alone(&seen, description);
    }
}

fn the_identifier_scheme_is_described_once(scene: &Scene) {
    let seen = identify(scene);
    let [scheme] = described(&seen, "oai-identifier")[..] else {
        panic!("there must be exactly one");
    };
    assert_eq!(scheme.namespace, "http://www.openarchives.org/OAI/2.0/oai-identifier");
    let namespace = &scheme.one("repositoryIdentifier").text;
    assert!(OaiNamespace::parse(namespace).is_ok());
    assert_eq!(
        (
            scheme.one("scheme").text.as_str(),
            scheme.one("delimiter").text.as_str()
        ),
        ("oai", ":")
    );
    let sample = &scheme.one("sampleIdentifier").text;
    assert!(sample.starts_with(&format!("oai:{namespace}:")));
    scene.granted(&format!(
        "verb=GetRecord&metadataPrefix=oai_dc&identifier={}",
        encoded(sample)
    ));
}

fn identifiers_obey_the_scheme(scene: &Scene) {
    for page in all_pages(scene, "ListIdentifiers") {
        for header in &page.headers {
            let local = header
                .identifier
                .as_str()
                .strip_prefix("oai:ferry.example.org:")
                .unwrap();
            assert!(!local.is_empty());
        }
    }
}

fn containers_of_identify_are_complete(scene: &Scene) {
    let seen = identify(scene);
    let friends = described(&seen, "friends")[0];
    assert_eq!(friends.namespace, "http://www.openarchives.org/OAI/2.0/friends/");
    assert!(
        friends
            .all("baseURL")
            .all(|friend| url::Url::parse(&friend.text).is_ok())
    );
    let manifest = described(&seen, "rightsManifest")[0];
    assert_eq!(
        manifest.attribute("appliesTo"),
        Some("http://www.openarchives.org/OAI/2.0/entity#metadata")
    );
    assert_eq!(manifest.one("rights").children.len(), 1);
    assert_eq!(
        described(&seen, "branding")[0].namespace,
        "http://www.openarchives.org/OAI/2.0/branding/"
    );
    assert_eq!(
        described(&seen, "eprints")[0].namespace,
        "http://www.openarchives.org/OAI/1.1/eprints"
    );
    assert!(described(&seen, "gateway").is_empty());
}

fn oai_dc_is_offered_as_reserved(scene: &Scene) {
    let formats = scene.granted("verb=ListMetadataFormats").formats;
    let oai_dc = formats
        .iter()
        .find(|format| format.prefix.as_str() == "oai_dc")
        .unwrap();
    assert_eq!(oai_dc.schema, "http://www.openarchives.org/OAI/2.0/oai_dc.xsd");
    assert_eq!(oai_dc.namespace, "http://www.openarchives.org/OAI/2.0/oai_dc/");
}

fn formats_are_distinct(scene: &Scene) {
    let formats = scene.granted("verb=ListMetadataFormats").formats;
    let prefixes: BTreeSet<&str> = formats.iter().map(|format| format.prefix.as_str()).collect();
    let namespaces: BTreeSet<&str> = formats.iter().map(|format| format.namespace.as_str()).collect();
    let schemas: BTreeSet<&str> = formats.iter().map(|format| format.schema.as_str()).collect();
    assert_eq!((prefixes.len(), namespaces.len(), schemas.len()), (2, 2, 2));
    assert!(!prefixes.contains("all"));
}

fn an_item_has_the_formats_it_was_found_in(scene: &Scene) {
    for prefix in PREFIXES {
        for header in scene
            .headers(&list("ListIdentifiers", prefix))
            .iter()
            .filter(|header| !header.deleted)
        {
            let identifier = encoded(header.identifier.as_str());
            let formats = scene
                .granted(&format!("verb=ListMetadataFormats&identifier={identifier}"))
                .formats;
            assert!(
                formats.iter().any(|format| format.prefix.as_str() == prefix),
                "{identifier}"
            );
            for format in formats {
                scene.granted(&format!(
                    "verb=GetRecord&identifier={identifier}&metadataPrefix={}",
                    format.prefix
                ));
            }
        }
    }
}

fn listed_sets(scene: &Scene) -> Vec<stook_oai::Set> {
    if !scene.sets {
        return vec![];
    }
    pages(&scene.provider, "verb=ListSets")
        .into_iter()
        .flat_map(|page| page.sets)
        .collect()
}

fn sets_are_listed_once_with_their_parents(scene: &Scene) {
    let sets = listed_sets(scene);
    let specs: Vec<&str> = sets.iter().map(|set| set.spec.as_str()).collect();
    let expected: &[&str] = if scene.sets {
        &["a", "a:b", "a:b:c", "ab", "d"]
    } else {
        &[]
    };
    assert_eq!(specs, expected);
    assert!(sets.iter().all(|set| !set.name.trim().is_empty()));
}

fn set_descriptions_stand_alone(scene: &Scene) {
    if scene.sets {
        let seen = scene.granted("verb=ListSets");
        let set = seen.body().all("set").next().unwrap();
        assert_stands_alone(&seen, set.one("setDescription"));
    }
}

fn sets_of_headers_are_listed(scene: &Scene) {
    let listed: BTreeSet<SetSpec> = listed_sets(scene).into_iter().map(|set| set.spec).collect();
    let mut shown = 0;
    for page in all_pages(scene, "ListIdentifiers") {
        for spec in page.headers.iter().flat_map(|header| &header.set_specs) {
            assert!(listed.contains(spec), "{spec}");
            shown += 1;
        }
    }
    assert_eq!(shown > 0, scene.sets);
}

#[test]
fn the_sample_identifier_is_exemplary_whatever_records_are_called() {
    for (local, sample) in [
        ("map-1", "map-1"),
        ("a%20b", "a%20b"),
        ("a#b", "1"),
        ("a%c3%a4", "1"),
        ("%61", "1"),
    ] {
        let bench = crate::support::Bench::at("2024-03-01T08:00:00Z");
        let provider = bench.provider(crate::support::plain_settings(3));
        let identifier = stook_oai::Identifier::parse(&format!("oai:ferry.example.org:{local}")).unwrap();
        let change = stook_store::Change {
            identifier,
            ..crate::support::titled("1", &[], "As it came")
        };
        bench.apply(&provider, vec![change]);
        let seen = crate::support::answer::granted(&provider, "verb=Identify");
        let shown = &described(&seen, "oai-identifier")[0].one("sampleIdentifier").text;
        assert_eq!(*shown, format!("oai:ferry.example.org:{sample}"), "{local}");
    }
}
