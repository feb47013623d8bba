//! Bytes in whatever encoding → UTF-8.
//!
//! Which encoding, is asked in this order: a setting of the caller, a byte
//! order mark, the XML declaration, the charset of the HTTP header, UTF-8.
//! What is declared is believed until the bytes speak against it; then a
//! bounded stretch of them is looked at, once, and decides for the whole
//! response.

use std::collections::VecDeque;

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::Tolerance;
use super::declaration;

/// How many bytes decide about an encoding that is in doubt.
const EVIDENCE_BYTES: usize = 64 << 10;

const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// What is known about the encoding of a response besides the response.
///
/// Names are those of the WHATWG Encoding Standard, in any case; unknown ones
/// are as good as none ([`EncodingHint::is_known`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EncodingHint<'a> {
    /// What somebody who knows the repository says. Wins over everything.
    pub setting: Option<&'a str>,
    /// The `charset` of the HTTP header Content-Type. The XML declaration
    /// wins over it, because whoever writes the document knows better than
    /// whoever configures the server.
    pub charset: Option<&'a str>,
}

impl EncodingHint<'_> {
    /// Whether an encoding of this name can be decoded.
    ///
    /// ```
    /// use stook_oai::response::EncodingHint;
    ///
    /// assert!(EncodingHint::is_known("ISO-8859-1"));
    /// assert!(!EncodingHint::is_known("klingon"));
    /// ```
    #[must_use]
    pub fn is_known(name: &str) -> bool {
        encoding_named(name).is_some()
    }
}

/// The encoding of that name. ASCII is read as UTF-8, which it is a part of;
/// the standard would make it windows-1252.
pub(super) fn encoding_named(name: &str) -> Option<&'static Encoding> {
    let name = name.trim();
    if ["us-ascii", "ascii"]
        .iter()
        .any(|ascii| name.eq_ignore_ascii_case(ascii))
    {
        return Some(UTF_8);
    }
    Encoding::for_label_no_replacement(name.as_bytes())
}

/// Turns bytes into UTF-8 as they arrive.
pub(super) struct Decoding {
    setting: Option<&'static Encoding>,
    charset: Option<&'static Encoding>,
    state: State,
    /// Characters beyond ASCII that were good UTF-8 so far.
    beyond_ascii: u64,
    /// How much text has been made.
    produced: u64,
    /// What was tolerated, and at which byte of the text.
    pub(super) notes: VecDeque<(u64, Tolerance)>,
}

enum State {
    /// Nothing has been read.
    Start,
    /// Read as UTF-8.
    Utf8(Stray),
    /// Declared to be something else, with the tolerance needed if it is not;
    /// only ASCII so far, which says nothing.
    Declared(&'static Encoding, Tolerance),
    /// Read as something else.
    Other(Box<Decoder>),
}

/// What to do with bytes that are not UTF-8.
#[derive(Clone, Copy)]
enum Stray {
    /// Look at the evidence when the first one is met.
    Undecided,
    /// They are damage.
    Replaced,
    /// They are windows-1252, the superset of Latin-1. What is good UTF-8
    /// between them is still read as such: by chance it would not be.
    Windows1252,
}

impl Decoding {
    pub(super) fn new(hint: EncodingHint<'_>) -> Self {
        Self {
            setting: hint.setting.and_then(encoding_named),
            charset: hint.charset.and_then(encoding_named),
            state: State::Start,
            beyond_ascii: 0,
            produced: 0,
            notes: VecDeque::new(),
        }
    }

    /// Appends the text of `bytes` to `text` and says how many bytes that
    /// took. It may be fewer than all, or none, unless they are the last; then
    /// they must be handed in again, with more behind them.
    pub(super) fn decode(&mut self, bytes: &[u8], last: bool, text: &mut Vec<u8>) -> usize {
        let mut taken = 0;
        loop {
            let before = (taken, text.len());
            let rest = &bytes[taken..];
            let (length, again) = match &mut self.state {
                State::Start => self.begin(rest, last),
                State::Utf8(_) => self.decode_utf8(rest, last, text),
                State::Declared(..) => self.decode_declared(rest, last, text),
                State::Other(_) => self.decode_other(rest, last, text),
            };
            taken += length;
            self.produced += (text.len() - before.1) as u64;
            if !again {
                return taken;
            }
        }
    }

    fn note(&mut self, ahead: usize, tolerance: Tolerance) {
        self.notes.push_back((self.produced + ahead as u64, tolerance));
    }

