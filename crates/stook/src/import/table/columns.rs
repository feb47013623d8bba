//! The header row: what each column means, and what the delimiter is.

use std::io::Cursor;

use stook_metadata::Element;

use crate::import::fields::{Field, Fields};
use crate::import::source::{Halt, Refusal, Source};

use super::rows::{Next, Row, Splitter};

/// What tables are delimited by, the most usual first.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// One column.
#[derive(Debug)]
pub(in crate::import) struct Column {
    /// Its name as written.
    pub(in crate::import) name: String,
    pub(in crate::import) field: Field,
}

/// All columns of a table; one of them names the record.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<Column>,
    naming: usize,
}

impl Columns {
    /// Reads the header row.
    pub(super) fn read(source: &Source, row: &Row, fields: &Fields) -> Result<Self, Halt> {
        let Ok(names) = row.cells() else {
            let reason = "the header row is not UTF-8. Try: --encoding with the right one, such as windows-1252";
            return Err(source.broken(row.line, reason, &row.text));
        };
        let mut columns = Vec::new();
        let mut unknown = Vec::new();
        for name in names {
            match meaning(name, fields) {
                Some(field) => columns.push(Column {
                    name: name.to_owned(),
                    field,
                }),
                None => unknown.push(name.trim().to_owned()),
            }
        }
        let is_junk = !source.named && columns.iter().all(|column| column.field == Field::Skipped);
        if is_junk {
            return Err(source.broken(row.line, "no column of this table is known", &row.text));
        }
        if !unknown.is_empty() {
            return Err(Refusal::UnknownNames {
                path: source.name.to_string(),
                names: unknown,
                is_table: true,
            }
            .into());
        }
        match naming_column(&columns) {
            Some(naming) => Ok(Self { columns, naming }),
            None => Err(Refusal::NoIdentifierColumn(source.name.to_string()).into()),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter()
    }

    /// The value that names the record: the first of its cell.
    pub(super) fn record_identifier<'a>(&self, cells: &[&'a str], separator: &str) -> Option<&'a str> {
        let cell = cells.get(self.naming)?;
        let first = match &self.columns[self.naming].field {
            // The only meaning of such a cell is the identifier, whatever characters it has.
            Field::RecordIdentifier => cell,
            _ if separator.is_empty() => cell,
            _ => cell.split(separator).find(|value| !value.trim().is_empty())?,
        };
        Some(first.trim()).filter(|value| !value.is_empty())
    }

    /// Makes sure that a row has a cell for every column and no more, or it cannot be trusted to be in its columns.
    pub(super) fn count_matches(&self, cells: &[&str]) -> Result<(), String> {
        if cells.len() != self.columns.len() {
            let (row, header) = (cells.len(), self.columns.len());
            return Err(format!("the row has {row} cells, the header has {header}"));
        }
        let nameless = self
            .columns
            .iter()
            .zip(cells)
            .find(|(column, cell)| column.name.trim().is_empty() && !cell.trim().is_empty());
        match nameless {
            Some((_, cell)) => Err(format!("{:?} stands in a column without a name", cell.trim())),
            None => Ok(()),
        }
    }
}

/// What a column means. One without a name is what a delimiter too many at the end of a row makes.
fn meaning(name: &str, fields: &Fields) -> Option<Field> {
    if name.trim().is_empty() {
        return Some(Field::Skipped);
    }
    fields
        .meaning(name)
        .filter(|field| !matches!(field, Field::Metadata | Field::About))
}

/// The column that names the record, by precedence.
fn naming_column(columns: &[Column]) -> Option<usize> {
    let position = |wanted: &dyn Fn(&Field) -> bool| columns.iter().position(|column| wanted(&column.field));
    position(&|field| *field == Field::RecordIdentifier)
        .or_else(|| position(&|field| *field == Field::Identifier))
        .or_else(|| position(&|field| matches!(field, Field::Statement(Element::Identifier, _))))
}

/// A delimiter and how many columns of the header row it makes known.
pub(super) struct Found {
    pub(super) delimiter: u8,
    pub(super) known: usize,
}

/// Finds the delimiter that makes most sense of a header row: most known columns, then most columns.
pub(super) fn find_delimiter(beginning: &[u8], fields: &Fields) -> Found {
    let mut best = (
        0,
        0,
        Found {
            delimiter: DELIMITERS[0],
            known: 0,
        },
    );
    for mut delimiter in DELIMITERS {
        let mut splitter = Splitter::new(Cursor::new(beginning), delimiter, usize::MAX);
        let mut row = splitter.next();
        if let Ok(Next::Row(first)) = &row
            && let Some(told) = told_delimiter(first, delimiter)
        {
            delimiter = told;
            splitter.set_delimiter(told);
            row = splitter.next();
        }
        let Ok(Next::Row(row)) = row else { continue };
        let Ok(cells) = row.cells() else { continue };
        let known = cells
            .iter()
            .filter(|name| !name.trim().is_empty() && meaning(name, fields).is_some())
            .count();
        if (known, cells.len()) > (best.0, best.1) {
            best = (known, cells.len(), Found { delimiter, known });
        }
    }
    best.2
}

/// The delimiter in a row `sep=;`, which spreadsheets write and read before the header row.
pub(super) fn told_delimiter(row: &Row, delimiter: u8) -> Option<u8> {
    match row.text.strip_prefix(b"sep=") {
        Some([told]) => Some(*told),
        // The row names the very delimiter it was split at.
        Some([]) => Some(delimiter),
        _ => None,
    }
}
