//! Requests: arguments ⇄ one of the six questions.
//!
//! On the provider's side a query string enters ([`decode_query`],
//! [`Request::parse_query`]) and a [`Request`] leaves, or every fault found in
//! the query. On the harvester's side a [`Request`] enters and the query
//! string to send leaves ([`Request::encode`], or [`Request::encode_with`] for
//! a repository that wants it otherwise). Nothing here asks whether a
//! set, a format or an item exists.
//!
//! ```
//! use stook_oai::request::{ListRequest, Request};
//! use stook_oai::{ErrorCode, Granularity};
//!
//! let query = b"verb=ListRecords&metadataPrefix=oai_dc&from=2002-06-01";
//! let request = Request::parse_query(query, Granularity::Second).unwrap();
//! assert_eq!(request.encode().as_bytes(), query);
//!
//! let faults =
//!     Request::parse_query(b"verb=ListRecords&until=yesterday&colour=red", Granularity::Second)
//!         .unwrap_err();
//! assert_eq!(faults.len(), 3); // no metadataPrefix, until is no date, unknown argument
//! assert!(faults.iter().all(|fault| fault.code == ErrorCode::BadArgument));
//! ```

mod arguments;
mod decode;
mod encode;
mod parse;

pub use arguments::{Argument, ArgumentRules};
pub use decode::decode_query;
pub use encode::EncodeQuirks;

use crate::types::{MetadataPrefix, SetSpec, UtcDatetime, Verb};

/// A question to a repository, complete and well-formed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Request {
    /// What is this repository?
    Identify,
    /// Which formats does it have, altogether or for one item?
    ListMetadataFormats {
        /// The item. Not an [`Identifier`](crate::Identifier): any text that a
        /// response can repeat, though it names no item, is a question whose
        /// answer is idDoesNotExist.
        identifier: Option<String>,
    },
    /// Which sets does it have?
    ListSets {
        /// Where to continue.
        resumption_token: Option<String>,
    },
    /// One record.
    GetRecord {
        /// The item; any text, as in `ListMetadataFormats`.
        identifier: String,
        /// The format.
        metadata_prefix: MetadataPrefix,
    },
    /// Headers of many records.
    ListIdentifiers(ListRequest),
    /// Many records.
    ListRecords(ListRequest),
}

/// Which records a list is to hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListRequest {
    /// The beginning of a list.
    Selection {
        /// The format.
        metadata_prefix: MetadataPrefix,
        /// Not earlier than this.
        from: Option<UtcDatetime>,
        /// Not later than this.
        until: Option<UtcDatetime>,
        /// In this set or below it.
        set: Option<SetSpec>,
    },
    /// The next page of a list.
    Resume {
        /// Where to continue. May be empty, which no repository has issued.
        resumption_token: String,
    },
}

impl Request {
    /// The verb of the question.
    #[must_use]
    pub fn verb(&self) -> Verb {
        match self {
            Self::Identify => Verb::Identify,
            Self::ListMetadataFormats { .. } => Verb::ListMetadataFormats,
            Self::ListSets { .. } => Verb::ListSets,
            Self::GetRecord { .. } => Verb::GetRecord,
            Self::ListIdentifiers(_) => Verb::ListIdentifiers,
            Self::ListRecords(_) => Verb::ListRecords,
        }
    }
}
