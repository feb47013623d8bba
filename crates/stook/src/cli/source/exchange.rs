//! `stook source export` and `import`: sources from one store to another, or from a list of URLs.
//!
//! Secrets do not leave the store: an export names those that were left out, and an import says which are missing.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stook_store::Store;

use super::assign::Draft;
use super::name::name_for;
use super::{check_name, obstacle};
use crate::cli::session::{Place, configuration, open_store};
use crate::config::{Config, Source};
use crate::count::counted;
use crate::harvest::Quirks;
use crate::harvest::source::{self, Standing};

/// A source as `export` writes it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exported {
    name: String,
    #[serde(default)]
    settings: Map<String, Value>,
    #[serde(default)]
    quirks: Map<String, Value>,
    /// What `settings` lack because nobody else may know it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<String>,
}

/// A source to be added.
struct Entry {
    /// Where it stands in the file, for messages.
    place: String,
    /// None if the file has just its URL.
    name: Option<String>,
    settings: Source,
    quirks: Quirks,
    secrets: Vec<String>,
}

pub(super) fn export(store: &Store) -> Result<()> {
    let mut exported = Vec::new();
    for source in source::all(store)? {
        let (settings, secrets) = source.settings.without_secrets();
        let (settings, quirks) = (serde_json::to_value(settings)?, serde_json::to_value(&source.quirks)?);
        exported.push(Exported {
            name: source.name,
            settings: settings.as_object().cloned().unwrap_or_default(),
            quirks: quirks.as_object().cloned().unwrap_or_default(),
            secrets,
        });
    }
    println!("{}", serde_json::to_string_pretty(&exported)?);
    Ok(())
}

pub(super) fn import(place: &Place, file: &Path) -> Result<()> {
    let mut text = String::new();
    if file.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    }
    // All of it is understood before any of it is kept.
    let entries = listed(&text)?;
    let config = configuration(place)?;
    let store = open_store(&config)?;
    let (mut added, mut skipped, mut needs) = (0, 0, Vec::new());
    for entry in entries {
        let name = match free_name(&store, &config, &entry)? {
            Ok(name) => name,
            Err(reason) => {
                println!("Skipped {}: {reason}.", entry.place);
                skipped += 1;
                continue;
            }
        };
        source::keep(&store, &name, &entry.settings, &entry.quirks)?;
        let missing = entry.settings.missing(&entry.secrets);
        if !missing.is_empty() {
            needs.push(format!("stook source edit {name} {}", missing.join(" ")));
        }
        added += 1;
    }
    let skipped = match skipped {
        0 => String::new(),
        number => format!(", {number} skipped"),
    };
    println!("{} added{skipped}.", counted(added, "source"));
    if !needs.is_empty() {
        println!("Secrets are not in the file. Give them again:");
    }
    for command in needs {
        println!("  {command}");
    }
    Ok(())
}

/// The name an entry gets, or why it is not added.
fn free_name(store: &Store, config: &Config, entry: &Entry) -> Result<Result<String, String>> {
    if let Some(name) = &entry.name {
        return Ok(match obstacle(store, config, name)? {
            None => Ok(name.clone()),
            Some(reason) => Err(reason),
        });
    }
    let url = &entry.settings.url;
    if let Some(known) = source::all(store)?.iter().find(|known| known.settings.url == *url) {
        return Ok(Err(format!("{url} is the source {} already", known.name)));
    }
    let is_free = |name: &str| {
        let is_ours = config.repository.iter().any(|repository| repository.name == name);
        Ok(!is_ours && may_be_named(store, name, url)?)
    };
    name_for(url, is_free).map(Ok)
}

/// Whether a source of this URL may be named so without anybody having said so.
pub(in crate::cli) fn may_be_named(store: &Store, name: &str, url: &str) -> Result<bool> {
    Ok(match source::standing(store, name)? {
        Standing::Free => true,
        // The same source as before goes on with its records.
        Standing::Left { url: before } => before == url,
        Standing::Source | Standing::Repository => false,
    })
}

/// What the text lists: an export, or one URL in a line.
fn listed(text: &str) -> Result<Vec<Entry>> {
    if text.trim_start().starts_with('[') {
        let exported: Vec<Exported> = serde_json::from_str(text).map_err(|error| {
            anyhow!(
                "line {} is not of a list of sources, each as {{\"name\": \"…\", \"settings\": {{…}}}}\nTry: what stook \
                 source export writes, or a URL in each line",
                error.line()
            )
        })?;
        return exported.into_iter().map(entry).collect();
    }
    let mut entries = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let url = line.trim();
        if url.is_empty() || url.starts_with('#') {
            continue;
        }
        let place = format!("line {}", number + 1);
        let settings = Source {
            url: url.to_owned(),
            ..Source::default()
        };
        let draft = Draft::new(settings, Quirks::default());
        let (settings, quirks) = draft.finish().with_context(|| place.clone())?;
        entries.push(Entry {
            place,
            name: None,
            settings,
            quirks,
            secrets: Vec::new(),
        });
    }
    Ok(entries)
}

fn entry(exported: Exported) -> Result<Entry> {
    let Exported {
        name,
        settings,
        quirks,
        secrets,
    } = exported;
    let read = || {
        check_name(&name)?;
        let mut draft = Draft::new(Source::default(), Quirks::default());
        for (setting, value) in &settings {
            draft.set(setting, &written(setting, value)?)?;
        }
        for (quirk, value) in &quirks {
            draft.set_quirk(quirk, &written(quirk, value)?)?;
        }
        draft.finish()
    };
    let (settings, quirks) = read().with_context(|| format!("source {name:?}"))?;
    Ok(Entry {
        place: name.clone(),
        name: Some(name),
        settings,
        quirks,
        secrets,
    })
}

/// A value as it would be typed.
fn written(name: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) | Value::Array(_) => Ok(value.to_string()),
        Value::Null | Value::Object(_) => bail!("{name} is {value}\nTry: a text, a number, true, false or a list"),
    }
}
