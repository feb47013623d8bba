//! How many of the records that are published could say something better.

use stook_metadata::quality;
use stook_store::{Change, Content};

/// The format in which every item has a record, and about which there are recommendations.
const DUBLIN_CORE: &str = "oai_dc";

/// Counts them. They are published as they are.
pub(super) fn count(changes: &[Change]) -> u64 {
    let could_be_better = |change: &&Change| match &change.content {
        Content::Live { metadata, .. } | Content::Derived { metadata, .. } => {
            change.prefix.as_str() == DUBLIN_CORE && quality::could_be_better(metadata)
        }
        _ => false,
    };
    changes.iter().filter(could_be_better).count() as u64
}
