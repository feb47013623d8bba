//! From a record to its bytes, in UTF-8.

use super::super::defect::{Defect, Trouble};
use super::super::record::{Dialect, Field, Leader, Record};
use super::{ENTRY, FIELD_END, RECORD_END, SUBFIELD};

/// The longest record and the longest field that the digits can tell.
const LONGEST_RECORD: usize = 99_999;
const LONGEST_FIELD: usize = 9_999;

/// Appends a record to `out`: lengths and addresses counted anew, the encoding UTF-8.
///
/// # Errors
/// When the record or a field is too long for ISO 2709, or a value has one of its separators in it. Nothing is appended
/// then.
pub fn write(record: &Record<'_>, dialect: Dialect, out: &mut Vec<u8>) -> Result<(), Defect> {
    let before = out.len();
    let outcome = append(record, dialect, out);
    if outcome.is_err() {
        out.truncate(before);
    }
    outcome
}

fn append(record: &Record<'_>, dialect: Dialect, out: &mut Vec<u8>) -> Result<(), Defect> {
    let start = out.len();
    let base = Leader::LENGTH + ENTRY * record.fields.len() + 1;
    let mut fields = Vec::new();
    let mut starts = Vec::with_capacity(record.fields.len());
    for (index, field) in record.fields.iter().enumerate() {
        starts.push(fields.len());
        let length = push_field(field, &mut fields).and_then(|()| {
            let length = fields.len() - starts[index];
            if length > LONGEST_FIELD {
                return Err(Trouble::FieldTooLong(length));
            }
            Ok(())
        });
        length.map_err(|trouble| {
            let before = record.fields[..index].iter().map(Field::tag);
            Defect::of_record(trouble).in_field(field.tag(), before)
        })?;
    }
    let length = base + fields.len() + 1;
    if length > LONGEST_RECORD {
        return Err(Defect::of_record(Trouble::RecordTooLong(length)));
    }
    let mut leader = record.leader.mended(dialect);
    leader.set(0, format!("{length:05}").as_bytes());
    leader.set(10, b"22");
    leader.set(12, format!("{base:05}").as_bytes());
    if !leader.as_str()[20..].starts_with("450") {
        leader.set(20, if dialect == Dialect::Marc21 { b"4500" } else { b"450 " });
    }
    out.extend_from_slice(leader.as_str().as_bytes());
    for (index, field) in record.fields.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(fields.len());
        out.extend_from_slice(field.tag().as_bytes());
        out.extend_from_slice(format!("{:04}{:05}", end - starts[index], starts[index]).as_bytes());
    }
    out.push(FIELD_END);
    out.extend_from_slice(&fields);
    out.push(RECORD_END);
    debug_assert_eq!(out.len() - start, length);
    Ok(())
}

fn push_field(field: &Field<'_>, out: &mut Vec<u8>) -> Result<(), Trouble> {
    match field {
        Field::Control { value, .. } => push_value(value, out)?,
        Field::Data {
            indicators, subfields, ..
        } => {
            for (index, &indicator) in indicators.iter().enumerate() {
                if !(b' '..=b'~').contains(&indicator) {
                    return Err(Trouble::BadIndicator {
                        number: index + 1,
                        found: char::from(indicator).to_string(),
                    });
                }
                out.push(indicator);
            }
            for subfield in subfields {
                if !(b' '..=b'~').contains(&subfield.code) {
                    return Err(Trouble::BadCode(char::from(subfield.code).to_string()));
                }
                out.push(SUBFIELD);
                out.push(subfield.code);
                push_value(&subfield.value, out)?;
            }
        }
    }
    out.push(FIELD_END);
    Ok(())
}

fn push_value(value: &str, out: &mut Vec<u8>) -> Result<(), Trouble> {
    let separator = value
        .bytes()
        .find(|byte| matches!(*byte, RECORD_END | FIELD_END | SUBFIELD));
    match separator {
        Some(byte) => Err(Trouble::Separator(byte)),
        None => {
            out.extend_from_slice(value.as_bytes());
            Ok(())
        }
    }
}
