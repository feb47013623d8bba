//! The harvester: a remote repository becomes records in the store, and it can prove that none is missing.
//!
//! ```text
//! run        one source: introduce → windows → pages
//! introduce  what the source says of itself: Identify, formats, sets
//! window     the requests of one window, and what the source turns out to need
//! probe      small requests that tell whether dates work
//! remedy     what can still be done for a window that cannot be had
//! single     record by record
//! fetch      a request becomes a page: asking again, waiting, knowing when to stop
//!   client     one HTTP request: to whom it may go and what it carries     (outward, polite)
//!   body       unpacked and bounded
//!   page       read into entries
//!   web_page   something else instead of an answer
//! collect    entries → deliveries, in parts if the page is large
//! sink       deliveries → store: records, token and ledger in one transaction  (provenance)
//! lease      one process at a time, and another one if that dies
//! ledger     windows: asked for, received, committed, missing
//! quirks     what a source needs, learned once
//! verify     identifiers compared, differences mended
//! report     what happened
//! ```

mod body;
mod client;
mod collect;
mod fetch;
mod introduce;
pub(crate) mod lease;
pub mod ledger;
mod page;
pub mod polite;
mod probe;
mod provenance;
pub mod quirks;
mod remedy;
pub mod report;
mod run;
mod single;
mod sink;
pub mod source;
mod verify;
mod web_page;
mod window;

pub use lease::LeftToOthers;
pub use polite::Polite;
pub use quirks::Quirks;
pub use report::Report;
pub use run::{Harvest, Memory, Outside, Wanted};
pub use sink::{Delivery, Harvested, Place, Sink, StoreSink};
