//! The ready-made part of a record: everything behind its header.
//!
//! XML of one record enters and the bytes that a response appends leave, and
//! back. It is made once, when a record is stored, and copied into every
//! response after that.

use quick_xml::Reader;
use quick_xml::events::Event;

/// What stands in the fragment of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The root element inside `metadata`.
    pub metadata: &'a str,
    /// The root element of each `about`.
    pub about: Vec<&'a str>,
}

/// Wraps the XML of a record in `metadata` and `about`.
///
/// Every text must be one well-formed element that declares its namespaces;
/// this is not checked here.
///
/// ```
/// use stook_oai::response::{content_fragment, split_fragment};
///
/// let fragment = content_fragment("<dc/>", &["<rights/>".to_owned()]);
/// assert_eq!(fragment, b"<metadata><dc/></metadata><about><rights/></about>");
/// let parts = split_fragment(&fragment).unwrap();
/// assert_eq!((parts.metadata, parts.about), ("<dc/>", vec!["<rights/>"]));
/// ```
#[must_use]
pub fn content_fragment(metadata: &str, about: &[String]) -> Vec<u8> {
    let about_length: usize = about.iter().map(|about| about.len() + 15).sum();
    let mut out = Vec::with_capacity(metadata.len() + 21 + about_length);
    out.extend_from_slice(b"<metadata>");
    out.extend_from_slice(metadata.as_bytes());
    out.extend_from_slice(b"</metadata>");
    for about in about {
        append_about(&mut out, about);
    }
    out
}

/// How an about container ends.
pub const ABOUT_END: &[u8] = b"</about>";

/// Appends one more about container to a fragment.
pub fn append_about(fragment: &mut Vec<u8>, about: &str) {
    fragment.extend_from_slice(b"<about>");
    fragment.extend_from_slice(about.as_bytes());
    fragment.extend_from_slice(ABOUT_END);
}

/// Takes apart what [`content_fragment`] made; nothing for other bytes.
///
/// The XML inside may hold elements named `metadata` or `about` of its own,
/// so tags are counted, not searched.
#[must_use]
pub fn split_fragment(fragment: &[u8]) -> Option<Fragment<'_>> {
    let fragment = std::str::from_utf8(fragment).ok()?;
    let mut rest = fragment;
    let metadata = take_element(&mut rest, "<metadata>")?;
    let mut about = Vec::new();
    while !rest.is_empty() {
        about.push(take_element(&mut rest, "<about>")?);
    }
    Some(Fragment { metadata, about })
}

/// The inside of the element at the beginning of `rest`, which moves behind it.
fn take_element<'a>(rest: &mut &'a str, start_tag: &str) -> Option<&'a str> {
    if !rest.starts_with(start_tag) {
        return None;
    }
    let mut reader = Reader::from_reader(rest.as_bytes());
    let mut depth = 0_u32;
    loop {
        let before = usize::try_from(reader.buffer_position()).ok()?;
        match reader.read_event().ok()? {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.checked_sub(1)?,
            Event::Eof => return None,
            _ => {}
        }
        if depth == 0 {
            let after = usize::try_from(reader.buffer_position()).ok()?;
            let inside = rest.get(start_tag.len()..before)?;
            *rest = rest.get(after..)?;
            return Some(inside);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(fragment: &str) -> Option<(&str, Vec<&str>)> {
        split_fragment(fragment.as_bytes()).map(|parts| (parts.metadata, parts.about))
    }

    #[test]
    fn a_fragment_without_about_has_only_metadata() {
        assert_eq!(split("<metadata><a>1</a></metadata>"), Some(("<a>1</a>", vec![])));
    }

    #[test]
    fn elements_of_the_same_name_inside_do_not_confuse() {
        let inner = "<metadata><metadata/></metadata><!-- </metadata> -->";
        let about = "<about t='>'><![CDATA[</about>]]></about>".to_owned();
        let fragment = content_fragment(inner, &[about.clone(), about.clone()]);
        let parts = split_fragment(&fragment).unwrap();
        assert_eq!(parts.metadata, inner);
        assert_eq!(parts.about, [about.as_str(), about.as_str()]);
    }

    #[test]
    fn other_bytes_are_not_a_fragment() {
        for bad in [
            "",
            "<a/>",
            "<metadata/>",
            "<metadata><a>",
            "<metadata><a></metadata>",
            "<metadata><a/></metadata>x",
            "<about><a/></about>",
            "<metadata><a/></metadata><metadata/>",
        ] {
            assert_eq!(split(bad), None, "{bad}");
        }
        assert!(split_fragment(b"<metadata>\xFF</metadata>").is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_split_or_refused(inside: Vec<u8>) {
            let _ = split_fragment(&[b"<metadata>", &inside[..], b"</metadata>"].concat());
        }
    }
}
