//! A buffered stream whose beginning can be looked at.

use std::io::{self, BufRead, ErrorKind, Read};

const CAPACITY: usize = 64 << 10;

/// Like `BufReader`, with [`peek`](Buffered::peek).
pub struct Buffered<R> {
    inner: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<R: Read> Buffered<R> {
    /// Buffers a stream.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            buffer: vec![0; CAPACITY],
            start: 0,
            end: 0,
        }
    }

    /// The next bytes without consuming them: as many as wanted (at most 64 KiB), or all there are.
    ///
    /// # Errors
    /// When the stream fails before giving that many, and gave none.
    pub fn peek(&mut self, wanted: usize) -> io::Result<&[u8]> {
        let wanted = wanted.min(CAPACITY);
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end < wanted {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Whoever reads on will meet the failure at its place.
                Err(_) if self.end > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[..self.end])
    }
}

impl<R: Read> Read for Buffered<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end && out.len() >= CAPACITY {
            return self.inner.read(out);
        }
        let available = self.fill_buf()?;
        let length = available.len().min(out.len());
        out[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: Read> BufRead for Buffered<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.start == self.end {
            match self.inner.read(&mut self.buffer) {
                Ok(read) => {
                    self.start = 0;
                    self.end = read;
                    break;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, amount: usize) {
        self.start = (self.start + amount).min(self.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_peeked_is_read_again() {
        let bytes: Vec<u8> = (0..200_000u32).map(|number| (number % 251) as u8).collect();
        let mut buffered = Buffered::new(bytes.as_slice());
        assert_eq!(buffered.peek(10).unwrap()[..10], bytes[..10]);
        let mut first = [0; 5];
        buffered.read_exact(&mut first).unwrap();
        assert_eq!(buffered.peek(1 << 20).unwrap(), &bytes[5..5 + CAPACITY]);
        let mut rest = Vec::new();
        buffered.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, bytes[5..]);
    }
}
