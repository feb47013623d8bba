//! Validates answers against the OAI-PMH schema, and what crosswalks make against the schemas of their formats.
//!
//! What enters is a list of XML files, what leaves is their number or the
//! first complaints about them. xmllint does the work; nothing is fetched.
//!
//! xmllint ignores `xsi:schemaLocation`, and the wildcards of OAI-PMH.xsd
//! demand a declaration of whatever stands in them, so a driver schema imports
//! it beside small schemas of our own (testdata/schemas) for Dublin Core and
//! the containers of the guidelines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::http::{Client, resumption_token};
use crate::workspace::{Scratch, root};
use crate::{install, models};

/// `cargo xtask schemas [FILE]…`.
///
/// # Errors
/// When a file is not valid or there is none.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    install::for_schemas()?;
    match arguments {
        [] => return golden(),
        [word] if word == "models" => return models_beside(None),
        [word, folder] if word == "models" => return models_beside(Some(Path::new(folder))),
        _ => {}
    }
    let files: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    validate("the files named", &files)
}

/// Validates all golden answers: those of the whole program in testdata, those
/// of a crate beside its tests.
///
/// # Errors
/// When one is not valid or there is none.
pub(crate) fn golden() -> Result<()> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("testdata/golden")];
    for entry in fs::read_dir(root().join("crates")).context("reading crates")? {
        folders.push(entry?.path().join("tests/golden"));
    }
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        collect(folder, &mut files)?;
    }
    files.sort();
    validate("golden answers", &files)?;
    crosswalks()
}

/// Validates what crosswalks made of records (crates/stook-metadata/tests/crosswalks/FROM-TO) by the official schemas of
/// their formats, which are not ours to keep in the tree.
fn crosswalks() -> Result<()> {
    let folder = root().join("crates/stook-metadata/tests/crosswalks");
    let mut by_format: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))? {
        let pair = entry?.path();
        let name = pair.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((_, to)) = name.rsplit_once('-') {
            collect(&pair, by_format.entry(to.to_owned()).or_default())?;
        }
    }
    let count: usize = by_format.values().map(Vec::len).sum();
    if count == 0 {
        bail!("there are no results of crosswalks to validate");
    }
    let Some(official) = official()? else {
        println!("{count} results of crosswalks passed only our own checks; STOOK_SCHEMAS names no official schemas");
        return Ok(());
    };
    let scratch = Scratch::new("crosswalks")?;
    for (format, files) in &mut by_format {
        files.sort();
        let driver = driver_of(format, &official, scratch.path())?;
        xmllint(&driver, Some(&official.join("catalog.xml")), files)
            .with_context(|| format!("results of crosswalks to {format}"))?;
        println!("{} results of crosswalks to {format} are valid", files.len());
    }
    by_prefix(&folder.join("records"), &mut by_format)?;
    models::compare(&official, &by_format)
}

/// Compares the content models with the official schemas, with further records if a folder has some.
fn models_beside(folder: Option<&Path>) -> Result<()> {
    let Some(official) = official()? else {
        bail!("there are no schemas to compare with. Try: STOOK_SCHEMAS=/folder/of/schemas cargo xtask schemas models");
    };
    let mut records = BTreeMap::new();
    by_prefix(
        &root().join("crates/stook-metadata/tests/crosswalks/records"),
        &mut records,
    )?;
    if let Some(folder) = folder {
        by_prefix(folder, &mut records)?;
    }
    models::compare(&official, &records)
}

/// Collects records from folders that are named by the prefix of a format.
fn by_prefix(folder: &Path, records: &mut BTreeMap<String, Vec<PathBuf>>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let of_format = entry?.path();
        let name = of_format.file_name().unwrap_or_default().to_string_lossy().into_owned();
        collect(&of_format, records.entry(name).or_default())?;
    }
    Ok(())
}

/// The schema to begin with. Two formats do not fit beside the others: `qdc` has another schema for the namespace of
/// Dublin Core, and `oai_datacite` is not published where others look for it; ours says the same.
pub(crate) fn driver_of(format: &str, official: &Path, scratch: &Path) -> Result<PathBuf> {
    const XS: &str = "xmlns:xs=\"http://www.w3.org/2001/XMLSchema\"";
    let text = match format {
        "qdc" => format!(
            "<xs:schema {XS} targetNamespace=\"http://dspace.org/qualifieddc/\" elementFormDefault=\"qualified\">\
             <xs:include schemaLocation=\"{}\"/></xs:schema>",
            official.join("qdc-2008/qualifieddc.xsd").display()
        ),
        "oai_datacite" => format!(
            "<xs:schema {XS} targetNamespace=\"urn:driver\">\
             <xs:import namespace=\"http://schema.datacite.org/oai/oai-1.1/\" schemaLocation=\"{}\"/>\
             <xs:import namespace=\"http://datacite.org/schema/kernel-4\" \
             schemaLocation=\"http://schema.datacite.org/meta/kernel-4/metadata.xsd\"/></xs:schema>",
            root().join("testdata/schemas/oai_datacite.xsd").display()
        ),
        _ => return Ok(official.join("all.xsd")),
    };
    let driver = scratch.join(format!("{format}.xsd"));
    fs::write(&driver, text).with_context(|| format!("writing {}", driver.display()))?;
    Ok(driver)
}

