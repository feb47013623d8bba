//! The about container that says where a harvested record comes from (guidelines on provenance).

use std::ops::Range;

use stook_oai::xml::{push_attribute_value, push_end, push_start, push_text};

const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/provenance";
/// The root's start tag, but for the declarations of a chain and its end.
const START: &str = "<provenance xmlns=\"http://www.openarchives.org/OAI/2.0/provenance\" \
    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/provenance \
    http://www.openarchives.org/OAI/2.0/provenance.xsd\"";

/// Where a record was found.
pub(super) struct Found<'a> {
    /// The source.
    pub(super) base_url: &'a str,
    /// The record's identifier there.
    pub(super) identifier: &'a str,
    /// Its datestamp there, as written.
    pub(super) datestamp: &'a str,
    /// The namespace of its metadata.
    pub(super) metadata_namespace: &'a str,
    /// When the answer that held it was made, as written.
    pub(super) harvest_date: &'a str,
}

/// The container, and where in it the harvest date stands. `earlier` is the origin's own provenance, which is nested.
pub(super) fn provenance(found: &Found<'_>, earlier: Option<&str>) -> (String, Range<usize>) {
    let chain = earlier.and_then(inside);
    let mut out = Vec::with_capacity(700);
    out.extend_from_slice(START.as_bytes());
    for (name, value) in chain.iter().flat_map(|chain| &chain.declarations) {
        out.push(b' ');
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        out.extend_from_slice(value.as_bytes());
    }
    out.extend_from_slice(b"><originDescription harvestDate=\"");
    let start = out.len();
    push_attribute_value(&mut out, found.harvest_date);
    let end = out.len();
    out.extend_from_slice(b"\" altered=\"false\">");
    for (element, text) in [
        ("baseURL", found.base_url),
        ("identifier", found.identifier),
        ("datestamp", found.datestamp),
        ("metadataNamespace", found.metadata_namespace),
    ] {
        push_start(&mut out, element);
        push_text(&mut out, text);
        push_end(&mut out, element);
    }
    if let Some(chain) = &chain {
        out.extend_from_slice(chain.content.as_bytes());
    }
    out.extend_from_slice(b"</originDescription></provenance>");
    // Nothing but UTF-8 was pushed.
    (String::from_utf8(out).unwrap_or_default(), start..end)
}

/// Whether an about container is one of these.
pub(super) fn is_provenance(about: &str) -> bool {
    root_tag(about).is_some_and(|tag| {
        let name = tag.split([' ', '\t', '\r', '\n', '>', '/']).next().unwrap_or_default();
        name.rsplit(':').next() == Some("provenance") && tag.contains(NAMESPACE)
    })
}

struct Chain<'a> {
    /// The prefixes that the content may use: `xmlns:p` and its quoted value.
    declarations: Vec<(&'a str, &'a str)>,
    content: &'a str,
}

/// The text of the root's start tag, without the angle brackets.
fn root_tag(about: &str) -> Option<&str> {
    let start = about.trim_start().strip_prefix('<')?;
    let mut quote = None;
    for (at, character) in start.char_indices() {
        match (quote, character) {
            (None, '>') => return Some(&start[..at]),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}

/// What stands inside a provenance container.
fn inside(about: &str) -> Option<Chain<'_>> {
    let tag = root_tag(about)?;
    let about = about.trim();
    let content = about.get(tag.len() + 2..about.rfind("</")?)?;
    let mut declarations = Vec::new();
    let mut rest = tag;
    while let Some(at) = rest.find("xmlns:") {
        let attribute = &rest[at..];
        let (name, value) = attribute.split_once('=')?;
        let (name, value) = (name.trim_end(), value.trim_start());
        let quote = value.chars().next()?;
        let end = value[1..].find(quote)? + 2;
        if name != "xmlns:xsi" {
            declarations.push((name, &value[..end]));
        }
        rest = &value[end..];
    }
    // Without a prefix the content is in the default namespace of its root, which must be ours.
    let own_default = tag.contains(&format!("xmlns=\"{NAMESPACE}\"")) || tag.contains(&format!("xmlns='{NAMESPACE}'"));
    let prefixed = tag.split([' ', '>']).next().is_some_and(|name| name.contains(':'));
    (own_default || prefixed).then_some(Chain { declarations, content })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Found<'static> {
        Found {
            base_url: "https://x.example/oai?a=1&b=2",
            identifier: "oai:x.example:1",
            datestamp: "2024-02-03",
            metadata_namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/",
            harvest_date: "2024-03-01T08:00:00Z",
        }
    }

    #[test]
    fn the_origin_is_told_and_the_volatile_part_is_the_date() {
        let (xml, volatile) = provenance(&found(), None);
        assert_eq!(&xml[volatile], "2024-03-01T08:00:00Z");
        assert!(xml.contains("<baseURL>https://x.example/oai?a=1&amp;b=2</baseURL>"));
        assert!(xml.contains("<datestamp>2024-02-03</datestamp>"));
        assert!(is_provenance(&xml));
        assert!(!is_provenance(
            "<rights xmlns=\"http://www.openarchives.org/OAI/2.0/rights/\"/>"
        ));
    }

    #[test]
    fn the_origins_own_provenance_is_nested_inside() {
        let (earlier, _) = provenance(&found(), None);
        let (xml, _) = provenance(&found(), Some(&earlier));
        assert_eq!(xml.matches("<originDescription ").count(), 2);
        assert_eq!(xml.matches("<provenance").count(), 1);
        assert!(xml.ends_with("</originDescription></originDescription></provenance>"));
    }

    #[test]
    fn prefixes_of_the_nested_part_stay_declared() {
        let earlier = format!(
            "<p:provenance xmlns:p='{NAMESPACE}'><p:originDescription harvestDate=\"2020-01-01\" altered=\"true\"/></p:provenance>"
        );
        let (xml, _) = provenance(&found(), Some(&earlier));
        assert!(xml.contains(&format!("xmlns:p='{NAMESPACE}'")), "{xml}");
        assert!(xml.contains("<p:originDescription "), "{xml}");
    }

    #[test]
    fn what_cannot_be_nested_is_left_out() {
        for odd in [
            "",
            "<provenance",
            "<provenance xmlns=\"http://other.example/\"><x/></provenance>",
        ] {
            let (xml, _) = provenance(&found(), Some(odd));
            assert_eq!(xml.matches("<originDescription ").count(), 1);
        }
    }
}
