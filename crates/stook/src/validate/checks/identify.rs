//! I: what the repository says of itself.

mod earliest;

use stook_oai::ErrorCode::BadArgument;
use stook_oai::{DeletedRecord, Excerpt, Granularity, UtcDatetime, admin_email_is_valid};
use url::Url;

use super::containers;
use crate::validate::document::{Document, Element};
use crate::validate::exchange::{Exchange, Question};
use crate::validate::facts::{Facts, read_datestamp};
use crate::validate::probe::Expect::Error;
use crate::validate::probe::{Probe, probe};
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

const PROBES: &[Probe] = &[
    probe("I-13", "verb=Identify&test=test", Error(&[BadArgument])),
    probe("I-14", "verb=Identify&identifier={id}", Error(&[BadArgument])),
];

/// Identify, and what it is held to.
struct Said<'a> {
    document: &'a Document,
    identify: &'a Element,
    facts: &'a Facts,
}

/// A check over Identify.
type Check = fn(&Said<'_>) -> Vec<Found>;

/// Without these nothing can be tested, so they are judged as soon as the first answer is there.
const FIRST: &[(&str, Check)] = &[("I-5", protocol_version), ("I-7", granularity)];

const CHECKS: &[(&str, Check)] = &[
    ("I-2", repository_name),
    ("I-3", same_base_url),
    ("I-4", base_url),
    ("I-6", admin_emails),
    ("I-8", earliest_datestamp),
    ("I-9", deleted_record),
    ("I-10", tells_deletions),
    ("I-11", order),
    ("I-12", descriptions),
    ("I-17", is_described),
];

/// The elements of Identify, in their order, and whether one may be there several times. Those that have a check of
/// their own for that are not asked here.
const ELEMENTS: &[(&str, bool)] = &[
    ("repositoryName", true),
    ("baseURL", true),
    ("protocolVersion", false),
    ("adminEmail", true),
    ("earliestDatestamp", false),
    ("deletedRecord", false),
    ("granularity", false),
    ("compression", true),
    ("description", true),
];

/// Hosts of addresses that nobody reads: what software says before somebody configures it.
const DEFAULT_HOSTS: &[&str] = &[
    "myu.edu",
    "domain.com",
    "yourdomain.com",
    "yourdomain.org",
    "mydomain.org",
];
/// Hosts that exist for examples.
const EXAMPLE_HOSTS: &[&str] = &["example.com", "example.net", "example.org"];

/// What is judged in the first answer of all.
pub(super) fn every(run: &mut Run<'_>, exchange: &Exchange) {
    if exchange.question != Question::get("verb=Identify") {
        return;
    }
    // What has no envelope is told by others; what is left of it is told below.
    let Some(document) = exchange.document().filter(|document| document.envelope().is_some()) else {
        return;
    };
    let identify = document.payload().filter(|payload| payload.local() == "Identify");
    run.judge(
        "I-1",
        Verdict::unless(identify.is_none() || !document.errors().is_empty(), || {
            Found::new(format!("{} instead of Identify", exchange.in_short())).on(exchange)
        }),
    );
    if let Some(identify) = identify {
        judge_all(run, exchange, identify, FIRST);
    }
}

pub(super) fn check(run: &mut Run<'_>) -> Result<(), Stop> {
    let exchange = run.get("verb=Identify")?;
    let payload = exchange.document().and_then(Document::payload);
    match payload.filter(|payload| payload.local() == "Identify") {
        Some(identify) => judge_all(run, &exchange, identify, CHECKS),
        None => {
            let came = format!("{} instead of Identify", exchange.in_short());
            run.judge("I-1", Verdict::Broken(vec![Found::new(came).on(&exchange)]));
            for (id, _) in FIRST.iter().chain(CHECKS) {
                run.judge(id, Verdict::not_applicable("there is no Identify"));
            }
        }
    }
    run.probe_all(PROBES)
}

fn judge_all(run: &mut Run<'_>, exchange: &Exchange, identify: &Element, checks: &[(&'static str, Check)]) {
    let Some(document) = exchange.document() else {
        return;
    };
    for (id, check) in checks {
        let said = Said {
            document,
            identify,
            facts: &run.facts,
        };
        let found = check(&said).into_iter().map(|found| found.on(exchange));
        let verdict = Verdict::of(found.collect());
        run.judge(id, verdict);
    }
}

