//! Stook: everything an institution needs to share metadata over OAI-PMH.
//!
//! The modules follow the data: a file becomes records ([`import`]), records live in `stook_store`, a request becomes XML
//! ([`provider`]), people look at pages ([`web`]). [`cli`] is the thin layer that people type.

pub mod cli;
pub mod config;
mod count;
pub mod crosswalk;
pub mod harvest;
pub mod import;
pub mod provider;
pub mod sets;
pub mod web;
