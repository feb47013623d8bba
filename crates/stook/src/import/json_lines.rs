//! JSON lines: one record per line.
//!
//! The stream is cut into stretches of whole lines; a line that is longer than the limit is passed over without being
//! kept. A stretch is parsed in place: values borrow from its text, and each record is written once.
//!
//! A line is flat Dublin Core, or XML by format, or a deletion:
//!
//! ```json
//! {"identifier":"map-001","sets":["maps:city"],"title":"Stadtplan","subject":[{"value":"Karten","lang":"de"}]}
//! {"identifier":"map-001","sets":["maps:city"],"metadata":{"mods":"<mods …/>"},"about":{"mods":["<…/>"]}}
//! {"identifier":"map-002","sets":["maps"],"deleted":true}
//! ```

mod parse;

use std::io::{BufRead, Read};
use std::sync::Arc;

use stook_metadata::Namespaces;
use stook_oai::{MetadataPrefix, SetSpec};

use super::draft::{Content, Draft, Drafted, Drafter, EXCERPT_BYTES, Place, Rejected};
use super::draft::{check_container, check_metadata, set_specs};
use super::options::Options;
use super::source::{Halt, Raw, Refusal, Sink, Source, send};

use parse::{Line, ParseError};

/// How much is cut at once. Large enough to make the work between threads worth it, small against memory.
const STRETCH: usize = 256 << 10;

/// Most formats one line may give a record in.
const MAX_FORMATS: usize = 100;

/// A stretch of whole lines.
#[derive(Debug)]
pub struct Lines {
    source: Arc<str>,
    first_line: u64,
    pub(super) text: Vec<u8>,
}

/// Cuts a stream into stretches of whole lines.
pub(super) fn cut(
    source: &Source,
    mut input: impl BufRead,
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let mut line = 1;
    let mut text = Vec::with_capacity(STRETCH + STRETCH / 4);
    let mut at_beginning = true;
    loop {
        let read = (&mut input)
            .take(STRETCH as u64)
            .read_to_end(&mut text)
            .map_err(|error| source.unreadable(line, &error))?;
        let at_end = read == 0;
        let whole = if at_end {
            text.len()
        } else {
            end_of_last_line(&text, read)
        };
        if whole == 0 && text.len() > options.max_record_bytes {
            reject_long_line(source, line, &text, options, sink)?;
            text.clear();
            pass_over_line(source, line, &mut input)?;
            line += 1;
        } else if whole > 0 {
            if at_beginning {
                refuse_unknown_keys(source, &text[..whole], options)?;
                at_beginning = false;
            }
            let mut rest = Vec::with_capacity(STRETCH + STRETCH / 4);
            rest.extend_from_slice(&text[whole..]);
            text.truncate(whole);
            let lines = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
            send(
                sink,
                Raw::Lines(Lines {
                    source: source.name.clone(),
                    first_line: line,
                    text,
                }),
            )?;
            line += lines;
            text = rest;
        }
        if at_end {
            return Ok(());
        }
    }
}

/// Where the last whole line ends; only the last `read` bytes were not looked at before.
fn end_of_last_line(text: &[u8], read: usize) -> usize {
    let looked_at = text.len() - read;
    let last = text[looked_at..].iter().rposition(|&byte| byte == b'\n');
    last.map_or(0, |position| looked_at + position + 1)
}

fn reject_long_line(
    source: &Source,
    line: u64,
    text: &[u8],
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let reason = too_long(options.max_record_bytes);
    send(
        sink,
        Raw::Rejected(Rejected::new(source.place(line), None, reason, text)),
    )
}

fn too_long(limit: usize) -> String {
    format!("the line is longer than {limit} bytes")
}

/// Reads to the end of the line without keeping any of it.
fn pass_over_line(source: &Source, line: u64, input: &mut impl BufRead) -> Result<(), Halt> {
    loop {
        let available = input.fill_buf().map_err(|error| source.unreadable(line, &error))?;
        let length = available.len();
        match available.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                input.consume(end + 1);
                return Ok(());
            }
            None if length == 0 => return Ok(()),
            None => input.consume(length),
        }
    }
}

/// A key nobody knows in the first record is most likely in all of them: better one refusal than a million rejections.
fn refuse_unknown_keys(source: &Source, text: &[u8], options: &Options) -> Result<(), Halt> {
    let first = text
        .split(|&byte| byte == b'\n')
        .find(|line| !line.trim_ascii().is_empty());
    let Some(first) = first.and_then(|line| std::str::from_utf8(line).ok()) else {
        return Ok(());
    };
    match parse::line(first, &options.fields) {
        Err(ParseError::UnknownKeys(names)) => Err(Refusal::UnknownNames {
            path: source.name.to_string(),
            names,
            is_table: false,
        }
        .into()),
        _ => Ok(()),
    }
}

/// Drafts every line of a stretch.
pub(super) fn draft(drafter: &Drafter, lines: &Lines, out: &mut Drafted) {
    let place = |line| Place {
        source: lines.source.clone(),
        line,
    };
    // Nearly every stretch is UTF-8 throughout; otherwise only the lines that are not shall suffer.
    match std::str::from_utf8(&lines.text) {
        Ok(text) => {
            for (line, text) in (lines.first_line..).zip(text.split('\n')) {
                draft_line(drafter, text, place(line), out);
            }
        }
        Err(_) => {
            for (line, bytes) in (lines.first_line..).zip(lines.text.split(|&byte| byte == b'\n')) {
                match std::str::from_utf8(bytes) {
                    Ok(text) => draft_line(drafter, text, place(line), out),
                    Err(error) => out
                        .rejected
                        .push(Rejected::new(place(line), None, not_utf_8(&error), bytes)),
                }
            }
        }
    }
}

