//! Where one piece of markup ends and the next begins, in a stream of any size.
//!
//! This knows just enough XML to find tags and not be fooled by comments, CDATA sections and quotation marks; whether a
//! record is well-formed is decided later, on the record. Text passes by without being kept, unless it is recorded.

use std::io::{self, BufRead};

use crate::import::draft::fill_excerpt;

/// Longest tag that is believed outside a record.
const MAX_TAG: usize = 1 << 20;

/// A piece of markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A start tag; [`Pieces::tag`] has what is between the angle brackets.
    Start,
    /// A start tag that is its own end; the slash is not in [`Pieces::tag`].
    Empty,
    /// An end tag; [`Pieces::tag`] has its name.
    End,
    /// A document type declaration, and whether it declares anything itself.
    Doctype { declares: bool },
    /// Text, a comment, a CDATA section, a processing instruction.
    Other,
}

/// Why a stream of markup cannot be followed.
#[derive(Debug)]
pub(super) enum Lost {
    /// The stream failed.
    Unreadable(io::Error),
    /// The stream ends inside this.
    CutOff(&'static str),
    /// A tag is too long to be one.
    LongTag,
}

impl From<io::Error> for Lost {
    fn from(error: io::Error) -> Self {
        Lost::Unreadable(error)
    }
}

/// What is recorded of a record: all of it up to a limit.
#[derive(Debug)]
pub(super) struct Recording {
    pub(super) bytes: Vec<u8>,
    limit: usize,
    /// Whether there was more than the limit.
    pub(super) overflowed: bool,
}

impl Recording {
    fn push(&mut self, bytes: &[u8]) {
        self.overflowed |= self.bytes.len() + bytes.len() > self.limit;
        if self.overflowed {
            fill_excerpt(&mut self.bytes, bytes);
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }
}

/// Reads pieces from a stream.
pub(super) struct Pieces<R> {
    input: R,
    line: u64,
    tag: Vec<u8>,
    /// The line the last tag began on.
    tag_line: u64,
    recording: Option<Recording>,
}

impl<R: BufRead> Pieces<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            line: 1,
            tag: Vec::new(),
            tag_line: 1,
            recording: None,
        }
    }

    /// What is between the angle brackets of the last tag.
    pub(super) fn tag(&self) -> &[u8] {
        &self.tag
    }

    /// The line being read.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Counts lines from this one on.
    pub(super) fn set_line(&mut self, line: u64) {
        self.line = line;
    }

    /// The line the last tag began on.
    pub(super) fn tag_line(&self) -> u64 {
        self.tag_line
    }

    /// Records from the last tag on.
    pub(super) fn record(&mut self, piece: Piece, limit: usize) {
        let mut recording = Recording {
            bytes: Vec::new(),
            limit,
            overflowed: false,
        };
        recording.push(b"<");
        recording.push(&self.tag);
        recording.push(if piece == Piece::Empty { b"/>" } else { b">" });
        self.recording = Some(recording);
    }

    /// What was recorded since [`record`](Self::record).
    pub(super) fn recorded(&mut self) -> Option<Recording> {
        self.recording.take()
    }

    /// The next piece, `None` at the end of the stream.
    pub(super) fn next(&mut self) -> Result<Option<Piece>, Lost> {
        let Some(first) = self.peek()? else { return Ok(None) };
        if first != b'<' {
            self.pass_until(|byte| byte == b'<')?;
            return Ok(Some(Piece::Other));
        }
        self.tag_line = self.line;
        self.advance(1)?;
        match self.peek()? {
            Some(b'!') => self.exclamation().map(Some),
            Some(b'?') => {
                self.pass_through(b"?>", "a processing instruction")?;
                Ok(Some(Piece::Other))
            }
            Some(b'/') => {
                self.advance(1)?;
                self.read_tag()?;
                self.tag.truncate(self.tag.trim_ascii_end().len());
                Ok(Some(Piece::End))
            }
            Some(byte) if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || !byte.is_ascii() => {
                let whole = self.read_tag()?;
                if !whole {
                    return Ok(Some(Piece::Other));
                }
                if self.tag.last() == Some(&b'/') {
                    self.tag.pop();
                    return Ok(Some(Piece::Empty));
                }
                Ok(Some(Piece::Start))
            }
            // A bare "<" in text: broken, but the check of the record will say so.
            Some(_) => Ok(Some(Piece::Other)),
            None => Err(Lost::CutOff("a tag")),
        }
    }

    /// Reads what begins with `<!`.
    fn exclamation(&mut self) -> Result<Piece, Lost> {
        self.advance(1)?;
        match self.peek()? {
            Some(b'-') => {
                self.advance(1)?;
                self.pass_through(b"-->", "a comment")?;
                Ok(Piece::Other)
            }
            Some(b'[') => {
                self.pass_through(b"]]>", "a CDATA section")?;
                Ok(Piece::Other)
            }
            _ => self.doctype(),
        }
    }

    fn doctype(&mut self) -> Result<Piece, Lost> {
        let mut declares = false;
        loop {
            self.pass_until(|byte| matches!(byte, b'>' | b'['))?;
            match self.peek()? {
                Some(b'[') => {
                    declares = true;
                    self.pass_until(|byte| byte == b']')?;
                }
                Some(_) => {
                    self.advance(1)?;
                    return Ok(Piece::Doctype { declares });
                }
                None => return Err(Lost::CutOff("a document type declaration")),
            }
        }
    }

    /// Reads a tag up to and over its `>`. Returns whether it is whole: a `<` inside cannot belong to it.
    fn read_tag(&mut self) -> Result<bool, Lost> {
        self.tag.clear();
        let mut quote = None;
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                return Err(Lost::CutOff("a tag"));
            }
            let mut end = None;
            for (at, &byte) in available.iter().enumerate() {
                match (byte, quote) {
                    (b'<', _) => end = Some((at, false)),
                    (b'>', None) => end = Some((at, true)),
                    (b'"' | b'\'', None) => quote = Some(byte),
                    (_, Some(open)) if byte == open => quote = None,
                    _ => {}
                }
                if end.is_some() {
                    break;
                }
            }
            let length = end.map_or(available.len(), |(at, _)| at);
            self.tag.extend_from_slice(&available[..length]);
            let whole = end.map(|(_, whole)| whole);
            self.advance(length + usize::from(whole == Some(true)))?;
            if let Some(whole) = whole {
                return Ok(whole);
            }
            if self.tag.len() > MAX_TAG {
                return Err(Lost::LongTag);
            }
        }
    }

    /// Passes over everything up to a byte that ends it, or the end of the stream.
    fn pass_until(&mut self, ends: impl Fn(u8) -> bool) -> Result<(), Lost> {
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                return Ok(());
            }
            let end = available.iter().position(|&byte| ends(byte));
            let length = end.unwrap_or(available.len());
            self.advance(length)?;
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// Passes over everything up to and over a closing text of two or three bytes ending in `>`.
    fn pass_through(&mut self, closing: &[u8], what: &'static str) -> Result<(), Lost> {
        let mut last = [0; 3];
        loop {
            let Some(byte) = self.peek()? else {
                return Err(Lost::CutOff(what));
            };
            last = [last[1], last[2], byte];
            self.advance(1)?;
            if last.ends_with(closing) {
                return Ok(());
            }
            if byte != b'>' && !closing.contains(&byte) {
                let plain = |byte: u8| closing.contains(&byte);
                self.pass_until(plain)?;
                last = [0; 3];
            }
        }
    }

    fn peek(&mut self) -> Result<Option<u8>, Lost> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    /// Steps over bytes that are in the buffer: counts their lines and records them.
    fn advance(&mut self, length: usize) -> Result<(), Lost> {
        let available = self.input.fill_buf()?;
        let passed = &available[..length.min(available.len())];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count() as u64;
        if let Some(recording) = &mut self.recording {
            recording.push(passed);
        }
        let length = passed.len();
        self.input.consume(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(xml: &str) -> Vec<String> {
        // A tiny buffer, so that everything is met at the edge of one.
        let mut pieces = Pieces::new(io::BufReader::with_capacity(3, xml.as_bytes()));
        let mut found = Vec::new();
        loop {
            match pieces.next() {
                Ok(Some(Piece::Other)) => {}
                Ok(Some(piece @ Piece::Doctype { .. })) => found.push(format!("{piece:?}")),
                Ok(Some(piece)) => found.push(format!("{piece:?} {}", String::from_utf8_lossy(pieces.tag()))),
                Ok(None) => return found,
                Err(lost) => {
                    found.push(format!("{lost:?}"));
                    return found;
                }
            }
        }
    }

    #[test]
    fn tags_are_found_and_nothing_else_is_taken_for_one() {
        assert_eq!(
            pieces("<?xml?><!-- <a> --><a b='>' c=\"/>\">x<![CDATA[<b>]]>]]><é/><d /></a >"),
            ["Start a b='>' c=\"/>\"", "Empty é", "Empty d ", "End a"]
        );
        assert_eq!(pieces("a < b <1> & c"), Vec::<String>::new());
    }

    #[test]
    fn closing_marks_are_found_after_false_ones() {
        assert_eq!(pieces("<!-- - -- --- --><a/>"), ["Empty a"]);
        assert_eq!(pieces("<![CDATA[ ] ]] ]]]]><a/>"), ["Empty a"]);
        assert_eq!(pieces("<?p ? ??><a/>"), ["Empty a"]);
    }

    #[test]
    fn a_tag_broken_by_another_is_dropped() {
        assert_eq!(pieces("<a title=\"x><b>y</b>"), ["Start b", "End b"]);
    }

    #[test]
    fn document_types_tell_whether_they_declare_anything() {
        assert_eq!(
            pieces("<!DOCTYPE a SYSTEM 'b.dtd'><a/>"),
            ["Doctype { declares: false }", "Empty a"]
        );
        assert_eq!(
            pieces("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"),
            ["Doctype { declares: true }", "Empty a"]
        );
    }

    #[test]
    fn a_stream_that_ends_inside_markup_is_cut_off() {
        for xml in [
            "<a",
            "<a b='c",
            "<",
            "</a",
            "<!-- x --",
            "<![CDATA[x]]",
            "<?x",
            "<!DOCTYPE a",
        ] {
            assert!(pieces(xml).last().unwrap().starts_with("CutOff"), "{xml}");
        }
    }

    #[test]
    fn what_is_recorded_is_the_text_of_the_record() {
        let xml = "<x>\n<a b='1'>t<!-- c --><d/>&amp;</a>\n</x>";
        let mut pieces = Pieces::new(io::BufReader::with_capacity(3, xml.as_bytes()));
        while pieces.tag() != b"a b='1'" {
            pieces.next().unwrap();
        }
        assert_eq!(pieces.tag_line(), 2);
        pieces.record(Piece::Start, 1000);
        while pieces.next().unwrap() != Some(Piece::End) {}
        let recording = pieces.recorded().unwrap();
        assert_eq!(
            String::from_utf8(recording.bytes).unwrap(),
            "<a b='1'>t<!-- c --><d/>&amp;</a>"
        );
        assert!(!recording.overflowed);
    }
}
