//! From a query to the XML that answers it. No HTTP, no I/O but the store's.

use stook_oai::request::Request;
use stook_oai::response::{Echo, ResponseWriter};
use stook_oai::{Datestamp, ErrorCode, OaiError, Verb};
use stook_store::{Position, Snapshot, StoreError};

use super::{Provider, verbs};

/// An answer, with what logs and metrics say of it.
pub struct Answer {
    /// The response document.
    pub xml: Vec<u8>,
    /// The verb, if the request had a legal one.
    pub verb: Option<Verb>,
    /// The protocol errors it reports; none for a successful answer.
    pub errors: Vec<ErrorCode>,
}

/// Why a verb gave no result.
pub(super) enum Refusal {
    /// The request cannot be met: an answer like any other.
    Errors(Vec<OaiError>),
    /// The store failed: no answer.
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        Refusal::Store(error)
    }
}

impl From<OaiError> for Refusal {
    fn from(error: OaiError) -> Refusal {
        Refusal::Errors(vec![error])
    }
}

/// Most answers but lists are smaller.
const USUAL_BYTES: usize = 4096;

/// What a verb works with: one view of the store and the beginning of the response.
pub(super) struct Context<'a> {
    pub(super) provider: &'a Provider,
    pub(super) snapshot: Snapshot,
    pub(super) request: &'a Request,
}

impl Context<'_> {
    /// Makes sure that the view shows everything up to a position: another replica may have given it out.
    pub(super) fn reach(&mut self, position: Position) -> Result<(), StoreError> {
        if self.snapshot.last() < position {
            self.snapshot = self.provider.store.read()?;
        }
        Ok(())
    }

    /// The response up to where the verb's own element begins.
    pub(super) fn writer(&self) -> ResponseWriter {
        self.writer_for(USUAL_BYTES)
    }

    /// The same, with room for so many bytes: a page that grows by doubling is copied once more.
    pub(super) fn writer_for(&self, bytes: usize) -> ResponseWriter {
        let echo = Echo::Arguments(self.request);
        self.provider.writer(bytes, self.snapshot.response_date(), echo)
    }
}

impl Provider {
    /// Answers a query as received, percent-encoded.
    ///
    /// # Errors
    /// When the store fails. Protocol errors are answers.
    pub fn answer(&self, query: &[u8]) -> Result<Answer, StoreError> {
        let request = Request::parse_query(query, self.granularity);
        let snapshot = match &request {
            // One record is what the last list said of it, or later. A replica that has not come as far as the one that
            // made the list might show what was before.
            Ok(Request::GetRecord { .. } | Request::ListMetadataFormats { identifier: Some(_) }) => {
                self.store.read()?
            }
            _ => self.store.read_replica()?,
        };
        // Also the date of a refusal: a harvester that is told "no records" goes on from there, and what was
        // published since this view was taken must not be dated before it.
        let response_date = snapshot.response_date();
        let request = match request {
            Ok(request) => request,
            Err(errors) => {
                let xml = self.writer(USUAL_BYTES, response_date, Echo::None).errors(&errors);
                return Ok(Answer {
                    xml,
                    verb: None,
                    errors: codes(&errors),
                });
            }
        };
        let verb = Some(request.verb());
        match verbs::answer(Context {
            provider: self,
            snapshot,
            request: &request,
        }) {
            Ok(xml) => Ok(Answer {
                xml,
                verb,
                errors: vec![],
            }),
            Err(Refusal::Store(error)) => Err(error),
            Err(Refusal::Errors(errors)) => {
                let xml = self
                    .writer(USUAL_BYTES, response_date, Echo::Arguments(&request))
                    .errors(&errors);
                Ok(Answer {
                    xml,
                    verb,
                    errors: codes(&errors),
                })
            }
        }
    }

    fn writer(&self, bytes: usize, response_date: Datestamp, echo: Echo<'_>) -> ResponseWriter {
        ResponseWriter::new(Vec::with_capacity(bytes), response_date, &self.settings.base_url, &echo)
    }
}

fn codes(errors: &[OaiError]) -> Vec<ErrorCode> {
    errors.iter().map(|error| error.code).collect()
}
