//! What people get wrong in a record, done to it on purpose: elements and attributes dropped, repeated, renamed, swapped,
//! emptied and filled. What leaves is well-formed XML, seldom valid.

use std::collections::HashSet;

use anyhow::{Context, Result};
use stook_metadata::scan::{Scanner, Token};

use super::Candidate;

/// An element of a record, by byte offsets.
struct Span {
    path: String,
    parent: Option<usize>,
    start: usize,
    /// Behind the name in the start tag.
    name_end: usize,
    /// Behind the start tag, and where the end tag begins; the same place if there is none.
    inside: (usize, usize),
    end: usize,
    is_empty: bool,
    /// Names and the offsets of name and value.
    attributes: Vec<(String, usize, (usize, usize))>,
}

/// Adds all changes of a record that were not made at such a place before.
///
/// # Errors
/// When the record is not well-formed.
pub(super) fn add(record: &str, done: &mut HashSet<String>, candidates: &mut Vec<Candidate>) -> Result<()> {
    let spans = spans(record)?;
    let mut push = |what: &str, place: &str, changes: &[((usize, usize), &str)]| {
        if done.insert(format!("{what} {place}")) {
            candidates.push(Candidate {
                what: format!("{what} {place}"),
                xml: changed(record, changes),
            });
        }
    };
    for (index, span) in spans.iter().enumerate() {
        let (whole, inside) = ((span.start, span.end), span.inside);
        let text = &record[whole.0..whole.1];
        let siblings = spans[index + 1..].iter().filter(|other| other.parent == span.parent);
        if span.parent.is_some() {
            push("without", &span.path, &[(whole, "")]);
            push("twice", &span.path, &[((whole.1, whole.1), text)]);
        }
        if let Some(next) = siblings.take(1).next()
            && span.parent.is_some()
        {
            let place = format!("{} and {}", span.path, next.path);
            let behind = &record[next.start..next.end];
            push("swapped", &place, &[(whole, behind), ((next.start, next.end), text)]);
        }
        if !span.is_empty {
            push("emptied", &span.path, &[(inside, "")]);
            push("filled", &span.path, &[(inside, "x y")]);
            push("text inside", &span.path, &[((inside.0, inside.0), "x")]);
            push(
                "foreign inside",
                &span.path,
                &[((inside.0, inside.0), "<o:x xmlns:o=\"urn:o\"/>")],
            );
        }
        let at = (span.name_end, span.name_end);
        for added in [
            " zzz=\"1\"",
            " xml:lang=\"de\"",
            " xml:lang=\"x y\"",
            " o:z=\"1\" xmlns:o=\"urn:o\"",
        ] {
            let place = format!("{} with{added}", span.path);
            let name = added.trim_start().split('=').next().unwrap_or_default();
            if span.attributes.iter().all(|(known, ..)| known != name) {
                push("added", &place, &[(at, added)]);
            }
        }
        for (name, start, value) in &span.attributes {
            let place = format!("{}@{name}", span.path);
            push("without", &place, &[((*start, value.1 + 1), "")]);
            push("emptied", &place, &[(*value, "")]);
            push("filled", &place, &[(*value, "x y")]);
            push("renamed", &place, &[((*start, *start), "z")]);
        }
    }
    Ok(())
}

/// The text with other pieces in the place of some, which stand in their order.
fn changed(text: &str, changes: &[((usize, usize), &str)]) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut from = 0;
    for ((start, end), piece) in changes {
        out.push_str(&text[from..*start]);
        out.push_str(piece);
        from = *end;
    }
    out + &text[from..]
}

fn spans(record: &str) -> Result<Vec<Span>> {
    let mut scanner = Scanner::new(record);
    let mut spans: Vec<Span> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    while let Some(token) = scanner.next_token().context("scanning a record")? {
        let (start, end) = (scanner.token_start(), scanner.offset());
        match token {
            Token::Start { name, empty } => {
                let parent = open.last().copied();
                let local = name.rsplit(':').next().unwrap_or(name);
                let path = match parent {
                    Some(parent) => format!("{}/{local}", spans[parent].path),
                    None => local.to_owned(),
                };
                let attributes = scanner.attributes().iter();
                let attributes =
                    attributes.filter(|one| !one.name.starts_with("xmlns") && !one.name.contains("schemaLocation"));
                spans.push(Span {
                    path,
                    parent,
                    start,
                    name_end: start + 1 + name.len(),
                    inside: (end, end),
                    end,
                    is_empty: empty,
                    attributes: attributes
                        .map(|one| {
                            let value = (one.value_offset, one.value_offset + one.value.len());
                            (one.name.to_owned(), one.offset, value)
                        })
                        .collect(),
                });
                if !empty {
                    open.push(spans.len() - 1);
                }
            }
            Token::End { .. } => {
                if let Some(closed) = open.pop() {
                    spans[closed].inside.1 = start;
                    spans[closed].end = end;
                }
            }
            _ => {}
        }
    }
    Ok(spans)
}
