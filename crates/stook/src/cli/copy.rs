//! `stook copy`: a whole store to another place.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use anyhow::{Error, Result, bail};
use clap::Args;
use stook_store::{Copied, CopyOptions, StoreAddress};

use super::{Ending, progress, stop};
use crate::count::{grouped, noun};

const NOT_FINISHED: &str = "the copy is not finished\nTry: run the same command again: it passes over what is there";

/// Copy a whole store to another place, between files and servers
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook copy stook.db postgres://stook@db.example.org/stook
  stook copy postgres://stook@db.example.org/stook stook.db
  stook copy --again stook.db postgres://stook@db.example.org/stook

The copy is exact: datestamps, deletions, sets, sources, and the tokens that harvesters hold stay good. FROM is only
read and may be in use; nothing may use TO until the copy is finished.

To move: stop imports and harvests, copy, change `store =` in stook.toml, restart `stook serve`.
Or copy while everything runs, then stop imports and harvests and copy once more with --again, which reads both
stores and writes only what differs.

A copy that was broken off goes on when the same command is run again.
Passwords: leave them out of the address and set PGPASSWORD, or write them to ~/.pgpass.")]
pub(super) struct Copy {
    /// The store to copy: a file, or postgres://…
    #[arg(value_name = "FROM")]
    from: StoreAddress,
    /// Where to: a file or a postgres://… address, without a store or with an empty one
    #[arg(value_name = "TO")]
    to: StoreAddress,
    /// Bring an earlier copy up to date: what was changed in TO since is undone
    #[arg(long)]
    again: bool,
    /// With --again, even if TO has later records than FROM, which are lost
    #[arg(long, requires = "again")]
    discard_later: bool,
}

impl Copy {
    pub(super) fn run(self) -> Result<Ending> {
        if let StoreAddress::File(path) = &self.to {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                let folder = folder.display();
                bail!("there is no folder {folder}\nTry: mkdir -p {folder}");
            }
        }
        let stop = stop::on_signal("Stopping after the batch in hand …")?;
        let options = CopyOptions {
            again: self.again,
            discard_later: self.discard_later,
            ..CopyOptions::default()
        };
        let (began, bar) = (Instant::now(), progress::count(0));
        let mut began_to_write = false;
        let show = |step: &str, done: u64, of: u64| {
            began_to_write = true;
            bar.set_message(format!("{step}: {}", grouped(done)));
            bar.set_length(of);
            bar.set_position(done);
        };
        let copied = stook_store::copy(&self.from, &self.to, options, show, || stop.load(Relaxed));
        bar.finish_and_clear();
        let copied = copied.map_err(|failure| match (began_to_write, failure.is_passing()) {
            (true, true) => Error::from(failure).context(NOT_FINISHED),
            _ => failure.into(),
        })?;
        report(&copied, began);
        if !copied.finished {
            eprintln!(
                "Stopped. {} cannot be used yet. Run the same command again to go on.",
                self.to
            );
            return Ok(Ending::Findings);
        }
        println!("\n{} is the same as {} was when this began.", self.to, self.from);
        println!("Now set `store` in stook.toml to {}, and run `stook check`.", self.to);
        Ok(Ending::Fine)
    }
}

fn report(copied: &Copied, began: Instant) {
    let seconds = began.elapsed().as_secs_f64();
    let rate = copied.records as f64 / seconds.max(0.001);
    println!(
        "{:>12} {} in {seconds:.1} s, {} a second",
        grouped(copied.records),
        noun(copied.records, "record"),
        grouped(rate as u64)
    );
    println!(
        "{:>12} {} of all tables written",
        grouped(copied.written),
        noun(copied.written, "row")
    );
    if copied.removed > 0 {
        println!(
            "{:>12} {} removed that are gone",
            grouped(copied.removed),
            noun(copied.removed, "row")
        );
    }
}
