//! MARC: one record in memory, and the forms it travels in.
//!
//! Bytes or XML enter, a [`Record`] leaves, and the other way round; what cannot be read or written leaves as a
//! [`Defect`] in a cataloguer's words. No input makes anything here panic, and none costs more than a small multiple of
//! its length.
//!
//! * [`record`]: leader, fields, indicators, subfields, in the order they came;
//! * [`iso2709`]: the exchange format of tapes and catalogues: cutting a stream, reading, writing;
//! * [`charset`]: MARC-8, ISO 5426 and what a record says about its characters;
//! * [`xml`]: MARCXML for MARC 21, MarcXchange for UNIMARC;
//! * [`oai_marc`]: the older XML of OAI-PMH 1.1;
//! * [`rules`]: what MARCXML's schema allows in a leader, a tag, an indicator, a subfield code.
//!
//! Text that was decoded from MARC-8 or ISO 5426 is composed (Unicode NFC), because there the marks were taken apart by
//! the encoding, not by the cataloguer, and searching and display expect them together. Text that came as UTF-8 is kept
//! as it is.

pub mod charset;
pub mod defect;
pub mod iso2709;
pub mod oai_marc;
pub mod record;
pub mod rules;
pub mod xml;

pub use charset::Charset;
pub use defect::{Defect, Trouble};
pub use record::{Dialect, Field, Leader, Record, Subfield, Tag};

/// The namespace of MARCXML.
pub const MARCXML_NAMESPACE: &str = "http://www.loc.gov/MARC21/slim";
/// The namespace of MarcXchange, version 2, in which UNIMARC is written.
pub const MARCXCHANGE_NAMESPACE: &str = "info:lc/xmlns/marcxchange-v2";
/// The namespace of MarcXchange, version 1.
pub const MARCXCHANGE_1_NAMESPACE: &str = "info:lc/xmlns/marcxchange-v1";
/// The namespace of oai_marc.
pub const OAI_MARC_NAMESPACE: &str = "http://www.openarchives.org/OAI/1.1/oai_marc";

#[cfg(test)]
mod tests;
