//! Where records live: commit, stamp, list.
//!
//! Enters: [`Change`]s, records as they shall be from now on. Leaves: [`Snapshot`]s, consistent views from which answers
//! are made page by page. This is the only crate that knows SQL; it never parses XML.
//!
//! What a store promises, whatever its back end:
//!
//! 1. **Nothing is missed.** Asking again from the [response date](Snapshot::response_date) of an earlier snapshot gives
//!    every change that snapshot could not see, however writers and readers interleave, across restarts and clock steps.
//! 2. **Nothing is skipped or repeated** between two pages of a list that did not change meanwhile.
//! 3. **A datestamp moves only when what is disseminated changes.**
//! 4. **Deletions are kept**, with their sets.
//! 5. **Committed means committed**: when [`Importer::commit`] returns, the batch survives a crash and a power failure.
//!
//! ```
//! use stook_oai::{Identifier, MetadataFormat, MetadataPrefix};
//! use stook_store::{Change, Clock, Content, Span, Store};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let store = Store::create(&folder.path().join("records.db"), Clock::system())?;
//! let repository = store.declare_repository("maps")?;
//! let oai_dc = MetadataPrefix::parse("oai_dc")?;
//! store.declare_format(repository, &MetadataFormat {
//!     prefix: oai_dc.clone(),
//!     schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd".into(),
//!     namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/".into(),
//! })?;
//! store.apply(repository, vec![Change {
//!     identifier: Identifier::parse("oai:example.org:1")?,
//!     prefix: oai_dc.clone(),
//!     set_specs: vec![],
//!     content: Content::Live { metadata: "<dc/>".into(), about: vec![] },
//! }])?;
//!
//! let mut snapshot = store.read()?;
//! let list = snapshot.list(repository, &oai_dc, None)?.expect("one record is in it");
//! assert_eq!(snapshot.count(list, Span::ALL)?, 1);
//! # Ok(())
//! # }
//! ```

mod address;
mod backend;
mod body;
mod change;
mod clock;
mod copy;
mod encode;
mod error;
mod import;
mod position;
mod postgres;
mod private;
mod segment;
mod set;
mod sqlite;
mod store;

// The promises once more, on a store whose segments are small.
#[cfg(test)]
extern crate self as stook_store;
#[cfg(test)]
#[path = "../tests/promises.rs"]
mod promises_with_small_segments;

pub use address::StoreAddress;
pub use change::{Change, Content, Known, Note, Origin, Outcome};
pub use clock::Clock;
pub use copy::{Copied, CopyOptions, copy};
pub use error::StoreError;
pub use position::Position;
pub use postgres::{PostgresAddress, ReplicaState};
pub use private::is_private;
pub use store::{
    Batch, Beside, Encoder, Gone, Importer, List, Page, Quarantined, RepositoryFacts, RepositoryId, Snapshot, Span,
    Store, StoredRecord, Vanished,
};
