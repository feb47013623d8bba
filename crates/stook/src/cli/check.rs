//! `stook check`: is the store sound?

use anyhow::Result;
use clap::Args;

use super::session::{Place, existing_configuration};
use super::{Ending, progress, session};

/// Read the whole store and say what is wrong with it
#[derive(Args)]
#[command(after_help = "Exit code 0: sound. 1: something is wrong, listed on standard output.")]
pub(super) struct Check {}

impl Check {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let config = existing_configuration(place, None)?;
        let store = session::existing_store(&config)?;
        let bar = progress::count(0);
        let problems = store.check(|step, done, total| {
            bar.set_message(step.to_owned());
            bar.set_length(total);
            bar.set_position(done);
        });
        bar.finish_and_clear();
        let problems = problems?;
        for problem in &problems {
            println!("{problem}");
        }
        if problems.is_empty() {
            println!("{} is sound.", config.store);
            return Ok(Ending::Fine);
        }
        println!("\nTry: restore a backup, or import the records again into a new store.");
        Ok(Ending::Findings)
    }
}
