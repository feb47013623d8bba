//! A strict scanner for the XML of one record.
//!
//! Text enters, tokens leave, each of them checked by the letter of XML 1.0
//! (fifth edition): names, references, characters, quotes, comments. The
//! scanner knows nothing of nesting and namespaces; [`crate::fragment`] does.
//! It accepts no document type declaration, so there are no entities to
//! expand, and it copies nothing.

mod characters;

use stook_oai::xml::{first_forbidden, is_xml_char};

use crate::clean::reference_code;
use crate::fault::{Fault, Problem, short};

use characters::{IS_PLAIN_IN_NAME, IS_SPECIAL, is_name_character, is_name_start, predefined};

pub(crate) use characters::is_space;
pub use characters::unescape;

/// Most attributes one element may have. Comparing them for repetitions is
/// quadratic, so there must be a bound.
pub const MAX_ATTRIBUTES: usize = 256;

/// One piece of XML. Text is given as it is written, references unresolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// `<name …>` or `<name …/>`; [`Scanner::attributes`] has the attributes.
    Start {
        /// The name as written, with its prefix.
        name: &'a str,
        /// Whether the element is closed at once by `/>`.
        empty: bool,
    },
    /// `</name>`.
    End {
        /// The name as written.
        name: &'a str,
    },
    /// Text between tags, with references.
    Text(&'a str),
    /// The inside of a CDATA section.
    Section(&'a str),
    /// A comment.
    Comment,
    /// A processing instruction.
    Instruction,
    /// `<?xml …?>` at the very beginning.
    Declaration,
}

/// One attribute of a start tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// The name as written, with its prefix.
    pub name: &'a str,
    /// The value as written, references unresolved; see [`unescape`].
    pub value: &'a str,
    /// Byte offset of the name.
    pub offset: usize,
    /// Byte offset of the value, behind its quotation mark.
    pub value_offset: usize,
}

/// Reads tokens from a text, from its beginning to its end.
#[derive(Debug)]
pub struct Scanner<'a> {
    xml: &'a str,
    at: usize,
    token_start: usize,
    attributes: Vec<Attribute<'a>>,
}

impl<'a> Scanner<'a> {
    /// A scanner at the beginning of `xml`, behind a byte order mark.
    #[must_use]
    pub fn new(xml: &'a str) -> Self {
        let at = if xml.starts_with('\u{FEFF}') {
            '\u{FEFF}'.len_utf8()
        } else {
            0
        };
        Self {
            xml,
            at,
            token_start: at,
            attributes: Vec::new(),
        }
    }

    /// Where the next token begins, which is where the last one ended.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Where the last token began.
    #[must_use]
    pub fn token_start(&self) -> usize {
        self.token_start
    }

    /// The attributes of the start tag that was read last.
    #[must_use]
    pub fn attributes(&self) -> &[Attribute<'a>] {
        &self.attributes
    }

