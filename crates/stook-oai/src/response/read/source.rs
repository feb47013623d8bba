//! Bytes as they arrive → bytes that are safe to hand to the XML parser: never
//! more than allowed for one entry, and always UTF-8.
//!
//! quick-xml collects a whole text or tag before it returns, so without a
//! bound here one endless text would fill the memory; and it gives up at the
//! first byte that is not UTF-8, which would cost the page instead of a record.
//! Such bytes are replaced one for one, so that positions stay true, by a
//! character that XML forbids, so that they cannot go unnoticed.

use std::io::{self, BufRead, Read};
use std::ops::Range;

/// SUBSTITUTE, forbidden in XML 1.0.
const STAND_IN: u8 = 0x1A;

/// How much is copied from the source at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Positions of bad bytes beyond these are not remembered; the entry they
/// stand in is then refused for the stand-ins it holds.
const MAX_POSITIONS: usize = 1000;

#[derive(Debug)]
pub(super) struct Source<R> {
    inner: R,
    /// Bytes copied and not consumed. Those up to `checked` are UTF-8, behind
    /// them the beginning of a character may wait for its rest.
    chunk: Vec<u8>,
    offset: usize,
    checked: usize,
    /// Whether the bytes are known to be UTF-8.
    trusted: bool,
    /// How many more bytes may be consumed for the current entry.
    allowance: u64,
    /// How many more bytes may be copied.
    remaining: u64,
    consumed: u64,
    not_utf8: Vec<u64>,
}

/// The error of a source asked for more than is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Spent {
    #[error("the entry is too large")]
    Entry,
    #[error("the response is too large")]
    Response,
}

impl<R: BufRead> Source<R> {
    /// Reads at most `max_bytes`. A `trusted` source hands out whole
    /// characters of UTF-8 and nothing else.
    pub(super) fn new(inner: R, trusted: bool, max_bytes: u64) -> Self {
        Self {
            inner,
            chunk: Vec::new(),
            offset: 0,
            checked: 0,
            trusted,
            allowance: 0,
            remaining: max_bytes,
            consumed: 0,
            not_utf8: Vec::new(),
        }
    }

    /// Bytes consumed so far.
    pub(super) fn position(&self) -> u64 {
        self.consumed
    }

    /// A new entry begins, which may have so many bytes.
    pub(super) fn allow(&mut self, bytes: u64) {
        self.allowance = bytes;
        let position = self.consumed;
        self.not_utf8.retain(|bad| *bad >= position);
    }

    /// The first byte in a range of the current entry that was not UTF-8.
    pub(super) fn first_not_utf8(&self, range: &Range<u64>) -> Option<u64> {
        self.not_utf8.iter().copied().find(|position| range.contains(position))
    }

    pub(super) fn is_at_end(&mut self) -> bool {
        self.offset == self.chunk.len() && self.inner.fill_buf().is_ok_and(<[u8]>::is_empty)
    }

    /// Where the bytes come from.
    pub(super) fn inner(&self) -> &R {
        &self.inner
    }

    /// Takes back bytes that were consumed last.
    pub(super) fn unread(&mut self, bytes: &[u8]) {
        match self.offset.checked_sub(bytes.len()) {
            // Usually they are still there.
            Some(start) if self.chunk[start..self.offset] == *bytes => self.offset = start,
            _ => {
                self.chunk.splice(..self.offset, bytes.iter().copied());
                self.checked = self.checked - self.offset + bytes.len();
                self.offset = 0;
            }
        }
        let length = bytes.len() as u64;
        self.allowance = self.allowance.saturating_add(length);
        self.consumed = self.consumed.saturating_sub(length);
    }

    /// Copies more bytes until there are some that can be handed out, or no
    /// more at all.
    fn refill(&mut self) -> io::Result<()> {
        self.chunk.drain(..self.offset);
        self.offset = 0;
        self.checked = 0;
        while self.checked == 0 {
            let available = self.inner.fill_buf()?;
            let at_end = available.is_empty();
            if !at_end && self.remaining == 0 {
                return Err(io::Error::other(Spent::Response));
            }
            let allowed = usize::try_from(self.remaining).unwrap_or(usize::MAX);
            let length = available.len().min(CHUNK_BYTES).min(allowed);
            self.remaining -= length as u64;
            self.chunk.extend_from_slice(&available[..length]);
            self.inner.consume(length);
            if self.trusted {
                self.checked = self.chunk.len();
            } else {
                self.check(at_end);
            }
            if at_end {
                break;
            }
        }
        Ok(())
    }

