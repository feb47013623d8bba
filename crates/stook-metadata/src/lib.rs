//! Metadata formats: which there are, and how the XML of one record is
//! written, cleaned and checked before it may be published.
//!
//! Text enters, text that is safe to put into a response leaves, or a
//! [`Fault`] that says what is wrong and where. The crate does no input or
//! output, expands no entity and follows no schema location. No input makes it
//! panic, and none costs more than a small multiple of its length.
//!
//! * [`mod@format`]: the well-known formats, and those of one's own;
//! * [`dublin_core`]: unqualified Dublin Core from values;
//! * [`marc`]: MARC 21 and UNIMARC, in ISO 2709 and in XML;
//! * [`clean`]: dropping what XML cannot carry;
//! * [`fragment`]: the check every record passes at the door;
//! * [`model`]: what records of a format may hold, as the check asks it;
//! * [`crosswalk`]: records of one format out of those of another;
//! * [`quality`]: what is recommended over what is demanded;
//! * [`sets`]: which sets a record is in, by rules over what it says;
//! * [`scan`]: the strict XML scanner underneath it.

pub mod clean;
pub mod crosswalk;
pub mod dublin_core;
pub mod fault;
mod find;
pub mod format;
pub mod fragment;
pub mod marc;
pub mod model;
pub mod namespaces;
pub mod quality;
pub mod scan;
pub mod sets;

pub use dublin_core::{DublinCore, Element, InvalidLanguage, Language, Statement};
pub use fault::{Fault, Problem};
pub use format::{Format, Formats, Root, well_known};
pub use fragment::{check, check_about, check_container, check_within};
pub use namespaces::Namespaces;
