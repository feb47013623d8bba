//! The character sets of MARC: bytes of one value in, text out.
//!
//! [`codes()`] is the table of everything that is not ASCII. MARC-8 and ISO 5426 write a mark before its letter, Unicode
//! after it; both together leave as one character where Unicode has one.

mod codes;
mod decode;

use std::borrow::Cow;
use std::fmt;

pub use codes::{Code, codes};

/// How the text of a record is encoded.
#[derive(Clone, Copy)]
pub enum Charset<'f> {
    /// UTF-8.
    Utf8,
    /// MARC-8: ASCII and ANSEL, with escape sequences to other scripts.
    Marc8,
    /// ISO 646 and ISO 5426, the extended Latin of UNIMARC.
    Iso5426,
    /// Something the caller can decode; `None` where the bytes mean nothing.
    Other(&'f (dyn Fn(&[u8]) -> Option<String> + Sync)),
}

impl fmt::Debug for Charset<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Charset<'_> {
    /// How people call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Charset::Utf8 => "UTF-8",
            Charset::Marc8 => "MARC-8",
            Charset::Iso5426 => "ISO 5426",
            Charset::Other(_) => "the given encoding",
        }
    }

    /// Decodes one value.
    ///
    /// # Errors
    /// The offset of the first byte that means nothing.
    ///
    /// ```
    /// use stook_metadata::marc::Charset;
    ///
    /// assert_eq!(Charset::Marc8.decode(b"M\xE8uller").unwrap(), "Müller");
    /// assert_eq!(Charset::Marc8.decode(b"\x1B(NkNIGA\x1B(B").unwrap(), "Книга");
    /// assert_eq!(Charset::Iso5426.decode(b"\xC2e").unwrap(), "é");
    /// assert_eq!(Charset::Marc8.decode(b"a\xFF"), Err(1));
    /// ```
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Cow<'a, str>, usize> {
        match self {
            Charset::Utf8 => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Cow::Borrowed(text)),
                Err(error) => Err(error.valid_up_to()),
            },
            Charset::Marc8 => decode::marc8(bytes),
            Charset::Iso5426 => decode::iso5426(bytes),
            Charset::Other(decode) => decode(bytes).map(Cow::Owned).ok_or(0),
        }
    }
}
