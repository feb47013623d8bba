//! Damage to one record of an answer.

use std::ops::Range;

use stook_oai::Verb;
use stook_oai::xml::push_element;

use crate::answer::Answer;
use crate::fault::Fault;
use crate::script::{Script, Setting};
use crate::source::Hit;
use crate::splice::{edit_elements, find, replace_first};

/// Damages the record that the fault names, or the first that has metadata;
/// an answer without such a record stays as it is.
pub(crate) fn bend(hit: &Hit, answer: &mut Answer, script: &Script) {
    let Some(range) = target(answer, hit.identifier.as_deref()) else {
        return;
    };
    let record = &answer.document[range.clone()];
    if hit.fault == Fault::PoisonRecordBreaksXml {
        if let Some(title) = find(record, b"<dc:title>") {
            answer.document.truncate(range.start + title + 12);
        }
        return;
    }
    let damaged = damage(hit.fault, record, script);
    answer.document.splice(range, damaged);
}

/// Where a record stands in the document.
pub(crate) fn target(answer: &Answer, identifier: Option<&str>) -> Option<Range<usize>> {
    let (start, end): (&[u8], &[u8]) = match answer.verb {
        Some(Verb::ListIdentifiers) => (b"<header", b"</header>"),
        _ => (b"<record>", b"</record>"),
    };
    let is_enough = |range: &Range<usize>| {
        identifier.is_some()
            || answer.verb == Some(Verb::ListIdentifiers)
            || find(&answer.document[range.clone()], b"<metadata>").is_some()
    };
    let wanted = answer
        .identifiers
        .iter()
        .filter(|held| identifier.is_none_or(|wanted| wanted == *held));
    let mut located = wanted.filter_map(|held| locate(&answer.document, held, start, end));
    located.find(is_enough)
}

/// The element around an identifier.
fn locate(document: &[u8], identifier: &str, start: &[u8], end: &[u8]) -> Option<Range<usize>> {
    let mut escaped = Vec::new();
    push_element(&mut escaped, "identifier", identifier);
    let at = find(document, &escaped)?;
    let from = document[..at]
        .windows(start.len())
        .rposition(|window| window == start)?;
    let length = find(&document[at..], end)?;
    Some(from..at + length + end.len())
}

fn damage(fault: Fault, record: &[u8], script: &Script) -> Vec<u8> {
    let in_title = |text: &[u8]| replace_first(record, b"<dc:title>", &[b"<dc:title>", text].concat());
    let in_description = |text: &str| {
        let described = format!("<dc:description>{text}");
        replace_first(record, b"<dc:description>", described.as_bytes())
    };
    match fault {
        Fault::ControlCharacters => in_title(b"\x0b\x1f"),
        Fault::ControlReference => in_title(b"&#11;"),
        Fault::Noncharacters => in_title("\u{FFFE}\u{FFFF}".as_bytes()),
        Fault::InvalidUtf8 => in_title(b"\xff\xc3 "),
        Fault::BareAmpersand => in_title(b"Salt & pepper "),
        Fault::BareLessThan => in_title(b"1 < 2 "),
        Fault::UnescapedQuote => replace_first(record, b"<dc:title>", b"<dc:title xml:lang=\"e\"n\">"),
        Fault::SurrogateReference => in_title(b"&#55357;&#56832;"),
        Fault::DeepNesting => {
            let depth = script.count(Setting::Depth);
            in_description(&format!("{}{}", "<b>".repeat(depth), "</b>".repeat(depth)))
        }
        Fault::HtmlInDescription => in_description("<p>One<br/>two <a href=\"http://example.org/\">three</a></p>"),
        Fault::HeaderMissing => without(record, b"<header", b"</header>"),
        Fault::MetadataMissing => without(record, b"<metadata>", b"</metadata>"),
        Fault::MetadataEmpty => {
            let rest = without(record, b"<metadata>", b"</metadata>");
            replace_first(&rest, b"</record>", b"<metadata/></record>")
        }
        Fault::IdentifierMissing => edit_elements(record, "identifier", |_| None),
        Fault::DatestampMissing => edit_elements(record, "datestamp", |_| None),
        _ => record.to_vec(),
    }
}

/// The bytes without what begins with `start` and ends with `end`.
fn without(bytes: &[u8], start: &[u8], end: &[u8]) -> Vec<u8> {
    let Some(from) = find(bytes, start) else {
        return bytes.to_vec();
    };
    let to = find(&bytes[from..], end).map_or(bytes.len(), |length| from + length + end.len());
    [&bytes[..from], &bytes[to..]].concat()
}
