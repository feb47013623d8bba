//! Checks of what answers hold: groups I, K, M, S, L, G, R and Z.

use std::collections::BTreeSet;

use stook_oai::{Datestamp, DeletedRecord, Granularity, OaiNamespace, SetSpec, UtcDatetime, admin_email_is_valid};

use crate::Check;
use crate::scene::{NOW, Scene};
use crate::support::answer::{Seen, pages};
use crate::support::xml::{self, Node};
use crate::support::{datestamp, encoded, set_spec};

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
    ("K-6", about_containers_are_complete),
    ("K-7", containers_of_identify_are_complete),
    ("K-8", about_containers_are_complete),
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
    ("L-2", headers_are_complete),
    ("L-3", no_list_repeats_an_identifier),
    ("L-7", both_lists_show_the_same_headers),
    ("G-2", datestamps_are_of_the_granularity),
    ("G-3", a_record_is_the_same_alone_and_in_a_list),
    ("G-4", a_record_is_the_same_alone_and_in_a_list),
    ("G-12", escaped_and_unescaped_identifiers_are_one),
    ("G-14", a_member_of_a_set_says_so),
    ("R-3", metadata_stands_alone),
    ("R-4", metadata_stands_alone),
    ("R-5", metadata_stands_alone),
    ("R-7", dublin_core_is_plain),
    ("R-8", about_containers_are_complete),
    ("R-9", ids_are_unique_in_an_answer),
    ("R-11", live_records_have_metadata_and_deleted_ones_nothing),
    ("Z-2", live_records_have_metadata_and_deleted_ones_nothing),
    ("Z-3", deleted_records_are_still_found),
    ("Z-4", deleted_records_keep_their_sets),
    ("Z-5", deleted_records_are_still_found),
    ("Z-7", nothing_vanishes),
];

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
const PREFIXES: [&str; 2] = ["oai_dc", "mods"];

fn identify(scene: &Scene) -> Seen {
    scene.granted("verb=Identify")
}

/// The element inside each description whose root has this name.
fn described<'a>(identify: &'a Seen, name: &str) -> Vec<&'a Node> {
    let all = identify.body().all("description").map(Node::only_child);
    all.filter(|container| container.name == name).collect()
}

fn list(verb: &str, prefix: &str) -> String {
    format!("verb={verb}&metadataPrefix={prefix}")
}

fn all_pages(scene: &Scene, verb: &str) -> Vec<Seen> {
    PREFIXES
        .iter()
        .flat_map(|prefix| pages(&scene.provider, &list(verb, prefix)))
        .collect()
}

/// Every record element of both formats, with its page.
fn each_record(scene: &Scene, mut see: impl FnMut(&Seen, &Node)) {
    for page in all_pages(scene, "ListRecords") {
        for record in page.body().all("record") {
            see(&page, record);
        }
    }
}

