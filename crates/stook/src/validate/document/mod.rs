//! The body of an answer → a tree, and everything that is wrong with the XML itself.
//!
//! What is wrong is noted, then mended as far as that is possible without guessing: a document with a byte that is no
//! UTF-8 has that fault, and no other one for it.

mod answer;
mod tree;

use std::borrow::Cow;

use stook_metadata::clean;

pub(crate) use answer::{Header, Token};
pub(crate) use tree::{Element, Node};

/// The namespace of the protocol.
pub(crate) const OAI: &str = "http://www.openarchives.org/OAI/2.0/";
/// Of the attributes that name schemas.
pub(crate) const XSI: &str = stook_metadata::namespaces::XSI;

/// A body that was read.
#[derive(Debug)]
pub(crate) struct Document {
    /// The text of the tree: as it came, mended.
    pub(crate) text: String,
    /// The root, if there is a tree.
    pub(crate) root: Option<Element>,
    /// What is wrong with the XML itself.
    pub(crate) flaws: Vec<Flaw>,
}

/// Something that is wrong with the XML itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// There is nothing.
    Empty,
    /// Bytes that are no UTF-8, the first of them at an offset.
    NotUtf8(usize),
    /// A byte order mark.
    ByteOrderMark,
    /// No XML declaration, or not at the very beginning.
    NoDeclaration,
    /// A declaration that says something else than version 1.0 and UTF-8.
    Declaration(String),
    /// A document type declaration.
    Doctype,
    /// An entity that XML does not know by itself.
    Entity(String),
    /// Characters that XML 1.0 cannot carry: how many.
    Characters(usize),
    /// Not well formed.
    Malformed {
        /// From 1.
        line: usize,
        /// What is wrong there.
        reason: String,
        /// It ends in the middle.
        cut_off: bool,
    },
    /// Something behind the root element: its beginning.
    Trailing(String),
}

impl Document {
    /// Reads a body.
    pub(crate) fn read(bytes: &[u8]) -> Document {
        let mut flaws = Vec::new();
        if bytes.iter().all(u8::is_ascii_whitespace) {
            let text = String::new();
            flaws.push(Flaw::Empty);
            return Document {
                text,
                root: None,
                flaws,
            };
        }
        let text = decoded(bytes, &mut flaws);
        let text = without_preface(text, &mut flaws);
        let text = without_doctype(text, &mut flaws);
        let cleaned = clean::markup(&text);
        if cleaned.dropped > 0 {
            flaws.push(Flaw::Characters(cleaned.dropped));
        }
        let text = without_entities(cleaned.text, &mut flaws);
        let root = match tree::read(&text) {
            Ok(root) => {
                note_trailing(&text[root.span.end..], &mut flaws);
                Some(root)
            }
            Err(malformed) => {
                flaws.push(Flaw::Malformed {
                    line: line_of(&text, malformed.offset),
                    reason: malformed.reason,
                    cut_off: malformed.cut_off,
                });
                None
            }
        };
        Document { text, root, flaws }
    }

    /// The line on which an element begins.
    pub(crate) fn line(&self, element: &Element) -> usize {
        self.line_at(element.span.start)
    }

    /// The line of a byte of the text.
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        line_of(&self.text, offset)
    }

    /// An element as it is written.
    pub(crate) fn written(&self, element: &Element) -> &str {
        self.text.get(element.span.clone()).unwrap_or_default()
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// As text, whatever it takes.
fn decoded(bytes: &[u8], flaws: &mut Vec<Flaw>) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(error) => {
            let is_other = |encoding: &&encoding_rs::Encoding| *encoding != encoding_rs::UTF_8;
            let marked = encoding_rs::Encoding::for_bom(bytes)
                .map(|(encoding, _)| encoding)
                .filter(is_other);
            let declared = || encoding_rs::Encoding::for_label(declared_encoding(bytes)?.as_bytes()).filter(is_other);
            match (marked, declared()) {
                // What declares that it is something else is read as that, and told by its declaration.
                (None, Some(encoding)) => encoding.decode(bytes).0.into_owned(),
                (marked, _) => {
                    flaws.push(Flaw::NotUtf8(error.valid_up_to()));
                    match marked {
                        Some(encoding) => encoding.decode(bytes).0.into_owned(),
                        None => String::from_utf8_lossy(bytes).into_owned(),
                    }
                }
            }
        }
    }
}

