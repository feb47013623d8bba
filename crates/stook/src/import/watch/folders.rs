//! The folders that are watched, each by one path, whichever links and detours lead to it.
//!
//! What is remembered of a file is remembered by its path. If one folder had two of them, what is deleted under one would
//! still be there under the other.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Who follows more links than this goes round in circles.
const MOST_LINKS: u32 = 40;

/// The true path of a folder. Of what is not there, as a drive that is unplugged, it is the path that it will have again.
pub(super) fn resolve(folder: &Path) -> io::Result<PathBuf> {
    Ok(follow(&std::path::absolute(folder)?, MOST_LINKS))
}

fn follow(path: &Path, links: u32) -> PathBuf {
    if let Ok(true_path) = fs::canonicalize(path) {
        return true_path;
    }
    let Some(parent) = path.parent() else {
        return path.to_owned();
    };
    match (fs::read_link(path), path.file_name()) {
        (Ok(target), _) if links > 0 => follow(&parent.join(target), links - 1),
        (_, Some(name)) => follow(parent, links).join(name),
        // It ends with two dots.
        (_, None) => {
            let inside = follow(parent, links);
            inside.parent().map_or(inside.clone(), Path::to_owned)
        }
    }
}

/// Whether a path is in one of these folders.
pub(super) fn is_in(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// The folder to name for a file that is not there: the largest one that is gone with it.
pub(super) fn gone_with(path: &Path) -> PathBuf {
    let parent = path.parent().unwrap_or(path);
    let missing = parent.ancestors().take_while(|folder| !folder.exists());
    missing.last().unwrap_or(parent).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_path() {
        let place = tempfile::tempdir().unwrap();
        let place = fs::canonicalize(place.path()).unwrap();
        fs::create_dir_all(place.join("drive/inbox")).unwrap();
        std::os::unix::fs::symlink("drive", place.join("link")).unwrap();
        std::os::unix::fs::symlink("round", place.join("round")).unwrap();
        let ways = ["drive/inbox", "link/inbox", "link/../drive/./inbox"];
        for way in ways {
            assert_eq!(resolve(&place.join(way)).unwrap(), place.join("drive/inbox"), "{way}");
        }
        // Unplugged, it is the same one.
        fs::remove_dir_all(place.join("drive")).unwrap();
        for way in ways {
            assert_eq!(resolve(&place.join(way)).unwrap(), place.join("drive/inbox"), "{way}");
        }
        assert_eq!(resolve(&place.join("round/a")).unwrap(), place.join("round/a"));
        assert!(resolve(Path::new("")).is_err());
    }

    #[test]
    fn the_largest_folder_that_is_gone_is_named() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("there")).unwrap();
        let gone = |path: &str| gone_with(&place.path().join(path));
        assert_eq!(gone("there/a.csv"), place.path().join("there"));
        assert_eq!(gone("inbox/b/c/a.csv"), place.path().join("inbox"));
    }
}
