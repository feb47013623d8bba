//! `cargo xtask docs`: the pages that explain the validator's checks, as files.

use anyhow::{Context, Result, bail};

use crate::workspace::{cargo, run as run_command, target_dir};

/// `cargo xtask docs [FOLDER]`. The program makes the pages: linking it into this one would make every `cargo xtask` wait
/// for it to be compiled.
///
/// # Errors
/// When the program cannot be built, or the folder not written.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let folder = match arguments {
        [] => target_dir()?.join("checks"),
        [folder] if !folder.starts_with('-') => std::path::absolute(folder).context("finding the folder")?,
        _ => bail!("docs takes one folder or nothing"),
    };
    let mut command = cargo(["run", "--quiet", "--package", "stook", "--", "docs"])?;
    run_command(command.arg(folder))
}
