//! Where an element ends, found in bytes that arrive piece by piece.
//!
//! Only the outline of the XML is looked at: tags that open and close each
//! other, and what hides tags. Whether the rest is well-formed is asked later,
//! of the captured element.

use std::ops::Range;

use quick_xml::errors::{IllFormedError, SyntaxError};

use super::error::ReadFault;

/// The elements open inside an element that is being captured.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// Where the names of the open elements stand, the captured one first.
    names: Vec<Range<usize>>,
    max_depth: usize,
    state: State,
    /// Where the markup at hand begins.
    token: usize,
    /// How far the bytes have been looked at.
    at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// Behind `<`.
    Markup,
    /// In a start tag, outside of quotes or inside of these.
    StartTag(Option<u8>),
    EndTag,
    /// In something that ends with these bytes.
    Hidden(&'static [u8]),
}

/// A fault in the outline, and where.
#[derive(Debug)]
pub(super) struct Break {
    pub(super) offset: usize,
    pub(super) fault: ReadFault,
}

impl Outline {
    /// Begins behind a start tag, which is all there is yet. At most `depth`
    /// elements may be open at a time.
    pub(super) fn begin(&mut self, start_tag: &[u8], max_depth: usize) {
        self.names.clear();
        self.names.push(name_at(start_tag, 1));
        self.max_depth = max_depth;
        self.state = State::Text;
        self.at = start_tag.len();
    }

    /// Looks at the bytes that were added to `bytes`; where the end tag of the
    /// captured element begins, if it is among them.
    pub(super) fn find_end(&mut self, bytes: &[u8]) -> Result<Option<usize>, Break> {
        while self.at < bytes.len() {
            let rest = &bytes[self.at..];
            let found = match self.state {
                State::Text => match memchr::memchr(b'<', rest) {
                    Some(offset) => {
                        self.token = self.at + offset;
                        self.state = State::Markup;
                        Some(self.token + 1)
                    }
                    None => None,
                },
                State::Markup => match self.begin_markup(bytes)? {
                    Some(behind) => Some(behind),
                    // Too little to tell; it will be looked at again.
                    None => return Ok(None),
                },
                State::StartTag(None) => match memchr::memchr3(b'>', b'"', b'\'', rest) {
                    Some(offset) if rest[offset] == b'>' => {
                        self.open(bytes, self.at + offset)?;
                        Some(self.at + offset + 1)
                    }
                    Some(offset) => {
                        self.state = State::StartTag(Some(rest[offset]));
                        Some(self.at + offset + 1)
                    }
                    None => None,
                },
                State::StartTag(Some(quote)) => memchr::memchr(quote, rest).map(|offset| {
                    self.state = State::StartTag(None);
                    self.at + offset + 1
                }),
                State::EndTag => match memchr::memchr(b'>', rest) {
                    Some(offset) => {
                        if self.close(bytes, self.at + offset)? {
                            return Ok(Some(self.token));
                        }
                        Some(self.at + offset + 1)
                    }
                    None => None,
                },
                State::Hidden(end) => match memchr::memmem::find(rest, end) {
                    Some(offset) => {
                        self.state = State::Text;
                        Some(self.at + offset + end.len())
                    }
                    None => {
                        // The end may have begun.
                        self.at = self.at.max(bytes.len().saturating_sub(end.len() - 1));
                        return Ok(None);
                    }
                },
            };
            self.at = found.unwrap_or(bytes.len());
        }
        Ok(None)
    }

    /// Tells what kind of markup begins; where to look on.
    fn begin_markup(&mut self, bytes: &[u8]) -> Result<Option<usize>, Break> {
        const HIDING: [(&[u8], &[u8]); 3] = [(b"<?", b"?>"), (b"<!--", b"-->"), (b"<![CDATA[", b"]]>")];
        let markup = &bytes[self.token..];
        let Some(second) = markup.get(1) else {
            return Ok(None);
        };
        match second {
            b'/' => {
                self.state = State::EndTag;
                return Ok(Some(self.token + 2));
            }
            b'?' | b'!' => {}
            _ => {
                self.state = State::StartTag(None);
                return Ok(Some(self.token + 1));
            }
        }
        for (start, end) in HIDING {
            if markup.starts_with(start) {
                self.state = State::Hidden(end);
                return Ok(Some(self.token + start.len()));
            }
            if start.starts_with(markup) {
                return Ok(None);
            }
        }
        let doctype = b"<!DOCTYPE";
        let beginning = &markup[..markup.len().min(doctype.len())];
        if !doctype[..beginning.len()].eq_ignore_ascii_case(beginning) {
            let fault = ReadFault::NotWellFormed(SyntaxError::InvalidBangMarkup.to_string());
            return Err(self.broken(fault));
        }
        if beginning.len() < doctype.len() {
            return Ok(None);
        }
        Err(self.broken(ReadFault::Doctype))
    }

