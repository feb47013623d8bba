//! Asks one question over HTTP: politely, bounded, and without hiding anything that came.
//!
//! Enters: a [`Question`]. Leaves: an [`Exchange`], whatever happened. It never judges.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use flate2::read::{GzDecoder, ZlibDecoder};
use ureq::Agent;
use ureq::config::Config as HttpConfig;
use ureq::http::{self, HeaderMap};
use ureq::unversioned::transport::DefaultConnector;
use url::Url;

use super::document::Document;
use super::exchange::{Answer, Exchange, Hop, NoAnswer, Question};
use crate::outward::{Guarded, base_url};

const MOST_REDIRECTS: usize = 5;
/// More "come back later" in a row than this is not a repository that can be tested.
const MOST_DELAYS: usize = 5;
const MOST_HEADER_BYTES: usize = 64 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How a repository is asked.
#[derive(Debug, Clone)]
pub struct Manners {
    /// Between two requests.
    pub pause: Duration,
    /// The longest "come back later" that is waited for.
    pub longest_wait: Duration,
    /// For one answer.
    pub timeout: Duration,
    /// Of one answer, unpacked.
    pub most_bytes: u64,
    /// Whom to write to about these requests.
    pub contact: String,
    /// Sent with each request to the repository's own host: credentials.
    pub headers: Vec<(String, String)>,
    /// Whether requests may go inside this network.
    pub inside: bool,
}

impl Default for Manners {
    fn default() -> Manners {
        Manners {
            pause: Duration::from_millis(200),
            longest_wait: Duration::from_secs(120),
            timeout: Duration::from_secs(60),
            most_bytes: 100_000_000,
            contact: String::new(),
            headers: Vec::new(),
            inside: true,
        }
    }
}

/// Asks one repository.
pub(crate) struct Asker<'a> {
    agent: Agent,
    base: Url,
    manners: Manners,
    stop: &'a AtomicBool,
    asked: u32,
    last: Option<Instant>,
}

