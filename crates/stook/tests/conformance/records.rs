//! Checks of records and their headers: groups L, G, R and Z, and the containers of group K that stand in records.

use std::collections::BTreeSet;

use stook_oai::{Datestamp, Granularity, UtcDatetime};

use crate::Check;
use crate::scene::Scene;
use crate::support::answer::{Seen, pages};
use crate::support::xml::{self, Node};
use crate::support::{encoded, set_spec};

pub const CHECKS: &[Check] = &[
    ("K-6", about_containers_are_complete),
    ("K-8", about_containers_are_complete),
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
/// The formats of every scene.
pub const PREFIXES: [&str; 2] = ["oai_dc", "mods"];

pub fn list(verb: &str, prefix: &str) -> String {
    format!("verb={verb}&metadataPrefix={prefix}")
}

pub fn all_pages(scene: &Scene, verb: &str) -> Vec<Seen> {
    PREFIXES
        .iter()
        .flat_map(|prefix| pages(&scene.provider, &list(verb, prefix)))
        .collect()
}

/// Every record element of both formats, with its page.
pub fn each_record(scene: &Scene, mut see: impl FnMut(&Seen, &Node)) {
    for page in all_pages(scene, "ListRecords") {
        for record in page.body().all("record") {
            see(&page, record);
        }
    }
}

/// One root that declares what it uses, so that it can be cut out and stored.
pub fn assert_stands_alone(page: &Seen, container: &Node) {
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
