//! The XML declaration at the beginning of a document.

use super::decode::encoding_named;
use crate::response::read::{Tag, is_utf8};

/// The longest beginning of a document in which a declaration is looked for.
pub(super) const LONGEST: usize = 1024;

/// What replaces a declaration that no longer holds.
pub(super) const UTF_8: &[u8] = b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// What stands between `<?` and `?>` of the declaration that `document` begins
/// with, and how long the declaration is.
pub(super) fn find(document: &[u8]) -> Option<(&str, usize)> {
    let inside = document.strip_prefix(b"<?")?;
    if !inside.starts_with(b"xml")
        || !inside
            .get(3)
            .is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'?')
    {
        return None;
    }
    let inside = &inside[..inside.len().min(LONGEST)];
    let end = inside.windows(2).position(|pair| pair == b"?>")?;
    let text = str::from_utf8(&inside[..end]).ok()?;
    Some((text, end + 4))
}

/// The encoding that the bytes of a document declare, read as ASCII. White
/// space before the declaration, which it must not have, does not hide it.
pub(super) fn encoding_label(document: &[u8]) -> Option<String> {
    let start = document.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let (inside, _) = find(&document[start..])?;
    let tag = Tag::parse(inside).ok()?;
    Some(tag.attribute("encoding")?.into_owned())
}

/// What has to be done about a declaration at its place, if anything.
pub(super) enum Verdict {
    /// It may stay.
    Fine,
    /// It no longer holds, because the text is UTF-8 now.
    Outdated,
    /// It never held.
    Odd,
}

pub(super) fn judge(inside: &str) -> Verdict {
    let Ok(tag) = Tag::parse(inside) else {
        return Verdict::Odd;
    };
    let encoding = tag.attribute("encoding");
    let version = tag.attribute("version");
    match (version.as_deref(), encoding.as_deref()) {
        (Some("1.0"), None) => Verdict::Fine,
        (Some("1.0"), Some(label)) if is_utf8(label) => Verdict::Fine,
        (Some("1.0"), Some(label)) if encoding_named(label).is_some() => Verdict::Outdated,
        _ => Verdict::Odd,
    }
}
