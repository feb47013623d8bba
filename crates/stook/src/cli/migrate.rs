//! `stook migrate`: the layout of the store, brought up to date.

use anyhow::Result;
use clap::Args;

use super::Ending;
use super::session::{Place, existing_configuration, open_store};

/// Make the store, or bring its layout up to date
#[derive(Args)]
#[command(after_help = "\
Every command does this by itself where it is allowed to. This one does nothing else: for a database whose everyday
user may not make tables, run it once as one who may, by an address in another configuration (-c FILE).")]
pub(super) struct Migrate {}

impl Migrate {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let config = existing_configuration(place, None)?;
        open_store(&config)?;
        println!("{} has the layout of this version.", config.store);
        Ok(Ending::Fine)
    }
}
