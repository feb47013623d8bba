//! A small HTTP client for loopback: one connection, kept alive, GET only.
//!
//! It exists to measure and to check, so it adds as little work of its own as
//! it can: one buffer that is used again for every answer, no decompression,
//! no parsing beyond the head. It never connects to anything but 127.0.0.1.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// No answer of a test or measurement is larger.
const LARGEST_ANSWER: usize = 256 << 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to a server on this machine.
pub(crate) struct Client {
    port: u16,
    stream: TcpStream,
    buffer: Vec<u8>,
    /// How much of `buffer` the current answer fills.
    filled: usize,
    /// The last answer said that the server closes the connection.
    closed: bool,
}

/// One answer; it lives in the client's buffer until the next request.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) head: &'a str,
    pub(crate) body: &'a [u8],
}

/// How the length of a body is told.
enum Framing {
    Length(usize),
    Chunked,
}

impl Client {
    /// # Errors
    /// When nothing listens on the port.
    pub(crate) fn connect(port: u16) -> Result<Self> {
        Ok(Self {
            port,
            stream: open(port)?,
            buffer: vec![0; 1 << 20],
            filled: 0,
            closed: false,
        })
    }

    /// Fetches a path. `headers` are whole lines, each ended by `\r\n`.
    ///
    /// # Errors
    /// When the connection breaks or the answer is not HTTP.
    pub(crate) fn fetch(&mut self, path: &str, headers: &str) -> Result<Answer<'_>> {
        let port = self.port;
        if self.closed {
            self.stream = open(port)?;
        }
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n");
        self.stream.write_all(request.as_bytes()).context("sending a request")?;
        self.filled = 0;
        let head_length = self.read_head()?;
        let head = std::str::from_utf8(&self.buffer[..head_length]).context("reading the head of an answer")?;
        let status = head
            .get(9..12)
            .and_then(|code| code.parse().ok())
            .context("the answer is not HTTP")?;
        self.closed = head.to_ascii_lowercase().contains("connection: close");
        let body_end = match framing(head)? {
            Framing::Length(length) => {
                let end = head_length + length;
                self.read_until(end)?;
                end
            }
            Framing::Chunked => self.read_chunks(head_length)?,
        };
        Ok(Answer {
            status,
            head: std::str::from_utf8(&self.buffer[..head_length]).unwrap_or_default(),
            body: &self.buffer[head_length..body_end],
        })
    }

    fn read_head(&mut self) -> Result<usize> {
        loop {
            if let Some(at) = find(&self.buffer[..self.filled], b"\r\n\r\n") {
                return Ok(at + 4);
            }
            self.read_more()?;
        }
    }

    fn read_until(&mut self, end: usize) -> Result<()> {
        if end > LARGEST_ANSWER {
            bail!("an answer of {end} bytes");
        }
        if end > self.buffer.len() {
            self.buffer.resize(end.next_power_of_two(), 0);
        }
        while self.filled < end {
            self.read_more()?;
        }
        Ok(())
    }

    /// Reads the chunks and moves their content together behind the head.
    fn read_chunks(&mut self, head_length: usize) -> Result<usize> {
        let mut body_end = head_length;
        let mut at = head_length;
        loop {
            let line_end = loop {
                if let Some(length) = find(&self.buffer[at..self.filled], b"\r\n") {
                    break at + length;
                }
                self.read_more()?;
            };
            let line = std::str::from_utf8(&self.buffer[at..line_end]).context("reading a chunk")?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(digits, 16).context("reading the size of a chunk")?;
            let start = line_end + 2;
            self.read_until(start + size + 2)?;
            self.buffer.copy_within(start..start + size, body_end);
            body_end += size;
            at = start + size + 2;
            if size == 0 {
                return Ok(body_end);
            }
        }
    }

    fn read_more(&mut self) -> Result<()> {
        if self.filled == self.buffer.len() {
            if self.buffer.len() >= LARGEST_ANSWER {
                bail!("an answer of more than {LARGEST_ANSWER} bytes");
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = self
            .stream
            .read(&mut self.buffer[self.filled..])
            .context("reading an answer")?;
        if read == 0 {
            bail!("the connection ended in the middle of an answer");
        }
        self.filled += read;
        Ok(())
    }
}

fn open(port: u16) -> Result<TcpStream> {
    let stream =
        TcpStream::connect((Ipv4Addr::LOCALHOST, port)).with_context(|| format!("connecting to port {port}"))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn framing(head: &str) -> Result<Framing> {
    for line in head.split("\r\n").skip(1) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            return Ok(Framing::Length(value.trim().parse().context("reading Content-Length")?));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") && value.trim().eq_ignore_ascii_case("chunked") {
            return Ok(Framing::Chunked);
        }
    }
    bail!("an answer that does not tell its length:\n{head}")
}

/// The resumption token of a list, ready to stand in a URL; none on the last
/// page.
pub(crate) fn resumption_token(body: &[u8]) -> Option<String> {
    // It is the last thing in a list, so only the end is searched.
    let tail = &body[body.len().saturating_sub(4096)..];
    let end = find(tail, b"</resumptionToken>")?;
    let start = tail[..end].iter().rposition(|byte| *byte == b'>')? + 1;
    let token = std::str::from_utf8(&tail[start..end]).ok()?.trim();
    if token.is_empty() {
        return None;
    }
    Some(percent_encode(&token.replace("&amp;", "&")))
}

/// Encodes everything that is not unreserved in a URL.
pub(crate) fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_of_a_page_is_found_and_encoded() {
        let page = b"<record/><resumptionToken cursor=\"0\">a=b&amp;c</resumptionToken></ListRecords></OAI-PMH>";
        assert_eq!(resumption_token(page).as_deref(), Some("a%3Db%26c"));
    }

    #[test]
    fn last_page_has_no_token() {
        assert_eq!(resumption_token(b"<resumptionToken cursor=\"5\"/></ListRecords>"), None);
        assert_eq!(resumption_token(b"<resumptionToken></resumptionToken>"), None);
    }
}