impl<'a> Asker<'a> {
    /// Asks at a URL.
    ///
    /// # Errors
    /// When it is no web address.
    pub(crate) fn new(url: &str, manners: Manners, stop: &'a AtomicBool) -> Result<Asker<'a>> {
        let base = base_url(url, "--user NAME, or --header")?;
        let guard = if manners.inside {
            Guarded::of(&base, None)
        } else {
            Guarded::strict()
        };
        let config = HttpConfig::builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(MOST_HEADER_BYTES)
            .timeout_connect(Some(CONNECT_TIMEOUT.min(manners.timeout)))
            .timeout_global(Some(manners.timeout))
            .build();
        Ok(Asker {
            agent: Agent::with_parts(config, DefaultConnector::default(), guard),
            base,
            manners,
            stop,
            asked: 0,
            last: None,
        })
    }

    /// The URL as it is asked, without a query of the protocol.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// How many requests were sent.
    pub(crate) fn asked(&self) -> u32 {
        self.asked
    }

    /// Asks, follows redirects, waits where it is told to.
    pub(crate) fn ask(&mut self, question: Question) -> Exchange {
        let url = self.url_of(&question);
        self.ask_at(url, question)
    }

    /// Asks at another place than the repository's own, where the repository said that something is. The guard is that
    /// of the repository: one elsewhere cannot send us inside.
    pub(crate) fn ask_at(&mut self, url: Url, question: Question) -> Exchange {
        let mut hops = Vec::new();
        let outcome = self.follow(&question, url.clone(), &mut hops);
        Exchange {
            number: self.asked,
            question,
            url: url.into(),
            hops,
            outcome,
        }
    }

    fn url_of(&self, question: &Question) -> Url {
        let mut url = self.base.clone();
        let own = url.query().unwrap_or_default().to_owned();
        let query = match (own.is_empty(), question.query.is_empty()) {
            (false, false) => format!("{own}&{}", question.query),
            (false, true) => own,
            (true, _) => question.query.clone(),
        };
        url.set_query((!query.is_empty()).then_some(&query));
        url
    }

    fn follow(&mut self, question: &Question, mut url: Url, hops: &mut Vec<Hop>) -> Result<Answer, NoAnswer> {
        loop {
            let answer = self.send(question, &url)?;
            let hop = Hop {
                status: answer.status,
                location: answer.header("Location").map(str::to_owned),
                retry_after: answer.header("Retry-After").map(str::to_owned),
                url: url.to_string(),
            };
            match answer.status {
                301 | 302 | 303 | 307 | 308 => {
                    url = redirected(&url, hop.location.as_deref())?;
                    hops.push(hop);
                    let redirects = hops.iter().filter(|hop| hop.status < 400).count();
                    if redirects > MOST_REDIRECTS {
                        let reason = format!("more than {MOST_REDIRECTS} redirects, the last to {url}");
                        return Err(NoAnswer::LostOnTheWay(reason));
                    }
                }
                429 | 503 => {
                    let wait = hop.retry_after.as_deref().and_then(retry_after);
                    hops.push(hop);
                    self.wait_as_told(wait, hops, answer)?;
                }
                _ => return Ok(answer),
            }
        }
    }

    /// Waits as a 503 says; without a word it is an answer like any other.
    fn wait_as_told(&self, wait: Option<Duration>, hops: &[Hop], answer: Answer) -> Result<(), NoAnswer> {
        let delays = hops.iter().filter(|hop| hop.status >= 400).count();
        let status = answer.status;
        let Some(wait) = wait else {
            return Err(NoAnswer::Postponed(format!(
                "HTTP {status} without a Retry-After that can be read"
            )));
        };
        if delays > MOST_DELAYS {
            return Err(NoAnswer::Postponed(format!("HTTP {status} {delays} times in a row")));
        }
        if wait > self.manners.longest_wait {
            let reason = format!("HTTP {status}, come back in {} seconds", wait.as_secs());
            return Err(NoAnswer::Postponed(reason));
        }
        self.sleep(wait);
        Ok(())
    }

    /// Sends a request; once more if the connection failed. One that was kept may have been closed since, which is
    /// nobody's fault.
    fn send(&mut self, question: &Question, url: &Url) -> Result<Answer, NoAnswer> {
        match self.send_once(question, url) {
            Err(NoAnswer::Failed(_)) if self.asked > 1 => self.send_once(question, url),
            answer => answer,
        }
    }

    fn send_once(&mut self, question: &Question, url: &Url) -> Result<Answer, NoAnswer> {
        if let Some(last) = self.last {
            self.sleep(self.manners.pause.saturating_sub(last.elapsed()));
        }
        self.asked += 1;
        let request = self.request(question, url)?;
        let started = Instant::now();
        // A GET with an empty body would say that it has one.
        let response = match question.body {
            Some(_) => self.agent.run(request),
            None => self.agent.run(request.map(drop)),
        };
        let response = response.map_err(|error| no_answer(&error, started));
        let answer = response.map(|response| self.receive(response, started));
        self.last = Some(Instant::now());
        answer
    }

    fn request(&self, question: &Question, url: &Url) -> Result<http::Request<Vec<u8>>, NoAnswer> {
        let version = env!("CARGO_PKG_VERSION");
        let contact = match self.manners.contact.as_str() {
            "" => String::new(),
            contact => format!("; {contact}"),
        };
        let mut request = http::Request::builder()
            .method(question.method.as_str())
            .uri(url.as_str())
            .header("User-Agent", format!("stook/{version} (OAI-PMH validator{contact})"))
            .header("Accept", "text/xml, application/xml;q=0.9, */*;q=0.1");
        if !self.manners.contact.is_empty() {
            request = request.header("From", &self.manners.contact);
        }
        if url.origin() == self.base.origin() {
            for (name, value) in &self.manners.headers {
                request = request.header(name, value);
            }
        }
        for (name, value) in &question.headers {
            request = request.header(*name, value);
        }
        if let Some((media_type, _)) = &question.body {
            request = request.header("Content-Type", *media_type);
        }
        let body = question
            .body
            .as_ref()
            .map_or_else(Vec::new, |(_, body)| body.clone().into_bytes());
        request
            .body(body)
            .map_err(|error| NoAnswer::Failed(format!("this cannot be asked over HTTP: {error}")))
    }

    fn receive(&self, response: http::Response<ureq::Body>, started: Instant) -> Answer {
        let first_byte = started.elapsed();
        let (parts, body) = response.into_parts();
        let (raw, incomplete) = read_at_most(
            body.into_with_config().limit(u64::MAX).reader(),
            self.manners.most_bytes,
        );
        let headers = headers_of(&parts.headers);
        let coding = parts
            .headers
            .get("Content-Encoding")
            .map(|coding| coding.as_bytes().to_ascii_lowercase());
        let received = raw.len();
        let (body, not_unpacked) = unpacked(raw, coding.as_deref(), self.manners.most_bytes);
        Answer {
            status: parts.status.as_u16(),
            headers,
            document: Document::read(&body),
            body,
            received,
            incomplete: incomplete.or(not_unpacked),
            first_byte,
            took: started.elapsed(),
        }
    }

    /// Sleeps, waking up to see whether it shall stop.
    fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.stop.load(Relaxed) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
    }
}

