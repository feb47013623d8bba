//! Where a record leaves its model, in words a cataloguer understands: the place, what is wrong, what to do.

use std::fmt;

use stook_oai::Excerpt;

/// Something in a record that its model does not allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// The elements down to the place, as in `mods/titleInfo/title`, with `@name` behind it for an attribute.
    pub place: String,
    /// What is wrong there.
    pub wrong: Wrong,
}

impl Breach {
    /// The same at an attribute of the element.
    pub(super) fn at_attribute(mut self, name: &str) -> Self {
        self.place = format!("{}@{}", self.place, crate::fault::short(name));
        self
    }
}

impl std::error::Error for Breach {}

impl fmt::Display for Breach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = match self.wrong {
            Wrong::Missing(_) | Wrong::TooFew { .. } => ": ",
            _ => " ",
        };
        write!(formatter, "{}{separator}{}", self.place, self.wrong)
    }
}

/// The kinds of breach. A remedy is a piece of the sentence, ready to be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// No element has that name.
    #[error("is not an element of {format}; {remedy}")]
    UnknownElement {
        /// The format.
        format: String,
        /// The name that was meant, or those there are.
        remedy: String,
    },
    /// The format has that element elsewhere.
    #[error("may not stand there; {format} has it inside {parents}")]
    Misplaced {
        /// The format.
        format: String,
        /// Where it may stand.
        parents: String,
    },
    /// The right name in the wrong namespace.
    #[error("has {found}; in {format} it has {expected}")]
    WrongNamespace {
        /// The format.
        format: String,
        /// The namespace found, or that there is none.
        found: String,
        /// The one it should be.
        expected: String,
    },
    /// An element where there is only text.
    #[error("is an element where only text may stand; leave out its tags, or write &lt; for a <")]
    OnlyText,
    /// Elements that must be there are not.
    #[error("{} {} missing", .0.join(", "), if .0.len() == 1 { "is" } else { "are" })]
    Missing(Vec<String>),
    /// An element is not there often enough.
    #[error("there must be {least} {element} or more, not {found}")]
    TooFew {
        /// The element.
        element: String,
        /// How often it is there.
        found: u32,
        /// How often it must be.
        least: u32,
    },
    /// An element is there too often.
    #[error("is there twice; {parent} has at most one")]
    Repeated {
        /// The element around it.
        parent: String,
    },
    /// An element behind one it must stand before.
    #[error("stands behind {behind}; the order is {order}")]
    OutOfOrder {
        /// The element it stands behind.
        behind: String,
        /// The elements in their order.
        order: String,
    },
    /// An element without the elements it is for.
    #[error("is empty; put one of these inside, or leave it out: {0}")]
    Empty(String),
    /// Text where only elements may stand.
    #[error("has text between its elements; put it into one of them")]
    TextBetween,
    /// Text or an element where nothing may stand.
    #[error("has text inside; it must be empty")]
    NotEmpty,
    /// An attribute that must be there is not.
    #[error("is missing")]
    MissingAttribute,
    /// No attribute of the element has that name.
    #[error("is not an attribute of that element; {remedy}")]
    UnknownAttribute {
        /// The name that was meant, or those there are.
        remedy: String,
    },
    /// A text or attribute that is not what it must be.
    #[error("is {}; {remedy}", Excerpt(.found))]
    Value {
        /// What it is.
        found: String,
        /// What it may be.
        remedy: String,
    },
    /// An identifier of an element that another one has.
    #[error("is {}, as that of another element is; give each its own", Excerpt(.0))]
    RepeatedId(String),
}
