//! Making the root stand alone: the only part of a record that is rewritten.
//!
//! Added to its start tag, where missing: the declarations it used to get from
//! its surroundings, and `xsi:schemaLocation` with the format's schema, which
//! the protocol demands inside the metadata part (§2.5, §3.4).

use std::fmt::Write;

use stook_oai::xml::push_attribute_value;

use crate::format::Format;
use crate::namespaces::{Namespaces, XSI};
use crate::scan::{Attribute, unescape};

use super::walk::{Walked, declared_prefix, split};

/// The fragment from the root's `<` to its last `>`, able to stand alone.
pub(super) fn stand_alone(xml: &str, walked: &Walked<'_>, around: &Namespaces, format: Option<&Format>) -> String {
    let mut added = String::new();
    let inherited = inherited(xml, walked, around);
    for (prefix, uri) in &inherited {
        push_declaration(&mut added, prefix, uri);
    }
    let location = format.and_then(|format| {
        let wanted = schema_location(walked, &inherited, format);
        if let SchemaLocation::Add { prefix, declare } = &wanted {
            if *declare {
                push_declaration(&mut added, prefix, XSI);
            }
            let _ = write!(added, " {prefix}:schemaLocation=\"");
            push_escaped(&mut added, &format!("{} {}", format.namespace, format.schema));
            added.push('"');
        }
        match wanted {
            SchemaLocation::Replace { attribute, value } => Some((attribute, value)),
            _ => None,
        }
    });

    let mut out = String::with_capacity(walked.end - walked.start + added.len() + 256);
    let mut from = walked.start;
    if let Some((attribute, value)) = &location {
        out.push_str(&xml[from..attribute.value_offset]);
        push_escaped(&mut out, value);
        from = attribute.value_offset + attribute.value.len();
    }
    out.push_str(&xml[from..walked.attributes_end]);
    out.push_str(&added);
    out.push_str(&xml[walked.attributes_end..walked.end]);
    out
}

/// Declarations of the surroundings that the fragment cannot do without.
fn inherited<'n>(xml: &str, walked: &Walked<'_>, around: &'n Namespaces) -> Vec<(&'n str, &'n str)> {
    let fragment = &xml[walked.start..walked.end];
    let mut inherited: Vec<_> = around
        .in_force()
        .filter(|(prefix, _)| !declares(walked, prefix))
        .filter(|(prefix, _)| {
            // A prefix can also stand in a value, as in xsi:type="dcterms:URI".
            walked.needed.contains(prefix) || (!prefix.is_empty() && fragment.contains(&format!("{prefix}:")))
        })
        .collect();
    inherited.reverse();
    inherited
}

fn declares(walked: &Walked<'_>, prefix: &str) -> bool {
    walked
        .attributes
        .iter()
        .any(|attribute| declared_prefix(attribute.name) == Some(prefix))
}

/// What has to happen so that the root names the format's schema.
enum SchemaLocation<'w> {
    /// It does already.
    Keep,
    /// There is no such attribute.
    Add { prefix: String, declare: bool },
    /// There is one that names something else.
    Replace {
        attribute: &'w Attribute<'w>,
        value: String,
    },
}

fn schema_location<'w>(walked: &'w Walked<'w>, inherited: &[(&str, &str)], format: &Format) -> SchemaLocation<'w> {
    let binding = |prefix: &str| {
        let own = walked
            .attributes
            .iter()
            .find(|one| declared_prefix(one.name) == Some(prefix));
        let outer = inherited.iter().find(|(known, _)| *known == prefix);
        own.map(|one| unescape(one.value).into_owned())
            .or(outer.map(|(_, uri)| (*uri).to_owned()))
    };
    let present = walked.attributes.iter().find(|attribute| {
        let (prefix, local) = split(attribute.name);
        local == "schemaLocation" && binding(prefix).as_deref() == Some(XSI)
    });
    if let Some(attribute) = present {
        return match replaced_location(&unescape(attribute.value), format) {
            None => SchemaLocation::Keep,
            Some(value) => SchemaLocation::Replace { attribute, value },
        };
    }
    let bound = walked.attributes.iter().find_map(|attribute| {
        let prefix = declared_prefix(attribute.name).filter(|prefix| !prefix.is_empty())?;
        (unescape(attribute.value) == XSI).then_some(prefix)
    });
    if let Some(prefix) = bound {
        return SchemaLocation::Add {
            prefix: prefix.to_owned(),
            declare: false,
        };
    }
    let mut prefix = "xsi".to_owned();
    while binding(&prefix).is_some_and(|uri| uri != XSI) {
        prefix.push('_');
    }
    let declare = binding(&prefix).is_none();
    SchemaLocation::Add { prefix, declare }
}

/// The value with the format's schema in it, `None` if it is there already.
///
/// A pair for the format's namespace is corrected rather than doubled: the
/// schema must equal the one ListMetadataFormats announces (§3.4).
fn replaced_location(value: &str, format: &Format) -> Option<String> {
    let words: Vec<&str> = value.split_ascii_whitespace().collect();
    let mut pairs: Vec<[&str; 2]> = words.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    if pairs.contains(&[&*format.namespace, &*format.schema]) {
        return None;
    }
    match pairs.iter_mut().find(|[namespace, _]| *namespace == format.namespace) {
        Some([_, location]) => *location = &format.schema,
        None => pairs.push([&*format.namespace, &*format.schema]),
    }
    Some(pairs.as_flattened().join(" "))
}

fn push_declaration(out: &mut String, prefix: &str, uri: &str) {
    out.push_str(" xmlns");
    if !prefix.is_empty() {
        out.push(':');
        out.push_str(prefix);
    }
    out.push_str("=\"");
    push_escaped(out, uri);
    out.push('"');
}

fn push_escaped(out: &mut String, value: &str) {
    let mut bytes = Vec::with_capacity(value.len() + 16);
    push_attribute_value(&mut bytes, value);
    out.push_str(&String::from_utf8_lossy(&bytes));
}
