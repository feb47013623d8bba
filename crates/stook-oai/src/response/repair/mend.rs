//! UTF-8 text → text that an XML parser gets through.
//!
//! Impossible characters go, bare ampersands are escaped, references that XML
//! does not know become what they mean, and XML declarations stay only at the
//! beginning. Inside comments, CDATA sections and processing instructions
//! nothing is touched but impossible characters.
//!
//! Text without such faults is looked through once, many bytes at a time, and
//! passed on without being copied.

use super::Tolerance;
use super::declaration::{self, Verdict};
use super::entities;
use crate::xml;

/// The longest reference that is looked at, from `&` to `;`. Longer ones are
/// numbers with an absurd number of zeros.
const LONGEST_REFERENCE: usize = 40;

/// Where in the document the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Context {
    /// Before the first byte.
    Start,
    /// In text or tags.
    Markup,
    /// In something that ends with these bytes.
    Verbatim(&'static [u8]),
}

/// What can be passed on, and what comes behind it.
#[derive(Debug)]
pub(super) struct Passage {
    /// So many bytes are good.
    pub(super) good: usize,
    /// They are followed by this fault; if by none, by text that cannot be
    /// judged before more of it is there.
    pub(super) fault: Option<Fault>,
}

/// Something to be replaced.
#[derive(Debug)]
pub(super) struct Fault {
    /// How long it is.
    pub(super) length: usize,
    /// What takes its place.
    pub(super) mended: Mended,
    /// What this is called; nothing if it was called something before.
    pub(super) tolerance: Option<Tolerance>,
}

/// What takes the place of a fault.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mended {
    /// Nothing.
    Nothing,
    /// A character.
    Character(char),
    /// The reference to `&`.
    Ampersand,
    /// The declaration of UTF-8.
    Declaration,
}

impl Mended {
    /// Appends it.
    pub(super) fn push_to(self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Character(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Self::Ampersand => out.extend_from_slice(b"&amp;"),
            Self::Declaration => out.extend_from_slice(declaration::UTF_8),
        }
    }
}

/// Finds faults, from the beginning of a document to its end.
#[derive(Debug)]
pub(super) struct Mending {
    context: Context,
    /// So many of the bytes to come are known to belong to the context.
    inside: usize,
}

/// What is known about a suspicious byte.
enum Suspicion {
    /// Nothing is wrong with it and the bytes behind it, so many altogether.
    Unfounded(usize),
    /// More bytes are needed, from this many before it on.
    Open(usize),
    /// It is a fault that begins so many bytes before it.
    Founded(usize, Fault),
}

impl Mending {
    pub(super) fn new() -> Self {
        Self {
            context: Context::Start,
            inside: 0,
        }
    }

    /// Looks at the text that follows what was passed on before.
    ///
    /// `text` consists of whole characters. If it is the `last`, all of it is
    /// judged.
    pub(super) fn examine(&mut self, text: &[u8], last: bool) -> Passage {
        if self.context == Context::Start
            && let Some(passage) = self.begin(text, last)
        {
            return passage;
        }
        let mut at = 0;
        loop {
            let outcome = match self.context {
                Context::Start | Context::Markup => self.examine_markup(text, &mut at, last),
                Context::Verbatim(end) => self.examine_verbatim(end, text, &mut at, last),
            };
            if let Some(passage) = outcome {
                return passage;
            }
        }
    }

    /// The declaration, if the document begins with one.
    fn begin(&mut self, text: &[u8], last: bool) -> Option<Passage> {
        if text.len() < declaration::LONGEST && !last {
            return Some(wait(0));
        }
        self.context = Context::Markup;
        let (inside, length) = declaration::find(text)?;
        let tolerance = match declaration::judge(inside) {
            Verdict::Fine => {
                self.context = Context::Verbatim(b"?>");
                return None;
            }
            Verdict::Outdated => None,
            Verdict::Odd => Some(Tolerance::OddDeclaration),
        };
        Some(Passage {
            good: 0,
            fault: Some(Fault {
                length,
                mended: Mended::Declaration,
                tolerance,
            }),
        })
    }

