//! Archives and compression, recognised by their first bytes.
//!
//! A stream enters; the sources inside it leave. gzip, zstd and tar are undone while streaming, at any nesting up to a
//! bound; zip keeps its list of contents at its end and so must be a file.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use flate2::bufread::MultiGzDecoder;
use zip::ZipReadOptions;
use zip::read::Config;
use zip::unstable::read::ZipIterable;
use zstd::stream::read::Decoder as ZstdDecoder;

use crate::import::draft::Rejected;
use crate::import::options::Options;
use crate::import::source::{self, Halt, Raw, Sink, Source, send};

use super::folder::is_litter;
use super::{Buffered, Counted, Stream};

/// How deep compression and archives may be nested.
const MAX_NESTING: usize = 4;

/// As much of a stream as is needed to know it: tar has its mark at byte 257.
const PEEK: usize = 512;

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
    Tar,
    Zip,
    /// A packing we know by name only.
    Foreign(&'static str),
}

fn recognise(beginning: &[u8]) -> Packing {
    match beginning {
        [0x1F, 0x8B, 0x08, ..] => Packing::Gzip,
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Packing::Zip,
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..] => Packing::Foreign("bzip2"),
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Foreign("xz"),
        [b'7', b'z', 0xBC, 0xAF, ..] => Packing::Foreign("7z"),
        [b'R', b'a', b'r', b'!', ..] => Packing::Foreign("rar"),
        _ if beginning.get(257..262) == Some(b"ustar") => Packing::Tar,
        _ => Packing::None,
    }
}

/// Reads a file: a zip by its list of contents, anything else as a stream.
pub(super) fn open_file(
    source: &Source,
    file: File,
    options: &Options,
    bytes: &Arc<AtomicU64>,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let mut stream = Buffered::new(Counted::new(&file, bytes.clone()));
    let is_zip = stream
        .peek(PEEK)
        .is_ok_and(|beginning| recognise(beginning) == Packing::Zip);
    if !is_zip {
        return unpack(source, Box::new(stream), options, sink);
    }
    drop(stream);
    let counted = Counted::new(BufReader::new(file), bytes.clone());
    match zip(source, counted, options, sink) {
        Err(Halt::Broken(rejected)) => send(sink, Raw::Broken(rejected)),
        outcome => outcome,
    }
}

/// Reads a stream, whatever it is packed in.
pub(super) fn unpack(source: &Source, stream: Stream<'_>, options: &Options, sink: &mut Sink<'_>) -> Result<(), Halt> {
    unpack_nested(source, stream, MAX_NESTING, options, sink)
}

/// Reads a stream inside others. What breaks it is reported, and does not stop the others.
fn unpack_nested(
    source: &Source,
    stream: Stream<'_>,
    levels: usize,
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    match nested(source, &mut Buffered::new(stream), levels, options, sink) {
        Err(Halt::Broken(rejected)) => send(sink, Raw::Broken(rejected)),
        outcome => outcome,
    }
}

fn nested(
    source: &Source,
    stream: &mut Buffered<Stream<'_>>,
    levels: usize,
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let beginning = stream.peek(PEEK).map_err(|error| source.unreadable(1, &error))?;
    let packing = recognise(beginning);
    if packing == Packing::None {
        return source::read(source, stream, options, sink);
    }
    if levels == 0 {
        return Err(source.broken(0, "archives are nested too deeply. Try: unpack it first", b""));
    }
    let inside: Stream<'_> = match packing {
        Packing::Gzip => Box::new(MultiGzDecoder::new(stream)),
        Packing::Zstd => {
            let decoder = ZstdDecoder::with_buffer(stream).map_err(|error| source.unreadable(1, &error))?;
            Box::new(decoder)
        }
        Packing::Tar => return tar(source, stream, levels, options, sink),
        Packing::Zip => return Err(source.broken(0, ZIP_IN_A_STREAM, b"")),
        Packing::Foreign(name) => {
            return Err(source.broken(0, format!("{name} compression is not read. Try: unpack it first"), b""));
        }
        Packing::None => return Ok(()),
    };
    nested(source, &mut Buffered::new(inside), levels - 1, options, sink)
}

const ZIP_IN_A_STREAM: &str =
    "a zip archive can be read only from a file of its own. Try: save it as a file, or unpack it first";

fn tar(
    archive: &Source,
    stream: &mut Buffered<Stream<'_>>,
    levels: usize,
    options: &Options,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let mut tar = tar::Archive::new(stream);
    let damaged = |error: io::Error| archive.broken(0, format!("the tar archive is damaged or cut off: {error}"), b"");
    for entry in tar.entries().map_err(damaged)? {
        let entry = entry.map_err(damaged)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if let Some(source) = member(archive, &path) {
            unpack_nested(&source, Box::new(entry), levels - 1, options, sink)?;
        }
    }
    send(sink, Raw::Finished(archive.name.clone()))
}

fn zip<R: io::Read + io::Seek>(archive: &Source, file: R, options: &Options, sink: &mut Sink<'_>) -> Result<(), Halt> {
    let damaged = |error: zip::result::ZipError| {
        archive.broken(0, format!("the zip archive is damaged or cut off: {error}"), b"")
    };
    let mut zip = ZipIterable::try_new(file, Config::default()).map_err(damaged)?;
    let entries = zip.files().map_err(damaged)?;
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(damaged)?;
        let path = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let Some(source) = member(archive, &path).filter(|_| entry.is_file()) else {
            continue;
        };
        match entry.with_reader(entries.reader_mut(), ZipReadOptions::new()) {
            Ok(entry) => unpack_nested(&source, Box::new(entry), MAX_NESTING - 1, options, sink)?,
            Err(error) => {
                let reason = format!("cannot be unpacked: {error}");
                send(sink, Raw::Broken(Rejected::new(source.place(0), None, reason, b"")))?;
            }
        }
    }
    send(sink, Raw::Finished(archive.name.clone()))
}

/// A file inside an archive, unless it is litter.
fn member(archive: &Source, path: &str) -> Option<Source> {
    let path = path.trim_start_matches("./");
    if path.is_empty() || path.split(['/', '\\']).any(is_litter) {
        return None;
    }
    let file_name = Path::new(path).file_name().map(|name| name.to_string_lossy().into());
    Some(Source {
        name: format!("{}/{path}", archive.name).into(),
        file_name,
        named: false,
    })
}
