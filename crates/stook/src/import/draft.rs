//! Drafts: records as they could be published, and what could not become one.
//!
//! A raw piece of input enters the [`Drafter`]; drafts and rejections leave, both with the place they came from.

use std::sync::Arc;

use stook_metadata::{Format, Namespaces, check_about, check_within, clean};
use stook_oai::{Identifier, InvalidIdentifier, MetadataPrefix, OaiNamespace, SetSpec};

use super::options::Options;
use super::rewrite::Rewritten;
use super::source::Raw;
use super::{json_lines, marc, sql, table, xml};

/// The most of a rejected record that is kept.
pub const EXCERPT_BYTES: usize = 4096;

/// Where something stands in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, or the file inside an archive.
    pub source: Arc<str>,
    /// The line, counted from 1; in MARC, which has no lines, the record, and in a database the row.
    pub line: u64,
}

/// One record that can be published: one item in one format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Where it comes from.
    pub place: Place,
    /// The item.
    pub identifier: Identifier,
    /// The sets it is in.
    pub set_specs: Vec<SetSpec>,
    /// What it says.
    pub content: Content,
}

/// What a draft says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A record to be disseminated.
    Live {
        /// The format.
        prefix: MetadataPrefix,
        /// One root element, checked and standing alone.
        metadata: String,
        /// About containers, each one root element.
        about: Vec<String>,
    },
    /// A record that is withdrawn.
    Deleted {
        /// The format; `None` if the input withdraws the whole item.
        prefix: Option<MetadataPrefix>,
    },
}

impl Content {
    /// The format it is about; none if it is about the whole item.
    #[must_use]
    pub fn prefix(&self) -> Option<&MetadataPrefix> {
        match self {
            Self::Live { prefix, .. } => Some(prefix),
            Self::Deleted { prefix } => prefix.as_ref(),
        }
    }

    /// What is disseminated.
    #[must_use]
    pub fn metadata(&self) -> Option<&str> {
        match self {
            Self::Live { metadata, .. } => Some(metadata),
            Self::Deleted { .. } => None,
        }
    }
}

impl Draft {
    /// The record that is given by it.
    #[must_use]
    pub fn given(&self) -> Option<(&Identifier, &MetadataPrefix)> {
        self.content.metadata()?;
        Some((&self.identifier, self.content.prefix()?))
    }
}

/// Something that cannot be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Where it stands.
    pub place: Place,
    /// Its identifier if that is known: as published, or as written if it is not a possible one.
    pub identifier: Option<String>,
    /// What is wrong, and perhaps what to try.
    pub reason: String,
    /// Its first bytes, at most [`EXCERPT_BYTES`].
    pub excerpt: Vec<u8>,
}

impl Rejected {
    /// A rejection with the beginning of what was rejected.
    #[must_use]
    pub fn new(place: Place, identifier: Option<String>, reason: impl Into<String>, bytes: &[u8]) -> Self {
        let excerpt = bytes[..bytes.len().min(EXCERPT_BYTES)].to_vec();
        let mut reason = reason.into();
        // The line of the record stands before it already.
        if let Some(shorter) = reason.strip_suffix(&format!(" (line {})", place.line)) {
            reason.truncate(shorter.len());
        }
        Self {
            place,
            identifier,
            reason,
            excerpt,
        }
    }
}

/// Makes an excerpt of what was kept of a record that is too large, with the bytes that come next.
pub(super) fn fill_excerpt(kept: &mut Vec<u8>, next: &[u8]) {
    kept.truncate(EXCERPT_BYTES);
    kept.extend_from_slice(&next[..next.len().min(EXCERPT_BYTES - kept.len())]);
}

/// What came of some raw pieces.
#[derive(Debug, Default)]
pub struct Drafted {
    /// What can be published, in the order of the input.
    pub drafts: Vec<Draft>,
    /// What cannot, in the order of the input.
    pub rejected: Vec<Rejected>,
    /// Files among the input that have nothing to do with it.
    pub junk: Vec<Rejected>,
    /// Sources that were read to their end.
    pub finished: Vec<Arc<str>>,
    /// How many sources could not be read to their end.
    pub broken: u64,
    /// How many records lost characters that XML cannot carry.
    pub cleaned: u64,
    /// How many such characters there were.
    pub dropped: u64,
    /// What was done by [`Options::rewrite`].
    pub rewritten: Rewritten,
}

impl Drafted {
    /// Counts a record from which characters were dropped.
    pub(super) fn count_dropped(&mut self, dropped: usize) {
        if dropped > 0 {
            self.cleaned += 1;
            self.dropped += dropped as u64;
        }
    }
}

/// Turns raw pieces into drafts. Cheap to clone; each thread has one.
#[derive(Clone, Debug)]
pub struct Drafter {
    options: Arc<Options>,
}

