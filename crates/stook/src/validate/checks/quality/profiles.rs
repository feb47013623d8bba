//! What communities ask of their members beside the protocol: OpenAIRE and DINI.

use std::sync::Arc;

use super::{is_link, set_specs, shown};
use crate::validate::document::{Document, Element};
use crate::validate::exchange::Exchange;
use crate::validate::facts::{Facts, read_datestamp};
use crate::validate::probe::encoded;
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

/// The format of the OpenAIRE guidelines for literature, version 4.
const LITERATURE: &str = "oai_openaire";
const DATA: &str = "oai_datacite";
const OAI_IDENTIFIER: &str = "http://www.openarchives.org/OAI/2.0/oai-identifier";
const CERIF: &str = "https://www.openaire.eu/cerif-profile/";
const CERIF_SCHEMAS: &str = "https://www.openaire.eu/schema/cris/";
/// DINI wants a token to live a day at least.
const TOKEN_SECONDS: i64 = 86_400;

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    literature(run)?;
    older_literature(run)?;
    if run.wants("Q-12") {
        let verdict = data(&run.facts);
        run.judge("Q-12", verdict);
    }
    research_information(run)?;
    dini(run)
}

fn page_of(run: &mut Run<'_>, selection: &str) -> Result<Arc<Exchange>, Stop> {
    run.get(&format!("verb=ListRecords&metadataPrefix={selection}"))
}

/// The roots of the metadata in an answer, with the identifiers of their records.
fn metadata(exchange: &Exchange) -> impl Iterator<Item = (String, &Element)> {
    let records = exchange.document().into_iter().flat_map(Document::records);
    records.filter_map(|record| {
        let identifier = record.child("header")?.text_of("identifier")?;
        Some((identifier, record.child("metadata")?.elements().next()?))
    })
}

/// Whether an element of this name, and with this attribute if one is told, stands anywhere in another.
fn has(root: &Element, local: &str, attribute: Option<(&str, &str)>) -> bool {
    let mut found = false;
    root.walk(&mut |element| {
        let fits = attribute.is_none_or(|(name, value)| element.attribute("", name) == Some(value));
        found |= element.local() == local && fits;
    });
    found
}

/// what is mandatory in oai_openaire.
fn literature(run: &mut Run<'_>) -> Result<(), Stop> {
    type Wanted = (&'static str, &'static str, Option<(&'static str, &'static str)>);
    const MANDATORY: [Wanted; 5] = [
        ("title", "title", None),
        ("publication date", "date", Some(("dateType", "Issued"))),
        ("resource type", "resourceType", None),
        ("resource identifier", "identifier", None),
        ("access rights", "rights", None),
    ];
    if !run.wants("Q-10") {
        return Ok(());
    }
    if run.facts.format(LITERATURE).is_none() {
        run.judge(
            "Q-10",
            Verdict::not_applicable("the repository has no format oai_openaire"),
        );
        return Ok(());
    }
    let page = page_of(run, LITERATURE)?;
    let mut found = Vec::new();
    for (what, local, attribute) in MANDATORY {
        let without: Vec<String> = metadata(&page)
            .filter(|(_, root)| !has(root, local, attribute))
            .map(|(identifier, _)| identifier)
            .collect();
        if let Some(first) = without.first() {
            let came = format!("{} records without {what}, such as {first}", without.len());
            found.push(Found::new(came).on(&page));
        }
    }
    let verdict = match metadata(&page).next() {
        None => Verdict::not_applicable("no record of oai_openaire came"),
        Some(_) => Verdict::of(found),
    };
    run.judge("Q-10", verdict);
    Ok(())
}

/// the words of info:eu-repo in oai_dc, and the set that holds such records.
fn older_literature(run: &mut Run<'_>) -> Result<(), Stop> {
    const WORDS: [(&str, &str); 2] = [
        ("rights", "info:eu-repo/semantics/"),
        ("type", "info:eu-repo/semantics/"),
    ];
    if !run.wants("Q-11") {
        return Ok(());
    }
    // Whether there should be such a set is for another check to say.
    if !set_specs(&run.facts).contains("openaire") {
        run.judge("Q-11", Verdict::not_applicable("the repository has no set openaire"));
        return Ok(());
    }
    let page = page_of(run, &format!("oai_dc&set={}", encoded("openaire")))?;
    let mut found = Vec::new();
    for (element, beginning) in WORDS {
        let lacks = |root: &Element| {
            let mut own = root.elements().filter(|child| child.local() == element);
            !own.any(|child| child.text().starts_with(beginning))
        };
        if let Some((identifier, _)) = metadata(&page).find(|(_, root)| lacks(root)) {
            let came = format!("{identifier} has no {element} that begins with {beginning}");
            found.push(Found::new(came).on(&page));
        }
    }
    for (identifier, root) in metadata(&page) {
        let relations = root
            .elements()
            .filter(|child| child.local() == "relation")
            .map(Element::text);
        let mut grants = relations.filter(|value| value.contains("grantAgreement"));
        if let Some(wrong) = grants.find(|value| !value.starts_with("info:eu-repo/grantAgreement/")) {
            found.push(Found::new(format!("{identifier} has the relation {}", shown(&wrong))).on(&page));
            break;
        }
    }
    let verdict = match metadata(&page).next() {
        None => Verdict::not_applicable("no record of the set openaire came"),
        Some(_) => Verdict::of(found),
    };
    run.judge("Q-11", verdict);
    Ok(())
}

