//! An OAI-PMH record as a harvester saved it: header, metadata, about containers.
//!
//! The text of a `record` element enters; one draft leaves. The header's identifier is kept as it is, its datestamp is
//! not: records are stamped when they are published here.

use std::ops::{ControlFlow, Range};

use stook_metadata::scan::{Scanner, Token, unescape};
use stook_metadata::{Fault, Namespaces, clean};
use stook_oai::{Identifier, MetadataPrefix, SetSpec};

use crate::import::draft::{Content, Draft, Drafted, Drafter, check_container, check_metadata, set_specs};
use crate::import::source::{Raw, Source};

use super::walk::Walk;
use super::{RawRecord, choose_format, declare_all};

/// What stands in a record.
#[derive(Default)]
struct Parts {
    has_header: bool,
    identifier: Option<String>,
    sets: Vec<String>,
    deleted: bool,
    metadata: Option<Part>,
    about: Vec<Part>,
}

/// An element inside `metadata` or `about`.
struct Part {
    span: Range<usize>,
    namespace: String,
    local: String,
    around: Namespaces,
}

/// Drafts the record; `named` becomes its identifier as soon as that is known.
pub(super) fn draft(
    drafter: &Drafter,
    record: &RawRecord,
    text: &str,
    named: &mut Option<String>,
    out: &mut Drafted,
) -> Result<(), String> {
    let cleaned = clean::markup(text);
    let text = &*cleaned.text;
    let mut parts = Parts::default();
    let read = Reading {
        scanner: Scanner::new(text),
        namespaces: (*record.around).clone(),
    }
    .record(&mut parts);
    *named = parts.identifier.clone();
    if !parts.has_header && read.is_ok() {
        return draft_inside(drafter, record, text, out);
    }
    let line_of = |offset: usize| record.place.line + newlines(&text[..offset]);
    read.map_err(|fault| format!("{} (line {})", fault.problem, record.place.line + fault.line as u64 - 1))?;

    let value = parts.identifier.as_deref().ok_or("the header has no identifier")?;
    let identifier = Identifier::parse(value).map_err(|invalid| invalid.to_string())?;
    let set_specs: Vec<SetSpec> = set_specs(parts.sets.iter().map(String::as_str))?;
    let mut dropped = cleaned.dropped;
    let content = if parts.deleted {
        Content::Deleted {
            prefix: deleted_prefix(drafter, record),
        }
    } else {
        let part = parts.metadata.ok_or("the record has no metadata")?;
        let options = drafter.options();
        let format =
            choose_format(options, &part.namespace, &part.local, record.requested.as_deref()).ok_or_else(|| {
                format!(
                    "no format is known whose root is <{}> of the namespace {:?}. Try: declare the format in the \
                     configuration",
                    part.local, part.namespace
                )
            })?;
        let (start, xml) = (part.span.start, &text[part.span]);
        let checked = check_metadata(xml, format, &part.around, line_of(start))?;
        dropped += checked.dropped;
        let mut about = Vec::new();
        for part in &parts.about {
            let checked = check_container(&text[part.span.clone()], &part.around, line_of(part.span.start))?;
            dropped += checked.dropped;
            about.push(checked.metadata);
        }
        Content::Live {
            prefix: format.prefix.clone(),
            metadata: checked.metadata,
            about,
        }
    };
    out.count_dropped(dropped);
    out.drafts.push(Draft {
        place: record.place.clone(),
        identifier,
        set_specs,
        content,
    });
    Ok(())
}

/// The identifier in the header, whatever is wrong with the record behind it.
pub(super) fn header_identifier(text: &str) -> Option<String> {
    let mut parts = Parts::default();
    let reading = Reading {
        scanner: Scanner::new(text),
        namespaces: Namespaces::none(),
    };
    // A fault further on does not make the header less true.
    let _ = reading.record(&mut parts);
    parts.identifier
}

/// The format a deletion concerns: the one told, or the one that was requested.
fn deleted_prefix(drafter: &Drafter, record: &RawRecord) -> Option<MetadataPrefix> {
    let options = drafter.options();
    let requested = record
        .requested
        .as_deref()
        .and_then(|prefix| options.formats.by_prefix(prefix));
    options
        .prefix
        .clone()
        .or_else(|| requested.map(|format| format.prefix.clone()))
}

