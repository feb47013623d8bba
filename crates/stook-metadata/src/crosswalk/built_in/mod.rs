//! The crosswalks that come with the program.

use std::sync::LazyLock;

use super::Mapping;
use crate::format::Formats;

/// By the formats' prefixes, from and to.
const TEXTS: &[&str] = &[include_str!("marc21-oai_dc.map")];

/// All of them.
pub fn all() -> &'static [Mapping] {
    static ALL: LazyLock<Vec<Mapping>> = LazyLock::new(|| {
        let formats = Formats::default();
        let read = |text: &&str| Mapping::read(text, &formats).expect("every mapping is tested");
        TEXTS.iter().map(read).collect()
    });
    &ALL
}

/// The one from a format to another.
#[must_use]
pub fn between(from: &str, to: &str) -> Option<&'static Mapping> {
    all().iter().find(|mapping| mapping.from == from && mapping.to == to)
}
