//! MARC as catalogues export it: ISO 2709, record after record.
//!
//! The stream is cut into stretches of whole records; the stretches are read on the workers. A damaged record is
//! rejected with its number and the byte it begins at, and the next one is found by its own leader. Each record is
//! published as MARCXML, or as MarcXchange if it is UNIMARC.

use std::io::{BufRead, Read};
use std::sync::Arc;

use stook_metadata::Format;
use stook_metadata::marc::iso2709::{self, Cut, Reading};
use stook_metadata::marc::{Charset, Dialect, Record, Tag, xml};
use stook_metadata::scan::{Scanner, Token};

use super::draft::{Content, Draft, Drafted, Drafter, Place, Rejected};
use super::encoding::UTF_8_MARK;
use super::options::{Options, Shape};
use super::source::{Halt, Raw, Sink, Source, send};

/// How much is cut at once.
const STRETCH: usize = 256 << 10;

/// Ends a record.
const RECORD_END: u8 = 0x1D;
/// Ends a field, and the directory.
const FIELD_END: u8 = 0x1E;

/// What the person who imports may say about MARC.
#[derive(Clone, Debug, Default)]
pub struct MarcOptions {
    /// MARC 21 or UNIMARC.
    pub dialect: Dialect,
    /// An encoding that only MARC has; others are in [`Options::encoding`].
    pub charset: Option<MarcCharset>,
    /// Where the identifier is, if not in field 001.
    pub identifier: Option<FieldName>,
}

/// Encodings that only MARC has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarcCharset {
    /// MARC-8.
    Marc8,
    /// ISO 5426.
    Iso5426,
}

impl MarcCharset {
    /// The encoding that people call so.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        match name.to_ascii_lowercase().as_str() {
            "marc8" | "ansel" => Some(Self::Marc8),
            "iso5426" => Some(Self::Iso5426),
            _ => None,
        }
    }
}

/// A field, or a subfield, by its name: `001`, `035$a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldName {
    tag: Tag,
    code: Option<u8>,
}

impl FieldName {
    /// Reads `001` or `035$a`; `None` if it is neither.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (tag, code) = match name.trim().split_once('$') {
            None => (name.trim(), None),
            Some((tag, code)) => match code.as_bytes() {
                [code] if code.is_ascii_graphic() => (tag, Some(*code)),
                _ => return None,
            },
        };
        // No family of MARC has tags of small letters; whoever writes some means something else.
        let tag = Tag::parse(tag.as_bytes()).filter(|tag| !tag.as_bytes().iter().any(u8::is_ascii_lowercase))?;
        Some(Self { tag, code })
    }

    /// The field everybody uses.
    fn control_number() -> Option<Self> {
        Self::parse("001")
    }

    /// What a record has there, without the blanks around it.
    fn value_in<'r>(self, record: &'r Record<'_>) -> Option<&'r str> {
        record.first(self.tag, self.code).map(str::trim)
    }

    fn shown(self) -> String {
        match self.code {
            None => self.tag.to_string(),
            Some(code) => format!("{}${}", self.tag, char::from(code)),
        }
    }
}

/// Whether a stream is MARC: because somebody says so, by its first leader, or by the name of its file.
pub(super) fn is_marc(beginning: &[u8], file_name: Option<&str>, options: &Options) -> bool {
    if let Some(shape) = options.shape {
        return shape == Shape::Marc;
    }
    let beginning = beginning.strip_prefix(UTF_8_MARK).unwrap_or(beginning);
    let beginning = beginning.trim_ascii_start();
    if iso2709::is_leader(beginning) {
        return true;
    }
    let name = file_name.unwrap_or_default().to_ascii_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    match name.rsplit_once('.') {
        Some((_, "mrc" | "marc" | "iso2709")) => !matches!(beginning.first(), Some(b'<' | b'{')),
        // Also what images of discs are called.
        Some((_, "iso")) => beginning.first().is_some_and(u8::is_ascii_digit),
        _ => false,
    }
}

/// A stretch of whole records.
#[derive(Debug)]
pub struct Records {
    source: Arc<str>,
    /// The number of the first record, counted from 1.
    first: u64,
    /// Where the bytes stand in the stream.
    offset: u64,
    pub(super) bytes: Vec<u8>,
    /// Where each record stands in the bytes.
    spans: Vec<(usize, usize)>,
}

