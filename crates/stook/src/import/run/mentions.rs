//! Which records each source mentions, for somebody who remembers where records come from.

use stook_oai::Identifier;
use stook_store::StoreError;

use super::prepare::Prepared;
use crate::import::draft::{Place, Rejected};

/// Hears what a load mentions before any of it is published: what it notes is never behind the records.
pub type Hear<'h> = dyn FnMut(&Mentions<'_>) -> Result<(), StoreError> + 'h;

/// What one load says of its sources.
pub struct Mentions<'m> {
    origins: &'m [(Place, Identifier)],
    rejected: &'m [Rejected],
    junk: &'m [Rejected],
    finished: &'m [std::sync::Arc<str>],
}

/// One thing that is said of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention<'m> {
    /// It has this record.
    Record(&'m str),
    /// It has this record, and there is something wrong with it.
    Quarantined(&'m str),
    /// It has something of which nobody knows what it is, or cannot be read further.
    Unknown,
    /// It was read to its end.
    End,
}

impl<'m> Mentions<'m> {
    pub(super) fn of(prepared: &'m Prepared) -> Mentions<'m> {
        Mentions {
            origins: &prepared.origins[..prepared.given],
            rejected: &prepared.rejected,
            junk: &prepared.junk,
            finished: &prepared.finished,
        }
    }

    /// Visits everything with its source; the ends come last.
    pub fn each(&self, visit: &mut dyn FnMut(&str, Mention<'_>)) {
        for (place, identifier) in self.origins {
            visit(&place.source, Mention::Record(identifier.as_str()));
        }
        for entry in self.rejected {
            match entry.identifier.as_deref().map(Identifier::parse) {
                Some(Ok(identifier)) => visit(&entry.place.source, Mention::Quarantined(identifier.as_str())),
                _ => visit(&entry.place.source, Mention::Unknown),
            }
        }
        for entry in self.junk {
            visit(&entry.place.source, Mention::Unknown);
        }
        for source in self.finished {
            visit(source, Mention::End);
        }
    }
}
