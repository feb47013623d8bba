//! What the person who imports may decide.

use std::sync::Arc;

use encoding_rs::Encoding;
use stook_metadata::Formats;
use stook_oai::{MetadataPrefix, OaiNamespace};

use super::fields::Fields;
use super::marc::MarcOptions;
use super::rewrite::Rewrite;
use crate::crosswalk::Crosswalks;
use crate::sets::SetRules;

/// The largest record that is believed, unless told otherwise.
pub const MAX_RECORD_BYTES: usize = 16 << 20;

/// How an import reads its input.
#[derive(Clone, Debug)]
pub struct Options {
    /// From which domain local identifiers become `oai:` identifiers.
    pub namespace: OaiNamespace,
    /// The formats records may have.
    pub formats: Formats,
    /// How records are rewritten before they are published.
    pub rewrite: Option<Rewrite>,
    /// What is made of records beside what they are.
    pub crosswalks: Crosswalks,
    /// Which sets records are in beside those they are given with.
    pub set_rules: Arc<SetRules>,
    /// The format XML records are published in, where their root fits it.
    pub prefix: Option<MetadataPrefix>,
    /// What the input is; found out from its content if not given.
    pub shape: Option<Shape>,
    /// The encoding of the input; otherwise what a byte order mark or an XML declaration says, or UTF-8.
    pub encoding: Option<&'static Encoding>,
    /// What the columns of a table and the keys of JSON mean.
    pub fields: Fields,
    /// What separates several values in one cell of a table; nothing if empty.
    pub separator: String,
    /// What MARC is like.
    pub marc: MarcOptions,
    /// A record larger than this is rejected without being read.
    pub max_record_bytes: usize,
}

impl Options {
    /// The usual: everything found out from the content.
    #[must_use]
    pub fn new(namespace: OaiNamespace) -> Self {
        Self {
            namespace,
            formats: Formats::default(),
            rewrite: None,
            crosswalks: Crosswalks::default(),
            set_rules: Arc::default(),
            prefix: None,
            shape: None,
            encoding: None,
            fields: Fields::default(),
            separator: "|".to_owned(),
            marc: MarcOptions::default(),
            max_record_bytes: MAX_RECORD_BYTES,
        }
    }
}

/// What an input is, once compression and archives are undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One JSON object per line.
    JsonLines,
    /// A table with a header row; the delimiter is found out from that row.
    Csv,
    /// A table with a header row, delimited by tabs.
    Tsv,
    /// XML: records of registered formats, OAI-PMH records, or any wrapping of either.
    Xml,
    /// XML, of which only OAI-PMH records are taken.
    Oai,
    /// MARC in ISO 2709.
    Marc,
}

impl Shape {
    /// Every shape with the name people give it.
    pub const NAMES: [(&'static str, Shape); 6] = [
        ("jsonl", Shape::JsonLines),
        ("csv", Shape::Csv),
        ("tsv", Shape::Tsv),
        ("xml", Shape::Xml),
        ("oai", Shape::Oai),
        ("marc", Shape::Marc),
    ];

    /// The shape of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Shape> {
        let found = Self::NAMES
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, shape)| shape)
    }
}