fn redirected(from: &Url, location: Option<&str>) -> Result<Url, NoAnswer> {
    let lost = |reason: String| NoAnswer::LostOnTheWay(reason);
    let location = location.ok_or_else(|| lost("a redirect that does not say where to".into()))?;
    let to = from
        .join(location)
        .map_err(|error| lost(format!("a redirect to {location:?}: {error}")))?;
    match to.scheme() {
        "http" | "https" => Ok(to),
        _ => Err(lost(format!("a redirect to {location:?}, which is no web address"))),
    }
}

/// `Retry-After`: seconds, or a date.
pub(crate) fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or(Duration::ZERO))
}

fn headers_of(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers
        .iter()
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect()
}

/// What comes, up to a limit; why it is not all, if it is not.
fn read_at_most(reader: impl Read, most: u64) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    match reader.take(most + 1).read_to_end(&mut bytes) {
        Err(error) => (bytes, Some(format!("the answer broke off: {error}"))),
        Ok(_) if bytes.len() as u64 > most => (bytes, Some(format!("the answer has more than {most} bytes"))),
        Ok(_) => (bytes, None),
    }
}

/// The body without its content coding; as it came, where it cannot be undone.
fn unpacked(raw: Vec<u8>, coding: Option<&[u8]>, most: u64) -> (Vec<u8>, Option<String>) {
    let (bytes, failure) = match coding {
        None | Some(b"" | b"identity") => return (raw, None),
        Some(b"gzip" | b"x-gzip") => read_at_most(GzDecoder::new(&raw[..]), most),
        Some(b"deflate") => read_at_most(ZlibDecoder::new(&raw[..]), most),
        Some(other) => {
            let coding = String::from_utf8_lossy(other).into_owned();
            return (raw, Some(format!("the content coding {coding:?} was not asked for")));
        }
    };
    match failure {
        Some(_) if bytes.is_empty() => {
            let reason = "Content-Encoding names a coding that the body does not have".to_owned();
            (raw, Some(reason))
        }
        Some(reason) => (bytes, Some(format!("unpacking: {reason}"))),
        None => (bytes, None),
    }
}

fn no_answer(error: &ureq::Error, started: Instant) -> NoAnswer {
    let after = || format!("nothing came in {} seconds", started.elapsed().as_secs());
    match error {
        ureq::Error::Timeout(_) => NoAnswer::TimedOut(after()),
        ureq::Error::Io(io) => match io.kind() {
            std::io::ErrorKind::TimedOut => NoAnswer::TimedOut(after()),
            std::io::ErrorKind::InvalidData => NoAnswer::Insecure(io.to_string()),
            _ => NoAnswer::Failed(io.to_string()),
        },
        ureq::Error::Rustls(error) => NoAnswer::Insecure(error.to_string()),
        ureq::Error::Tls(error) => NoAnswer::Insecure((*error).to_owned()),
        ureq::Error::Other(error) => NoAnswer::Forbidden(error.to_string()),
        ureq::Error::HostNotFound => NoAnswer::Failed("its host is not known".to_owned()),
        other => NoAnswer::Failed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_within_limits() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&[b'x'; 1000]).unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(unpacked(packed.clone(), Some(b"gzip"), 1000).0.len(), 1000);
        assert!(
            unpacked(packed.clone(), Some(b"gzip"), 999)
                .1
                .unwrap()
                .contains("more than 999")
        );
        assert!(unpacked(b"plain".to_vec(), Some(b"gzip"), 999).1.is_some());
        assert!(unpacked(packed[..20].to_vec(), Some(b"gzip"), 999).1.is_some());
        assert_eq!(unpacked(b"plain".to_vec(), None, 999), (b"plain".to_vec(), None));
    }
}