/// The folder of official schemas, if there is one; in full, because drivers elsewhere name it.
fn official() -> Result<Option<PathBuf>> {
    let Some(folder) = std::env::var_os("STOOK_SCHEMAS").filter(|folder| !folder.is_empty()) else {
        return Ok(None);
    };
    let folder = fs::canonicalize(&folder).with_context(|| format!("STOOK_SCHEMAS names {}", folder.display()))?;
    Ok(Some(folder))
}

/// Validates answers of a running server, one for each verb and error.
///
/// # Errors
/// When one is not valid or cannot be fetched.
pub(crate) fn live(port: u16) -> Result<()> {
    let scratch = Scratch::new("live")?;
    let mut client = Client::connect(port)?;
    let mut files = Vec::new();
    for query in LIVE_QUERIES {
        let mut query = (*query).to_owned();
        for _ in 0..MOST_PAGES {
            let answer = client.fetch(&format!("/oai?{query}"), "")?;
            if answer.status != 200 {
                bail!("{query} was answered with {}", answer.head);
            }
            let file = scratch.path().join(format!("{:03}.xml", files.len()));
            fs::write(&file, answer.body).with_context(|| format!("writing {}", file.display()))?;
            files.push(file);
            let Some(token) = resumption_token(answer.body) else {
                break;
            };
            let verb = query.split('&').next().unwrap_or_default();
            query = format!("{verb}&resumptionToken={token}");
        }
    }
    validate("answers of the running server", &files)
}

/// So many pages of a list are fetched.
const MOST_PAGES: usize = 10;

const LIVE_QUERIES: &[&str] = &[
    "verb=Identify",
    "verb=ListSets",
    "verb=ListMetadataFormats",
    "verb=ListRecords&metadataPrefix=oai_dc",
    "verb=ListIdentifiers&metadataPrefix=oai_dc",
    "verb=ListRecords&metadataPrefix=oai_dc&from=2001-01-01&until=2001-01-02",
    "verb=ListRecords&metadataPrefix=nothing",
    "verb=ListRecords",
    "verb=ListRecords&resumptionToken=forged",
    "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aexample.org%3Anowhere",
    "verb=Sing",
    "",
];

fn validate(what: &str, files: &[PathBuf]) -> Result<()> {
    if files.is_empty() {
        bail!("there are no {what} to validate");
    }
    let scratch = Scratch::new("schemas")?;
    let driver = assemble_driver(scratch.path())?;
    xmllint(&driver, None, files)?;
    println!("{} {what} are valid by OAI-PMH.xsd and our schemas", files.len());
    if let Some(official) = official()? {
        xmllint(&official.join("all.xsd"), Some(&official.join("catalog.xml")), files)?;
        println!(
            "{} {what} are valid by the schemas in {}",
            files.len(),
            official.display()
        );
    }
    Ok(())
}

/// Puts OAI-PMH.xsd, which is not ours to keep in the tree, beside our schemas.
fn assemble_driver(folder: &Path) -> Result<PathBuf> {
    let ours = root().join("testdata/schemas");
    for entry in fs::read_dir(&ours).with_context(|| format!("reading {}", ours.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "xsd")
            && let Some(name) = path.file_name()
        {
            fs::copy(&path, folder.join(name)).with_context(|| format!("copying {}", path.display()))?;
        }
    }
    fs::copy(install::oai_pmh_schema()?, folder.join("OAI-PMH.xsd")).context("copying OAI-PMH.xsd")?;
    Ok(folder.join("driver.xsd"))
}

fn xmllint(driver: &Path, catalog: Option<&Path>, files: &[PathBuf]) -> Result<()> {
    let mut command = Command::new("xmllint");
    command.args(["--nonet", "--noout", "--schema"]).arg(driver).args(files);
    if let Some(catalog) = catalog {
        command.env("XML_CATALOG_FILES", catalog);
    }
    let output = command.output().context("cannot start xmllint")?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // Schemas that import one another are named in warnings that mean nothing.
    let complaints: Vec<&str> = text
        .lines()
        .filter(|line| !line.ends_with(" validates") && !line.contains("warning"))
        .take(20)
        .collect();
    bail!("xmllint with {}:\n{}", driver.display(), complaints.join("\n"))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "xml") {
            files.push(path);
        }
    }
    Ok(())
}