    /// Decides what to begin with.
    fn begin(&mut self, bytes: &[u8], last: bool) -> (usize, bool) {
        if bytes.len() < declaration::LONGEST && !last {
            return (0, false);
        }
        let (mark, skip) = byte_order_mark(bytes);
        let declared = declaration::encoding_label(&bytes[skip..]);
        let declared = declared.and_then(|label| encoding_named(&label));
        let certain = self.setting.or(mark).or_else(|| utf16_without_mark(bytes));
        let (state, used) = match (certain, declared, self.charset) {
            (Some(encoding), ..) if encoding != UTF_8 => {
                self.note(0, Tolerance::OtherEncoding);
                (other(encoding), encoding)
            }
            (Some(_), ..) if self.setting.is_some() => (State::Utf8(Stray::Replaced), UTF_8),
            // A declaration that could be read without decoding it is not in UTF-16.
            (None, Some(encoding), _) if encoding == UTF_16LE || encoding == UTF_16BE => {
                self.note(0, Tolerance::WrongEncoding);
                (State::Utf8(Stray::Undecided), UTF_8)
            }
            (None, Some(encoding), _) if encoding != UTF_8 => {
                self.note(0, Tolerance::OtherEncoding);
                (doubted(encoding, Tolerance::WrongEncoding), encoding)
            }
            (None, None, Some(charset)) if charset != UTF_8 => (doubted(charset, Tolerance::WrongCharset), charset),
            _ => (State::Utf8(Stray::Undecided), UTF_8),
        };
        if self.charset.is_some_and(|charset| charset != used) {
            self.note(0, Tolerance::WrongCharset);
        }
        self.state = state;
        (skip, true)
    }

    fn decode_utf8(&mut self, bytes: &[u8], last: bool, text: &mut Vec<u8>) -> (usize, bool) {
        let State::Utf8(stray) = self.state else {
            return (0, false);
        };
        let good = match simdutf8::compat::from_utf8(bytes) {
            Ok(_) => bytes.len(),
            Err(error) => error.valid_up_to(),
        };
        self.count(stray, &bytes[..good]);
        text.extend_from_slice(&bytes[..good]);
        let rest = &bytes[good..];
        let bad = match str::from_utf8(&rest[..rest.len().min(4)]).map_err(|error| error.error_len()) {
            Ok(_) => return (good, false),
            Err(Some(length)) => &rest[..length],
            Err(None) if last => rest,
            Err(None) => return (good, false),
        };
        match stray {
            Stray::Undecided => {
                let evidence = &bytes[good..];
                if evidence.len() < EVIDENCE_BYTES && !last {
                    return (good, false);
                }
                let stray = self.judge(evidence);
                if matches!(stray, Stray::Windows1252) {
                    self.note(good, Tolerance::WrongEncoding);
                }
                self.state = State::Utf8(stray);
                return (good, true);
            }
            Stray::Replaced => {
                self.note(good, Tolerance::InvalidUtf8);
                text.extend_from_slice(REPLACEMENT);
            }
            Stray::Windows1252 => {
                let (characters, _) = WINDOWS_1252.decode_without_bom_handling(bad);
                text.extend_from_slice(characters.as_bytes());
            }
        }
        (good + bad.len(), true)
    }

    /// Counts characters beyond ASCII, as long as they may be evidence and do
    /// not outweigh any other.
    fn count(&mut self, stray: Stray, good: &[u8]) {
        let is_open = matches!(stray, Stray::Undecided) && self.beyond_ascii < EVIDENCE_BYTES as u64;
        if is_open && !good.is_ascii() {
            self.beyond_ascii += leads(good);
        }
    }

    /// What bytes are that are not UTF-8, where the text said to be in it.
    fn judge(&self, evidence: &[u8]) -> Stray {
        let evidence = &evidence[..evidence.len().min(EVIDENCE_BYTES)];
        let Evidence { good, cut, stray } = weigh(evidence);
        if stray > self.beyond_ascii + good + cut {
            Stray::Windows1252
        } else {
            Stray::Replaced
        }
    }

    fn decode_declared(&mut self, bytes: &[u8], last: bool, text: &mut Vec<u8>) -> (usize, bool) {
        let State::Declared(encoding, if_wrong) = self.state else {
            return (0, false);
        };
        let ascii = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
        text.extend_from_slice(&bytes[..ascii]);
        let evidence = &bytes[ascii..];
        if evidence.is_empty() || (evidence.len() < EVIDENCE_BYTES && !last) {
            return (ascii, false);
        }
        let Evidence { good, cut, stray } = weigh(&evidence[..evidence.len().min(EVIDENCE_BYTES)]);
        if good > 0 && cut + stray == 0 {
            // Text in any other encoding is not UTF-8 by chance.
            self.note(ascii, if_wrong);
            self.state = State::Utf8(Stray::Undecided);
        } else {
            self.state = other(encoding);
        }
        (ascii, true)
    }

