//! Responses: values → XML on the provider's side.
//!
//! [`ResponseWriter`] turns values into the bytes of a response. Ready-made
//! fragments ([`content_fragment`]) are appended, not parsed.

mod fragment;
mod list;
mod write;

pub use fragment::{Fragment, content_fragment, split_fragment};
pub use list::{HeaderRef, HeadersWriter, RecordsWriter, SetsWriter};
pub use write::{Echo, ResponseWriter};

/// The namespace of every element of the protocol.
pub const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";
