//! K: descriptions of the repository and of sets, and what is said about records, as the guidelines write them.

mod identifiers;

use stook_metadata::{Namespaces, Problem, check_container};
use stook_oai::{Excerpt, Granularity, OaiNamespace};
use url::Url;

use crate::validate::document::{Document, Element, OAI, XSI};
use crate::validate::exchange::{Exchange, Question};
use crate::validate::facts::{granularity_of, read_datestamp};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// Identifiers as the guideline of today has them, and as that of the version before.
const OAI_IDENTIFIER: &str = "http://www.openarchives.org/OAI/2.0/oai-identifier";
const OAI_IDENTIFIER_1_1: &str = "http://www.openarchives.org/OAI/1.1/oai-identifier";
const FRIENDS: &str = "http://www.openarchives.org/OAI/2.0/friends/";
const RIGHTS: &str = "http://www.openarchives.org/OAI/2.0/rights/";
const PROVENANCE: &str = "http://www.openarchives.org/OAI/2.0/provenance";
const GATEWAY: &str = "http://www.openarchives.org/OAI/2.0/gateway/";
/// Those that nothing more is asked of than their schema.
const PLAIN: &[&str] = &[
    "http://www.openarchives.org/OAI/2.0/branding/",
    "http://www.openarchives.org/OAI/1.1/eprints",
    GATEWAY,
];
const ENTITY: &str = "http://www.openarchives.org/OAI/2.0/entity#metadata";

/// A check over what stands in containers; nothing, where there is nothing to look at.
type Check = fn(&Document, &[&Element]) -> Option<Vec<Found>>;

const OF_IDENTIFY: &[(&str, Check)] = &[
    ("K-1", one_identifier),
    ("K-2", repository_identifier),
    ("K-3", sample_identifier),
    ("K-5", friends),
    ("K-7", manifests),
    ("K-9", plain),
];
const OF_SETS: &[(&str, Check)] = &[("K-7", manifests), ("K-9", plain)];
const OF_A_RECORD: &[(&str, Check)] = &[("K-6", rights), ("K-8", provenance)];

/// What is said of each where there was nothing to look at.
const NOTHING: &[(&str, &str)] = &[
    ("K-1", "Identify has no oai-identifier"),
    ("K-2", "Identify has no oai-identifier"),
    ("K-3", "Identify has no oai-identifier"),
    ("K-5", "Identify has no friends"),
    ("K-6", "no record that was seen has rights"),
    ("K-7", "neither Identify nor a set has a rightsManifest"),
    ("K-8", "no record that was seen has a provenance"),
    ("K-9", "neither Identify nor a set has branding, eprints or gateway"),
];

/// What keeps a container (description, setDescription, about) from being one: it holds one element of another
/// namespace that names its schema.
pub(super) fn flaw(container: &Element) -> Option<String> {
    let name = container.local();
    let roots: Vec<&Element> = container.elements().collect();
    let root = match roots[..] {
        [] => return Some(format!("{name} holds no element")),
        [root] => root,
        _ => return Some(format!("{name} holds {} elements", roots.len())),
    };
    match &*root.namespace {
        "" => Some(format!("{name} holds <{}>, which is in no namespace", root.name)),
        OAI => Some(format!(
            "{name} holds <{}>, which is of the protocol's own namespace",
            root.name
        )),
        _ if !container.text().is_empty() => Some(format!("{name} holds text beside <{}>", root.name)),
        _ if schema_locations(root).is_empty() => Some(format!(
            "{name} holds <{}>, which does not name its schema (xsi:schemaLocation)",
            root.name
        )),
        _ => None,
    }
}

/// All words of `xsi:schemaLocation` in an element.
pub(super) fn schema_locations(root: &Element) -> Vec<&str> {
    let mut words = Vec::new();
    root.walk(&mut |element| {
        words.extend(
            element
                .attribute(XSI, "schemaLocation")
                .unwrap_or_default()
                .split_ascii_whitespace(),
        );
    });
    words
}

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    for (id, why) in NOTHING {
        run.judge(id, Verdict::not_applicable(*why));
    }
    Ok(())
}

/// What is judged in every answer.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange) {
    let Some(document) = exchange.document() else {
        return;
    };
    let Some(payload) = document.payload() else {
        return;
    };
    match payload.local() {
        // The same description again is no other one.
        "Identify" if exchange.question == Question::get("verb=Identify") => {
            let roots = payload.named("description").flat_map(Element::elements);
            judge(run, exchange, OF_IDENTIFY, &roots.collect::<Vec<_>>());
        }
        "ListSets" => {
            let descriptions = payload.named("set").flat_map(|set| set.named("setDescription"));
            let roots = descriptions.flat_map(Element::elements);
            judge(run, exchange, OF_SETS, &roots.collect::<Vec<_>>());
        }
        _ => {
            for record in document.records() {
                let roots = record.named("about").flat_map(Element::elements);
                judge(run, exchange, OF_A_RECORD, &roots.collect::<Vec<_>>());
            }
        }
    }
}

