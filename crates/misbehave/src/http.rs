//! HTTP/1.1 as far as this server needs it: a request from a stream, and the
//! head of a reply. The reply's body may be told in repeated pieces, so that a
//! gigabyte costs no memory.

use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpStream;
use std::time::Duration;

use crate::asked::header;
use crate::fault::Fault;

/// The longest head or form that is read.
const LONGEST_REQUEST: u64 = 1 << 20;

/// A request as it came.
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The query; of a POST its form too.
    pub(crate) query: String,
    pub(crate) headers: Vec<(String, String)>,
    /// Which of the server's addresses it came to.
    pub(crate) door: usize,
}

impl Incoming {
    /// Reads the next request of a connection; none when it has ended.
    pub(crate) fn read(stream: &mut BufReader<TcpStream>, door: usize) -> io::Result<Option<Self>> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if stream.by_ref().take(LONGEST_REQUEST).read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let line = line.trim_end_matches(['\r', '\n']);
            if line.is_empty() && !lines.is_empty() {
                break;
            }
            if !line.is_empty() {
                lines.push(line.to_owned());
            }
        }
        let mut lines = lines.into_iter();
        let mut words = lines.next().unwrap_or_default();
        words = words.replace("  ", " ");
        let mut words = words.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let (path, mut query) = split_target(words.next().unwrap_or_default());
        let headers: Vec<(String, String)> = lines.filter_map(|line| split_header(&line)).collect();
        if header(&headers, "Transfer-Encoding").is_some() {
            pass_chunks(stream)?;
        } else if method == "POST" {
            let form = read_form(stream, &headers)?;
            let both = !query.is_empty() && !form.is_empty();
            query = [query.as_str(), if both { "&" } else { "" }, &form].concat();
        }
        Ok(Some(Self {
            method,
            path,
            query,
            headers,
            door,
        }))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// Path and query, as a Location repeats them.
    pub(crate) fn target(&self) -> String {
        if self.query.is_empty() {
            self.path.clone()
        } else {
            format!("{}?{}", self.path, self.query)
        }
    }
}

/// Path and query; a client that takes this server for its proxy sends a
/// whole URL.
fn split_target(target: &str) -> (String, String) {
    let target = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => target,
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    (path.to_owned(), query.to_owned())
}

fn split_header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    Some((name.to_owned(), value.trim().to_owned()))
}

fn read_form(stream: &mut impl Read, headers: &[(String, String)]) -> io::Result<String> {
    let length = header(headers, "Content-Length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    let mut form = Vec::new();
    stream.take(u64::min(length, LONGEST_REQUEST)).read_to_end(&mut form)?;
    Ok(String::from_utf8_lossy(&form).into_owned())
}

/// Reads a body in chunks away, or it would be taken for the next request.
fn pass_chunks(stream: &mut impl BufRead) -> io::Result<()> {
    loop {
        let mut line = String::new();
        stream.by_ref().take(LONGEST_REQUEST).read_line(&mut line)?;
        let size = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
        // The end of a chunk, or of all of them, is an empty line.
        io::copy(&mut stream.by_ref().take(size.min(LONGEST_REQUEST)), &mut io::sink())?;
        stream.by_ref().take(LONGEST_REQUEST).read_line(&mut line)?;
        if size == 0 {
            return Ok(());
        }
    }
}

/// A body in pieces, each sent so many times.
#[derive(Default)]
pub(crate) struct Body(Vec<(Vec<u8>, u64)>);

/// A piece that is sent until nobody listens any more.
pub(crate) const FOR_EVER: u64 = u64::MAX;

impl Body {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self(vec![(bytes, 1)])
    }

    pub(crate) fn then(mut self, bytes: impl Into<Vec<u8>>, times: u64) -> Self {
        self.0.push((bytes.into(), times));
        self
    }

    pub(crate) fn pieces(&self) -> &[(Vec<u8>, u64)] {
        &self.0
    }

    /// Its length; none if it never ends.
    pub(crate) fn length(&self) -> Option<u64> {
        let mut length = 0_u64;
        for (bytes, times) in &self.0 {
            if *times == FOR_EVER {
                return None;
            }
            length += bytes.len() as u64 * times;
        }
        Some(length)
    }

    /// All pieces once, for faults that need the document in memory.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
            .into_iter()
            .flat_map(|(bytes, _)| bytes)
            .collect()
    }
}

/// An answer on its way out.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    /// How it travels, if not as it should.
    pub(crate) delivery: Option<Fault>,
    /// How long it is held back.
    pub(crate) delay: Duration,
    /// Between two bytes that are sent slowly.
    pub(crate) pause: Duration,
    /// How large what is large is.
    pub(crate) size: u64,
}

impl Reply {
    pub(crate) fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![("Content-Type".to_owned(), content_type.to_owned())],
            body: Body::new(body),
            delivery: None,
            delay: Duration::ZERO,
            pause: Duration::ZERO,
            size: 0,
        }
    }

    pub(crate) fn xml(body: Vec<u8>) -> Self {
        Self::new(200, "text/xml; charset=UTF-8", body)
    }

    /// A page for people: what a web server or a proxy says in its own name.
    pub(crate) fn html(status: u16, title: &str, text: &str) -> Self {
        let page = format!(
            "<!DOCTYPE html>\n<html><head><title>{title}</title></head>\n<body><h1>{title}</h1>\n{text}\n</body></html>\n"
        );
        Self::new(status, "text/html; charset=utf-8", page.into_bytes())
    }

    /// The same reply with a header set.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.set_header(name, value);
        self
    }

    pub(crate) fn set_header(&mut self, name: &str, value: &str) {
        self.headers.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// The head without the empty line that ends it, so that more can follow.
    pub(crate) fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_request_is_understood_as_one_for_its_path() {
        let split = |target: &str| split_target(target);
        assert_eq!(
            split("http://h:1/oai?verb=Identify"),
            ("/oai".to_owned(), "verb=Identify".to_owned())
        );
        assert_eq!(split("/oai"), ("/oai".to_owned(), String::new()));
        assert_eq!(split("/?u=http%3A"), ("/".to_owned(), "u=http%3A".to_owned()));
    }

    #[test]
    fn an_endless_body_has_no_length() {
        assert_eq!(Body::new(vec![1]).then("ab", 1 << 29).length(), Some(1 + (1 << 30)));
        assert_eq!(Body::new(vec![1]).then("ab", FOR_EVER).length(), None);
    }
}
