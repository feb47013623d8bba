//! The promises of a store as tests over any [`Backend`](super::Backend).

pub(crate) mod check;
pub(crate) mod clock;
pub(crate) mod counts;
pub(crate) mod derived;
pub(crate) mod formats;
pub(crate) mod handles;
pub(crate) mod harvests;
pub(crate) mod imports;
pub(crate) mod kept;
pub(crate) mod pages;
pub(crate) mod quarantine;
pub(crate) mod records;
pub(crate) mod repositories;
pub(crate) mod sets;
pub(crate) mod vanished;