    /// The next token, `None` at the end of the text.
    ///
    /// # Errors
    ///
    /// The first thing that is not XML. The scanner is of no use afterwards.
    pub fn next_token(&mut self) -> Result<Option<Token<'a>>, Fault> {
        self.token_start = self.at;
        let rest = &self.xml.as_bytes()[self.at..];
        let token = match rest {
            [] => return Ok(None),
            [b'<', b'/', ..] => self.end_tag()?,
            [b'<', b'?', ..] => self.instruction()?,
            [b'<', b'!', b'-', b'-', ..] => self.comment()?,
            [b'<', b'!', ..] => self.section()?,
            [b'<', ..] => self.start_tag()?,
            _ => self.text()?,
        };
        Ok(Some(token))
    }

    /// A fault at a byte offset of the text.
    pub(crate) fn fault(&self, offset: usize, problem: Problem) -> Fault {
        Fault::at(self.xml, offset, problem)
    }

    fn start_tag(&mut self) -> Result<Token<'a>, Fault> {
        self.at += 1;
        let Some(name) = self.qualified_name()? else {
            return Err(self.fault(self.token_start, Problem::StrayLessThan));
        };
        self.attributes.clear();
        loop {
            let spaced = self.skip_space();
            match &self.xml.as_bytes()[self.at..] {
                [] => return Err(self.fault(self.token_start, Problem::CutOff("a tag"))),
                [b'>', ..] => {
                    self.at += 1;
                    return Ok(Token::Start { name, empty: false });
                }
                [b'/', b'>', ..] => {
                    self.at += 2;
                    return Ok(Token::Start { name, empty: true });
                }
                _ if spaced => self.attribute(name)?,
                _ => return Err(self.malformed(name)),
            }
        }
    }

    fn attribute(&mut self, element: &'a str) -> Result<(), Fault> {
        let offset = self.at;
        let Some(name) = self.qualified_name()? else {
            return Err(self.malformed(element));
        };
        self.skip_space();
        if self.byte() != Some(b'=') {
            return Err(self.malformed(element));
        }
        self.at += 1;
        self.skip_space();
        let quote = match self.byte() {
            Some(quote @ (b'"' | b'\'')) => quote,
            _ => return Err(self.malformed(element)),
        };
        self.at += 1;
        let value_offset = self.at;
        let value = self.attribute_value(quote)?;
        if self.attributes.iter().any(|earlier| earlier.name == name) {
            return Err(self.fault(offset, Problem::RepeatedAttribute(short(name))));
        }
        if self.attributes.len() == MAX_ATTRIBUTES {
            return Err(self.fault(offset, Problem::TooManyAttributes(MAX_ATTRIBUTES)));
        }
        self.attributes.push(Attribute {
            name,
            value,
            offset,
            value_offset,
        });
        Ok(())
    }

    /// Reads to the closing quotation mark and over it.
    fn attribute_value(&mut self, quote: u8) -> Result<&'a str, Fault> {
        let start = self.at;
        loop {
            match self.skip_plain() {
                None => return Err(self.fault(start, Problem::CutOff("an attribute value"))),
                Some(byte) if byte == quote => {
                    self.at += 1;
                    return Ok(&self.xml[start..self.at - 1]);
                }
                Some(b'<') => return Err(self.fault(self.at, Problem::StrayLessThan)),
                Some(b'&') => self.reference()?,
                Some(_) => self.legal_character()?,
            }
        }
    }

    fn end_tag(&mut self) -> Result<Token<'a>, Fault> {
        self.at += 2;
        let Some(name) = self.qualified_name()? else {
            return Err(self.fault(self.token_start, Problem::StrayLessThan));
        };
        self.skip_space();
        match self.byte() {
            Some(b'>') => {
                self.at += 1;
                Ok(Token::End { name })
            }
            None => Err(self.fault(self.token_start, Problem::CutOff("a tag"))),
            Some(_) => Err(self.malformed(name)),
        }
    }

    fn text(&mut self) -> Result<Token<'a>, Fault> {
        let start = self.at;
        loop {
            match self.skip_plain() {
                None | Some(b'<') => return Ok(Token::Text(&self.xml[start..self.at])),
                Some(b'&') => self.reference()?,
                Some(b']') if self.xml.as_bytes()[self.at..].starts_with(b"]]>") => {
                    return Err(self.fault(self.at, Problem::StraySectionEnd));
                }
                Some(_) => self.legal_character()?,
            }
        }
    }

    fn section(&mut self) -> Result<Token<'a>, Fault> {
        let rest = &self.xml[self.at..];
        let Some(inside) = rest.strip_prefix("<![CDATA[") else {
            let is_doctype = rest.get(..9).is_some_and(|word| word.eq_ignore_ascii_case("<!DOCTYPE"));
            let problem = if is_doctype {
                Problem::Doctype
            } else {
                Problem::StrayLessThan
            };
            return Err(self.fault(self.at, problem));
        };
        let Some(length) = inside.find("]]>") else {
            return Err(self.fault(self.at, Problem::CutOff("a CDATA section")));
        };
        let inside = &inside[..length];
        self.all_legal(inside, self.at + 9)?;
        self.at += 9 + length + 3;
        Ok(Token::Section(inside))
    }

    fn comment(&mut self) -> Result<Token<'a>, Fault> {
        let inside = &self.xml[self.at + 4..];
        let Some(length) = inside.find("--") else {
            return Err(self.fault(self.at, Problem::CutOff("a comment")));
        };
        if !inside[length..].starts_with("-->") {
            return Err(self.fault(self.at + 4 + length, Problem::BadComment));
        }
        self.all_legal(&inside[..length], self.at + 4)?;
        self.at += 4 + length + 3;
        Ok(Token::Comment)
    }

    fn instruction(&mut self) -> Result<Token<'a>, Fault> {
        self.at += 2;
        let target = self.name();
        let inside = &self.xml[self.at..];
        let Some(length) = inside.find("?>") else {
            return Err(self.fault(self.token_start, Problem::CutOff("a processing instruction")));
        };
        let inside = &inside[..length];
        self.all_legal(inside, self.at)?;
        let separated = inside.is_empty() || inside.starts_with([' ', '\t', '\r', '\n']);
        self.at += length + 2;
        let is_declaration = target.eq_ignore_ascii_case("xml");
        let at_beginning = self.xml[..self.token_start].trim_start_matches('\u{FEFF}').is_empty();
        if is_declaration && at_beginning && separated {
            return Ok(Token::Declaration);
        }
        if target.is_empty() || target.contains(':') || is_declaration || !separated {
            return Err(self.fault(self.token_start, Problem::BadInstruction(short(target))));
        }
        Ok(Token::Instruction)
    }

    /// Reads a name with at most one colon, which is neither first nor last.
    /// `None` where no name begins.
    #[inline]
    fn qualified_name(&mut self) -> Result<Option<&'a str>, Fault> {
        match self.plain_name() {
            Some(name) => Ok(Some(name)),
            None => self.other_name(),
        }
    }

    /// Reads a name of ASCII letters and digits, with a prefix or without, as nearly all are; `None` for any other.
    fn plain_name(&mut self) -> Option<&'a str> {
        let rest = &self.xml.as_bytes()[self.at..];
        let mut length = plain_part(rest)?;
        if rest[length] == b':' {
            length += 1;
            length += plain_part(&rest[length..])?;
        }
        if !rest[length].is_ascii() || rest[length] == b':' {
            return None;
        }
        let start = self.at;
        self.at += length;
        Some(&self.xml[start..self.at])
    }

    fn other_name(&mut self) -> Result<Option<&'a str>, Fault> {
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return Ok(None);
        }
        let well_formed = match split_at_colon(name) {
            None => true,
            Some((prefix, local)) => !prefix.is_empty() && !local.contains(':') && local.starts_with(is_name_start),
        };
        if well_formed {
            Ok(Some(name))
        } else {
            Err(self.fault(start, Problem::BadName(short(name))))
        }
    }

    /// Reads a name; the empty text where none begins.
    fn name(&mut self) -> &'a str {
        let rest = &self.xml[self.at..];
        if !rest.starts_with(|first| is_name_start(first) || first == ':') {
            return "";
        }
        let is_ascii_in_name = |byte: &u8| IS_PLAIN_IN_NAME[usize::from(*byte)] || *byte == b':';
        let ascii = rest.as_bytes().iter().take_while(|byte| is_ascii_in_name(byte)).count();
        let length = if rest.as_bytes().get(ascii).is_some_and(|byte| !byte.is_ascii()) {
            rest.find(|character| !is_name_character(character))
                .unwrap_or(rest.len())
        } else {
            ascii
        };
        self.at += length;
        &rest[..length]
    }

    /// Reads `&…;` and refuses what it may not refer to.
    fn reference(&mut self) -> Result<(), Fault> {
        let start = self.at;
        self.at += 1;
        if self.byte() == Some(b'#') {
            let rest = &self.xml[self.at + 1..];
            let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let digits = &rest[..length];
            self.at += 1 + length;
            let code = reference_code(digits).filter(|_| self.byte() == Some(b';'));
            let Some(code) = code else {
                return Err(self.fault(start, Problem::StrayAmpersand));
            };
            if !char::from_u32(code).is_some_and(is_xml_char) {
                return Err(self.fault(start, Problem::IllegalReference(short(digits))));
            }
        } else {
            let entity = self.name();
            if entity.is_empty() || self.byte() != Some(b';') {
                return Err(self.fault(start, Problem::StrayAmpersand));
            }
            if predefined(entity).is_none() {
                return Err(self.fault(start, Problem::UnknownEntity(short(entity))));
            }
        }
        self.at += 1;
        Ok(())
    }

    fn byte(&self) -> Option<u8> {
        self.xml.as_bytes().get(self.at).copied()
    }

    /// Steps to the next byte that means something, and returns it.
    fn skip_plain(&mut self) -> Option<u8> {
        let rest = &self.xml.as_bytes()[self.at..];
        let plain = rest.iter().position(|&byte| IS_SPECIAL[usize::from(byte)]);
        self.at += plain.unwrap_or(rest.len());
        self.byte()
    }

    fn skip_space(&mut self) -> bool {
        let rest = &self.xml.as_bytes()[self.at..];
        let length = rest.iter().take_while(|byte| is_space(**byte)).count();
        self.at += length;
        length > 0
    }

    /// Steps over one character that turned out to mean nothing here, unless
    /// XML forbids it.
    fn legal_character(&mut self) -> Result<(), Fault> {
        let Some(character) = self.xml[self.at..].chars().next() else {
            return Ok(());
        };
        if !is_xml_char(character) {
            return Err(self.fault(self.at, Problem::IllegalCharacter(u32::from(character))));
        }
        self.at += character.len_utf8();
        Ok(())
    }

    fn all_legal(&self, text: &str, offset: usize) -> Result<(), Fault> {
        let Some(at) = first_forbidden(text.as_bytes()) else {
            return Ok(());
        };
        let code = text[at..].chars().next().map_or(0, u32::from);
        Err(self.fault(offset + at, Problem::IllegalCharacter(code)))
    }

    fn malformed(&self, element: &str) -> Fault {
        self.fault(self.at, Problem::MalformedTag(short(element)))
    }
}

/// The length of a name, or of a part of one, that begins with an ASCII letter: up to a byte that is there and is none of
/// its own.
fn plain_part(bytes: &[u8]) -> Option<usize> {
    bytes.first().filter(|first| first.is_ascii_alphabetic())?;
    bytes.iter().position(|&byte| !IS_PLAIN_IN_NAME[usize::from(byte)])
}

/// What stands before the first colon of a name, and what behind it. Names are too short for a search to be worth its
/// setting up.
pub(crate) fn split_at_colon(name: &str) -> Option<(&str, &str)> {
    let colon = name.bytes().position(|byte| byte == b':')?;
    Some((&name[..colon], &name[colon + 1..]))
}

/// Whether a text is a name without a colon.
pub(crate) fn is_unprefixed_name(text: &str) -> bool {
    text.starts_with(is_name_start) && !text.contains(|sign| sign == ':' || !is_name_character(sign))
}

#[cfg(test)]
mod tests;
