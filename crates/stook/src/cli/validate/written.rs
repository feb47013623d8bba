//! Reports that are written to files, in the form that the name of the file promises.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::cli::output::Output;
use crate::validate::Report;

/// The forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people, in a terminal
    Text,
    /// For programs
    Json,
    /// For people, as a page
    Html,
    /// For build servers, as JUnit writes it
    Junit,
}

/// A file to come.
pub(super) struct Written {
    path: PathBuf,
    form: Form,
}

impl Written {
    /// A report to this file.
    ///
    /// # Errors
    /// When its name promises no form, or there is no folder for it.
    pub(super) fn to(path: &Path) -> Result<Written> {
        let extension = path
            .extension()
            .and_then(|extension| extension.to_str())
            .unwrap_or_default();
        let form = match extension.to_ascii_lowercase().as_str() {
            "txt" => Form::Text,
            "json" => Form::Json,
            "html" | "htm" => Form::Html,
            "xml" => Form::Junit,
            _ => bail!(
                "the name {} does not say which form the report shall have\nTry: .txt, .json, .html or .xml",
                path.display()
            ),
        };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if folder.is_some_and(|folder| !folder.is_dir()) || path.is_dir() {
            bail!("there is no folder for {}\nTry: make it first", path.display());
        }
        Ok(Written {
            path: path.to_owned(),
            form,
        })
    }

    /// Writes it; the file gets its name when it is complete.
    pub(super) fn write(self, report: &Report) -> Result<()> {
        let mut output = Output::open(Some(&self.path))?;
        let text = self.form.of(report, false);
        output
            .write_all(text.as_bytes())
            .with_context(|| format!("writing {}", self.path.display()))?;
        output.finish()
    }
}
