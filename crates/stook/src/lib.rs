//! Stook: everything an institution needs to share metadata over OAI-PMH.
//!
//! The modules follow the data: a file becomes records ([`import`]), records live in `stook_store`, a request becomes XML
//! ([`provider`]), people look at pages ([`web`]); [`validate`] asks a
//! repository everything the protocol lets one ask, and says what is wrong. [`cli`] is the thin layer that people type.

pub mod cli;
pub mod config;
mod count;
pub mod crosswalk;
pub mod harvest;
pub mod import;
mod outward;
pub mod provider;
pub mod sets;
pub mod validate;
pub mod web;
