//! A query string → names and values.
//!
//! Bytes of a URL's query or of a form body enter; what leaves is text that
//! XML can carry. Values are decoded exactly once. Nothing is repaired: a
//! value that is not decodable is kept as a fault, next to its name.

use std::borrow::Cow;

use crate::types::{ErrorCode, Excerpt, OaiError};
use crate::xml;

/// More arguments than any request has; the rest of the query is not read.
const MAX_PAIRS: usize = 100;

/// One `name=value`, the value as far as it could be understood.
pub(super) struct Given<'a> {
    pub(super) name: Cow<'a, str>,
    /// The value, or what is wrong with it (a sentence's predicate).
    pub(super) value: Result<Cow<'a, str>, String>,
}

impl<'a> Given<'a> {
    pub(super) fn new(name: Cow<'a, str>, value: Cow<'a, str>) -> Self {
        let value = match forbidden_character(&value) {
            None => Ok(value),
            Some(fault) => Err(fault),
        };
        Self { name, value }
    }

    /// The fault of the value as an error of the response.
    fn error(&self) -> Option<OaiError> {
        let fault = self.value.as_ref().err()?;
        Some(if self.name == "verb" {
            OaiError::new(ErrorCode::BadVerb, format!("The verb {fault}."))
        } else {
            let name = Excerpt(&self.name);
            OaiError::new(ErrorCode::BadArgument, format!("The value of {name} {fault}."))
        })
    }
}

/// Takes a query string (or a form body) apart and decodes it: `+` is a space,
/// `%HH` a byte of UTF-8. An empty query has no pairs.
///
/// # Errors
///
/// One error for each value that is not valid percent-encoding, not UTF-8, or
/// holds a character that XML cannot carry: badVerb if it is the verb,
/// badArgument otherwise. [`Request::parse_query`](super::Request::parse_query)
/// reports these together with all other faults.
///
/// ```
/// use stook_oai::request::decode_query;
///
/// let pairs = decode_query(b"verb=GetRecord&identifier=oai%3Ax%3Aa+b").unwrap();
/// assert_eq!(pairs[1], ("identifier".to_owned(), "oai:x:a b".to_owned()));
/// assert!(decode_query(b"set=%ZZ").is_err());
/// ```
pub fn decode_query(query: &[u8]) -> Result<Vec<(String, String)>, Vec<OaiError>> {
    let given = split_query(query)?;
    let faults: Vec<OaiError> = given.iter().filter_map(Given::error).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(given
        .into_iter()
        .filter_map(|given| Some((given.name.into_owned(), given.value.ok()?.into_owned())))
        .collect())
}

/// Takes a query apart, keeping values that cannot be decoded as faults.
pub(super) fn split_query(query: &[u8]) -> Result<Vec<Given<'static>>, Vec<OaiError>> {
    let pairs = query.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
    let mut given = Vec::new();
    for pair in pairs {
        if given.len() == MAX_PAIRS {
            let message = format!("The request has more than {MAX_PAIRS} arguments.");
            return Err(vec![OaiError::new(ErrorCode::BadArgument, message)]);
        }
        given.push(decode_pair(pair));
    }
    Ok(given)
}

fn decode_pair(pair: &[u8]) -> Given<'static> {
    let (name, value) = match pair.iter().position(|byte| *byte == b'=') {
        Some(equals) => (&pair[..equals], &pair[equals + 1..]),
        None => (pair, &[][..]),
    };
    // A name that cannot be decoded is no name of ours; it will be reported
    // as unknown, in the form in which it was sent.
    let name = decode(name).unwrap_or_else(|_| String::from_utf8_lossy(name).into_owned());
    match decode(value) {
        Ok(value) => Given::new(name.into(), value.into()),
        Err(fault) => Given {
            name: name.into(),
            value: Err(fault),
        },
    }
}

fn decode(encoded: &[u8]) -> Result<String, String> {
    let mut decoded = Vec::with_capacity(encoded.len());
    let mut offset = 0;
    while let Some(&byte) = encoded.get(offset) {
        offset += 1;
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let escaped = encoded.get(offset..offset + 2).and_then(decode_hex);
                offset += 2;
                escaped.ok_or_else(|| invalid_escape(encoded))?
            }
            _ => byte,
        });
    }
    String::from_utf8(decoded).map_err(|_| {
        let sent = String::from_utf8_lossy(encoded);
        format!("is not UTF-8 when decoded: {}", Excerpt(&sent))
    })
}

