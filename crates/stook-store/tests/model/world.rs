//! A store beside its model: every step is taken on both, and they must not differ.

use stook_oai::{Granularity, MetadataPrefix};
use stook_store::{Change, Content, List, Outcome, Position, RepositoryId, Snapshot, Span, Store, StoreAddress};
use tempfile::TempDir;
use testserver::Server;

use super::super::fixture::harvester::{Fetched, Harvester};
use super::super::fixture::{self, Hand, NEW_YEAR, Seen, datestamp, faults, identifier, in_pages, prefix, set};
use super::{Act, Known, Model, Say};

const FORMATS: [&str; 2] = ["oai_dc", "mods"];
pub(crate) const SETS: [&str; 5] = ["a", "a:x", "a:x:1", "ab", "b"];

#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// One import in one or more batches.
    Import { handle: usize, batches: Vec<Vec<Act>> },
    /// An import that deletes what it does not mention.
    Sync {
        handle: usize,
        repository: usize,
        format: usize,
        batches: Vec<Vec<Act>>,
    },
    /// The clock moves.
    Turn(i64),
    /// A handle is closed and opened again.
    Restart { handle: usize },
    /// A harvester asks for one page.
    Fetch {
        harvester: usize,
        handle: usize,
        limit: usize,
    },
}

/// Repository, format, set and granularity of each harvester.
pub(crate) const HARVESTERS: [(usize, usize, Option<&str>, Granularity); 6] = [
    (0, 0, None, Granularity::Second),
    (0, 0, None, Granularity::Day),
    (0, 1, None, Granularity::Second),
    (1, 0, None, Granularity::Second),
    (0, 0, Some("a"), Granularity::Second),
    (0, 0, Some("a:x"), Granularity::Day),
];

/// A store, the model of it, and who harvests it.
pub(crate) struct World {
    _folder: TempDir,
    address: StoreAddress,
    pub(crate) hand: Hand,
    handles: Vec<Store>,
    repositories: Vec<RepositoryId>,
    pub(crate) model: Model,
    pub(crate) harvesters: Vec<Harvester>,
    /// Per harvester: the order of the last record seen and of the last that belongs to the list, and how many
    /// publications there were then.
    lists: Vec<Option<Frozen>>,
}

#[derive(Clone, Copy)]
struct Frozen {
    after: u64,
    through: u64,
    orders: u64,
}

impl World {
    /// With a store in a file.
    pub(crate) fn in_file() -> World {
        let folder = tempfile::tempdir().unwrap();
        let address = StoreAddress::File(folder.path().join("records.db"));
        World::at(folder, address)
    }

    /// With a store on a server.
    pub(crate) fn on_server() -> World {
        let address = StoreAddress::Server(Server::shared().fresh_url());
        World::at(tempfile::tempdir().unwrap(), address)
    }

    fn at(folder: TempDir, address: StoreAddress) -> World {
        let hand = Hand::at(NEW_YEAR);
        let store = address.open(hand.clock()).unwrap();
        let repositories: Vec<RepositoryId> = ["maps", "atlases"]
            .map(|name| store.declare_repository(name).unwrap())
            .to_vec();
        for repository in &repositories {
            for format in FORMATS {
                store.declare_format(*repository, &fixture::format(format)).unwrap();
            }
        }
        let harvesters = HARVESTERS.map(|(repository, format, within, granularity)| {
            Harvester::new(
                repositories[repository],
                prefix(FORMATS[format]),
                within.map(set),
                granularity,
            )
        });
        let handles = vec![store, address.open(hand.clock()).unwrap()];
        let mut model = Model::default();
        model.time(hand.now());
        World {
            _folder: folder,
            address,
            hand,
            handles,
            repositories,
            model,
            lists: vec![None; harvesters.len()],
            harvesters: harvesters.into(),
        }
    }

    pub(crate) fn take(&mut self, step: &Step) {
        match step {
            Step::Import { handle, batches } => self.import(*handle, batches, None),
            Step::Sync {
                handle,
                repository,
                format,
                batches,
            } => {
                let mut batches = batches.clone();
                for act in batches.iter_mut().flatten() {
                    (act.key.0, act.key.1) = (*repository, *format);
                }
                self.import(*handle, &batches, Some((*repository, &[*format])));
            }
            Step::Turn(seconds) => self.hand.turn(*seconds),
            Step::Restart { handle } => {
                self.handles[*handle] = self.address.open(self.hand.clock()).unwrap();
            }
            Step::Fetch {
                harvester,
                handle,
                limit,
            } => self.fetch(*harvester, *handle, *limit),
        }
    }

