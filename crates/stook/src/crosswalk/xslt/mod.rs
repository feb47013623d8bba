//! Crosswalks by XSLT 1.0 stylesheets, which `xsltproc` runs.
//!
//! Records enter in batches, what the stylesheet makes of each leaves, or why it makes nothing. The stages:
//!
//! * `gather`: the stylesheet and what it imports, read once (`prolog`) and inspected (`inspect`) before it is run;
//! * `workshop`: a private folder with copies of them, and a driver that marks where each result begins and ends;
//! * `process`: one run of `xsltproc` over many records, within limits;
//! * `settle`: who is to blame when a run fails, so that only those fail;
//! * `told`: what `xsltproc` said, for people.
//!
//! Every record is a document of its own, in a file of its own: keys, variables and `/` mean what they mean when the
//! record is alone.

mod gather;
mod inspect;
mod process;
mod prolog;
mod settle;
mod told;
mod workshop;

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::Made;
use gather::Sheet;
use workshop::Workshop;

pub use workshop::leave_nothing_behind;

/// A stylesheet that was inspected.
#[derive(Debug)]
pub struct Stylesheet {
    sheets: Vec<Sheet>,
    /// Where it is run, once it is.
    workshop: Mutex<Option<Arc<Workshop>>>,
    strikes: Strikes,
}

/// How often it has failed in a row.
#[derive(Debug, Default)]
struct Strikes {
    /// Stopped by a limit, which takes long.
    stopped: AtomicU32,
    /// Stopped, or ended with an error.
    failed: AtomicU32,
}

impl Stylesheet {
    /// Reads a stylesheet and what it imports.
    ///
    /// # Errors
    /// When it is not there, is no stylesheet of XSLT 1.0, or could read or write elsewhere; with file and line.
    pub fn read(path: &Path) -> Result<Stylesheet> {
        Ok(Stylesheet {
            sheets: gather::gather(path)?,
            workshop: Mutex::new(None),
            strikes: Strikes::default(),
        })
    }

    /// Makes sure that it can be run.
    ///
    /// # Errors
    /// When `xsltproc` is not installed or does not understand the stylesheet.
    pub fn ready(&self) -> Result<()> {
        self.workshop().map(drop)
    }

    /// What it makes of each record; nothing if that is empty.
    ///
    /// # Errors
    /// When it cannot be run at all, or fails on so many records in a row that it would fail on all.
    pub fn apply(&self, records: &[&str]) -> Result<Vec<Made>> {
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let workshop = self.workshop()?;
        settle::settle(&workshop, &self.strikes, records)
    }

    fn workshop(&self) -> Result<Arc<Workshop>> {
        let mut workshop = self.workshop.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &*workshop {
            return Ok(open.clone());
        }
        let opened = Arc::new(Workshop::open(&self.sheets)?);
        *workshop = Some(opened.clone());
        Ok(opened)
    }
}

/// What is wrong with a stylesheet, and where.
#[derive(Debug)]
struct Complaint {
    line: usize,
    what: String,
    remedy: String,
}

impl Complaint {
    fn new(line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Complaint {
        Complaint {
            line,
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl std::error::Error for Complaint {}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}\nTry: {}", self.line, self.what, self.remedy)
    }
}

/// The line of a byte offset, counted from 1.
fn line_at(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests;
