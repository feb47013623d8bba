//! What stands before a stylesheet's first element: its encoding, and entities of its own.
//!
//! Bytes enter. Text leaves in which nothing is left to be declared: no XML declaration, no document type, every entity
//! replaced by its characters. Lines stay where they were. So what is inspected afterwards is what will be run, and
//! nothing can hide behind an entity or be fetched as one.

use super::Complaint;

/// Most bytes of one stylesheet, as written and with its entities replaced.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// The text of a stylesheet, by its byte order mark or its declaration, otherwise UTF-8.
pub(super) fn decode(bytes: &[u8]) -> Result<String, Complaint> {
    let declared = || encoding_rs::Encoding::for_label(declared_encoding(bytes)?);
    let (encoding, bytes) = match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, bytes.get(length..).unwrap_or_default()),
        None => (declared().unwrap_or(encoding_rs::UTF_8), bytes),
    };
    match encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => Ok(text.into_owned()),
        None => Err(Complaint::new(
            1,
            format!("it is not written in {}, as it says", encoding.name()),
            "save it in UTF-8",
        )),
    }
}

fn declared_encoding(bytes: &[u8]) -> Option<&[u8]> {
    let declaration = bytes.get(..bytes.len().min(200))?;
    let end = declaration.windows(2).position(|two| two == b"?>")?;
    let declaration = declaration.get(..end).filter(|text| text.starts_with(b"<?xml"))?;
    let at = declaration.windows(8).position(|word| word == b"encoding")?;
    let mut quoted = declaration.get(at..)?.split(|byte| matches!(byte, b'"' | b'\''));
    quoted.nth(1)
}

/// Text without declarations; see above.
pub(super) fn plain(text: &str) -> Result<String, Complaint> {
    let mut cursor = Cursor { text, at: 0 };
    if cursor.rest().starts_with("<?xml") && cursor.rest()[5..].starts_with([' ', '\t', '\r', '\n']) {
        cursor.skip_past("?>", "the XML declaration")?;
    }
    let mut entities = Vec::new();
    // The declaration and the document type are blanked, what stands between them is not.
    let mut prolog = lines_of(&text[..cursor.at]);
    loop {
        let start = cursor.at;
        cursor.skip_space();
        if cursor.rest().starts_with("<!--") {
            cursor.skip_past("-->", "a comment")?;
        } else if cursor.rest().starts_with("<?") {
            cursor.skip_past("?>", "a processing instruction")?;
        } else if cursor.take("<!DOCTYPE") {
            document_type(&mut cursor, &mut entities)?;
            prolog.push_str(&lines_of(&text[start..cursor.at]));
            continue;
        } else {
            cursor.at = start;
            break;
        }
        prolog.push_str(&text[start..cursor.at]);
    }
    replaced(prolog, cursor, &entities)
}

/// Only the line breaks of a text.
fn lines_of(text: &str) -> String {
    text.chars().filter(|sign| *sign == '\n').collect()
}

/// An entity: its name and its characters, ready to be written anywhere.
type Entity<'t> = (&'t str, String);

/// `<!DOCTYPE name [<!ENTITY name "text">…]>`, from behind the first word. Anything else in it could fetch or change
/// what the inspection sees.
fn document_type<'t>(cursor: &mut Cursor<'t>, entities: &mut Vec<Entity<'t>>) -> Result<(), Complaint> {
    cursor.skip_space();
    cursor.name()?;
    cursor.skip_space();
    if cursor.rest().starts_with("SYSTEM") || cursor.rest().starts_with("PUBLIC") {
        return Err(cursor.complaint(
            "its document type is kept elsewhere, which is not fetched",
            "take the DOCTYPE out, and write the characters its entities stand for",
        ));
    }
    if cursor.take("[") {
        loop {
            cursor.skip_space();
            if cursor.take("]") {
                break;
            } else if cursor.rest().starts_with("<!--") {
                cursor.skip_past("-->", "a comment")?;
            } else if cursor.take("<!ENTITY") {
                entities.push(entity(cursor)?);
            } else {
                return Err(cursor.complaint(
                    "its document type declares something other than entities",
                    "take it out; a stylesheet needs no other declarations",
                ));
            }
        }
        cursor.skip_space();
    }
    if cursor.take(">") {
        return Ok(());
    }
    Err(cursor.complaint("its document type declaration is malformed", "take it out"))
}

