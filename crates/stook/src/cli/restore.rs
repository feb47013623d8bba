//! `stook restore`: bring deleted records back.

use anyhow::Result;
use clap::Args;
use stook_store::Content;

use super::Ending;
use super::delete::apply;
use super::session::Place;
use crate::count::{counted, verb};

/// Bring deleted records back, with the content and sets they had
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook restore map-001
  stook restore oai:example.org:map-001 --prefix oai_dc")]
pub(super) struct Restore {
    /// Identifiers, full or local; - reads them from standard input, one a line
    #[arg(required = true, value_name = "IDENTIFIER")]
    identifiers: Vec<String>,
    /// Only in this metadata format
    #[arg(long)]
    prefix: Option<String>,
}

impl Restore {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let report = apply(place, &self.identifiers, self.prefix.as_deref(), &Content::Restored)?;
        println!(
            "Restored {}; {} {} not deleted.",
            counted(report.changed as u64, "record"),
            report.unchanged,
            verb(report.unchanged as u64, "was", "were")
        );
        report.end()
    }
}
