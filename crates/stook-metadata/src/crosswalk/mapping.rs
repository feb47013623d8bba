//! What a mapping says: its rules, as they were read.

use std::collections::HashMap;

use super::path::{Condition, Name, Path};

/// A crosswalk in words: how records of one format become records of another.
///
/// ```
/// use stook_metadata::{Formats, crosswalk::Mapping};
///
/// let formats = Formats::default();
/// let mapping = Mapping::read(
///     "map marc21 to oai_dc
///      245$ab  -> title    join \" \"  trim \"/\"
///      650$a   -> subject  trim \".\"",
///     &formats,
/// )?;
/// let marc = "<record xmlns='http://www.loc.gov/MARC21/slim'>
///     <datafield tag='245' ind1='1' ind2='0'><subfield code='a'>Maps of</subfield><subfield code='b'>Rome /</subfield></datafield>
///     <datafield tag='650' ind1=' ' ind2='0'><subfield code='a'>Cartography.</subfield></datafield></record>";
/// let dublin_core = mapping.apply(marc)?.expect("there is a title");
/// assert!(dublin_core.contains("<dc:title>Maps of Rome</dc:title><dc:subject>Cartography</dc:subject>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mapping {
    /// Prefix of the format it reads.
    pub from: String,
    /// Prefix of the format it writes.
    pub to: String,
    /// The root of what it writes.
    pub(super) root: Name,
    /// Prefixes and what they stand for.
    pub(super) namespaces: Vec<(String, String)>,
    pub(super) rules: Vec<Rule>,
    pub(super) means: Means,
}

/// What rules find values with.
#[derive(Debug, Clone)]
pub(crate) struct Means {
    pub(super) tables: HashMap<String, Table>,
    /// Whether MARC's marks around what does not sort are dropped: outside MARC nobody knows them.
    pub(super) drops_sorting_marks: bool,
}

/// One line of a mapping, and what is indented below it.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    /// `SOURCE -> TARGET`: every value becomes an element or an attribute.
    Value {
        source: Source,
        target: Target,
        changes: Vec<Modifier>,
        /// Without a value, what it would stand in is not made.
        required: bool,
    },
    /// `SOURCE => TARGET`: every element becomes an element, filled by the rules below.
    Group {
        sources: Vec<Path>,
        target: Target,
        conditions: Vec<Condition>,
        which: Which,
        /// Without such an element, what it would stand in is not made.
        required: bool,
        rules: Vec<Rule>,
    },
    /// `copy SOURCE`: elements as they are.
    Copy { source: Path },
}

/// Which of the elements found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    All,
    First,
    /// All but the first.
    Rest,
}

/// Where values come from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// Always this one.
    Constant(String),
    /// From these places, in this order.
    Paths(Vec<Path>),
}

/// Where they go.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Elements to be made, the first one outermost; none for the element at hand.
    pub(super) elements: Vec<NewElement>,
    /// The attribute of the innermost that gets the value; none for its text.
    pub(super) attribute: Option<Name>,
}

/// An element to be made.
#[derive(Debug, Clone)]
pub(super) struct NewElement {
    pub(super) name: Name,
    pub(super) attributes: Vec<(Name, String)>,
}

/// What is done with the values, in the order it is written.
#[derive(Debug, Clone)]
pub(crate) enum Modifier {
    /// These characters, and blanks, are taken off both ends.
    Trim(String),
    /// The punctuation that cataloguing rules put between areas is taken off the end.
    Chop,
    /// One of these, if it stands at the beginning, is taken off.
    Without(Vec<String>),
    /// One value becomes several.
    Split(String),
    /// Several become one.
    Join(String),
    /// Each is looked up.
    Table(String),
    /// All but the first are dropped.
    First,
    /// The first is dropped.
    Rest,
    /// All but the last are dropped.
    Last,
    /// Repetitions are dropped.
    Distinct,
    /// `{}` in the text stands for the value.
    As(String),
    /// Wherever the first stands, the second is put.
    Replace(String, String),
    /// The first date in it, as 2024, 2024-05 or 2024-05-17.
    Date,
    /// The first year in it.
    Year,
    /// The host of a URL from the top down, as cz:webarchiv:www.
    Domain,
    /// What lies between the separators, as a:b:c.
    Levels(String),
    /// Only a language tag stays, as de or sr-Cyrl.
    Language,
    /// So many characters of the beginning, by a number that stands there.
    Take(Path),
    /// What comes after so many characters.
    Skip(Path),
    Upper,
    Lower,
    /// What to say where there is no value.
    Default(String),
    /// There must be a value; see [`Rule`].
    Required,
    /// Only where this holds.
    When(Vec<Condition>),
    /// The new element gets this attribute of the old one.
    With(Name),
}

/// Values and what becomes of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) rows: HashMap<String, Becomes>,
    /// Values with `*` in them, in their order, for what is no row itself.
    pub(super) patterns: Vec<(String, Becomes)>,
    /// What becomes of any other value; none if it is dropped.
    pub(super) other: Option<Becomes>,
}

/// What becomes of a value.
#[derive(Debug, Clone)]
pub(super) enum Becomes {
    /// It stays.
    Kept,
    /// This takes its place.
    Replaced(String),
}