    /// Imports on both sides and compares the outcomes. Acts of another repository are left out: an import is of one.
    pub(crate) fn import(&mut self, handle: usize, batches: &[Vec<Act>], sync: Option<(usize, &[usize])>) {
        let store = &self.handles[handle];
        let first = || batches.iter().flatten().next().map_or(0, |act| act.key.0);
        let of = sync.map_or_else(first, |(repository, _)| repository);
        let batches: Vec<Vec<Act>> = batches
            .iter()
            .map(|batch| batch.iter().filter(|act| act.key.0 == of).cloned().collect())
            .collect();
        let repository = self.repositories[of];
        let (encoder, mut importer) = (store.encoder(repository), store.importer(repository).unwrap());
        let expected = self.model.import(self.hand.now(), &batches, sync);
        for (batch, expected) in batches.iter().zip(expected) {
            let changes = batch.iter().map(change).collect();
            let outcomes = importer.commit(&encoder.encode(changes).unwrap()).unwrap();
            for ((outcome, expected), act) in outcomes.iter().zip(&expected).zip(batch) {
                // Only of content is it asked whether a repetition says the same.
                let mut others = batch.iter().filter(|other| other.key == act.key);
                let of_content = others.all(|other| matches!(other.say, Say::Live(_)));
                let either = !of_content && matches!(expected, Outcome::Repeated { .. });
                assert!(
                    outcome == expected || either && matches!(outcome, Outcome::Repeated { .. }),
                    "{outcome:?} instead of {expected:?} for {act:?}"
                );
            }
        }
        if let Some((_, formats)) = sync {
            let prefixes: Vec<MetadataPrefix> = formats.iter().map(|format| prefix(FORMATS[*format])).collect();
            let vanished = importer.vanished(&prefixes, &[]).unwrap();
            assert_eq!(importer.delete_vanished(|_| ()).unwrap(), vanished.records);
        }
    }

    /// Fetches a page and compares it with what the model would have answered.
    pub(crate) fn fetch(&mut self, at: usize, handle: usize, limit: usize) {
        let (repository, format, within, _) = HARVESTERS[at];
        let fetched = self.harvesters[at].fetch(&self.handles[handle], limit);
        assert_eq!(fetched.response_date.unix(), self.model.time(self.hand.now()));
        let orders = self.model.orders;
        let frozen = self.lists[at].take();
        let list = frozen.unwrap_or(Frozen {
            after: 0,
            through: orders,
            orders,
        });
        let from = fetched.from.map_or(i64::MIN, stook_oai::Datestamp::unix);
        let mut rest = self.model.list(repository, format, within);
        rest.retain(|(_, known)| known.datestamp >= from && known.order > list.after && known.order <= list.through);
        assert_eq!(fetched.records.len(), limit.min(rest.len()));
        for (seen, (number, known)) in fetched.records.iter().zip(&rest) {
            compare(seen, *number, known);
        }
        assert_eq!(fetched.is_last, rest.len() <= limit);
        // A token can be used twice, and through another process.
        let mut snapshot = self.handles[1 - handle].read().unwrap();
        let harvester = &self.harvesters[at];
        if let Some(again) = snapshot
            .list(harvester.repository, &harvester.prefix, harvester.set.as_ref())
            .unwrap()
        {
            let again = fixture::page(&mut snapshot, again, fetched.span, limit);
            assert_eq!(again, (fetched.records.clone(), !fetched.is_last));
        }
        let quiet = list.orders == orders;
        check_size(&fetched, frozen.is_some(), quiet);
        if !fetched.is_last {
            let after = rest[limit - 1].1.order;
            let orders = if quiet { orders } else { u64::MAX };
            self.lists[at] = Some(Frozen { after, orders, ..list });
        }
    }

