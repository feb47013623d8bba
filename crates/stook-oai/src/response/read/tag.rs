//! The inside of a start tag, taken apart strictly.
//!
//! The text between `<` and `>` enters; the name and the attributes leave.
//! Others find where tags begin and end; whether what is inside is well-formed
//! is decided here.

use std::borrow::Cow;
use std::collections::HashSet;

use super::error::ReadFault;
use crate::xml::is_xml_char;

/// A start tag or an empty-element tag.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::response) struct Tag<'a> {
    /// The name as it is written, with its prefix.
    pub(super) name: &'a str,
    pub(super) attributes: Vec<Attribute<'a>>,
}

/// An attribute, its value still with its references in it; they were checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::response) struct Attribute<'a> {
    pub(super) name: &'a str,
    raw_value: &'a str,
}

impl<'a> Attribute<'a> {
    /// The value with its references resolved and its white space normalised.
    pub(super) fn value(&self) -> Cow<'a, str> {
        let raw = self.raw_value;
        if !raw.bytes().any(|byte| matches!(byte, b'&' | b'\t' | b'\n' | b'\r')) {
            return Cow::Borrowed(raw);
        }
        let mut value = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(offset) = rest.find(['&', '\t', '\n', '\r']) {
            value.push_str(&rest[..offset]);
            rest = &rest[offset..];
            if let Some((name, after)) = rest.strip_prefix('&').and_then(|rest| rest.split_once(';')) {
                value.extend(resolve_reference(name));
                rest = after;
            } else {
                value.push(' ');
                rest = rest.strip_prefix("\r\n").unwrap_or(&rest[1..]);
            }
        }
        value.push_str(rest);
        Cow::Owned(value)
    }

    /// The prefix this attribute declares (empty: the default namespace), if
    /// it is a namespace declaration.
    pub(super) fn declared_prefix(&self) -> Option<&'a str> {
        if self.name == "xmlns" {
            Some("")
        } else {
            self.name.strip_prefix("xmlns:")
        }
    }
}

impl<'a> Tag<'a> {
    /// Takes apart what stands between `<` and `>` (or `/>`).
    pub(in crate::response) fn parse(inside: &'a str) -> Result<Self, ReadFault> {
        let name_end = inside.bytes().position(is_space_byte).unwrap_or(inside.len());
        let (name, mut rest) = inside.split_at(name_end);
        check_name(name)?;
        let mut attributes = Vec::new();
        loop {
            let trimmed = trim_start(rest);
            if trimmed.is_empty() {
                break;
            }
            if trimmed.len() == rest.len() {
                return Err(ill_formed("attributes must be separated by space", name));
            }
            let (attribute, after) = take_attribute(trimmed)?;
            attributes.push(attribute);
            rest = after;
        }
        check_unique(&attributes)?;
        Ok(Self { name, attributes })
    }

    /// The value of an attribute that has no prefix.
    pub(in crate::response) fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        self.attributes
            .iter()
            .find(|attribute| attribute.name == name)
            .map(Attribute::value)
    }

    pub(super) fn declares(&self, prefix: &str) -> bool {
        self.attributes
            .iter()
            .any(|attribute| attribute.declared_prefix() == Some(prefix))
    }
}

fn take_attribute(text: &str) -> Result<(Attribute<'_>, &str), ReadFault> {
    let name_end = text
        .bytes()
        .position(|byte| byte == b'=' || is_space_byte(byte))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(name_end);
    check_name(name)?;
    let rest = trim_start(rest)
        .strip_prefix('=')
        .ok_or_else(|| ill_formed("an attribute has no value", name))?;
    let rest = trim_start(rest);
    let quote = rest.bytes().next().filter(|quote| matches!(quote, b'"' | b'\''));
    let end = quote.and_then(|quote| memchr::memchr(quote, &rest.as_bytes()[1..]));
    let (raw_value, rest) = end
        .map(|end| (&rest[1..=end], &rest[end + 2..]))
        .ok_or_else(|| ill_formed("the value of an attribute is not quoted", name))?;
    check_value(name, raw_value)?;
    Ok((Attribute { name, raw_value }, rest))
}

fn check_value(name: &str, raw: &str) -> Result<(), ReadFault> {
    if memchr::memchr2(b'<', b'&', raw.as_bytes()).is_none() {
        return Ok(());
    }
    if raw.contains('<') {
        return Err(ill_formed("the value of an attribute holds <", name));
    }
    for after_ampersand in raw.split('&').skip(1) {
        match after_ampersand.split_once(';') {
            Some((reference, _)) if resolve_reference(reference).is_some() => {}
            Some((reference, _)) => return Err(ReadFault::UnknownReference(format!("&{reference};"))),
            None => return Err(ill_formed("the value of an attribute holds a bare &", name)),
        }
    }
    Ok(())
}

