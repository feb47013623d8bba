//! What the tests of this folder share: reading something to its end, and showing what came of it.

use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use stook_oai::OaiNamespace;

use super::draft::{Content, Draft, Drafted, Drafter};
use super::open::{self, Input};
use super::options::Options;
use super::source::{self, Halt, Refusal, Source};

/// The usual options for example.org.
pub(super) fn options() -> Options {
    Options::new(OaiNamespace::parse("example.org").unwrap())
}

/// Reads a stream as a file inside a folder.
pub(super) fn read_stream(file_name: &str, stream: &mut dyn Read, options: &Options) -> Result<Drafted, Refusal> {
    let source = Source {
        name: file_name.into(),
        file_name: Some(file_name.into()),
        named: true,
    };
    let drafter = Drafter::new(Arc::new(options.clone()));
    let mut drafted = Drafted::default();
    let outcome = source::read(&source, stream, options, &mut |raw| {
        drafter.draft(raw, &mut drafted);
        ControlFlow::Continue(())
    });
    refused(outcome).map(|()| drafted)
}

/// Reads bytes as a file inside a folder.
pub(super) fn read_bytes(file_name: &str, mut bytes: &[u8], options: &Options) -> Drafted {
    read_stream(file_name, &mut bytes, options).unwrap()
}

/// Reads what lies at a path.
pub(super) fn read_path(path: &Path, options: &Options) -> Result<Drafted, Refusal> {
    let drafter = Drafter::new(Arc::new(options.clone()));
    let mut drafted = Drafted::default();
    let outcome = open::read(&[Input::Path(path.to_owned())], options, &Arc::default(), &mut |raw| {
        drafter.draft(raw, &mut drafted);
        ControlFlow::Continue(())
    });
    refused(outcome).map(|()| drafted)
}

fn refused(outcome: Result<(), Halt>) -> Result<(), Refusal> {
    match outcome {
        Ok(()) => Ok(()),
        Err(Halt::Refused(refusal)) => Err(refusal),
        Err(halt) => panic!("{halt:?}"),
    }
}

/// The metadata of a draft, without its root tag if that is Dublin Core's.
pub(super) fn metadata(draft: &Draft) -> &str {
    match &draft.content {
        Content::Live { metadata, .. } => match metadata.strip_suffix("</oai_dc:dc>") {
            Some(rest) => rest.split_once('>').unwrap().1,
            None => metadata,
        },
        Content::Deleted { .. } => "deleted",
    }
}

/// The identifiers of the drafts, without the namespace of the example.
pub(super) fn identifiers(drafted: &Drafted) -> Vec<&str> {
    let identifiers = drafted.drafts.iter().map(|draft| draft.identifier.as_str());
    identifiers
        .map(|identifier| identifier.strip_prefix("oai:example.org:").unwrap_or(identifier))
        .collect()
}

/// The lines and reasons of the rejections.
pub(super) fn reasons(drafted: &Drafted) -> Vec<String> {
    let rejected = drafted.rejected.iter();
    rejected
        .map(|rejected| format!("{}: {}", rejected.place.line, rejected.reason))
        .collect()
}

/// The same bytes, compressed.
pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A beginning, one byte repeated many times, and an end: a stream of any size that nobody has to hold.
pub(super) struct Enormous {
    pub(super) before: &'static [u8],
    pub(super) byte: u8,
    pub(super) times: u64,
    pub(super) after: &'static [u8],
}

impl Read for Enormous {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if !self.before.is_empty() {
            return self.before.read(out);
        }
        if self.times > 0 {
            let length = usize::try_from(self.times).unwrap_or(usize::MAX).min(out.len());
            out[..length].fill(self.byte);
            self.times -= length as u64;
            return Ok(length);
        }
        self.after.read(out)
    }
}
