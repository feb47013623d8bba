//! What communities recommend over what the schemas demand, and where a Dublin Core record falls short of it.
//!
//! An `oai_dc` record enters, as it was accepted at the door; findings leave. Nothing is refused and nothing changed: a
//! [`Report`] counts what was found in many records, and [`Fixes`] offer what can be put right mechanically, as a mapping
//! for people to read and use.
//!
//! [`RECOMMENDATIONS`] is the table. The forms of values are in files of their own, each with the values that are fine
//! and those that are not in its tests.

mod characters;
mod dates;
mod fixes;
mod languages;
mod markup;
mod report;
mod several;
mod statements;
#[cfg(test)]
mod tests;
mod types;

use std::ops::ControlFlow;

pub use fixes::Fixes;
pub use report::{Example, Report, Tally};

use crate::dublin_core::Element;
use crate::find::find;
use statements::Statements;

/// One thing that is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recommendation {
    /// Which it is.
    pub code: Code,
    /// Its name, short and for machines too.
    pub name: &'static str,
    /// The elements it is about.
    pub elements: &'static str,
    /// What is recommended, in one sentence.
    pub sentence: &'static str,
    /// Who recommends it.
    pub by: &'static str,
    /// How it can be put right by a mapping, if it can.
    pub offered: Option<&'static str>,
    /// Whether it is told, but nothing is amiss without it.
    pub is_hint: bool,
}

/// Which recommendation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the table says what each is")]
pub enum Code {
    NoTitle,
    IdentifierLink,
    DateForm,
    LanguageCode,
    TypeWord,
    SeveralValues,
    EmptyValue,
    Markup,
    Characters,
    NoRights,
}

/// Everything that is recommended, in the order of [`Code`].
pub const RECOMMENDATIONS: [Recommendation; 10] = [
    Recommendation {
        code: Code::NoTitle,
        name: "no-title",
        elements: "title",
        sentence: "Every record has a title.",
        by: "OpenAIRE, DINI",
        offered: None,
        is_hint: false,
    },
    Recommendation {
        code: Code::IdentifierLink,
        name: "identifier-link",
        elements: "identifier",
        sentence: "At least one identifier is a link, or of a known scheme such as DOI, Handle, URN, ARK or ISBN.",
        by: "DCMI, OpenAIRE, DINI",
        offered: None,
        is_hint: false,
    },
    Recommendation {
        code: Code::DateForm,
        name: "date-form",
        elements: "date",
        sentence: "Dates are written by ISO 8601, such as 2024, 2024-05, 2024-05-17 or 1990/1999.",
        by: "DCMI (W3CDTF), OpenAIRE, DINI",
        offered: Some("a table of the dates that were met, where there is no doubt which they are"),
        is_hint: false,
    },
    Recommendation {
        code: Code::LanguageCode,
        name: "language-code",
        elements: "language",
        sentence: "Languages are codes of ISO 639 or tags of RFC 5646, such as de, deu or de-AT, not names.",
        by: "DCMI, OpenAIRE, DINI",
        offered: Some("a table of the names that were met"),
        is_hint: false,
    },
    Recommendation {
        code: Code::TypeWord,
        name: "type-word",
        elements: "type",
        sentence: "At least one type is of the DCMI Type Vocabulary, such as Text or StillImage, or of OpenAIRE, DINI or \
                   COAR.",
        by: "DCMI, OpenAIRE, DINI",
        offered: Some("the DCMI type beside the words that were met"),
        is_hint: false,
    },
    Recommendation {
        code: Code::SeveralValues,
        name: "several-values",
        elements: "creator, contributor, subject, language, type",
        sentence: "Each value has an element of its own, instead of several with a sign such as ; between them.",
        by: "DCMI, OAI best practices",
        offered: Some("`split`, unless the sign stands inside values too"),
        is_hint: false,
    },
    Recommendation {
        code: Code::EmptyValue,
        name: "empty-value",
        elements: "all",
        sentence: "What is not known is left out, instead of an empty element or a word such as null or n/a.",
        by: "OAI best practices",
        offered: Some("leaving it out"),
        is_hint: false,
    },
    Recommendation {
        code: Code::Markup,
        name: "markup",
        elements: "all",
        sentence: "Values are plain text, without HTML and without references that were escaped twice.",
        by: "OAI best practices, DINI",
        offered: Some("`replace` for references, and for tags without attributes"),
        is_hint: false,
    },
    Recommendation {
        code: Code::Characters,
        name: "characters",
        elements: "all",
        sentence: "Characters are those that were meant, not what a wrong encoding made of them.",
        by: "OAI-PMH (UTF-8)",
        offered: Some("`replace` where it shows what was meant"),
        is_hint: false,
    },
    Recommendation {
        code: Code::NoRights,
        name: "no-rights",
        elements: "rights",
        sentence: "Every record says how it may be used, best by the URL of a licence.",
        by: "OpenAIRE, DINI",
        offered: None,
        is_hint: true,
    },
];

impl Code {
    /// What is recommended.
    #[must_use]
    pub fn recommendation(self) -> &'static Recommendation {
        &RECOMMENDATIONS[self as usize]
    }

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.recommendation().name
    }

    /// The one of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Code> {
        let mut all = RECOMMENDATIONS.iter();
        all.find(|known| known.name == name).map(|known| known.code)
    }
}

