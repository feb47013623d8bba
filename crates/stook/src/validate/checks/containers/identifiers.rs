//! What is judged of all identifiers that were seen: whether they are what the description of them says.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use stook_oai::{Excerpt, OaiNamespace};

use super::{OAI_IDENTIFIER_1_1, PROVENANCE, declared};
use crate::validate::document::{Document, Element};
use crate::validate::facts::Facts;
use crate::validate::run::{Found, Run, Stop, Verdict};

/// Identifiers of so many namespaces are those of an aggregator.
const MANY: usize = 3;

pub(super) fn last(run: &mut Run<'_>) -> Result<(), Stop> {
    if run.wants("K-4") {
        let exchange = run.get("verb=Identify")?;
        let identify = exchange.document().and_then(Document::payload);
        let descriptions = identify.into_iter().flat_map(|identify| identify.named("description"));
        let roots: Vec<&Element> = descriptions.flat_map(Element::elements).collect();
        let declared = declared(&roots).map(|(root, identifier)| Declared {
            is_old: &*root.namespace == OAI_IDENTIFIER_1_1,
            namespace: identifier,
        });
        let verdict = obey(&run.facts, declared.as_ref());
        run.judge("K-4", verdict);
    }
    let verdict = tells_sources(&run.facts);
    run.judge("K-10", verdict);
    Ok(())
}

/// What Identify says of identifiers.
struct Declared {
    /// By the guideline of version 1.1.
    is_old: bool,
    namespace: String,
}

/// The identifiers that claim to be of the scheme `oai`: each with the namespace and the rest, and where it was seen.
fn of_scheme(facts: &Facts) -> impl Iterator<Item = (&str, &str, &str, u32)> {
    let mut met = HashSet::new();
    let headers = facts.headers.iter();
    headers.filter_map(move |seen| {
        let identifier = seen.header.identifier.as_str();
        let rest = identifier.strip_prefix("oai:").filter(|_| met.insert(identifier))?;
        let (namespace, local) = rest.split_once(':').unwrap_or((rest, ""));
        Some((identifier, namespace, local, seen.exchange))
    })
}

fn obey(facts: &Facts, declared: Option<&Declared>) -> Verdict {
    let mut count = 0;
    let mut wrong: BTreeMap<&str, (usize, &str, u32)> = BTreeMap::new();
    for (identifier, namespace, local, exchange) in of_scheme(facts) {
        count += 1;
        if let Some(what) = flaw(namespace, local, declared) {
            wrong.entry(what).or_insert((0, identifier, exchange)).0 += 1;
        }
    }
    if count == 0 {
        return Verdict::not_applicable("no identifier begins with oai:");
    }
    let found = wrong.into_iter().map(|(what, (how_many, example, exchange))| {
        let came = format!(
            "{how_many} of {count} identifiers, such as {}, {what}",
            Excerpt(example)
        );
        Found::new(came).in_answer(exchange)
    });
    Verdict::of(found.collect())
}

fn flaw(namespace: &str, local: &str, declared: Option<&Declared>) -> Option<&'static str> {
    let is_namespace = match declared {
        Some(declared) if declared.is_old => namespace.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        _ => OaiNamespace::parse(namespace).is_ok(),
    };
    match () {
        () if declared.is_some_and(|declared| declared.namespace != namespace) => {
            Some("are of another namespace than Identify declares")
        }
        // What is declared wrongly is told once, of the declaration.
        () if declared.is_none() && !is_namespace => Some("have a namespace that is no domain name"),
        () if local.is_empty() => Some("have no local part"),
        () => flaw_of_escapes(local),
    }
}

/// Only what cannot stand for itself is escaped, with upper-case digits.
fn flaw_of_escapes(local: &str) -> Option<&'static str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,".contains(&byte);
    let mut rest = local.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'%' {
            if !is_plain(*first) {
                return Some("hold characters that must be escaped");
            }
            continue;
        }
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let Some(byte) = digits.and_then(hex) else {
            return Some("hold a % without two digits");
        };
        if digits.is_some_and(|digits| digits.bytes().any(|digit| digit.is_ascii_lowercase())) {
            return Some("are escaped with lower-case digits");
        }
        if is_plain(byte) {
            return Some("escape characters that must stand for themselves");
        }
        rest = &behind[2..];
    }
    None
}

fn hex(digits: &str) -> Option<u8> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

fn tells_sources(facts: &Facts) -> Verdict {
    let namespaces: BTreeSet<&str> = of_scheme(facts).map(|(_, namespace, ..)| namespace).collect();
    if namespaces.len() < MANY {
        return Verdict::not_applicable("its identifiers are not those of an aggregator");
    }
    let mut abouts = facts.records.iter().flat_map(|record| &record.about);
    if facts.records.is_empty() {
        return Verdict::not_applicable("no record was seen");
    }
    Verdict::unless(!abouts.any(|about| about.contains(PROVENANCE)), || {
        let examples: Vec<&str> = namespaces.iter().copied().take(MANY).collect();
        let came = format!(
            "identifiers of {} repositories ({} …), and no record with a provenance",
            namespaces.len(),
            examples.join(", ")
        );
        let exchange = facts.records.first().map_or(0, |record| record.exchange);
        Found::new(came).in_answer(exchange)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_parts_are_escaped_where_they_must_be_and_nowhere_else() {
        for right in ["1", "a/b:c", "ab%3Ccd", "50%25%20%C3%96l"] {
            assert_eq!(flaw_of_escapes(right), None, "{right}");
        }
        for wrong in ["a b", "%3c", "%41", "a%", "%zz", "%+5", "é", "%é"] {
            assert!(flaw_of_escapes(wrong).is_some(), "{wrong}");
        }
    }
}
