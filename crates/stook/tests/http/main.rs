//! The server over real sockets: what it does with requests of any kind, with many clients, and when it is stopped.

#![allow(unreachable_pub, reason = "a test program has no outside")]
#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

#[path = "../support/mod.rs"]
mod support;

mod access;
mod coding;
mod failure;
mod flow;
mod malformed;
mod methods;
mod pages;
mod shutdown;
