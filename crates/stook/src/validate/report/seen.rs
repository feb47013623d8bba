//! The records a run met, so that a later run can ask what became of them.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// So many of them stand in a report.
pub const MOST_SEEN: usize = 1_000;

/// A record that a run met.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct SeenIdentifier {
    /// Its identifier.
    pub identifier: String,
    /// Its datestamp, as it was written.
    pub datestamp: String,
    /// Whether it was deleted.
    #[serde(default)]
    pub deleted: bool,
}

/// The part of a report that is read again.
#[derive(Deserialize)]
struct Earlier {
    #[serde(default)]
    seen: Vec<SeenIdentifier>,
}

/// The records that an earlier run met, out of its JSON report.
///
/// # Errors
/// When the file cannot be read, or is no report.
pub(crate) fn seen_in(path: &Path) -> Result<Vec<SeenIdentifier>> {
    let remedy = "Try: the report that an earlier run wrote as JSON";
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}\n{remedy}", path.display()))?;
    let earlier: Earlier = serde_json::from_str(&text)
        .with_context(|| format!("{} is not a report of the validator\n{remedy}", path.display()))?;
    Ok(earlier.seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_report_is_said_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        assert!(seen_in(&path).unwrap_err().to_string().contains("Try:"));
        std::fs::write(&path, "{\"seen\": 1}").unwrap();
        assert!(seen_in(&path).unwrap_err().to_string().contains("is not a report"));
        // A report of a version that did not tell what it saw.
        std::fs::write(&path, "{\"subject\": \"x\"}").unwrap();
        assert_eq!(seen_in(&path).unwrap(), []);
    }
}
