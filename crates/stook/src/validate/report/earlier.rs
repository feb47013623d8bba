//! What changed since an earlier run, by its report.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{Report, Status};
use crate::validate::table;

/// What changed since an earlier run.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Changes {
    /// When that run began.
    pub since: String,
    /// Checks that were broken then and hold now.
    pub mended: Vec<String>,
    /// Checks that held then and are broken now.
    pub new: Vec<String>,
}

/// An earlier report, as far as it is needed.
#[derive(Debug, Deserialize)]
pub struct Earlier {
    began: String,
    subject: String,
    checks: Vec<EarlierCheck>,
}

#[derive(Debug, Deserialize)]
struct EarlierCheck {
    id: String,
    status: Status,
}

impl Earlier {
    /// Reads a report that was written as JSON.
    ///
    /// # Errors
    /// When it cannot be read or is none.
    pub fn read(path: &Path) -> Result<Earlier> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        match serde_json::from_str(&text) {
            Ok(earlier) => Ok(earlier),
            Err(error) => bail!(
                "{} is no report of stook validate: {error}\nTry: a file that --report NAME.json wrote",
                path.display()
            ),
        }
    }

    /// What it was about.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// What is different now.
    #[must_use]
    pub fn compare(&self, report: &Report) -> Changes {
        let then: HashMap<&str, Status> = self
            .checks
            .iter()
            .map(|check| (check.id.as_str(), check.status))
            .collect();
        let turned = |from: Status, to: Status| {
            let all =
                table::all().filter(|check| then.get(check.id.as_str()) == Some(&from) && report.status(check) == to);
            all.map(|check| check.id.clone()).collect()
        };
        Changes {
            since: self.began.clone(),
            mended: turned(Status::Broken, Status::Holds),
            new: turned(Status::Holds, Status::Broken),
        }
    }
}
