//! Records wherever they are kept.
//!
//! Harvesters save what they received in many shapes: whole responses, bare
//! `record` elements, records under a root element of their own, or one
//! document after the other in one file. What enters is any of these; what
//! leaves is every `record` element of the protocol in it, at any depth.

use std::io::BufRead;

use super::entries;
use super::error::{ReadError, ReadLimits};
use super::walker::{Step, Walker};
use crate::types::Record;

/// Reads the records in a file, whatever surrounds them.
///
/// Only an element named `record` in the namespace of OAI-PMH is a record;
/// MARC has one of the same name. Text, XML declarations and further root
/// elements around records are passed over; inside a record the same rules
/// hold as in a response.
///
/// ```
/// use stook_oai::response::RecordsReader;
///
/// let saved = br#"<harvest><record xmlns="http://www.openarchives.org/OAI/2.0/">
///   <header><identifier>oai:example.org:1</identifier><datestamp>2002-06-01</datestamp></header>
///   <metadata><dc xmlns="http://example.org/dc"/></metadata>
/// </record></harvest>"#;
///
/// let mut records = RecordsReader::new(&saved[..]);
/// let record = records.next()?.unwrap();
/// assert_eq!(record.header.identifier.as_str(), "oai:example.org:1");
/// assert_eq!(records.next()?, None);
/// # Ok::<(), stook_oai::response::ReadError>(())
/// ```
#[derive(Debug)]
pub struct RecordsReader<R> {
    walker: Walker<R>,
    done: bool,
}

impl<R: BufRead> RecordsReader<R> {
    /// Reads with the usual limits.
    pub fn new(source: R) -> Self {
        Self::with_limits(source, ReadLimits::default())
    }

    /// Reads with limits of one's own.
    pub fn with_limits(source: R, limits: ReadLimits) -> Self {
        Self {
            walker: Walker::strict(source, limits),
            done: false,
        }
    }

    /// The next record; nothing at the end.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or one record is faulty. In the second
    /// case ([`ReadError::can_continue`]) the next call goes on behind that
    /// record; in the first there is nothing more.
    #[expect(clippy::should_implement_trait, reason = "an error need not be the end")]
    pub fn next(&mut self) -> Result<Option<Record>, ReadError> {
        let outcome = self.advance();
        if outcome.as_ref().is_err_and(|error| !error.can_continue()) {
            self.done = true;
        }
        outcome
    }

    /// Bytes read so far.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.walker.position()
    }

    fn advance(&mut self) -> Result<Option<Record>, ReadError> {
        while !self.done {
            match self.walker.step()? {
                Step::Open { oai: true } if self.walker.local_name() == "record" => {
                    let record = self.walker.read_element(|cursor| {
                        cursor.root()?;
                        entries::record(cursor)
                    })?;
                    return Ok(Some(record));
                }
                Step::Open { .. } | Step::Close | Step::Text | Step::Declaration => {}
                Step::End => self.done = true,
            }
        }
        Ok(None)
    }
}
