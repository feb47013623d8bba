//! Tables, CSV and TSV: a header row that says what the columns are, then one record per row.
//!
//! The stream is cut into rows; a row larger than the limit is passed over without being kept. What a column means is
//! decided once, before anything is imported.

mod columns;
mod rows;

use std::io::Read;
use std::sync::Arc;

use stook_metadata::{DublinCore, Element};
use stook_oai::{Identifier, MetadataPrefix};

use super::detect;
use super::draft::{Content, Draft, Drafted, Drafter, Place, Rejected, set_specs};
use super::fields::{Field, Fields};
use super::json_lines::not_utf_8;
use super::open::Buffered;
use super::options::Options;
use super::source::{Halt, Raw, Sink, Source, send};
use super::xml;

pub(super) use columns::Column;
use columns::Columns;
use rows::{Next, Row, Splitter};

/// How much is cut at once.
const STRETCH: usize = 256 << 10;

/// A stretch of rows with the meaning of their columns.
#[derive(Debug)]
pub struct Rows {
    source: Arc<str>,
    columns: Arc<Columns>,
    rows: Vec<Row>,
    weight: usize,
}

impl Rows {
    pub(super) fn weight(&self) -> usize {
        self.weight
    }
}

/// How many columns of a header row are known, by the delimiter that makes most sense of it.
pub(super) fn known_columns(header: &str, fields: &Fields) -> usize {
    columns::find_delimiter(header.as_bytes(), fields).known
}

/// Cuts a stream into rows. Without a delimiter, the header row decides.
pub(super) fn cut(
    source: &Source,
    mut input: Buffered<impl Read>,
    delimiter: Option<u8>,
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let beginning = input.peek(detect::PEEK).map_err(|error| source.unreadable(1, &error))?;
    let delimiter = delimiter.unwrap_or_else(|| columns::find_delimiter(beginning, &options.fields).delimiter);
    let mut splitter = Splitter::new(input, delimiter, options.max_record_bytes);
    let Some(columns) = header(source, &mut splitter, options)? else {
        return Ok(());
    };
    let columns = Arc::new(columns);
    loop {
        let mut stretch = Rows {
            source: source.name.clone(),
            columns: columns.clone(),
            rows: Vec::new(),
            weight: 0,
        };
        let end = fill(source, &mut splitter, &mut stretch);
        if !stretch.rows.is_empty() {
            send(sink, Raw::Rows(stretch))?;
        }
        match end {
            End::Full => {}
            End::Rejected(rejected) => send(sink, Raw::Rejected(rejected))?,
            End::Halt(halt) => return Err(halt),
            End::Finished => return Ok(()),
        }
    }
}

/// Reads the header row. A first row `sep=;`, as spreadsheets write it, says what the delimiter is.
fn header<R: Read>(
    source: &Source,
    splitter: &mut Splitter<Buffered<R>>,
    options: &Options,
) -> Result<Option<Columns>, Halt> {
    loop {
        match splitter.next().map_err(|error| source.unreadable(1, &error))? {
            Next::Row(row) => match columns::told_delimiter(&row, splitter.delimiter()) {
                Some(delimiter) => splitter.set_delimiter(delimiter),
                None => return Columns::read(source, &row, &options.fields).map(Some),
            },
            Next::TooLong { line, excerpt } | Next::Unclosed { line, excerpt } => {
                return Err(source.broken(line, "the header row does not end", &excerpt));
            }
            Next::End => return Ok(None),
        }
    }
}

/// Why a stretch of rows ended.
enum End {
    Full,
    Rejected(Rejected),
    Halt(Halt),
    Finished,
}

fn fill<R: Read>(source: &Source, splitter: &mut Splitter<Buffered<R>>, stretch: &mut Rows) -> End {
    while stretch.weight < STRETCH {
        match splitter.next() {
            Ok(Next::Row(row)) => {
                stretch.weight += row.weight();
                stretch.rows.push(row);
            }
            Ok(Next::TooLong { line, excerpt }) => {
                let reason = "the row is larger than the limit; perhaps a quotation mark is missing; if not, \
                              --max-record-megabytes raises it";
                return End::Rejected(Rejected::new(source.place(line), None, reason, &excerpt));
            }
            Ok(Next::Unclosed { line, excerpt }) => {
                let reason =
                    "a quotation mark in this row is never closed, so the rest of the table cannot be told apart";
                return End::Halt(source.broken(line, reason, &excerpt));
            }
            Ok(Next::End) => return End::Finished,
            Err(error) => return End::Halt(source.unreadable(splitter.line(), &error)),
        }
    }
    End::Full
}

