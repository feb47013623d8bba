//! A strict scanner for the XML of one record.
//!
//! Text enters, tokens leave, each of them checked by the letter of XML 1.0
//! (fifth edition): names, references, characters, quotes, comments. The
//! scanner knows nothing of nesting and namespaces; [`crate::fragment`] does.
//! It accepts no document type declaration, so there are no entities to
//! expand, and it copies nothing.

use std::borrow::Cow;

use stook_oai::xml::{first_forbidden, is_xml_char};

use crate::clean::reference_code;
use crate::fault::{Fault, Problem, short};

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
    fn qualified_name(&mut self) -> Result<Option<&'a str>, Fault> {
        let start = self.at;
        let name = self.name();
        if name.is_empty() {
            return Ok(None);
        }
        let well_formed = match name.split_once(':') {
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
        let ascii = rest.bytes().take_while(|&byte| is_ascii_name_byte(byte)).count();
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

/// Bytes at which text or an attribute value may stop being plain: markup,
/// quotation marks, `]`, control characters, and the first byte of U+F000 to
/// U+FFFF, among which are two noncharacters.
const IS_SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        special[byte] = !is_space(byte as u8);
        byte += 1;
    }
    special[b'<' as usize] = true;
    special[b'&' as usize] = true;
    special[b'"' as usize] = true;
    special[b'\'' as usize] = true;
    special[b']' as usize] = true;
    special[0xEF] = true;
    special
};

/// White space by XML 1.0 §2.3.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn is_ascii_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'_' | b'-' | b'.')
}

