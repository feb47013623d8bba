//! Sets by rule: which sets the records of an item are in, by what the item says.
//!
//! Enters: what the configuration names, and records. Leaves: the sets of each. Sets that rules own are made by rules
//! alone; all others stay as they are given. [`assign`] does this for the batches of an import and [`settle`] for what
//! a batch leaves to be done, [`refresh`] for everything there is, [`preview`] for the eye only. [`applied`] remembers
//! which rules the sets in the store are by.

pub mod applied;
pub mod assign;
mod naming;
pub mod preview;
pub mod refresh;
pub mod settle;
mod stored;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use stook_metadata::Formats;
use stook_metadata::sets::{self, Label, MAX_SETS, MadeSet, NoSets, Owned, built_in};
use stook_oai::{MetadataPrefix, SetSpec};

/// What is said when records are in sets by rules that are not in force any more.
pub const OUTDATED: &str = "the set rules have changed; records that were there before are still in sets by the old ones\n\
     Try: stook set refresh";

/// The rules of a repository, from one or several files.
#[derive(Clone, Debug, Default)]
pub struct SetRules {
    files: Vec<sets::SetRules>,
    owned: Vec<Owned>,
}

impl SetRules {
    /// Reads what is named: profiles that come with the program, or files.
    ///
    /// # Errors
    /// When a file cannot be read, or makes no sense.
    pub fn read(named: &[PathBuf], formats: &Formats) -> Result<SetRules> {
        let mut rules = SetRules::default();
        for name in named {
            let read = match profile(name) {
                Some(profile) => profile.clone(),
                None => read_file(name, formats)?,
            };
            rules.owned.extend(read.owned());
            rules.files.push(read);
        }
        rules.owned.sort();
        rules.owned.dedup();
        Ok(rules)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The formats they read, each once.
    #[must_use]
    pub fn prefixes(&self) -> Vec<&MetadataPrefix> {
        let mut prefixes: Vec<&MetadataPrefix> = Vec::new();
        for file in &self.files {
            if !prefixes.contains(&&file.from) {
                prefixes.push(&file.from);
            }
        }
        prefixes
    }

    /// Whether rules alone decide who is in this set.
    #[must_use]
    pub fn owns(&self, spec: &SetSpec) -> bool {
        self.owned.iter().any(|owned| owned.owns(spec))
    }

    /// What rules alone decide about.
    #[must_use]
    pub fn owned(&self) -> &[Owned] {
        &self.owned
    }

    /// What the rules say: equal texts make equal sets.
    #[must_use]
    pub fn text(&self) -> String {
        self.files.iter().map(sets::SetRules::text).collect()
    }

    /// The sets of an item, by its records in the formats the rules read, as far as there are any. In order, each once.
    ///
    /// # Errors
    /// Why they cannot be told.
    pub fn made(&self, identifier: &str, records: &[(&MetadataPrefix, &str)]) -> Result<Vec<MadeSet>, NoSets> {
        let mut made: BTreeMap<SetSpec, Option<Label>> = BTreeMap::new();
        for file in &self.files {
            let Some((_, record)) = records.iter().find(|(prefix, _)| **prefix == file.from) else {
                continue;
            };
            for MadeSet { spec, label } in file.apply(identifier, record)? {
                let known = made.entry(spec).or_insert_with(|| label.clone());
                if label < *known {
                    *known = label;
                }
            }
        }
        if made.len() > MAX_SETS {
            return Err(NoSets::TooMany);
        }
        Ok(made.into_iter().map(|(spec, label)| MadeSet { spec, label }).collect())
    }

    /// What a set is to be called, if any of the rules says so.
    #[must_use]
    pub fn name(&self, set: &MadeSet) -> Option<String> {
        self.files.iter().find_map(|file| file.name(set))
    }
}

/// The profile of this name, if it is one.
#[must_use]
pub fn profile(name: &Path) -> Option<&'static sets::SetRules> {
    built_in::named(name.to_str()?)
}

fn read_file(path: &Path, formats: &Formats) -> Result<sets::SetRules> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            let profiles = built_in::names().collect::<Vec<_>>().join(", ");
            bail!(
                "cannot read the set rules {}: {error}\nTry: the path of a file, or one of the profiles: {profiles}",
                path.display()
            );
        }
    };
    let read = sets::SetRules::read(&text, formats);
    // The message says what to try in the middle; people look for it at the end.
    read.map_err(|error| anyhow::anyhow!("{}", error.to_string().replacen(". Try: ", "\nTry: ", 1)))
        .with_context(|| format!("in {}", path.display()))
}

/// The sets of a record as its header shows them: in order, without those above others.
#[must_use]
pub fn as_shown(mut specs: Vec<SetSpec>) -> Vec<SetSpec> {
    specs.sort();
    specs.dedup();
    let all = specs.clone();
    specs.retain(|spec| !all.iter().any(|other| other != spec && spec.contains(other)));
    specs
}

/// The sets of a record as the store has them.
fn read_specs(set_specs: &str) -> Vec<SetSpec> {
    let specs = set_specs.split_ascii_whitespace();
    specs.filter_map(|spec| SetSpec::parse(spec).ok()).collect()
}

/// The specs of sets that rules made.
fn specs(made: &[MadeSet]) -> Vec<SetSpec> {
    made.iter().map(|set| set.spec.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_show_sets_in_order_without_those_above() {
        let specs = ["b", "a:x", "a", "a:x", "ab"].map(|spec| SetSpec::parse(spec).unwrap());
        let shown: Vec<String> = as_shown(specs.to_vec()).into_iter().map(SetSpec::into_string).collect();
        assert_eq!(shown, ["a:x", "ab", "b"]);
    }

    #[test]
    fn files_and_profiles_work_together_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.rules");
        std::fs::write(
            &file,
            "sets from oai_dc\ndate -> year:{} year\nnames\n    year:* -> \"In {}\"\n",
        )
        .unwrap();
        let named = [file, PathBuf::from("dini")];
        let record = "<oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/' \
                      xmlns='http://purl.org/dc/elements/1.1/'><date>2026</date><subject>ddc:330</subject></oai_dc:dc>";
        let prefix = MetadataPrefix::oai_dc();
        for named in [named.to_vec(), named.iter().rev().cloned().collect()] {
            let rules = SetRules::read(&named, &Formats::default()).unwrap();
            let made = rules.made("oai:x:1", &[(&prefix, record)]).unwrap();
            let names: Vec<_> = made
                .iter()
                .map(|set| (set.spec.as_str(), rules.name(set).unwrap()))
                .collect();
            assert_eq!(
                names,
                [("ddc:330", "Economics".into()), ("year:2026", "In 2026".into())]
            );
            assert!(rules.owns(&made[0].spec) && !rules.owns(&SetSpec::parse("maps").unwrap()));
        }
        let error = SetRules::read(&[PathBuf::from("nosuch")], &Formats::default()).unwrap_err();
        assert!(error.to_string().contains("dini"), "{error}");
    }
}