impl Drafter {
    /// A drafter by these options.
    #[must_use]
    pub fn new(options: Arc<Options>) -> Self {
        Self { options }
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// Drafts everything a raw piece holds.
    pub fn draft(&self, raw: Raw, out: &mut Drafted) {
        let before = out.drafts.len();
        match raw {
            Raw::Lines(lines) => json_lines::draft(self, &lines, out),
            Raw::Rows(rows) => table::draft(self, &rows, out),
            Raw::Xml(record) => xml::draft(self, &record, out),
            Raw::Marc(records) => marc::draft(self, &records, out),
            Raw::Records(records) => sql::draft(self, &records, out),
            Raw::Rejected(rejected) => out.rejected.push(rejected),
            Raw::Junk(junk) => out.junk.push(junk),
            Raw::Finished(source) => out.finished.push(source),
            Raw::Broken(rejected) => {
                out.broken += 1;
                out.rejected.push(rejected);
            }
        }
        if let Some(rewrite) = &self.options.rewrite {
            rewrite.apply(out, before);
        }
    }

    /// The identifier that a value of the input stands for.
    ///
    /// # Errors
    /// When it is empty or too long.
    pub fn identifier(&self, value: &str) -> Result<Identifier, InvalidIdentifier> {
        identifier(value, &self.options.namespace)
    }
}

/// Schemes under which people already have identifiers worth keeping.
const KEPT_SCHEMES: [&str; 8] = ["oai", "urn", "info", "http", "https", "hdl", "doi", "ark"];

/// Keeps an identifier that is one already, and makes one from a local name.
///
/// # Errors
/// When the value is empty, or the identifier would be too long.
pub fn identifier(value: &str, namespace: &OaiNamespace) -> Result<Identifier, InvalidIdentifier> {
    let cleaned = clean::text(value.trim());
    let value = cleaned.text.trim();
    let has_scheme = value
        .split_once(':')
        .is_some_and(|(scheme, _)| KEPT_SCHEMES.iter().any(|kept| kept.eq_ignore_ascii_case(scheme)));
    if has_scheme && let Ok(identifier) = Identifier::parse(value) {
        return Ok(identifier);
    }
    namespace.identifier(value)
}

/// XML that was checked for one format.
pub(super) struct Checked {
    pub(super) metadata: String,
    /// Characters that had to be dropped first.
    pub(super) dropped: usize,
}

/// Cleans and checks the XML of a record. The reason names the line within `xml`, counted from `line`.
pub(super) fn check_metadata(xml: &str, format: &Format, around: &Namespaces, line: u64) -> Result<Checked, String> {
    let cleaned = clean::markup(xml);
    match check_within(&cleaned.text, format, around) {
        Ok(metadata) => Ok(Checked {
            metadata,
            dropped: cleaned.dropped,
        }),
        Err(fault) => Err(format!("{} (line {})", fault.problem, line + fault.line as u64 - 1)),
    }
}

/// Cleans and checks an about container, as [`check_metadata`] does a record.
pub(super) fn check_container(xml: &str, around: &Namespaces, line: u64) -> Result<Checked, String> {
    let cleaned = clean::markup(xml);
    match check_about(&cleaned.text, around) {
        Ok(metadata) => Ok(Checked {
            metadata,
            dropped: cleaned.dropped,
        }),
        Err(fault) => Err(format!(
            "about: {} (line {})",
            fault.problem,
            line + fault.line as u64 - 1
        )),
    }
}

/// Most sets one record may be in. What is made of them is not linear in their number.
const MAX_SETS: usize = 1000;

/// Reads the sets of a record, however they are separated: no separator can be part of a set spec.
pub(super) fn set_specs<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Vec<SetSpec>, String> {
    let mut set_specs = Vec::new();
    for value in values {
        let separated =
            value.split(|character: char| character.is_whitespace() || matches!(character, '|' | ';' | ','));
        for spec in separated.filter(|spec| !spec.is_empty()) {
            if set_specs.len() == MAX_SETS {
                return Err(format!("the record is in more than {MAX_SETS} sets"));
            }
            set_specs.push(SetSpec::parse(spec).map_err(|invalid| invalid.to_string())?);
        }
    }
    Ok(set_specs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(value: &str) -> String {
        let namespace = OaiNamespace::parse("example.org").unwrap();
        identifier(value, &namespace).map_or_else(|error| error.to_string(), Identifier::into_string)
    }

    #[test]
    fn identifiers_of_known_schemes_are_kept() {
        for kept in [
            "oai:example.org:1",
            "urn:nbn:de:101:1-2",
            "https://example.org/a?b=c",
            "doi:10.1/a",
            "HDL:1/2",
            "info:x",
            "ark:/1/2",
        ] {
            assert_eq!(made(kept), kept);
        }
        assert_eq!(made(" oai:example.org:1\n"), "oai:example.org:1");
    }

    #[test]
    fn anything_else_is_local() {
        assert_eq!(made("map-001"), "oai:example.org:map-001");
        assert_eq!(made("Karte 1"), "oai:example.org:Karte%201");
        assert_eq!(made("isbn:123"), "oai:example.org:isbn:123");
        assert_eq!(made("http://a b"), "oai:example.org:http://a%20b");
        assert_eq!(made("a\u{1}b"), "oai:example.org:ab");
        assert!(made("  ").contains("is not an identifier"));
    }

    #[test]
    fn sets_are_separated_by_anything_they_cannot_contain() {
        let specs = set_specs(["maps:city | theses", "a;b,c  d", ""]).unwrap();
        let specs: Vec<_> = specs.iter().map(SetSpec::as_str).collect();
        assert_eq!(specs, ["maps:city", "theses", "a", "b", "c", "d"]);
        assert!(set_specs(["a ".repeat(MAX_SETS + 1).as_str()]).is_err());
        assert!(set_specs(["maps:"]).unwrap_err().contains("is not a setSpec"));
    }

    #[test]
    fn an_excerpt_is_bounded() {
        let place = Place {
            source: "a".into(),
            line: 1,
        };
        assert_eq!(
            Rejected::new(place, None, "x", &[b'a'; 10_000]).excerpt.len(),
            EXCERPT_BYTES
        );
    }
}
