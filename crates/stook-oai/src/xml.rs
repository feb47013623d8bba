//! XML text: escaping on the way out, and the question which characters
//! XML 1.0 can carry at all.
//!
//! Strings enter, bytes that are safe as element text or as a double-quoted
//! attribute value leave. Characters that XML 1.0 forbids are written as
//! U+FFFD, so that whatever is handed in, the document stays well-formed; a
//! caller who wants to refuse such text asks [`is_xml_text`] first.

/// How the writer has to treat one byte of UTF-8.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Copied as it is.
    Plain,
    /// `& < > "` and carriage return: always written as a reference.
    Markup,
    /// Tab and line feed: an attribute value would be normalised to spaces by
    /// the receiving parser, element text keeps them.
    Space,
    /// A control character that XML 1.0 forbids.
    Forbidden,
    /// First byte of U+F000 to U+FFFF, where the two noncharacters live.
    Suspect,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 0x20 {
        classes[byte] = Class::Forbidden;
        byte += 1;
    }
    classes[b'\t' as usize] = Class::Space;
    classes[b'\n' as usize] = Class::Space;
    // A bare CR would come back as LF (XML 1.0 §2.11).
    classes[b'\r' as usize] = Class::Markup;
    classes[b'&' as usize] = Class::Markup;
    classes[b'<' as usize] = Class::Markup;
    classes[b'>' as usize] = Class::Markup;
    classes[b'"' as usize] = Class::Markup;
    classes[0xEF] = Class::Suspect;
    classes
};

const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// Whether XML 1.0 allows this character in a document.
///
/// ```
/// assert!(stook_oai::xml::is_xml_char('é'));
/// assert!(!stook_oai::xml::is_xml_char('\u{b}'));
/// ```
#[must_use]
pub fn is_xml_char(character: char) -> bool {
    !matches!(character,
        '\u{0}'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

/// Whether every character of `text` may appear in an XML 1.0 document.
#[must_use]
pub fn is_xml_text(text: &str) -> bool {
    first_forbidden(text.as_bytes()).is_none()
}

/// The byte offset of the first character that XML 1.0 forbids.
///
/// `text` is taken to be UTF-8; other bytes are not this function's concern.
#[must_use]
pub fn first_forbidden(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let offset = next_suspect(text, from)?;
        if text[offset] != 0xEF || is_noncharacter(&text[offset..]) {
            return Some(offset);
        }
        from = offset + 1;
    }
}

/// The next byte that is forbidden, or begins U+F000 to U+FFFF.
fn next_suspect(text: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 32;
    let is_suspect = |byte: u8| {
        let control = (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
        control | (byte == 0xEF)
    };
    let mut at = from;
    for block in text[from..].chunks_exact(BLOCK) {
        // No branch inside, so that the compiler compares many bytes at once.
        if block.iter().fold(false, |found, byte| found | is_suspect(*byte)) {
            break;
        }
        at += BLOCK;
    }
    let offset = text[at..].iter().position(|byte| is_suspect(*byte))?;
    Some(at + offset)
}

/// Appends `text` so that it is safe between two tags.
pub fn push_text(out: &mut Vec<u8>, text: &str) {
    push_escaped(out, text.as_bytes(), false);
}

/// Appends `text` so that it is safe inside a double-quoted attribute value.
pub fn push_attribute_value(out: &mut Vec<u8>, text: &str) {
    push_escaped(out, text.as_bytes(), true);
}

/// Appends ` name="value"`. The name must be an XML name.
pub fn push_attribute(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(b' ');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    push_attribute_value(out, value);
    out.push(b'"');
}

/// Appends `<name>`. The name must be an XML name.
pub fn push_start(out: &mut Vec<u8>, name: &str) {
    out.push(b'<');
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

/// Appends `</name>`. The name must be an XML name.
pub fn push_end(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b"</");
    out.extend_from_slice(name.as_bytes());
    out.push(b'>');
}

/// Appends `<name>text</name>`. The name must be an XML name.
pub fn push_element(out: &mut Vec<u8>, name: &str, text: &str) {
    push_start(out, name);
    push_text(out, text);
    push_end(out, name);
}

/// Copies runs of plain bytes and stops only where something must change.
fn push_escaped(out: &mut Vec<u8>, text: &[u8], in_attribute: bool) {
    let is_plain = |byte: &u8| CLASSES[usize::from(*byte)] == Class::Plain;
    let mut run_start = 0;
    let mut offset = 0;
    while let Some(plain) = text[offset..].iter().position(|byte| !is_plain(byte)) {
        offset += plain;
        let byte = text[offset];
        let (replacement, width): (&[u8], usize) = match CLASSES[usize::from(byte)] {
            Class::Space if !in_attribute => {
                offset += 1;
                continue;
            }
            Class::Suspect if !is_noncharacter(&text[offset..]) => {
                offset += 1;
                continue;
            }
            Class::Suspect => (REPLACEMENT, 3),
            Class::Forbidden => (REPLACEMENT, 1),
            Class::Plain | Class::Markup | Class::Space => (reference(byte), 1),
        };
        out.extend_from_slice(&text[run_start..offset]);
        out.extend_from_slice(replacement);
        offset += width;
        run_start = offset;
    }
    out.extend_from_slice(&text[run_start..]);
}

fn reference(byte: u8) -> &'static [u8] {
    match byte {
        b'&' => b"&amp;",
        b'<' => b"&lt;",
        b'>' => b"&gt;",
        b'"' => b"&quot;",
        b'\t' => b"&#9;",
        b'\n' => b"&#10;",
        _ => b"&#13;",
    }
}

/// U+FFFE and U+FFFF are `EF BF BE` and `EF BF BF`.
fn is_noncharacter(text: &[u8]) -> bool {
    matches!(text, [0xEF, 0xBF, 0xBE | 0xBF, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &str) -> String {
        let mut out = Vec::new();
        push_text(&mut out, input);
        String::from_utf8(out).unwrap()
    }

    fn attribute(input: &str) -> String {
        let mut out = Vec::new();
        push_attribute_value(&mut out, input);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn markup_characters_become_references() {
        assert_eq!(
            text(r#"a & b < c > "d" 'e'"#),
            "a &amp; b &lt; c &gt; &quot;d&quot; 'e'"
        );
    }

    #[test]
    fn text_without_markup_is_copied() {
        assert_eq!(text("Größe 中文 😀\n\t"), "Größe 中文 😀\n\t");
        assert_eq!(text(""), "");
    }

    #[test]
    fn white_space_survives_an_attribute_value() {
        assert_eq!(attribute("a\tb\nc\rd"), "a&#9;b&#10;c&#13;d");
    }

    #[test]
    fn a_carriage_return_survives_text() {
        assert_eq!(text("a\r\nb"), "a&#13;\nb");
    }

    #[test]
    fn forbidden_characters_become_the_replacement_character() {
        assert_eq!(
            text("a\u{0}b\u{1f}c\u{FFFE}d\u{FFFF}"),
            "a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}"
        );
    }

    #[test]
    fn neighbours_of_the_noncharacters_are_kept() {
        assert_eq!(text("\u{F000}\u{FFFD}\u{FFFC}"), "\u{F000}\u{FFFD}\u{FFFC}");
    }

    #[test]
    fn byte_scan_and_character_rule_agree() {
        for character in ('\u{0}'..='\u{3000}').chain('\u{F000}'..='\u{10010}') {
            assert_eq!(
                is_xml_text(&character.to_string()),
                is_xml_char(character),
                "U+{:04X}",
                u32::from(character)
            );
        }
    }
}
