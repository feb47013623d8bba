//! Unqualified Dublin Core: values in, the `oai_dc` record out.
//!
//! Values enter as they come from a catalogue, in any script; they are cleaned
//! of what XML cannot carry, escaped, and leave as one `oai_dc:dc` element that
//! declares everything it uses. Nothing is invented, reordered or trimmed.

use std::borrow::Cow;

use stook_oai::Excerpt;

use crate::clean;
use crate::find::find;

/// The namespace of the container `oai_dc:dc`.
pub const OAI_DC_NAMESPACE: &str = "http://www.openarchives.org/OAI/2.0/oai_dc/";
/// Where the schema of the container is.
pub const OAI_DC_SCHEMA: &str = "http://www.openarchives.org/OAI/2.0/oai_dc.xsd";
/// The namespace of the fifteen elements.
pub const DC_NAMESPACE: &str = "http://purl.org/dc/elements/1.1/";

const ROOT: &str = concat!(
    "<oai_dc:dc",
    " xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\"",
    " xmlns:dc=\"http://purl.org/dc/elements/1.1/\"",
    " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
    " xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/",
    " http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">",
);
const ROOT_END: &str = "</oai_dc:dc>";

macro_rules! elements {
    ($($variant:ident $name:literal,)+) => {
        /// One of the fifteen elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Element {
            $(#[doc = concat!("`dc:", $name, "`")] $variant,)+
        }

        impl Element {
            /// All fifteen, in the order of the specification.
            pub const ALL: [Self; 15] = [$(Self::$variant,)+];

            /// The element's name without prefix, such as `title`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The element of exactly this local name.
            #[must_use]
            pub fn from_local_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }

            const fn start_tag(self) -> &'static str {
                match self { $(Self::$variant => concat!("<dc:", $name),)+ }
            }

            const fn end_tag(self) -> &'static str {
                match self { $(Self::$variant => concat!("</dc:", $name, ">"),)+ }
            }
        }
    };
}

elements! {
    Title "title",
    Creator "creator",
    Subject "subject",
    Description "description",
    Publisher "publisher",
    Contributor "contributor",
    Date "date",
    Type "type",
    Format "format",
    Identifier "identifier",
    Source "source",
    Language "language",
    Relation "relation",
    Coverage "coverage",
    Rights "rights",
}

impl Element {
    /// The element people mean by `title`, `Title`, `dc:title` or `DC.Title`.
    ///
    /// ```
    /// use stook_metadata::Element;
    /// assert_eq!(Element::from_name("DC.Creator"), Some(Element::Creator));
    /// assert_eq!(Element::from_name("author"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        // Nearly every name is written as in the specification.
        if let Some(element) = Self::from_local_name(name) {
            return Some(element);
        }
        let has_prefix = name
            .get(..3)
            .is_some_and(|prefix| prefix.eq_ignore_ascii_case("dc:") || prefix.eq_ignore_ascii_case("dc."));
        let local = if has_prefix { &name[3..] } else { name };
        Self::ALL
            .into_iter()
            .find(|element| element.as_str().eq_ignore_ascii_case(local))
    }
}

/// A language tag such as `de` or `sr-Cyrl`, as `xml:lang` demands
/// (`xs:language`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Language<'a>(Cow<'a, str>);

/// Text that is not a language tag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a language tag such as \"de\" or \"sr-Cyrl\"", Excerpt(.0))]
pub struct InvalidLanguage(pub String);

impl<'a> Language<'a> {
    /// Reads a language tag.
    ///
    /// # Errors
    ///
    /// The text, if it is not one.
    pub fn parse(tag: impl Into<Cow<'a, str>>) -> Result<Self, InvalidLanguage> {
        let tag = tag.into();
        let well_formed = tag.split('-').enumerate().all(|(index, part)| {
            (1..=8).contains(&part.len())
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_alphabetic() || (index > 0 && byte.is_ascii_digit()))
        });
        if well_formed {
            Ok(Self(tag))
        } else {
            Err(InvalidLanguage(tag.into_owned()))
        }
    }

    /// The tag.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One element with its value. The value holds nothing XML cannot carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement<'a> {
    element: Element,
    value: Cow<'a, str>,
    language: Option<Language<'a>>,
}

impl Statement<'_> {
    /// Which of the fifteen it is.
    #[must_use]
    pub fn element(&self) -> Element {
        self.element
    }

    /// The value, cleaned.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The language of the value, where it was said.
    #[must_use]
    pub fn language(&self) -> Option<&Language<'_>> {
        self.language.as_ref()
    }
}

/// A Dublin Core record: statements in the order they were made.
///
/// ```
/// use stook_metadata::{DublinCore, Element, Language};
///
/// let mut record = DublinCore::default();
/// record.push(Element::Title, "Kraków & okolice", Some(Language::parse("pl")?));
/// assert!(record.write().contains(r#"<dc:title xml:lang="pl">Kraków &amp; okolice</dc:title>"#));
/// # Ok::<(), stook_metadata::InvalidLanguage>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DublinCore<'a> {
    statements: Vec<Statement<'a>>,
}

