//! OAI-PMH 2.0 in both directions: the words of the protocol, its requests,
//! its responses and its resumption tokens.
//!
//! What enters is text and bytes, what leaves is typed values and bytes. The
//! crate does no input or output, reads no clock, starts no task and knows no
//! database: a response date, a key or a reader is always handed in. No input
//! makes it panic.
//!
//! * [`types`]: identifiers, sets, datestamps, headers, records … (re-exported
//!   here, flat);
//! * [`request`]: arguments ⇄ requests, and every fault in them;
//! * [`response`]: values ⇄ XML;
//! * [`token`]: list position ⇄ resumptionToken;
//! * [`xml`]: escaping, and which characters XML 1.0 can carry.

pub mod request;
pub mod response;
pub mod token;
pub mod types;
pub mod xml;

pub use request::{ListRequest, Request, decode_query};
pub use token::{ListState, TokenError, TokenKey};
pub use types::*;
