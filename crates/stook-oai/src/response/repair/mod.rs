//! What real repositories send → what the protocol can read.
//!
//! Bytes as received enter [`Repaired`]; UTF-8 that an XML parser gets through
//! leaves. What stands in that text, a lenient
//! [`ResponseReader`](super::ResponseReader) puts up with while it reads. Both
//! name everything they tolerate ([`Tolerance`]) and count it ([`Tolerated`]):
//! nothing is mended in silence. A reader made with
//! [`ResponseReader::new`](super::ResponseReader::new) tolerates none of it.

mod date;
mod declaration;
mod decode;
mod entities;
mod mend;
mod repaired;
mod tolerance;

pub(super) use date::{lenient_datetime, lenient_granularity};
pub use decode::EncodingHint;
pub use repaired::Repaired;
pub use tolerance::{Tolerance, Tolerated};
