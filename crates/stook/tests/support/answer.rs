//! Asking a repository, and what its answers say.

use std::sync::atomic::{AtomicUsize, Ordering};

use stook::provider::Provider;
use stook_oai::response::{Event, ResponseReader};
use stook_oai::{Datestamp, ErrorCode, Header, Identify, MetadataFormat, Record, ResumptionToken, Set};

use super::envelope;
use super::xml::{self, Node};

/// An answer, taken apart.
#[derive(Debug)]
pub struct Seen {
    pub document: String,
    pub root: Node,
    pub response_date: Datestamp,
    pub codes: Vec<ErrorCode>,
    pub identify: Option<Identify>,
    pub formats: Vec<MetadataFormat>,
    pub sets: Vec<Set>,
    pub records: Vec<Record>,
    /// Of ListIdentifiers, or of the records.
    pub headers: Vec<Header>,
    pub token: Option<ResumptionToken>,
}

impl Seen {
    /// Reads an answer with the project's own strict reader and with an independent one.
    pub fn read(document: &[u8]) -> Seen {
        let document = String::from_utf8(document.to_vec()).expect("X-3: an answer is UTF-8");
        let root = xml::parse(&document).unwrap_or_else(|error| panic!("X-1: {error}\n{document}"));
        let mut seen = Seen {
            root,
            response_date: Datestamp::MIN,
            codes: vec![],
            identify: None,
            formats: vec![],
            sets: vec![],
            records: vec![],
            headers: vec![],
            token: None,
            document: String::new(),
        };
        let mut reader = ResponseReader::new(document.as_bytes());
        while let Some(event) = reader.next().unwrap_or_else(|error| panic!("{error}\n{document}")) {
            match event {
                Event::ResponseDate(date) => seen.response_date = date,
                Event::Request { .. } => {}
                Event::Error(error) => seen.codes.push(error.code),
                Event::UnknownError { code, .. } => panic!("{code} is not a code of the protocol\n{document}"),
                Event::Identify(identify) => seen.identify = Some(*identify),
                Event::MetadataFormat(format) => seen.formats.push(format),
                Event::Set(set) => seen.sets.push(set),
                Event::Header(header) => seen.headers.push(header),
                Event::Record(record) => {
                    seen.headers.push(record.header.clone());
                    seen.records.push(record);
                }
                Event::ResumptionToken(token) => seen.token = Some(token),
            }
        }
        seen.document = document;
        seen
    }

    /// The local parts of the identifiers, in order.
    pub fn locals(&self) -> Vec<&str> {
        self.headers
            .iter()
            .map(|header| header.identifier.as_str().splitn(3, ':').last().unwrap())
            .collect()
    }

    /// The token that leads to the next page.
    pub fn next_token(&self) -> Option<&str> {
        self.token
            .as_ref()
            .map(|token| token.value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// The element that answers: the third child of the root, or the first error.
    pub fn body(&self) -> &Node {
        &self.root.children[2]
    }

    /// What does not depend on when it was asked.
    pub fn timeless(&self) -> String {
        let mut text = self.document.clone();
        let mut blank = |from: &str, to: &str| {
            while let Some(start) = text.find(from) {
                let length = text[start + from.len()..].find(to).unwrap();
                text.replace_range(start..start + from.len() + length, "");
            }
        };
        blank("<responseDate>", "<");
        blank("expirationDate=\"", "\"");
        text
    }
}

/// Asks, and checks of the answer what holds for every answer.
pub fn ask(provider: &Provider, query: &str) -> Seen {
    let answer = provider.answer(query.as_bytes()).unwrap();
    let seen = Seen::read(&answer.xml);
    envelope::check(provider, query, &seen);
    assert_eq!(answer.errors, seen.codes, "what is counted is what is said");
    save(&seen.document);
    seen
}

/// Asks for something that is refused with exactly these codes.
pub fn refused(provider: &Provider, query: &str, codes: &[ErrorCode]) -> Seen {
    let seen = ask(provider, query);
    assert_eq!(seen.codes, codes, "{query}\n{}", seen.document);
    seen
}

/// Asks for something that is granted.
pub fn granted(provider: &Provider, query: &str) -> Seen {
    refused(provider, query, &[])
}

/// `verb=ListRecords&resumptionToken=…`
pub fn resume(verb: &str, token: &str) -> String {
    format!("verb={verb}&resumptionToken={}", super::encoded(token))
}

/// All pages of a list. Bounded, because a list that never ends is one of the faults to be found.
pub fn pages(provider: &Provider, query: &str) -> Vec<Seen> {
    let verb = query.split(['=', '&']).nth(1).unwrap();
    let mut pages = vec![granted(provider, query)];
    while let Some(token) = pages.last().unwrap().next_token() {
        let page = granted(provider, &resume(verb, token));
        pages.push(page);
        assert!(pages.len() < 200, "{query} does not end");
    }
    pages
}

/// The local identifiers of a whole list.
pub fn whole_list(provider: &Provider, query: &str) -> Vec<String> {
    let pages = pages(provider, query);
    pages.iter().flat_map(|page| page.locals()).map(str::to_owned).collect()
}

/// With `STOOK_SAVE_ANSWERS=FOLDER` every answer is kept there, so that all of them can be validated by a schema.
fn save(document: &str) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    if let Some(folder) = std::env::var_os("STOOK_SAVE_ANSWERS") {
        let name = format!("{}-{:05}.xml", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        std::fs::write(std::path::Path::new(&folder).join(name), document).unwrap();
    }
}
