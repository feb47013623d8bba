//! How bytes travel: as they should, or late, in part, for ever, or not at all.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use socket2::SockRef;

use crate::fault::Fault;
use crate::http::Reply;
use crate::server::Stop;

/// How many bytes are missing where a length promises too much.
const MISSING_BYTES: u64 = 1_000;

/// Sends a reply; false if the connection is over.
pub(crate) fn deliver(reply: &Reply, stream: &mut TcpStream, stop: &Stop) -> io::Result<bool> {
    if stop.sleep(reply.delay) {
        return Ok(false);
    }
    match reply.delivery {
        None | Some(Fault::SlowAnswer) => return whole(reply, stream),
        Some(Fault::SplitCharacters) => return split_characters(reply, stream),
        Some(Fault::UnexpectedEnd) => promise(reply, stream, |length| length + MISSING_BYTES)?,
        Some(Fault::LengthTooShort) => promise(reply, stream, |length| length / 2)?,
        Some(Fault::UnfinishedChunks) => unfinished_chunks(reply, stream)?,
        // No orderly end after these.
        Some(Fault::ResetAtOnce) => return reset(stream),
        Some(Fault::ResetInBody) => return reset_in_body(reply, stream, stop),
        Some(Fault::Trickle) => trickle(reply, stream, stop)?,
        Some(Fault::Stall) => stall(reply, stream, stop)?,
        Some(Fault::SilentServer) => wait_for_end(stream, stop)?,
        Some(Fault::EndlessHeaders) => endless_headers(reply, stream)?,
        Some(Fault::HugeHeader) => huge_header(reply, stream)?,
        Some(Fault::SlowHeaders) => slow_headers(reply, stream, stop)?,
        Some(Fault::NotHttp) => stream.write_all(b"\x00\x01\x02 220 misbehave ESMTP ready\r\n")?,
        Some(_) => return whole(reply, stream),
    }
    // Not at once closed: unread bytes would turn the end into a reset.
    let _ = stream.shutdown(Shutdown::Write);
    Ok(false)
}

/// Whether a status comes before the connection goes wrong.
pub(crate) fn sends_status(delivery: Option<Fault>) -> bool {
    !matches!(
        delivery,
        Some(Fault::ResetAtOnce | Fault::SilentServer | Fault::NotHttp)
    )
}

fn whole(reply: &Reply, stream: &mut TcpStream) -> io::Result<bool> {
    let Some(length) = reply.body.length() else {
        stream.write_all(format!("{}Transfer-Encoding: chunked\r\n\r\n", reply.head()).as_bytes())?;
        return endless_chunks(reply, stream);
    };
    let mut message = format!("{}Content-Length: {length}\r\n\r\n", reply.head()).into_bytes();
    if let [(bytes, 1)] = reply.body.pieces() {
        message.extend_from_slice(bytes);
        stream.write_all(&message)?;
        return Ok(true);
    }
    stream.write_all(&message)?;
    for (bytes, times) in reply.body.pieces() {
        for _ in 0..*times {
            stream.write_all(bytes)?;
        }
    }
    Ok(true)
}

fn endless_chunks(reply: &Reply, stream: &mut TcpStream) -> io::Result<bool> {
    for (bytes, times) in reply.body.pieces() {
        // Ends when the client has enough: then writing fails.
        for _ in 0..*times {
            write_chunk(stream, bytes)?;
        }
    }
    stream.write_all(b"0\r\n\r\n")?;
    Ok(true)
}

fn write_chunk(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk)
}

fn document(reply: &Reply) -> Vec<u8> {
    reply
        .body
        .pieces()
        .iter()
        .flat_map(|(bytes, _)| bytes.iter().copied())
        .collect()
}

/// Each chunk ends behind the first byte of a multibyte character.
fn split_characters(reply: &Reply, stream: &mut TcpStream) -> io::Result<bool> {
    let document = document(reply);
    let mut message = format!("{}Transfer-Encoding: chunked\r\n\r\n", reply.head()).into_bytes();
    let mut start = 0;
    for (at, byte) in document.iter().enumerate() {
        if *byte >= 0xC0 {
            write_chunk(&mut message, &document[start..=at])?;
            start = at + 1;
        }
    }
    write_chunk(&mut message, &document[start..])?;
    message.extend_from_slice(b"0\r\n\r\n");
    stream.write_all(&message)?;
    Ok(true)
}

