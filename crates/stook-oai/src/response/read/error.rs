//! What can be wrong with a response, and where.

use std::io;

use super::tag::is_space;
use crate::types::Excerpt;

/// How much of a response the reader is willing to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// The largest entry (record, set, Identify …), in bytes.
    pub max_entry_bytes: u64,
    /// The deepest nesting of elements, the envelope included.
    pub max_depth: usize,
    /// The largest response, in bytes. Memory does not depend on it.
    pub max_response_bytes: u64,
}

impl Default for ReadLimits {
    /// 64 MiB for one entry, 256 elements deep, a response of any size.
    fn default() -> Self {
        Self {
            max_entry_bytes: 64 << 20,
            max_depth: 256,
            max_response_bytes: u64::MAX,
        }
    }
}

/// The most that an error keeps of the entry it is about.
pub(super) const MAX_KEPT_BYTES: usize = 64 << 10;

/// A fault in a response, and the byte at which it was noticed.
///
/// The error of a lenient reader counts bytes of the repaired text.
#[derive(Debug, thiserror::Error)]
#[error("byte {position}: {fault}")]
pub struct ReadError {
    /// Bytes from the beginning of the document.
    pub position: u64,
    /// What is wrong there.
    pub fault: ReadFault,
    can_continue: bool,
    entry: Option<Box<[u8]>>,
}

impl ReadError {
    /// A fault after which nothing can be read.
    pub(super) fn fatal(position: u64, fault: ReadFault) -> Self {
        Self {
            position,
            fault,
            can_continue: false,
            entry: None,
        }
    }

    /// A fault of one entry.
    pub(super) fn local(position: u64, fault: ReadFault) -> Self {
        Self {
            position,
            fault,
            can_continue: true,
            entry: None,
        }
    }

    /// Whether the rest of the document is readable: the fault costs one
    /// entry, and the reader stands behind it.
    #[must_use]
    pub fn can_continue(&self) -> bool {
        self.can_continue
    }

    /// Whether the response ended before it was complete: everything before
    /// the end was read, and asking again may help.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        match &self.fault {
            ReadFault::Truncated => true,
            ReadFault::Io(error) => error.kind() == io::ErrorKind::UnexpectedEof,
            _ => false,
        }
    }

    /// The XML of the entry that the fault costs, at most its first 64 KiB, as
    /// UTF-8.
    #[must_use]
    pub fn entry(&self) -> Option<&[u8]> {
        self.entry.as_deref()
    }

    /// What stands in the first `identifier` element of that entry, if it can
    /// be made out.
    #[must_use]
    pub fn identifier(&self) -> Option<String> {
        let text = String::from_utf8_lossy(self.entry()?);
        let mut rest = &*text;
        while let Some((_, after)) = rest.split_once('<') {
            rest = after;
            let (tag, content) = after.split_once('>')?;
            let name = tag.split(is_space).next().unwrap_or(tag);
            let local = name.split_once(':').map_or(name, |(_, local)| local);
            // Metadata has identifiers of its own kind.
            if local == "metadata" {
                return None;
            }
            if local == "identifier" {
                let value = content.split('<').next().unwrap_or(content).trim();
                let value = quick_xml::escape::unescape(value).ok()?;
                return (!value.is_empty()).then(|| value.into_owned());
            }
        }
        None
    }

    /// The same error, with the entry it is about.
    pub(super) fn about(mut self, entry: &[u8]) -> Self {
        if self.can_continue && self.entry.is_none() {
            self.entry = Some(entry[..entry.len().min(MAX_KEPT_BYTES)].into());
        }
        self
    }
}

/// What is wrong with a response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFault {
    /// The source failed.
    #[error("the response could not be read: {0}")]
    Io(io::Error),
    /// The source ended inside an element.
    #[error("the response ends in the middle")]
    Truncated,
    /// The source holds no element.
    #[error("the response is empty")]
    Empty,
    /// The document is something else, such as a web page.
    #[error(
        "this is not an OAI-PMH response: its root element is {} of {}",
        Excerpt(root),
        namespace_in_words(namespace)
    )]
    NotOaiPmh {
        /// The name of the root element.
        root: String,
        /// Its namespace, empty if it has none.
        namespace: String,
    },
    /// The document is a web page. Only a lenient reader knows it for one.
    #[error("this is a web page and not an OAI-PMH response{}", title_in_words(title.as_deref()))]
    Html {
        /// Its title.
        title: Option<String>,
    },
    /// The document is text without any element. Only a lenient reader looks
    /// for one.
    #[error("this is not XML: it begins with {}", Excerpt(.0))]
    NotXml(
        /// How it begins.
        String,
    ),
    /// The document is not well-formed XML.
    #[error("the XML is not well-formed: {0}")]
    NotWellFormed(String),
    /// The document says that it is encoded otherwise.
    #[error("the document declares the encoding {}, but a response must be UTF-8", Excerpt(.0))]
    Encoding(String),
    /// Bytes that are not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A character that XML 1.0 forbids.
    #[error("the character U+{:04X} is forbidden in XML", u32::from(*.0))]
    ForbiddenCharacter(char),
    /// A reference to an entity that nobody defined.
    #[error("the reference {} is not one of XML", Excerpt(.0))]
    UnknownReference(String),
    /// A prefix without a namespace.
    #[error("the prefix {} is not declared", Excerpt(.0))]
    UndeclaredPrefix(String),
    /// A document type definition, which a response must not have and which
    /// could be used to attack its reader.
    #[error("a document type (DOCTYPE) is not accepted")]
    Doctype,
    /// An entry beyond the limit.
    #[error("one entry has more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// A response beyond the limit.
    #[error("the response has more than {limit} bytes")]
    ResponseTooLarge {
        /// The limit.
        limit: u64,
    },
    /// Nesting beyond the limit.
    #[error("elements are nested more than {limit} deep")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// More namespaces in scope than any format needs.
    #[error("more than {limit} namespaces are declared")]
    TooManyNamespaces {
        /// The limit.
        limit: usize,
    },
    /// An element where the protocol has none of that name.
    #[error("{} is not expected inside {parent}", Excerpt(element))]
    UnexpectedElement {
        /// The name of the element.
        element: String,
        /// What it stands in.
        parent: &'static str,
    },
    /// Text between elements.
    #[error("text is not expected inside {parent}")]
    UnexpectedText {
        /// What it stands in.
        parent: &'static str,
    },
    /// Something that must be there is not.
    #[error("{parent} has no {element}")]
    Missing {
        /// What is missing.
        element: &'static str,
        /// What it should stand in.
        parent: &'static str,
    },
    /// Something that may be there once is there again.
    #[error("{parent} has more than one {element}")]
    Repeated {
        /// What is repeated.
        element: &'static str,
        /// What it stands in.
        parent: &'static str,
    },
    /// A value that does not obey its grammar.
    #[error("{element}: {problem}")]
    Value {
        /// The element or attribute.
        element: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
}

impl ReadFault {
    /// What the parser found, without its own preamble.
    pub(super) fn of_xml(error: &quick_xml::Error) -> Self {
        Self::NotWellFormed(match error {
            quick_xml::Error::Syntax(error) => error.to_string(),
            quick_xml::Error::IllFormed(error) => error.to_string(),
            error => error.to_string(),
        })
    }
}

fn title_in_words(title: Option<&str>) -> String {
    title.map_or_else(String::new, |title| format!(", titled {}", Excerpt(title)))
}

fn namespace_in_words(namespace: &str) -> String {
    if namespace.is_empty() {
        "no namespace".to_owned()
    } else {
        format!("the namespace {}", Excerpt(namespace))
    }
}
