//! The public face of every back end.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use stook_oai::response::HeaderRef;
use stook_oai::{Datestamp, Identifier, MetadataFormat, MetadataPrefix, Set, SetSpec};

use crate::backend::{Backend, View, each};
use crate::body::{Decompressor, Dictionary};
use crate::postgres::{Postgres, PostgresAddress, ReplicaState};
use crate::sqlite::Sqlite;
use crate::{Change, Clock, Known, Note, Outcome, Position, StoreError};
use crate::{encode, import};

/// A repository of this store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RepositoryId(pub(crate) i64);

/// A list of this store: the records of one format, or of one format and set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct List {
    pub(crate) repository: RepositoryId,
    pub(crate) id: i64,
}

/// A stretch of a list: past `after`, up to and including `through`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The position before the first one wanted.
    pub after: Position,
    /// The last position wanted.
    pub through: Position,
}

impl Span {
    /// Everything.
    pub const ALL: Span = Span {
        after: Position::START,
        through: Position::END,
    };
}

/// How a page ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// How many records were visited.
    pub records: usize,
    /// Where the last of them stands.
    pub last: Position,
    /// Whether the span holds more after it.
    pub more: bool,
}

/// What a repository is, besides its lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// No record has an earlier datestamp, or ever had.
    pub earliest_datestamp: Datestamp,
}

/// What an import found missing from its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vanished {
    /// Live records the input did not mention.
    pub records: u64,
    /// Live records that this import left as they were, mentioned or not.
    pub of: u64,
}

/// A step in deleting what vanished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// Records deleted so far.
    pub deleted: u64,
    /// Records that were perhaps made from one deleted in this step, and can be made from another: identifier, format.
    pub bereft: Vec<(String, MetadataPrefix)>,
}

/// Something that could not be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// The file it came from.
    pub source: String,
    /// The line (or the number of the record) in it.
    pub line: u64,
    /// Its identifier, if that much could be read.
    pub identifier: Option<String>,
    /// What is wrong, in words.
    pub reason: String,
    /// Its first bytes.
    pub excerpt: Vec<u8>,
}

/// What is committed together with a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Notes to write or to take away.
    pub notes: Vec<Note>,
    /// What could not be published. An entry takes the place of an earlier one for the same record.
    pub quarantined: Vec<Quarantined>,
    /// Identifiers of quarantined records that are wanted no more.
    pub released: Vec<String>,
}

/// One record as a page visits it.
pub struct StoredRecord<'a> {
    /// Where it stands in its lists.
    pub position: Position,
    /// The item.
    pub identifier: &'a str,
    /// Its sets as the header shows them, one space between.
    pub set_specs: &'a str,
    /// Whether it is deleted.
    pub deleted: bool,
    pub(crate) body: Option<&'a [u8]>,
    pub(crate) dictionary: Option<&'a Dictionary>,
    pub(crate) decompressor: &'a mut Decompressor,
}

impl<'a> StoredRecord<'a> {
    /// When it was published.
    pub fn datestamp(&self) -> Datestamp {
        self.position.datestamp()
    }

    /// Its header, as responses show it.
    pub fn header(&self) -> HeaderRef<'a> {
        HeaderRef {
            identifier: self.identifier,
            datestamp: self.datestamp(),
            set_specs: self.set_specs,
            deleted: self.deleted,
        }
    }

    /// Appends the ready-made `<metadata>…</metadata><about>…</about>`; nothing if the record is deleted.
    ///
    /// # Errors
    /// When the stored body is damaged.
    pub fn append_content(&mut self, out: &mut Vec<u8>) -> Result<(), StoreError> {
        match self.body {
            Some(body) if !self.deleted => self.decompressor.append(body, self.dictionary, out),
            _ => Ok(()),
        }
    }
}

/// An open store. Cheap to clone; every clone is the same store.
#[derive(Clone)]
pub struct Store {
    backend: Backend,
}

