//! The request element: what was asked, as the repository understood it.

use std::borrow::Cow;

use stook_oai::{ErrorCode, Request};

use crate::validate::document::{Document, Element, Flaw};
use crate::validate::exchange::{Exchange, Question};
use crate::validate::probe::encoded;
use crate::validate::run::{Found, Run, Stop, Verdict};

/// Values whose characters XML must escape; an honest identifier may hold the first.
const SPECIAL: &[(&str, &str)] = &[
    ("verb=GetRecord&metadataPrefix=oai_dc", "oai:example.org:a&b'c"),
    ("verb=GetRecord&metadataPrefix=oai_dc", "a\"<b>&amp;]]>'c"),
];

pub(super) fn base_url(exchange: &Exchange, envelope: &Element, run: &Run<'_>) -> Verdict {
    let Some(request) = envelope.child("request") else {
        return Verdict::Broken(vec![Found::new("no request element").on(exchange)]);
    };
    let told = request.exact_text();
    let identity = run.facts.identity.as_ref();
    // Identify itself is judged before it is known.
    let own = envelope
        .child("Identify")
        .and_then(|identify| identify.child("baseURL"))
        .map(Element::exact_text);
    let own = own.or_else(|| identity.map(|identity| identity.base_url.clone()));
    // That Identify names the URL under test is judged by I-3.
    let is_right = told == run.facts.base_url || own.is_some_and(|own| own == told);
    Verdict::unless(!is_right, || {
        Found::new(format!("<request>{told}</request>")).on(exchange)
    })
}

/// The arguments sent, if they make a request of the protocol: others cannot be repeated.
fn sent(exchange: &Exchange, run: &Run<'_>) -> Option<Vec<(String, String)>> {
    let arguments = exchange.question.arguments();
    let pairs = arguments
        .iter()
        .map(|(name, value)| (Cow::from(name.as_str()), Cow::from(value.as_str())));
    Request::parse(pairs, run.facts.granularity()).ok()?;
    Some(arguments)
}

/// The attributes of the protocol; those of a namespace are for the schema to judge.
fn attributes(request: &Element) -> Vec<(&str, &str)> {
    let own = request
        .attributes
        .iter()
        .filter(|attribute| attribute.namespace.is_empty());
    own.map(|attribute| (attribute.name.as_str(), attribute.value.as_str()))
        .collect()
}

/// How the attributes differ from what was sent.
fn difference(request: &Element, sent: &[(String, String)]) -> Option<String> {
    let attributes = attributes(request);
    // White space in an attribute is blanks, however it was sent.
    let blank = |value: &str| value.replace(['\t', '\r', '\n'], " ");
    for (name, value) in sent {
        match attributes.iter().find(|(given, _)| given == name) {
            None => return Some(format!("request has no {name}")),
            Some((_, told)) if *told != blank(value) => {
                return Some(format!("request has {name}=\"{told}\", where \"{value}\" was sent"));
            }
            Some(_) => {}
        }
    }
    let more = attributes
        .iter()
        .find(|(given, _)| !sent.iter().any(|(name, _)| name == given));
    more.map(|(name, value)| format!("request has {name}=\"{value}\", which was not sent"))
}

fn repeats(exchange: &Exchange, envelope: &Element, run: &Run<'_>) -> Verdict {
    let (Some(request), Some(sent)) = (envelope.child("request"), sent(exchange, run)) else {
        return Verdict::not_applicable("nothing was sent that can be repeated");
    };
    match difference(request, &sent) {
        Some(came) => Verdict::Broken(vec![Found::new(came).on(exchange)]),
        None => Verdict::Holds,
    }
}

pub(super) fn of_success(exchange: &Exchange, envelope: &Element, run: &Run<'_>) -> Verdict {
    match exchange.succeeded() && exchange.errors().is_empty() {
        true => repeats(exchange, envelope, run),
        false => Verdict::not_applicable("there was no answer without errors"),
    }
}

/// Whether one of the errors says that the arguments make no sense.
fn is_bad_request(exchange: &Exchange) -> bool {
    let bad = [ErrorCode::BadVerb.as_str(), ErrorCode::BadArgument.as_str()];
    exchange.errors().iter().any(|(code, _)| bad.contains(&code.as_str()))
}

pub(super) fn of_bad_requests(exchange: &Exchange, envelope: &Element, _: &Run<'_>) -> Verdict {
    let Some(request) = envelope.child("request").filter(|_| is_bad_request(exchange)) else {
        return Verdict::not_applicable("there was no badVerb or badArgument");
    };
    match attributes(request).first() {
        None => Verdict::Holds,
        Some((name, value)) => {
            let came = format!("{} with {name}=\"{value}\" on request", exchange.in_short());
            Verdict::Broken(vec![Found::new(came).on(exchange)])
        }
    }
}

pub(super) fn of_other_errors(exchange: &Exchange, envelope: &Element, run: &Run<'_>) -> Verdict {
    match !exchange.errors().is_empty() && !is_bad_request(exchange) {
        true => repeats(exchange, envelope, run),
        false => Verdict::not_applicable("there was no error beside badVerb and badArgument"),
    }
}

/// Values that break an answer if they are repeated as they came.
pub(super) fn special_characters(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.wants("X-17") {
        return Ok(());
    }
    for (query, value) in SPECIAL {
        let question = Question::get(format!("{query}&identifier={}", encoded(value)));
        let exchange = run.ask(question.may_be_refused())?;
        run.judge("X-17", escaped(&exchange, value));
    }
    Ok(())
}

fn escaped(exchange: &Exchange, value: &str) -> Verdict {
    let is_xml = |document: &&Document| {
        document.envelope().is_some() || exchange.answer().is_some_and(|answer| !answer.is_of_another_kind())
    };
    let Some(document) = exchange.document().filter(is_xml) else {
        return Verdict::not_applicable(format!("{} to special characters", exchange.in_short()));
    };
    let malformed = document.flaws.iter().find_map(|flaw| match flaw {
        Flaw::Malformed { line, reason, .. } => Some((*line, reason)),
        _ => None,
    });
    if let Some((line, reason)) = malformed {
        let came = format!("an answer that is no XML after the identifier {value}: {reason}");
        return Verdict::Broken(vec![Found::new(came).on(exchange).at_line(line)]);
    }
    let told = document
        .request()
        .and_then(|request| request.attribute("", "identifier"));
    match told {
        Some(told) if told != value => {
            let came = format!("identifier=\"{told}\" on request, where {value} was sent");
            Verdict::Broken(vec![Found::new(came).on(exchange)])
        }
        _ => Verdict::Holds,
    }
}
