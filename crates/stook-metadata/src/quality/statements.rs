//! The statements of an `oai_dc` record, as cheaply as they can be had.
//!
//! Every import goes through this for every record, so there is no tree. The record has passed the check at the door:
//! it is well formed and holds nothing but the fifteen elements. What is not so makes no statement, and no panic.

use std::borrow::Cow;

use crate::dublin_core::Element;
use crate::find::find;
use crate::scan::{split_at_colon, unescape};

/// The elements of a record with their values, in its order: blanks at the ends dropped, lines put into one.
pub(super) struct Statements<'r> {
    rest: &'r str,
}

impl<'r> Statements<'r> {
    pub(super) fn of(record: &'r str) -> Statements<'r> {
        Statements { rest: record }
    }
}

impl<'r> Iterator for Statements<'r> {
    type Item = (Element, Cow<'r, str>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = find(self.rest.as_bytes(), |byte| byte == b'<')?;
            let markup = &self.rest[at..];
            if let Some(after) = past_other_markup(markup) {
                self.rest = after;
                continue;
            }
            let (tag, after) = past_tag(markup)?;
            self.rest = after;
            let Some(element) = element_of(tag) else { continue };
            if tag.ends_with('/') {
                return Some((element, Cow::Borrowed("")));
            }
            let (value, after) = content(after)?;
            self.rest = after;
            return Some((element, value));
        }
    }
}

/// What comes after a comment, an instruction or an end tag, if one is here.
fn past_other_markup(markup: &str) -> Option<&str> {
    let end = match markup.as_bytes().get(1)? {
        // As nearly always, and the name is short.
        b'/' => {
            let end = markup.bytes().position(|byte| byte == b'>');
            return Some(end.map_or("", |at| &markup[at + 1..]));
        }
        b'!' if markup.starts_with("<!--") => "-->",
        b'!' if markup.starts_with("<![CDATA[") => "]]>",
        b'?' => "?>",
        _ => return None,
    };
    Some(markup.find(end).map_or("", |at| &markup[at + end.len()..]))
}

/// The inside of a start tag, and what comes after it. A `>` in a value is none of the tag's end.
fn past_tag(markup: &str) -> Option<(&str, &str)> {
    let bytes = markup.as_bytes();
    let is_special = |byte: &u8| matches!(byte, b'>' | b'"' | b'\'');
    let mut at = 1;
    loop {
        // Byte by byte: the name of an element is short, and nearly always the whole tag.
        at += bytes.get(at..)?.iter().position(is_special)?;
        let sign = bytes[at];
        if sign == b'>' {
            return Some((&markup[1..at], &markup[at + 1..]));
        }
        at += 1;
        at += find(bytes.get(at..)?, |byte| byte == sign)? + 1;
    }
}

fn element_of(tag: &str) -> Option<Element> {
    let is_end = |byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'/');
    let name = tag.bytes().position(is_end).map_or(tag, |end| &tag[..end]);
    Element::from_local_name(split_at_colon(name).map_or(name, |(_, local)| local))
}

/// The text up to the end tag, and what comes after that.
fn content(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let at = find(text.as_bytes(), |byte| byte == b'<')?;
    let (raw, markup) = text.split_at(at);
    if markup.starts_with("</") {
        return Some((in_one_line(unescape(raw)), past_other_markup(markup)?));
    }
    let mut all = String::new();
    let mut rest = text;
    loop {
        let (raw, markup) = rest.split_at(find(rest.as_bytes(), |byte| byte == b'<')?);
        all.push_str(&unescape(raw));
        if let Some(section) = markup.strip_prefix("<![CDATA[") {
            all.push_str(section.split_once("]]>")?.0);
        }
        rest = past_other_markup(markup)?;
        if markup.starts_with("</") {
            return Some((in_one_line(Cow::Owned(all)), rest));
        }
    }
}

/// As mappings read values, so that what is offered for a value finds it.
fn in_one_line(text: Cow<'_, str>) -> Cow<'_, str> {
    if find(text.as_bytes(), |byte| matches!(byte, b'\n' | b'\r')).is_some() {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        return Cow::Owned(lines.join(" "));
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crosswalk::tree;

    const RECORD: &str = "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/'\n \
        xmlns:dc='http://purl.org/dc/elements/1.1/' note='a>b'><!-- <dc:title>no</dc:title> -->\n\
        <dc:title xml:lang=\"de\"> Karten &amp; Pläne\n   der Stadt </dc:title><dc:creator/>\
        <dc:subject ></dc:subject><dc:subject><![CDATA[a < b]]> &lt; c<!-- x --> d</dc:subject><?x y?>\
        <date xmlns=\"http://purl.org/dc/elements/1.1/\">2024</date></oai_dc:dc>";

    fn read(record: &str) -> Vec<(String, String)> {
        Statements::of(record)
            .map(|(element, value)| (element.as_str().to_owned(), value.into_owned()))
            .collect()
    }

    #[test]
    fn values_are_read_as_mappings_read_them() {
        let root = tree::Element::read(RECORD).unwrap();
        let by_tree: Vec<_> = root
            .elements()
            .map(|element| (element.local.to_owned(), element.text().into_owned()))
            .collect();
        assert_eq!(read(RECORD), by_tree);
        assert_eq!(by_tree[0].1, "Karten & Pläne der Stadt");
        assert_eq!(by_tree[3].1, "a < b < c d");
    }

    #[test]
    fn whatever_breaks_off_is_read_up_to_there() {
        for end in (0..RECORD.len()).filter(|&end| RECORD.is_char_boundary(end)) {
            assert!(read(&RECORD[..end]).len() <= 5);
        }
        for broken in [
            "<",
            "<dc:title",
            "<dc:title>",
            "<dc:title a='>",
            "<!",
            "<?",
            "</",
            "a<b>c",
            "<dc:title><x>y",
        ] {
            assert!(read(broken).is_empty(), "{broken}");
        }
    }
}