impl Store {
    /// Makes a new store in a file.
    ///
    /// # Errors
    /// When there is a file already, or it cannot be made.
    pub fn create(path: &Path, clock: Clock) -> Result<Store, StoreError> {
        Ok(Store {
            backend: Backend::Sqlite(Arc::new(Sqlite::create(path, clock)?)),
        })
    }

    /// Opens a store, bringing its layout up to date.
    ///
    /// # Errors
    /// When there is none, it is not ours, or it is of a later version.
    pub fn open(path: &Path, clock: Clock) -> Result<Store, StoreError> {
        Ok(Store {
            backend: Backend::Sqlite(Arc::new(Sqlite::open(path, clock)?)),
        })
    }

    /// Opens a store on a PostgreSQL server, making it or bringing its layout up to date where that is allowed. Times
    /// are by the server's clock if `clock` is the system's.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not allow it.
    pub fn connect(address: &PostgresAddress, clock: Clock) -> Result<Store, StoreError> {
        Store::connect_with_replicas(address, &[], clock)
    }

    /// The same, with replicas that [`read_replica`](Self::read_replica) may read from.
    ///
    /// # Errors
    /// As [`connect`](Self::connect). A replica that cannot be reached is no error; others answer.
    pub fn connect_with_replicas(
        address: &PostgresAddress,
        replicas: &[PostgresAddress],
        clock: Clock,
    ) -> Result<Store, StoreError> {
        Ok(Store {
            backend: Backend::Postgres(Postgres::open(address.clone(), replicas, clock)?),
        })
    }

    /// Hears of every pause in which a write waits for a server that is gone, and may end the waiting. A file is not
    /// waited for.
    pub fn on_wait(&self, hear: impl Fn(&StoreError) -> ControlFlow<()> + Send + Sync + 'static) {
        if let Backend::Postgres(postgres) = &self.backend {
            postgres.patience.on_wait(Box::new(hear));
        }
    }

    /// How the replicas are, if there are any. Asks each of them.
    pub fn replicas(&self) -> Vec<ReplicaState> {
        match &self.backend {
            Backend::Sqlite(_) => Vec::new(),
            Backend::Postgres(postgres) => postgres.replicas(),
        }
    }

    /// Where the store is, for messages.
    pub fn place(&self) -> String {
        each!(Backend, &self.backend, it => it.place())
    }

