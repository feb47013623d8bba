//! One source: from a stream of bytes to raw pieces, each of them whole records.
//!
//! A name and a stream enter; [`Raw`] pieces leave through a sink, in order. The stream is read once, and of a record
//! that is larger than the limit only the beginning is kept.

use std::io::{self, BufRead, Read};
use std::ops::ControlFlow;
use std::sync::Arc;

use encoding_rs::UTF_8;

use super::detect::{self, Detected};
use super::draft::{Place, Rejected};
use super::encoding;
use super::open::Buffered;
use super::options::{Options, Shape};
use super::{json_lines, marc, sql, table, xml};

/// A piece of input, cut where a record ends, or news about a source.
#[derive(Debug)]
pub enum Raw {
    /// Lines of JSON.
    Lines(json_lines::Lines),
    /// Rows of a table.
    Rows(table::Rows),
    /// One record of XML.
    Xml(xml::RawRecord),
    /// Records of MARC.
    Marc(marc::Records),
    /// Records of a database.
    Records(sql::Records),
    /// Something that cannot even be cut out.
    Rejected(Rejected),
    /// A file that is no input at all; it is only mentioned.
    Junk(Rejected),
    /// A source was read to its end.
    Finished(Arc<str>),
    /// A source cannot be read further than this.
    Broken(Rejected),
}

impl Raw {
    /// Roughly how much memory it takes.
    #[must_use]
    pub fn weight(&self) -> usize {
        const FIXED: usize = 256;
        FIXED
            + match self {
                Raw::Lines(lines) => lines.text.len(),
                Raw::Rows(rows) => rows.weight(),
                Raw::Xml(record) => record.xml.len(),
                Raw::Marc(records) => records.bytes.len(),
                Raw::Records(records) => records.weight(),
                Raw::Rejected(rejected) | Raw::Junk(rejected) | Raw::Broken(rejected) => rejected.excerpt.len(),
                Raw::Finished(_) => 0,
            }
    }
}

/// Where raw pieces go. It breaks when it wants no more.
pub type Sink<'s> = dyn FnMut(Raw) -> ControlFlow<()> + 's;

/// Why reading ended before the end.
#[derive(Debug)]
pub enum Halt {
    /// The sink wants no more.
    Stopped,
    /// This source cannot be read further; the next one can.
    Broken(Rejected),
    /// Nothing can be imported before somebody decides something.
    Refused(Refusal),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Halt::Refused(refusal)
    }
}

/// A mistake that concerns the whole import. The text ends with what to try.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// What was named cannot be opened.
    #[error("cannot open {path}: {reason}. Try: check the path and its permissions")]
    CannotOpen {
        /// What was named.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// What was named is nothing that can be imported.
    #[error("{path}: {reason}")]
    NotRecognised {
        /// What was named.
        path: String,
        /// Why, and what to try.
        reason: String,
    },
    /// Names of columns, or of keys, that nobody knows.
    #[error(
        "{path}: unknown {}: {}. Try: --map {:?}=title (or another element) for each, --map {:?}= to skip one, or \
         --ignore-unknown to skip them all",
        if *.is_table { "columns" } else { "keys" },
        .names.join(", "), .names[0], .names[0]
    )]
    UnknownNames {
        /// Where.
        path: String,
        /// The names; at least one.
        names: Vec<String>,
        /// Whether they are columns of a table.
        is_table: bool,
    },
    /// A table that does not say what its records are called.
    #[error("{0}: no column names the record. Try: a column \"id\" or \"identifier\", or --map COLUMN=id")]
    NoIdentifierColumn(String),
    /// A database that cannot be read, or not as it is asked for.
    #[error("{path}: {reason}")]
    Database {
        /// The definition.
        path: String,
        /// Why, and what to try.
        reason: String,
    },
}

