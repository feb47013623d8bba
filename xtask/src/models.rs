//! Holds the content models of stook-metadata beside the official schemas.
//!
//! Records enter: the golden ones, what people get wrong in them (`mutate`), what the models themselves say (`made`). Each
//! is judged twice, by xmllint with the schema and by our check. A record that the schema takes and we refuse is a
//! failure, because it would be lost. What we take and the schema refuses is counted and shown.

mod answers;
mod made;
mod mutate;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use stook_metadata::model::{self, Model};
use stook_metadata::{Format, Namespaces, check, check_container, well_known};

use crate::schemas::driver_of;
use crate::workspace::Scratch;

/// A record to be judged, and how it came to be.
struct Candidate {
    what: String,
    xml: String,
}

/// So many files one xmllint is given.
const AT_ONCE: usize = 500;

/// So many differences are shown.
const MOST_SHOWN: usize = 40;

/// What models leave free though the schema at hand does not, and why that is right: words of the candidate.
const FREE: &[(&str, &str)] = &[
    // An address is not looked at: XML Schema lets nearly everything be one, libxml2 less.
    ("DataCite", "URI \""),
    ("DataCite", "@classificationCode \""),
    ("ETD-MS", "@xml:base \""),
    ("ETD-MS", "@resource \""),
    ("MODS", "URI \""),
    ("MODS", "@xlink:href \""),
    ("MODS", "@altFormat \""),
    ("MODS", "/url text \""),
    ("MODS", "/placeIdentifier text \""),
    ("Qualified Dublin Core", "dcterms:URI \""),
    ("branding", "@metadataNamespace \""),
    ("branding", "/metadataRendering text \""),
    ("branding", "/url text \""),
    ("friends", "/baseURL text \""),
    ("provenance", "/baseURL text \""),
    ("rights", "@ref \""),
    ("rightsManifest", "@ref \""),
    // A choice between two elements, one of them around an element of any other namespace: the validator looks at both.
    ("rights", "rightsDefinition"),
    ("rightsManifest", "rightsDefinition"),
    ("OAI-PMH", "/request @identifier \""),
    ("OAI-PMH", "/request text \""),
    ("OAI-PMH", "/identifier text \""),
    // The schemas of older versions are not at hand; they may have had no order there.
    ("MODS", "mods/location only "),
    ("MODS", "mods/location and "),
    ("MODS", "swapped mods/location/"),
    ("MODS", "extraterrestrialArea"),
    // Who stands beside the others is a choice between two lists; ours is one list.
    ("MODS", "etal"),
    // Newer versions of xml.xsd let a language be empty.
    ("Qualified Dublin Core", "@xml:lang"),
    // Only a schema beside it says what xml:lang is.
    ("OAI DataCite", "schemaVersion with xml:lang"),
    ("OAI DataCite", "payload with xml:lang"),
    // What stands in these is judged by schemas of its own, and that something must by checks of its own.
    ("OAI-PMH", "metadata"),
    ("OAI-PMH", "about"),
    ("OAI-PMH", "description"),
    ("OAI-PMH", "setDescription"),
    // A choice between errors and verbs; ours is one list.
    ("OAI-PMH", "OAI-PMH and "),
    ("OAI-PMH", "OAI-PMH only "),
];

/// Compares all models. `records` are files of whole records, by the prefix of their format.
///
/// # Errors
/// When a model refuses what a schema takes, or takes what it refuses without a reason.
pub(crate) fn compare(official: &Path, records: &BTreeMap<String, Vec<PathBuf>>) -> Result<()> {
    let scratch = Scratch::new("models")?;
    let mut failed = Vec::new();
    let mut one = |model: &'static Model, prefix: &str, check: &dyn Fn(&str) -> Result<(), String>| -> Result<()> {
        let files = records.get(prefix).map(Vec::as_slice).unwrap_or_default();
        let candidates = candidates_of(model, files)?;
        let driver = driver_of(prefix, official, scratch.path())?;
        let by_schema = valid(&driver, official, scratch.path(), &candidates)?;
        if !told(model, check, &candidates, &by_schema) {
            failed.push(&*model.name);
        }
        Ok(())
    };
    for model in model::all() {
        let root = &model.root.name;
        let format = well_known()
            .iter()
            .find(|format| format.accepts_root(&root.namespace, &root.local));
        let format: &Format = format.with_context(|| format!("no format has the root of {}", model.name))?;
        one(model, format.prefix.as_str(), &|xml| {
            check(xml, format).map(drop).map_err(|fault| fault.to_string())
        })?;
    }
    for model in model::containers() {
        one(model, &model.name, &|xml| {
            check_container(xml, &Namespaces::none()).map_err(|fault| fault.to_string())
        })?;
    }
    if !answers::agree(official, scratch.path())? {
        failed.push("OAI-PMH");
    }
    match failed.is_empty() {
        true => Ok(()),
        false => bail!("content models differ from the schemas: {}", failed.join(", ")),
    }
}