    /// How much room it takes, in bytes.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub fn bytes(&self) -> Result<u64, StoreError> {
        each!(Backend, &self.backend, it => it.bytes())
    }

    /// The key that signs resumption tokens: the same for every process that opens this store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn secret(&self) -> Result<[u8; 32], StoreError> {
        each!(Backend, &self.backend, it => it.secret())
    }

    /// The repository of this name, made if it is new.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn declare_repository(&self, name: &str) -> Result<RepositoryId, StoreError> {
        each!(Backend, &self.backend, it => it.declare_repository(name))
    }

    /// The repository of this name.
    ///
    /// # Errors
    /// [`StoreError::UnknownRepository`] when there is none.
    pub fn repository(&self, name: &str) -> Result<RepositoryId, StoreError> {
        each!(Backend, &self.backend, it => it.repository(name))
    }

    /// The names of all repositories, in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn repositories(&self) -> Result<Vec<String>, StoreError> {
        each!(Backend, &self.backend, it => it.repositories())
    }

    /// Adds a format to the repository, or corrects its schema and namespace.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn declare_format(&self, repository: RepositoryId, format: &MetadataFormat) -> Result<(), StoreError> {
        each!(Backend, &self.backend, it => it.declare_format(repository, format))
    }

    /// Defines a set, or gives a known one a new name and descriptions. Its ancestors come into being with it.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn define_set(&self, repository: RepositoryId, set: &Set) -> Result<(), StoreError> {
        each!(Backend, &self.backend, it => it.define_set(repository, set))
    }

    /// Names sets that nobody has named yet, and leaves the names of others alone. A set that is new comes into being,
    /// with its ancestors.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn name_sets(&self, repository: RepositoryId, names: &[(SetSpec, String)]) -> Result<(), StoreError> {
        each!(Backend, &self.backend, it => it.name_sets(repository, names))
    }

    /// Removes a set and its descendants; `false` if there was none.
    ///
    /// # Errors
    /// [`StoreError::SetInUse`] while records are in it.
    pub fn remove_set(&self, repository: RepositoryId, spec: &SetSpec) -> Result<bool, StoreError> {
        each!(Backend, &self.backend, it => it.remove_set(repository, spec))
    }

    /// One consistent view of everything.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(&self) -> Result<Snapshot, StoreError> {
        Ok(Snapshot {
            view: self.backend.view()?,
        })
    }

    /// One consistent view for an answer to a harvester. Where there are replicas it is of one of them, and may not show
    /// what was committed in the last moments; its response date is as much earlier.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read_replica(&self) -> Result<Snapshot, StoreError> {
        Ok(Snapshot {
            view: self.backend.replica_view()?,
        })
    }

    /// Reads something for a write to come: a server that goes away is waited for, as for the write itself, and then
    /// everything is read again.
    ///
    /// # Errors
    /// When the store cannot be read, or `work` fails.
    pub fn look_up<T>(&self, mut work: impl FnMut(&mut Snapshot) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.backend.patiently(|| work(&mut self.read()?))
    }

    /// Prepares changes for committing; usable on several threads at once.
    pub fn encoder(&self, repository: RepositoryId) -> Encoder {
        Encoder {
            inner: encode::Encoder::new(self.backend.clone(), repository),
        }
    }

    /// Begins an import.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn importer(&self, repository: RepositoryId) -> Result<Importer, StoreError> {
        Ok(Importer {
            inner: import::Importer::new(self.backend.clone(), repository)?,
        })
    }

    /// Commits a few changes: an import of one batch.
    ///
    /// # Errors
    /// When a format is unknown or the store cannot be written.
    pub fn apply(&self, repository: RepositoryId, changes: Vec<Change>) -> Result<Vec<Outcome>, StoreError> {
        let batch = self.encoder(repository).encode(changes)?;
        self.importer(repository)?.commit(&batch)
    }

    /// Commits a batch, and what belongs to it, in one transaction: durable when this returns. A record that is
    /// published leaves the quarantine. Of changes to the same record the batch may hold only one.
    ///
    /// # Errors
    /// When the store cannot be written; nothing is kept then.
    pub fn commit(&self, batch: &Batch, beside: &Beside) -> Result<Vec<Outcome>, StoreError> {
        each!(Backend, &self.backend, it => it.commit_beside(&batch.inner, beside))
    }

    /// The notes whose keys begin with `prefix`, in order of their keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn notes(&self, repository: RepositoryId, prefix: &str) -> Result<Vec<(String, String)>, StoreError> {
        each!(Backend, &self.backend, it => it.notes(repository, prefix))
    }

    /// At most `limit` of those notes, past the key `after`: for more of them than can be held at once.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn notes_after(
        &self,
        repository: RepositoryId,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, String)>, StoreError> {
        each!(Backend, &self.backend, it => it.notes_after(repository, prefix, after, limit))
    }

    /// The repositories that have a note of this key: their names and what it says.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn noted(&self, key: &str) -> Result<Vec<(String, String)>, StoreError> {
        each!(Backend, &self.backend, it => it.noted(key))
    }

    /// Writes notes and nothing else, all or none.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn write_notes(&self, repository: RepositoryId, notes: &[Note]) -> Result<(), StoreError> {
        each!(Backend, &self.backend, it => it.write_notes(repository, notes))
    }

    /// Replaces a note if it still says what is `expected`; `false` if somebody else was faster.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn swap_note(&self, repository: RepositoryId, expected: Option<&str>, note: &Note) -> Result<bool, StoreError> {
        each!(Backend, &self.backend, it => it.swap_note(repository, expected, note))
    }

    /// Calls `visit` with each quarantined entry, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn quarantined(&self, repository: RepositoryId, mut visit: impl FnMut(Quarantined)) -> Result<(), StoreError> {
        each!(Backend, &self.backend, it => it.quarantined(repository, &mut visit))
    }

    /// How many entries are quarantined.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn quarantine_count(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        each!(Backend, &self.backend, it => it.quarantine_count(repository))
    }

    /// Empties the quarantine; returns how many entries there were.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn clear_quarantine(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        each!(Backend, &self.backend, it => it.clear_quarantine(repository))
    }

    /// Writes a consistent copy to a new file while the store is in use.
    ///
    /// # Errors
    /// When the target exists or cannot be written.
    pub fn backup(&self, target: &Path) -> Result<(), StoreError> {
        each!(Backend, &self.backend, it => it.backup(target))
    }

    /// Reads everything and says what is wrong; an empty answer is a sound store. `progress` hears the step, how much
    /// of it is done, and of how much.
    ///
    /// # Errors
    /// When the store cannot be read at all.
    pub fn check(&self, mut progress: impl FnMut(&str, u64, u64)) -> Result<Vec<String>, StoreError> {
        each!(Backend, &self.backend, it => it.check(&mut progress))
    }
}

