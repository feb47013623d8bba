//! Pages for people. One file per page; no scripts, nothing loaded from elsewhere.

pub mod checks;
pub(crate) mod explore;
pub mod landing;
mod style;