    fn decode_other(&mut self, bytes: &[u8], last: bool, text: &mut Vec<u8>) -> (usize, bool) {
        let mut taken = 0;
        let before = text.len();
        loop {
            let State::Other(decoder) = &mut self.state else {
                return (taken, false);
            };
            let start = text.len();
            let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len() - taken);
            text.resize(start + room.unwrap_or(EVIDENCE_BYTES).max(16), 0);
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(&bytes[taken..], &mut text[start..], last);
            text.truncate(start + written);
            taken += read;
            match result {
                DecoderResult::InputEmpty => return (taken, false),
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    self.note(text.len() - before, Tolerance::InvalidUtf8);
                    text.extend_from_slice(REPLACEMENT);
                }
            }
        }
    }
}

impl std::fmt::Debug for Decoding {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let encoding = match &self.state {
            State::Start => "?",
            State::Utf8(_) => UTF_8.name(),
            State::Declared(encoding, _) => encoding.name(),
            State::Other(decoder) => decoder.encoding().name(),
        };
        formatter.debug_tuple("Decoding").field(&encoding).finish()
    }
}

fn other(encoding: &'static Encoding) -> State {
    State::Other(Box::new(encoding.new_decoder_without_bom_handling()))
}

/// Waits for the first byte beyond ASCII, if the encoding has ASCII at all.
fn doubted(encoding: &'static Encoding, if_wrong: Tolerance) -> State {
    if encoding.is_ascii_compatible() {
        State::Declared(encoding, if_wrong)
    } else {
        other(encoding)
    }
}

/// The encoding that a byte order mark tells, and how long the mark is.
fn byte_order_mark(bytes: &[u8]) -> (Option<&'static Encoding>, usize) {
    match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (Some(encoding), length),
        None => (None, 0),
    }
}