impl Said<'_> {
    /// Something wrong with an element.
    fn at(&self, element: &Element, came: impl Into<String>) -> Found {
        Found::new(came).at_line(self.document.line(element))
    }

    /// The only element of a name; what is wrong if it is not one, or empty.
    fn only(&self, name: &str) -> Result<&Element, Vec<Found>> {
        let all: Vec<&Element> = self.identify.named(name).collect();
        match all[..] {
            [] => Err(vec![self.at(self.identify, format!("there is no {name}"))]),
            [one] if one.text().is_empty() => Err(vec![self.at(one, format!("{name} is empty"))]),
            [one] => Ok(one),
            [_, second, ..] => Err(vec![self.at(second, format!("{name} is there {} times", all.len()))]),
        }
    }
}

fn repository_name(said: &Said<'_>) -> Vec<Found> {
    said.only("repositoryName").err().unwrap_or_default()
}

fn protocol_version(said: &Said<'_>) -> Vec<Found> {
    match said.identify.child("protocolVersion") {
        None => vec![said.at(said.identify, "there is no protocolVersion")],
        Some(version) if version.text() != "2.0" => {
            let found = said.at(version, format!("protocolVersion is {}", Excerpt(&version.text())));
            // An older protocol cannot be tested; a slip of the pen need not hide everything else.
            vec![match version.text().starts_with("1.") {
                true => found,
                false => found.with_severity(Severity::Error),
            }]
        }
        Some(_) => Vec::new(),
    }
}

fn granularity(said: &Said<'_>) -> Vec<Found> {
    let Some(element) = said.identify.child("granularity") else {
        return vec![said.at(said.identify, "there is no granularity")];
    };
    let written = element.exact_text();
    if Granularity::parse(&written).is_some() {
        return Vec::new();
    }
    let found = said.at(element, format!("granularity is {}", Excerpt(&written)));
    match Granularity::parse(written.trim()) {
        // It is clear what is meant.
        Some(_) => vec![found.with_severity(Severity::Error)],
        None => vec![found],
    }
}

fn same_base_url(said: &Said<'_>) -> Vec<Found> {
    let element = match said.only("baseURL") {
        Ok(element) => element,
        Err(found) => return found,
    };
    let (written, wanted) = (element.exact_text(), &said.facts.base_url);
    // What is no base URL at all is told as that.
    if written == *wanted || flaw_of_base_url(written.trim()).is_some_and(|(_, severity)| severity == Severity::Error) {
        return Vec::new();
    }
    let came = format!("baseURL is {}, and it was asked at {wanted}", Excerpt(&written));
    vec![said.at(element, came)]
}

fn base_url(said: &Said<'_>) -> Vec<Found> {
    let element = said
        .identify
        .child("baseURL")
        .filter(|element| !element.text().is_empty());
    let flaw = element.and_then(|element| Some((element, flaw_of_base_url(&element.text())?)));
    let found = flaw.map(|(element, (what, severity))| {
        let came = format!("baseURL is {}, which {what}", Excerpt(&element.text()));
        said.at(element, came).with_severity(severity)
    });
    found.into_iter().collect()
}

/// Why a text cannot be a base URL, and how bad that is.
fn flaw_of_base_url(text: &str) -> Option<(&'static str, Severity)> {
    let Ok(url) = Url::parse(text) else {
        return Some(("is no absolute URL", Severity::Error));
    };
    match () {
        () if !matches!(url.scheme(), "http" | "https") => Some(("is no web address", Severity::Error)),
        () if url.fragment().is_some() => Some(("has a fragment", Severity::Error)),
        () if url.query().is_some() => Some(("has a query", Severity::Warn)),
        () => None,
    }
}

fn admin_emails(said: &Said<'_>) -> Vec<Found> {
    if said.identify.child("adminEmail").is_none() {
        return vec![said.at(said.identify, "there is no adminEmail")];
    }
    let emails = said.identify.named("adminEmail");
    let flaws = emails.filter_map(|email| Some((email, flaw_of_email(&email.exact_text())?)));
    flaws
        .map(|(email, (what, severity))| {
            let came = format!("adminEmail is {}, which {what}", Excerpt(&email.exact_text()));
            said.at(email, came).with_severity(severity)
        })
        .collect()
}

