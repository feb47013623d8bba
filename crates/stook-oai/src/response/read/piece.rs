//! The text of a captured element, piece by piece.
//!
//! The outline has made sure that tags open and close each other; what each
//! piece may hold is checked here and, for start tags, in [`Tag`](super::tag).

use super::error::ReadFault;

/// What stands at the beginning of some text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A start tag: what stands between `<` and `>` or `/>`.
    Start { inside: &'a str, is_empty: bool },
    /// An end tag.
    End,
    /// Text without references.
    Text(&'a str),
    /// What stands between `&` and `;`.
    Reference(&'a str),
    /// A comment or a processing instruction.
    Ignored,
}

/// The first piece and its length in bytes.
pub(super) fn first(text: &str) -> Result<(Piece<'_>, usize), ReadFault> {
    match text.as_bytes().first() {
        Some(b'<') => markup(text),
        Some(b'&') => reference(text),
        Some(_) => plain(text),
        None => Err(ReadFault::Truncated),
    }
}

fn plain(text: &str) -> Result<(Piece<'_>, usize), ReadFault> {
    let length = memchr::memchr2(b'<', b'&', text.as_bytes()).unwrap_or(text.len());
    let text = &text[..length];
    if memchr::memchr(b']', text.as_bytes()).is_some() && text.contains("]]>") {
        return Err(ill_formed("\"]]>\" in text must be written as \"]]&gt;\""));
    }
    Ok((Piece::Text(text), length))
}

fn reference(text: &str) -> Result<(Piece<'_>, usize), ReadFault> {
    let inside = &text[1..];
    match memchr::memchr3(b';', b'&', b'<', inside.as_bytes()) {
        Some(length) if inside.as_bytes()[length] == b';' => Ok((Piece::Reference(&inside[..length]), length + 2)),
        _ => Err(ill_formed("a bare & must be written as &amp;")),
    }
}

fn markup(text: &str) -> Result<(Piece<'_>, usize), ReadFault> {
    let hidden = |start: &str, end: &str| {
        let inside = text.strip_prefix(start)?;
        let length = memchr::memmem::find(inside.as_bytes(), end.as_bytes())?;
        Some((&inside[..length], start.len() + length + end.len()))
    };
    match text.as_bytes().get(1) {
        Some(b'/') => {
            let end = memchr::memchr(b'>', text.as_bytes()).ok_or(ReadFault::Truncated)?;
            Ok((Piece::End, end + 1))
        }
        Some(b'?') => {
            let (inside, length) = hidden("<?", "?>").ok_or(ReadFault::Truncated)?;
            let target = inside.split_ascii_whitespace().next();
            if target == Some("xml") {
                return Err(ill_formed("the XML declaration stands inside an element"));
            }
            Ok((Piece::Ignored, length))
        }
        Some(b'!') if text.starts_with("<!--") => {
            let (inside, length) = hidden("<!--", "-->").ok_or(ReadFault::Truncated)?;
            if inside.contains("--") || inside.ends_with('-') {
                return Err(ill_formed("a comment holds \"--\""));
            }
            Ok((Piece::Ignored, length))
        }
        Some(b'!') if text.starts_with("<![CDATA[") => {
            let (inside, length) = hidden("<![CDATA[", "]]>").ok_or(ReadFault::Truncated)?;
            Ok((Piece::Text(inside), length))
        }
        Some(b'!') => Err(ReadFault::Doctype),
        Some(_) => {
            let end = tag_end(text.as_bytes()).ok_or(ReadFault::Truncated)?;
            let inside = &text[1..end];
            let (inside, is_empty) = match inside.strip_suffix('/') {
                Some(inside) => (inside, true),
                None => (inside, false),
            };
            Ok((Piece::Start { inside, is_empty }, end + 1))
        }
        None => Err(ReadFault::Truncated),
    }
}

/// Where the `>` of a tag is: the first that no quotes hide.
fn tag_end(tag: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', &tag[at..])?;
        match tag[at] {
            b'>' => return Some(at),
            quote => at += memchr::memchr(quote, &tag[at + 1..])? + 2,
        }
    }
}

fn ill_formed(what: &str) -> ReadFault {
    ReadFault::NotWellFormed(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(inside: &str, is_empty: bool) -> Piece<'_> {
        Piece::Start { inside, is_empty }
    }

    #[test]
    fn pieces_end_where_the_next_begins() {
        for (text, expected, length) in [
            ("<a>b", start("a", false), 3),
            ("<a b='>' c=\"/>'\"/>d", start("a b='>' c=\"/>'\"", true), 18),
            ("</a >b", Piece::End, 5),
            ("é]] ><", Piece::Text("é]] >"), 6),
            ("b&amp;", Piece::Text("b"), 1),
            ("&#233;x", Piece::Reference("#233"), 6),
            ("<!-- <a> - -->b", Piece::Ignored, 14),
            ("<?xml-stylesheet ?> ?>", Piece::Ignored, 19),
            ("<![CDATA[</a>&]]]>]]>", Piece::Text("</a>&]"), 18),
        ] {
            assert_eq!(first(text).unwrap(), (expected, length), "{text}");
        }
    }

    #[test]
    fn pieces_that_are_not_well_formed_are_refused() {
        for bad in [
            "a]]>b",
            "&",
            "&amp &lt;",
            "&a<b;",
            "<!-- a -- b -->",
            "<!-- a --->",
            "<?xml version='1.0'?>",
            "<!DOCTYPE a>",
            "<!a>",
        ] {
            assert!(first(bad).is_err(), "{bad}");
        }
        for cut in ["", "<", "<a", "<a b='>", "</a", "<!-- ", "<![CDATA[]]", "<?a"] {
            assert!(matches!(first(cut), Err(ReadFault::Truncated)), "{cut}");
        }
    }
}