/// ` name "text">`.
fn entity<'t>(cursor: &mut Cursor<'t>) -> Result<Entity<'t>, Complaint> {
    cursor.skip_space();
    if cursor.rest().starts_with('%') {
        return Err(cursor.complaint("it declares a parameter entity", "take it out"));
    }
    let name = cursor.name()?;
    cursor.skip_space();
    let rest = cursor.rest();
    let Some(quote) = rest.chars().next().filter(|sign| matches!(sign, '"' | '\'')) else {
        return Err(cursor.complaint(
            &format!("the entity {name} is kept elsewhere, which is not read"),
            "write what it stands for",
        ));
    };
    let Some(value) = rest[1..]
        .split(quote)
        .next()
        .filter(|value| value.len() + 1 < rest.len())
    else {
        return Err(cursor.complaint("an entity is cut off", "end it with a quotation mark"));
    };
    let Some(characters) = characters(value) else {
        return Err(cursor.complaint(
            &format!("the entity {name} stands for more than characters"),
            "write what it stands for in its place",
        ));
    };
    cursor.at += value.len() + 2;
    cursor.skip_space();
    if !cursor.take(">") {
        return Err(cursor.complaint(
            &format!("the entity {name} is malformed"),
            "write <!ENTITY name \"text\">",
        ));
    }
    Ok((name, characters))
}

/// The characters of an entity as references, which cannot be taken for markup; `None` if it holds markup itself or
/// refers to other entities.
fn characters(value: &str) -> Option<String> {
    let mut plain = String::new();
    let mut rest = value;
    while let Some(sign) = rest.chars().next() {
        let (sign, length) = match rest.strip_prefix("&#") {
            Some(reference) => {
                let (digits, _) = reference.split_once(';')?;
                let code = match digits.strip_prefix('x') {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => digits.parse(),
                };
                (char::from_u32(code.ok()?)?, digits.len() + 3)
            }
            None => (sign, sign.len_utf8()),
        };
        match sign {
            '<' | '&' | '%' => return None,
            // A blank of an entity is a blank wherever it is used, and a line break would move the lines below.
            ' ' | '\t' | '\r' | '\n' => plain.push(' '),
            sign => plain.push_str(&format!("&#{};", u32::from(sign))),
        }
        rest = rest.get(length..)?;
    }
    Some(plain)
}

/// The text behind the prolog with its entities replaced, except where `&` means nothing.
fn replaced(prolog: String, mut cursor: Cursor<'_>, entities: &[Entity<'_>]) -> Result<String, Complaint> {
    let mut plain = prolog;
    if entities.is_empty() {
        plain.push_str(cursor.rest());
        return Ok(plain);
    }
    while let Some(next) = cursor.rest().find(['<', '&']) {
        let start = cursor.at;
        cursor.at += next;
        let mut entity = None;
        if cursor.rest().starts_with("<!--") {
            cursor.skip_past("-->", "a comment")?;
        } else if cursor.rest().starts_with("<![CDATA[") {
            cursor.skip_past("]]>", "a CDATA section")?;
        } else if cursor.rest().starts_with("<?") {
            cursor.skip_past("?>", "a processing instruction")?;
        } else {
            let name = referred(cursor.rest());
            entity = entities.iter().find(|(known, _)| Some(*known) == name);
            cursor.at += usize::from(entity.is_none());
        }
        plain.push_str(&cursor.text[start..cursor.at]);
        if let Some((name, characters)) = entity {
            plain.push_str(characters);
            cursor.at += name.len() + 2;
        }
        if plain.len() > MOST_BYTES {
            return Err(cursor.complaint("its entities make it enormous", "write what they stand for"));
        }
    }
    plain.push_str(cursor.rest());
    Ok(plain)
}

/// The name in `&name;` at the beginning of a text. The end is not looked for through the whole text.
fn referred(text: &str) -> Option<&str> {
    let end = text.bytes().take(200).position(|byte| byte == b';')?;
    text[..end].strip_prefix('&')
}

