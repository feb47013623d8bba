//! oai_marc, the XML of MARC in the days of OAI-PMH 1.1.
//!
//! Parts of the leader are attributes of the root, control fields stand in quotation marks, tags are numbers.

use std::fmt::Write as _;

use crate::namespaces::XSI;

use super::OAI_MARC_NAMESPACE;
use super::defect::{Defect, Trouble};
use super::record::{Dialect, Field, Leader, Record};
use super::rules;
use super::xml::{Reader, Written, data_field, not_marc, parse_tag, push_attribute};

/// Positions of the leader and the attributes they are.
const ATTRIBUTES: [(usize, &str); 8] = [
    (5, "status"),
    (6, "type"),
    (7, "level"),
    (8, "ctlType"),
    (9, "charEnc"),
    (17, "encLvl"),
    (18, "catForm"),
    (19, "lrRqrd"),
];

/// Writes a record that names its schema.
///
/// # Errors
/// When oai_marc cannot carry it: it knows no tags with letters, no subfield codes but small letters and digits, no
/// quotation marks in control fields, and no record without a control field.
pub fn write(record: &Record<'_>, schema: &str) -> Result<Written, Defect> {
    let mut xml = format!(
        "<oai_marc xmlns=\"{OAI_MARC_NAMESPACE}\" xmlns:xsi=\"{XSI}\" xsi:schemaLocation=\"{OAI_MARC_NAMESPACE} "
    );
    push_attribute(&mut xml, schema);
    xml.push('"');
    let leader = record.leader.mended(Dialect::Marc21);
    rules::check_leader(&leader, Dialect::Marc21).map_err(Defect::of_record)?;
    for (position, name) in ATTRIBUTES {
        let _ = write!(xml, " {name}=\"{}\"", char::from(leader.at(position)));
    }
    xml.push('>');
    let mut written = Written { xml, dropped: 0 };
    let is_control = |field: &&Field<'_>| matches!(field, Field::Control { .. });
    if !record.fields.iter().any(|field| is_control(&field)) {
        return Err(cannot_carry("a record without a control field"));
    }
    let ordered = record.fields.iter().filter(is_control);
    for field in ordered.chain(record.fields.iter().filter(|field| !is_control(field))) {
        push_field(&mut written, field).map_err(|defect| Defect {
            field: Some((field.tag(), 1)),
            ..defect
        })?;
    }
    written.xml.push_str("</oai_marc>");
    Ok(written)
}

fn push_field(written: &mut Written, field: &Field<'_>) -> Result<(), Defect> {
    if !field.tag().as_bytes().iter().all(u8::is_ascii_digit) {
        return Err(cannot_carry("a tag with letters"));
    }
    match field {
        Field::Control { value, .. } if value.contains('"') => {
            return Err(cannot_carry("a quotation mark in a control field"));
        }
        Field::Control { tag, value } => {
            let _ = write!(written.xml, "<fixfield id=\"{tag}\">\"");
            written.text(value);
            written.xml.push_str("\"</fixfield>");
        }
        Field::Data { subfields, .. } if subfields.is_empty() => {}
        Field::Data {
            tag,
            indicators,
            subfields,
        } => {
            let _ = write!(written.xml, "<varfield id=\"{tag}\"");
            for (index, &indicator) in indicators.iter().enumerate() {
                if !rules::is_indicator(indicator) {
                    return Err(cannot_carry(
                        "an indicator that is not a digit, a small letter or a blank",
                    ));
                }
                let _ = write!(written.xml, " i{}=\"{}\"", index + 1, char::from(indicator));
            }
            written.xml.push('>');
            for subfield in subfields {
                if !subfield.code.is_ascii_lowercase() && !subfield.code.is_ascii_digit() {
                    return Err(cannot_carry("a subfield code that is not a digit or a small letter"));
                }
                let _ = write!(written.xml, "<subfield label=\"{}\">", char::from(subfield.code));
                written.text(&subfield.value);
                written.xml.push_str("</subfield>");
            }
            written.xml.push_str("</varfield>");
        }
    }
    Ok(())
}

fn cannot_carry(what: &'static str) -> Defect {
    Defect::of_record(Trouble::NotForOaiMarc(what))
}

/// Reads the `oai_marc` element, whatever its prefix.
///
/// # Errors
/// When it is not well-formed, or not such a record.
pub fn read(xml: &str) -> Result<Record<'static>, Defect> {
    let mut reader = Reader::new(xml);
    let root = reader.root("oai_marc")?;
    let mut leader = Leader::blank(Dialect::Marc21);
    for (position, name) in ATTRIBUTES {
        if let &[byte] = root.attribute(name).as_bytes() {
            leader.set(position, &[byte]);
        }
    }
    let mut fields = Vec::new();
    while let Some(child) = reader.child()? {
        match child.name {
            "fixfield" => {
                let text = reader.text(&child)?;
                let text = text.trim();
                let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                let tag = parse_tag(&format!("{:0>3}", child.attribute("id")))?;
                let value = quoted.unwrap_or(text).to_owned().into();
                fields.push(Field::Control { tag, value });
            }
            "varfield" => fields.push(data_field(&mut reader, &child, "id", ["i1", "i2"], "label")?),
            other => return Err(not_marc(format!("<{other}> has no place in a record of oai_marc"))),
        }
    }
    Ok(Record { leader, fields })
}
