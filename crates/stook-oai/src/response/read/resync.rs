//! Where to go on behind an entry whose XML is broken.
//!
//! Nothing inside such an entry can be trusted, so its tags are looked at as
//! bytes: it ends with its own end tag, or before something that can only
//! stand behind it.

/// What ends a broken entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Boundary {
    /// Its end tag begins here.
    EndTag(usize),
    /// Something begins here that does not belong to it.
    Before(usize),
}

/// What a stretch of bytes showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    Found(Boundary),
    /// Nothing before this place; go on here, with more bytes behind.
    Open(usize),
}

/// Looks for the boundary of one broken entry.
#[derive(Debug)]
pub(super) struct Resync {
    /// The qualified name of the entry.
    name: String,
    /// The qualified name of what a record begins with.
    header: String,
    token: String,
    /// The elements around the entry.
    parents: Vec<String>,
    /// How many elements of the entry's own name are open: MARC has records too.
    open: u32,
}

/// The longest tag that is looked at whole.
const LONGEST_TAG: usize = 4096;

impl Resync {
    pub(super) fn new(name: &str, parents: &[String]) -> Self {
        let prefix = name.split_once(':').map(|(prefix, _)| format!("{prefix}:"));
        let prefix = prefix.unwrap_or_default();
        Self {
            name: name.to_owned(),
            header: format!("{prefix}header"),
            token: format!("{prefix}resumptionToken"),
            parents: parents.to_vec(),
            open: 1,
        }
    }

    /// Looks through `bytes` from the place where the last search was left;
    /// `last` if no more will come.
    pub(super) fn search(&mut self, bytes: &[u8], from: usize, last: bool) -> Search {
        let mut at = from;
        let last_end = memchr::memrchr(b'>', bytes);
        while let Some(offset) = memchr::memchr(b'<', &bytes[at..]) {
            at += offset;
            let tag = &bytes[at..];
            let whole = tag.len() >= LONGEST_TAG || last || last_end.is_some_and(|end| end > at);
            if !whole {
                return Search::Open(at);
            }
            if is_tag(tag, "</", &self.name) {
                self.open -= 1;
                if self.open == 0 {
                    return Search::Found(Boundary::EndTag(at));
                }
            } else if is_tag(tag, "<", &self.name) {
                match self.begins_another(tag, last) {
                    None => return Search::Open(at),
                    Some(true) => return Search::Found(Boundary::Before(at)),
                    Some(false) if is_empty_tag(tag) => {}
                    Some(false) => self.open += 1,
                }
            } else if is_tag(tag, "<", &self.token) || self.parents.iter().any(|parent| is_tag(tag, "</", parent)) {
                return Search::Found(Boundary::Before(at));
            }
            at += 1;
        }
        Search::Open(bytes.len())
    }

    /// Whether a start tag of the entry's name begins another entry: for a
    /// record, because a header follows. Nothing if that cannot be told yet.
    fn begins_another(&self, tag: &[u8], last: bool) -> Option<bool> {
        if !self.name.ends_with("record") {
            return Some(true);
        }
        let enough = tag.len() >= LONGEST_TAG || last;
        let tag = &tag[..tag.len().min(LONGEST_TAG)];
        let behind = match memchr::memchr(b'>', tag) {
            Some(end) => tag[end + 1..].trim_ascii_start(),
            None => return Some(false),
        };
        let may_follow = behind.is_empty() || (behind[0] == b'<' && behind.len() <= self.header.len() + 1);
        if !enough && may_follow {
            return None;
        }
        Some(is_tag(behind, "<", &self.header))
    }
}

/// Whether a tag begins with `start` and has this name.
fn is_tag(tag: &[u8], start: &str, name: &str) -> bool {
    let behind = tag
        .strip_prefix(start.as_bytes())
        .and_then(|tag| tag.strip_prefix(name.as_bytes()));
    behind
        .and_then(<[u8]>::first)
        .is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'))
}

fn is_empty_tag(tag: &[u8]) -> bool {
    let tag = &tag[..tag.len().min(LONGEST_TAG)];
    memchr::memchr(b'>', tag).is_some_and(|end| tag[..end].ends_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundary(name: &str, document: &str, step: usize) -> Option<Boundary> {
        let parents = ["OAI-PMH".to_owned(), "ListRecords".to_owned()];
        let mut resync = Resync::new(name, &parents);
        let mut from = document.find('>').unwrap() + 1;
        let mut length = from;
        loop {
            let last = length == document.len();
            match resync.search(&document.as_bytes()[..length], from, last) {
                Search::Found(boundary) => return Some(boundary),
                Search::Open(_) if last => return None,
                Search::Open(place) => from = place,
            }
            length = (length + step).min(document.len());
        }
    }

    #[test]
    fn a_broken_entry_ends_where_it_must() {
        for (document, is_end_tag) in [
            ("<record><a><b>|</record><record><header>", true),
            ("<record><record a='b'><leader/></record>|</record>", true),
            ("<record><record/>|</record>", true),
            ("<record><a>|<record x='y'>\n <header>", false),
            ("<record><a>|<resumptionToken/>", false),
            ("<record><a>|</ListRecords>", false),
            ("<record><recorder></records>|</OAI-PMH>", false),
        ] {
            let place = document.find('|').unwrap();
            let expected = if is_end_tag {
                Boundary::EndTag(place)
            } else {
                Boundary::Before(place)
            };
            let document = document.replace('|', "");
            for step in 1..20 {
                assert_eq!(boundary("record", &document, step), Some(expected), "{document} {step}");
            }
        }
        assert_eq!(boundary("header", "<header><a><header>", 5), Some(Boundary::Before(11)));
        assert_eq!(boundary("o:record", "<o:record><record><header></record>", 5), None);
    }
}
