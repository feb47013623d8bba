//! oai_marc, the XML of MARC in the days of OAI-PMH 1.1.
//!
//! Parts of the leader are attributes of the root, control fields stand in quotation marks, tags are numbers. It is only
//! read here: records of it are made by the crosswalk `marc21-oai_marc.map` and held to `oai_marc.model`.

use super::defect::Defect;
use super::record::{Dialect, Field, Leader, Record};
use super::xml::{Reader, data_field, not_marc, parse_tag};

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
