//! `--mapping`: records are rewritten by a mapping of their own format before they are published.
//!
//! Drafts enter as they were given; drafts leave that say what the mapping makes of them, or rejections that say why it
//! makes nothing. A draft that says the same afterwards is left as it was given, to the byte: its datestamp stays.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use stook_metadata::crosswalk::Mapping;
use stook_metadata::crosswalk::tree::Element;
use stook_metadata::{Format, Formats, check};

use super::draft::{Content, Draft, Drafted, Rejected};

/// How records are rewritten.
#[derive(Clone, Debug)]
pub struct Rewrite {
    mapping: Arc<Mapping>,
    format: Format,
    /// Where it is written, for people.
    source: String,
    /// Tells it from others.
    digest: blake3::Hash,
}

/// What was done by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// Records that say something else now.
    pub changed: u64,
    /// Records of its format to which it did nothing.
    pub same: u64,
    /// Records of other formats, which it does not know.
    pub other_formats: u64,
}

impl Rewritten {
    /// Whether there were records, but none of its format.
    #[must_use]
    pub fn is_in_vain(&self) -> bool {
        self.other_formats > 0 && self.changed == 0 && self.same == 0
    }

    /// Adds what was done elsewhere.
    pub fn add(&mut self, more: Rewritten) {
        self.changed += more.changed;
        self.same += more.same;
        self.other_formats += more.other_formats;
    }
}

impl Rewrite {
    /// Reads a mapping of a format to itself.
    ///
    /// # Errors
    /// When it cannot be read, makes no sense, or is of two formats.
    pub fn read(path: &Path, formats: &Formats) -> Result<Rewrite> {
        let text = std::fs::read_to_string(path).with_context(|| {
            let path = path.display();
            format!("reading {path}\nTry: stook quality --fix {path}, which writes a mapping")
        })?;
        if text
            .lines()
            .all(|line| line.trim().is_empty() || line.trim().starts_with('#'))
        {
            let path = path.display();
            bail!(
                "{path} has no lines of a mapping\nTry: remove it, then stook quality --fix {path}, which writes one"
            );
        }
        let mapping = Mapping::read(&text, formats).with_context(|| format!("in {}", path.display()))?;
        if mapping.from != mapping.to {
            bail!(
                "{} maps {} to {}, but records can only be rewritten in their own format\nTry: map {} to {} in its first \
                 line; or stook format add {} --from {}, which makes records of another format",
                path.display(),
                mapping.from,
                mapping.to,
                mapping.from,
                mapping.from,
                mapping.to,
                mapping.from
            );
        }
        let Some(format) = formats.by_prefix(&mapping.to).cloned() else {
            bail!("the format {} is not known\nTry: stook format list", mapping.to);
        };
        Ok(Rewrite {
            mapping: Arc::new(mapping),
            format,
            source: path.display().to_string(),
            digest: blake3::hash(text.as_bytes()),
        })
    }

    /// The format it is about.
    #[must_use]
    pub fn prefix(&self) -> &str {
        self.format.prefix.as_str()
    }

    /// Tells it from other mappings, whatever their names.
    pub(super) fn digest(&self) -> blake3::Hash {
        self.digest
    }

    /// Where it is written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Rewrites the drafts from this one on.
    pub(super) fn apply(&self, drafted: &mut Drafted, first: usize) {
        let drafts = drafted.drafts.split_off(first.min(drafted.drafts.len()));
        for mut draft in drafts {
            match self.rewritten(&mut draft, &mut drafted.rewritten) {
                Ok(()) => drafted.drafts.push(draft),
                Err(reason) => {
                    let bytes = draft.content.metadata().unwrap_or_default().as_bytes();
                    let identifier = Some(draft.identifier.to_string());
                    let reason = format!("{reason}; by the mapping {}", self.source);
                    drafted
                        .rejected
                        .push(Rejected::new(draft.place.clone(), identifier, reason, bytes));
                }
            }
        }
    }

