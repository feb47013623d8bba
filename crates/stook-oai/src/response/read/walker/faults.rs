//! The faults that only the walk can describe.

use std::io::BufRead;

use super::super::error::{ReadError, ReadFault};
use super::{Walker, as_text};
use crate::response::repair::Tolerance;

/// How much of a web page is searched for its title.
const PAGE_BYTES: usize = 4 << 10;

impl<R: BufRead> Walker<R> {
    /// Whether nothing but a byte order mark stands before the last event.
    pub(in super::super) fn is_at_start(&self) -> bool {
        self.start == 0
    }

    pub(in super::super) fn text_before_root(&self) -> ReadError {
        self.fatal(ReadFault::NotWellFormed("the document begins with text".to_owned()))
    }

    pub(in super::super) fn unexpected_text(&self, parent: &'static str) -> ReadError {
        ReadError::local(self.start, ReadFault::UnexpectedText { parent })
    }

    pub(in super::super) fn missing(&self, element: &'static str, parent: &'static str) -> ReadError {
        ReadError::local(self.start, ReadFault::Missing { element, parent })
    }

    /// Leaves out the element that the last step opened.
    pub(in super::super) fn skip_unexpected(&mut self, parent: &'static str) -> ReadError {
        let element = self.qualified_name().to_owned();
        match self.capture() {
            Err(error) => error,
            Ok(()) => {
                let fault = ReadFault::UnexpectedElement { element, parent };
                ReadError::local(self.start, fault).about(&self.buffer)
            }
        }
    }

    /// Notes that the element last opened is not in the namespace of the
    /// protocol, though its name is one of it.
    pub(in super::super) fn note_namespace(&mut self) {
        let name = self.qualified_name();
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let uri = self.scope.find(prefix).map(|index| self.scope.uri(index));
        let tolerance = match uri {
            None | Some("") => Tolerance::MissingNamespace,
            Some(_) => Tolerance::ForeignNamespace,
        };
        self.leniency.tolerates_once(tolerance);
    }

    /// The text that the last step met.
    pub(in super::super) fn text(&self) -> &str {
        as_text(&self.buffer)
    }

    /// The fault of meeting a web page, with its title if that comes soon.
    pub(in super::super) fn html(&mut self) -> ReadError {
        let position = self.start;
        let source = self.reader.get_mut();
        source.allow(u64::MAX);
        while self.buffer.len() < PAGE_BYTES {
            match source.fill_buf() {
                Ok([]) | Err(_) => break,
                Ok(available) => {
                    let length = available.len().min(PAGE_BYTES);
                    self.buffer.extend_from_slice(&available[..length]);
                    source.consume(length);
                }
            }
        }
        let title = title_in(&String::from_utf8_lossy(&self.buffer));
        ReadError::fatal(position, ReadFault::Html { title })
    }

    pub(in super::super) fn not_oai_pmh(&self) -> ReadError {
        let name = self.qualified_name();
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let namespace = self.scope.find(prefix).map(|index| self.scope.uri(index));
        let namespace = namespace.unwrap_or_default().to_owned();
        self.fatal(ReadFault::NotOaiPmh {
            root: self.local_name().to_owned(),
            namespace,
        })
    }

    pub(in super::super) fn second_root(&self) -> ReadError {
        let fault = "there is another element behind the root element".to_owned();
        self.fatal(ReadFault::NotWellFormed(fault))
    }

    pub(in super::super) fn late_declaration(&self) -> ReadError {
        let fault = "the XML declaration does not stand at the beginning".to_owned();
        self.fatal(ReadFault::NotWellFormed(fault))
    }

    pub(in super::super) fn empty(&self) -> ReadError {
        self.fatal(ReadFault::Empty)
    }

    pub(in super::super) fn not_xml(&self, beginning: String) -> ReadError {
        self.fatal(ReadFault::NotXml(beginning))
    }

    pub(super) fn fatal(&self, fault: ReadFault) -> ReadError {
        ReadError::fatal(self.start, fault)
    }
}

pub(super) fn is_doctype_of_html(doctype: &[u8]) -> bool {
    let name = doctype.get("<!DOCTYPE".len()..).unwrap_or_default().trim_ascii_start();
    name.get(..4).is_some_and(|name| name.eq_ignore_ascii_case(b"html"))
}

/// The title of a web page.
fn title_in(page: &str) -> Option<String> {
    let folded = page.to_ascii_lowercase();
    let start = folded.find("<title")?;
    let start = start + folded[start..].find('>')? + 1;
    let end = folded[start..].find('<').map_or(page.len(), |end| start + end);
    let words: Vec<&str> = page[start..end].split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}
