//! `stook docs`: the pages that explain the checks, as files. For whoever puts them on a web server; not for everyday use.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use super::Ending;
use crate::web::checks::{Links, names, page};

/// Write the pages that explain the checks of `stook validate`
#[derive(Args)]
pub(super) struct Docs {
    /// The folder, made if it is not there
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

impl Docs {
    pub(super) fn run(self) -> Result<Ending> {
        let dir = self.dir;
        fs::create_dir_all(&dir).with_context(|| format!("making {}", dir.display()))?;
        let mut count = 0;
        for name in names() {
            let file = match name {
                "" => "index.html".to_owned(),
                name => format!("{name}.html"),
            };
            let path = dir.join(file);
            let text = page(name, Links::Files).unwrap_or_default();
            fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            count += 1;
        }
        println!("{count} pages are in {}", dir.display());
        Ok(Ending::Fine)
    }
}
