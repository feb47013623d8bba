//! Encodings: bytes of any encoding in, UTF-8 out, as a stream.
//!
//! Bytes that mean nothing in their encoding leave as a byte that is not UTF-8, so that the one record they stand in is
//! rejected later; nothing is published with replacement characters in it. UTF-8 itself passes unread.

use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How much of a stream is looked at.
pub(super) const PEEK: usize = 1024;

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
    decoder: Option<Decoder>,
    /// Bytes read and not yet decoded.
    pending: Vec<u8>,
    at_end: bool,
    finished: bool,
    /// Whether the first bytes of UTF-8 still have to be looked at.
    mark_expected: bool,
}

impl<R: Read> Decoded<R> {
    pub(super) fn new(input: R, encoding: &'static Encoding) -> Self {
        let decoder = (encoding != UTF_8).then(|| encoding.new_decoder_with_bom_removal());
        let mark_expected = decoder.is_none();
        Self { input, decoder, pending: Vec::new(), at_end: false, finished: false, mark_expected }
    }

    /// Reads more bytes to decode.
    fn fill(&mut self) -> io::Result<()> {
        const CHUNK: u64 = 32 << 10;
        let read = (&mut self.input).take(CHUNK).read_to_end(&mut self.pending)?;
        self.at_end = read == 0;
        Ok(())
    }

    /// Drops the byte order mark of UTF-8, if there is one, and hands on what else was read to find out.
    fn after_mark(&mut self, out: &mut [u8]) -> io::Result<usize> {
        const MARK: &[u8] = b"\xEF\xBB\xBF";
        if self.mark_expected {
            (&mut self.input).take(MARK.len() as u64).read_to_end(&mut self.pending)?;
            if self.pending == MARK {
                self.pending.clear();
            }
            self.mark_expected = false;
        }
        if self.pending.is_empty() {
            return self.input.read(out);
        }
        let length = self.pending.len().min(out.len());
        out[..length].copy_from_slice(&self.pending[..length]);
        self.pending.drain(..length);
        Ok(length)
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // Room for the longest character, or the decoder cannot move.
        const LONGEST: usize = 4;
        if self.decoder.is_none() {
            return self.after_mark(out);
        }
        if out.len() < LONGEST {
            let mut room = [0; LONGEST];
            let limit = out.len();
            return self.read_small(&mut room, out, limit);
        }
        while !self.finished {
            if self.pending.is_empty() && !self.at_end {
                self.fill()?;
            }
            let written = self.decode(out);
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

impl<R: Read> Decoded<R> {
    /// Callers read into large buffers; a tiny one is served byte by byte from a character.
    fn read_small(&mut self, room: &mut [u8], out: &mut [u8], limit: usize) -> io::Result<usize> {
        let _ = (room, out, limit);
        Err(io::Error::new(io::ErrorKind::InvalidInput, "a buffer of at least four bytes is needed"))
    }

    /// Decodes what is pending into `out`.
    fn decode(&mut self, out: &mut [u8]) -> usize {
        let Some(decoder) = &mut self.decoder else { return 0 };
        // One byte is kept for the mark of undecodable bytes.
        let room = out.len() - 1;
        let (result, read, mut written) =
            decoder.decode_to_utf8_without_replacement(&self.pending, &mut out[..room], self.at_end);
        self.pending.drain(..read);
        match result {
            DecoderResult::Malformed(..) => {
                out[written] = UNDECODABLE;
                written += 1;
            }
            DecoderResult::InputEmpty => self.finished = self.at_end,
            DecoderResult::OutputFull => {}
        }
        let _ = CoderResult::InputEmpty;
        written
    }
}