/// One root that declares what it uses, so that it can be cut out and stored.
fn assert_stands_alone(page: &Seen, container: &Node) {
    let root = container.only_child();
    let alone = xml::parse(&page.document[root.place.clone()]).unwrap();
    assert_eq!((&alone.namespace, &alone.name), (&root.namespace, &root.name));
    assert_eq!(alone.attribute("xmlns:xsi"), Some(XSI), "{}", root.name);
    assert_ne!(alone.namespace, stook_oai::response::NAMESPACE);
    assert!(
        alone
            .attribute("xsi:schemaLocation")
            .unwrap()
            .split_whitespace()
            .any(|part| part == alone.namespace)
    );
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

fn about_containers_are_complete(scene: &Scene) {
    let (mut rights, mut provenances) = (0, 0);
    each_record(scene, |page, record| {
        let containers: Vec<&Node> = record.all("about").collect();
        for container in &containers {
            assert_stands_alone(page, container);
        }
        let roots: Vec<&Node> = containers.into_iter().map(Node::only_child).collect();
        let of_rights = roots.iter().filter(|root| root.name == "rights").count();
        assert!(of_rights <= 1);
        rights += of_rights;
        for provenance in roots.iter().filter(|root| root.name == "provenance") {
            let origin = provenance.only_child();
            assert!(Datestamp::parse(origin.attribute("harvestDate").unwrap()).is_ok());
            assert!(UtcDatetime::parse(&origin.one("datestamp").text).is_ok());
            provenances += 1;
        }
    });
    assert_eq!((rights, provenances), (1, 1));
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

fn headers_are_complete(scene: &Scene) {
    for page in all_pages(scene, "ListIdentifiers") {
        for header in page.body().all("header") {
            let names: Vec<&str> = header.children.iter().map(|child| child.name.as_str()).collect();
            assert_eq!(names[..2], ["identifier", "datestamp"]);
            assert!(names[2..].iter().all(|name| *name == "setSpec"));
            assert!(url::Url::parse(&header.one("identifier").text).is_ok());
            assert!(
                header
                    .attributes
                    .iter()
                    .all(|(name, value)| name == "status" && value == "deleted")
            );
        }
    }
}

fn no_list_repeats_an_identifier(scene: &Scene) {
    for prefix in PREFIXES {
        let identifiers = scene.identifiers(&list("ListIdentifiers", prefix));
        assert_eq!(identifiers.iter().collect::<BTreeSet<_>>().len(), identifiers.len());
    }
    assert_eq!(scene.identifiers(&list("ListIdentifiers", "oai_dc")).len(), 11);
    assert_eq!(scene.identifiers(&list("ListIdentifiers", "mods")).len(), 4);
}

fn both_lists_show_the_same_headers(scene: &Scene) {
    let sets: &[&str] = if scene.sets {
        &["", "&set=a", "&set=a%3Ab", "&set=d"]
    } else {
        &[""]
    };
    for prefix in PREFIXES {
        for rest in sets.iter().chain(&[
            "&from=2024-03-02",
            "&until=2024-03-20",
            "&from=2024-03-02&until=2024-04-10",
        ]) {
            let headers = |verb: &str| scene.headers(&format!("{}{rest}", list(verb, prefix)));
            assert_eq!(headers("ListIdentifiers"), headers("ListRecords"), "{prefix}{rest}");
        }
    }
}

fn datestamps_are_of_the_granularity(scene: &Scene) {
    let length = if scene.days { 10 } else { 20 };
    for verb in ["ListIdentifiers", "ListRecords"] {
        for page in all_pages(scene, verb) {
            page.root.visit(&mut |node| {
                if node.name == "datestamp" && node.namespace == stook_oai::response::NAMESPACE {
                    assert_eq!(node.text.len(), length, "{}", node.text);
                }
            });
        }
    }
    let id0 = scene.id0();
    let one = scene.granted(&scene.fill("verb=GetRecord&metadataPrefix=oai_dc&identifier={id0}"));
    assert_eq!(one.headers[0].datestamp.granularity(), scene.granularity());
    assert_eq!(one.headers[0].identifier, id0.identifier);
}

fn a_record_is_the_same_alone_and_in_a_list(scene: &Scene) {
    let mut seen = 0;
    for prefix in PREFIXES {
        for page in pages(&scene.provider, &list("ListRecords", prefix)) {
            for record in &page.records {
                let identifier = encoded(record.header.identifier.as_str());
                let alone = scene.granted(&format!(
                    "verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}"
                ));
                assert_eq!(alone.records, std::slice::from_ref(record));
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 15);
}

fn escaped_and_unescaped_identifiers_are_one(scene: &Scene) {
    let ask = |identifier: &str| {
        let seen = scene.granted(&format!("verb=GetRecord&metadataPrefix=oai_dc&identifier={identifier}"));
        seen.timeless()
    };
    let escaped = ask("oai%3Aferry.example.org%3A11");
    assert_eq!(ask("oai:ferry.example.org:11"), escaped);
    assert_eq!(ask("%6Fai%3aferry%2Eexample.org:%31%31"), escaped);
}

fn a_member_of_a_set_says_so(scene: &Scene) {
    if !scene.sets {
        return;
    }
    let wanted = set_spec("a:b");
    for identifier in scene.identifiers("verb=ListIdentifiers&metadataPrefix=oai_dc&set=a%3Ab") {
        let query = format!(
            "verb=GetRecord&metadataPrefix=oai_dc&identifier={}",
            encoded(&identifier)
        );
        let header = &scene.granted(&query).headers[0];
        assert!(
            header.set_specs.iter().any(|spec| wanted.contains(spec)),
            "{identifier}"
        );
    }
}

fn metadata_stands_alone(scene: &Scene) {
    let formats = scene.granted("verb=ListMetadataFormats").formats;
    for format in formats {
        for page in pages(&scene.provider, &list("ListRecords", format.prefix.as_str())) {
            for metadata in page.body().all("record").flat_map(|record| record.all("metadata")) {
                assert_stands_alone(&page, metadata);
                let root = metadata.only_child();
                assert_eq!(root.namespace, format.namespace);
                let location = root.attribute("xsi:schemaLocation").unwrap();
                assert!(
                    location.split_whitespace().any(|part| part == format.schema),
                    "{location}"
                );
            }
        }
    }
}

fn dublin_core_is_plain(scene: &Scene) {
    for page in pages(&scene.provider, &list("ListRecords", "oai_dc")) {
        for metadata in page.body().all("record").flat_map(|record| record.all("metadata")) {
            let statements = &metadata.only_child().children;
            assert!(!statements.is_empty());
            for statement in statements {
                assert_eq!(statement.namespace, "http://purl.org/dc/elements/1.1/");
                assert!(stook_metadata::Element::from_local_name(&statement.name).is_some());
                assert!(statement.children.is_empty() && !statement.text.is_empty());
                assert!(statement.attributes.iter().all(|(name, _)| name == "xml:lang"));
            }
        }
    }
}

fn ids_are_unique_in_an_answer(scene: &Scene) {
    for page in all_pages(scene, "ListRecords") {
        let mut ids = BTreeSet::new();
        page.root.visit(&mut |node| {
            if let Some(id) = node.attribute("xml:id") {
                assert!(ids.insert(id.to_owned()), "{id}");
            }
        });
    }
}

fn live_records_have_metadata_and_deleted_ones_nothing(scene: &Scene) {
    let mut deletions = 0;
    each_record(scene, |_, record| {
        let deleted = record.one("header").attribute("status") == Some("deleted");
        let expected = usize::from(!deleted);
        assert_eq!(record.all("metadata").count(), expected);
        assert!(!deleted || record.children.len() == 1);
        deletions += usize::from(deleted);
    });
    assert_eq!(deletions, 3);
}

fn deleted_headers(scene: &Scene, prefix: &str) -> Vec<stook_oai::Header> {
    let all = scene.headers(&list("ListIdentifiers", prefix));
    all.into_iter().filter(|header| header.deleted).collect()
}

fn deleted_records_are_still_found(scene: &Scene) {
    for prefix in PREFIXES {
        for header in deleted_headers(scene, prefix) {
            let identifier = encoded(header.identifier.as_str());
            let alone = scene.granted(&format!(
                "verb=GetRecord&metadataPrefix={prefix}&identifier={identifier}"
            ));
            assert_eq!(alone.headers, std::slice::from_ref(&header), "Z-3");
            let when = encoded(&header.datestamp.to_string());
            let same_time = scene.headers(&format!("{}&from={when}&until={when}", list("ListIdentifiers", prefix)));
            assert!(same_time.contains(&header), "Z-5");
            assert_eq!(
                header.datestamp.first_second().format(Granularity::Day).as_str(),
                "2024-04-10",
                "DEL-5"
            );
        }
    }
}

fn deleted_records_keep_their_sets(scene: &Scene) {
    if !scene.sets {
        return;
    }
    for header in deleted_headers(scene, "oai_dc") {
        let [spec] = &header.set_specs[..] else {
            panic!("{header:?} has lost its set");
        };
        for ancestor in spec.lineage() {
            let query = format!("{}&set={}", list("ListRecords", "oai_dc"), encoded(ancestor.as_str()));
            assert!(scene.headers(&query).contains(&header), "{ancestor}");
        }
    }
}

/// A second run later, after further deletions: every identifier is still there.
fn nothing_vanishes(scene: &Scene) {
    let before = scene.identifiers(&list("ListIdentifiers", "oai_dc"));
    let other = Scene::new(scene.days, scene.sets);
    other.bench.apply(
        &other.provider,
        vec![crate::support::deleted("11"), crate::support::deleted("31")],
    );
    let after: BTreeSet<String> = other
        .identifiers(&list("ListIdentifiers", "oai_dc"))
        .into_iter()
        .collect();
    assert_eq!(before.into_iter().collect::<BTreeSet<_>>(), after);
    assert_eq!(deleted_headers(&other, "oai_dc").len(), 4);
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