fn flaw_of_email(text: &str) -> Option<(&'static str, Severity)> {
    let (address, is_link) = match text.strip_prefix("mailto:") {
        Some(address) => (address, true),
        None => (text, false),
    };
    let host = address
        .rsplit_once('@')
        .map_or("", |(_, host)| host)
        .to_ascii_lowercase();
    let is_local = host == "localhost" || host.starts_with("localhost.");
    match () {
        () if is_local => Some(("reaches nobody outside that machine", Severity::Error)),
        () if !admin_email_is_valid(address) => Some(("is no mail address", Severity::Error)),
        () if is_link => Some(("is a link, not an address", Severity::Warn)),
        () if DEFAULT_HOSTS.contains(&&*host) => Some(("is what software says before it is set up", Severity::Warn)),
        () if EXAMPLE_HOSTS.contains(&&*host) => Some(("is of a domain for examples", Severity::Info)),
        () => None,
    }
}

fn earliest_datestamp(said: &Said<'_>) -> Vec<Found> {
    let Some(element) = said.identify.child("earliestDatestamp") else {
        return vec![said.at(said.identify, "there is no earliestDatestamp")];
    };
    let written = element.exact_text();
    let found = |what: &str| vec![said.at(element, format!("earliestDatestamp is {}, {what}", Excerpt(&written)))];
    let Ok(datetime) = UtcDatetime::parse(&written) else {
        return found("which is no date of the protocol");
    };
    let told = said
        .identify
        .text_of("granularity")
        .as_deref()
        .and_then(Granularity::parse);
    if told.is_some_and(|told| told != datetime.granularity()) {
        return found("which is not of the granularity");
    }
    let now = said.document.response_date().as_deref().and_then(read_datestamp);
    match now.is_some_and(|now| datetime.first_second() > now) {
        true => found("which has not come yet"),
        false => Vec::new(),
    }
}

fn deleted_record(said: &Said<'_>) -> Vec<Found> {
    match said.identify.child("deletedRecord") {
        None => vec![said.at(said.identify, "there is no deletedRecord")],
        Some(element) if DeletedRecord::parse(&element.exact_text()).is_none() => {
            let came = format!("deletedRecord is {}", Excerpt(&element.exact_text()));
            vec![said.at(element, came)]
        }
        Some(_) => Vec::new(),
    }
}

fn tells_deletions(said: &Said<'_>) -> Vec<Found> {
    let element = said
        .identify
        .child("deletedRecord")
        .filter(|element| element.text() == "no");
    element
        .map(|element| said.at(element, "deletedRecord is no"))
        .into_iter()
        .collect()
}

fn order(said: &Said<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let mut reached = 0;
    for element in said.identify.elements() {
        let own = element.namespace == said.identify.namespace;
        let Some(at) = ELEMENTS.iter().position(|(name, _)| own && *name == element.local()) else {
            let came = format!(
                "Identify holds {}, which is none of its elements",
                Excerpt(&element.name)
            );
            found.push(said.at(element, came));
            continue;
        };
        let (name, several) = ELEMENTS[at];
        if at < reached {
            found.push(said.at(element, format!("{name} stands behind {}", ELEMENTS[reached].0)));
        } else if at == reached && !several && said.identify.named(name).count() > 1 {
            let is_second = said
                .identify
                .child(name)
                .is_some_and(|first| first.span != element.span);
            if is_second {
                found.push(said.at(element, format!("{name} is there twice")));
            }
        }
        reached = reached.max(at);
    }
    found
}

fn descriptions(said: &Said<'_>) -> Vec<Found> {
    let descriptions = said.identify.named("description");
    let flaws = descriptions.filter_map(|element| Some((element, containers::flaw(element)?)));
    flaws.map(|(element, flaw)| said.at(element, flaw)).collect()
}

fn is_described(said: &Said<'_>) -> Vec<Found> {
    match said.identify.child("description") {
        Some(_) => Vec::new(),
        None => vec![said.at(said.identify, "there is no description")],
    }
}

/// What is judged when everything was seen.
pub(super) fn last(run: &mut Run<'_>) -> Result<(), Stop> {
    earliest::last(run);
    Ok(())
}