    fn examine_markup(&mut self, text: &[u8], at: &mut usize, last: bool) -> Option<Passage> {
        while let Some(suspect) = next_suspect(text, *at) {
            let suspicion = match text[suspect] {
                b'&' => reference(&text[suspect..], last),
                b'!' => self.section(text, suspect, last),
                b'?' => self.instruction(text, suspect, last),
                _ => character(&text[suspect..]),
            };
            match suspicion {
                Suspicion::Unfounded(length) => *at = suspect + length,
                Suspicion::Open(back) => return Some(wait(suspect - back)),
                Suspicion::Founded(back, fault) => {
                    return Some(Passage {
                        good: suspect - back,
                        fault: Some(fault),
                    });
                }
            }
            if self.context != Context::Markup {
                return None;
            }
        }
        // What follows a `<` must be seen together with it.
        let hold = usize::from(!last && text.ends_with(b"<"));
        Some(wait(text.len() - hold))
    }

    /// `!` behind `<` begins a comment or a CDATA section, if these follow.
    fn section(&mut self, text: &[u8], at: usize, last: bool) -> Suspicion {
        if !text[..at].ends_with(b"<") {
            return Suspicion::Unfounded(1);
        }
        let rest = &text[at..];
        for (start, end) in [(&b"!--"[..], &b"-->"[..]), (b"![CDATA[", b"]]>")] {
            if rest.starts_with(start) {
                self.context = Context::Verbatim(end);
                return Suspicion::Unfounded(start.len());
            }
            if start.starts_with(rest) && !last {
                return Suspicion::Open(1);
            }
        }
        Suspicion::Unfounded(1)
    }

    /// `?` behind `<` begins a processing instruction, or a declaration that
    /// has no business here.
    fn instruction(&mut self, text: &[u8], at: usize, last: bool) -> Suspicion {
        if !text[..at].ends_with(b"<") {
            return Suspicion::Unfounded(1);
        }
        let rest = &text[at - 1..];
        if let Some((_, length)) = declaration::find(rest) {
            let fault = Fault {
                length,
                mended: Mended::Nothing,
                tolerance: Some(Tolerance::NestedDeclaration),
            };
            return Suspicion::Founded(1, fault);
        }
        let may_be_declaration = b"<?xml".starts_with(&rest[..rest.len().min(5)]);
        if may_be_declaration && rest.len() < declaration::LONGEST && !last {
            return Suspicion::Open(1);
        }
        self.context = Context::Verbatim(b"?>");
        Suspicion::Unfounded(1)
    }

    fn examine_verbatim(&mut self, end: &'static [u8], text: &[u8], at: &mut usize, last: bool) -> Option<Passage> {
        if self.inside == 0 {
            let rest = &text[*at..];
            self.inside = match memchr::memmem::find(rest, end) {
                Some(offset) => offset + end.len(),
                None if last => rest.len(),
                // The end may have begun.
                None => whole_characters(rest, rest.len().saturating_sub(end.len() - 1)),
            };
            if self.inside == 0 {
                return Some(wait(*at));
            }
        }
        let stretch = &text[*at..*at + self.inside];
        if let Some(offset) = xml::first_forbidden(stretch) {
            let Suspicion::Founded(_, fault) = character(&stretch[offset..]) else {
                return Some(wait(*at));
            };
            self.inside -= offset + fault.length;
            return Some(Passage {
                good: *at + offset,
                fault: Some(fault),
            });
        }
        if stretch.ends_with(end) {
            self.context = Context::Markup;
        }
        *at += self.inside;
        self.inside = 0;
        None
    }
}

fn wait(good: usize) -> Passage {
    Passage { good, fault: None }
}

/// The last end of a character not behind `length`.
fn whole_characters(text: &[u8], mut length: usize) -> usize {
    while length > 0 && text.get(length).is_some_and(|byte| (0x80..0xC0).contains(byte)) {
        length -= 1;
    }
    length
}

