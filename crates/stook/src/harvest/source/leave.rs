//! What stays of a source when it is removed or moves elsewhere: its records, and a note of where they came from.
//!
//! Records outlive their source until somebody erases them. The note is what tells them from a repository of our own,
//! which nobody may take over or erase by the name alone.

use std::collections::HashMap;
use std::ops::ControlFlow;

use anyhow::{Result, bail};
use stook_oai::Identifier;
use stook_store::{Change, Content, Note, Position, RepositoryId, Span, Store};

use super::super::lease::LASTS;
use super::{Lease, REMOVED, REPORT, SETTINGS, named};

/// Records erased in one transaction.
const ERASED_AT_ONCE: usize = 1_000;

/// What a name stands for in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Free,
    /// A source.
    Source,
    /// The records of a source that was removed.
    Left {
        /// Where they were harvested.
        url: String,
    },
    /// A repository that was never harvested from anywhere.
    Repository,
}

/// What a name stands for.
///
/// # Errors
/// When the store cannot be read.
pub fn standing(store: &Store, name: &str) -> Result<Standing> {
    if !store.repositories()?.iter().any(|known| known == name) {
        return Ok(Standing::Free);
    }
    let notes: HashMap<String, String> = store.notes(store.repository(name)?, "")?.into_iter().collect();
    Ok(match (notes.get(SETTINGS), notes.get(REMOVED)) {
        (Some(_), _) => Standing::Source,
        (None, Some(url)) => Standing::Left { url: url.clone() },
        (None, None) => Standing::Repository,
    })
}

/// How many live and how many deleted records there are under a name.
///
/// # Errors
/// When the store cannot be read.
pub fn records(store: &Store, name: &str) -> Result<(u64, u64)> {
    let repository = store.repository(name)?;
    let snapshot = store.read()?;
    let (mut live, mut deleted) = (0, 0);
    for format in snapshot.formats(repository)? {
        if let Some(list) = snapshot.list(repository, &format.prefix, None)? {
            let gone = snapshot.deleted(repository, &format.prefix)?;
            live += snapshot.count(list, Span::ALL)?.saturating_sub(gone);
            deleted += gone;
        }
    }
    Ok((live, deleted))
}

/// Forgets a source, its ledger and what was learned about it. Its records stay, and where they came from.
///
/// # Errors
/// When there is none, it is being harvested, or the store cannot be written.
pub fn forget(store: &Store, name: &str) -> Result<()> {
    let source = named(store, name)?;
    let repository = store.repository(name)?;
    // A harvest under way would write its ledger again.
    let _lease = Lease::take(store, repository, name, LASTS)?;
    let mut notes = without(store, repository, |_| true)?;
    notes.push(Note {
        key: REMOVED.to_owned(),
        text: Some(source.settings.url),
    });
    Ok(store.write_notes(repository, &notes)?)
}

/// Forgets how far harvests of a source have come and how the last one went: the next one asks for everything.
///
/// # Errors
/// When there is none, it is being harvested, or the store cannot be written.
pub fn start_over(store: &Store, name: &str) -> Result<()> {
    named(store, name)?;
    let repository = store.repository(name)?;
    let _lease = Lease::take(store, repository, name, LASTS)?;
    let is_ledger = |key: &str| key.starts_with("target/") || key.starts_with("window/");
    let notes = without(store, repository, |key| is_ledger(key) || key == REPORT)?;
    Ok(store.write_notes(repository, &notes)?)
}

/// What takes those notes away whose keys are meant.
fn without(store: &Store, repository: RepositoryId, is_meant: impl Fn(&str) -> bool) -> Result<Vec<Note>> {
    let keys = store.notes(repository, "")?.into_iter().map(|(key, _)| key);
    let meant = keys.filter(|key| is_meant(key));
    Ok(meant.map(|key| Note { key, text: None }).collect())
}

/// Erases the records that a removed source left, and its quarantine; says how many records lost their content.
/// `progress` hears how many have been looked at. What is erased stays known as deleted.
///
/// # Errors
/// When a source still has them, or the store cannot be written. What was erased until then stays erased.
pub fn erase(store: &Store, name: &str, mut progress: impl FnMut(u64)) -> Result<u64> {
    if !matches!(standing(store, name)?, Standing::Left { .. }) {
        bail!("{name:?} is not what a removed source left\nTry: stook source list");
    }
    let repository = store.repository(name)?;
    let (mut seen, mut erased) = (0, 0);
    for format in store.read()?.formats(repository)? {
        let Some(list) = store.read()?.list(repository, &format.prefix, None)? else {
            continue;
        };
        // Erasing moves a record to the end of its list; up to here are those that were there before.
        let mut span = Span {
            after: Position::START,
            through: store.read()?.last(),
        };
        loop {
            let mut identifiers = Vec::new();
            let page = store.read()?.page(list, span, ERASED_AT_ONCE, |record| {
                identifiers.push(record.identifier.to_owned());
                Ok(ControlFlow::Continue(()))
            })?;
            let change = |identifier: String| {
                Ok(Change {
                    identifier: Identifier::parse(&identifier)?,
                    prefix: format.prefix.clone(),
                    set_specs: vec![],
                    content: Content::Erased,
                })
            };
            seen += identifiers.len() as u64;
            let changes = identifiers.into_iter().map(change).collect::<Result<_>>()?;
            let outcomes = store.apply(repository, changes)?;
            erased += outcomes.iter().filter(|outcome| outcome.is_published()).count() as u64;
            progress(seen);
            if !page.more {
                break;
            }
            span.after = page.last;
        }
    }
    store.clear_quarantine(repository)?;
    Ok(erased)
}