fn decode_hex(digits: &[u8]) -> Option<u8> {
    let mut byte = 0;
    for digit in digits {
        byte = byte << 4 | u8::try_from(char::from(*digit).to_digit(16)?).ok()?;
    }
    Some(byte)
}

fn invalid_escape(encoded: &[u8]) -> String {
    let sent = String::from_utf8_lossy(encoded);
    format!(
        "holds a % that is not followed by two hexadecimal digits (a % itself is written %25): {}",
        Excerpt(&sent)
    )
}

fn forbidden_character(value: &str) -> Option<String> {
    let offset = xml::first_forbidden(value.as_bytes())?;
    let found = value[offset..].chars().next()?;
    let code = u32::from(found);
    Some(format!(
        "holds the character U+{code:04X}, which XML cannot carry: {}",
        Excerpt(value)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(query: &str) -> Vec<(String, String)> {
        decode_query(query.as_bytes()).unwrap()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn only_fault(query: &[u8]) -> OaiError {
        let mut faults = decode_query(query).unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    #[test]
    fn names_and_values_are_decoded_once() {
        assert_eq!(decoded("a=b%2Fc%3a"), [pair("a", "b/c:")]);
        assert_eq!(decoded("a=%2541"), [pair("a", "%41")]);
        assert_eq!(decoded("a=1+2%2B3"), [pair("a", "1 2+3")]);
        assert_eq!(decoded("%76erb=Identify"), [pair("verb", "Identify")]);
        assert_eq!(decoded("a=%C3%A9é"), [pair("a", "éé")]);
    }

    #[test]
    fn separators_without_a_pair_are_skipped() {
        assert_eq!(decoded(""), []);
        assert_eq!(decoded("&&a=1&"), [pair("a", "1")]);
    }

    #[test]
    fn a_pair_may_lack_its_value_or_hold_more_equals_signs() {
        assert_eq!(
            decoded("a&b=&=c&d=e=f"),
            [pair("a", ""), pair("b", ""), pair("", "c"), pair("d", "e=f")]
        );
    }

    #[test]
    fn broken_escapes_are_faults() {
        for query in ["set=%", "set=%4", "set=%4G", "set=a%é", "set=%+1"] {
            let fault = only_fault(query.as_bytes());
            assert_eq!(fault.code, ErrorCode::BadArgument);
            assert!(fault.message.contains("\"set\""), "{}", fault.message);
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_a_fault() {
        // Latin-1, an overlong slash, a surrogate.
        for query in [&b"set=%E9"[..], b"set=%C0%AF", b"set=%ED%A0%80", b"set=\xFF"] {
            assert_eq!(only_fault(query).code, ErrorCode::BadArgument);
        }
    }

    #[test]
    fn characters_that_xml_cannot_carry_are_faults() {
        for query in ["identifier=a%00b", "identifier=%0B", "identifier=%EF%BF%BF"] {
            let fault = only_fault(query.as_bytes());
            assert!(fault.message.contains("U+"), "{}", fault.message);
            assert!(xml::is_xml_text(&fault.message), "{:?}", fault.message);
        }
    }

    #[test]
    fn a_fault_of_the_verb_is_a_bad_verb() {
        assert_eq!(only_fault(b"verb=%ZZ").code, ErrorCode::BadVerb);
        assert_eq!(only_fault(b"verb=%00").code, ErrorCode::BadVerb);
    }

    #[test]
    fn all_faults_are_reported() {
        assert_eq!(decode_query(b"verb=%&set=%&from=1").unwrap_err().len(), 2);
    }

    #[test]
    fn a_query_of_a_thousand_arguments_is_refused() {
        assert_eq!(decoded(&"a=1&".repeat(100)).len(), 100);
        assert_eq!(only_fault("a=1&".repeat(1000).as_bytes()).code, ErrorCode::BadArgument);
    }
}
