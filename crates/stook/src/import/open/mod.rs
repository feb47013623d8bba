//! Opening what was named: files, folders, archives, standard input.
//!
//! Names enter; every source they hold leaves as a stream, in the order of the names and, inside a folder, in the
//! order of the alphabet. Compression is undone wherever it is met. Nothing is unpacked to disk, and nothing outside
//! what was named is read.

mod archive;
mod buffered;
mod counted;
pub(super) mod folder;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::draft::Rejected;
use super::options::Options;
use super::source::{Halt, Raw, Refusal, Sink, Source, send};
use super::sql;

pub use buffered::Buffered;
pub use counted::Counted;

/// Something to import.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file, a folder or an archive.
    Path(PathBuf),
    /// A file that was found in a folder somebody named: what is no input there is passed over, not refused.
    Found(PathBuf),
    /// Standard input.
    Stdin,
    /// A database.
    Sql(Arc<sql::Reading>),
}

impl Input {
    /// What a word of the command line names; `-` is standard input.
    #[must_use]
    pub fn from_argument(argument: &OsStr) -> Input {
        if argument == "-" {
            Input::Stdin
        } else {
            Input::Path(PathBuf::from(argument))
        }
    }
}

/// How many bytes there are to read, as they lie on disk; `None` if one of the inputs is a stream.
#[must_use]
pub fn total_bytes(inputs: &[Input]) -> Option<u64> {
    let mut total = 0;
    for input in inputs {
        let (Input::Path(path) | Input::Found(path)) = input else {
            return None;
        };
        let mut streams = false;
        folder::each_file(path, &mut |found| {
            match &found {
                folder::Found::File { path, .. } => match path.metadata() {
                    Ok(metadata) if metadata.is_file() => total += metadata.len(),
                    _ => streams = true,
                },
                folder::Found::Unreadable { .. } => {}
            }
            Ok(())
        })
        .ok()?;
        if streams {
            return None;
        }
    }
    Some(total)
}

/// Reads everything the inputs hold into the sink. `bytes` counts what was read from disk.
///
/// # Errors
/// When the sink wants no more, or the whole import has to be refused.
pub fn read(inputs: &[Input], options: &Options, bytes: &Arc<AtomicU64>, sink: &mut Sink<'_>) -> Result<(), Halt> {
    for input in inputs {
        match input {
            Input::Stdin => {
                let source = Source {
                    name: "standard input".into(),
                    file_name: None,
                    named: true,
                };
                let stream = Counted::new(io::stdin().lock(), bytes.clone());
                archive::unpack(&source, Box::new(stream), options, sink)?;
            }
            Input::Path(path) => read_path(path, options, bytes, sink)?,
            Input::Found(path) => read_file(path, false, options, bytes, sink)?,
            Input::Sql(reading) => sql::read(reading, options, bytes, sink)?,
        }
    }
    Ok(())
}

/// Looks for mistakes that concern the whole import, before anything is imported: paths that cannot be opened,
/// columns nobody knows.
///
/// # Errors
/// The first such mistake.
pub fn look_ahead(inputs: &[Input], options: &Options) -> Result<(), Refusal> {
    let bytes = Arc::new(AtomicU64::new(0));
    for input in inputs {
        let (Input::Path(path) | Input::Found(path)) = input else {
            continue;
        };
        let is_found = matches!(input, Input::Found(_));
        let outcome = folder::each_file(path, &mut |found| match found {
            folder::Found::File { path: file, named } if (named && !is_found) || could_be_refused(&file) => {
                let named = named && !is_found;
                // A pipe can be read only once.
                if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                    return Ok(());
                }
                match read_file(&file, named, options, &bytes, &mut |_| ControlFlow::Break(())) {
                    Err(Halt::Refused(refusal)) => Err(Halt::Refused(refusal)),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        });
        match outcome {
            // It is not there any more; reading it will tell.
            Err(Halt::Refused(Refusal::CannotOpen { .. })) if is_found => {}
            Err(Halt::Refused(refusal)) => return Err(refusal),
            _ => {}
        }
    }
    Ok(())
}

/// Tables and JSON lines can have names nobody knows; what is inside archives is found out when it is read.
fn could_be_refused(file: &Path) -> bool {
    let name = file.to_string_lossy().to_ascii_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    [".csv", ".tsv", ".tab", ".jsonl", ".ndjson"]
        .iter()
        .any(|extension| name.ends_with(extension))
}

fn read_path(path: &Path, options: &Options, bytes: &Arc<AtomicU64>, sink: &mut Sink<'_>) -> Result<(), Halt> {
    folder::each_file(path, &mut |found| match found {
        folder::Found::File { path, named } => read_file(&path, named, options, bytes, sink),
        folder::Found::Unreadable { path, error } => send(sink, unreadable(&source_of(&path, false), &error)),
    })
}

fn read_file(
    path: &Path,
    named: bool,
    options: &Options,
    bytes: &Arc<AtomicU64>,
    sink: &mut Sink<'_>,
) -> Result<(), Halt> {
    let source = source_of(path, named);
    if is_workbook(path) {
        let reason = "a workbook cannot be read. Try: save its sheet as CSV (UTF-8) and import that";
        return match named {
            true => Err(not_recognised(path, reason).into()),
            false => send(sink, Raw::Broken(Rejected::new(source.place(0), None, reason, b""))),
        };
    }
    match File::open(path) {
        Ok(file) => archive::open_file(&source, file, options, bytes, sink),
        Err(error) if named => Err(cannot_open(path, &error).into()),
        Err(error) => send(sink, unreadable(&source, &error)),
    }
}

fn source_of(path: &Path, named: bool) -> Source {
    let file_name = path.file_name().map(|name| name.to_string_lossy().into());
    Source {
        name: path.to_string_lossy().into(),
        file_name,
        named,
    }
}

fn unreadable(source: &Source, error: &io::Error) -> Raw {
    let reason = format!("cannot be opened: {error}");
    Raw::Broken(Rejected::new(source.place(0), None, reason, b""))
}

/// Spreadsheet programs save their own formats unless told otherwise; some of them look like archives of XML.
fn is_workbook(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    ["xlsx", "xlsm", "xls", "ods", "numbers"]
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

fn not_recognised(path: &Path, reason: &str) -> Refusal {
    Refusal::NotRecognised {
        path: path.to_string_lossy().into_owned(),
        reason: reason.to_owned(),
    }
}

fn cannot_open(path: &Path, error: &io::Error) -> Refusal {
    Refusal::CannotOpen {
        path: path.to_string_lossy().into_owned(),
        reason: error.to_string(),
    }
}

/// A stream whose exact type does not matter.
type Stream<'s> = Box<dyn Read + 's>;

#[cfg(test)]
mod tests;