/// Turns changes into what will be written. Runs on any thread, so that the writer only writes.
pub struct Encoder {
    inner: encode::Encoder,
}

impl Encoder {
    /// Encodes the changes, keeping their order.
    ///
    /// # Errors
    /// [`StoreError::UnknownFormat`] when a change's format was never declared.
    pub fn encode(&self, changes: Vec<Change>) -> Result<Batch, StoreError> {
        Ok(Batch {
            inner: self.inner.encode(changes)?,
        })
    }
}

/// Encoded changes of one repository.
pub struct Batch {
    inner: encode::Batch,
}

/// One import: commits batches and knows what its input mentioned.
pub struct Importer {
    inner: import::Importer,
}

impl Importer {
    /// Commits a batch; when this returns it is durable. Outcomes are in the order of the changes.
    ///
    /// # Errors
    /// When the store cannot be written; nothing of the batch is kept then.
    pub fn commit(&mut self, batch: &Batch) -> Result<Vec<Outcome>, StoreError> {
        self.inner.commit(&batch.inner)
    }

    /// What was made from a record, by a crosswalk from a format to another, vanishes with it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn derives(&mut self, from: &MetadataPrefix, to: &MetadataPrefix) -> Result<(), StoreError> {
        self.inner.derives(from, to)
    }

    /// Keeps what could not be published, for a person to look at.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn quarantine(&mut self, entries: &[Quarantined]) -> Result<(), StoreError> {
        self.inner.quarantine(entries)
    }

    /// Forgets what earlier imports quarantined of this source: it has now been read again to its end.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn finish_source(&mut self, source: &str) -> Result<(), StoreError> {
        self.inner.finish_source(source)
    }

    /// Counts a record as mentioned although it could not be read, so that it does not count as vanished.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spare(&mut self, identifier: &Identifier) -> Result<(), StoreError> {
        self.inner.spare(identifier)
    }

    /// Counts a record as having come already: if it comes now, it is repeated, and changes nothing.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn claim(&mut self, prefix: &MetadataPrefix, identifier: &str) -> Result<(), StoreError> {
        self.inner.claim(prefix, identifier)
    }

    /// Finds the live records of these formats that the input did not mention. Where only some sets were asked for,
    /// only records in those can have vanished.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn vanished(&mut self, prefixes: &[MetadataPrefix], sets: &[SetSpec]) -> Result<Vanished, StoreError> {
        self.inner.vanished(prefixes, sets)
    }

    /// Deletes what [`vanished`](Self::vanished) found last; returns how many. `progress` hears the count so far.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn delete_vanished(&mut self, mut progress: impl FnMut(u64)) -> Result<u64, StoreError> {
        self.delete_vanished_step_by_step(|gone| {
            progress(gone.deleted);
            Ok(())
        })
    }

    /// The same; `hear` is told after each transaction, also which records may have to be made from something else now.
    ///
    /// # Errors
    /// When the store cannot be written, or `hear` fails.
    pub fn delete_vanished_step_by_step(
        &mut self,
        mut hear: impl FnMut(Gone) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        self.inner.delete_vanished(&mut hear)
    }
}

