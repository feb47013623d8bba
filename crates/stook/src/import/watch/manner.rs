//! In which manner files are read: whether another try could end otherwise.

use serde::{Deserialize, Serialize};

use crate::import::Options;
use crate::import::rewrite::Rewrite;

/// All that decides how a file is read, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Manner {
    /// What somebody said of this import.
    given: u64,
    /// What holds for all of them.
    configured: u64,
}

impl Manner {
    pub(super) fn of(options: &Options) -> Manner {
        let Options { namespace, formats, .. } = options;
        Manner {
            given: given(options),
            configured: short(&format!("{namespace:?} {formats:?}")),
        }
    }

    /// Whether a file that was read in another manner, and not all of it could be published, is to be read in this one.
    /// Who says nothing of the files, as a server does, does not undo what somebody has said.
    pub(super) fn may_do_better_than(self, other: Manner, options: &Options) -> bool {
        let is_plain = self.given == given(&Options::new(options.namespace.clone()));
        self != other && (self.given == other.given || !is_plain)
    }
}

fn given(options: &Options) -> u64 {
    let Options {
        rewrite,
        prefix,
        shape,
        encoding,
        fields,
        separator,
        marc,
        max_record_bytes,
        ..
    } = options;
    let rewrite = rewrite.as_ref().map(Rewrite::digest);
    let encoding = encoding.map(encoding_rs::Encoding::name);
    let fields = fields.in_order();
    short(&format!(
        "{rewrite:?} {prefix:?} {shape:?} {encoding:?} {fields:?} {separator:?} {marc:?} {max_record_bytes}"
    ))
}

/// A text in eight bytes.
fn short(text: &str) -> u64 {
    let digest = blake3::hash(text.as_bytes());
    digest
        .as_bytes()
        .iter()
        .take(8)
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use stook_metadata::Formats;
    use stook_oai::OaiNamespace;

    use super::*;
    use crate::import::Fields;

    #[test]
    fn other_options_are_worth_a_try_and_none_undo_some() {
        let plain = Options::new(OaiNamespace::parse("example.org").unwrap());
        let with = |map: &[&str]| Options {
            fields: Fields::new(map.iter().copied(), false).unwrap(),
            ..plain.clone()
        };
        let better = |options: &Options, than: &Options| {
            let (one, other) = (Manner::of(options), Manner::of(than));
            one.may_do_better_than(other, options)
        };
        let (mapped, otherwise) = (with(&["A=title", "B=date"]), with(&["A=title"]));
        assert!(better(&mapped, &plain) && better(&mapped, &otherwise));
        assert!(!better(&plain, &plain) && !better(&mapped, &with(&["B=date", "A=title"])));
        assert!(!better(&plain, &mapped));
        // A format that was described meanwhile.
        let mut known = plain.clone();
        known.formats = Formats::new(vec![plain.formats.by_prefix("mods").unwrap().clone()]);
        assert!(better(&known, &plain) && !better(&known, &mapped));
    }
}