fn judge(run: &mut Run<'_>, exchange: &Exchange, checks: &[(&'static str, Check)], roots: &[&Element]) {
    let Some(document) = exchange.document().filter(|_| !roots.is_empty()) else {
        return;
    };
    for (id, check) in checks {
        if let Some(found) = check(document, roots) {
            let found = found.into_iter().map(|found| found.on(exchange));
            run.judge(id, Verdict::of(found.collect()));
        }
    }
}

/// What is judged when everything was seen.
pub(super) fn last(run: &mut Run<'_>) -> Result<(), Stop> {
    identifiers::last(run)
}

fn at(document: &Document, element: &Element, came: impl Into<String>) -> Found {
    Found::new(came).at_line(document.line(element))
}

/// Where an element leaves its content model, if it has one.
fn breach(document: &Document, root: &Element) -> Option<Problem> {
    let mut around = Namespaces::none();
    around.declare("xsi", XSI);
    match check_container(document.written(root), &around) {
        // What is declared further out is not known here, and there is nothing wrong with it.
        Err(fault) if matches!(fault.problem, Problem::UndeclaredPrefix(_)) => None,
        checked => checked.err().map(|fault| fault.problem),
    }
}

fn named<'a>(roots: &'a [&'a Element], local: &'a str) -> impl Iterator<Item = &'a Element> {
    roots.iter().copied().filter(move |root| root.local() == local)
}

fn one_identifier(document: &Document, roots: &[&Element]) -> Option<Vec<Found>> {
    let all: Vec<&Element> = named(roots, "oai-identifier").collect();
    let first = all.first()?;
    let mut found = Vec::new();
    if let [_, second, ..] = all[..] {
        found.push(at(document, second, format!("there are {} oai-identifier", all.len())));
    }
    if !matches!(&*first.namespace, OAI_IDENTIFIER | OAI_IDENTIFIER_1_1) {
        let came = format!("oai-identifier is of the namespace {}", Excerpt(&first.namespace));
        found.push(at(document, first, came));
    } else if first.text_of("repositoryIdentifier").is_none_or(|text| text.is_empty()) {
        found.push(at(document, first, "there is no repositoryIdentifier, or it is empty"));
    }
    Some(found)
}

/// The namespace of the description and what it declares, if it is one.
fn declared<'a>(roots: &[&'a Element]) -> Option<(&'a Element, String)> {
    let root = roots.iter().find(|root| {
        root.local() == "oai-identifier" && matches!(&*root.namespace, OAI_IDENTIFIER | OAI_IDENTIFIER_1_1)
    })?;
    let identifier = root.child("repositoryIdentifier").map(Element::exact_text)?;
    (!identifier.trim().is_empty()).then_some((root, identifier))
}

fn repository_identifier(document: &Document, roots: &[&Element]) -> Option<Vec<Found>> {
    let (root, identifier) = declared(roots)?;
    let is_right = match &*root.namespace {
        OAI_IDENTIFIER_1_1 => identifier.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        _ => OaiNamespace::parse(&identifier).is_ok(),
    };
    let came = || format!("repositoryIdentifier is {}", Excerpt(&identifier));
    Some((!is_right).then(|| at(document, root, came())).into_iter().collect())
}

fn sample_identifier(document: &Document, roots: &[&Element]) -> Option<Vec<Found>> {
    let (root, identifier) = declared(roots)?;
    let told_elsewhere = |problem: &Problem| problem.to_string().contains("repositoryIdentifier is");
    if let Some(problem) = breach(document, root).filter(|problem| !told_elsewhere(problem)) {
        return Some(vec![at(document, root, problem.to_string())]);
    }
    for (name, wanted) in [("scheme", "oai"), ("delimiter", ":")] {
        let text = root.child(name).map(Element::exact_text).unwrap_or_default();
        if text != wanted {
            let came = format!("{name} is {}, not {wanted:?}", Excerpt(&text));
            return Some(vec![at(document, root, came)]);
        }
    }
    let sample = root.text_of("sampleIdentifier").unwrap_or_default();
    let is_right = sample.starts_with(&format!("oai:{identifier}:"));
    let came = || {
        let (sample, identifier) = (Excerpt(&sample), Excerpt(&identifier));
        format!("sampleIdentifier is {sample}, which does not begin with oai: and {identifier}")
    };
    let found = (!is_right).then(|| at(document, root, came()).with_severity(Severity::Warn));
    Some(found.into_iter().collect())
}

fn friends(document: &Document, roots: &[&Element]) -> Option<Vec<Found>> {
    let all: Vec<&Element> = named(roots, "friends").collect();
    all.first()?;
    let mut found = Vec::new();
    for root in all {
        if &*root.namespace != FRIENDS {
            let came = format!("friends is of the namespace {}", Excerpt(&root.namespace));
            found.push(at(document, root, came));
        } else if let Some(problem) = breach(document, root) {
            found.push(at(document, root, problem.to_string()));
        }
        let is_web = |text: &str| Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        for friend in root.named("baseURL").filter(|friend| !is_web(&friend.text())) {
            let came = format!("a friend {}, which is no absolute URL", Excerpt(&friend.text()));
            found.push(at(document, friend, came));
        }
    }
    Some(found)
}

