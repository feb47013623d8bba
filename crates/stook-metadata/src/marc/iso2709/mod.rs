//! ISO 2709: a leader, a directory that tells where each field is, the fields, a mark at the end.
//!
//! ```text
//! 00123nam a2200061   4500 │ 001 0006 00000 │ 245 0023 00006 │ ⟨1E⟩ │ map-1⟨1E⟩ │ 10⟨1F⟩aStadtplan …⟨1E⟩ │ ⟨1D⟩
//! ```
//!
//! Lengths in real files are wrong in many ways, so they are believed where the marks agree with them, and the marks are
//! believed otherwise.

mod cut;
mod read;
mod write;

pub use cut::{Cut, is_leader, next};
pub use read::{Reading, read};
pub use write::write;

/// Ends a record.
pub(super) const RECORD_END: u8 = 0x1D;
/// Ends a field, and the directory.
pub(super) const FIELD_END: u8 = 0x1E;
/// Begins a subfield.
pub(super) const SUBFIELD: u8 = 0x1F;

/// The bytes of one entry of the directory: tag, length, start.
const ENTRY: usize = 12;

/// A number written in digits, nothing else.
fn number(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0usize, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + usize::from(digit - b'0'))
    })
}
