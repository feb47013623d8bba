//! Records of other formats, made from those that were given.
//!
//! Enters: records of a format, in batches. Leaves: for each of them the record of another format, checked as if it had
//! been given, or nothing, or why it cannot be made. [`refresh`] does this for everything a repository holds, [`heirs`] for
//! records whose source is gone. The way is a mapping, or a stylesheet ([`xslt`]).

pub mod heirs;
pub mod refresh;
pub mod xslt;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use stook_metadata::crosswalk::{Mapping, built_in};
use stook_metadata::{Format, Formats, check};
use stook_oai::{MetadataFormat, MetadataPrefix};
use stook_store::Content;

use crate::config;
use xslt::Stylesheet;

/// What became of one record.
pub type Made = Result<Option<String>, String>;

/// What becomes of the record that is made from another; from one that is deleted, none is. `others` are the other formats
/// it can be made from.
///
/// # Errors
/// Why it cannot be made.
pub fn content(made: Option<Made>, others: &[MetadataPrefix]) -> std::result::Result<Content, String> {
    Ok(match made.transpose()?.flatten() {
        Some(metadata) => Content::Derived {
            metadata,
            about: Vec::new(),
        },
        None => Content::Underived {
            unless: others.to_vec(),
        },
    })
}

/// The crosswalks of a repository. Where several make the same record of one item, the first one does.
#[derive(Clone, Debug, Default)]
pub struct Crosswalks {
    all: Vec<Crosswalk>,
}

/// One way from a format to another.
#[derive(Clone, Debug)]
pub struct Crosswalk {
    from: MetadataPrefix,
    to: Format,
    way: Way,
    /// Where it is written, for people.
    source: String,
}

#[derive(Clone, Debug)]
enum Way {
    Mapping(Box<Mapping>),
    Stylesheet(Arc<Stylesheet>),
}

/// Where a crosswalk is written.
#[derive(Clone, Copy, Debug)]
pub enum Written<'p> {
    /// In the program.
    BuiltIn,
    /// In a mapping of one's own.
    Mapping(&'p Path),
    /// In an XSLT stylesheet.
    Stylesheet(&'p Path),
}

impl<'p> Written<'p> {
    /// What the configuration, or somebody at the keyboard, says.
    ///
    /// # Errors
    /// When both are said.
    pub fn new(mapping: Option<&'p Path>, stylesheet: Option<&'p Path>) -> Result<Written<'p>> {
        match (mapping, stylesheet) {
            (None, None) => Ok(Written::BuiltIn),
            (Some(path), None) => Ok(Written::Mapping(path)),
            (None, Some(path)) => Ok(Written::Stylesheet(path)),
            (Some(_), Some(_)) => bail!("it has a mapping and a stylesheet\nTry: one of them"),
        }
    }
}

impl Crosswalks {
    /// Those of the configuration, then those to Dublin Core that come with the program: every item has to be there in
    /// Dublin Core.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn new(configured: &[config::Crosswalk], formats: &Formats) -> Result<Crosswalks> {
        let mut all = Vec::new();
        for crosswalk in configured {
            let read = Written::new(crosswalk.mapping.as_deref(), crosswalk.stylesheet.as_deref())
                .and_then(|written| Crosswalk::read(&crosswalk.from, &crosswalk.to, written, formats));
            all.push(read.with_context(|| format!("[[crosswalk]] from {:?} to {:?}", crosswalk.from, crosswalk.to))?);
        }
        for format in formats.iter() {
            if let Ok(crosswalk) = Crosswalk::read(format.prefix.as_str(), "oai_dc", Written::BuiltIn, formats)
                && !all
                    .iter()
                    .any(|known| known.from == crosswalk.from && known.to.prefix == crosswalk.to.prefix)
            {
                all.push(crosswalk);
            }
        }
        Ok(Crosswalks { all })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Crosswalk> + Clone {
        self.all.iter()
    }

    /// Makes sure that all of them can be made, before anything is.
    ///
    /// # Errors
    /// When one cannot.
    pub fn ready(&self) -> Result<()> {
        self.all.iter().try_for_each(Crosswalk::ready)
    }

    /// Those that begin with a format.
    pub fn from<'c>(&'c self, prefix: &'c MetadataPrefix) -> impl Iterator<Item = &'c Crosswalk> {
        self.all.iter().filter(move |crosswalk| crosswalk.from == *prefix)
    }

    /// Those of the stored formats from which other crosswalks make the same as this one.
    #[must_use]
    pub fn beside(&self, crosswalk: &Crosswalk, stored: &[MetadataFormat]) -> Vec<MetadataPrefix> {
        let same = self.all.iter().filter(|other| other.to.prefix == crosswalk.to.prefix);
        let others = same.map(|other| &other.from).filter(|from| **from != crosswalk.from);
        let is_stored = |from: &&MetadataPrefix| stored.iter().any(|format| format.prefix == **from);
        others.filter(is_stored).cloned().collect()
    }

    /// The one from a format to another.
    #[must_use]
    pub fn between(&self, from: &str, to: &str) -> Option<&Crosswalk> {
        let is_it = |crosswalk: &&Crosswalk| crosswalk.from.as_str() == from && crosswalk.to.prefix.as_str() == to;
        self.all.iter().find(is_it)
    }
}

