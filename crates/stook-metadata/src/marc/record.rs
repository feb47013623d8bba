//! One MARC record: a leader and fields, in the order they came.

use std::borrow::Cow;
use std::fmt;

/// A record. Values hold text, never the separators of ISO 2709.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'a> {
    /// Status, type, level and the like.
    pub leader: Leader,
    /// Control fields and data fields, in the order of the record.
    pub fields: Vec<Field<'a>>,
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Field<'a> {
    /// A field of tag 00X: text and nothing else.
    Control {
        /// The tag; it begins with `00`.
        tag: Tag,
        /// The text.
        value: Cow<'a, str>,
    },
    /// Any other field.
    Data {
        /// The tag; it does not begin with `00`.
        tag: Tag,
        /// Both indicators, as ASCII characters.
        indicators: [u8; 2],
        /// The subfields; there may be none.
        subfields: Vec<Subfield<'a>>,
    },
}

/// One subfield.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subfield<'a> {
    /// The code, an ASCII character.
    pub code: u8,
    /// The text.
    pub value: Cow<'a, str>,
}

/// The family a record belongs to: same structure, other meanings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dialect {
    /// MARC 21, whose leader tells the encoding in position 9.
    #[default]
    Marc21,
    /// UNIMARC, whose field 100 tells the encoding.
    Unimarc,
}

impl Record<'_> {
    /// Whether the leader says that the record was deleted.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.leader.at(Leader::STATUS) == b'd'
    }

    /// The text of the first field of a tag that has any: of a control field all of it, of a data field that of the
    /// first subfield with this code, or of the first there is.
    #[must_use]
    pub fn first(&self, tag: Tag, code: Option<u8>) -> Option<&str> {
        let mut texts = self.fields.iter().filter_map(|field| match field {
            Field::Control { tag: found, value } if *found == tag => Some(&**value),
            Field::Data {
                tag: found, subfields, ..
            } if *found == tag => {
                let wanted = subfields
                    .iter()
                    .find(|subfield| code.is_none_or(|code| subfield.code == code));
                wanted.map(|subfield| &*subfield.value)
            }
            _ => None,
        });
        texts.find(|text| !text.trim().is_empty())
    }
}

impl Field<'_> {
    /// Its tag.
    #[must_use]
    pub fn tag(&self) -> Tag {
        match self {
            Field::Control { tag, .. } | Field::Data { tag, .. } => *tag,
        }
    }
}

/// The tag of a field: three ASCII letters or digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag([u8; 3]);

impl Tag {
    /// Reads a tag; `None` if it is none.
    #[must_use]
    pub fn parse(tag: &[u8]) -> Option<Self> {
        let tag: [u8; 3] = tag.try_into().ok()?;
        tag.iter().all(u8::is_ascii_alphanumeric).then_some(Self(tag))
    }

    /// Whether a field of this tag has neither indicators nor subfields.
    #[must_use]
    pub fn is_control(self) -> bool {
        self.0.starts_with(b"00")
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Always ASCII; no input makes this panic, whatever happens.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// As bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 3] {
        &self.0
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The leader: 24 printable ASCII characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Leader([u8; 24]);

impl Leader {
    /// Its length, always.
    pub const LENGTH: usize = 24;
    /// Position of the record status.
    pub const STATUS: usize = 5;
    /// Position of the character coding, in MARC 21.
    pub const CODING: usize = 9;

    /// Reads a leader; `None` if it is not 24 printable ASCII characters.
    #[must_use]
    pub fn parse(leader: &[u8]) -> Option<Self> {
        let leader: [u8; Self::LENGTH] = leader.try_into().ok()?;
        let printable = leader.iter().all(|byte| (b' '..=b'~').contains(byte));
        printable.then_some(Self(leader))
    }

    /// The leader of a record whose lengths nobody has counted yet.
    #[must_use]
    pub fn blank(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Marc21 => Self(*b"00000nam a2200000   4500"),
            Dialect::Unimarc => Self(*b"00000nam0 2200000   450 "),
        }
    }

    /// The character at a position, a blank beyond the end.
    #[must_use]
    pub fn at(&self, position: usize) -> u8 {
        self.0.get(position).copied().unwrap_or(b' ')
    }

    /// Changes what stands from a position on; what is not printable or beyond the end is left out.
    pub fn set(&mut self, position: usize, text: &[u8]) {
        for (place, &byte) in self.0.iter_mut().skip(position).zip(text) {
            if (b' '..=b'~').contains(&byte) {
                *place = byte;
            }
        }
    }

    /// The same, with everything that only describes a file of ISO 2709 as it should be: lengths that are numbers,
    /// two indicators, two characters before a subfield, and a directory of the usual shape.
    #[must_use]
    pub fn mended(mut self, dialect: Dialect) -> Self {
        for number in [0..5, 12..17] {
            if !self.0[number.clone()]
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b' ')
            {
                self.set(number.start, b"00000");
            }
        }
        for position in [10, 11] {
            if !matches!(self.0[position], b'2' | b' ') {
                self.set(position, b"2");
            }
        }
        // Printed tables and some programs write a blank as "#".
        for position in [5, 7, 8, 9, 17, 18, 19] {
            if self.0[position] == b'#' {
                self.set(position, b" ");
            }
        }
        match dialect {
            Dialect::Marc21 if !matches!(&self.0[20..], b"4500" | b"    ") => self.set(20, b"4500"),
            Dialect::Unimarc if !self.0[20..].starts_with(b"450") => self.set(20, b"450 "),
            _ => {}
        }
        if dialect == Dialect::Marc21 {
            // What is in memory is Unicode, whatever it was before.
            self.set(Self::CODING, b"a");
        }
        self
    }

    /// The same, without how long the record is and where its fields begin. That is true of the bytes it was read from and
    /// of nothing else: the same record in another encoding is longer, and no other record for it.
    #[must_use]
    pub fn without_lengths(mut self) -> Self {
        self.set(0, b"00000");
        self.set(12, b"00000");
        self
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl fmt::Debug for Leader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}
