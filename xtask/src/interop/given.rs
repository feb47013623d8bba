//! What a server is given, changed as a repository changes, and brought into
//! a form in which what was harvested can be compared with it.
//!
//! What enters are JSON lines as `stook export` and `stook harvest -o -` write
//! them. Nothing here reads the network or a store.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, bail};
use quick_xml::NsReader;
use quick_xml::escape::unescape;
use quick_xml::events::Event;
use quick_xml::name::ResolveResult;
use serde_json::{Value, json};

use crate::workspace::output;

/// How exactly metadata has to be what it was.
#[derive(Clone, Copy)]
pub(super) enum Metadata {
    /// Byte for byte.
    Bytes,
    /// The same elements with the same text; the server writes the XML anew.
    Statements,
}

/// A record on either side.
#[derive(Clone)]
pub(super) struct Record {
    pub(super) identifier: String,
    /// The server's.
    datestamp: String,
    sets: Vec<String>,
    /// None if it is deleted.
    metadata: Option<String>,
}

impl Record {
    /// Reads JSON lines. A record that was harvested into the store has a
    /// datestamp of its own there; the server's stands in its provenance.
    pub(super) fn parse_all(lines: &[u8]) -> Result<Vec<Self>> {
        let text = std::str::from_utf8(lines).context("reading JSON lines")?;
        text.lines().map(Self::parse).collect()
    }

    fn parse(line: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(line).with_context(|| format!("reading {line}"))?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let about = value["about"]["oai_dc"].as_array().into_iter().flatten();
        let origin = about.filter_map(Value::as_str).find_map(origin_datestamp);
        let sets = value["sets"].as_array().into_iter().flatten();
        let record = Self {
            identifier: text(&value["identifier"]).with_context(|| format!("no identifier in {line}"))?,
            datestamp: match origin {
                Some(datestamp) => datestamp.to_owned(),
                None => text(&value["datestamp"]).with_context(|| format!("no datestamp in {line}"))?,
            },
            sets: sets.filter_map(text).collect(),
            metadata: text(&value["metadata"]["oai_dc"]),
        };
        if record.is_deleted() != value["deleted"].as_bool().unwrap_or(false) {
            bail!("a record is deleted or has metadata, not both or neither: {line}");
        }
        Ok(record)
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.metadata.is_none()
    }

    pub(super) fn is_in(&self, set: &str) -> bool {
        let below = format!("{set}:");
        self.sets.iter().any(|spec| spec == set || spec.starts_with(&below))
    }

    /// As the peers read it.
    pub(super) fn json(&self) -> Value {
        json!({
            "identifier": self.identifier,
            "datestamp": self.datestamp,
            "sets": self.sets,
            "deleted": self.is_deleted(),
            "metadata": { "oai_dc": self.metadata },
        })
    }

    /// Everything that has to be equal, in one line.
    pub(super) fn line(&self, metadata: Metadata) -> Result<String> {
        let mut sets = self.sets.clone();
        sets.sort_unstable();
        let content = match (&self.metadata, metadata) {
            // The store keeps no provenance of what is gone, and so not the
            // server's datestamp either.
            (None, _) => return Ok(format!("{}\tdeleted\t{}", self.identifier, sets.join(" "))),
            (Some(xml), Metadata::Bytes) => xml.clone(),
            (Some(xml), Metadata::Statements) => {
                statements(xml).with_context(|| format!("the metadata of {}", self.identifier))?
            }
        };
        Ok(format!(
            "{}\t{}\t{}\t{content}",
            self.identifier,
            self.datestamp,
            sets.join(" ")
        ))
    }
}

/// The datestamp that a provenance container names for the last origin.
fn origin_datestamp(about: &str) -> Option<&str> {
    let (_, rest) = about.split_once("<originDescription")?;
    let (_, rest) = rest.split_once("<datestamp>")?;
    rest.split_once("</datestamp>").map(|(datestamp, _)| datestamp)
}

