//! `stook completions` and `stook man`: made from the same source as `--help`.

use std::fs;
use std::io;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_complete::Shell;

use super::Ending;

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook completions bash > ~/.local/share/bash-completion/completions/stook
  stook completions zsh > ~/.zfunc/_stook
  stook completions fish > ~/.config/fish/completions/stook.fish")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut command: Command) -> Result<Ending> {
        clap_complete::generate(self.shell, &mut command, "stook", &mut io::stdout());
        Ok(Ending::Fine)
    }
}

/// Write the manual pages, one for each command
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook man --dir ~/.local/share/man/man1
  stook man | man -l -                    just the first page")]
pub(super) struct Man {
    /// Folder for the pages; without it the first page goes to standard output
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, mut command: Command) -> Result<Ending> {
        command.build();
        match self.dir {
            None => clap_mangen::Man::new(command).render(&mut io::stdout())?,
            Some(dir) => {
                fs::create_dir_all(&dir).with_context(|| format!("making {}", dir.display()))?;
                clap_mangen::generate_to(command, &dir).with_context(|| format!("writing to {}", dir.display()))?;
            }
        }
        Ok(Ending::Fine)
    }
}