fn check_unique(attributes: &[Attribute<'_>]) -> Result<(), ReadFault> {
    // Comparing each with each is faster for the few that are usual; a set
    // keeps a hostile tag from costing the square of its length.
    let repeated = if attributes.len() <= 8 {
        attributes.iter().enumerate().find(|(index, attribute)| {
            attributes[..*index]
                .iter()
                .any(|earlier| earlier.name == attribute.name)
        })
    } else {
        let mut names = HashSet::with_capacity(attributes.len());
        attributes
            .iter()
            .enumerate()
            .find(|(_, attribute)| !names.insert(attribute.name))
    };
    match repeated {
        Some((_, attribute)) => Err(ill_formed("an attribute is repeated", attribute.name)),
        None => Ok(()),
    }
}

/// The character that a reference stands for: one of the five names, or a
/// number of a character that XML allows.
pub(super) fn resolve_reference(name: &str) -> Option<char> {
    let code = match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => name.strip_prefix('#')?,
    };
    let (digits, radix) = match code.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (code, 10),
    };
    // `from_str_radix` would accept a sign.
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    let code = u32::from_str_radix(digits, radix).ok()?;
    char::from_u32(code).filter(|character| is_xml_char(*character))
}

/// A name with at most one colon, and that inside. Letters beyond ASCII are
/// all taken for name characters.
fn check_name(name: &str) -> Result<(), ReadFault> {
    let fits = match split_prefix(name) {
        Some((prefix, local)) => is_name_part(prefix) && is_name_part(local),
        None => is_name_part(name),
    };
    if fits {
        Ok(())
    } else {
        Err(ill_formed("this is not a name", name))
    }
}

fn is_name_part(part: &str) -> bool {
    let begins = |byte: &u8| IN_NAMES[usize::from(*byte)] && !matches!(byte, b'-' | b'.' | b'0'..=b'9');
    part.as_bytes().first().is_some_and(begins) && part.bytes().all(|byte| IN_NAMES[usize::from(byte)])
}

/// The bytes that names consist of.
const IN_NAMES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = matches!(byte, b'-' | b'.' | b'_' | 0x80..) || byte.is_ascii_alphanumeric();
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

/// The prefix of a name, and the rest; nothing if it has no prefix.
pub(super) fn split_prefix(name: &str) -> Option<(&str, &str)> {
    let colon = name.bytes().position(|byte| byte == b':')?;
    Some((&name[..colon], &name[colon + 1..]))
}

fn is_space_byte(byte: u8) -> bool {
    is_space(char::from(byte))
}

fn trim_start(text: &str) -> &str {
    let length = text.bytes().position(|byte| !is_space_byte(byte)).unwrap_or(text.len());
    &text[length..]
}

pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

fn ill_formed(what: &str, name: &str) -> ReadFault {
    ReadFault::NotWellFormed(format!("{what}: {}", crate::types::Excerpt(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(inside: &str) -> Vec<(&str, String)> {
        let tag = Tag::parse(inside).unwrap();
        tag.attributes
            .iter()
            .map(|attribute| (attribute.name, attribute.value().into_owned()))
            .collect()
    }

    #[test]
    fn names_and_attributes_are_taken_apart() {
        assert_eq!(Tag::parse("a").unwrap().name, "a");
        assert_eq!(Tag::parse("dc:title ").unwrap().name, "dc:title");
        let expected = [
            ("b", "1".to_owned()),
            ("c:d", "x > 'y'".to_owned()),
            ("e", String::new()),
        ];
        assert_eq!(values("a b='1'\n c:d = \"x > 'y'\" e=''"), expected);
    }

    #[test]
    fn references_are_resolved_and_white_space_is_normalised() {
        let expected = [("b", "<&>\"'é \u{10FFFF} x  y\n".to_owned())];
        assert_eq!(
            values("a b='&lt;&amp;&gt;&quot;&apos;&#233; &#x10FFFF;\tx\r\n\ny&#10;'"),
            expected
        );
    }

    #[test]
    fn tags_that_are_not_well_formed_are_refused() {
        for bad in [
            "",
            " a",
            "1a",
            "-a",
            "a:",
            ":a",
            "a:b:c",
            "a<b",
            "a b",
            "a b=",
            "a b=c",
            "a b='c",
            "a b='c\"",
            "a b='1'c='2'",
            "a b='1' b='2'",
            "a b='<'",
            "a b='&'",
            "a b='& ;'",
            "a b='&nbsp;'",
            "a b='&#0;'",
            "a b='&#xD800;'",
            "a b='&#+5;'",
            "a b='&#;'",
            "a ='1'",
            "a /",
        ] {
            assert!(Tag::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_repetition_among_many_attributes_is_found() {
        let many: String = (0..1000).map(|number| format!(" a{number}=''")).collect();
        assert!(Tag::parse(&format!("x{many}")).is_ok());
        assert!(Tag::parse(&format!("x{many} a500=''")).is_err());
    }

    #[test]
    fn namespace_declarations_are_recognised() {
        let tag = Tag::parse("a xmlns='u' xmlns:b='v' xmlnsc='w'").unwrap();
        assert!(tag.declares("") && tag.declares("b") && !tag.declares("c"));
    }
}