fn promise(reply: &Reply, stream: &mut TcpStream, promised: impl FnOnce(u64) -> u64) -> io::Result<()> {
    let document = document(reply);
    let length = promised(document.len() as u64);
    let mut message = format!("{}Content-Length: {length}\r\nConnection: close\r\n\r\n", reply.head()).into_bytes();
    message.extend_from_slice(&document);
    stream.write_all(&message)
}

fn unfinished_chunks(reply: &Reply, stream: &mut TcpStream) -> io::Result<()> {
    let document = document(reply);
    stream.write_all(format!("{}Transfer-Encoding: chunked\r\n\r\n", reply.head()).as_bytes())?;
    write_chunk(stream, &document[..document.len() / 2])
}

/// Without lingering, closing sends RST.
fn reset(stream: &TcpStream) -> io::Result<bool> {
    SockRef::from(stream).set_linger(Some(Duration::ZERO))?;
    Ok(false)
}

fn write_half(reply: &Reply, stream: &mut TcpStream) -> io::Result<()> {
    let document = document(reply);
    let mut message = format!("{}Content-Length: {}\r\n\r\n", reply.head(), document.len()).into_bytes();
    message.extend_from_slice(&document[..document.len() / 2]);
    stream.write_all(&message)
}

fn reset_in_body(reply: &Reply, stream: &mut TcpStream, stop: &Stop) -> io::Result<bool> {
    write_half(reply, stream)?;
    // Time for the half to arrive: a reset drops what was not yet read.
    stop.sleep(Duration::from_millis(50));
    reset(stream)
}

fn stall(reply: &Reply, stream: &mut TcpStream, stop: &Stop) -> io::Result<()> {
    write_half(reply, stream)?;
    wait_for_end(stream, stop)
}

/// Until the client or the server has enough.
fn wait_for_end(stream: &mut TcpStream, stop: &Stop) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut ignored = [0; 1024];
    loop {
        match stream.read(&mut ignored) {
            Ok(0) => return Ok(()),
            Err(error) if !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Err(error),
            _ if stop.sleep(Duration::ZERO) => return Ok(()),
            _ => {}
        }
    }
}

fn trickle(reply: &Reply, stream: &mut TcpStream, stop: &Stop) -> io::Result<()> {
    stream.write_all(format!("{}Connection: close\r\n\r\n", reply.head()).as_bytes())?;
    let document = document(reply);
    for byte in document.iter().chain(std::iter::repeat(&b' ')) {
        stream.write_all(&[*byte])?;
        if stop.sleep(reply.pause) {
            break;
        }
    }
    Ok(())
}

fn slow_headers(reply: &Reply, stream: &mut TcpStream, stop: &Stop) -> io::Result<()> {
    let document = document(reply);
    let head = format!("{}Content-Length: {}\r\n\r\n", reply.head(), document.len());
    for byte in head.bytes() {
        stream.write_all(&[byte])?;
        if stop.sleep(reply.pause) {
            return Ok(());
        }
    }
    stream.write_all(&document)
}

fn endless_headers(reply: &Reply, stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(reply.head().as_bytes())?;
    let mut number = 0_u64;
    loop {
        stream.write_all(format!("X-Number-{number}: {number:0100}\r\n").as_bytes())?;
        number += 1;
    }
}

fn huge_header(reply: &Reply, stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(format!("{}X-Filler: ", reply.head()).as_bytes())?;
    let filler = [b'x'; 8192];
    let mut left = reply.size;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(filler.len());
        stream.write_all(&filler[..length])?;
        left -= length as u64;
    }
    let document = document(reply);
    stream.write_all(format!("\r\nContent-Length: {}\r\n\r\n", document.len()).as_bytes())?;
    stream.write_all(&document)
}
