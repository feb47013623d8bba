//! The checks of group X: what every answer must be, whatever was asked.

use stook::provider::Provider;
use stook_oai::request::ArgumentRules;
use stook_oai::{Datestamp, ErrorCode, Verb};

use super::answer::Seen;

const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// The checks made here.
pub const MADE: &[&str] = &[
    "X-1", "X-2", "X-3", "X-4", "X-5", "X-6", "X-8", "X-10", "X-11", "X-12", "X-13", "X-14", "X-15", "X-16", "X-17",
];

/// Checks an answer to a query as sent.
pub fn check(provider: &Provider, query: &str, seen: &Seen) {
    let (document, root) = (&seen.document, &seen.root);
    assert!(document.starts_with(DECLARATION), "X-2 {query}");
    assert!(document.ends_with("</OAI-PMH>\n"), "H-12 {query}");
    assert_eq!(
        (root.namespace.as_str(), root.name.as_str()),
        (OAI, "OAI-PMH"),
        "X-5 {query}"
    );
    let location = root.attribute("xsi:schemaLocation").unwrap_or_default();
    assert_eq!(location, format!("{OAI} {OAI}OAI-PMH.xsd"), "X-6 {query}");
    let names: Vec<&str> = root.children.iter().map(|child| child.name.as_str()).collect();
    assert_eq!(names[..2], ["responseDate", "request"], "X-14 {query}");
    assert!(root.text.trim().is_empty(), "X-14 {query}");

    let date = &root.one("responseDate").text;
    assert_eq!(date.len(), 20, "X-8 {query}: {date}");
    assert_eq!(Datestamp::parse(date).unwrap(), seen.response_date, "X-8 {query}");
    assert_eq!(root.one("request").text, provider.settings.base_url, "X-10 {query}");
    check_answer(query, seen, &names[2..]);
    check_echo(query, seen);
}

fn check_answer(query: &str, seen: &Seen, names: &[&str]) {
    let sent: Vec<String> = arguments(query)
        .into_iter()
        .filter(|(name, _)| name == "verb")
        .map(|(_, value)| value)
        .collect();
    if seen.codes.is_empty() {
        assert_eq!(names, [sent[0].as_str()], "X-14 {query}");
        assert!(seen.body().text.trim().is_empty(), "X-14 {query}");
        return;
    }
    assert!(names.iter().all(|name| *name == "error"), "X-14 {query}: {names:?}");
    for error in &seen.root.children[2..] {
        let code = ErrorCode::parse(error.attribute("code").unwrap());
        assert_eq!(error.attributes.len(), 1, "X-15 {query}");
        assert!(
            is_legal(code.expect("X-15: a code of the specification"), &sent),
            "X-15 {query}: {code:?}"
        );
        assert!(!error.text.trim().is_empty(), "X-16 {query}");
    }
}

/// Whether the verb may be answered with this code (section 4 of the specification).
fn is_legal(code: ErrorCode, sent: &[String]) -> bool {
    use ErrorCode::*;
    let verb = match sent {
        [only] => Verb::parse(only),
        _ => None,
    };
    let Some(verb) = verb else {
        // A request of more arguments than are read is refused before its verb is.
        return matches!(code, BadVerb | BadArgument);
    };
    let rules = ArgumentRules::of(verb);
    match code {
        BadVerb => false,
        BadArgument => true,
        BadResumptionToken => rules.exclusive.is_some(),
        CannotDisseminateFormat => matches!(verb, Verb::GetRecord | Verb::ListIdentifiers | Verb::ListRecords),
        IdDoesNotExist => matches!(verb, Verb::GetRecord | Verb::ListMetadataFormats),
        NoRecordsMatch => matches!(verb, Verb::ListIdentifiers | Verb::ListRecords),
        NoMetadataFormats => verb == Verb::ListMetadataFormats,
        NoSetHierarchy => rules.exclusive.is_some(),
    }
}

fn check_echo(query: &str, seen: &Seen) {
    let mut echoed = seen.root.one("request").attributes.clone();
    let hidden = [ErrorCode::BadVerb, ErrorCode::BadArgument];
    if seen.codes.iter().any(|code| hidden.contains(code)) {
        assert_eq!(echoed, [], "X-12 {query}");
        return;
    }
    let mut sent = arguments(query);
    echoed.sort();
    sent.sort();
    // Besides the equality of values this is X-17: what had to be escaped was escaped.
    assert_eq!(
        echoed,
        sent,
        "{} {query}",
        if seen.codes.is_empty() { "X-11" } else { "X-13" }
    );
}

/// The arguments of a query, read by another library than the one under test.
fn arguments(query: &str) -> Vec<(String, String)> {
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}