#[cfg(test)]
mod tests {
    use stook_oai::MetadataPrefix;
    use stook_store::{Clock, Quarantined};

    use super::*;
    use crate::config::Source;
    use crate::harvest::Quirks;
    use crate::harvest::ledger::{self, Ledger};
    use crate::harvest::source::keep;

    /// A source with more records than are erased at once, a ledger and something in quarantine.
    fn store(records: usize) -> (tempfile::TempDir, Store, RepositoryId) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&folder.path().join("store.db"), Clock::system()).unwrap();
        let settings = Source {
            url: "https://example.org/oai".into(),
            ..Source::default()
        };
        keep(&store, "source", &settings, &Quirks::default()).unwrap();
        let repository = store.repository("source").unwrap();
        let formats = stook_metadata::Formats::new(vec![]);
        let format = formats.by_prefix("oai_dc").unwrap().metadata_format();
        store.declare_format(repository, &format).unwrap();
        let change = |number: usize| Change {
            identifier: Identifier::parse(&format!("oai:example.org:{number}")).unwrap(),
            prefix: MetadataPrefix::oai_dc(),
            set_specs: vec![],
            content: if number == 0 {
                Content::Deleted
            } else {
                Content::Live {
                    metadata: format!("<dc>{number}</dc>"),
                    about: vec![],
                }
            },
        };
        store.apply(repository, (0..records).map(change).collect()).unwrap();
        let entry = Quarantined {
            source: "page".into(),
            line: 1,
            identifier: None,
            reason: "broken".into(),
            excerpt: b"<record".to_vec(),
        };
        store.importer(repository).unwrap().quarantine(&[entry]).unwrap();
        let notes = Ledger::new("oai_dc", "").begin_round((None, None), false);
        store.write_notes(repository, &notes).unwrap();
        (folder, store, repository)
    }

    #[test]
    fn what_a_source_leaves_is_known_and_can_be_erased_to_the_last_record() {
        let (_folder, store, repository) = store(2 * ERASED_AT_ONCE + 7);
        let live = 2 * ERASED_AT_ONCE as u64 + 6;
        assert!(erase(&store, "source", |_| {}).is_err(), "a source still has them");
        forget(&store, "source").unwrap();
        let left = Standing::Left {
            url: "https://example.org/oai".into(),
        };
        assert_eq!(standing(&store, "source").unwrap(), left);
        assert!(ledger::targets(&store, repository).unwrap().is_empty());
        assert_eq!(records(&store, "source").unwrap(), (live, 1));
        let mut seen = 0;
        assert_eq!(erase(&store, "source", |now| seen = now).unwrap(), live);
        assert_eq!(seen, live + 1);
        assert_eq!(records(&store, "source").unwrap(), (0, live + 1));
        assert_eq!(store.quarantine_count(repository).unwrap(), 0);
        assert_eq!(erase(&store, "source", |_| {}).unwrap(), 0, "once more changes nothing");
    }

    #[test]
    fn a_repository_of_our_own_is_neither_left_nor_erased() {
        let (_folder, store, _) = store(1);
        store.declare_repository("main").unwrap();
        assert_eq!(standing(&store, "main").unwrap(), Standing::Repository);
        assert_eq!(standing(&store, "nobody").unwrap(), Standing::Free);
        assert!(erase(&store, "main", |_| {}).is_err() && forget(&store, "main").is_err());
    }

    #[test]
    fn a_source_that_is_being_harvested_stays_as_it_is() {
        let (_folder, store, repository) = store(1);
        let lease = Lease::take(&store, repository, "source", LASTS).unwrap();
        for refused in [forget(&store, "source"), start_over(&store, "source")] {
            assert!(refused.unwrap_err().to_string().contains("is being harvested"));
        }
        assert_eq!(ledger::targets(&store, repository).unwrap().len(), 1);
        drop(lease);
        start_over(&store, "source").unwrap();
        assert!(store.notes(repository, "window/").unwrap().is_empty());
        assert!(ledger::targets(&store, repository).unwrap().is_empty());
        assert_eq!(standing(&store, "source").unwrap(), Standing::Source);
    }
}
