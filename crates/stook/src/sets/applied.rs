//! Which rules the sets in a store are by: a note of the repository.
//!
//! It also names everything that earlier rules made and that may still be there, so that a refresh finds it after any
//! number of edits, imports and interruptions in between.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use stook_metadata::sets::Owned;
use stook_store::{Note, RepositoryId, Store};

use super::SetRules;

const KEY: &str = "set-rules";

/// What the note says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Applied {
    /// The rules by which everything was sorted last.
    rules: String,
    /// The sets that rules have made since.
    owned: Vec<String>,
}

/// The sets that earlier rules may have put records in.
///
/// # Errors
/// When the store cannot be read.
pub fn owned_before(store: &Store, repository: RepositoryId) -> Result<Vec<Owned>> {
    let applied = load(store, repository)?;
    Ok(applied.owned.iter().filter_map(|owned| owned.parse().ok()).collect())
}

/// Notes that records are going to be sorted by these rules; says whether there are records that are sorted by others.
///
/// # Errors
/// When the store cannot be read or written.
pub fn begin(store: &Store, repository: RepositoryId, rules: &SetRules) -> Result<bool> {
    let mut applied = load(store, repository)?;
    if applied.rules == rules.text() {
        return Ok(false);
    }
    if is_empty(store, repository)? {
        finish(store, repository, rules)?;
        return Ok(false);
    }
    let before = applied.owned.len();
    for owned in rules.owned().iter().map(ToString::to_string) {
        if !applied.owned.contains(&owned) {
            applied.owned.push(owned);
        }
    }
    if applied.owned.len() > before {
        save(store, repository, &applied)?;
    }
    Ok(true)
}

/// Notes that everything is sorted by these rules.
///
/// # Errors
/// When the store cannot be written.
pub fn finish(store: &Store, repository: RepositoryId, rules: &SetRules) -> Result<()> {
    let applied = Applied {
        rules: rules.text(),
        owned: rules.owned().iter().map(ToString::to_string).collect(),
    };
    save(store, repository, &applied)
}

fn is_empty(store: &Store, repository: RepositoryId) -> Result<bool> {
    let is_empty = store.look_up(|snapshot| {
        for format in snapshot.formats(repository)? {
            if snapshot.list(repository, &format.prefix, None)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    Ok(is_empty)
}

fn load(store: &Store, repository: RepositoryId) -> Result<Applied> {
    let notes = store.notes(repository, KEY)?;
    match notes.into_iter().find(|(key, _)| key == KEY) {
        Some((_, text)) => serde_json::from_str(&text).context("the note about set rules in the store"),
        None => Ok(Applied::default()),
    }
}

fn save(store: &Store, repository: RepositoryId, applied: &Applied) -> Result<()> {
    let text = match *applied == Applied::default() {
        true => None,
        false => Some(serde_json::to_string(applied)?),
    };
    let key = KEY.to_owned();
    Ok(store.write_notes(repository, &[Note { key, text }])?)
}