    /// Lets everybody catch up, and compares every copy with the model.
    pub(crate) fn settle(&mut self) {
        let store = &self.handles[0];
        for (at, harvester) in self.harvesters.iter_mut().enumerate() {
            let (repository, format, within, _) = HARVESTERS[at];
            harvester.finish(store, 2);
            harvester.harvest(store, 3);
            let list = self.model.list(repository, format, within);
            for (number, known) in &list {
                let copied = harvester.copy.get(identifier(*number).as_str());
                compare(
                    copied.unwrap_or_else(|| panic!("harvester {at} missed {number}")),
                    *number,
                    known,
                );
            }
            // Who harvests a set is not told what left it; nobody else has more than there is.
            let left = harvester
                .copied()
                .iter()
                .filter(|seen| !list.iter().any(|(number, _)| *number == seen.number()))
                .count();
            assert!(left == 0 || within.is_some(), "harvester {at} has what is not there");
        }
    }

    /// Every list, record and count by any route says the same as the model.
    pub(crate) fn compare_all(&self, ranges: &[(i64, i64)]) {
        let store = &self.handles[1];
        let mut snapshot = store.read().unwrap();
        for (at, repository) in self.repositories.iter().enumerate() {
            for (format, text) in FORMATS.iter().enumerate() {
                for within in [None].into_iter().chain(SETS.map(Some)) {
                    let expected = self.model.list(at, format, within);
                    let list = snapshot
                        .list(*repository, &prefix(text), within.map(set).as_ref())
                        .unwrap();
                    match list {
                        Some(list) => compare_list(&mut snapshot, list, &expected, ranges),
                        None => assert!(expected.is_empty()),
                    }
                }
                let whole = self.model.list(at, format, None);
                let deleted = whole.iter().filter(|(_, known)| known.deleted).count();
                assert_eq!(snapshot.deleted(*repository, &prefix(text)).unwrap(), deleted as u64);
            }
        }
        for ((repository, format, number), known) in &self.model.records {
            let seen = fixture::record(store, self.repositories[*repository], FORMATS[*format], *number);
            compare(&seen.unwrap(), *number, known);
        }
        let mut found = faults(store);
        found.retain(|fault| !fault.contains("later than the system's clock"));
        assert_eq!(found, [] as [&str; 0]);
    }
}

/// Compares a list with the model's, and each range of it with what lies inside.
fn compare_list(snapshot: &mut Snapshot, list: List, expected: &[(usize, &Known)], ranges: &[(i64, i64)]) {
    let whole = in_pages(snapshot, list, Span::ALL, 3);
    assert_eq!(whole.len(), expected.len());
    for (seen, (number, known)) in whole.iter().zip(expected) {
        compare(seen, *number, known);
    }
    for (from, until) in ranges {
        let span = Span {
            after: Position::first_of(datestamp(*from)).before(),
            through: Position::last_of(datestamp(*until)),
        };
        let inside = |seen: &&Seen| (*from..=*until).contains(&seen.datestamp);
        let inside: Vec<Seen> = whole.iter().filter(inside).cloned().collect();
        assert_eq!(snapshot.count(list, span).unwrap(), inside.len() as u64);
        assert_eq!(in_pages(snapshot, list, span, 2), inside);
    }
}

fn change(act: &Act) -> Change {
    Change {
        identifier: identifier(act.key.2),
        prefix: prefix(FORMATS[act.key.1]),
        set_specs: fixture::sets(&act.set_specs),
        content: match &act.say {
            Say::Live(text) => Content::Live {
                metadata: text.clone(),
                about: vec![],
            },
            Say::Deleted => Content::Deleted,
            Say::Erased => Content::Erased,
            Say::Restored => Content::Restored,
        },
    }
}

fn compare(seen: &Seen, number: usize, known: &Known) {
    let set_specs = known.set_specs.iter().copied().collect::<Vec<_>>().join(" ");
    let content = match known.content() {
        "" => String::new(),
        text => format!("<metadata>{text}</metadata>"),
    };
    assert_eq!((seen.number(), seen.datestamp), (number, known.datestamp));
    assert_eq!(
        (seen.deleted, &seen.set_specs, &seen.content),
        (known.deleted, &set_specs, &content)
    );
}

/// A list that nothing disturbed is as long as was announced, and a token never led to an empty page.
fn check_size(fetched: &Fetched, is_resumed: bool, quiet: bool) {
    assert!(fetched.cursor <= fetched.complete_list_size);
    if quiet {
        assert!(
            !is_resumed || !fetched.records.is_empty(),
            "an empty page after a token"
        );
        assert_eq!(fetched.is_last, fetched.cursor == fetched.complete_list_size);
    }
}
