//! GW: a gateway that answers for static repositories, as far as it can be seen from outside.

use std::sync::Arc;

use stook_oai::ErrorCode::{BadArgument, NoSetHierarchy};
use url::Url;

use super::static_repository::{StaticFile, behind_gateway, is_static};
use crate::validate::document::{Document, Element, Node, OAI};
use crate::validate::exchange::{Exchange, Question};
use crate::validate::probe::Expect::Error;
use crate::validate::probe::{Probe, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};

const GATEWAY: &str = "http://www.openarchives.org/OAI/2.0/gateway/";
/// What the description of such a gateway must point to.
const GUIDELINES: &str = "http://www.openarchives.org/OAI/2.0/guidelines-static-repository.htm";
const NO_GATEWAY: &str = "Identify has no description of a gateway for static repositories";

/// A static repository has neither sets nor seconds.
const PROBES: &[Probe] = &[
    probe("GW-9", "verb=ListSets", Error(&[NoSetHierarchy])),
    probe(
        "GW-9",
        "verb=ListRecords&metadataPrefix=oai_dc&set=maps",
        Error(&[NoSetHierarchy]),
    ),
    probe(
        "GW-9",
        "verb=ListRecords&metadataPrefix=oai_dc&from=2001-01-01T00:00:00Z",
        Error(&[BadArgument]),
    ),
];

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    if !["GW-7", "GW-9", "GW-12"].iter().any(|id| run.wants(id)) {
        return Ok(());
    }
    let identify = run.get("verb=Identify")?;
    let Some(gateway) = Gateway::of(&identify, &run.facts.base_url) else {
        for id in ["GW-7", "GW-9", "GW-12"] {
            run.judge(id, Verdict::not_applicable(NO_GATEWAY));
        }
        return Ok(());
    };
    run.judge("GW-7", gateway.describes_itself(&identify));
    run.probe_all(PROBES)?;
    let verdict = same_metadata(run, &gateway)?;
    run.judge("GW-12", verdict);
    Ok(())
}

/// What the description says.
struct Gateway {
    source: String,
    description: String,
    admins: Vec<String>,
    url: Option<String>,
    base_url: String,
}

impl Gateway {
    /// The one in Identify, if it is for a static repository: there are gateways for other things too.
    fn of(identify: &Exchange, base_url: &str) -> Option<Gateway> {
        let payload = identify.document().and_then(Document::payload)?;
        let mut roots = payload.named("description").flat_map(Element::elements);
        let element = roots.find(|root| root.is(GATEWAY, "gateway"))?;
        let text = |name: &str| element.text_of(name).unwrap_or_default();
        let gateway = Gateway {
            source: text("source"),
            description: text("gatewayDescription"),
            admins: element.named("gatewayAdmin").map(Element::text).collect(),
            url: element.text_of("gatewayURL"),
            base_url: base_url.to_owned(),
        };
        let behind = Url::parse(&gateway.source).ok().map(|url| behind_gateway(&url));
        let is_behind = behind.is_some_and(|behind| gateway.base_url.ends_with(&format!("/{behind}")));
        (is_behind || gateway.description.contains("static-repository")).then_some(gateway)
    }

    fn describes_itself(&self, identify: &Exchange) -> Verdict {
        let source = Url::parse(&self.source).ok();
        let behind = source.as_ref().map(behind_gateway).unwrap_or_default();
        let gateway_url = self.url.as_deref().unwrap_or_default();
        let expected = format!("{}/{behind}", gateway_url.trim_end_matches('/'));
        let faults = [
            (
                self.description != GUIDELINES,
                format!("gatewayDescription is {:?}", self.description),
            ),
            (
                source.is_none(),
                format!("source is {:?}, which is no URL", self.source),
            ),
            (
                !self.admins.iter().all(|admin| admin.contains('@')) || self.admins.is_empty(),
                format!("gatewayAdmin is {:?}", self.admins.join(", ")),
            ),
            (gateway_url.is_empty(), "there is no gatewayURL".to_owned()),
            (
                source.is_some() && !gateway_url.is_empty() && self.base_url != expected,
                format!(
                    "the base URL is {:?}; of gatewayURL and source it would be {expected:?}",
                    self.base_url
                ),
            ),
        ];
        let found = faults.into_iter().filter(|(is_fault, _)| *is_fault);
        Verdict::of(found.map(|(_, came)| Found::new(came).on(identify)).collect())
    }
}

/// Whether what the gateway disseminates is what the file says.
fn same_metadata(run: &mut Run<'_>, gateway: &Gateway) -> Result<Verdict, Stop> {
    if !run.wants("GW-12") {
        return Ok(Verdict::Holds);
    }
    let Some(source) = Url::parse(&gateway.source)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
    else {
        return Ok(Verdict::not_applicable(
            "the description does not say where the file is",
        ));
    };
    let file: Arc<Exchange> = run.ask_elsewhere(&source, Question::get(""))?;
    let Some(document) = file.document().filter(|document| is_static(document)) else {
        let why = format!("{source} gave no static repository: {}", file.in_short());
        return Ok(Verdict::NotApplicable(why));
    };
    let listed = run.get("verb=ListRecords&metadataPrefix=oai_dc")?;
    let own = StaticFile::of(document).records_of("oai_dc");
    let mut found = Vec::new();
    for record in listed.document().into_iter().flat_map(Document::records) {
        let header = record.child("header");
        let identifier = header
            .and_then(|header| header.text_of("identifier"))
            .unwrap_or_default();
        let Some(original) = own.get(&identifier) else {
            found.push(
                Found::new(format!("{identifier:?}, which the file has not"))
                    .on(&listed)
                    .on(&file),
            );
            continue;
        };
        if !is_same(metadata(record), metadata(original)) {
            found.push(
                Found::new(format!("other metadata of {identifier:?} than in the file"))
                    .on(&listed)
                    .on(&file),
            );
        }
    }
    Ok(Verdict::of(found))
}

fn metadata(record: &Element) -> Option<&Element> {
    let mut containers = record.elements().filter(|child| child.is(OAI, "metadata"));
    containers.next()?.elements().next()
}

/// Whether two elements say the same, whatever prefixes they use.
fn is_same(one: Option<&Element>, other: Option<&Element>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return one.is_none() && other.is_none();
    };
    let attributes = |element: &Element| {
        let mut all: Vec<(String, String, String)> = element
            .attributes
            .iter()
            .map(|own| {
                let local = own.name.rsplit(':').next().unwrap_or_default().to_owned();
                (own.namespace.to_string(), local, own.value.clone())
            })
            .collect();
        all.sort();
        all
    };
    let is_same_node = |pair: (&Node, &Node)| match pair {
        (Node::Text(one), Node::Text(other)) => one == other,
        (Node::Element(one), Node::Element(other)) => is_same(Some(one), Some(other)),
        _ => false,
    };
    one.is(&other.namespace, other.local())
        && attributes(one) == attributes(other)
        && one.children.len() == other.children.len()
        && one.children.iter().zip(&other.children).all(is_same_node)
}