    fn rewritten(&self, draft: &mut Draft, done: &mut Rewritten) -> Result<(), String> {
        let Content::Live { prefix, metadata, .. } = &mut draft.content else {
            return Ok(());
        };
        if *prefix != self.format.prefix {
            done.other_formats += 1;
            return Ok(());
        }
        let given = Element::read(metadata).map_err(|fault| fault.to_string())?;
        let Some(made) = self.mapping.apply_to(&given) else {
            return Err(format!("nothing of it is left as {}", self.prefix()));
        };
        let says_the_same = Element::read(&made).is_ok_and(|made| is_as_good_as(&given, &made));
        if says_the_same {
            done.same += 1;
            return Ok(());
        }
        *metadata = check(&made, &self.format).map_err(|fault| format!("as {}: {}", self.prefix(), fault.problem))?;
        done.changed += 1;
        Ok(())
    }
}

/// Whether two records say the same. A mapping writes the elements of one name together, and drops blanks at the ends:
/// neither makes another record of it.
fn is_as_good_as(one: &Element<'_>, other: &Element<'_>) -> bool {
    let (mut of_one, mut of_other): (Vec<_>, Vec<_>) = (one.elements().collect(), other.elements().collect());
    let name = |element: &&Element<'_>| (element.namespace.clone(), element.local.to_owned());
    of_one.sort_by_key(name);
    of_other.sort_by_key(name);
    of_one.len() == of_other.len()
        && of_one
            .into_iter()
            .zip(of_other)
            .all(|(one, other)| is_same_element(one, other))
}

fn is_same_element(one: &Element<'_>, other: &Element<'_>) -> bool {
    let is_same_attributes = one.attributes.len() == other.attributes.len()
        && one
            .attributes
            .iter()
            .all(|attribute| other.attributes.contains(attribute));
    if one.local != other.local || one.namespace != other.namespace || !is_same_attributes {
        return false;
    }
    let (inside, others) = (one.elements().count(), other.elements().count());
    match (inside, others) {
        (0, 0) => one.text() == other.text(),
        _ => {
            inside == others
                && one
                    .elements()
                    .zip(other.elements())
                    .all(|(one, other)| is_same_element(one, other))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn as_good(one: &str, other: &str) -> bool {
        is_as_good_as(&Element::read(one).unwrap(), &Element::read(other).unwrap())
    }

    #[test]
    fn order_among_names_and_blanks_do_not_matter() {
        let given = "<r a='1'><x> 1</x><y/><x>2</x>\n<z xml:lang='de' k='1'>3</z></r>";
        assert!(as_good(
            given,
            "<r><x>1</x><x>2</x><y></y><z k='1' xml:lang='de'>3 </z></r>"
        ));
        for other in [
            "<r><x>2</x><x>1</x><y/><z xml:lang='de' k='1'>3</z></r>",
            "<r><x>1</x><x>2</x><y/><z xml:lang='en' k='1'>3</z></r>",
            "<r><x>1</x><x>2</x><y/><z k='1'>3</z></r>",
            "<r><x>1</x><x>2</x><z xml:lang='de' k='1'>3</z></r>",
            "<r><x>1</x><x>2</x><y xmlns='urn:y'/><z xml:lang='de' k='1'>3</z></r>",
            "<r><x>1</x><x>2</x><y><q/></y><z xml:lang='de' k='1'>3</z></r>",
        ] {
            assert!(!as_good(given, other), "{other}");
        }
    }

    #[test]
    fn inside_elements_order_matters() {
        assert!(as_good(
            "<r><x><a>1</a> <b>2</b></x></r>",
            "<r><x><a>1</a><b>2</b></x></r>"
        ));
        assert!(!as_good(
            "<r><x><a>1</a><b>2</b></x></r>",
            "<r><x><b>2</b><a>1</a></x></r>"
        ));
    }
}
