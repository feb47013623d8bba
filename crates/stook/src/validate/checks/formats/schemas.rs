//! Whether the schemas of formats are where ListMetadataFormats says, and of the namespace it says. The only requests of
//! a run that leave the repository: few, and only for what is not known.

use stook_metadata::well_known;
use stook_oai::Excerpt;
use url::Url;

use crate::validate::exchange::{Answer, Exchange, Question};
use crate::validate::facts::Format;
use crate::validate::run::{Found, Run, Stop, Verdict};
use crate::validate::table::Severity;

const XML_SCHEMA: &str = "http://www.w3.org/2001/XMLSchema";
/// So many are fetched at most.
const MOST_FETCHED: usize = 5;

pub(super) fn check(run: &mut Run<'_>, formats: &Exchange) -> Result<(), Stop> {
    if !run.wants("M-6") {
        return Ok(());
    }
    let unknown = run.facts.formats.iter().filter(|format| !is_known(format));
    let unknown: Vec<Format> = unknown.take(MOST_FETCHED).cloned().collect();
    if unknown.is_empty() {
        let verdict = match run.facts.formats.is_empty() {
            true => Verdict::not_applicable("there are no formats"),
            false => Verdict::Holds,
        };
        run.judge("M-6", verdict);
    }
    for format in unknown {
        let fetched = match Url::parse(&format.schema).ok() {
            Some(url) => Some(run.ask_elsewhere(&url, Question::get(""))?),
            None => None,
        };
        let outcome = fetched.as_ref().map(|exchange| &exchange.outcome);
        let verdict = match outcome {
            Some(Ok(answer)) => Verdict::of(flaw(&format, answer).into_iter().collect()),
            Some(Err(nothing)) => not_fetched(&format, &nothing.to_string()),
            None => not_fetched(&format, &format!("{} is no URL", Excerpt(&format.schema))),
        };
        let verdict = match verdict {
            Verdict::Broken(found) => Verdict::Broken(found.into_iter().map(|found| found.on(formats)).collect()),
            other => other,
        };
        run.judge("M-6", verdict);
    }
    Ok(())
}

fn not_fetched(format: &Format, why: &str) -> Verdict {
    let came = format!("the schema of {} could not be fetched: {why}", format.prefix);
    Verdict::Broken(vec![Found::new(came).with_severity(Severity::Info)])
}

/// Whether it is known that the schema is of that namespace.
fn is_known(format: &Format) -> bool {
    let is_it = |schema: &str| schema == format.schema || super::is_secure_form(schema, &format.schema);
    let mut known = well_known().iter();
    known.any(|known| known.namespace == format.namespace && is_it(&known.schema))
}

fn flaw(format: &Format, answer: &Answer) -> Option<Found> {
    let prefix = &format.prefix;
    if answer.status != 200 {
        let came = format!("the schema of {prefix} could not be fetched: HTTP {}", answer.status);
        return Some(Found::new(came).with_severity(Severity::Info));
    }
    let schema = answer
        .document
        .root
        .as_ref()
        .filter(|root| root.is(XML_SCHEMA, "schema"));
    let Some(schema) = schema else {
        let came = format!("what {} leads to is no XML schema", Excerpt(&format.schema));
        return Some(Found::new(came));
    };
    let namespace = schema.attribute("", "targetNamespace").unwrap_or_default();
    let came = || {
        let (said, found) = (Excerpt(&format.namespace), Excerpt(namespace));
        format!("the schema of {prefix} is for the namespace {found}, not for {said}")
    };
    (namespace != format.namespace).then(|| Found::new(came()))
}