/// One consistent view of the store.
pub struct Snapshot {
    view: View,
}

impl Snapshot {
    /// The date for the answer made from this view: no change it cannot see is stamped earlier, now or ever.
    pub fn response_date(&self) -> Datestamp {
        each!(View, &self.view, it => it.response_date())
    }

    /// The last position taken: where a list that begins now ends.
    pub fn last(&self) -> Position {
        each!(View, &self.view, it => it.last())
    }

    /// What the repository is.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn facts(&self, repository: RepositoryId) -> Result<RepositoryFacts, StoreError> {
        each!(View, &self.view, it => it.facts(repository))
    }

    /// The formats of the repository, oai_dc first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn formats(&self, repository: RepositoryId) -> Result<Vec<MetadataFormat>, StoreError> {
        each!(View, &self.view, it => it.formats(repository))
    }

    /// The formats an item is live in; `None` if there is no such item.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn formats_of(
        &self,
        repository: RepositoryId,
        identifier: &str,
    ) -> Result<Option<Vec<MetadataFormat>>, StoreError> {
        each!(View, &self.view, it => it.formats_of(repository, identifier))
    }

    /// The list of a format, or of a format and set; `None` if nothing was ever in it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        set: Option<&SetSpec>,
    ) -> Result<Option<List>, StoreError> {
        each!(View, &self.view, it => it.list(repository, prefix, set))
    }

    /// How many records of the format are deleted.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn deleted(&self, repository: RepositoryId, prefix: &MetadataPrefix) -> Result<u64, StoreError> {
        each!(View, &self.view, it => it.deleted(repository, prefix))
    }

    /// Visits up to `limit` records of the span in order, stopping early when the visitor breaks.
    ///
    /// # Errors
    /// When the store cannot be read, or the visitor fails.
    pub fn page(
        &mut self,
        list: List,
        span: Span,
        limit: usize,
        mut visit: impl FnMut(&mut StoredRecord<'_>) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<Page, StoreError> {
        each!(View, &mut self.view, it => it.page(list, span, limit, &mut visit))
    }

    /// Visits one record; `false` if there is none.
    ///
    /// # Errors
    /// When the store cannot be read, or the visitor fails.
    pub fn record(
        &mut self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        identifier: &str,
        mut visit: impl FnMut(&mut StoredRecord<'_>) -> Result<(), StoreError>,
    ) -> Result<bool, StoreError> {
        each!(View, &mut self.view, it => it.record(repository, prefix, identifier, &mut visit))
    }

    /// What is known of a record without reading it; `None` if there is none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn known(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
        identifier: &str,
    ) -> Result<Option<Known>, StoreError> {
        each!(View, &self.view, it => it.known(repository, prefix, identifier))
    }

    /// How many records, deleted ones included, the span holds.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn count(&self, list: List, span: Span) -> Result<u64, StoreError> {
        each!(View, &self.view, it => it.count(list, span))
    }

    /// Up to `limit` sets in order of their specs, past `after`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sets(
        &self,
        repository: RepositoryId,
        after: Option<&SetSpec>,
        limit: usize,
    ) -> Result<Vec<Set>, StoreError> {
        each!(View, &self.view, it => it.sets(repository, after, limit))
    }

    /// One set.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn set(&self, repository: RepositoryId, spec: &SetSpec) -> Result<Option<Set>, StoreError> {
        each!(View, &self.view, it => it.set(repository, spec))
    }

    /// How many sets there are.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn set_count(&self, repository: RepositoryId) -> Result<u64, StoreError> {
        each!(View, &self.view, it => it.set_count(repository))
    }
}