fn rights(document: &Document, roots: &[&Element]) -> Option<Vec<Found>> {
    let all: Vec<&Element> = roots.iter().copied().filter(|root| root.is(RIGHTS, "rights")).collect();
    let first = all.first()?;
    let mut found: Vec<Found> = all.iter().filter_map(|root| flaw_of_rights(document, root)).collect();
    if all.len() > 1 {
        found.push(at(document, first, format!("a record has {} rights", all.len())));
    }
    Some(found)
}

/// A statement of rights is a reference or a definition, and a definition holds one element of another namespace.
fn flaw_of_rights(document: &Document, root: &Element) -> Option<Found> {
    if let Some(problem) = breach(document, root) {
        return Some(at(document, root, problem.to_string()));
    }
    let children: Vec<&Element> = root.elements().collect();
    if children.len() != 1 {
        return Some(at(
            document,
            root,
            format!("rights holds {} statements", children.len()),
        ));
    }
    let definition = root.child("rightsDefinition")?;
    let inside: Vec<&Element> = definition.elements().collect();
    match inside[..] {
        [one] if &*one.namespace != RIGHTS && !one.namespace.is_empty() => None,
        [_] => Some(at(
            document,
            definition,
            "rightsDefinition holds an element without a namespace of its own",
        )),
        _ => Some(at(
            document,
            definition,
            format!("rightsDefinition holds {} elements", inside.len()),
        )),
    }
}

fn manifests(document: &Document, roots: &[&Element]) -> Option<Vec<Found>> {
    let all: Vec<&Element> = roots
        .iter()
        .copied()
        .filter(|root| root.is(RIGHTS, "rightsManifest"))
        .collect();
    all.first()?;
    let flaw = |root: &&Element| {
        let applies_to = root.attribute("", "appliesTo");
        if applies_to.map(str::trim) != Some(ENTITY) {
            let came = match applies_to {
                None => "rightsManifest has no appliesTo".to_owned(),
                Some(other) => format!("appliesTo is {}", Excerpt(other)),
            };
            return Some(at(document, root, came));
        }
        let broken = breach(document, root).map(|problem| at(document, root, problem.to_string()));
        let broken = broken.or_else(|| root.named("rights").find_map(|rights| flaw_of_rights(document, rights)));
        broken.map(|found| found.with_severity(Severity::Error))
    };
    Some(all.iter().filter_map(flaw).collect())
}

fn provenance(document: &Document, roots: &[&Element]) -> Option<Vec<Found>> {
    let all: Vec<&Element> = roots
        .iter()
        .copied()
        .filter(|root| root.is(PROVENANCE, "provenance"))
        .collect();
    all.first()?;
    let flaw = |root: &&Element| match breach(document, root) {
        Some(problem) => Some(at(document, root, problem.to_string())),
        None => root
            .child("originDescription")
            .and_then(|origin| flaw_of_origin(document, origin)),
    };
    Some(all.iter().filter_map(flaw).collect())
}

/// What the schema of provenance cannot say.
fn flaw_of_origin(document: &Document, origin: &Element) -> Option<Found> {
    let harvest_date = origin.attribute("", "harvestDate").unwrap_or_default();
    if granularity_of(harvest_date) != Some(Granularity::Second) {
        let came = format!("harvestDate is {}, which is no second of UTC", Excerpt(harvest_date));
        return Some(at(document, origin, came));
    }
    let datestamp = origin.text_of("datestamp").unwrap_or_default();
    if read_datestamp(&datestamp).is_none() {
        let came = format!("datestamp is {}, which is no date of the protocol", Excerpt(&datestamp));
        return Some(at(document, origin, came));
    }
    for name in ["baseURL", "identifier", "metadataNamespace"] {
        if origin.text_of(name).is_none_or(|text| text.is_empty()) {
            return Some(at(document, origin, format!("{name} of an originDescription is empty")));
        }
    }
    let inner = origin.child("originDescription")?;
    let earlier = inner.attribute("", "harvestDate").unwrap_or_default();
    if read_datestamp(earlier) > read_datestamp(harvest_date) {
        let came = format!("an originDescription of {earlier} stands inside one of {harvest_date}");
        return Some(at(document, inner, came).with_severity(Severity::Warn));
    }
    flaw_of_origin(document, inner)
}

fn plain(document: &Document, roots: &[&Element]) -> Option<Vec<Found>> {
    let all: Vec<&Element> = roots
        .iter()
        .copied()
        .filter(|root| PLAIN.contains(&&*root.namespace))
        .collect();
    all.first()?;
    let breaches = all.iter().filter_map(|root| Some((root, breach(document, root)?)));
    let mut found: Vec<Found> = breaches
        .map(|(root, problem)| at(document, root, problem.to_string()))
        .collect();
    let gateways: Vec<&&Element> = all.iter().filter(|root| &*root.namespace == GATEWAY).collect();
    if let [_, second, ..] = gateways[..] {
        found.push(at(document, second, format!("there are {} gateway", gateways.len())));
    }
    Some(found)
}
