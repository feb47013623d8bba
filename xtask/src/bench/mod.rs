//! `cargo xtask bench`: measurements beside other programs, in one run on one
//! machine. What leaves is a table with ratios, as Markdown and JSON.

mod import;
mod load;
mod nginx;
mod pages;
mod provider;
mod report;
mod wrk;

use anyhow::{Result, bail};

use crate::workspace::{cargo, run as run_command};

/// `cargo xtask bench provider …`.
///
/// # Errors
/// When something cannot be measured.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Some((subject, rest)) = arguments.split_first() else {
        bail!("what shall be measured? Try: cargo xtask bench provider");
    };
    if subject != "provider" {
        bail!("`{subject}` is not measured. Try: cargo xtask bench provider");
    }
    let options = provider::Options::parse(rest)?;
    if cfg!(debug_assertions) {
        // A client built for debugging would use the processor that belongs to
        // the server.
        let mut command = cargo(["run", "--quiet", "--release", "--package", "xtask", "--", "bench"])?;
        return run_command(command.args(arguments));
    }
    provider::run(&options)
}
