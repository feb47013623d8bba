//! S: which sets there are.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use stook_metadata::dublin_core::OAI_DC_NAMESPACE;
use stook_metadata::{Problem, well_known};
use stook_oai::ErrorCode::{BadArgument, BadResumptionToken, NoSetHierarchy};
use stook_oai::{Excerpt, SetSpec};

use super::containers;
use crate::validate::document::{Document, Element};
use crate::validate::exchange::Exchange;
use crate::validate::facts::Facts;
use crate::validate::gather::{MOST_SET_PAGES, pages};
use crate::validate::probe::Expect::Error;
use crate::validate::probe::{Probe, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

const PROBES: &[Probe] = &[
    probe("S-8", "verb=ListSets&metadataPrefix=oai_dc", Error(&[BadArgument])),
    probe(
        "S-9",
        "verb=ListSets&resumptionToken=junk",
        Error(&[BadResumptionToken, NoSetHierarchy]),
    ),
];
const WITHOUT_SETS: Probe = probe(
    "S-10",
    "verb=ListRecords&metadataPrefix=oai_dc&set=x",
    Error(&[NoSetHierarchy]),
);

/// A check over all sets.
type Check = fn(&[Listed<'_>]) -> Vec<Found>;

/// What is judged in each set, wherever its page is.
const CHECKS: &[(&str, Check)] = &[
    ("S-2", set_specs),
    ("S-3", are_unique),
    ("S-4", set_names),
    ("S-5", parents),
    ("S-6", descriptions),
];

/// The sets that the OpenAIRE guidelines for research information systems prescribe.
const OPENAIRE_CRIS: &[&str] = &[
    "openaire_cris_equipments",
    "openaire_cris_events",
    "openaire_cris_funding",
    "openaire_cris_orgunits",
    "openaire_cris_patents",
    "openaire_cris_persons",
    "openaire_cris_products",
    "openaire_cris_projects",
    "openaire_cris_publications",
];

/// A set of ListSets, and where it stands.
struct Listed<'a> {
    exchange: &'a Exchange,
    document: &'a Document,
    set: &'a Element,
    spec: String,
}

impl Listed<'_> {
    fn found(&self, came: impl Into<String>) -> Found {
        let line = self.document.line(self.set);
        Found::new(came).on(self.exchange).at_line(line)
    }
}

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let (pages, _) = pages(run, "verb=ListSets", MOST_SET_PAGES)?;
    let first = &pages[0];
    run.judge("S-1", has_sets(first));
    let more = goes_on(&pages);
    // Where the token leads nowhere, what it leads to is no list.
    let listed = listed(if more.is_broken() { &pages[..1] } else { &pages });
    for (id, check) in CHECKS {
        let verdict = match listed.is_empty() {
            true => Verdict::not_applicable("the repository lists no sets"),
            false => Verdict::of(check(&listed)),
        };
        run.judge(id, verdict);
    }
    run.judge("S-7", more);
    run.probe_all(PROBES)?;
    match run.facts.has_no_sets() {
        true => run.probe_all(&[WITHOUT_SETS])?,
        false => run.judge("S-10", Verdict::not_applicable("the repository has sets")),
    }
    let verdict = openaire(&run.facts);
    run.judge("S-12", verdict);
    Ok(())
}

fn has_sets(first: &Exchange) -> Verdict {
    let is_right = match first.document() {
        _ if !first.succeeded() && first.errors().is_empty() => {
            return Verdict::not_applicable(format!("{}, which other checks tell", first.in_short()));
        }
        Some(document) if first.errors().is_empty() => {
            let payload = document.payload().filter(|payload| payload.local() == "ListSets");
            payload.is_some_and(|payload| payload.child("set").is_some())
        }
        Some(document) => document.has_error(NoSetHierarchy),
        None => false,
    };
    Verdict::unless(!is_right, || {
        Found::new(format!("{} instead of sets or noSetHierarchy", first.in_short())).on(first)
    })
}

fn listed(pages: &[Arc<Exchange>]) -> Vec<Listed<'_>> {
    let documents = pages
        .iter()
        .filter_map(|exchange| Some((&**exchange, exchange.document()?)));
    let sets = documents.flat_map(|(exchange, document)| {
        let sets = document.payload().into_iter().flat_map(|payload| payload.named("set"));
        sets.map(move |set| Listed {
            exchange,
            document,
            set,
            spec: set.child("setSpec").map(Element::exact_text).unwrap_or_default(),
        })
    });
    sets.collect()
}