/// A place in a text.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, word: &str) -> bool {
        let is_there = self.rest().starts_with(word);
        self.at += if is_there { word.len() } else { 0 };
        is_there
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn skip_past(&mut self, end: &str, what: &str) -> Result<(), Complaint> {
        match self.rest().find(end) {
            Some(length) => {
                self.at += length + end.len();
                Ok(())
            }
            None => Err(self.complaint(&format!("{what} does not end"), &format!("end it with {end}"))),
        }
    }

    /// A name; what follows it is looked at by whoever comes next.
    fn name(&mut self) -> Result<&'t str, Complaint> {
        let rest = self.rest();
        let is_end = |sign: char| sign.is_whitespace() || "[]<>\"'&;%".contains(sign);
        let name = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        if name.is_empty() {
            return Err(self.complaint("a name is missing in its document type", "take it out"));
        }
        self.at += name.len();
        Ok(name)
    }

    fn complaint(&self, what: &str, remedy: &str) -> Complaint {
        Complaint::new(super::line_at(self.text, self.at), what, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        plain(text).unwrap_err().to_string()
    }

    #[test]
    fn entities_become_their_characters_and_lines_stay() {
        let text = "<?xml version=\"1.0\"\n?>\n<!-- é -->\n<!DOCTYPE x [\n<!ENTITY a \"&#160;b\">\n<!-- c -->]>\n<x y=\"&a;\">&a;&lt;<!-- &a; --><![CDATA[&a;]]></x>";
        let plain = plain(text).unwrap();
        assert_eq!(
            plain,
            "\n\n<!-- é -->\n\n\n\n<x y=\"&#160;&#98;\">&#160;&#98;&lt;<!-- &a; --><![CDATA[&a;]]></x>"
        );
        assert_eq!(plain.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn whatever_is_kept_elsewhere_or_hides_markup_is_refused_with_its_line() {
        for (text, part) in [
            (
                "<!DOCTYPE x SYSTEM \"x.dtd\"><x/>",
                "line 1: its document type is kept elsewhere",
            ),
            (
                "<!DOCTYPE x\n[<!ENTITY a SYSTEM \"/etc/passwd\">]><x>&a;</x>",
                "line 2: the entity a is kept elsewhere",
            ),
            (
                "<!DOCTYPE x [<!ENTITY a \"&#60;x/>\">]><x>&a;</x>",
                "stands for more than characters",
            ),
            (
                "<!DOCTYPE x [<!ENTITY a \"&b;\">]><x>&a;</x>",
                "stands for more than characters",
            ),
            ("<!DOCTYPE x [<!ENTITY % a \"b\">%a;]><x/>", "a parameter entity"),
            (
                "<!DOCTYPE x [<!ATTLIST x select CDATA \"document('a')\">]><x/>",
                "other than entities",
            ),
            ("<!DOCTYPE x [<!ENTITY a \"b", "cut off"),
            ("<!DOCTYPE x [", "other than entities"),
            ("<!DOCTYPE", "a name is missing"),
            ("<!-- ", "does not end"),
            ("<?xml version", "does not end"),
        ] {
            let told = refused(text);
            assert!(told.contains(part), "{text}: {told}");
        }
    }

    #[test]
    fn an_entity_cannot_make_a_stylesheet_enormous() {
        let value = "é".repeat(10_000);
        let text = format!("<!DOCTYPE x [<!ENTITY a \"{value}\">]><x>{}</x>", "&a;".repeat(10_000));
        assert!(refused(&text).contains("enormous"));
    }

    #[test]
    fn encodings_are_those_of_the_mark_or_the_declaration() {
        assert_eq!(decode("\u{FEFF}<a/>".as_bytes()).unwrap(), "<a/>");
        let declared = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>";
        assert!(decode(declared).unwrap().ends_with("<a>é</a>"));
        let utf_16: Vec<u8> = "\u{FEFF}<a>é</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&utf_16).unwrap(), "<a>é</a>");
        assert!(decode(b"<a>\xE9</a>").unwrap_err().to_string().contains("UTF-8"));
    }
}