fn declared_encoding(bytes: &[u8]) -> Option<String> {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    let declaration = start.strip_prefix("<?xml")?.split("?>").next()?;
    pseudo_attribute(declaration, "encoding").map(str::to_owned)
}

/// The value of `name="…"` in an XML declaration.
fn pseudo_attribute<'a>(declaration: &'a str, name: &str) -> Option<&'a str> {
    let behind = declaration
        .split_once(name)?
        .1
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let quote = behind.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    behind[1..].split(quote).next()
}

/// Without a byte order mark, blanks or a notice before the XML declaration.
fn without_preface(mut text: String, flaws: &mut Vec<Flaw>) -> String {
    if let Some(rest) = text.strip_prefix('\u{FEFF}') {
        flaws.push(Flaw::ByteOrderMark);
        text = rest.to_owned();
    }
    if !text.starts_with("<?xml") {
        flaws.push(Flaw::NoDeclaration);
        // A declaration further down would be one fault more for the same reason.
        if let Some(at) = text.find("<?xml ").filter(|at| text[..*at].trim().is_empty()) {
            text.drain(..at);
        }
        return text;
    }
    let declaration = text.split("?>").next().unwrap_or_default();
    let version = pseudo_attribute(declaration, "version").unwrap_or_default();
    let encoding = pseudo_attribute(declaration, "encoding");
    let is_utf8 = encoding.is_none_or(|encoding| encoding.eq_ignore_ascii_case("utf-8"));
    if version != "1.0" || !is_utf8 {
        flaws.push(Flaw::Declaration(format!("{declaration}?>")));
        // It was decoded already.
        let end = declaration.len();
        text.replace_range(..end, "<?xml version=\"1.0\"");
    }
    text
}

fn without_doctype(mut text: String, flaws: &mut Vec<Flaw>) -> String {
    let root = text.find("<!DOCTYPE");
    let Some(start) = root.filter(|at| !has_element(&text[..*at])) else {
        return text;
    };
    flaws.push(Flaw::Doctype);
    let (mut depth, mut end) = (0_u32, text.len());
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b'>' if depth == 0 => {
                end = at + 1;
                break;
            }
            _ => {}
        }
    }
    text.replace_range(start..end, "");
    text
}

