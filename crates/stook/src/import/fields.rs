//! What the name of a column, or of a key in JSON, means.
//!
//! Names are those of Dublin Core, in any case, with or without `dc:` or `dc.`; a few others say what the record is
//! called and where it belongs; and the person who imports may map any name to one of these.

use std::collections::{BTreeMap, HashMap};

use stook_metadata::{Element, Language};

/// The meaning of a column or key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// The identifier of the record, and nothing else.
    RecordIdentifier,
    /// The word `identifier`: the identifier of the record, unless something else is.
    Identifier,
    /// One of the fifteen elements, perhaps in a language.
    Statement(Element, Option<Language<'static>>),
    /// The sets the record is in.
    Sets,
    /// Whether the record is deleted.
    Deleted,
    /// XML by format, in JSON.
    Metadata,
    /// About containers by format, in JSON.
    About,
    /// Known, and of no use.
    Skipped,
}

impl Field {
    /// The meaning of a name without any mapping: `title`, `dc:subject@de`, `id`, `sets` …
    ///
    /// ```
    /// use stook::import::Field;
    /// use stook_metadata::Element;
    ///
    /// assert_eq!(Field::from_name("DC.Title"), Some(Field::Statement(Element::Title, None)));
    /// assert_eq!(Field::from_name("set_spec"), Some(Field::Sets));
    /// assert_eq!(Field::from_name("Verfasser"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Field> {
        // What nearly every key of JSON lines is, without any comparison of cases.
        match name {
            "identifier" => return Some(Self::Identifier),
            "sets" => return Some(Self::Sets),
            "metadata" => return Some(Self::Metadata),
            _ => {}
        }
        let (name, language) = match name.split_once('@') {
            None => (name, None),
            Some((name, tag)) => (name, Some(Language::parse(tag.trim().replace('_', "-")).ok()?)),
        };
        if let Some(element) = Element::from_name(name.trim()) {
            let has_prefix = name.trim().len() > element.as_str().len();
            return Some(match (element, has_prefix, &language) {
                (Element::Identifier, false, None) => Self::Identifier,
                _ => Self::Statement(element, language),
            });
        }
        if language.is_some() {
            return None;
        }
        let name = name.trim().to_ascii_lowercase();
        Some(match name.as_str() {
            "id" | "record_id" | "oai_identifier" => Self::RecordIdentifier,
            "set" | "sets" | "set_spec" | "setspec" => Self::Sets,
            "deleted" => Self::Deleted,
            "metadata" => Self::Metadata,
            "about" => Self::About,
            // Datestamps are assigned when a record is published, never taken from outside.
            "datestamp" => Self::Skipped,
            _ => return None,
        })
    }
}

/// The meanings of all names: those everybody shares, and the mapping of this import.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    mapped: HashMap<String, Field>,
    ignore_unknown: bool,
}

/// A mapping that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMapping {
    /// There is no `=`.
    #[error("{0:?} maps nothing. Try: --map COLUMN=element, such as --map Titel=title")]
    NoTarget(String),
    /// What the column is mapped to is not known.
    #[error(
        "{target:?} in --map {column}={target} is not known. Try: one of the fifteen Dublin Core elements, perhaps \
         with a language (title@de), or id, set, deleted, or nothing to skip the column"
    )]
    UnknownTarget {
        /// The column.
        column: String,
        /// What it was mapped to.
        target: String,
    },
}

impl Fields {
    /// Adds mappings written `COLUMN=element`; `COLUMN=` skips the column.
    ///
    /// # Errors
    /// The first mapping that cannot be understood.
    pub fn new<'a>(mappings: impl IntoIterator<Item = &'a str>, ignore_unknown: bool) -> Result<Self, InvalidMapping> {
        let mut mapped = HashMap::new();
        for mapping in mappings {
            let Some((column, target)) = mapping.rsplit_once('=') else {
                return Err(InvalidMapping::NoTarget(mapping.to_owned()));
            };
            let field = match target.trim() {
                "" => Field::Skipped,
                target => Field::from_name(target).ok_or_else(|| InvalidMapping::UnknownTarget {
                    column: column.to_owned(),
                    target: target.to_owned(),
                })?,
            };
            mapped.insert(folded(column), field);
        }
        Ok(Self { mapped, ignore_unknown })
    }

    /// Everything that was mapped, in order.
    pub(super) fn in_order(&self) -> (BTreeMap<&String, &Field>, bool) {
        (self.mapped.iter().collect(), self.ignore_unknown)
    }

    /// What a name means; `None` if nobody knows.
    #[must_use]
    pub fn meaning(&self, name: &str) -> Option<Field> {
        if !self.mapped.is_empty()
            && let Some(field) = self.mapped.get(&folded(name))
        {
            return Some(field.clone());
        }
        Field::from_name(name).or_else(|| self.ignore_unknown.then_some(Field::Skipped))
    }
}

/// Names are compared without regard to case and outer white space.
fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_dublin_core_are_known_in_every_spelling() {
        for name in ["title", "Title", "dc:title", "DC.TITLE", " title "] {
            assert_eq!(
                Field::from_name(name),
                Some(Field::Statement(Element::Title, None)),
                "{name}"
            );
        }
        let german = Language::parse("de-AT").ok();
        assert_eq!(
            Field::from_name("dc:subject@de_AT"),
            Some(Field::Statement(Element::Subject, german))
        );
    }

    #[test]
    fn identifier_with_a_prefix_is_only_the_element() {
        assert_eq!(Field::from_name("Identifier"), Some(Field::Identifier));
        assert_eq!(
            Field::from_name("dc:identifier"),
            Some(Field::Statement(Element::Identifier, None))
        );
        for name in ["id", "ID", "record_id", "oai_identifier"] {
            assert_eq!(Field::from_name(name), Some(Field::RecordIdentifier), "{name}");
        }
    }

    #[test]
    fn other_names_are_unknown() {
        for name in [
            "",
            "Titel",
            "title@",
            "title@not a language",
            "set@de",
            "dcterms:title",
            "@",
        ] {
            assert_eq!(Field::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_mapping_gives_names_a_meaning_or_skips_them() {
        let fields = Fields::new(["Titel=title@de", "a=b=creator", "Nr.=id", "Intern=", "title="], false).unwrap();
        assert_eq!(fields.meaning("TITEL"), Field::from_name("title@de"));
        assert_eq!(fields.meaning("a=b"), Field::from_name("creator"));
        assert_eq!(fields.meaning("nr."), Some(Field::RecordIdentifier));
        assert_eq!(fields.meaning("Intern"), Some(Field::Skipped));
        assert_eq!(fields.meaning("Title"), Some(Field::Skipped));
        assert_eq!(fields.meaning("Verlag"), None);
    }

    #[test]
    fn unknown_names_are_skipped_when_told() {
        let fields = Fields::new([], true).unwrap();
        assert_eq!(fields.meaning("Verlag"), Some(Field::Skipped));
        assert_eq!(fields.meaning("publisher"), Field::from_name("publisher"));
    }

    #[test]
    fn mappings_that_make_no_sense_are_refused() {
        assert_eq!(
            Fields::new(["Titel"], false).unwrap_err(),
            InvalidMapping::NoTarget("Titel".into())
        );
        let message = Fields::new(["Titel=titel"], false).unwrap_err().to_string();
        assert!(
            message.contains("--map Titel=titel") && message.contains("Try:"),
            "{message}"
        );
    }
}
