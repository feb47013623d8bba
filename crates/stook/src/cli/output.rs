//! Records on their way out: the forms they take, and files that get their names when they are complete.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueEnum;
use flate2::Compression;
use flate2::write::GzEncoder;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// One JSON object per record
    Jsonl,
    /// One OAI-PMH ListRecords document
    Xml,
    /// MARC records in ISO 2709
    Marc,
}

impl OutputFormat {
    /// What the name of a file promises.
    pub(super) fn of_name(path: &Path) -> OutputFormat {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        match name.rsplit_once('.') {
            Some((_, "xml")) => OutputFormat::Xml,
            Some((_, "mrc" | "marc")) => OutputFormat::Marc,
            _ => OutputFormat::Jsonl,
        }
    }
}

/// The JSON object of one record: the shape `stook import` reads.
#[derive(serde::Serialize)]
pub(super) struct Line<'a> {
    pub(super) identifier: &'a str,
    pub(super) datestamp: String,
    pub(super) sets: Vec<&'a str>,
    pub(super) deleted: bool,
    /// By format; null where the record is deleted.
    pub(super) metadata: BTreeMap<&'a str, Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<BTreeMap<&'a str, Vec<&'a str>>>,
}

/// Where records go. A file gets its name when it is complete.
pub(super) enum Output {
    Standard(BufWriter<io::StdoutLock<'static>>),
    Plain(BufWriter<File>, PathBuf),
    Gzip(GzEncoder<BufWriter<File>>, PathBuf),
    Zstd(zstd::Encoder<'static, BufWriter<File>>, PathBuf),
}

impl Output {
    pub(super) fn open(path: Option<&Path>) -> Result<Output> {
        let Some(path) = path else {
            return Ok(Output::Standard(BufWriter::new(io::stdout().lock())));
        };
        let partial = partial(path);
        let file = File::create(&partial).with_context(|| format!("writing {}", partial.display()))?;
        let file = BufWriter::with_capacity(1 << 17, file);
        let path = path.to_owned();
        Ok(match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Output::Gzip(GzEncoder::new(file, Compression::default()), path),
            Some("zst") => Output::Zstd(zstd::Encoder::new(file, 3)?, path),
            _ => Output::Plain(file, path),
        })
    }

    /// Gives the file its name, in the place of one that had it.
    pub(super) fn finish(self) -> Result<()> {
        match self.close()? {
            Some(path) => std::fs::rename(partial(&path), &path).with_context(|| format!("writing {}", path.display())),
            None => Ok(()),
        }
    }

    /// Leaves what there is under the name of an unfinished file; which that is, if it is one.
    pub(super) fn break_off(self) -> Result<Option<PathBuf>> {
        Ok(self.close()?.as_deref().map(partial))
    }

    /// Writes what is left; the name the file is to have, if it is one.
    fn close(self) -> Result<Option<PathBuf>> {
        let (file, path) = match self {
            Output::Standard(mut out) => {
                out.flush()?;
                return Ok(None);
            }
            Output::Plain(file, path) => (file, path),
            Output::Gzip(encoder, path) => (encoder.finish()?, path),
            Output::Zstd(encoder, path) => (encoder.finish()?, path),
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(Some(path))
    }
}

fn partial(path: &Path) -> PathBuf {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    partial.into()
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Standard(out) => out.write(bytes),
            Output::Plain(out, _) => out.write(bytes),
            Output::Gzip(out, _) => out.write(bytes),
            Output::Zstd(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Standard(out) => out.flush(),
            Output::Plain(out, _) => out.flush(),
            Output::Gzip(out, _) => out.flush(),
            Output::Zstd(out, _) => out.flush(),
        }
    }
}
