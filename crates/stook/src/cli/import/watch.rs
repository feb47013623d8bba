//! `stook import --watch`: folders that are watched.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{Import, STOPPED, Session};
use crate::cli::{Ending, in_words, stop};
use crate::import::Options;
use crate::import::watch::{Told, Watch, Watcher};

impl Import {
    /// Looks at the folders once, or until it is stopped.
    pub(super) fn keep_watch(
        &self,
        session: &Session,
        options: Options,
        repository: &Option<String>,
    ) -> Result<Ending> {
        let folders: Vec<PathBuf> = self.inputs.iter().map(PathBuf::from).collect();
        if self.inputs.iter().any(|input| input == "-") {
            bail!("standard input cannot be watched\nTry: a folder; or stook import - to read it once");
        }
        let watch = Watch {
            folders: folders.clone(),
            forget: self.forget.clone(),
            max_deletions: self.max_deletions,
            repository: repository.clone(),
            is_server: false,
        };
        let mut watcher = Watcher::new(&session.store, session.repository, watch, options)?;
        for folder in &folders {
            // One that was there before may come back; one that never was is a slip of the pen.
            if !folder.exists() && !watcher.knows(folder) {
                let shown = folder.display();
                bail!("there is no folder {shown} to watch\nTry: mkdir {shown}, or check the name");
            }
        }
        let stop = stop::on_signal("Stopping after the batch in hand …")?;
        if self.once {
            let round = watcher.once(&stop, &mut say)?;
            println!("{round}");
            let stopped = stop.load(Relaxed);
            if stopped {
                eprintln!("{STOPPED}");
            }
            return Ok(if round.has_trouble || stopped {
                Ending::Findings
            } else {
                Ending::Fine
            });
        }
        let shown: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        eprintln!("Watching {}. Ctrl-C stops.", shown.join(", "));
        watcher.keep(Duration::from_secs(self.watch_seconds), &stop, &mut say);
        Ok(Ending::Fine)
    }
}

fn say(told: Told) {
    match told {
        Told::News(text) => println!("{text}"),
        Told::Trouble(text) => eprintln!("{text}"),
        Told::Failed(failure) => eprintln!("stook: {}\nIt is tried again.", in_words(&failure)),
    }
}
