//! A naive client over raw HTTP: it sees what travels, not what a library
//! makes of it.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use misbehave::Expected;
use stook_oai::response::{Event, ResponseReader};
use stook_oai::xml;

/// What came back, as far as it came.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    /// 0 if there was none.
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// The message was complete by its own account.
    pub(crate) complete: bool,
    /// The connection was reset.
    pub(crate) reset: bool,
    pub(crate) took: Duration,
}

impl Got {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines
            .into_iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }

    /// The value of the resumption token, unescaped; none if there is no
    /// element.
    pub(crate) fn token(&self) -> Option<String> {
        let text = self.text();
        let (_, rest) = text.split_once("<resumptionToken")?;
        let (_, rest) = rest.split_once('>')?;
        let value = rest.split("</resumptionToken>").next()?;
        Some(value.replace("&quot;", "\"").replace("&amp;", "&"))
    }

    pub(crate) fn has(&self, needle: &str) -> bool {
        self.text().contains(needle)
    }

    pub(crate) fn count(&self, needle: &str) -> usize {
        self.text().matches(needle).count()
    }

    pub(crate) fn error(&self) -> Option<String> {
        let text = self.text();
        let (_, rest) = text.split_once("<error code=\"")?;
        rest.split('"').next().map(str::to_owned)
    }

    /// The identifiers of headers, in order.
    pub(crate) fn identifiers(&self) -> Vec<String> {
        let text = self.text();
        let pieces = text.split("<identifier>").skip(1);
        pieces
            .filter_map(|piece| Some(piece.split_once("</identifier>")?.0.to_owned()))
            .collect()
    }
}

/// How much of an answer is waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    pub(crate) bytes: usize,
    pub(crate) time: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            bytes: 8 << 20,
            time: Duration::from_secs(10),
        }
    }
}

/// Asks a base URL a query (already encoded).
pub(crate) fn ask(base_url: &str, query: &str) -> Got {
    ask_with(base_url, query, "User-Agent: naive\r\n", Patience::default())
}

pub(crate) fn ask_with(base_url: &str, query: &str, headers: &str, patience: Patience) -> Got {
    let url = if query.is_empty() {
        base_url.to_owned()
    } else if base_url.contains('?') {
        format!("{base_url}&{query}")
    } else {
        format!("{base_url}?{query}")
    };
    let rest = url.split_once("://").unwrap().1;
    let (authority, target) = rest.split_once('/').unwrap();
    let request = format!("GET /{target} HTTP/1.1\r\nHost: {authority}\r\n{headers}Connection: close\r\n\r\n");
    exchange(authority, request.as_bytes(), patience)
}

pub(crate) fn post(base_url: &str, form: &str) -> Got {
    let rest = base_url.split_once("://").unwrap().1;
    let (authority, target) = rest.split_once('/').unwrap();
    let length = form.len();
    let request = format!(
        "POST /{target} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{form}"
    );
    exchange(authority, request.as_bytes(), Patience::default())
}

/// Sends bytes and reads until the answer is complete or patience ends.
pub(crate) fn exchange(authority: &str, request: &[u8], patience: Patience) -> Got {
    let started = Instant::now();
    let mut stream = TcpStream::connect(authority).unwrap();
    stream.write_all(request).unwrap();
    let mut bytes = Vec::new();
    let mut reset = false;
    let mut buffer = vec![0; 64 << 10];
    while bytes.len() < patience.bytes && !is_complete(&bytes) {
        let left = patience.time.saturating_sub(started.elapsed());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left)).unwrap();
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => bytes.extend_from_slice(&buffer[..length]),
            Err(error) => {
                reset = error.kind() == std::io::ErrorKind::ConnectionReset;
                break;
            }
        }
    }
    let mut got = split(&bytes);
    got.reset = reset;
    got.took = started.elapsed();
    got
}

fn is_complete(bytes: &[u8]) -> bool {
    // Only a length can tell; chunks and the rest are read to the end.
    split(bytes).header("Content-Length").is_some() && split(bytes).complete
}

fn split(bytes: &[u8]) -> Got {
    let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let head = String::from_utf8_lossy(&bytes[..head_end.unwrap_or(bytes.len())]).into_owned();
    let raw = head_end.map_or(&[][..], |end| &bytes[end + 4..]);
    let status = head
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3)?.parse().ok())
        .unwrap_or(0);
    let mut got = Got {
        status,
        head,
        body: raw.to_vec(),
        complete: false,
        reset: false,
        took: Duration::ZERO,
    };
    if got.header("Transfer-Encoding").is_some() {
        (got.body, got.complete) = unchunk(raw);
    } else if let Some(length) = got
        .header("Content-Length")
        .and_then(|length| length.parse::<usize>().ok())
    {
        got.complete = raw.len() >= length;
        got.body.truncate(length);
    }
    got
}

/// The sizes of the chunks of a raw body.
fn unchunk(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(line) = raw.windows(2).position(|window| window == b"\r\n") else {
            return (body, false);
        };
        let size = usize::from_str_radix(&String::from_utf8_lossy(&raw[..line]), 16).unwrap_or(0);
        raw = &raw[line + 2..];
        if size == 0 {
            return (body, true);
        }
        let length = size.min(raw.len());
        body.extend_from_slice(&raw[..length]);
        raw = raw.get(size + 2..).unwrap_or_default();
    }
}

/// Percent-encodes everything but letters and digits.
pub(crate) fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

/// Follows a list to its end; every page must be good.
pub(crate) fn pages(base_url: &str, query: &str) -> Vec<Got> {
    let verb = query.split('&').next().unwrap();
    let mut pages = vec![ask(base_url, query)];
    while let Some(token) = pages.last().unwrap().token().filter(|token| !token.is_empty()) {
        assert!(pages.len() < 10_000, "the list does not end");
        pages.push(ask(base_url, &format!("{verb}&resumptionToken={}", encode(&token))));
    }
    pages
}

/// What a naive harvest of a list ends with.
pub(crate) fn harvest(base_url: &str, query: &str) -> BTreeMap<String, Expected> {
    let mut held = BTreeMap::new();
    for page in pages(base_url, query) {
        assert_eq!(page.status, 200, "{}", page.text());
        let mut reader = ResponseReader::new(&page.body[..]);
        while let Some(event) = reader.next().unwrap() {
            let Event::Record(record) = event else { continue };
            let header = record.header;
            let metadata = metadata_in(&page.text(), header.identifier.as_str());
            let expected = Expected {
                datestamp: header.datestamp.first_second().unix(),
                deleted: header.deleted,
                set_specs: header.set_specs.iter().map(ToString::to_string).collect(),
                metadata,
            };
            let before = held.insert(header.identifier.to_string(), expected);
            assert!(before.is_none(), "{} twice", header.identifier);
        }
    }
    held
}

/// The bytes inside `metadata`, cut out of the document as it came.
fn metadata_in(document: &str, identifier: &str) -> Option<Vec<u8>> {
    let mut element = Vec::new();
    xml::push_element(&mut element, "identifier", identifier);
    let (_, rest) = document.split_once(std::str::from_utf8(&element).unwrap())?;
    let record = rest.split("</record>").next()?;
    let (_, inside) = record.split_once("<metadata>")?;
    Some(inside.split_once("</metadata>")?.0.as_bytes().to_vec())
}