/// Drafts every row of a stretch.
pub(super) fn draft(drafter: &Drafter, rows: &Rows, out: &mut Drafted) {
    for row in &rows.rows {
        let place = Place {
            source: rows.source.clone(),
            line: row.line,
        };
        let mut named = None;
        match draft_row(drafter, &rows.columns, row, &place, &mut named) {
            Ok(None) => {}
            Ok(Some((draft, dropped))) => {
                out.count_dropped(dropped);
                out.drafts.push(draft);
            }
            Err(reason) => out.rejected.push(Rejected::new(place, named, reason, &row.text)),
        }
    }
}

/// One row as a draft with the number of characters dropped; nothing if all its cells are empty. `named` becomes its
/// identifier as soon as that is known.
fn draft_row(
    drafter: &Drafter,
    columns: &Columns,
    row: &Row,
    place: &Place,
    named: &mut Option<String>,
) -> Result<Option<(Draft, usize)>, String> {
    let cells = row.cells().map_err(|error| not_utf_8(&error))?;
    if cells.iter().all(|cell| cell.trim().is_empty()) {
        return Ok(None);
    }
    let separator = &drafter.options().separator;
    let identifier = match columns.record_identifier(&cells, separator) {
        Some(value) => {
            *named = Some(value.to_owned());
            let identifier = drafter.identifier(value).map_err(|invalid| invalid.to_string())?;
            *named = Some(identifier.as_str().to_owned());
            Some(identifier)
        }
        None => None,
    };
    columns.count_matches(&cells)?;
    let mut read = Cells::of(identifier.ok_or("the row has no identifier")?);
    for (column, cell) in columns.iter().zip(&cells) {
        read.take(column, cell, separator)?;
    }
    read.into_draft(drafter, place).map(Some)
}

/// What the cells of a record said so far.
pub(super) struct Cells<'a> {
    identifier: Identifier,
    sets: Vec<&'a str>,
    deleted: bool,
    dublin_core: DublinCore<'a>,
    /// A whole record.
    metadata: Option<&'a str>,
    dropped: usize,
}

impl<'a> Cells<'a> {
    /// Those of the record of this name, none yet.
    pub(super) fn of(identifier: Identifier) -> Self {
        Cells {
            identifier,
            sets: Vec::new(),
            deleted: false,
            dublin_core: DublinCore::default(),
            metadata: None,
            dropped: 0,
        }
    }

    pub(super) fn take(&mut self, column: &Column, cell: &'a str, separator: &str) -> Result<(), String> {
        match &column.field {
            Field::Statement(element, language) => {
                for value in values(cell, separator) {
                    self.dropped += self.dublin_core.push(*element, value, language.clone());
                }
            }
            Field::Identifier => {
                for value in values(cell, separator) {
                    self.dropped += self.dublin_core.push(Element::Identifier, value, None);
                }
            }
            Field::Sets => self.sets.push(cell),
            Field::Deleted => {
                self.deleted |= truth(cell)
                    .ok_or_else(|| format!("{:?} in column {:?} is neither yes nor no", cell.trim(), column.name))?;
            }
            Field::Metadata if cell.trim().is_empty() => {}
            Field::Metadata => {
                if self.metadata.replace(cell).is_some() {
                    return Err(format!(
                        "column {:?} has several records of this identifier",
                        column.name
                    ));
                }
            }
            Field::RecordIdentifier | Field::Skipped | Field::About => {}
        }
        Ok(())
    }

    /// The draft, with the number of characters dropped.
    pub(super) fn into_draft(self, drafter: &Drafter, place: &Place) -> Result<(Draft, usize), String> {
        let mut dropped = self.dropped;
        let set_specs = set_specs(self.sets)?;
        let content = if self.deleted {
            Content::Deleted { prefix: None }
        } else if let Some(xml) = self.metadata {
            let (prefix, checked) = xml::check_whole(drafter, xml)?;
            dropped += checked.dropped;
            live(prefix, checked.metadata)
        } else if self.dublin_core.is_empty() {
            return Err("the row says nothing: no Dublin Core element has a value".to_owned());
        } else {
            live(MetadataPrefix::oai_dc(), self.dublin_core.write())
        };
        let draft = Draft {
            place: place.clone(),
            identifier: self.identifier,
            set_specs,
            content,
        };
        Ok((draft, dropped))
    }
}

fn live(prefix: MetadataPrefix, metadata: String) -> Content {
    Content::Live {
        prefix,
        metadata,
        about: Vec::new(),
    }
}

/// The values of one cell.
fn values<'a>(cell: &'a str, separator: &str) -> impl Iterator<Item = &'a str> {
    let mut rest = Some(cell);
    std::iter::from_fn(move || {
        let text = rest?;
        let parts = if separator.is_empty() {
            None
        } else {
            text.split_once(separator)
        };
        let (value, behind) = parts.map_or((text, None), |(value, behind)| (value, Some(behind)));
        rest = behind;
        Some(value.trim())
    })
}

/// Yes or no as people write it; nothing means no.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "yes" | "y" | "true" | "1" | "deleted" | "x" => Some(true),
        "" | "no" | "n" | "false" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
