//! The schema's `anyURI`: what an identifier in a request, a base URL or a
//! schema location must look like for a response that repeats it to be valid.

use super::flaw::{Flaw, illegal_character, is_reserved, is_unreserved};

/// What keeps validators from accepting `text` as an `xs:anyURI`; nothing if
/// they accept it.
///
/// That type is lenient: it allows relative references, spaces and letters of
/// any script, which are understood as if they were escaped. What remains is
/// the structure of RFC 3986. Brackets, which that structure has only around
/// the IPv6 address of a host, are refused everywhere.
///
/// ```
/// use stook_oai::any_uri_flaw;
///
/// assert_eq!(any_uri_flaw("https://example.org/oai?x=1"), None);
/// assert_eq!(any_uri_flaw("not really an identifier"), None);
/// assert!(any_uri_flaw("50% of it").is_some());
/// ```
#[must_use]
pub fn any_uri_flaw(text: &str) -> Option<Flaw> {
    flaw_of_characters(text).or_else(|| {
        let rest = match scheme_end(text) {
            Ok(end) => end,
            Err(flaw) => return Some(flaw),
        };
        flaw_of_authority(text, rest)
    })
}

/// The number of bytes of `scheme:` at the beginning; 0 if there is none.
fn scheme_end(text: &str) -> Result<usize, Flaw> {
    let first_segment = text.find(['/', '?', '#']).map_or(text, |end| &text[..end]);
    match first_segment.split_once(':') {
        None => Ok(0),
        Some((scheme, _)) if is_scheme(scheme) => Ok(scheme.len() + 1),
        Some(_) => Err(Flaw::NoScheme),
    }
}

/// Whether `text` may stand before the first colon of a URI.
pub(super) fn is_scheme(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

fn flaw_of_characters(text: &str) -> Option<Flaw> {
    let bytes = text.as_bytes();
    let mut fragment_seen = false;
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            b'%' => {
                let digits = bytes.get(offset + 1..offset + 3);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Some(Flaw::Escape { offset });
                }
            }
            b'[' | b']' => return Some(illegal_character(text, offset, "%5B and %5D")),
            b'#' if fragment_seen => {
                return Some(illegal_character(text, offset, "one # and, after it, %23"));
            }
            b'#' => fragment_seen = true,
            _ => {}
        }
    }
    None
}

/// Checks `//user@host:port` at `start`, if there is one.
fn flaw_of_authority(text: &str, start: usize) -> Option<Flaw> {
    let authority = text[start..].strip_prefix("//")?;
    let authority = authority
        .find(['/', '?', '#'])
        .map_or(authority, |end| &authority[..end]);
    let host_and_port = match authority.split_once('@') {
        Some((_, host_and_port)) if host_and_port.contains('@') => return Some(Flaw::Authority),
        Some((_, host_and_port)) => host_and_port,
        None => authority,
    };
    let (_, port) = host_and_port.split_once(':')?;
    let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    (!is_port).then_some(Flaw::Authority)
}

/// Whether a byte may stand in a URI unescaped, or is the `%` of an escape.
pub(super) fn is_uri_byte(byte: u8) -> bool {
    is_unreserved(byte) || is_reserved(byte) || matches!(byte, b'#' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_validators_accept_is_accepted() {
        for good in [
            "",
            "a b",
            "really_wrong_id",
            "invalid\"id",
            "é",
            "?a",
            "#",
            "a/b:c",
            "oai:x.y:a#b",
            "http://u:p@h:80/x?y#z",
            "http://é/",
            "//a:1/",
            "x:a@b:c",
            "x:\\",
        ] {
            assert_eq!(any_uri_flaw(good), None, "{good}");
        }
    }

    #[test]
    fn what_validators_refuse_is_refused() {
        for bad in [
            "a%",
            "%zz",
            "x:a%3",
            "x://a%2",
            "x://u%zz@h", // escapes
            ":a",
            "::",
            "1:2",
            "+a:b",
            "a_b:c",
            "é:b", // schemes
            "oai:x.y:a[b]",
            "[",
            "x://a/b[c]",
            "a#b#c", // characters
            "http://a:/x",
            "http://a:8x/",
            "//a:b/",
            "http://a:b:c",
            "x://a@b@c", // authorities
            "x://a:99999999999/",
        ] {
            assert!(any_uri_flaw(bad).is_some(), "{bad}");
        }
    }
}
