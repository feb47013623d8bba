//! A source that misbehaves, a store, a harvest between them, and what the store holds afterwards.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use misbehave::{Endpoint, Expected, Script, World};
use stook::config::Source;
use stook::harvest::source::{self, KnownSource};
use stook::harvest::{Outside, Polite, Quirks, Report, Wanted};
use stook_oai::MetadataPrefix;
use stook_oai::response::split_fragment;
use stook_store::{Clock, Span, Store};
use tempfile::TempDir;

use crate::place;

/// The clock of every source: long after the made-up records.
pub(crate) const NOW: i64 = 1_700_000_000;

/// What a store holds of one record, as the source would have it.
pub(crate) type Held = BTreeMap<String, Expected>;

/// A source and the store it is harvested into.
pub(crate) struct Bench {
    pub(crate) endpoint: Endpoint,
    pub(crate) store: Store,
    pub(crate) settings: Source,
    /// Where the store is.
    _folder: TempDir,
}

impl Bench {
    pub(crate) fn new(world: World, script: Script) -> Bench {
        let endpoint = Endpoint::start(world, script).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = place::address(folder.path()).open(Clock::system()).unwrap();
        let settings = Source {
            url: endpoint.url(),
            ..patient()
        };
        Bench {
            endpoint,
            store,
            settings,
            _folder: folder,
        }
    }

    /// Harvests as somebody would who types the command again.
    pub(crate) fn harvest(&self) -> Report {
        self.harvest_with(Wanted::default())
    }

    pub(crate) fn verify(&self) -> Report {
        self.harvest_with(Wanted {
            verify: true,
            ..Wanted::default()
        })
    }

    pub(crate) fn harvest_with(&self, wanted: Wanted) -> Report {
        self.harvest_watched(wanted, &|_| {})
    }

    /// Harvests, and tells how far it has come.
    pub(crate) fn harvest_watched(&self, wanted: Wanted, watch: &(dyn Fn(&Report) + Sync)) -> Report {
        let (polite, stop) = (Polite::new(2), AtomicBool::new(false));
        let outside = Outside {
            contact: "harvest@example.org",
            polite: &polite,
            stop: &stop,
            progress: &|report, _| watch(report),
        };
        self.harvest_by(wanted, &outside)
    }

    /// Harvests in a world of one's own.
    pub(crate) fn harvest_by(&self, wanted: Wanted, outside: &Outside<'_>) -> Report {
        let known = source::named(&self.store, "source").unwrap_or(KnownSource {
            name: "source".into(),
            settings: self.settings.clone(),
            quirks: Quirks::default(),
            report: None,
        });
        let known = KnownSource {
            settings: self.settings.clone(),
            ..known
        };
        source::keep(&self.store, "source", &known.settings, &known.quirks).unwrap();
        source::harvest(&self.store, &known, wanted, outside).unwrap()
    }

    /// What was learned about the source.
    pub(crate) fn quirks(&self) -> Quirks {
        source::named(&self.store, "source").unwrap().quirks
    }

    /// What the store holds, with the datestamps of the source.
    pub(crate) fn held(&self) -> Held {
        held(&self.store, "source")
    }

    /// What an exact harvester must hold.
    pub(crate) fn expected(&self) -> Held {
        self.endpoint.world().expected("oai_dc")
    }

    /// The identifiers in quarantine.
    pub(crate) fn quarantined(&self) -> Vec<Option<String>> {
        let repository = self.store.repository("source").unwrap();
        let mut found = Vec::new();
        self.store
            .quarantined(repository, |entry| found.push(entry.identifier))
            .unwrap();
        found
    }
}

/// Settings for tests: no pause is longer than it must be.
pub(crate) fn patient() -> Source {
    Source {
        retry_milliseconds: 1,
        read_timeout_seconds: 2,
        longest_wait_seconds: 20,
        answer_timeout_seconds: 20,
        ..Source::default()
    }
}

/// What a repository of the store holds of oai_dc. Deleted records have no origin datestamp and are given 0.
pub(crate) fn held(store: &Store, name: &str) -> Held {
    let repository = store.repository(name).unwrap();
    let prefix = MetadataPrefix::oai_dc();
    let mut snapshot = store.read().unwrap();
    let mut held = Held::new();
    let Some(list) = snapshot.list(repository, &prefix, None).unwrap() else {
        return held;
    };
    let origins = store.read().unwrap();
    snapshot
        .page(list, Span::ALL, usize::MAX, |record| {
            let mut fragment = Vec::new();
            record.append_content(&mut fragment)?;
            let metadata = split_fragment(&fragment).map(|parts| parts.metadata.as_bytes().to_vec());
            let origin = origins.known(repository, &prefix, record.identifier)?;
            let origin = origin.and_then(|known| known.origin).map_or(0, |date| date.unix());
            let before = held.insert(
                record.identifier.to_owned(),
                Expected {
                    datestamp: origin,
                    deleted: record.deleted,
                    set_specs: record
                        .set_specs
                        .split(' ')
                        .filter(|set| !set.is_empty())
                        .map(str::to_owned)
                        .collect(),
                    metadata,
                },
            );
            assert!(before.is_none(), "{} is there twice", record.identifier);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    held
}

/// How two states differ, in words; empty if they do not.
pub(crate) fn difference(held: &Held, expected: &Held) -> String {
    let mut lines = Vec::new();
    for (identifier, wanted) in expected {
        match held.get(identifier) {
            None => lines.push(format!("{identifier} is missing")),
            Some(found) => {
                let mut sets = (found.set_specs.clone(), wanted.set_specs.clone());
                sets.0.sort();
                sets.1.sort();
                if found.deleted != wanted.deleted {
                    lines.push(format!(
                        "{identifier}: deleted {} not {}",
                        found.deleted, wanted.deleted
                    ));
                } else if sets.0 != sets.1 && !(wanted.deleted && sets.1.is_empty()) {
                    lines.push(format!("{identifier}: sets {:?} not {:?}", sets.0, sets.1));
                } else if !wanted.deleted && found.datestamp != wanted.datestamp {
                    lines.push(format!(
                        "{identifier}: datestamp {} not {}",
                        found.datestamp, wanted.datestamp
                    ));
                } else if found.metadata != wanted.metadata {
                    let text = |metadata: &Option<Vec<u8>>| {
                        String::from_utf8_lossy(metadata.as_deref().unwrap_or_default())
                            .chars()
                            .take(500)
                            .collect::<String>()
                    };
                    let (found, wanted) = (text(&found.metadata), text(&wanted.metadata));
                    lines.push(format!("{identifier}: metadata {found} not {wanted}"));
                }
            }
        }
    }
    for identifier in held.keys().filter(|identifier| !expected.contains_key(*identifier)) {
        lines.push(format!("{identifier} is too much"));
    }
    let more = lines.len().saturating_sub(5);
    lines.truncate(5);
    if more > 0 {
        lines.push(format!("… and {more} more"));
    }
    lines.join("; ")
}

/// How much of something, where a longer run than usual was asked for.
pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}
