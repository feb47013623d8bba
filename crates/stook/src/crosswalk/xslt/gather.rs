//! A stylesheet and everything it imports, read once and inspected.
//!
//! Enters: the path of a stylesheet. Leaves: copies that import each other by name and nothing else. What is imported
//! must lie in the stylesheet's own folder or below it. Nothing is fetched: what is imported by URL is looked for under
//! the same name beside the stylesheet that imports it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use percent_encoding::percent_decode_str;

use super::Complaint;
use super::inspect::{Import, inspect};
use super::prolog::{self, MOST_BYTES};

/// Most stylesheets that one may consist of.
const MOST_SHEETS: usize = 100;

/// A stylesheet as it will be run.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// As people know it.
    pub(super) path: PathBuf,
    /// Inspected, with imports by the names of copies.
    pub(super) text: String,
    /// Which ones it imports.
    imports: Vec<usize>,
}

/// The name of the copy of a sheet.
pub(super) fn copy_name(at: usize) -> String {
    format!("{at}.xsl")
}

/// Reads a stylesheet and what it imports; the stylesheet itself comes first.
pub(super) fn gather(path: &Path) -> Result<Vec<Sheet>> {
    let real = fs::canonicalize(path).with_context(|| format!("reading {}", path.display()))?;
    let folder = real.parent().unwrap_or(Path::new("/")).to_owned();
    let mut gathering = Gathering {
        known: vec![(real, path.to_owned())],
        folder,
    };
    let mut sheets = Vec::new();
    while let Some((real, shown)) = gathering.known.get(sheets.len()).cloned() {
        let sheet = gathering.sheet(&real, &shown);
        sheets.push(sheet.with_context(|| format!("in {}", shown.display()))?);
    }
    no_circles(&sheets)?;
    Ok(sheets)
}

struct Gathering {
    /// Where each sheet lies, and how to name it to people.
    known: Vec<(PathBuf, PathBuf)>,
    /// Nothing above it is read.
    folder: PathBuf,
}

impl Gathering {
    fn sheet(&mut self, real: &Path, shown: &Path) -> Result<Sheet> {
        let plain = prolog::plain(&prolog::decode(&read(real)?)?)?;
        let mut text = String::with_capacity(plain.len());
        let mut imports = Vec::new();
        let mut copied = 0;
        for import in inspect(&plain)? {
            let at = self.imported(&import, real, shown)?;
            text.push_str(&plain[copied..import.place.start]);
            text.push_str(&copy_name(at));
            copied = import.place.end;
            imports.push(at);
        }
        text.push_str(&plain[copied..]);
        Ok(Sheet {
            path: shown.to_owned(),
            text,
            imports,
        })
    }

    /// Which sheet an import means.
    fn imported(&mut self, import: &Import, real: &Path, shown: &Path) -> Result<usize, Complaint> {
        let refused = |what: &str, remedy: &str| {
            let what = format!("it imports {:?}, {what}", import.href);
            Complaint::new(import.line, what, remedy)
        };
        let name = local_name(&import.href).map_err(|(what, remedy)| refused(what, remedy))?;
        let beside = |path: &Path| path.parent().unwrap_or(Path::new("")).join(&name);
        let Ok(found) = fs::canonicalize(beside(real)) else {
            return Err(match is_url(&import.href) {
                true => refused(
                    "which is not fetched",
                    &format!("download it to {}", beside(shown).display()),
                ),
                false => refused("which is not there", "put it there, relative to the stylesheet"),
            });
        };
        if !found.starts_with(&self.folder) {
            return Err(refused(
                "which lies outside the stylesheet's folder",
                "put it beside the stylesheet, or below",
            ));
        }
        if let Some(at) = self.known.iter().position(|(known, _)| *known == found) {
            return Ok(at);
        }
        if self.known.len() == MOST_SHEETS {
            return Err(refused(
                &format!("which makes more than {MOST_SHEETS} stylesheets"),
                "fewer of them",
            ));
        }
        self.known.push((found, beside(shown)));
        Ok(self.known.len() - 1)
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    // A pipe would be waited for without end.
    if !fs::metadata(path).context("reading")?.is_file() {
        return Err(anyhow!("it is not a file\nTry: name the stylesheet itself"));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).context("reading")?;
    file.take(MOST_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .context("reading")?;
    match bytes.len() > MOST_BYTES {
        true => Err(anyhow!(
            "it is larger than {} MB\nTry: a smaller stylesheet; tables belong into a mapping",
            MOST_BYTES >> 20
        )),
        false => Ok(bytes),
    }
}

fn is_url(href: &str) -> bool {
    let has_scheme = |scheme: &str| {
        href.get(..scheme.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    };
    has_scheme("http://") || has_scheme("https://")
}

/// The file an import means, relative to the one that imports it; or what is wrong with it, and what to try.
fn local_name(href: &str) -> Result<String, (&'static str, &'static str)> {
    let path = href.split(['?', '#']).next().unwrap_or_default();
    let path = match is_url(href) {
        true => path.rsplit('/').next().unwrap_or_default(),
        false => path,
    };
    let begins_with_scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.contains('/') && scheme.starts_with(|sign: char| sign.is_ascii_alphabetic())
    });
    if path.is_empty() || path == "." || path == ".." {
        return Err(("which names no file", "href=\"FILE\""));
    }
    if begins_with_scheme || path.starts_with('/') {
        return Err((
            "which is not relative to it",
            "put it beside the stylesheet and name it by its file name",
        ));
    }
    let name = percent_decode_str(path).decode_utf8_lossy().into_owned();
    match name.starts_with('/') || name.contains('\0') {
        true => Err(("which is not relative to it", "a relative file name")),
        false => Ok(name),
    }
}

/// A stylesheet that imports itself in the end has no meaning.
fn no_circles(sheets: &[Sheet]) -> Result<()> {
    // Those whose imports are all known to end; a circle never gets there.
    let mut ends = vec![false; sheets.len()];
    for _ in sheets {
        for (at, sheet) in sheets.iter().enumerate() {
            ends[at] |= sheet.imports.iter().all(|import| ends[*import]);
        }
    }
    match ends.iter().position(|ends| !ends) {
        Some(at) => Err(anyhow!(
            "{} imports itself, directly or through others\nTry: take one of the imports out",
            sheets[at].path.display()
        )),
        None => Ok(()),
    }
}
