//! Responses: values ⇄ XML.
//!
//! On the provider's side [`ResponseWriter`] turns values into the bytes of a
//! response; ready-made fragments ([`content_fragment`]) are appended, not
//! parsed. On the harvester's side [`ResponseReader`] turns bytes into values,
//! one at a time, and [`RecordsReader`] finds the records in files that hold
//! them in other shapes. What real repositories send is not always what the
//! protocol says: [`ResponseReader::lenient`] reads it all the same and tells
//! what it took ([`Tolerance`]).

mod fragment;
mod list;
mod read;
mod repair;
mod write;

pub use fragment::{ABOUT_END, Fragment, append_about, content_fragment, split_fragment};
pub use list::{HeaderRef, HeadersWriter, RecordsWriter, SetsWriter};
pub use read::{Event, ReadError, ReadFault, ReadLimits, RecordsReader, ResponseReader};
pub use repair::{EncodingHint, Repaired, Tolerance, Tolerated};
pub use write::{Echo, ResponseWriter};

/// The namespace of every element of the protocol.
pub const NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/";
