//! The model of answers of the protocol beside OAI-PMH.xsd. They are no records of a format, so they are made and judged
//! as whole documents.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use stook_metadata::model::{first_breach, of_answers};

use super::{Candidate, made, told, valid};

/// Whether the two say the same.
pub(super) fn agree(official: &Path, scratch: &Path) -> Result<bool> {
    let mut candidates = Vec::new();
    made::add(of_answers(), &mut candidates);
    for candidate in &mut candidates {
        complete(candidate);
    }
    let checked = |xml: &str| match first_breach(xml, of_answers()) {
        Some((_, breach)) => Err(breach.to_string()),
        None => Ok(()),
    };
    let by_schema = valid(&driver(official, scratch)?, official, scratch, &candidates)?;
    Ok(told(of_answers(), checked, &candidates, &by_schema))
}

/// The official schema, but that the contents of containers need no schema of their own.
fn driver(official: &Path, scratch: &Path) -> Result<std::path::PathBuf> {
    let path = official.join("OAI-PMH.xsd");
    let schema = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let driver = scratch.join("answers.xsd");
    fs::write(
        &driver,
        schema.replace("processContents=\"strict\"", "processContents=\"skip\""),
    )
    .with_context(|| format!("writing {}", driver.display()))?;
    Ok(driver)
}

/// The model does not demand that anything is answered; the schema does.
fn complete(candidate: &mut Candidate) {
    let verbs = &of_answers().kinds[of_answers().root.kind].children[2..];
    let answers = verbs
        .iter()
        .any(|verb| candidate.xml.contains(&format!("<{}", verb.name.shown)));
    if !answers {
        let error = "<error code=\"badVerb\"/></OAI-PMH>";
        candidate.xml = candidate.xml.replace("</OAI-PMH>", error);
    }
}
