//! Encodings: bytes of any encoding in, UTF-8 out, as a stream.
//!
//! Bytes that mean nothing in their encoding leave as a byte that is not UTF-8, so that the one record they stand in is
//! rejected later; nothing is published with replacement characters in it.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How much of a stream is looked at.
pub(super) const PEEK: usize = 1024;

/// The byte order mark of UTF-8, which carries no meaning.
pub(super) const UTF_8_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Stands for bytes that could not be decoded: never part of UTF-8.
const UNDECODABLE: u8 = 0xFF;

/// An XML declaration names an encoding nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the XML declaration names the unknown encoding {0:?}. Try: --encoding with the right one")]
pub struct UnknownEncoding(String);

/// Finds the encoding: what the person says, else a byte order mark, else an XML declaration, else UTF-8.
pub(super) fn recognise(
    beginning: &[u8],
    told: Option<&'static Encoding>,
) -> Result<&'static Encoding, UnknownEncoding> {
    if let Some(encoding) = told {
        return Ok(encoding);
    }
    if let Some((encoding, _)) = Encoding::for_bom(beginning) {
        return Ok(encoding);
    }
    match beginning {
        [b'<', 0, ..] => return Ok(UTF_16LE),
        [0, b'<', ..] => return Ok(UTF_16BE),
        _ => {}
    }
    match declared(beginning) {
        None => Ok(UTF_8),
        Some(label) => Encoding::for_label(label.as_bytes()).ok_or(UnknownEncoding(label)),
    }
}

/// The encoding that `<?xml … encoding="…"?>` names.
fn declared(beginning: &[u8]) -> Option<String> {
    let declaration = beginning.strip_prefix(b"<?xml")?;
    let end = declaration.iter().position(|&byte| byte == b'>')?;
    let declaration = String::from_utf8_lossy(&declaration[..end]);
    let (_, behind) = declaration.split_once("encoding")?;
    let behind = behind.trim_start().strip_prefix('=')?.trim_start();
    let quote = behind.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (label, _) = behind[1..].split_once(quote)?;
    Some(label.to_owned())
}

/// A stream of UTF-8 made from a stream of another encoding, without its byte order mark.
pub(super) struct Decoded<R> {
    input: R,
    decoder: Decoder,
    /// Bytes read and not yet decoded.
    pending: Vec<u8>,
    /// Text decoded and not yet handed on, from `at`.
    text: Vec<u8>,
    at: usize,
    /// Whether the input, and then the decoder, came to an end.
    input_ended: bool,
    ended: bool,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(input: R, encoding: &'static Encoding) -> Self {
        Self {
            input,
            decoder: encoding.new_decoder_with_bom_removal(),
            pending: Vec::new(),
            text: Vec::new(),
            at: 0,
            input_ended: false,
            ended: false,
        }
    }

    /// Decodes the next stretch; there may be no text in it.
    fn decode(&mut self) -> io::Result<()> {
        const STRETCH: usize = 32 << 10;
        if self.pending.is_empty() && !self.input_ended {
            let read = (&mut self.input).take(STRETCH as u64).read_to_end(&mut self.pending)?;
            self.input_ended = read == 0;
        }
        self.at = 0;
        self.text.resize(2 * STRETCH, 0);
        let (result, read, written) =
            self.decoder
                .decode_to_utf8_without_replacement(&self.pending, &mut self.text, self.input_ended);
        self.pending.drain(..read);
        self.text.truncate(written);
        match result {
            DecoderResult::Malformed(..) => self.text.push(UNDECODABLE),
            DecoderResult::InputEmpty => self.ended = self.input_ended,
            DecoderResult::OutputFull => {}
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.text.len() {
            if self.ended {
                return Ok(0);
            }
            self.decode()?;
        }
        let length = out.len().min(self.text.len() - self.at);
        out[..length].copy_from_slice(&self.text[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{SHIFT_JIS, WINDOWS_1252};

    use super::*;

    fn decoded(bytes: &[u8], encoding: &'static Encoding) -> Vec<u8> {
        let mut text = Vec::new();
        Decoded::new(bytes, encoding).read_to_end(&mut text).unwrap();
        text
    }

    #[test]
    fn the_person_decides_then_the_mark_then_the_declaration() {
        assert_eq!(recognise(b"\xFF\xFEa\0", Some(SHIFT_JIS)), Ok(SHIFT_JIS));
        assert_eq!(recognise(b"\xFF\xFEa\0", None), Ok(UTF_16LE));
        assert_eq!(recognise(b"\xFE\xFF\0a", None), Ok(UTF_16BE));
        assert_eq!(recognise(b"\xEF\xBB\xBFid", None), Ok(UTF_8));
        assert_eq!(recognise(b"<\0?\0x\0", None), Ok(UTF_16LE));
        assert_eq!(recognise(b"\0<\0?", None), Ok(UTF_16BE));
        assert_eq!(
            recognise(b"<?xml version='1.0' encoding = 'ISO-8859-1' ?>", None),
            Ok(WINDOWS_1252)
        );
        assert_eq!(recognise(b"id,title", None), Ok(UTF_8));
        assert_eq!(recognise(b"<?xml version='1.0'?>", None), Ok(UTF_8));
        let unknown = recognise(b"<?xml version='1.0' encoding='klingon'?>", None).unwrap_err();
        assert!(unknown.to_string().contains("\"klingon\""));
    }

    #[test]
    fn text_of_other_encodings_becomes_utf_8() {
        assert_eq!(decoded(b"M\xFCller", WINDOWS_1252), "Müller".as_bytes());
        assert_eq!(decoded(b"\xFF\xFEK\0\x01\x04", UTF_16LE), "KЁ".as_bytes());
    }

    #[test]
    fn what_cannot_be_decoded_is_never_utf_8() {
        let text = decoded(b"a\x81\x20b", SHIFT_JIS);
        assert!(std::str::from_utf8(&text).is_err(), "{text:?}");
        assert!(text.starts_with(b"a") && text.ends_with(b"b"));
        // Half a character at the end.
        assert_eq!(decoded(b"a\0b", UTF_16LE), b"a\xFF");
    }

    #[test]
    fn long_text_is_decoded_in_stretches() {
        let long = "Größe ".repeat(50_000);
        let bytes: Vec<u8> = long.chars().map(|character| u32::from(character) as u8).collect();
        assert_eq!(decoded(&bytes, WINDOWS_1252), long.as_bytes());
    }
}