/// A source by its name.
#[derive(Clone, Debug)]
pub struct Source {
    /// How messages name it.
    pub name: Arc<str>,
    /// The file's own name, from which an identifier can be made; none for a stream.
    pub file_name: Option<Arc<str>>,
    /// Whether a person named it, rather than a folder or an archive holding it.
    pub named: bool,
}

impl Source {
    /// A place in this source.
    #[must_use]
    pub fn place(&self, line: u64) -> Place {
        Place {
            source: self.name.clone(),
            line,
        }
    }

    /// This source cannot be read further.
    pub(super) fn broken(&self, line: u64, reason: impl Into<String>, excerpt: &[u8]) -> Halt {
        Halt::Broken(Rejected::new(self.place(line), None, reason, excerpt))
    }

    /// This source cannot be read further, because of a failure to read.
    pub(super) fn unreadable(&self, line: u64, error: &io::Error) -> Halt {
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => "the compressed data ends too early; the file is cut off".to_owned(),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                format!("the compressed data is damaged: {error}")
            }
            _ => format!("cannot be read: {error}"),
        };
        self.broken(line, reason, b"")
    }
}

/// Hands a raw piece on.
pub(super) fn send(sink: &mut Sink<'_>, raw: Raw) -> Result<(), Halt> {
    match sink(raw) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Halt::Stopped),
    }
}

/// Reads one source to its end. What breaks it is reported, and does not stop the others.
///
/// # Errors
/// When the sink wants no more, or the whole import has to be refused.
pub fn read(source: &Source, stream: &mut dyn Read, options: &Options, sink: &mut Sink<'_>) -> Result<(), Halt> {
    match cut(source, stream, options, sink) {
        Ok(()) => send(sink, Raw::Finished(source.name.clone())),
        Err(Halt::Broken(rejected)) => send(sink, Raw::Broken(rejected)),
        Err(halt) => Err(halt),
    }
}

fn cut(source: &Source, stream: &mut dyn Read, options: &Options, sink: &mut Sink<'_>) -> Result<(), Halt> {
    let mut bytes = Buffered::new(stream);
    let beginning = bytes
        .peek(encoding::PEEK)
        .map_err(|error| source.unreadable(1, &error))?;
    // Its lengths are counted in bytes, so it must not be decoded before it is cut.
    if marc::is_marc(beginning, source.file_name.as_deref(), options) {
        return marc::cut(source, bytes, options, sink);
    }
    let encoding = encoding::recognise(beginning, options.encoding)
        .map_err(|unknown| source.broken(1, unknown.to_string(), beginning))?;
    let text: Box<dyn Read + '_> = if encoding == UTF_8 {
        if beginning.starts_with(encoding::UTF_8_MARK) {
            bytes.consume(encoding::UTF_8_MARK.len());
        }
        Box::new(bytes)
    } else {
        Box::new(encoding::Decoded::new(bytes, encoding))
    };
    let mut text = Buffered::new(text);
    let beginning = text.peek(detect::PEEK).map_err(|error| source.unreadable(1, &error))?;
    match detect::detect(beginning, source.file_name.as_deref(), options) {
        Detected::Shape(Shape::JsonLines) => json_lines::cut(source, text, options, sink),
        Detected::Shape(Shape::Csv) => table::cut(source, text, None, options, sink),
        Detected::Shape(Shape::Tsv) => table::cut(source, text, Some(b'\t'), options, sink),
        Detected::Shape(Shape::Marc) => marc::cut(source, text, options, sink),
        Detected::Shape(shape @ (Shape::Xml | Shape::Oai)) => {
            xml::cut(source, text, shape == Shape::Oai, options, sink)
        }
        Detected::Unknown(reason) | Detected::Junk(reason) if source.named => Err(Refusal::NotRecognised {
            path: source.name.to_string(),
            reason: reason.to_owned(),
        }
        .into()),
        Detected::Junk(reason) => {
            let junk = Rejected::new(source.place(0), None, reason, beginning);
            send(sink, Raw::Junk(junk))
        }
        Detected::Unknown(reason) => Err(source.broken(1, reason, beginning)),
    }
}
