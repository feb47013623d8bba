//! The body of an answer: unpacked where it is packed, whatever the headers say, and never more than we can stand.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;

/// Below this much a body may unpack by any factor: an empty document packs very well.
const FREE_BYTES: u64 = 4 << 20;
const BUFFER: usize = 64 * 1024;
/// So much is read before it is known what a body is; enough to tell a web page by its beginning.
const HEAD: usize = 4_096;

/// A body, read as it arrives.
pub(super) struct Unpacked<R: Read> {
    inner: BufReader<Content<R>>,
}

enum Content<R: Read> {
    /// Until the first bytes have been seen.
    Unknown(Option<Counted<R>>),
    Plain(Bounded<Start<R>>),
    Gzip(Box<Bounded<MultiGzDecoder<BufReader<Start<R>>>>>),
}

/// The bytes that told what it is, and the rest.
type Start<R> = io::Chain<Cursor<Vec<u8>>, Counted<R>>;

impl<R: Read> Unpacked<R> {
    /// A body of at most `most_bytes`, unpacked to at most `most_unpacking` times what arrives.
    pub(super) fn new(body: R, most_bytes: u64, most_unpacking: u64) -> Self {
        let counted = Counted {
            inner: body,
            count: 0,
            broke_off: false,
            failure: None,
            most_bytes,
            most_unpacking,
        };
        Unpacked {
            inner: BufReader::with_capacity(BUFFER, Content::Unknown(Some(counted))),
        }
    }

    /// Whether it is packed, once something has been read.
    pub(super) fn is_gzip(&self) -> bool {
        matches!(self.inner.get_ref(), Content::Gzip(_))
    }

    /// Why no more of it is read, if it was too much.
    pub(super) fn exceeded(&self) -> Option<&str> {
        match self.inner.get_ref() {
            Content::Unknown(_) => None,
            Content::Plain(plain) => plain.exceeded.as_deref(),
            Content::Gzip(gzip) => gzip.exceeded.as_deref(),
        }
    }

    /// Whether the connection failed before the body had come to its end.
    pub(super) fn broke_off(&self) -> bool {
        match self.inner.get_ref() {
            Content::Unknown(body) => body.as_ref().is_some_and(|body| body.broke_off),
            Content::Plain(plain) => plain.inner.get_ref().1.broke_off,
            Content::Gzip(gzip) => gzip.inner.get_ref().get_ref().get_ref().1.broke_off,
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.read(into)
    }
}

impl<R: Read> BufRead for Unpacked<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

impl<R: Read> Read for Content<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Content::Unknown(body) = self {
            *self = recognise(body.take());
        }
        match self {
            Content::Unknown(_) => Ok(0),
            Content::Plain(plain) => plain.read(into),
            Content::Gzip(gzip) => gzip.read(into),
        }
    }
}

/// By the first two bytes, because servers forget to say it, and say it of what is not packed.
fn recognise<R: Read>(body: Option<Counted<R>>) -> Content<R> {
    let Some(mut body) = body else {
        return Content::Unknown(None);
    };
    let mut first = Vec::with_capacity(HEAD);
    // What came before a failure is still read; the failure comes behind it.
    if let Err(failure) = (&mut body).take(HEAD as u64).read_to_end(&mut first) {
        body.failure = Some(failure);
    }
    let is_gzip = first.starts_with(&[0x1f, 0x8b]);
    let (most_bytes, most_unpacking) = (body.most_bytes, body.most_unpacking);
    let start = Cursor::new(first).chain(body);
    if is_gzip {
        Content::Gzip(Box::new(Bounded {
            inner: MultiGzDecoder::new(BufReader::with_capacity(BUFFER, start)),
            given: 0,
            exceeded: None,
            most_bytes,
            most_unpacking,
            arrived: |decoder| decoder.get_ref().get_ref().get_ref().1.count,
        }))
    } else {
        Content::Plain(Bounded {
            inner: start,
            given: 0,
            exceeded: None,
            most_bytes,
            most_unpacking: u64::MAX,
            arrived: |start| start.get_ref().1.count,
        })
    }
}

/// Counts what arrives.
struct Counted<R> {
    inner: R,
    count: u64,
    broke_off: bool,
    /// Of a read that also brought bytes: comes next.
    failure: Option<io::Error>,
    most_bytes: u64,
    most_unpacking: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let read = self.inner.read(into);
        self.broke_off |= read
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        self.count += *read.as_ref().unwrap_or(&0) as u64;
        read
    }
}

/// Stops giving when it has given too much.
struct Bounded<R> {
    inner: R,
    given: u64,
    exceeded: Option<String>,
    most_bytes: u64,
    most_unpacking: u64,
    arrived: fn(&R) -> u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.given += read as u64;
        if self.given > self.most_bytes {
            return self.too_much(format!("the answer has more than {} bytes", self.most_bytes));
        }
        let arrived = (self.arrived)(&self.inner).max(1);
        if self.given > FREE_BYTES && self.given / arrived >= self.most_unpacking {
            let times = self.most_unpacking;
            return self.too_much(format!("the answer unpacks to more than {times} times its size"));
        }
        Ok(read)
    }
}

impl<R> Bounded<R> {
    fn too_much(&mut self, reason: String) -> io::Result<usize> {
        self.exceeded = Some(reason.clone());
        Err(io::Error::other(reason))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8], most_bytes: u64) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Unpacked::new(bytes, most_bytes, 200).read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn what_is_packed_is_known_by_its_bytes() {
        for text in [&b"<OAI-PMH/>"[..], b"", b"<", b"\x1f"] {
            assert_eq!(read(text, 1000).unwrap(), text);
            assert_eq!(read(&gzip(text), 1000).unwrap(), text);
        }
    }

    #[test]
    fn several_members_are_one_body() {
        assert_eq!(read(&[gzip(b"one "), gzip(b"two")].concat(), 100).unwrap(), b"one two");
    }

    #[test]
    fn a_bomb_is_defused() {
        let bomb = gzip(&vec![b' '; 40 << 20]);
        let error = read(&bomb, u64::MAX).unwrap_err();
        assert!(error.to_string().contains("200 times"), "{error}");
    }

    #[test]
    fn too_many_bytes_are_an_error_packed_or_not() {
        let text = vec![b'x'; 1001];
        assert!(read(&text, 1001).is_ok());
        assert!(read(&text, 1000).is_err());
        assert!(read(&gzip(&text), 1000).is_err());
    }

    #[test]
    fn what_came_before_a_failure_is_given_before_it() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
        let mut body = Unpacked::new(b"<OAI-PMH>".chain(Fails), 1000, 200);
        let mut out = Vec::new();
        let error = body.read_to_end(&mut out).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(out, b"<OAI-PMH>");
        assert!(body.broke_off());
        assert!(!body.is_gzip());
    }

    #[test]
    fn a_truncated_member_is_an_error() {
        let packed = gzip(&b"some text that is long enough to be cut".repeat(9));
        assert!(read(&packed[..packed.len() - 9], 10_000).is_err());
    }
}
