//! A copy of the store while it is in use.

use std::fs::{self, File};
use std::path::Path;

use super::Sqlite;
use crate::StoreError;

impl Sqlite {
    /// Writes a consistent, compact copy to `target`, which must not exist. Readers and writers go on meanwhile.
    pub(crate) fn backup(&self, target: &Path) -> Result<(), StoreError> {
        if target.exists() {
            return Err(StoreError::Exists(target.to_owned()));
        }
        // Under its final name only when it is complete and on the disk.
        let mut partial = target.as_os_str().to_owned();
        partial.push(".partial");
        let partial = Path::new(&partial);
        let io = |what: &str| StoreError::io(format!("{what} {}", partial.display()));
        if partial.exists() {
            fs::remove_file(partial).map_err(io("removing"))?;
        }
        let reader = self.reader()?;
        // A read-only connection may not run VACUUM INTO, although it only reads this file.
        reader.connection.pragma_update(None, "query_only", false)?;
        reader
            .connection
            .execute("VACUUM INTO ?1", [partial.to_string_lossy()])
            .inspect_err(|_| {
                let _ = fs::remove_file(partial);
            })?;
        File::open(partial)
            .and_then(|file| file.sync_all())
            .map_err(io("saving"))?;
        fs::rename(partial, target).map_err(io("renaming"))?;
        if let Some(folder) = target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(io("saving"))?;
        }
        Ok(())
    }
}
