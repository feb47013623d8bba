//! Content codings: what the client accepts, what we offer, and the work itself.

use std::cell::RefCell;
use std::io;

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use crate::config::Coding;

/// Level 1 of either coding: XML shrinks well at any level, and the network is faster than a higher one.
const GZIP_LEVEL: u32 = 1;
const ZSTD_LEVEL: i32 = 1;
/// Deflate, no name, no time, nothing known of the level or the system (RFC 1952, section 2.3).
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// Below this a coding saves no packet.
const LEAST_BYTES: usize = 1024;

/// The coding to answer with, by the client's Accept-Encoding (RFC 9110, section 12.5.3): the one it likes best among
/// those offered, the first offered among equals; none if the client did not ask.
pub fn negotiate(accept_encoding: &str, offered: &[Coding]) -> Option<Coding> {
    let weight = |coding: &str| -> Option<u16> {
        accept_encoding.split(',').find_map(|part| {
            let mut pieces = part.split(';');
            let name = pieces.next()?.trim();
            if !name.eq_ignore_ascii_case(coding) {
                return None;
            }
            let quality = pieces.find_map(|piece| {
                let (name, value) = piece.split_once('=')?;
                let is_quality = name.trim().eq_ignore_ascii_case("q");
                value.trim().parse::<f32>().ok().filter(|_| is_quality)
            });
            Some((quality.unwrap_or(1.0).clamp(0.0, 1.0) * 1000.0) as u16)
        })
    };
    let wildcard = weight("*").unwrap_or(0);
    let identity = weight("identity").unwrap_or(0);
    let mut best: Option<(u16, Coding)> = None;
    // zstd is listed last and wins among equals: who names it knows what it is asking for.
    for &coding in offered {
        let weight = weight(coding.as_str()).unwrap_or(if coding == Coding::Gzip { wildcard } else { 0 });
        if weight > 0 && weight >= identity && best.is_none_or(|(other, _)| weight >= other) {
            best = Some((weight, coding));
        }
    }
    best.map(|(_, coding)| coding)
}

thread_local! {
    /// Made once for each thread: its tables are larger than many a page.
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(GZIP_LEVEL), false));
}

/// Compresses a document, unless it is too short to be worth it.
///
/// # Errors
/// When the encoder fails, which it does not on memory.
pub fn compress(document: &[u8], coding: Coding) -> io::Result<Option<Vec<u8>>> {
    if document.len() < LEAST_BYTES {
        return Ok(None);
    }
    match coding {
        Coding::Gzip => DEFLATE.with_borrow_mut(|deflate| gzip(document, deflate)).map(Some),
        Coding::Zstd => zstd::bulk::compress(document, ZSTD_LEVEL).map(Some),
    }
}

/// A gzip member by hand, because only the bare encoder can be used again.
fn gzip(document: &[u8], deflate: &mut Compress) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(document.len() / 4);
    out.extend_from_slice(&GZIP_HEADER);
    deflate.reset();
    loop {
        let done = usize::try_from(deflate.total_in()).map_err(io::Error::other)?;
        match deflate.compress_vec(&document[done..], &mut out, FlushCompress::Finish)? {
            Status::StreamEnd => break,
            Status::Ok | Status::BufError => out.reserve(out.len()),
        }
    }
    let mut checksum = Crc::new();
    checksum.update(document);
    out.extend_from_slice(&checksum.sum().to_le_bytes());
    out.extend_from_slice(&checksum.amount().to_le_bytes());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    const BOTH: &[Coding] = &[Coding::Gzip, Coding::Zstd];

    #[test]
    fn the_client_decides() {
        for (accept, expected) in [
            ("", None),
            ("identity", None),
            ("gzip", Some(Coding::Gzip)),
            ("GZIP;q=1.0, identity;q=0.5", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("zstd;q=0.5, gzip;q=0.9", Some(Coding::Gzip)),
            ("gzip;q=0", None),
            ("gzip;Q=0", None),
            ("identity;q=1, *;q=0", None),
            ("*", Some(Coding::Gzip)),
            ("*;q=0.5, gzip;q=0", None),
            ("identity;q=1.0, gzip;q=0.1", None),
            ("deflate, br", None),
            ("gzip;q=nonsense", Some(Coding::Gzip)),
        ] {
            assert_eq!(negotiate(accept, BOTH), expected, "{accept}");
        }
        assert_eq!(negotiate("gzip", &[]), None);
    }

    #[test]
    fn what_is_compressed_unpacks_to_the_same() {
        let document = "<record>Karte, mapa, карта</record>".repeat(100);
        let gzip = compress(document.as_bytes(), Coding::Gzip).unwrap().unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(&gzip[..])
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, document);
        let zstd = compress(document.as_bytes(), Coding::Zstd).unwrap().unwrap();
        assert_eq!(zstd::bulk::decompress(&zstd, 1 << 20).unwrap(), document.as_bytes());
        assert_eq!(compress(b"short", Coding::Gzip).unwrap(), None);
    }
}
