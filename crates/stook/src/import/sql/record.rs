//! From the values of a record to its draft, as from the cells of a table.

use std::sync::Arc;

use stook_metadata::Element;

use super::columns::Resolved;
use super::database::Kind;
use super::spool::Gathered;
use super::text::{array, flag, is_zero_date, iso_8601};
use crate::count::counted;
use crate::import::draft::{Draft, Drafted, Drafter, EXCERPT_BYTES, Place, Rejected};
use crate::import::fields::Field;
use crate::import::table::{Cells, Column};

/// A stretch of records with the meaning of their values.
#[derive(Debug)]
pub struct Records {
    source: Arc<str>,
    queries: Arc<Vec<Resolved>>,
    records: Vec<Gathered>,
    weight: usize,
}

impl Records {
    pub(super) fn new(source: &Arc<str>, queries: &Arc<Vec<Resolved>>) -> Records {
        Records {
            source: source.clone(),
            queries: queries.clone(),
            records: Vec::new(),
            weight: 0,
        }
    }

    pub(super) fn push(&mut self, record: Gathered) {
        const FIXED: usize = 64;
        let values = record.values.iter();
        self.weight += FIXED + values.map(|(_, _, value)| FIXED + value.len()).sum::<usize>();
        self.records.push(record);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Roughly how much memory it takes.
    pub(in crate::import) fn weight(&self) -> usize {
        self.weight
    }
}

/// Drafts every record of a stretch.
pub(in crate::import) fn draft(drafter: &Drafter, records: &Records, out: &mut Drafted) {
    for record in &records.records {
        let place = Place {
            source: records.source.clone(),
            line: record.row,
        };
        let mut named = None;
        match draft_record(drafter, &records.queries, record, &place, &mut named) {
            Ok((draft, dropped)) => {
                out.count_dropped(dropped);
                out.drafts.push(draft);
            }
            Err(reason) => {
                let excerpt = excerpt(&records.queries, record);
                out.rejected.push(Rejected::new(place, named, reason, &excerpt));
            }
        }
    }
}

fn draft_record(
    drafter: &Drafter,
    queries: &[Resolved],
    record: &Gathered,
    place: &Place,
    named: &mut Option<String>,
) -> Result<(Draft, usize), String> {
    *named = Some(record.id.clone());
    let identifier = drafter.identifier(&record.id).map_err(|invalid| invalid.to_string())?;
    *named = Some(identifier.as_str().to_owned());
    if record.is_too_large {
        return Err(format!(
            "the record is larger than the limit, in {}; --max-record-megabytes raises it",
            counted(record.rows, "row")
        ));
    }
    // First as the texts they stand for, because a draft only borrows.
    let mut texts = Vec::with_capacity(record.values.len());
    for (query, column, value) in &record.values {
        let selected = &queries[*query].selected[*column];
        let text = std::str::from_utf8(value).map_err(|_| {
            format!(
                "the value of the column {:?} is not text. Try: leave the column out of the query, or convert it there",
                selected.name
            )
        })?;
        for text in meant(&selected.column, selected.kind, text)? {
            texts.push((&queries[*query].separator, &selected.column, text));
        }
    }
    let mut cells = Cells::of(identifier);
    for (separator, column, text) in &texts {
        cells.take(column, text, separator)?;
    }
    cells.into_draft(drafter, place)
}

/// What a value says, in the words of a table.
fn meant(column: &Column, kind: Kind, text: &str) -> Result<Vec<String>, String> {
    if kind == Kind::Array {
        let values = array(text).ok_or_else(|| format!("{text:?} in the column {:?} is not an array", column.name));
        return values.map(|values| values.iter().map(|value| meant_by_one(column, value)).collect());
    }
    Ok(vec![meant_by_one(column, text)])
}

fn meant_by_one(column: &Column, text: &str) -> String {
    match column.field {
        Field::Deleted => flag(text).to_owned(),
        Field::Statement(Element::Date, _) if is_zero_date(text) => String::new(),
        Field::Statement(Element::Date, _) => iso_8601(text).unwrap_or_else(|| text.to_owned()),
        _ => text.to_owned(),
    }
}

/// What a person sees of a record that was rejected: its values by their columns.
fn excerpt(queries: &[Resolved], record: &Gathered) -> Vec<u8> {
    let mut excerpt = Vec::new();
    for (query, column, value) in &record.values {
        if excerpt.len() > EXCERPT_BYTES {
            break;
        }
        excerpt.extend_from_slice(queries[*query].selected[*column].name.as_bytes());
        excerpt.extend_from_slice(b": ");
        excerpt.extend_from_slice(&value[..value.len().min(EXCERPT_BYTES)]);
        excerpt.push(b'\n');
    }
    excerpt
}