/// Whether an element begins in a text.
fn has_element(text: &str) -> bool {
    let mut pieces = text.split('<').skip(1);
    pieces.any(|piece| piece.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}

/// With the ampersand of unknown entities escaped: they become text.
fn without_entities(text: Cow<'_, str>, flaws: &mut Vec<Flaw>) -> String {
    const KNOWN: [&str; 5] = ["amp", "lt", "gt", "quot", "apos"];
    let unknown = |at: usize| {
        let name = text[at + 1..].split(';').next()?;
        let is_name =
            name.len() < 40 && name.starts_with(char::is_alphabetic) && name.chars().all(char::is_alphanumeric);
        (is_name && !KNOWN.contains(&name) && text[at + 1 + name.len()..].starts_with(';')).then_some(name)
    };
    let found: Vec<usize> = text
        .match_indices('&')
        .filter(|(at, _)| unknown(*at).is_some() && !in_section(&text, *at))
        .map(|(at, _)| at)
        .collect();
    let Some(first) = found.first() else {
        return text.into_owned();
    };
    flaws.push(Flaw::Entity(format!("&{};", unknown(*first).unwrap_or_default())));
    let mut mended = String::with_capacity(text.len() + found.len() * 4);
    let mut from = 0;
    for at in found {
        mended.push_str(&text[from..at]);
        mended.push_str("&amp;");
        from = at + 1;
    }
    mended.push_str(&text[from..]);
    mended
}

/// Whether a place is in a CDATA section or a comment, where `&` is plain text.
fn in_section(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let is_inside = |open: &str, close: &str| before.rfind(open).is_some_and(|start| !before[start..].contains(close));
    is_inside("<![CDATA[", "]]>") || is_inside("<!--", "-->")
}

/// Only comments, instructions and blanks may stand behind the root.
fn note_trailing(mut rest: &str, flaws: &mut Vec<Flaw>) {
    loop {
        rest = rest.trim_start();
        let end = match rest {
            "" => return,
            _ if rest.starts_with("<!--") => rest.find("-->").map(|at| at + 3),
            _ if rest.starts_with("<?") && !rest.starts_with("<?xml ") => rest.find("?>").map(|at| at + 2),
            _ => None,
        };
        match end {
            Some(end) => rest = &rest[end..],
            None => return flaws.push(Flaw::Trailing(rest.chars().take(80).collect())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flaws(text: &str) -> Vec<Flaw> {
        Document::read(text.as_bytes()).flaws
    }

    #[test]
    fn a_good_document_has_no_flaw() {
        let good = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?style x?><!-- a --><a>&amp;<![CDATA[&nbsp;]]></a><!-- b -->\n";
        assert_eq!(flaws(good), []);
        assert_eq!(flaws("<?xml version='1.0'?><a/>"), []);
    }

    #[test]
    fn each_flaw_is_named_alone_and_the_tree_is_there_all_the_same() {
        let declared = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
        for (text, flaw) in [
            ("<a/>".to_owned(), Flaw::NoDeclaration),
            (format!("\u{FEFF}{declared}<a/>"), Flaw::ByteOrderMark),
            (format!("\n{declared}<a/>"), Flaw::NoDeclaration),
            (format!("{declared}<!DOCTYPE a [<!ENTITY x 'y>'>]><a/>"), Flaw::Doctype),
            (format!("{declared}<a>x&nbsp;y</a>"), Flaw::Entity("&nbsp;".into())),
            (format!("{declared}<a>\u{b}&#x1f;</a>"), Flaw::Characters(2)),
            (format!("{declared}<a/>text"), Flaw::Trailing("text".into())),
            (
                "<?xml version=\"1.1\" encoding=\"UTF-8\"?><a/>".to_owned(),
                Flaw::Declaration("<?xml version=\"1.1\" encoding=\"UTF-8\"?>".into()),
            ),
        ] {
            let document = Document::read(text.as_bytes());
            assert_eq!(document.flaws, [flaw], "{text}");
            assert!(document.root.is_some(), "{text}");
        }
    }

    #[test]
    fn bytes_of_another_encoding_are_read_if_it_is_declared() {
        let document = Document::read(b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>");
        assert_eq!(document.root.unwrap().text(), "é");
        assert!(
            matches!(document.flaws[..], [Flaw::Declaration(_)]),
            "{:?}",
            document.flaws
        );
    }

    #[test]
    fn what_is_utf_16_is_not_utf_8_whatever_it_declares() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>";
        let bytes: Vec<u8> = [0xff, 0xfe]
            .into_iter()
            .chain(text.encode_utf16().flat_map(u16::to_le_bytes))
            .collect();
        let document = Document::read(&bytes);
        assert_eq!(document.flaws, [Flaw::NotUtf8(0)]);
        assert!(document.root.is_some());
    }

    #[test]
    fn what_is_broken_says_where() {
        let document = Document::read(b"<?xml version='1.0'?>\n<a>\n<b></a>");
        assert!(matches!(
            &document.flaws[..],
            [Flaw::Malformed {
                line: 3,
                cut_off: false,
                ..
            }]
        ));
        assert!(matches!(
            flaws("<?xml version='1.0'?><a>")[..],
            [Flaw::Malformed { cut_off: true, .. }]
        ));
        assert_eq!(flaws(" \n"), [Flaw::Empty]);
    }
}