/// Something that could be said better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding<'r> {
    /// What is recommended instead.
    pub code: Code,
    /// Where.
    pub element: Element,
    /// The value; none where one is missing.
    pub value: Option<&'r str>,
}

/// Tells what could be said better in an `oai_dc` record, until `found` has heard enough.
pub fn look(record: &str, found: &mut dyn FnMut(Finding<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut look = Look::default();
    for (element, value) in Statements::of(record) {
        look.at(element, &value, found)?;
    }
    look.end(found)
}

/// Whether an `oai_dc` record could say something better. Hints do not count.
///
/// ```
/// let record = |date| {
///     format!("<dc><title>Map</title><date>{date}</date><type>Image</type><identifier>doi:10.1/2</identifier></dc>")
/// };
/// assert!(!stook_metadata::quality::could_be_better(&record("1893-05-17")));
/// assert!(stook_metadata::quality::could_be_better(&record("17 May 1893")));
/// ```
#[must_use]
pub fn could_be_better(record: &str) -> bool {
    let mut found = |finding: Finding<'_>| match finding.code.recommendation().is_hint {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    look(record, &mut found).is_break()
}

type Found<'f> = &'f mut dyn FnMut(Finding<'_>) -> ControlFlow<()>;

/// One look at a record, statement by statement.
#[derive(Default)]
struct Look {
    has_title: bool,
    has_link: bool,
    has_type: bool,
    has_rights: bool,
    /// Something that does not help where it stands, for people to see.
    an_identifier: Option<String>,
    a_type: Option<String>,
}

impl Look {
    fn at(&mut self, element: Element, value: &str, found: Found<'_>) -> ControlFlow<()> {
        let mut tell = |code, value| {
            found(Finding {
                code,
                element,
                value: Some(value),
            })
        };
        if says_nothing(value) {
            return tell(Code::EmptyValue, value);
        }
        // One look over the bytes that both begin with: most values have none of them.
        if find(value.as_bytes(), |byte| matches!(byte, b'&' | b'<' | 0xC3 | 0xEF)).is_some() {
            if markup::is_left(value) {
                tell(Code::Markup, value)?;
            }
            if characters::are_broken(value) {
                tell(Code::Characters, value)?;
            }
        }
        let separated = several::separated(element, value);
        if separated.is_some() {
            tell(Code::SeveralValues, value)?;
        }
        match element {
            Element::Title => self.has_title = true,
            Element::Rights => self.has_rights = true,
            Element::Date if !dates::is_recommended(value) => tell(Code::DateForm, value)?,
            Element::Identifier if is_link(value) => self.has_link = true,
            Element::Identifier => drop(self.an_identifier.get_or_insert_with(|| value.to_owned())),
            Element::Language => {
                let sign = separated.map_or("\n", |separated| separated.sign);
                for part in several::parts(value, sign).filter(|part| !languages::is_recommended(part)) {
                    tell(Code::LanguageCode, part)?;
                }
            }
            Element::Type => {
                let sign = separated.map_or("\n", |separated| separated.sign);
                self.has_type |= several::parts(value, sign).any(types::is_recommended);
                if !self.has_type {
                    self.a_type.get_or_insert_with(|| value.to_owned());
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn end(self, found: Found<'_>) -> ControlFlow<()> {
        let missing = [
            (self.has_title, Code::NoTitle, Element::Title, None),
            (
                self.has_link,
                Code::IdentifierLink,
                Element::Identifier,
                self.an_identifier,
            ),
            (self.has_type, Code::TypeWord, Element::Type, self.a_type),
            (self.has_rights, Code::NoRights, Element::Rights, None),
        ];
        for (_, code, element, value) in missing.iter().filter(|(is_there, ..)| !is_there) {
            found(Finding {
                code: *code,
                element: *element,
                value: value.as_deref(),
            })?;
        }
        ControlFlow::Continue(())
    }
}

/// Values that stand for having none.
fn says_nothing(value: &str) -> bool {
    const WORDS: [&str; 9] = ["null", "undefined", "n/a", "-", "--", "---", "?", ".", "none"];
    value.is_empty() || (value.len() < 10 && WORDS.iter().any(|word| word.eq_ignore_ascii_case(value)))
}

/// Whether an identifier leads somewhere: a link, or a name that is looked up in a known place.
fn is_link(value: &str) -> bool {
    const BEGINNINGS: [&str; 18] = [
        "http://", "https://", "ftp://", "doi:", "hdl:", "urn:", "ark:", "info:", "purl:", "isbn", "issn", "ismn",
        "pmid", "pmc", "arxiv:", "handle:", "oai:", "swh:",
    ];
    let begins = |beginning: &&str| {
        let start = value.get(..beginning.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(beginning))
    };
    let is_doi = || {
        let registrant = value.strip_prefix("10.").and_then(|rest| rest.split_once('/'));
        registrant.is_some_and(|(registrant, _)| registrant.starts_with(|sign: char| sign.is_ascii_digit()))
    };
    BEGINNINGS.iter().any(begins) || is_doi()
}