/// A document begins with `<`, which takes two bytes in UTF-16.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, ..] => Some(UTF_16LE),
        [0, b'<', ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// How bytes look if they are taken for UTF-8.
#[derive(Default)]
struct Evidence {
    /// Characters beyond ASCII.
    good: u64,
    /// Characters that lack their end: damaged UTF-8.
    cut: u64,
    /// Bytes that have nothing of UTF-8.
    stray: u64,
}

fn weigh(bytes: &[u8]) -> Evidence {
    let mut evidence = Evidence::default();
    let mut rest = bytes.len();
    for chunk in bytes.utf8_chunks() {
        evidence.good += leads(chunk.valid().as_bytes());
        rest -= chunk.valid().len() + chunk.invalid().len();
        match chunk.invalid().len() {
            0 => {}
            // The stretch may end inside a character.
            _ if rest == 0 && bytes.len() == EVIDENCE_BYTES => {}
            1 => evidence.stray += 1,
            _ => evidence.cut += 1,
        }
    }
    evidence
}

/// The number of bytes that begin a character beyond ASCII.
fn leads(text: &[u8]) -> u64 {
    // Sums of single bytes are made many at once; in so few they cannot overflow.
    let sums = text.chunks(u8::MAX.into()).map(|chunk| {
        let leads = chunk.iter().map(|byte| u8::from(*byte >= 0xC0));
        u64::from(leads.sum::<u8>())
    });
    sums.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8], hint: EncodingHint<'_>, step: usize) -> (String, Vec<Tolerance>) {
        let mut decoding = Decoding::new(hint);
        let (mut text, mut held) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(step) {
            held.extend_from_slice(piece);
            let taken = decoding.decode(&held, false, &mut text);
            held.drain(..taken);
        }
        let taken = decoding.decode(&held, true, &mut text);
        assert_eq!(taken, held.len());
        let notes = decoding.notes.iter().map(|(_, tolerance)| *tolerance).collect();
        (String::from_utf8(text).unwrap(), notes)
    }

    fn decodes(bytes: &[u8], hint: EncodingHint<'_>, text: &str, notes: &[Tolerance]) {
        for step in [1, 2, 3, 7, 100_000] {
            let (decoded, noted) = decode(bytes, hint, step);
            assert_eq!((decoded.as_str(), noted.as_slice()), (text, notes), "{step}");
        }
    }

    const NONE: EncodingHint<'static> = EncodingHint {
        setting: None,
        charset: None,
    };

    #[test]
    fn utf8_stays_as_it_is_without_its_mark() {
        decodes("<a>é中😀</a>".as_bytes(), NONE, "<a>é中😀</a>", &[]);
        decodes("\u{FEFF}<a/>".as_bytes(), NONE, "<a/>", &[]);
        decodes(b"", NONE, "", &[]);
        let declared = "<?xml version='1.0' encoding='us-ascii'?><a>é</a>";
        decodes(declared.as_bytes(), NONE, declared, &[]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_windows_1252_where_nothing_speaks_for_utf8() {
        decodes(
            b"<a>caf\xE9 \x93x\x94</a>",
            NONE,
            "<a>café “x”</a>",
            &[Tolerance::WrongEncoding],
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_damage_where_the_rest_is_utf8() {
        decodes(
            b"<a>\xC3\xA9\xC3\xA9 \xE9</a>",
            NONE,
            "<a>éé \u{FFFD}</a>",
            &[Tolerance::InvalidUtf8],
        );
        decodes(b"<a>\xE4\xB8</a>", NONE, "<a>\u{FFFD}</a>", &[Tolerance::InvalidUtf8]);
        decodes(b"\xE9 \xC3\xA9", NONE, "\u{FFFD} é", &[Tolerance::InvalidUtf8]);
    }

    #[test]
    fn a_declared_encoding_is_believed() {
        decodes(
            b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>",
            NONE,
            "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>",
            &[Tolerance::OtherEncoding],
        );
        decodes(
            b"<?xml version='1.0' encoding='windows-1251'?><a>\xCC\xE8\xF0</a>",
            NONE,
            "<?xml version='1.0' encoding='windows-1251'?><a>Мир</a>",
            &[Tolerance::OtherEncoding],
        );
        let charset = EncodingHint {
            charset: Some("iso-8859-1"),
            ..NONE
        };
        decodes(b"<a>\xE9</a>", charset, "<a>é</a>", &[]);
    }

    #[test]
    fn a_declared_encoding_is_not_believed_against_the_bytes() {
        decodes(
            "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>".as_bytes(),
            NONE,
            "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>",
            &[Tolerance::OtherEncoding, Tolerance::WrongEncoding],
        );
        decodes(
            "<?xml version='1.0' encoding='UTF-16'?><a>é</a>".as_bytes(),
            NONE,
            "<?xml version='1.0' encoding='UTF-16'?><a>é</a>",
            &[Tolerance::WrongEncoding],
        );
        let charset = EncodingHint {
            charset: Some("iso-8859-1"),
            ..NONE
        };
        decodes("<a>é</a>".as_bytes(), charset, "<a>é</a>", &[Tolerance::WrongCharset]);
    }

    #[test]
    fn the_declaration_wins_over_the_header_and_a_setting_over_both() {
        let document = b"<?xml version='1.0' encoding='windows-1252'?><a>\xE9</a>";
        let charset = EncodingHint {
            charset: Some("koi8-r"),
            ..NONE
        };
        let text = "<?xml version='1.0' encoding='windows-1252'?><a>é</a>";
        let notes = [Tolerance::OtherEncoding, Tolerance::WrongCharset];
        decodes(document, charset, text, &notes);
        let setting = EncodingHint {
            setting: Some("windows-1251"),
            charset: Some("koi8-r"),
        };
        decodes(document, setting, &text.replace('é', "й"), &notes);
    }

    #[test]
    fn utf16_is_known_with_and_without_its_mark() {
        let text = "<a>é😀</a>";
        for mark in ["\u{FEFF}", ""] {
            let units: Vec<u16> = format!("{mark}{text}").encode_utf16().collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            decodes(&little, NONE, text, &[Tolerance::OtherEncoding]);
            decodes(&big, NONE, text, &[Tolerance::OtherEncoding]);
            let odd = [Tolerance::OtherEncoding, Tolerance::InvalidUtf8];
            decodes(&little[..little.len() - 1], NONE, "<a>é😀</a\u{FFFD}", &odd);
        }
    }

    #[test]
    fn evidence_may_end_inside_a_character() {
        let mut document = b"<?xml version='1.0' encoding='ISO-8859-1'?>".to_vec();
        document.extend("é中".repeat(30_000).into_bytes());
        let (text, notes) = decode(&document, NONE, 10_000);
        assert!(text.ends_with("é中"));
        assert_eq!(notes, [Tolerance::OtherEncoding, Tolerance::WrongEncoding]);
    }
}