fn set_specs(listed: &[Listed<'_>]) -> Vec<Found> {
    let wrong = listed.iter().filter(|set| SetSpec::parse(set.spec.as_str()).is_err());
    wrong
        .map(|set| set.found(format!("the setSpec {}", Excerpt(&set.spec))))
        .collect()
}

fn are_unique(listed: &[Listed<'_>]) -> Vec<Found> {
    let mut met = HashSet::new();
    let twice = listed
        .iter()
        .filter(|set| !set.spec.is_empty() && !met.insert(&set.spec));
    twice
        .map(|set| set.found(format!("the setSpec {} twice", Excerpt(&set.spec))))
        .collect()
}

fn set_names(listed: &[Listed<'_>]) -> Vec<Found> {
    let flaw = |set: &Listed<'_>| match set.set.text_of("setName") {
        None => Some(set.found(format!("the set {} without a setName", Excerpt(&set.spec)))),
        Some(name) if name.is_empty() => {
            let came = format!("the set {} with an empty setName", Excerpt(&set.spec));
            Some(set.found(came).with_severity(Severity::Warn))
        }
        Some(_) => None,
    };
    listed.iter().filter_map(flaw).collect()
}

fn parents(listed: &[Listed<'_>]) -> Vec<Found> {
    let known: HashSet<&str> = listed.iter().map(|set| &*set.spec).collect();
    let mut told = BTreeSet::new();
    let orphan = |set: &Listed<'_>| {
        let (parent, _) = set.spec.rsplit_once(':')?;
        let is_new = !known.contains(parent) && told.insert(parent.to_owned());
        is_new.then(|| set.found(format!("{} without its parent {}", Excerpt(&set.spec), Excerpt(parent))))
    };
    listed.iter().filter_map(orphan).collect()
}

fn descriptions(listed: &[Listed<'_>]) -> Vec<Found> {
    let mut found = Vec::new();
    for set in listed {
        for description in set.set.named("setDescription") {
            let flaw = containers::flaw(description).or_else(|| flaw_of_dublin_core(set.document, description));
            found.extend(flaw.map(|flaw| set.found(format!("{flaw} (set {})", Excerpt(&set.spec)))));
        }
    }
    found
}

/// Dublin Core is what the guidelines recommend for describing a set.
fn flaw_of_dublin_core(document: &Document, description: &Element) -> Option<String> {
    let root = description
        .elements()
        .find(|root| &*root.namespace == OAI_DC_NAMESPACE)?;
    let problem = stook_metadata::check(document.written(root), &well_known()[0])
        .err()?
        .problem;
    // What is declared further out is not known here.
    (!matches!(problem, Problem::UndeclaredPrefix(_))).then(|| problem.to_string())
}

/// The second page, if there is one.
fn goes_on(pages: &[Arc<Exchange>]) -> Verdict {
    let [first, second, ..] = pages else {
        return Verdict::not_applicable("ListSets has one page");
    };
    if !second.succeeded() && second.errors().is_empty() {
        return Verdict::not_applicable(format!("{}, which other checks tell", second.in_short()));
    }
    let specs = |page: &Arc<Exchange>| -> Vec<String> {
        let sets = listed(std::slice::from_ref(page)).into_iter();
        sets.map(|set| set.spec).collect()
    };
    let (before, behind) = (specs(first), specs(second));
    match () {
        () if behind.is_empty() => {
            let came = format!("{} to the resumptionToken of ListSets", second.in_short());
            Verdict::Broken(vec![Found::new(came).on(second).on(first)])
        }
        () if before == behind => {
            let came = "the first page again to the resumptionToken of ListSets";
            Verdict::Broken(vec![Found::new(came).on(second).on(first)])
        }
        () => Verdict::Holds,
    }
}

/// Which sets OpenAIRE looks for depends on what the repository is.
fn openaire(facts: &Facts) -> Verdict {
    let has_prefix = |start: &str| facts.formats.iter().any(|format| format.prefix.starts_with(start));
    let wanted: &[&str] = match () {
        () if has_prefix("oai_cerif_openaire") => OPENAIRE_CRIS,
        () if has_prefix("oai_datacite") => &["openaire_data"],
        () => &["openaire"],
    };
    let specs: Vec<&str> = facts.sets.iter().flatten().map(|set| &*set.spec).collect();
    let missing = wanted.iter().filter(|wanted| !specs.contains(wanted));
    let found = missing.map(|wanted| {
        let similar = specs.iter().find(|spec| spec.eq_ignore_ascii_case(wanted));
        Found::new(match similar {
            Some(similar) => format!("the set {similar} instead of {wanted}"),
            None => format!("no set {wanted}"),
        })
    });
    let exchange = facts.sets.iter().flatten().next().map(|set| set.exchange);
    let found = found.map(|found| match exchange {
        Some(exchange) => found.in_answer(exchange),
        None => found,
    });
    Verdict::of(found.collect())
}

/// What is judged when everything was seen.
pub(super) fn last(run: &mut Run<'_>) -> Result<(), Stop> {
    let verdict = are_listed(&run.facts);
    run.judge("S-11", verdict);
    Ok(())
}

/// Every set that a header names is listed, or is below one that is.
fn are_listed(facts: &Facts) -> Verdict {
    let Some(sets) = facts.sets.as_ref().filter(|_| facts.all_sets) else {
        return Verdict::not_applicable("not all sets are known");
    };
    let listed: HashSet<&str> = sets.iter().map(|set| &*set.spec).collect();
    let is_known = |spec: &str| {
        let ends = spec.match_indices(':').map(|(at, _)| at).chain([spec.len()]);
        ends.into_iter().any(|end| listed.contains(&spec[..end]))
    };
    let mut told = HashSet::new();
    let mut found = Vec::new();
    let mut any = false;
    for seen in &facts.headers {
        for spec in &seen.header.set_specs {
            any = true;
            if !is_known(spec) && told.insert(spec) {
                let came = match sets.is_empty() {
                    true => format!("the setSpec {} in a repository without sets", Excerpt(spec)),
                    false => format!("the setSpec {}, which ListSets does not have", Excerpt(spec)),
                };
                found.push(Found::new(came).in_answer(seen.exchange));
            }
        }
    }
    match any {
        true => Verdict::of(found),
        false => Verdict::not_applicable("no header names a set"),
    }
}
