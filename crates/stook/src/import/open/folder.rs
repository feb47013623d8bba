//! Walking a folder: every file in it, once, in a fixed order.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::import::source::Halt;

use super::cannot_open;

/// Deepest folder inside folders that is visited.
const MAX_DEPTH: usize = 64;

/// Something found.
pub(in crate::import) enum Found {
    /// A file, or what was named and is not a folder.
    File {
        path: PathBuf,
        /// Whether it is what was named.
        named: bool,
    },
    /// A folder or link that cannot be followed.
    Unreadable { path: PathBuf, error: io::Error },
}

type Visit<'v> = dyn FnMut(Found) -> Result<(), Halt> + 'v;

/// Visits what was named, or every file below it if it is a folder.
///
/// # Errors
/// When it does not exist, or the visitor fails.
pub(in crate::import) fn each_file(path: &Path, visit: &mut Visit<'_>) -> Result<(), Halt> {
    let metadata = fs::metadata(path).map_err(|error| cannot_open(path, &error))?;
    if !metadata.is_dir() {
        return visit(Found::File {
            path: path.to_owned(),
            named: true,
        });
    }
    let entries = sorted(path).map_err(|error| cannot_open(path, &error))?;
    let mut above = vec![fs::canonicalize(path).map_err(|error| cannot_open(path, &error))?];
    walk(entries, &mut above, visit)
}

/// `above` are the folders we are in, by their true paths: a link back to one of them would lead round in circles.
fn walk(entries: Vec<PathBuf>, above: &mut Vec<PathBuf>, visit: &mut Visit<'_>) -> Result<(), Halt> {
    for path in entries {
        let metadata = match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) => {
                visit(Found::Unreadable { path, error })?;
                continue;
            }
        };
        if metadata.is_file() {
            visit(Found::File { path, named: false })?;
        } else if metadata.is_dir() {
            descend(path, above, visit)?;
        }
        // Pipes, sockets and devices in a folder are nobody's records, and opening one could wait for ever.
    }
    Ok(())
}

fn descend(path: PathBuf, above: &mut Vec<PathBuf>, visit: &mut Visit<'_>) -> Result<(), Halt> {
    let opened = fs::canonicalize(&path).and_then(|true_path| Ok((true_path, sorted(&path)?)));
    match opened {
        Ok((true_path, _)) if above.contains(&true_path) || above.len() == MAX_DEPTH => Ok(()),
        Ok((true_path, entries)) => {
            above.push(true_path);
            let outcome = walk(entries, above, visit);
            above.pop();
            outcome
        }
        Err(error) => visit(Found::Unreadable { path, error }),
    }
}

/// What a folder holds, by name, without what systems leave behind in folders.
fn sorted(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if !is_litter(&entry.file_name().to_string_lossy()) {
            entries.push(entry.path());
        }
    }
    entries.sort();
    Ok(entries)
}

/// Hidden files, and what operating systems put beside people's own files.
pub(super) fn is_litter(file_name: &str) -> bool {
    file_name.starts_with('.') || matches!(file_name, "__MACOSX" | "Thumbs.db" | "desktop.ini")
}