/// Cuts a stream into stretches of whole records.
pub(super) fn cut(
    source: &Source,
    mut input: impl BufRead,
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let (mut number, mut offset) = (1, 0);
    let mut bytes = Vec::with_capacity(STRETCH + STRETCH / 4);
    let mut at_beginning = true;
    loop {
        // What is unfinished is looked at again, so twice as much of it comes each time.
        let wanted = STRETCH.max(bytes.len()) as u64;
        let read = (&mut input)
            .take(wanted)
            .read_to_end(&mut bytes)
            .map_err(|error| source.unreadable(number, &error))?;
        let at_end = read == 0;
        if std::mem::take(&mut at_beginning) && bytes.starts_with(UTF_8_MARK) {
            bytes.drain(..UTF_8_MARK.len());
            offset += UTF_8_MARK.len() as u64;
        }
        let (spans, end) = spans(&bytes, at_end);
        let mut rest = Vec::with_capacity(STRETCH + STRETCH / 4);
        rest.extend_from_slice(&bytes[end..]);
        bytes.truncate(end);
        let records = Records {
            source: source.name.clone(),
            first: number,
            offset,
            bytes,
            spans,
        };
        number += records.spans.len() as u64;
        offset += end as u64;
        if !records.spans.is_empty() {
            send(sink, Raw::Marc(records))?;
        }
        if rest.len() > options.max_record_bytes {
            let reason = format!("{}{}", at(number, offset), too_long(options.max_record_bytes));
            let rejected = Rejected::new(source.place(number), None, reason, &rest);
            send(sink, Raw::Rejected(rejected))?;
            offset += rest.len() as u64 + pass_over_record(source, number, &mut input)?;
            number += 1;
            rest.clear();
        }
        bytes = rest;
        if at_end {
            return Ok(());
        }
    }
}

/// The whole records at the beginning of some bytes, and where the last one ends.
fn spans(bytes: &[u8], at_end: bool) -> (Vec<(usize, usize)>, usize) {
    let mut spans = Vec::new();
    let mut at = 0;
    loop {
        match iso2709::next(&bytes[at..], at_end) {
            Cut::Between(length) => at += length,
            Cut::Record(length) => {
                spans.push((at, at + length));
                at += length;
            }
            Cut::Unfinished => return (spans, at),
        }
    }
}

/// Reads to the end of the record without keeping any of it.
fn pass_over_record(source: &Source, number: u64, input: &mut impl BufRead) -> Result<u64, Halt> {
    let mut passed = 0;
    loop {
        let available = input.fill_buf().map_err(|error| source.unreadable(number, &error))?;
        let length = available.len();
        let end = available.iter().position(|&byte| byte == RECORD_END);
        let over = end.map_or(length, |end| end + 1);
        input.consume(over);
        passed += over as u64;
        if end.is_some() || length == 0 {
            return Ok(passed);
        }
    }
}

fn at(number: u64, offset: u64) -> String {
    format!("record {number}, at byte {offset}: ")
}

fn too_long(limit: usize) -> String {
    format!("the record is longer than {limit} bytes")
}

/// Drafts every record of a stretch.
pub(super) fn draft(drafter: &Drafter, records: &Records, out: &mut Drafted) {
    let options = drafter.options();
    let decode = |bytes: &[u8]| {
        let encoding = options.encoding?;
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        Some(text.into_owned())
    };
    let charset = match (options.marc.charset, options.encoding) {
        (Some(MarcCharset::Marc8), _) => Some(Charset::Marc8),
        (Some(MarcCharset::Iso5426), _) => Some(Charset::Iso5426),
        (None, Some(encoding)) if encoding == encoding_rs::UTF_8 => Some(Charset::Utf8),
        (None, Some(_)) => Some(Charset::Other(&decode)),
        (None, None) => None,
    };
    let reading = Reading {
        dialect: options.marc.dialect,
        charset,
    };
    for (number, &(start, end)) in (records.first..).zip(&records.spans) {
        let bytes = &records.bytes[start..end];
        let place = Place {
            source: records.source.clone(),
            line: number,
        };
        let mut named = None;
        if let Err(reason) = draft_record(drafter, reading, bytes, &place, &mut named, out) {
            let reason = format!("{}{reason}", at(number, records.offset + start as u64));
            out.rejected.push(Rejected::new(place, named, reason, bytes));
        }
    }
}