/// The next byte that might be, or begin, a fault.
fn next_suspect(text: &[u8], from: usize) -> Option<usize> {
    const BLOCK: usize = 32;
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

fn is_suspect(byte: u8) -> bool {
    let control = (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    // U+FFFE and U+FFFF begin with 0xEF.
    control | (byte == b'&') | (byte == b'!') | (byte == b'?') | (byte == 0xEF)
}

/// A character that may be impossible in XML.
fn character(text: &[u8]) -> Suspicion {
    let length = match text {
        [0xEF, 0xBF, 0xBE | 0xBF, ..] => 3,
        [0xEF, ..] => return Suspicion::Unfounded(3),
        _ => 1,
    };
    Suspicion::Founded(
        0,
        Fault {
            length,
            mended: Mended::Nothing,
            tolerance: Some(Tolerance::ControlCharacters),
        },
    )
}

/// What `&…;` means.
enum Reference {
    /// One of XML's own.
    Known,
    /// An entity of HTML.
    Html(char),
    /// Half a character.
    Surrogate(u16),
    /// A character that XML forbids, or that does not exist.
    Forbidden,
}

/// What begins with `&`.
fn reference(text: &[u8], last: bool) -> Suspicion {
    let Some((found, length)) = read_reference(text) else {
        if may_continue(text) && !last {
            return Suspicion::Open(0);
        }
        return founded(1, Mended::Ampersand, Tolerance::BareAmpersand);
    };
    match found {
        Reference::Known => Suspicion::Unfounded(length),
        Reference::Html(character) => founded(length, Mended::Character(character), Tolerance::HtmlEntity),
        Reference::Forbidden => founded(length, Mended::Nothing, Tolerance::ForbiddenReference),
        Reference::Surrogate(first) => {
            let rest = &text[length..];
            let second = match read_reference(rest) {
                Some((Reference::Surrogate(second), more)) => Some((second, more)),
                None if !last && (rest.is_empty() || rest.starts_with(b"&") && may_continue(rest)) => {
                    return Suspicion::Open(0);
                }
                _ => None,
            };
            let pair = second.and_then(|(second, more)| {
                let character = char::decode_utf16([first, second]).next()?.ok()?;
                Some((character, length + more))
            });
            let (character, length) = pair.unwrap_or((char::REPLACEMENT_CHARACTER, length));
            founded(length, Mended::Character(character), Tolerance::SurrogateReference)
        }
    }
}

fn founded(length: usize, mended: Mended, tolerance: Tolerance) -> Suspicion {
    Suspicion::Founded(
        0,
        Fault {
            length,
            mended,
            tolerance: Some(tolerance),
        },
    )
}

/// Whether text that begins with `&` may turn out to be a reference.
fn may_continue(text: &[u8]) -> bool {
    text.len() < LONGEST_REFERENCE
        && text[1..]
            .iter()
            .enumerate()
            .all(|(index, byte)| byte.is_ascii_alphanumeric() || (index == 0 && *byte == b'#'))
}

/// The reference at the beginning of the text and its length, if there is one
/// that can be understood.
fn read_reference(text: &[u8]) -> Option<(Reference, usize)> {
    let inside = text.strip_prefix(b"&")?;
    let inside = &inside[..inside.len().min(LONGEST_REFERENCE)];
    let length = inside.iter().position(|byte| *byte == b';')?;
    let name = &inside[..length];
    let reference = match name.strip_prefix(b"#") {
        Some(number) => numeric_reference(number)?,
        None if matches!(name, b"amp" | b"lt" | b"gt" | b"quot" | b"apos") => Reference::Known,
        None => Reference::Html(entities::character(name)?),
    };
    Some((reference, length + 2))
}

fn numeric_reference(number: &[u8]) -> Option<Reference> {
    let (digits, radix) = match number.strip_prefix(b"x") {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    if digits.is_empty() {
        return None;
    }
    let mut code: u32 = 0;
    for digit in digits {
        let digit = char::from(*digit).to_digit(radix)?;
        code = code.saturating_mul(radix).saturating_add(digit);
    }
    Some(match u16::try_from(code) {
        Ok(half @ 0xD800..=0xDFFF) => Reference::Surrogate(half),
        _ => match char::from_u32(code).filter(|character| xml::is_xml_char(*character)) {
            Some(_) => Reference::Known,
            None => Reference::Forbidden,
        },
    })
}