impl Crosswalk {
    /// Reads one of one's own, or takes the one that comes with the program.
    ///
    /// # Errors
    /// When there is none, or it makes no sense.
    pub fn read(from: &str, to: &str, written: Written<'_>, formats: &Formats) -> Result<Crosswalk> {
        let (way, source) = match written {
            Written::Mapping(path) => {
                let mapping = own_mapping(from, to, path, formats)?;
                (Way::Mapping(Box::new(mapping)), path.display().to_string())
            }
            Written::Stylesheet(path) => {
                let stylesheet = Arc::new(Stylesheet::read(path)?);
                (Way::Stylesheet(stylesheet), path.display().to_string())
            }
            Written::BuiltIn => {
                let Some(mapping) = built_in::between(mapped_as(from, formats), mapped_as(to, formats)) else {
                    bail!(
                        "no crosswalk from {from} to {to} comes with the program\nTry: a mapping or a stylesheet of your \
                         own, see docs/crosswalks.md; or stook format list, which shows those there are"
                    );
                };
                (Way::Mapping(Box::new(mapping.clone())), "built in".to_owned())
            }
        };
        let known = |prefix: &str| formats.by_prefix(prefix).with_context(|| unknown(prefix));
        Ok(Crosswalk {
            from: known(from)?.prefix.clone(),
            to: known(to)?.clone(),
            way,
            source,
        })
    }

    /// The format it reads.
    #[must_use]
    pub fn source_prefix(&self) -> &MetadataPrefix {
        &self.from
    }

    /// The format it writes.
    #[must_use]
    pub fn target(&self) -> &Format {
        &self.to
    }

    /// Where it is written: a file, or "built in".
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Makes sure that it can be made.
    ///
    /// # Errors
    /// When it needs a program that is not there, or that program does not understand it.
    pub fn ready(&self) -> Result<()> {
        match &self.way {
            Way::Mapping(_) => Ok(()),
            Way::Stylesheet(stylesheet) => stylesheet.ready().with_context(|| self.in_words()),
        }
    }

    /// Makes the other record of each.
    ///
    /// # Errors
    /// When none can be made, whatever the record says.
    pub fn make(&self, records: &[&str]) -> Result<Vec<Made>> {
        match &self.way {
            // One after the other: what was just made is checked while it is still at hand.
            Way::Mapping(mapping) => {
                let apply = |record: &&str| mapping.apply(record).map_err(|fault| fault.to_string());
                Ok(records.iter().map(apply).map(|made| self.checked(made)).collect())
            }
            Way::Stylesheet(stylesheet) => {
                let made = stylesheet.apply(records).with_context(|| self.in_words())?;
                Ok(made.into_iter().map(|made| self.checked(made)).collect())
            }
        }
    }

    fn checked(&self, made: Made) -> Made {
        let checked = made?.map(|made| check(&made, &self.to)).transpose();
        checked.map_err(|fault| format!("as {}: {}", self.to.prefix, fault.problem))
    }

    fn in_words(&self) -> String {
        format!("making {} from {} by {}", self.to.prefix, self.from, self.source)
    }
}

fn own_mapping(from: &str, to: &str, path: &Path, formats: &Formats) -> Result<Mapping> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let mapping = Mapping::read(&text, formats).with_context(|| format!("in {}", path.display()))?;
    if (mapping.from.as_str(), mapping.to.as_str()) != (from, to) {
        bail!(
            "{} maps {} to {}, not {from} to {to}\nTry: the same formats in both places",
            path.display(),
            mapping.from,
            mapping.to
        );
    }
    Ok(mapping)
}

/// The name by which the mappings that come with the program know a format: `marcxml` and `marc` are other names of
/// `marc21`.
fn mapped_as<'f>(prefix: &'f str, formats: &'f Formats) -> &'f str {
    let is_mapped = |prefix: &str| {
        let mut mappings = built_in::all().iter();
        mappings.any(|mapping| mapping.from == prefix || mapping.to == prefix)
    };
    let Some(format) = formats.by_prefix(prefix).filter(|_| !is_mapped(prefix)) else {
        return prefix;
    };
    let is_twin = |other: &&Format| other.namespace == format.namespace && other.roots == format.roots;
    let mut twins = formats.iter().filter(is_twin).map(|twin| twin.prefix.as_str());
    twins.find(|twin| is_mapped(twin)).unwrap_or(prefix)
}

fn unknown(prefix: &str) -> String {
    format!("the format {prefix} is not known\nTry: stook format list, or describe it in stook.toml under [[format]]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_of_a_format_are_made_from_and_into_alike() {
        let formats = Formats::default();
        let crosswalks = Crosswalks::new(&[], &formats).unwrap();
        for from in ["marc21", "marcxml", "marc", "unimarc", "mods"] {
            assert!(crosswalks.between(from, "oai_dc").is_some(), "{from}");
        }
        let built_in = |from, to| Crosswalk::read(from, to, Written::BuiltIn, &formats);
        assert_eq!(built_in("marcxml", "mods").unwrap().source_prefix().as_str(), "marcxml");
        assert_eq!(built_in("oai_dc", "marc").unwrap().target().prefix.as_str(), "marc");
        assert!(built_in("unimarc", "mods").is_err());
        assert!(built_in("oai_dc", "oai_dc").is_err());
    }
}
