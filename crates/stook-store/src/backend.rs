//! The back ends, and the words they share with what is the same for all of them: encoding ([`encode`](crate::encode))
//! and imports ([`import`](crate::import)).
//!
//! Every back end has the same methods under the same names; [`each!`] calls the one at hand.

use std::ops::ControlFlow;
use std::sync::Arc;

use stook_oai::MetadataPrefix;

use crate::body::{Dictionary, Digest};
use crate::encode::{Batch, Encoded};
use crate::postgres::{self, Postgres};
use crate::sqlite::{self, Sqlite};
use crate::{Outcome, Position, Quarantined, RepositoryId, StoreError, StoredRecord};

/// Where an open store keeps its records.
#[derive(Clone)]
pub(crate) enum Backend {
    /// In a file.
    Sqlite(Arc<Sqlite>),
    /// On a server.
    Postgres(Arc<Postgres>),
}

/// A consistent view of one of them.
pub(crate) enum View {
    /// Of a file.
    Sqlite(sqlite::Snapshot),
    /// Of a server.
    Postgres(Box<postgres::Snapshot>),
}

/// The same call on whichever back end, or view of one, is at hand.
macro_rules! each {
    ($kind:ident, $any:expr, $it:ident => $call:expr) => {
        match $any {
            $crate::backend::$kind::Sqlite($it) => $call,
            $crate::backend::$kind::Postgres($it) => $call,
        }
    };
}
pub(crate) use each;

/// What encoding and imports ask of a back end.
impl Backend {
    /// A consistent view of everything.
    pub(crate) fn view(&self) -> Result<View, StoreError> {
        Ok(match self {
            Backend::Sqlite(sqlite) => View::Sqlite(sqlite::Snapshot::new(sqlite.clone())?),
            Backend::Postgres(postgres) => View::Postgres(Box::new(postgres::Snapshot::new(postgres.clone())?)),
        })
    }

    /// The same, maybe of a replica.
    pub(crate) fn replica_view(&self) -> Result<View, StoreError> {
        match self {
            Backend::Sqlite(_) => self.view(),
            Backend::Postgres(postgres) => Ok(View::Postgres(Box::new(postgres.read_replica()?))),
        }
    }

    /// Does it again as long as that may help: for what leads to a write.
    pub(crate) fn patiently<T>(&self, mut work: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
        match self {
            Backend::Sqlite(_) => work(),
            Backend::Postgres(postgres) => postgres.patience.exert(work),
        }
    }

    pub(crate) fn format(
        &self,
        repository: RepositoryId,
        prefix: &MetadataPrefix,
    ) -> Result<Option<StoredFormat>, StoreError> {
        each!(Backend, self, it => it.format(repository, prefix))
    }

    pub(crate) fn dictionary(&self, id: i64) -> Result<Arc<Dictionary>, StoreError> {
        each!(Backend, self, it => it.dictionary(id))
    }

    /// Gives a format its dictionary; the id of the one it then has, which may be one that came before.
    pub(crate) fn keep_dictionary(&self, format: i64, bytes: &[u8]) -> Result<i64, StoreError> {
        each!(Backend, self, it => it.keep_dictionary(format, bytes))
    }

    /// Commits the batch; outcomes are in the order of its changes.
    pub(crate) fn commit(
        &self,
        batch: &Batch,
        screen: &mut Screen<'_>,
    ) -> Result<(Vec<Outcome>, Published), StoreError> {
        each!(Backend, self, it => it.commit(batch, screen))
    }

    pub(crate) fn import_start(&self) -> Result<ImportStart, StoreError> {
        each!(Backend, self, it => it.import_start())
    }

    /// The positions of an item's records.
    pub(crate) fn positions_of(&self, repository: RepositoryId, identifier: &str) -> Result<Vec<Position>, StoreError> {
        each!(Backend, self, it => it.positions_of(repository, identifier))
    }

    /// The formats and identifiers of the records that are still at these positions.
    pub(crate) fn records_at(
        &self,
        repository: RepositoryId,
        positions: &[Position],
    ) -> Result<Vec<(i64, String)>, StoreError> {
        each!(Backend, self, it => it.records_at(repository, positions))
    }

    pub(crate) fn quarantine(&self, repository: RepositoryId, entries: &[Quarantined]) -> Result<(), StoreError> {
        each!(Backend, self, it => it.quarantine(repository, entries))
    }

    /// Forgets the entries of a source up to one of them.
    pub(crate) fn forget_quarantined(
        &self,
        repository: RepositoryId,
        source: &str,
        through: i64,
    ) -> Result<(), StoreError> {
        each!(Backend, self, it => it.forget_quarantined(repository, source, through))
    }
}

/// What is known of a record before a change.
#[derive(Clone, Copy)]
pub(crate) struct Existing {
    pub(crate) position: Position,
    pub(crate) digest: Digest,
    /// Whether it was made from another record of the item.
    pub(crate) derived: bool,
}

impl Existing {
    /// Whether a change gives way to it, if it is live: what is given counts more than what is made from something else.
    pub(crate) fn outranks(&self, change: &Encoded) -> bool {
        change.derived() == Some(true) && !self.derived
    }

    /// Whether it gives way to a change.
    pub(crate) fn is_outranked_by(&self, change: &Encoded) -> bool {
        change.derived() == Some(false) && self.derived
    }
}

/// How a change meets an existing record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Met {
    /// It would leave everything as it is.
    Same,
    /// It would change something.
    Other,
    /// It gives way, because the record was given and the change is not, or because the record that the change would
    /// withdraw can still be made from something else.
    Outranked,
}

/// Asked for every change that meets an existing record; `Some` settles the change without publishing anything.
pub(crate) type Screen<'a> = dyn FnMut(&Existing, Met) -> Result<Option<Outcome>, StoreError> + 'a;

/// The positions a commit took, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    pub(crate) first: Position,
    pub(crate) last: Position,
}

/// A format as the store knows it.
#[derive(Clone, Copy)]
pub(crate) struct StoredFormat {
    pub(crate) id: i64,
    /// The dictionary for bodies written from now on.
    pub(crate) dictionary: Option<i64>,
}

/// Where an import begins.
#[derive(Clone, Copy)]
pub(crate) struct ImportStart {
    /// Everything at or before this was there.
    pub(crate) position: Position,
    /// Quarantined entries up to this one are of earlier imports.
    pub(crate) quarantine: i64,
}

/// Sees the records of a page, until it has enough.
pub(crate) type PageVisitor<'a> = dyn FnMut(&mut StoredRecord<'_>) -> Result<ControlFlow<()>, StoreError> + 'a;
/// Sees one record.
pub(crate) type RecordVisitor<'a> = dyn FnMut(&mut StoredRecord<'_>) -> Result<(), StoreError> + 'a;
