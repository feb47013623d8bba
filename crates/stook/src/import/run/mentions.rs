//! Which records each source mentions, for somebody who remembers where records come from.

use stook_oai::{Identifier, MetadataPrefix};

use super::prepare::{Origin, Prepared};
use crate::import::draft::Rejected;

/// Hears what a load mentions before any of it is published: what it notes is never behind the records. Says which of
/// them are not for this input to change.
pub type Hear<'h> = dyn FnMut(&Mentions<'_>) -> anyhow::Result<Vec<Claim>> + 'h;

/// A record that somebody had earlier, and has still: if it comes again and says something else, it is not published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The record.
    pub identifier: String,
    /// Its format.
    pub prefix: MetadataPrefix,
    /// Who has it.
    pub holder: String,
}

/// What one load says of its sources.
pub struct Mentions<'m> {
    origins: &'m [Origin],
    rejected: &'m [Rejected],
    junk: &'m [Rejected],
    finished: &'m [std::sync::Arc<str>],
}

/// One thing that is said of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention<'m> {
    /// It has this record, in this format.
    Record(&'m str, &'m MetadataPrefix),
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
        for origin in self.origins {
            let record = Mention::Record(origin.identifier.as_str(), &origin.prefix);
            visit(&origin.place.source, record);
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
