//! XML, by one rule for everything: walk through the document, take records where they stand.
//!
//! * An OAI-PMH `record` element is a record with its header: identifier, sets, deletion, about containers.
//! * An element that is the root of a registered format is a record too. Its identifier is the name of its file if it is
//!   the only record of that file, and otherwise its own first `identifier` (for MARC, control field 001).
//! * Anything else is wrapping, and is entered.
//!
//! So a file per record, a collection in one file, and the responses other tools saved are all the same thing. The
//! document is read as a stream; only one record is held at a time, and of one that is too large only the beginning.

mod oai_record;
mod pieces;
mod walk;

use std::io::BufRead;
use std::sync::Arc;

use stook_metadata::scan::{Scanner, Token, unescape};
use stook_metadata::{Format, Namespaces, clean};
use stook_oai::MetadataPrefix;

use super::draft::{Checked, Content, Draft, Drafted, Drafter, Place, Rejected, check_metadata};
use super::json_lines::not_utf_8;
use super::marc;
use super::options::Options;
use super::source::{Halt, Sink, Source};

/// A record as it stands in its document.
#[derive(Debug)]
pub struct RawRecord {
    place: Place,
    pub(super) xml: Vec<u8>,
    /// What was declared around it.
    around: Arc<Namespaces>,
    kind: Kind,
    /// The prefix it was requested by, where a saved response tells.
    requested: Option<Arc<str>>,
}

/// What stands there.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// An OAI-PMH record.
    Oai,
    /// The root of a registered format. The name is that of its file if it is the only record there.
    Bare { file_name: Option<Arc<str>> },
}

/// Cuts a stream into records; only OAI-PMH records if told so.
pub(super) fn cut(
    source: &Source,
    input: impl BufRead,
    only_oai: bool,
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    walk::Walk::new(source, input, only_oai, options).take_all(sink)
}

/// Drafts one record.
pub(super) fn draft(drafter: &Drafter, record: &RawRecord, out: &mut Drafted) {
    let mut named = None;
    let text = match std::str::from_utf8(&record.xml) {
        Ok(text) => text,
        Err(error) => {
            let text = String::from_utf8_lossy(&record.xml);
            let named = (record.kind == Kind::Oai)
                .then(|| oai_record::header_identifier(&text))
                .flatten();
            return reject(record, named, not_utf_8(&error), out);
        }
    };
    let outcome = match &record.kind {
        Kind::Oai => oai_record::draft(drafter, record, text, &mut named, out),
        Kind::Bare { file_name } => draft_bare(drafter, record, text, file_name.as_deref(), &mut named, out),
    };
    if let Err(reason) = outcome {
        reject(record, named, reason, out);
    }
}

fn reject(record: &RawRecord, named: Option<String>, reason: String, out: &mut Drafted) {
    out.rejected
        .push(Rejected::new(record.place.clone(), named, reason, &record.xml));
}

/// Drafts a record that has no header.
fn draft_bare(
    drafter: &Drafter,
    record: &RawRecord,
    text: &str,
    file_name: Option<&str>,
    named: &mut Option<String>,
    out: &mut Drafted,
) -> Result<(), String> {
    let cleaned = clean::markup(text);
    let requested = record.requested.as_deref();
    let format = format_of(drafter.options(), &cleaned.text, &record.around, requested)?;
    let told = marc::told_identifier(&cleaned.text, format, drafter.options());
    let value = match (told, file_name) {
        (Some(told), _) => told,
        (None, Some(file_name)) => Some(name_from_file(file_name, format)),
        (None, None) => own_identifier(&cleaned.text),
    };
    let identifier = value.as_deref().map(|value| drafter.identifier(value));
    // Whatever is wrong with the record, its name is worth knowing.
    *named = match &identifier {
        Some(Ok(identifier)) => Some(identifier.as_str().to_owned()),
        _ => value.clone(),
    };
    let checked = check_metadata(&cleaned.text, format, &record.around, record.place.line)?;
    let identifier = identifier
        .ok_or_else(|| marc::unnamed_in_xml(format, drafter.options()))?
        .map_err(|invalid| invalid.to_string())?;
    out.count_dropped(cleaned.dropped);
    let content = match marc::is_withdrawn(&checked.metadata, format) {
        true => Content::Deleted {
            prefix: Some(format.prefix.clone()),
        },
        false => Content::Live {
            prefix: format.prefix.clone(),
            metadata: checked.metadata,
            about: Vec::new(),
        },
    };
    out.drafts.push(Draft {
        place: record.place.clone(),
        identifier,
        set_specs: Vec::new(),
        content,
    });
    Ok(())
}