    /// A start tag ends at `end`.
    fn open(&mut self, bytes: &[u8], end: usize) -> Result<(), Break> {
        if self.names.len() == self.max_depth {
            let limit = self.max_depth;
            return Err(self.broken(ReadFault::TooDeep { limit }));
        }
        if bytes[end - 1] != b'/' {
            let start = self.token + 1;
            let inside = &bytes[start..end];
            let length = inside.iter().position(u8::is_ascii_whitespace).unwrap_or(inside.len());
            self.names.push(start..start + length);
        }
        self.state = State::Text;
        Ok(())
    }

    /// An end tag ends at `end`; whether it is that of the captured element.
    fn close(&mut self, bytes: &[u8], end: usize) -> Result<bool, Break> {
        let name = bytes[self.token + 2..end].trim_ascii_end();
        let expected = self.names.pop().map_or(&bytes[..0], |range| &bytes[range]);
        if name != expected {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            let mismatch = IllFormedError::MismatchedEndTag {
                expected: text(expected),
                found: text(name),
            };
            return Err(self.broken(ReadFault::NotWellFormed(mismatch.to_string())));
        }
        self.state = State::Text;
        Ok(self.names.is_empty())
    }

    fn broken(&self, fault: ReadFault) -> Break {
        Break {
            offset: self.token,
            fault,
        }
    }
}

/// The name of the tag whose name begins at `start`.
pub(super) fn name_at(bytes: &[u8], start: usize) -> Range<usize> {
    let rest = &bytes[start..];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    start..start + rest.iter().position(is_end).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(document: &str, step: usize) -> Result<Option<usize>, Break> {
        let start = document.find('>').unwrap() + 1;
        let mut outline = Outline::default();
        outline.begin(&document.as_bytes()[..start], 5);
        let mut length = start;
        while length < document.len() {
            length = (length + step).min(document.len());
            if let Some(end) = outline.find_end(&document.as_bytes()[..length])? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    #[test]
    fn the_end_tag_is_found_behind_whatever_hides_tags() {
        for document in [
            "<a>|</a>",
            "<a b='>'>x|</a >",
            "<a><a></a>|</a>",
            "<a><b c='</a>' d=\"'/>\"/><e/>|</a>",
            "<a><!-- </a> - -- --><?x </a> ?>|</a>",
            "<a><![CDATA[</a>]]]]>>|</a>",
            "<a><b ></b\n>|</a>",
        ] {
            let expected = document.find('|');
            let document = document.replace('|', "");
            let followed = format!("{document}</x></y>");
            for step in 1..20 {
                assert_eq!(end_of(&followed, step).unwrap(), expected, "{document} {step}");
            }
            let cut = &document[..document.len() - 1];
            assert_eq!(end_of(cut, 3).unwrap(), None, "{cut}");
        }
    }

    #[test]
    fn breaks_are_told_with_their_place() {
        for (document, place, message) in [
            ("<a><b></a>", 6, "expected `</b>`"),
            ("<a><b></c></b>", 6, "expected `</b>`"),
            ("<a>x<!DOCTYPE y></a>", 4, "DOCTYPE"),
            ("<a><!x></a>", 3, "bang"),
            ("<a><b><c><d><e><f>", 15, "5 deep"),
        ] {
            for step in 1..10 {
                let broken = end_of(document, step).unwrap_err();
                assert_eq!(broken.offset, place, "{document}");
                let text = broken.fault.to_string();
                assert!(text.contains(message) || message == "bang", "{document}: {text}");
            }
        }
    }
}
