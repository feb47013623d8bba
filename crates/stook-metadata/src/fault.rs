//! What can be wrong with the XML of a record, in words a cataloguer
//! understands.
//!
//! A fault is a value: where it stands, what it is. It never holds more than a
//! short excerpt of the text it complains about.

use std::fmt;

use stook_oai::Excerpt;

use crate::marc::Defect;
use crate::model::Breach;

/// The first thing wrong with a piece of XML, or several where its format is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Line of the fault, counted from 1 at the beginning of the text.
    pub line: usize,
    /// Byte offset of the fault from the beginning of the text.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
}

impl Fault {
    /// A fault at a byte offset of `xml`.
    pub(crate) fn at(xml: &str, offset: usize, problem: Problem) -> Self {
        let before = xml.as_bytes().get(..offset).unwrap_or(xml.as_bytes());
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Self { line, offset, problem }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (line {}, byte {})", self.problem, self.line, self.offset)
    }
}

/// The kinds of fault. Names quoted in them are cut to a readable length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text holds no element at all.
    #[error("there is no XML element")]
    NoRoot,
    /// Text stands before or after the one element.
    #[error("there is text outside the XML element")]
    TextOutsideRoot,
    /// A second element follows the first.
    #[error("there is a second XML element <{0}> after the first; a record has exactly one")]
    SecondRoot(String),
    /// The text ends inside an element.
    #[error("the XML ends before <{0}> is closed")]
    NotClosed(String),
    /// The text ends inside a tag, a comment or the like.
    #[error("the XML ends inside {0}")]
    CutOff(&'static str),
    /// An end tag closes something else than the innermost element.
    #[error("</{found}> closes <{expected}>")]
    WrongEndTag {
        /// The innermost element that is open.
        expected: String,
        /// What the end tag names.
        found: String,
    },
    /// An end tag without a start tag.
    #[error("</{0}> closes nothing")]
    StrayEndTag(String),
    /// A `<` that begins neither a tag nor a comment.
    #[error("a \"<\" does not begin a tag; in text it is written &lt;")]
    StrayLessThan,
    /// Something in a tag that is not an attribute.
    #[error("the tag <{0}> is malformed; attributes are written name=\"value\"")]
    MalformedTag(String),
    /// A name that XML or its namespaces do not allow.
    #[error("{} is not a name XML allows", Excerpt(.0))]
    BadName(String),
    /// Two attributes with one name.
    #[error("the attribute {0} is given twice")]
    RepeatedAttribute(String),
    /// The text holds a document type declaration.
    #[error("a document type declaration (<!DOCTYPE …>) is not accepted")]
    Doctype,
    /// An entity other than the five that XML knows.
    #[error("the entity &{0}; is not defined; write the character itself")]
    UnknownEntity(String),
    /// An `&` that begins no reference.
    #[error("an \"&\" does not begin a reference such as &amp;; in text it is written &amp;")]
    StrayAmpersand,
    /// A reference to a character XML cannot carry.
    #[error("&#{0}; refers to a character that XML cannot carry")]
    IllegalReference(String),
    /// A character XML cannot carry.
    #[error("the character U+{0:04X} cannot be carried by XML")]
    IllegalCharacter(u32),
    /// The end of a CDATA section in text.
    #[error("\"]]>\" stands in text; it is written ]]&gt;")]
    StraySectionEnd,
    /// A comment with `--` inside.
    #[error("a comment contains \"--\"")]
    BadComment,
    /// A processing instruction that may not stand there, or an XML
    /// declaration in the middle.
    #[error("<?{0} …?> may not stand here")]
    BadInstruction(String),
    /// A prefix nobody declared.
    #[error("the prefix of {0} is not declared (xmlns:… is missing)")]
    UndeclaredPrefix(String),
    /// A declaration that the namespace rules forbid.
    #[error("the namespace declaration {0} is not allowed")]
    BadDeclaration(String),
    /// The root is not one of the format's.
    #[error("the root is {found}; {format} records have {expected}")]
    WrongRoot {
        /// Prefix of the format.
        format: String,
        /// The root found.
        found: String,
        /// The root or roots of the format.
        expected: String,
    },
    /// An about container in no namespace, or in that of the protocol.
    #[error("an about container needs a root in a namespace of its own; <{0}> has none")]
    NoNamespace(String),
    /// Elements nested beyond what receiving parsers accept.
    #[error("elements are nested more than {0} deep")]
    TooDeep(usize),
    /// More attributes on one element than anyone needs.
    #[error("an element has more than {0} attributes")]
    TooManyAttributes(usize),
    /// More namespace declarations in force than anyone needs.
    #[error("more than {0} namespace declarations are in force")]
    TooManyNamespaces(usize),
    /// In oai_dc: an element that is not one of the fifteen.
    #[error("<{0}> is not one of the fifteen Dublin Core elements, the only ones oai_dc allows")]
    NotDublinCore(String),
    /// In oai_dc: an element inside a Dublin Core element.
    #[error("<{0}> stands inside a Dublin Core element, where oai_dc allows only text")]
    NestedElement(String),
    /// In oai_dc: text beside the elements.
    #[error("text stands between the Dublin Core elements, where oai_dc allows none")]
    TextBetweenElements,
    /// In oai_dc: an attribute other than xml:lang.
    #[error("the attribute {attribute} is not allowed on <{element}> in oai_dc")]
    ForeignAttribute {
        /// The element.
        element: String,
        /// The attribute.
        attribute: String,
    },
    /// In oai_dc: an xml:lang that is not a language tag.
    #[error("xml:lang={} is not a language tag such as \"de\" or \"sr-Cyrl\"", Excerpt(.0))]
    BadLanguage(String),
    /// In MARCXML: what its schema does not allow.
    #[error("{0}")]
    Marc(Defect),
    /// In other formats: what their content model does not allow.
    #[error("{0}")]
    Content(Breach),
    /// More than one thing that the format does not allow, in the order of the record.
    #[error("{}", listed(.0))]
    Several(Vec<Problem>),
}

/// So many are told at once. One who made more mistakes than that makes the same one again and again.
pub(crate) const MOST_TOLD: usize = 10;

fn listed(problems: &[Problem]) -> String {
    let mut listed: Vec<String> = problems.iter().map(Problem::to_string).collect();
    if listed.len() == MOST_TOLD {
        listed.push("perhaps more".to_owned());
    }
    listed.join("; also ")
}

impl Problem {
    /// Whether the rest of the record can be looked at as if nothing had been.
    pub(crate) fn is_no_end(&self) -> bool {
        match self {
            Self::Content(_) => true,
            Self::Marc(defect) => defect.is_no_end(),
            _ => false,
        }
    }
}

/// A name for a message: whole if short, cut if somebody made it enormous.
pub(crate) fn short(name: &str) -> String {
    const LIMIT: usize = 80;
    match name.char_indices().nth(LIMIT) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}
