//! Two answers to what is the same question: whether a harvester would store the same.

use crate::validate::document::Document;
use crate::validate::exchange::Exchange;
use crate::validate::run::{Found, Verdict};

/// So much of a part is shown.
const SHOWN: usize = 120;

/// Whether the second answer holds what the first does. Dates of the answer and tokens may differ.
pub(super) fn same(first: &Exchange, second: &Exchange) -> Verdict {
    match first.document().and_then(Document::parts) {
        None => Verdict::not_applicable(format!("{}, so there is nothing to compare with", first.in_short())),
        Some(_) => match difference(first, second) {
            None => Verdict::Holds,
            Some(came) => Verdict::Broken(vec![Found::new(came).on(first).on(second)]),
        },
    }
}

/// How the second answer differs, if it does.
pub(super) fn difference(first: &Exchange, second: &Exchange) -> Option<String> {
    let first = first.document().and_then(Document::parts).unwrap_or_default();
    let Some(other) = second.document().and_then(Document::parts) else {
        return Some(second.in_short());
    };
    if let Some((one, two)) = first.iter().zip(&other).find(|(one, two)| one != two) {
        return Some(format!("{} in the place of {}", shown(two), shown(one)));
    }
    (first.len() != other.len()).then(|| format!("{} parts instead of {}", other.len(), first.len()))
}

fn shown(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    let line = line.join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
