//! `stook backup`: a copy of the store while it is in use.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use stook_store::PostgresAddress;

use super::session::{Place, existing_configuration};
use super::{Ending, progress, session};
use crate::count::counted;

/// Copy the store to a new file while it is in use
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook backup /backup/stook-2026-11-15.db

To restore: stop `stook serve`, put the copy in the place of the store, remove the -wal and -shm files
beside it, leave -clock, start again, and import what was imported since.
The copy is consistent however many imports run meanwhile.")]
pub(super) struct Backup {
    /// The file to write; it must not exist yet
    #[arg(value_name = "FILE")]
    target: PathBuf,
}

impl Backup {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let config = existing_configuration(place, None)?;
        if PostgresAddress::is_meant_by(&self.target.to_string_lossy()) {
            bail!(
                "a backup is a file, and this is the address of a server\nTry: stook copy, which copies a store to a server"
            );
        }
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let folder = folder.display();
            bail!("there is no folder {folder}\nTry: mkdir -p {folder}");
        }
        let store = session::existing_store(&config)?;
        let spinner = progress::spinner("{spinner} copying  {elapsed}");
        let outcome = store.backup(&self.target);
        spinner.finish_and_clear();
        outcome?;
        let bytes = std::fs::metadata(&self.target)?.len();
        println!("Wrote {} ({}).", self.target.display(), counted(bytes, "byte"));
        Ok(Ending::Fine)
    }
}
