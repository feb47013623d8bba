//! What the provider's tests stand on: a clock to turn, a store that vanishes afterwards, records to publish, and
//! answers taken apart.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test program uses its own part of this, and whatever fails here fails the test"
)]

pub mod answer;
pub mod envelope;
pub mod http;
pub mod place;
pub mod xml;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use stook::config::{Config, Repository};
use stook::provider::Provider;
use stook_metadata::{DublinCore, Element, Formats};
use stook_oai::{Datestamp, Identifier, MetadataPrefix, OaiNamespace, Set, SetSpec};
use stook_store::{Change, Clock, Content, Outcome, Store, StoreAddress};
use tempfile::TempDir;

/// The namespace of all identifiers here.
pub const NAMESPACE: &str = "ferry.example.org";

/// The hand of a clock that tests turn.
#[derive(Clone)]
pub struct Hand(Arc<AtomicI64>);

impl Hand {
    pub fn at(time: &str) -> Hand {
        Hand(Arc::new(AtomicI64::new(datestamp(time).unix())))
    }

    pub fn clock(&self) -> Clock {
        let hand = self.clone();
        Clock::new(move || hand.now())
    }

    pub fn now(&self) -> Datestamp {
        Datestamp::from_unix(self.0.load(Ordering::SeqCst)).unwrap()
    }

    pub fn turn_to(&self, time: &str) {
        self.0.store(datestamp(time).unix(), Ordering::SeqCst);
    }

    pub fn turn(&self, by: Duration) {
        self.0.fetch_add(i64::try_from(by.as_secs()).unwrap(), Ordering::SeqCst);
    }
}

/// A store in a folder of its own, and the clock it goes by.
pub struct Bench {
    folder: TempDir,
    address: StoreAddress,
    pub hand: Hand,
    pub store: Store,
}

impl Bench {
    /// An empty store, made at this time.
    pub fn at(time: &str) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let hand = Hand::at(time);
        let address = place::address(folder.path());
        let store = address.open(hand.clock()).unwrap();
        Bench {
            folder,
            address,
            hand,
            store,
        }
    }

    /// A file beside the store, for settings that name one.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A repository of this store with these settings.
    pub fn provider(&self, settings: Repository) -> Provider {
        Provider::open(self.store.clone(), settings, &Formats::default()).unwrap()
    }

    /// The same repository as another process sees it: nothing but the store is shared.
    pub fn reopened(&self, settings: Repository) -> Provider {
        let store = self.address.open(self.hand.clock()).unwrap();
        Provider::open(store, settings, &Formats::default()).unwrap()
    }

    /// Publishes, at the time the clock shows.
    pub fn apply(&self, provider: &Provider, changes: Vec<Change>) -> Vec<Outcome> {
        self.store.apply(provider.repository(), changes).unwrap()
    }

    /// Publishes at this time.
    pub fn apply_at(&self, time: &str, provider: &Provider, changes: Vec<Change>) {
        self.hand.turn_to(time);
        for outcome in self.apply(provider, changes) {
            assert!(outcome.is_published(), "{outcome:?} at {time}");
        }
    }

    pub fn declare_format(&self, provider: &Provider, prefix: &str) {
        let formats = Formats::default();
        let format = formats.by_prefix(prefix).unwrap().metadata_format();
        self.store.declare_format(provider.repository(), &format).unwrap();
    }

    pub fn define_set(&self, provider: &Provider, spec: &str, name: &str, descriptions: Vec<String>) {
        let (spec, name) = (set_spec(spec), name.to_owned());
        let set = Set {
            spec,
            name,
            descriptions,
        };
        self.store.define_set(provider.repository(), &set).unwrap();
    }
}

/// The only repository of a configuration, checked as the program checks it.
pub fn settings(toml: &str) -> Repository {
    Config::parse(toml).unwrap().repository.remove(0)
}

/// A repository in pages of `page_size`, the rest as it comes.
pub fn plain_settings(page_size: usize) -> Repository {
    settings(&format!(
        "[[repository]]
         base_url = \"https://ferry.example.org/oai\"
         repository_name = \"Ferry Town Archive\"
         admin_emails = [\"oai@ferry.example.org\"]
         namespace = \"{NAMESPACE}\"
         page_size = {page_size}"
    ))
}

pub fn datestamp(time: &str) -> Datestamp {
    Datestamp::parse(time).unwrap()
}

pub fn identifier(local: &str) -> Identifier {
    OaiNamespace::parse(NAMESPACE).unwrap().identifier(local).unwrap()
}

pub fn prefix(text: &str) -> MetadataPrefix {
    MetadataPrefix::parse(text).unwrap()
}

pub fn set_spec(text: &str) -> SetSpec {
    SetSpec::parse(text).unwrap()
}

fn change(local: &str, sets: &[&str], content: Content) -> Change {
    Change {
        identifier: identifier(local),
        prefix: prefix("oai_dc"),
        set_specs: sets.iter().map(|spec| set_spec(spec)).collect(),
        content,
    }
}

/// A record in oai_dc that says no more than its title.
pub fn titled(local: &str, sets: &[&str], title: &str) -> Change {
    described(local, sets, &[(Element::Title, title)])
}

/// A record in oai_dc.
pub fn described(local: &str, sets: &[&str], statements: &[(Element, &str)]) -> Change {
    let (metadata, about) = (dublin_core(statements), vec![]);
    change(local, sets, Content::Live { metadata, about })
}

/// The XML of a record in oai_dc.
pub fn dublin_core(statements: &[(Element, &str)]) -> String {
    let mut record = DublinCore::default();
    for (element, value) in statements {
        record.push(*element, *value, None);
    }
    record.write()
}

/// A record in MODS, by the same door as imported ones.
pub fn mods(local: &str, sets: &[&str], title: &str) -> Change {
    let formats = Formats::default();
    let xml = format!(
        "<mods xmlns=\"http://www.loc.gov/mods/v3\" version=\"3.8\"><titleInfo><title>{title}</title></titleInfo><typeOfResource>cartographic</typeOfResource></mods>"
    );
    let metadata = stook_metadata::check(&xml, formats.by_prefix("mods").unwrap()).unwrap();
    let content = Content::Live {
        metadata,
        about: vec![],
    };
    Change {
        prefix: prefix("mods"),
        ..change(local, sets, content)
    }
}

/// The record with these about containers.
pub fn with_about(change: Change, containers: &[&str]) -> Change {
    let Content::Live { metadata, .. } = change.content else {
        panic!("only a live record has about containers");
    };
    let about = containers.iter().map(|&container| container.to_owned()).collect();
    let content = Content::Live { metadata, about };
    Change { content, ..change }
}

pub fn deleted(local: &str) -> Change {
    change(local, &[], Content::Deleted)
}

/// The same change in another format.
pub fn as_format(text: &str, change: Change) -> Change {
    Change {
        prefix: prefix(text),
        ..change
    }
}

/// A value as a query carries it.
pub fn encoded(value: &str) -> String {
    use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
    utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()
}

/// `oai:…:local`, as a query carries it.
pub fn encoded_identifier(local: &str) -> String {
    encoded(identifier(local).as_str())
}
