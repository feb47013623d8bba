//! An OAI-PMH endpoint that does wrong what real repositories do wrong.
//!
//! What enters is a [`World`] (the records a source holds) and a [`Script`]
//! (what goes wrong, and when); what leaves is an HTTP server on loopback. Good
//! answers come from the writers of `stook-oai` and are then bent, so without
//! faults this is a correct repository. The same script and the same requests
//! give the same answers: the only randomness comes from the script's seed.
//!
//! ```
//! use misbehave::{Endpoint, Fault, Script, When, World};
//! use stook_oai::Verb;
//!
//! let script = Script::new()
//!     .page_size(10)
//!     .fault(Fault::RetryAfterSeconds, When::always().on(Verb::ListRecords).page(2).times(3));
//! let same: Script = "page-size 10\nfault retry-after-seconds on ListRecords page 2 times 3".parse()?;
//! assert_eq!(script, same);
//!
//! let endpoint = Endpoint::start(World::of(100), script)?;
//! println!("harvest {}", endpoint.url());
//! endpoint.world().delete("oai:misbehave.example.org:3");
//! assert!(endpoint.requests().is_empty()); // nobody asked yet
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A request passes the modules in this order, and each [`Stage`] of faults has
//! one of them: `http` (read) → `source` → `rules` → `answer` (with `selection`
//! and `lists`) → `records` → `documents` → `replies` → `deliveries` → `http` (write). `server`
//! owns sockets and threads. Nothing here is fit for the open network: it
//! listens on loopback only.

mod answer;
mod ask;
mod asked;
mod bend;
mod deliveries;
mod dice;
mod documents;
mod endpoint;
mod fast;
mod fault;
mod http;
mod lists;
mod made_up;
mod records;
mod replies;
mod rules;
mod script;
mod selection;
mod server;
mod source;
mod splice;
mod when;
mod world;

pub use asked::Asked;
pub use bend::{Given, Heard};
pub use endpoint::{Endpoint, Host};
pub use fast::Fast;
pub use fault::{Fault, Stage};
pub use script::{Script, ScriptError, Setting};
pub use when::When;
pub use world::{Clock, Expected, Item, World};