/// The elements inside the root with their texts, sorted.
fn statements(xml: &str) -> Result<String> {
    let mut reader = NsReader::from_str(xml);
    let mut statements = Vec::new();
    let (mut depth, mut statement) = (0, String::new());
    loop {
        match reader.read_resolved_event()? {
            (namespace, Event::Start(tag)) => {
                depth += 1;
                let namespace = match namespace {
                    ResolveResult::Bound(namespace) => namespace.into_inner(),
                    _ => "",
                };
                statement = format!("{{{namespace}}}{} ", tag.local_name().into_inner());
            }
            (_, Event::Text(text)) if depth > 1 => statement.push_str(&text),
            // Writers differ in which characters they write as references.
            (_, Event::GeneralRef(entity)) if depth > 1 => {
                statement.push_str(&unescape(&format!("&{};", &*entity))?);
            }
            (_, Event::End(_)) => {
                depth -= 1;
                statements.push(std::mem::take(&mut statement));
            }
            (_, Event::Eof) => break,
            _ => {}
        }
    }
    statements.sort_unstable();
    Ok(statements.join(" | "))
}

/// The records with datestamps spread over two years, so that a harvest of
/// what changed later need not ask for all of them.
pub(super) fn spread(mut records: Vec<Record>) -> Result<Vec<Record>> {
    if !records.iter().any(Record::is_deleted) {
        bail!("nothing is deleted, so harvesting it would prove little");
    }
    for (at, record) in records.iter_mut().enumerate() {
        record.datestamp = format!(
            "202{}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            1 + at % 2,
            1 + at % 12,
            1 + at % 28,
            at % 24,
            at % 59,
            at % 60
        );
    }
    Ok(records)
}

/// The records some time later: some have other metadata, some are deleted,
/// some that were deleted are back, some are new.
pub(super) fn revised(given: &[Record]) -> Result<Vec<Record>> {
    let now = output(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))?;
    let now = String::from_utf8(now)?.trim().to_owned();
    let other = |at: usize| {
        let others = given.iter().cycle().skip(at + 1);
        others.take(given.len()).find_map(|record| record.metadata.clone())
    };
    let mut changed = given.to_vec();
    for (at, record) in changed.iter_mut().enumerate() {
        let metadata = match at {
            _ if at % 29 == 3 => None,
            _ if at % 13 == 5 => other(at),
            _ => continue,
        };
        record.metadata = metadata;
        record.datestamp.clone_from(&now);
    }
    let new = given.iter().take(50).map(|record| Record {
        identifier: format!("{}-new", record.identifier),
        datestamp: now.clone(),
        ..record.clone()
    });
    changed.extend(new);
    Ok(changed)
}

/// The sets that the records are in, and those above them.
pub(super) fn sets_above(records: &[Record]) -> BTreeSet<String> {
    let mut sets = BTreeSet::new();
    for spec in records.iter().flat_map(|record| &record.sets) {
        let ends = spec.match_indices(':').map(|(end, _)| end);
        sets.extend(ends.chain([spec.len()]).map(|end| spec[..end].to_owned()));
    }
    sets
}

/// The sets in what `stook set list` printed.
pub(super) fn listed(printed: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(printed);
    let first_words = text.lines().filter_map(|line| line.split_whitespace().next());
    first_words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_equal_whatever_the_prefixes_and_their_order() {
        let one = "<o:dc xmlns:o='urn:o' xmlns:d='urn:d'><d:title>A &amp; B</d:title><d:date>2024</d:date></o:dc>";
        let other =
            "<dc xmlns='urn:o'>\n <date xmlns='urn:d'>2024</date>\n <title xmlns='urn:d'>A &#38; B</title></dc>";
        assert_eq!(statements(one).unwrap(), statements(other).unwrap());
        let third = "<dc xmlns='urn:o'><date xmlns='urn:d'>2024</date><title>A &amp; B</title></dc>";
        assert_ne!(statements(one).unwrap(), statements(third).unwrap());
    }

    #[test]
    fn datestamp_of_a_harvested_record_is_the_origins() {
        let line = r#"{"identifier":"oai:a:1","datestamp":"2025-01-01T00:00:00Z","sets":["a:b"],"deleted":false,
            "metadata":{"oai_dc":"<x/>"},"about":{"oai_dc":["<provenance><originDescription harvestDate=\"2025\"><datestamp>2020-01-01</datestamp></originDescription></provenance>"]}}"#;
        let record = Record::parse(&line.replace('\n', "")).unwrap();
        assert_eq!(record.datestamp, "2020-01-01");
        assert!(record.is_in("a") && !record.is_in("b"));
        assert_eq!(
            sets_above(&[record]),
            BTreeSet::from(["a".to_owned(), "a:b".to_owned()])
        );
    }
}