/// A `record` without a header is wrapping after all: whatever records are inside are taken.
fn draft_inside(drafter: &Drafter, record: &RawRecord, text: &str, out: &mut Drafted) -> Result<(), String> {
    let inside = inside_of(text);
    let source = Source {
        name: record.place.source.clone(),
        file_name: None,
        named: false,
    };
    let before = out.drafts.len() + out.rejected.len();
    let first_line = record.place.line + newlines(&text[..inside.start]);
    let mut namespaces = (*record.around).clone();
    let mut scanner = Scanner::new(text);
    if scanner.next_token().is_ok() {
        declare_all(&scanner, &mut namespaces);
    }
    let walk = Walk::new(&source, &text.as_bytes()[inside], false, drafter.options());
    // What the walk finds fault with, it finds inside this record, so the record as a whole is to blame.
    let _ = walk.inside_record(namespaces, first_line).take_all(&mut |raw| {
        if let Raw::Xml(inner) = raw {
            drafter.draft(Raw::Xml(inner), out);
        }
        ControlFlow::Continue(())
    });
    if out.drafts.len() + out.rejected.len() == before {
        return Err("the record has no header, and nothing of a known format inside".to_owned());
    }
    Ok(())
}

/// What is between the first tag and the last.
fn inside_of(text: &str) -> Range<usize> {
    let mut scanner = Scanner::new(text);
    let start = match scanner.next_token() {
        Ok(Some(_)) => scanner.offset(),
        _ => text.len(),
    };
    start..text.rfind("</").unwrap_or(start).max(start)
}

fn newlines(text: &str) -> u64 {
    text.bytes().filter(|&byte| byte == b'\n').count() as u64
}

/// Reads through a record that was scanned up to some token.
struct Reading<'a> {
    scanner: Scanner<'a>,
    namespaces: Namespaces,
}

impl<'a> Reading<'a> {
    fn record(mut self, parts: &mut Parts) -> Result<(), Fault> {
        let Some(Token::Start { empty: false, .. }) = self.scanner.next_token()? else {
            return Ok(());
        };
        declare_all(&self.scanner, &mut self.namespaces);
        while let Some(token) = self.scanner.next_token()? {
            match token {
                Token::Start { name, empty } => self.child(local(name), empty, parts)?,
                Token::End { .. } => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    fn child(&mut self, name: &str, empty: bool, parts: &mut Parts) -> Result<(), Fault> {
        if name == "header" {
            parts.has_header = true;
            let status = self
                .scanner
                .attributes()
                .iter()
                .find(|attribute| attribute.name == "status");
            // "Deleted" has been seen.
            parts.deleted = status.is_some_and(|status| status.value.eq_ignore_ascii_case("deleted"));
        }
        if empty {
            return Ok(());
        }
        let declarations = self.namespaces.len();
        declare_all(&self.scanner, &mut self.namespaces);
        match name {
            "header" => self.header(parts)?,
            "metadata" => parts.metadata = self.only_element()?,
            "about" => parts.about.extend(self.only_element()?),
            _ => self.pass_to_end()?,
        }
        self.namespaces.truncate(declarations);
        Ok(())
    }

    fn header(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        while let Some(token) = self.scanner.next_token()? {
            match token {
                Token::Start { name, empty: false } => match local(name) {
                    "identifier" => parts.identifier = Some(self.text()?.trim().to_owned()),
                    "setSpec" => {
                        let set = self.text()?;
                        parts.sets.push(set);
                    }
                    _ => self.pass_to_end()?,
                },
                Token::End { .. } => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads to the end of `metadata` or `about` and returns where its first element stands.
    fn only_element(&mut self) -> Result<Option<Part>, Fault> {
        let mut found: Option<Part> = None;
        while let Some(token) = self.scanner.next_token()? {
            match token {
                Token::Start { name, empty } => {
                    let start = self.scanner.token_start();
                    let declarations = self.namespaces.len();
                    declare_all(&self.scanner, &mut self.namespaces);
                    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
                    let namespace = self.namespaces.resolve(prefix).unwrap_or_default().to_owned();
                    self.namespaces.truncate(declarations);
                    if !empty {
                        self.pass_to_end()?;
                    }
                    let end = self.scanner.offset();
                    match &mut found {
                        None => {
                            let around = self.namespaces.clone();
                            found = Some(Part {
                                span: start..end,
                                namespace,
                                local: local.to_owned(),
                                around,
                            });
                        }
                        // A second element is a fault, which the check finds in the longer text.
                        Some(part) => part.span.end = end,
                    }
                }
                Token::End { .. } => return Ok(found),
                _ => {}
            }
        }
        Ok(found)
    }

    /// The text of an element, without that of elements inside.
    fn text(&mut self) -> Result<String, Fault> {
        let mut text = String::new();
        while let Some(token) = self.scanner.next_token()? {
            match token {
                Token::Text(raw) => text.push_str(&unescape(raw)),
                Token::Section(raw) => text.push_str(raw),
                Token::Start { empty: false, .. } => self.pass_to_end()?,
                Token::End { .. } => break,
                _ => {}
            }
        }
        Ok(text)
    }

    fn pass_to_end(&mut self) -> Result<(), Fault> {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.scanner.next_token()? {
                Some(Token::Start { empty: false, .. }) => depth += 1,
                Some(Token::End { .. }) => depth -= 1,
                Some(_) => {}
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}