impl<'a> DublinCore<'a> {
    /// Adds a statement and returns how many characters had to be dropped.
    ///
    /// A value of nothing but white space says nothing and is not added.
    pub fn push(&mut self, element: Element, value: impl Into<Cow<'a, str>>, language: Option<Language<'a>>) -> usize {
        let (value, dropped) = match value.into() {
            Cow::Borrowed(value) => {
                let cleaned = clean::text(value);
                (cleaned.text, cleaned.dropped)
            }
            Cow::Owned(value) => {
                let cleaned = clean::text(&value);
                let dropped = cleaned.dropped;
                match cleaned.text {
                    Cow::Borrowed(_) => (Cow::Owned(value), dropped),
                    Cow::Owned(cleaned) => (Cow::Owned(cleaned), dropped),
                }
            }
        };
        if !value.trim().is_empty() {
            self.statements.push(Statement {
                element,
                value,
                language,
            });
        }
        dropped
    }

    /// The statements made so far.
    #[must_use]
    pub fn statements(&self) -> &[Statement<'a>] {
        &self.statements
    }

    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The record as one `oai_dc:dc` element.
    #[must_use]
    pub fn write(&self) -> String {
        let mut out = String::with_capacity(self.estimated_length());
        out.push_str(ROOT);
        for statement in &self.statements {
            out.push_str(statement.element.start_tag());
            if let Some(language) = &statement.language {
                out.push_str(" xml:lang=\"");
                out.push_str(language.as_str());
                out.push('"');
            }
            out.push('>');
            push_escaped(&mut out, &statement.value);
            out.push_str(statement.element.end_tag());
        }
        out.push_str(ROOT_END);
        out
    }

    /// Room for the record in one allocation, unless it is full of markup.
    fn estimated_length(&self) -> usize {
        const TAGS: usize = "<dc:></dc:>".len() + " xml:lang=\"xx-Xxxx\"".len();
        let statements = self.statements.iter().map(|statement| {
            let value = statement.value.len();
            TAGS + 2 * statement.element.as_str().len() + value + value / 16
        });
        ROOT.len() + ROOT_END.len() + statements.sum::<usize>()
    }
}

/// Appends a value that was cleaned so that it is safe between two tags.
pub(crate) fn push_escaped(out: &mut String, value: &str) {
    let mut rest = value;
    while let Some(at) = find(rest.as_bytes(), |byte| matches!(byte, b'&' | b'<' | b'>')) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            _ => "&gt;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_by_the_names_people_write() {
        for element in Element::ALL {
            let name = element.as_str();
            for written in [
                name.to_owned(),
                format!("dc:{name}"),
                format!("dc.{name}"),
                name.to_uppercase(),
            ] {
                assert_eq!(Element::from_name(&written), Some(element), "{written}");
            }
        }
        for unknown in ["", "dc:", "titel", "dcterms:title", "dc", "d", "тема", "dc:тема"] {
            assert_eq!(Element::from_name(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn language_tags_obey_the_grammar() {
        for tag in ["de", "sr-Cyrl", "zh-Hant-TW", "x-klingon", "de-1996"] {
            assert!(Language::parse(tag).is_ok(), "{tag}");
        }
        for tag in [
            "",
            "de_DE",
            "de-",
            "-de",
            "toolonglanguage",
            "d1",
            "deutsch (alt)",
            "дe",
        ] {
            assert!(Language::parse(tag).is_err(), "{tag}");
        }
    }

    #[test]
    fn a_record_is_written_whole() {
        let mut record = DublinCore::default();
        assert_eq!(record.push(Element::Title, "A < B\u{1}", None), 1);
        record.push(Element::Subject, "Карте", Language::parse("sr-Cyrl").ok());
        assert_eq!(
            record.write(),
            "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
             xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
             xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
             xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
             http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">\
             <dc:title>A &lt; B</dc:title>\
             <dc:subject xml:lang=\"sr-Cyrl\">Карте</dc:subject></oai_dc:dc>"
        );
    }

    #[test]
    fn the_root_names_the_published_constants() {
        assert!(ROOT.contains(&format!("xmlns:oai_dc=\"{OAI_DC_NAMESPACE}\"")));
        assert!(ROOT.contains(&format!("\"{OAI_DC_NAMESPACE} {OAI_DC_SCHEMA}\"")));
        assert!(ROOT.contains(&format!("xmlns:dc=\"{DC_NAMESPACE}\"")));
    }

    #[test]
    fn blank_values_say_nothing() {
        let mut record = DublinCore::default();
        record.push(Element::Title, " \n", None);
        record.push(Element::Title, "\u{1}".to_owned(), None);
        assert!(record.is_empty());
    }

    #[test]
    fn owned_values_are_cleaned_too() {
        let mut record = DublinCore::default();
        assert_eq!(record.push(Element::Title, "a\u{2}\r\nb".to_owned(), None), 1);
        assert_eq!(record.statements()[0].value(), "a\nb");
    }
}