/// who has a set of data has them in the format for data.
fn data(facts: &Facts) -> Verdict {
    if !set_specs(facts).contains("openaire_data") {
        return Verdict::not_applicable("the repository has no set openaire_data");
    }
    Verdict::unless(facts.format(DATA).is_none(), || {
        Found::new("a set openaire_data, and no format oai_datacite")
    })
}

fn cerif(facts: &Facts) -> Option<&crate::validate::facts::Format> {
    let mut formats = facts.formats.iter();
    formats.find(|format| format.prefix.starts_with("oai_cerif_openaire") || format.namespace.starts_with(CERIF))
}

/// a research information system.
fn research_information(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("Q-13") {
        return Ok(());
    }
    let Some(format) = cerif(&run.facts).cloned() else {
        run.judge(
            "Q-13",
            Verdict::not_applicable("the repository has no format oai_cerif_openaire"),
        );
        return Ok(());
    };
    let identify = run.get("verb=Identify")?;
    let payload = identify.document().and_then(Document::payload);
    let roots: Vec<&Element> = payload
        .into_iter()
        .flat_map(|payload| payload.named("description").flat_map(Element::elements))
        .collect();
    let services: Vec<&&Element> = roots.iter().filter(|root| root.local() == "Service").collect();
    let identifiers: Vec<&&Element> = roots
        .iter()
        .filter(|root| root.is(OAI_IDENTIFIER, "oai-identifier"))
        .collect();
    let mut faults = Vec::new();
    if services.len() != 1 || identifiers.len() != 1 {
        let (services, identifiers) = (services.len(), identifiers.len());
        faults.push(format!(
            "{services} Service and {identifiers} oai-identifier descriptions instead of one each"
        ));
    } else {
        let acronym = services[0].text_of("Acronym").unwrap_or_default();
        let repository = identifiers[0].text_of("repositoryIdentifier").unwrap_or_default();
        if acronym != repository {
            faults.push(format!(
                "the Acronym {acronym:?} of the Service is not the repositoryIdentifier {repository:?}"
            ));
        }
    }
    if !format.namespace.starts_with(CERIF) || !format.prefix.starts_with("oai_cerif_openaire") {
        faults.push(format!(
            "the prefix {} has the namespace {}",
            format.prefix, format.namespace
        ));
    }
    if !format.schema.starts_with(CERIF_SCHEMAS) {
        faults.push(format!("the schema of {} is at {}", format.prefix, format.schema));
    }
    let found = faults.into_iter().map(|came| Found::new(came).on(&identify));
    run.judge("Q-13", Verdict::of(found.collect()));
    Ok(())
}

/// what the DINI certificate asks and the protocol leaves open.
fn dini(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("Q-14") {
        return Ok(());
    }
    let page = page_of(run, "oai_dc")?;
    let facts = &run.facts;
    let mut found = Vec::new();
    let specs = set_specs(facts);
    for (family, what) in [
        ("ddc", "subjects by the Dewey classification"),
        ("doc-type", "types of documents"),
    ] {
        let is_of = |spec: &&str| spec.strip_prefix(family).is_some_and(|rest| rest.starts_with(':'));
        if !specs.iter().any(is_of) {
            found.push(Found::new(format!("no set {family}:…, which is for {what}")));
        }
    }
    if !specs.contains("open_access") {
        found.push(Found::new("no set open_access").with_severity(Severity::Info));
    }
    let identity = facts.identity.as_ref();
    if identity.is_some_and(|identity| identity.deleted_record == "no") {
        found.push(Found::new(
            "deletedRecord is no, so harvesters do not learn of deletions",
        ));
    }
    if let Some(identity) = identity {
        found = found.into_iter().map(|one| one.in_answer(identity.exchange)).collect();
    }
    if let Some(seconds) = life_of_token(&page).filter(|seconds| *seconds < TOKEN_SECONDS) {
        let came = format!("a resumption token that expires after {seconds} seconds");
        found.push(Found::new(came).on(&page));
    }
    let without = metadata(&page).find(|(_, root)| {
        let mut identifiers = root.elements().filter(|child| child.local() == "identifier");
        !identifiers.any(|child| is_link(&child.text()))
    });
    if let Some((identifier, _)) = without {
        found.push(Found::new(format!("{identifier} has no link to its document")).on(&page));
    }
    run.judge("Q-14", Verdict::of(found));
    Ok(())
}

fn life_of_token(page: &Exchange) -> Option<i64> {
    let document = page.document()?;
    let token = document.token()?;
    let expires = read_datestamp(&token.expiration_date?)?;
    let now = read_datestamp(&document.response_date()?)?;
    Some(expires.unix() - now.unix())
}