/// NameStartChar of XML 1.0 §2.3, but for the colon.
fn is_name_start(character: char) -> bool {
    matches!(character,
        'A'..='Z' | 'a'..='z' | '_'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}'
        | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// NameChar of XML 1.0 §2.3, colon included.
fn is_name_character(character: char) -> bool {
    is_name_start(character)
        || matches!(character,
            ':' | '-' | '.' | '0'..='9' | '\u{B7}'
            | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The character of an entity every XML parser knows.
fn predefined(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

/// Resolves the references of a text or an attribute value that the scanner
/// has accepted. What is no reference is left as it is.
///
/// ```
/// assert_eq!(stook_metadata::scan::unescape("R&amp;D &#x2013; caf&#233;"), "R&D – café");
/// ```
#[must_use]
pub fn unescape(raw: &str) -> Cow<'_, str> {
    let Some(first) = raw.find('&') else {
        return Cow::Borrowed(raw);
    };
    let mut text = String::with_capacity(raw.len());
    text.push_str(&raw[..first]);
    let mut rest = &raw[first..];
    while let Some(behind) = rest.strip_prefix('&') {
        let resolved = behind.split_once(';').and_then(|(inside, after)| {
            let character = match inside.strip_prefix('#') {
                Some(digits) => reference_code(digits).and_then(char::from_u32),
                None => predefined(inside),
            };
            Some((character?, after))
        });
        rest = match resolved {
            Some((character, after)) => {
                text.push(character);
                after
            }
            None => {
                text.push('&');
                behind
            }
        };
        let plain = rest.find('&').unwrap_or(rest.len());
        text.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(xml: &str) -> Result<Vec<String>, Problem> {
        let mut scanner = Scanner::new(xml);
        let mut tokens = Vec::new();
        while let Some(token) = scanner.next_token().map_err(|fault| fault.problem)? {
            tokens.push(match token {
                Token::Start { name, empty } => {
                    let attributes = scanner.attributes().iter();
                    let attributes: Vec<_> = attributes.map(|one| format!(" {}={}", one.name, one.value)).collect();
                    format!("<{name}{}{}", attributes.concat(), if empty { "/>" } else { ">" })
                }
                Token::End { name } => format!("</{name}>"),
                Token::Text(text) => format!("text {text}"),
                Token::Section(text) => format!("section {text}"),
                Token::Comment => "comment".to_owned(),
                Token::Instruction => "instruction".to_owned(),
                Token::Declaration => "declaration".to_owned(),
            });
        }
        Ok(tokens)
    }

    fn problem(xml: &str) -> Problem {
        scan(xml).unwrap_err()
    }

    #[test]
    fn every_kind_of_token_is_read() {
        let tokens = scan(
            "\u{FEFF}<?xml version='1.0'?><!-- c --><a b=\"1\"  c = 'x>\"y'>t&amp;u<![CDATA[<&]]><?p i?><é:ü/></a >",
        )
        .unwrap();
        assert_eq!(
            tokens,
            [
                "declaration",
                "comment",
                "<a b=1 c=x>\"y>",
                "text t&amp;u",
                "section <&",
                "instruction",
                "<é:ü/>",
                "</a>"
            ]
        );
    }

    #[test]
    fn malformed_tags_are_refused() {
        for xml in ["<a b>", "<a b=1>", "<a b=\"1\"c=\"2\">", "<a / >", "</a b>", "<a ,>"] {
            assert!(matches!(problem(xml), Problem::MalformedTag(_)), "{xml}");
        }
        for xml in ["< a>", "<1>", "<>", "</>", "<!ELEMENT a>", "<a b='<'>"] {
            assert_eq!(problem(xml), Problem::StrayLessThan, "{xml}");
        }
    }

    #[test]
    fn names_with_misplaced_colons_are_refused() {
        for xml in ["<:a>", "<a:>", "<a:b:c>", "<a:1>", "<a x:y:z='1'>"] {
            assert!(matches!(problem(xml), Problem::BadName(_)), "{xml}");
        }
    }

    #[test]
    fn text_cut_off_anywhere_is_refused() {
        for xml in ["<a", "<a b='1", "</a", "<!-- ", "<![CDATA[ ]]", "<?pi "] {
            assert!(matches!(problem(xml), Problem::CutOff(_)), "{xml}");
        }
    }

    #[test]
    fn only_the_five_entities_are_known() {
        assert!(scan("<a b='&lt;&quot;'>&lt;&gt;&amp;&apos;&quot;</a>").is_ok());
        assert_eq!(problem("&nbsp;"), Problem::UnknownEntity("nbsp".into()));
        assert_eq!(problem("<a b='&auml;'/>"), Problem::UnknownEntity("auml".into()));
        for xml in ["AT&T", "a & b", "&;", "&#;", "&#x;", "&#12", "&#1a;", "&#X41;", "&"] {
            assert_eq!(problem(xml), Problem::StrayAmpersand, "{xml}");
        }
    }

    #[test]
    fn illegal_characters_and_references_to_them_are_refused() {
        assert_eq!(problem("a\u{1}"), Problem::IllegalCharacter(1));
        assert_eq!(problem("<a b='\u{FFFF}'/>"), Problem::IllegalCharacter(0xFFFF));
        assert_eq!(problem("<![CDATA[\u{b}]]>"), Problem::IllegalCharacter(0xB));
        assert_eq!(problem("<!--\u{b}-->"), Problem::IllegalCharacter(0xB));
        assert_eq!(problem("&#0;"), Problem::IllegalReference("0".into()));
        assert_eq!(problem("&#xD800;"), Problem::IllegalReference("xD800".into()));
        assert_eq!(
            problem("&#99999999999;"),
            Problem::IllegalReference("99999999999".into())
        );
        assert!(scan("\u{FFFD}\u{F000}\u{10FFFF}&#x10FFFF;&#9;").is_ok());
    }

    #[test]
    fn doctype_is_refused_in_any_case() {
        assert_eq!(problem("<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"), Problem::Doctype);
        assert_eq!(problem("<!doctype html>"), Problem::Doctype);
    }

    #[test]
    fn section_ends_comments_and_instructions_obey_their_rules() {
        assert_eq!(problem("a]]>b"), Problem::StraySectionEnd);
        assert_eq!(problem("<!-- a -- b -->"), Problem::BadComment);
        assert_eq!(problem("<!-- a --->"), Problem::BadComment);
        assert_eq!(
            problem("<a/><?xml version='1.0'?>"),
            Problem::BadInstruction("xml".into())
        );
        assert_eq!(problem("<??>"), Problem::BadInstruction(String::new()));
        assert!(scan("a]]b] ]>").is_ok());
    }

    #[test]
    fn repeated_attributes_are_refused() {
        assert_eq!(problem("<a b='1' b='2'/>"), Problem::RepeatedAttribute("b".into()));
    }

    #[test]
    fn attributes_beyond_the_bound_are_refused() {
        let many: String = (0..=MAX_ATTRIBUTES).map(|n| format!(" a{n}=''")).collect();
        assert_eq!(
            problem(&format!("<a{many}/>")),
            Problem::TooManyAttributes(MAX_ATTRIBUTES)
        );
    }

    #[test]
    fn unescape_leaves_what_is_no_reference() {
        assert_eq!(unescape("a & b &nope; &#x41;&lt;"), "a & b &nope; A<");
        assert!(matches!(unescape("plain"), Cow::Borrowed(_)));
    }
}
