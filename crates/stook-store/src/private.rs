//! Whether a file with a password in it is for its owner alone.

use std::path::Path;

/// Whether nobody but its owner has a right to a file, neither its group nor everybody else: what libpq asks of a file
/// with passwords. A file that is not there harms nobody; where there are no such rights, nothing is known.
#[must_use]
pub fn is_private(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        const OF_OTHERS: u32 = 0o077;
        std::fs::metadata(path).map_or(true, |metadata| metadata.permissions().mode() & OF_OTHERS == 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        true
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_private_if_neither_its_group_nor_everybody_has_a_right_to_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mode, private) in [
            (0o600, true),
            (0o400, true),
            (0o640, false),
            (0o604, false),
            (0o644, false),
            (0o620, false),
        ] {
            set_permissions(file.path(), Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_private(file.path()), private, "{mode:o}");
        }
        assert!(is_private(Path::new("/no/such/file")));
    }
}