    /// Finds where UTF-8 ends in the chunk, replacing what is not UTF-8.
    fn check(&mut self, at_end: bool) {
        if simdutf8::basic::from_utf8(&self.chunk).is_ok() {
            self.checked = self.chunk.len();
            return;
        }
        while let Err(error) = str::from_utf8(&self.chunk[self.checked..]) {
            self.checked += error.valid_up_to();
            let bad = match error.error_len() {
                Some(length) => self.checked..self.checked + length,
                None if at_end => self.checked..self.chunk.len(),
                None => return,
            };
            if self.not_utf8.len() < MAX_POSITIONS {
                self.not_utf8.push(self.consumed + bad.start as u64);
            }
            self.chunk[bad].fill(STAND_IN);
        }
        self.checked = self.chunk.len();
    }
}

impl<R: BufRead> Read for Source<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(into.len());
        into[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.allowance == 0 {
            return Err(io::Error::other(Spent::Entry));
        }
        if self.offset == self.checked {
            self.refill()?;
        }
        let ready = &self.chunk[self.offset..self.checked];
        let allowed = usize::try_from(self.allowance).unwrap_or(usize::MAX);
        Ok(&ready[..ready.len().min(allowed)])
    }

    fn consume(&mut self, length: usize) {
        self.offset += length;
        let length = length as u64;
        self.allowance = self.allowance.saturating_sub(length);
        self.consumed += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], chunk: usize) -> (Vec<u8>, Vec<u64>) {
        let mut source = Source::new(io::BufReader::with_capacity(chunk, bytes), false, u64::MAX);
        source.allow(u64::MAX);
        let mut out = Vec::new();
        source.read_to_end(&mut out).unwrap();
        (out, source.not_utf8)
    }

    #[test]
    fn utf8_passes_however_it_is_cut() {
        let text = "aé中😀".repeat(10);
        for chunk in 1..12 {
            assert_eq!(read(text.as_bytes(), chunk), (text.clone().into_bytes(), vec![]));
        }
    }

    #[test]
    fn other_bytes_are_replaced_one_for_one() {
        for chunk in 1..8 {
            assert_eq!(
                read(b"a\xE9b\xC3\xA9\xF0\x9F", chunk),
                (b"a\x1Ab\xC3\xA9\x1A\x1A".to_vec(), vec![1, 5])
            );
        }
    }

    #[test]
    fn a_spent_allowance_is_an_error_until_more_is_allowed() {
        let mut source = Source::new(&b"abcdef"[..], false, u64::MAX);
        source.allow(4);
        assert_eq!(source.fill_buf().unwrap(), b"abcd");
        source.consume(4);
        assert!(source.fill_buf().is_err());
        source.allow(4);
        assert_eq!(source.fill_buf().unwrap(), b"ef");
        source.consume(2);
        assert!(source.fill_buf().unwrap().is_empty() && source.is_at_end());
        assert_eq!(source.position(), 6);
    }

    #[test]
    fn a_source_gives_no_more_than_allowed_altogether() {
        let mut source = Source::new(&b"abcdef"[..], false, 4);
        source.allow(100);
        assert_eq!(source.fill_buf().unwrap(), b"abcd");
        source.consume(4);
        assert!(source.fill_buf().is_err());
        let mut source = Source::new(&b"abcd"[..], false, 4);
        source.allow(100);
        source.fill_buf().unwrap();
        source.consume(4);
        assert!(source.fill_buf().unwrap().is_empty());
    }

    #[test]
    fn bytes_that_were_taken_back_come_again() {
        let mut source = Source::new(&b"abcdef"[..], false, u64::MAX);
        source.allow(6);
        source.fill_buf().unwrap();
        source.consume(5);
        source.unread(b"cde");
        assert_eq!(source.position(), 2);
        assert_eq!(source.fill_buf().unwrap(), b"cdef");
        source.consume(4);
        assert!(source.is_at_end());
    }
}