/// Checks XML that is a whole record, standing alone; in which format it is.
pub(super) fn check_whole(drafter: &Drafter, xml: &str) -> Result<(MetadataPrefix, Checked), String> {
    let cleaned = clean::markup(xml);
    let around = Namespaces::none();
    let format = format_of(drafter.options(), &cleaned.text, &around, None)?;
    let checked = check_metadata(&cleaned.text, format, &around, 1)?;
    let dropped = cleaned.dropped + checked.dropped;
    Ok((format.prefix.clone(), Checked { dropped, ..checked }))
}

/// The format of a record, by its root.
fn format_of<'o>(
    options: &'o Options,
    xml: &str,
    around: &Namespaces,
    requested: Option<&str>,
) -> Result<&'o Format, String> {
    let mut scanner = Scanner::new(xml);
    loop {
        match scanner.next_token() {
            Ok(Some(Token::Start { name, .. })) => {
                let mut around = around.clone();
                declare_all(&scanner, &mut around);
                let (prefix, local) = name.split_once(':').unwrap_or(("", name));
                let namespace = around.resolve(prefix).unwrap_or_default();
                return choose_format(options, namespace, local, requested).ok_or_else(|| {
                    format!(
                        "no format is known whose root is <{local}> of the namespace {namespace:?}. Try: declare the \
                         format in the configuration"
                    )
                });
            }
            Ok(Some(_)) => {}
            Ok(None) => return Err("there is no XML element".to_owned()),
            Err(fault) => return Err(fault.to_string()),
        }
    }
}

/// The format for a root: the one told, or requested, if it fits; otherwise the first that does.
fn choose_format<'o>(
    options: &'o Options,
    namespace: &str,
    local: &str,
    requested: Option<&str>,
) -> Option<&'o Format> {
    let told = options.prefix.as_ref().map(|prefix| prefix.as_str());
    [told, requested]
        .into_iter()
        .flatten()
        .filter_map(|prefix| options.formats.by_prefix(prefix))
        .find(|format| format.accepts_root(namespace, local))
        .or_else(|| options.formats.by_root(namespace, local))
}

/// Adds the declarations of the start tag that was scanned last.
fn declare_all(scanner: &Scanner<'_>, namespaces: &mut Namespaces) {
    for attribute in scanner.attributes() {
        match attribute.name.strip_prefix("xmlns") {
            Some("") => namespaces.declare("", &unescape(attribute.value)),
            Some(prefix) if prefix.starts_with(':') => namespaces.declare(&prefix[1..], &unescape(attribute.value)),
            _ => {}
        }
    }
}

/// The identifier a file is named by: its name without extensions. Harvesters that save a file per record append the
/// prefix of the format (`oai:example.org:1.oai_dc.xml`) and write `/` as `%2F`.
fn name_from_file(file_name: &str, format: &Format) -> String {
    let mut name = file_name;
    for extension in [".gz", ".zst", ".xml"] {
        let end = name.len().saturating_sub(extension.len());
        if end > 0 && name.is_char_boundary(end) && name[end..].eq_ignore_ascii_case(extension) {
            name = &name[..end];
        }
    }
    if let Some(stem) = name
        .strip_suffix(format.prefix.as_str())
        .and_then(|rest| rest.strip_suffix('.'))
        && !stem.is_empty()
    {
        name = stem;
    }
    let decoded = percent_encoding::percent_decode_str(name).decode_utf8();
    match decoded {
        Ok(decoded) if decoded.starts_with("oai:") => decoded.into_owned(),
        _ => name.to_owned(),
    }
}

/// The identifier a record gives itself: MARC's control field 001, or the first element called `identifier`.
fn own_identifier(xml: &str) -> Option<String> {
    let mut scanner = Scanner::new(xml);
    loop {
        let Token::Start { name, empty: false } = scanner.next_token().ok()?? else {
            continue;
        };
        let local = name.rsplit(':').next().unwrap_or(name);
        let is_control_number = local == "controlfield"
            && scanner
                .attributes()
                .iter()
                .any(|attribute| attribute.name == "tag" && attribute.value == "001");
        if local == "identifier" || is_control_number {
            let text = text_inside(&mut scanner)?;
            if !text.trim().is_empty() {
                return Some(text.trim().to_owned());
            }
        }
    }
}

/// The text up to the next tag.
fn text_inside(scanner: &mut Scanner<'_>) -> Option<String> {
    let mut text = String::new();
    loop {
        match scanner.next_token().ok()?? {
            Token::Text(raw) => text.push_str(&unescape(raw)),
            Token::Section(raw) => text.push_str(raw),
            Token::Start { .. } | Token::End { .. } => return Some(text),
            Token::Comment | Token::Instruction | Token::Declaration => {}
        }
    }
}

#[cfg(test)]
mod tests;