/// Drafts one record; `named` becomes its identifier as soon as that is known.
fn draft_record(
    drafter: &Drafter,
    reading: Reading<'_>,
    bytes: &[u8],
    place: &Place,
    named: &mut Option<String>,
    out: &mut Drafted,
) -> Result<(), String> {
    let options = drafter.options();
    if bytes.len() > options.max_record_bytes {
        return Err(too_long(options.max_record_bytes));
    }
    let format = format(options)?;
    let record = iso2709::read(bytes, reading).map_err(|defect| {
        let control_number = control_number(bytes).filter(|_| options.marc.identifier.is_none());
        *named = control_number
            .and_then(|value| drafter.identifier(value).ok())
            .map(stook_oai::Identifier::into_string);
        defect.to_string()
    })?;
    let field = options.marc.identifier.or_else(FieldName::control_number);
    let value = field.and_then(|field| field.value_in(&record));
    let value = value.ok_or_else(|| unnamed(options))?;
    let identifier = drafter.identifier(value).map_err(|invalid| invalid.to_string())?;
    *named = Some(identifier.as_str().to_owned());
    let content = if record.is_deleted() {
        Content::Deleted {
            prefix: Some(format.prefix.clone()),
        }
    } else {
        let written = xml::write(&record, reading.dialect, &format.schema).map_err(|defect| defect.to_string())?;
        out.count_dropped(written.dropped);
        Content::Live {
            prefix: format.prefix.clone(),
            metadata: written.xml,
            about: Vec::new(),
        }
    };
    out.drafts.push(Draft {
        place: place.clone(),
        identifier,
        set_specs: Vec::new(),
        content,
    });
    Ok(())
}

/// What is told of a record without the field that names it.
fn unnamed(options: &Options) -> String {
    let field = options.marc.identifier.or_else(FieldName::control_number);
    let name = field.map(FieldName::shown).unwrap_or_default();
    format!("there is no field {name}, which names the record. Try: --id with another field, such as --id '035$a'")
}

/// What is told of a record in XML that nothing names.
pub(super) fn unnamed_in_xml(format: &Format, options: &Options) -> String {
    match is_of_marc(format) {
        true => unnamed(options),
        false => {
            "the record has no identifier of its own. Try: one record per file, named by its identifier".to_owned()
        }
    }
}

/// The format records are published in: the one told if it fits, otherwise the usual one.
fn format(options: &Options) -> Result<&Format, String> {
    let dialect = options.marc.dialect;
    let usual = match dialect {
        Dialect::Marc21 => "marc21",
        Dialect::Unimarc => "unimarc",
    };
    let told = options.prefix.as_ref().map(|prefix| prefix.as_str());
    let fits = |format: &&Format| format.namespace == dialect.namespace();
    told.into_iter()
        .chain([usual])
        .filter_map(|prefix| options.formats.by_prefix(prefix))
        .find(fits)
        .or_else(|| options.formats.iter().find(fits))
        .ok_or_else(|| format!("no format is known with the namespace {}", dialect.namespace()))
}

/// Field 001 of a record that is otherwise damaged, where it stands first, as it does nearly always: worth knowing, so
/// that nobody takes the record for deleted.
fn control_number(bytes: &[u8]) -> Option<&str> {
    const LEADER: usize = 24;
    const LONGEST: usize = 100;
    let directory = bytes.get(LEADER..)?.strip_prefix(b"001")?;
    let data = &directory[directory.iter().position(|&byte| byte == FIELD_END)? + 1..];
    let value = &data[..data.iter().position(|&byte| byte == FIELD_END)?];
    let value = std::str::from_utf8(value).ok()?.trim();
    let is_likely = !value.is_empty() && value.len() <= LONGEST && value.bytes().all(|byte| byte.is_ascii_graphic());
    is_likely.then_some(value)
}

fn is_of_marc(format: &Format) -> bool {
    [Dialect::Marc21, Dialect::Unimarc]
        .iter()
        .any(|dialect| format.accepts_root(dialect.namespace(), "record"))
}

/// Whether a record in XML says in its leader that it is withdrawn.
pub(super) fn is_withdrawn(xml: &str, format: &Format) -> bool {
    const STATUS: usize = 5;
    let mut scanner = Scanner::new(xml);
    let mut in_leader = false;
    while is_of_marc(format) {
        match scanner.next_token() {
            // The leader comes first: nothing else is looked at.
            Ok(Some(Token::Start { name, .. })) if name.ends_with("field") => break,
            Ok(Some(Token::Start { name, .. })) => in_leader = name.ends_with("leader"),
            Ok(Some(Token::Text(leader))) if in_leader => return leader.as_bytes().get(STATUS) == Some(&b'd'),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => break,
        }
    }
    false
}

/// What a record in XML has in the field that names it, where somebody says which that is.
pub(super) fn told_identifier(xml: &str, format: &Format, options: &Options) -> Option<Option<String>> {
    let field = options.marc.identifier?;
    if !is_of_marc(format) {
        return None;
    }
    let record = xml::read(xml).ok()?;
    Some(field.value_in(&record).map(str::to_owned))
}

#[cfg(test)]
mod tests;
