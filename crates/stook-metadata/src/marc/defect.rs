//! What can be wrong with a MARC record, in words a cataloguer understands: what, in which field, at which byte.

use std::fmt;

use stook_oai::Excerpt;

use super::record::Tag;

/// The first thing wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// The field, and which of that tag it is, counted from 1.
    pub field: Option<(Tag, usize)>,
    /// Byte offset from the beginning of the record, where the record is made of bytes.
    pub offset: Option<usize>,
    /// What is wrong.
    pub trouble: Trouble,
}

impl Defect {
    /// Something wrong with the record as a whole.
    #[must_use]
    pub fn of_record(trouble: Trouble) -> Self {
        Self {
            field: None,
            offset: None,
            trouble,
        }
    }

    /// Something wrong at a byte.
    pub(super) fn at(offset: usize, trouble: Trouble) -> Self {
        Self {
            field: None,
            offset: Some(offset),
            trouble,
        }
    }

    /// The same in a field, where the tags of the fields before it are known.
    pub(crate) fn in_field(mut self, tag: Tag, before: impl IntoIterator<Item = Tag>) -> Self {
        let earlier = before.into_iter().filter(|earlier| *earlier == tag).count();
        self.field = Some((tag, earlier + 1));
        self
    }

    /// Whether it concerns one place only, so that the rest of the record can be looked at.
    pub(crate) fn is_no_end(&self) -> bool {
        use Trouble::{BadCode, BadIndicator, ForbiddenTag, LeaderPosition};
        matches!(
            self.trouble,
            LeaderPosition { .. } | ForbiddenTag(_) | BadIndicator { .. } | BadCode(_)
        )
    }
}

impl std::error::Error for Defect {}

impl fmt::Display for Defect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((tag, occurrence)) = self.field {
            write!(formatter, "field {tag}{}: ", Occurrence(occurrence))?;
        }
        write!(formatter, "{}", self.trouble)?;
        match self.offset {
            Some(offset) => write!(formatter, " (byte {offset} of the record)"),
            None => Ok(()),
        }
    }
}

/// Which of several fields of one tag; the first needs no word.
pub(crate) struct Occurrence(pub(crate) usize);

impl fmt::Display for Occurrence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 | 1 => Ok(()),
            2 => formatter.write_str(", second occurrence"),
            3 => formatter.write_str(", third occurrence"),
            number => write!(formatter, ", occurrence {number}"),
        }
    }
}

/// The kinds of defect. What is quoted in them is cut to a readable length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// There is not even a leader.
    #[error("the record has {0} bytes, fewer than the 24 of a leader; the file may be cut off or damaged here")]
    TooShort(usize),
    /// The leader is no leader.
    #[error("the leader {} is not a MARC leader; it is damaged, or this is not MARC", Excerpt(.0))]
    BadLeader(String),
    /// A position of the leader holds what it may not hold.
    #[error("position {position:02} of the leader is {:?}; allowed is {allowed}", *.found as char)]
    LeaderPosition {
        /// Which, counted from 0.
        position: usize,
        /// What is there.
        found: u8,
        /// What may be there.
        allowed: &'static str,
    },
    /// In XML: there is no leader.
    #[error("the record has no leader")]
    NoLeader,
    /// The directory has no end.
    #[error("the directory of fields has no end mark; the record is cut off or damaged")]
    EndlessDirectory,
    /// The directory has entries of another length than 12.
    #[error("the directory is {0} bytes long, which is not a multiple of 12; it is damaged")]
    BrokenDirectory(usize),
    /// The directory does not fit the fields.
    #[error("the directory names {named} fields, but the record has {found}; the record is cut off or damaged")]
    FieldCount {
        /// By the directory.
        named: usize,
        /// By the marks between fields.
        found: usize,
    },
    /// The directory points at the field of another tag.
    #[error("the directory points to the wrong place for field {0}; it is damaged")]
    WrongDirectory(Tag),
    /// A tag that is none.
    #[error("{} is not a tag of three digits or letters", Excerpt(.0))]
    BadTag(String),
    /// A tag that MARCXML cannot carry.
    #[error("the tag {0} is not allowed in MARCXML: 001 to 999, or letters all capital or all small")]
    ForbiddenTag(Tag),
    /// An indicator that is none.
    #[error("indicator {number} is {}; allowed is a digit, a small letter or a blank", Excerpt(.found))]
    BadIndicator {
        /// 1 or 2.
        number: usize,
        /// What is there.
        found: String,
    },
    /// Text between the indicators and the first subfield.
    #[error("{} stands before the first subfield", Excerpt(.0))]
    TextBeforeSubfields(String),
    /// A subfield code that is none.
    #[error("the subfield code {} is not a letter, a digit or a sign of ASCII", Excerpt(.0))]
    BadCode(String),
    /// A byte that means nothing in the encoding of the record.
    #[error("the byte {byte:02X} means nothing in {encoding}. Try: --encoding with the right one")]
    Undecodable {
        /// The first such byte.
        byte: u8,
        /// What the record is encoded in.
        encoding: &'static str,
    },
    /// Character sets of UNIMARC that are not read.
    #[error(
        "field 100 names the character sets {}, which are not read. Try: --encoding utf-8, or the one the record is \
         really in, such as windows-1251",
        Excerpt(.0)
    )]
    UnknownCharacterSets(String),
    /// UNIMARC that does not say its character sets.
    #[error("no field 100 tells the character set. Try: --encoding utf-8, iso5426 or the like")]
    NoCharacterSets,
    /// The record does not fit into ISO 2709.
    #[error("the record would have {0} bytes; ISO 2709 cannot hold more than 99,999")]
    RecordTooLong(usize),
    /// The field does not fit into ISO 2709.
    #[error("the field would have {0} bytes; ISO 2709 cannot hold more than 9,999 in a field")]
    FieldTooLong(usize),
    /// A value with a separator of ISO 2709 in it.
    #[error("the text has a separator of ISO 2709 in it (byte {0:02X})")]
    Separator(u8),
    /// XML that is not that of a record.
    #[error("{0}")]
    NotMarcXml(String),
}