fn candidates_of(model: &Model, files: &[PathBuf]) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    let mut done = HashSet::new();
    for file in files {
        let record = fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
        mutate::add(&record, &mut done, &mut candidates).with_context(|| format!("changing {}", file.display()))?;
        let what = file.display().to_string();
        candidates.push(Candidate { what, xml: record });
    }
    made::add(model, &mut candidates);
    Ok(candidates)
}

/// Says how the two differ; whether that is as it should be.
fn told(
    model: &Model,
    checked: impl Fn(&str) -> Result<(), String>,
    candidates: &[Candidate],
    by_schema: &[bool],
) -> bool {
    let mut counts = [[0_usize; 2]; 2];
    let (mut lost, mut free, mut unexplained) = (Vec::new(), 0, Vec::new());
    for (candidate, &valid) in candidates.iter().zip(by_schema) {
        let checked = checked(&candidate.xml);
        counts[usize::from(valid)][usize::from(checked.is_ok())] += 1;
        match (valid, checked) {
            (true, Err(fault)) => lost.push(format!("{}\n      {fault}", candidate.what)),
            (false, Ok(_))
                if FREE
                    .iter()
                    .any(|(of, word)| *of == model.name && candidate.what.contains(word)) =>
            {
                free += 1
            }
            (false, Ok(_)) => unexplained.push(candidate.what.clone()),
            _ => {}
        }
    }
    let [[refused, taken], [lost_count, both]] = counts;
    println!(
        "{}: of {} records both take {both} and refuse {refused}; refused against the schema: {lost_count}, taken against \
         it: {taken}, {free} of them on purpose",
        model.name,
        candidates.len()
    );
    for (what, list) in [
        ("refused against the schema", &lost),
        ("taken against the schema", &unexplained),
    ] {
        for line in list.iter().take(MOST_SHOWN) {
            println!("  {what}: {line}");
        }
        if list.len() > MOST_SHOWN {
            println!("  … and {} more {what}", list.len() - MOST_SHOWN);
        }
    }
    lost.is_empty() && unexplained.is_empty()
}

/// Which of the candidates the schema takes.
fn valid(driver: &Path, official: &Path, scratch: &Path, candidates: &[Candidate]) -> Result<Vec<bool>> {
    let mut valid = Vec::with_capacity(candidates.len());
    for some in candidates.chunks(AT_ONCE) {
        let mut files = Vec::with_capacity(some.len());
        for (index, candidate) in some.iter().enumerate() {
            let file = scratch.join(format!("{index}.xml"));
            fs::write(&file, &candidate.xml).with_context(|| format!("writing {}", file.display()))?;
            files.push(file);
        }
        let output = Command::new("xmllint")
            .args(["--nonet", "--noout", "--schema"])
            .arg(driver)
            .args(&files)
            .env("XML_CATALOG_FILES", official.join("catalog.xml"))
            .output()
            .context("cannot start xmllint")?;
        let text = String::from_utf8_lossy(&output.stderr);
        let said: HashSet<&str> = text.lines().collect();
        for (file, candidate) in files.iter().zip(some) {
            let file = file.display();
            let is_valid = said.contains(&*format!("{file} validates"));
            if !is_valid && !said.contains(&*format!("{file} fails to validate")) {
                bail!(
                    "xmllint says nothing of a record ({}):\n{}",
                    candidate.what,
                    candidate.xml
                );
            }
            valid.push(is_valid);
        }
    }
    Ok(valid)
}
