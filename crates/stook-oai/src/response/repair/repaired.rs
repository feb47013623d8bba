//! The byte layer as a reader: decoding, then mending.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

use super::decode::{Decoding, EncodingHint};
use super::mend::{Fault, Mending};
use super::{Tolerance, Tolerated};

/// How much is taken from the source at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Whoever reads from here reads at most this much ahead of what it has
/// understood.
const READ_AHEAD_BYTES: u64 = 1 << 20;

/// A response as received, read as UTF-8 without the faults of bytes.
///
/// ```
/// use std::io::Read;
/// use stook_oai::response::{EncodingHint, Repaired, Tolerance};
///
/// let received = b"<a>Caf\xE9 & Bar\x0B&nbsp;&#xD83D;&#xDE00;</a>";
/// let mut repaired = Repaired::new(&received[..], EncodingHint::default());
/// let mut text = String::new();
/// repaired.read_to_string(&mut text)?;
/// assert_eq!(text, "<a>Café &amp; Bar\u{A0}😀</a>");
/// assert_eq!(repaired.tolerated().count(Tolerance::BareAmpersand), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Repaired<R> {
    inner: R,
    /// Bytes received and not decoded.
    bytes: Vec<u8>,
    /// The source has ended, or failed with `failure`.
    ended: bool,
    failure: Option<io::Error>,
    decoding: Decoding,
    /// Text decoded; what lies between `offset` and `good` can be handed out,
    /// and then comes `fault`.
    text: Vec<u8>,
    offset: usize,
    good: usize,
    fault: Option<Fault>,
    mending: Mending,
    /// What takes the place of a fault, and how much of it was handed out.
    patch: Vec<u8>,
    patch_offset: usize,
    /// How much decoded text was passed, and how much was handed out.
    passed: u64,
    position: u64,
    /// What was tolerated, by the position at which it was handed out; what
    /// lies far behind is in `settled`.
    recent: VecDeque<(u64, Tolerance)>,
    settled: Tolerated,
}

impl<R: BufRead> Repaired<R> {
    /// Reads `source`, whose encoding is found out with the help of `hint`.
    pub fn new(source: R, hint: EncodingHint<'_>) -> Self {
        Self {
            inner: source,
            bytes: Vec::new(),
            ended: false,
            failure: None,
            decoding: Decoding::new(hint),
            text: Vec::new(),
            offset: 0,
            good: 0,
            fault: None,
            mending: Mending::new(),
            patch: Vec::new(),
            patch_offset: 0,
            passed: 0,
            position: 0,
            recent: VecDeque::new(),
            settled: Tolerated::default(),
        }
    }

    /// Takes bytes from the source and decodes what can be decoded.
    fn refill(&mut self) -> io::Result<()> {
        self.text.drain(..self.offset);
        self.offset = 0;
        self.good = 0;
        let available = match self.inner.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => {
                // What came before the failure is still to be read.
                self.failure = Some(error);
                &[]
            }
        };
        let taken = available.len().min(CHUNK_BYTES);
        let available = &available[..taken];
        self.ended = available.is_empty();
        if self.bytes.is_empty() {
            let decoded = self.decoding.decode(available, self.ended, &mut self.text);
            self.bytes.extend_from_slice(&available[decoded..]);
        } else {
            self.bytes.extend_from_slice(available);
            let decoded = self.decoding.decode(&self.bytes, self.ended, &mut self.text);
            self.bytes.drain(..decoded);
        }
        self.inner.consume(taken);
        Ok(())
    }

    /// Goes behind the fault at hand, and makes what takes its place.
    fn mend(&mut self, fault: &Fault) {
        self.offset += fault.length;
        self.good = self.offset;
        self.pass(fault.length);
        self.patch.clear();
        self.patch_offset = 0;
        fault.mended.push_to(&mut self.patch);
        if let Some(tolerance) = fault.tolerance {
            self.recent.push_back((self.position, tolerance));
        }
    }

    /// Notes what decoding tolerated in the text passed.
    fn pass(&mut self, length: usize) {
        self.passed += length as u64;
        while let Some((at, tolerance)) = self.decoding.notes.front().copied()
            && at <= self.passed
        {
            self.decoding.notes.pop_front();
            let behind = self.passed - at;
            self.recent.push_back((self.position.saturating_sub(behind), tolerance));
        }
    }

    fn settle(&mut self) {
        while let Some((at, tolerance)) = self.recent.front().copied()
            && at + READ_AHEAD_BYTES < self.position
        {
            self.recent.pop_front();
            self.settled.note(tolerance);
        }
    }
}

impl<R> Repaired<R> {
    /// What was tolerated in everything read so far.
    #[must_use]
    pub fn tolerated(&self) -> Tolerated {
        self.tolerated_before(u64::MAX)
    }

    /// What was tolerated up to a position of the text handed out.
    pub(in crate::response) fn tolerated_before(&self, position: u64) -> Tolerated {
        let mut tolerated = self.settled.clone();
        for (_, tolerance) in self.recent.iter().filter(|(at, _)| *at <= position) {
            tolerated.note(*tolerance);
        }
        tolerated
    }
}

impl<R: BufRead> Read for Repaired<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(into.len());
        into[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Repaired<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        loop {
            if self.patch_offset < self.patch.len() {
                return Ok(&self.patch[self.patch_offset..]);
            }
            if self.offset < self.good {
                return Ok(&self.text[self.offset..self.good]);
            }
            if let Some(fault) = self.fault.take() {
                self.mend(&fault);
                continue;
            }
            let passage = self.mending.examine(&self.text[self.offset..], self.ended);
            self.good = self.offset + passage.good;
            self.fault = passage.fault;
            if self.good > self.offset || self.fault.is_some() {
                continue;
            }
            if self.ended {
                return match self.failure.take() {
                    Some(error) => Err(error),
                    None => Ok(&[]),
                };
            }
            self.refill()?;
        }
    }

    fn consume(&mut self, length: usize) {
        self.position += length as u64;
        if self.patch_offset < self.patch.len() {
            self.patch_offset += length;
        } else {
            self.offset += length;
            self.pass(length);
        }
        self.settle();
    }
}
