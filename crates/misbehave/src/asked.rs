//! The log: what was asked of a source and what it did.

use std::time::Instant;

use crate::fault::Fault;

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When it had been read.
    pub at: Instant,
    /// `GET` or `POST`.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query as it was sent, or the body of a POST.
    pub query: String,
    /// The value of `verb`; empty if there is none.
    pub verb: String,
    /// The headers as they were sent.
    pub headers: Vec<(String, String)>,
    /// The status of the answer; 0 if none was sent.
    pub status: u16,
    /// The faults that were applied.
    pub faults: Vec<Fault>,
}

impl Asked {
    /// The value of a header; case does not count.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// The value of a header among many.
pub(crate) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let named = headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
    named.map(|(_, value)| value.as_str())
}