/// Why bytes are not text.
pub(super) fn not_utf_8(error: &std::str::Utf8Error) -> String {
    format!(
        "byte {} is not UTF-8. Try: --encoding with the right one, such as windows-1252",
        error.valid_up_to() + 1
    )
}

fn draft_line(drafter: &Drafter, text: &str, place: Place, out: &mut Drafted) {
    if text.trim_ascii().is_empty() {
        return;
    }
    if text.len() > drafter.options().max_record_bytes {
        let reason = too_long(drafter.options().max_record_bytes);
        out.rejected.push(Rejected::new(place, None, reason, text.as_bytes()));
        return;
    }
    let line = match parse::line(text, &drafter.options().fields) {
        Ok(line) => line,
        Err(error) => {
            out.rejected
                .push(Rejected::new(place, None, error.to_string(), text.as_bytes()));
            return;
        }
    };
    let mut item = Item {
        drafter,
        place,
        text,
        named: line.identifier.clone().map(Into::into),
        out,
    };
    if let Err(reason) = item.draft(line) {
        item.reject(reason);
    }
}

/// One line that was parsed, on its way to drafts.
struct Item<'i> {
    drafter: &'i Drafter,
    place: Place,
    text: &'i str,
    /// Its identifier, once known.
    named: Option<String>,
    out: &'i mut Drafted,
}

impl Item<'_> {
    fn reject(&mut self, reason: impl Into<String>) {
        let excerpt = &self.text.as_bytes()[..self.text.len().min(EXCERPT_BYTES)];
        self.out
            .rejected
            .push(Rejected::new(self.place.clone(), self.named.clone(), reason, excerpt));
    }

    fn draft(&mut self, line: Line<'_>) -> Result<(), String> {
        let Some(value) = &line.identifier else {
            return Err("the record has no \"identifier\"".to_owned());
        };
        let identifier = self.drafter.identifier(value).map_err(|invalid| invalid.to_string())?;
        self.named = Some(identifier.as_str().to_owned());
        if line.ambiguous {
            return Err("\"identifier\" has several values. Try: the others under \"dc:identifier\"".to_owned());
        }
        let set_specs = set_specs(line.sets.iter().map(|set| &**set))?;
        let draft = |place: &Place, set_specs: &Vec<SetSpec>, content| Draft {
            place: place.clone(),
            identifier: identifier.clone(),
            set_specs: set_specs.clone(),
            content,
        };
        // A deletion that names its formats, as `stook export` writes it, concerns only those.
        let names_formats = !line.metadata.is_empty() && line.metadata.iter().all(|(_, xml)| xml.is_none());
        if line.deleted && !names_formats {
            self.out
                .drafts
                .push(draft(&self.place, &set_specs, Content::Deleted { prefix: None }));
            return Ok(());
        }
        if line.metadata.len() > MAX_FORMATS {
            return Err(format!("the record has more than {MAX_FORMATS} formats"));
        }
        let mut dropped = line.dropped;
        for (prefix, xml) in &line.metadata {
            match self.content(prefix, xml.as_deref(), &line, &mut dropped) {
                Ok(content) => self.out.drafts.push(draft(&self.place, &set_specs, content)),
                Err(reason) => self.reject(format!("{prefix}: {reason}")),
            }
        }
        if !line.dublin_core.is_empty() {
            if line.metadata.iter().any(|(prefix, _)| prefix == "oai_dc") {
                return Err("Dublin Core is given twice: as elements and as metadata.oai_dc".to_owned());
            }
            let content = Content::Live {
                prefix: MetadataPrefix::oai_dc(),
                metadata: line.dublin_core.write(),
                about: self.about("oai_dc", &line, &mut dropped)?,
            };
            self.out.drafts.push(draft(&self.place, &set_specs, content));
        } else if line.metadata.is_empty() {
            return Err("the record says nothing: no Dublin Core element has a value".to_owned());
        }
        self.out.count_dropped(dropped);
        Ok(())
    }

    /// The content of one format; no XML means that the record was deleted in that format.
    fn content(
        &self,
        prefix: &str,
        xml: Option<&str>,
        line: &Line<'_>,
        dropped: &mut usize,
    ) -> Result<Content, String> {
        let Some(format) = self.drafter.options().formats.by_prefix(prefix) else {
            return Err("this format is not known. Try: declare it in the configuration".to_owned());
        };
        let Some(xml) = xml else {
            return Ok(Content::Deleted {
                prefix: Some(format.prefix.clone()),
            });
        };
        let checked = check_metadata(xml, format, &Namespaces::none(), 1)?;
        *dropped += checked.dropped;
        let about = self.about(prefix, line, dropped)?;
        Ok(Content::Live {
            prefix: format.prefix.clone(),
            metadata: checked.metadata,
            about,
        })
    }

    fn about(&self, prefix: &str, line: &Line<'_>, dropped: &mut usize) -> Result<Vec<String>, String> {
        let containers = line.about.iter().filter(|(known, _)| known == prefix);
        containers
            .map(|(_, xml)| {
                let checked = check_container(xml, &Namespaces::none(), 1)?;
                *dropped += checked.dropped;
                Ok(checked.metadata)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
