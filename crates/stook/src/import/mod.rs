//! Getting records in: any file, folder, archive or stream becomes drafts of records, and drafts become commits.
//!
//! The folder reads as the pipeline does:
//!
//! 1. [`open`] goes through what was named (files, folders, zip, tar, standard input), undoes compression, and hands
//!    on one stream of bytes per source;
//! 2. [`source`] finds out what the stream is ([`encoding`], [`detect`]) and
//! 3. cuts it at record boundaries ([`json_lines`], [`table`], [`xml`], [`marc`]) into [`Raw`] pieces, without holding more than
//!    one record that is too large to be believed;
//! 4. [`Drafter`] turns a raw piece into [`Draft`]s: parsed, cleaned, checked, with its identifier.
//!    With `--mapping` they are rewritten there ([`rewrite`]);
//! 5. [`run()`] does 1 to 3 on one thread, 4 on several, and commits in the order of the input.
//!
//! A database ([`sql`]) takes the place of 1 to 3: its rows are gathered to records that are drafted like those of a table.
//! A folder can be watched ([`watch`]): its files come in by the same way whenever they change.
//!
//! A record that cannot be published becomes a [`Rejected`] with its place and the reason, and never stops the rest. A
//! mistake that concerns everything, such as a column nobody knows, is a [`Refusal`] before anything is imported.

pub mod detect;
pub mod draft;
pub mod encoding;
pub mod fields;
pub mod json_lines;
pub mod marc;
pub mod open;
pub mod options;
#[cfg(test)]
mod properties;
pub mod rewrite;
pub mod run;
pub mod source;
pub mod sql;
pub mod summary;
pub mod table;
#[cfg(test)]
mod testing;
pub mod watch;
pub mod xml;

pub use draft::{Content, Draft, Drafted, Drafter, Place, Rejected};
pub use fields::{Field, Fields};
pub use open::Input;
pub use options::{Options, Shape};
pub use run::{ImportError, Progress, run};
pub use source::{Halt, Raw, Refusal};
pub use summary::{Incomplete, Summary};
