//! Cutting and mending bytes of a document that this crate itself wrote, so
//! that searching for a tag is enough to find it.

/// Where `needle` begins.
pub(crate) fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// Every `from` replaced.
pub(crate) fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = find(rest, from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// The first `from` replaced.
pub(crate) fn replace_first(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    match find(bytes, from) {
        Some(at) => [&bytes[..at], to, &bytes[at + from.len()..]].concat(),
        None => bytes.to_vec(),
    }
}

/// Every element `name` that has no attributes replaced by what `edit` makes of
/// its text; none removes it.
pub(crate) fn edit_elements(bytes: &[u8], name: &str, edit: impl Fn(&str) -> Option<String>) -> Vec<u8> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = find(rest, start.as_bytes()) {
        let inside = &rest[at + start.len()..];
        let Some(length) = find(inside, end.as_bytes()) else {
            break;
        };
        out.extend_from_slice(&rest[..at]);
        if let Some(text) = edit(&String::from_utf8_lossy(&inside[..length])) {
            out.extend_from_slice(format!("{start}{text}{end}").as_bytes());
        }
        rest = &inside[length + end.len()..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_edited_or_removed() {
        let bytes = b"<x><a>1</a><b>2</b><a>3</a></x>";
        let doubled = edit_elements(bytes, "a", |text| Some(text.repeat(2)));
        assert_eq!(doubled, b"<x><a>11</a><b>2</b><a>33</a></x>");
        assert_eq!(edit_elements(bytes, "a", |_| None), b"<x><b>2</b></x>");
    }

    #[test]
    fn replacing_does_not_look_at_what_it_wrote() {
        assert_eq!(replace(b"aab", b"a", b"aa"), b"aaaab");
        assert_eq!(replace_first(b"aab", b"a", b""), b"ab");
    }
}
