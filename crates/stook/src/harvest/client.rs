//! One HTTP request of a harvest: to whom it may go, what it carries, how far it is redirected.
//!
//! Enters: the query of a request. Leaves: a status, the headers that matter and a body to be read, bounded in bytes and
//! time (`body.rs`). What the status means is for `fetch.rs` to say.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ureq::config::Config as HttpConfig;
use ureq::http::HeaderMap;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, Proxy};
use url::Url;

use super::body::Unpacked;
use crate::config::Source;
use crate::count::counted;
use crate::outward::{Guarded, base_url};

const MOST_HEADER_BYTES: usize = 64 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// What we can unpack; identity is listed because a server may have nothing else (section 3.1.3).
const ACCEPT_ENCODING: &str = "gzip;q=1.0, identity;q=0.5";

/// Asks one source.
pub(super) struct Client {
    agent: Agent,
    base: Url,
    user_agent: String,
    contact: String,
    /// Name and value, the credentials among them. Sent to the source's own host alone.
    private_headers: Vec<(String, String)>,
    most_redirects: u32,
    most_bytes: u64,
    most_unpacking: u64,
}

/// What came back.
pub(super) struct Answer {
    /// The status.
    pub(super) status: u16,
    /// `Retry-After`, as sent.
    pub(super) retry_after: Option<String>,
    /// Whether `Content-Encoding` says gzip.
    pub(super) says_gzip: bool,
    /// The charset of `Content-Type`.
    pub(super) charset: Option<String>,
    /// Where it really came from, if redirected.
    pub(super) redirected_to: Option<String>,
    /// The body, unpacked and bounded.
    pub(super) body: Unpacked<Box<dyn Read + Send>>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// It may work another time.
    #[error("{0}")]
    Passing(String),
    /// It took too long.
    #[error("the source did not answer in time ({0})")]
    TimedOut(String),
    /// It will not work until somebody changes something.
    #[error("{0}")]
    Permanent(String),
}

impl Client {
    /// A client for a source.
    ///
    /// # Errors
    /// When a setting cannot be used.
    pub(super) fn new(source: &Source, contact: &str) -> Result<Client> {
        let base = base_url(&source.url, "the settings user and password")?;
        let proxy = proxy(source)?;
        let resolver = Guarded::of(&base, proxy.as_ref().map(Proxy::host));
        let config = HttpConfig::builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(MOST_HEADER_BYTES)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_per_read(Some(Duration::from_secs(source.read_timeout_seconds.max(1))))
            .timeout_recv_response(Some(Duration::from_secs(source.read_timeout_seconds.max(1))))
            .timeout_global(Some(Duration::from_secs(source.answer_timeout_seconds.max(1))))
            .input_buffer_size(128 * 1024)
            .tls_config(tls(source)?)
            .proxy(proxy)
            .build();
        let version = env!("CARGO_PKG_VERSION");
        Ok(Client {
            agent: Agent::with_parts(config, DefaultConnector::default(), resolver),
            base,
            user_agent: if contact.is_empty() {
                format!("stook/{version} (OAI-PMH harvester)")
            } else {
                format!("stook/{version} (OAI-PMH harvester; {contact})")
            },
            contact: contact.to_owned(),
            private_headers: private_headers(source)?,
            most_redirects: source.max_redirects,
            most_bytes: source.max_answer_megabytes.saturating_mul(1_000_000),
            most_unpacking: source.max_unpacking.max(1),
        })
    }

    /// The host asked, for politeness.
    pub(super) fn host(&self) -> String {
        let port = self.base.port_or_known_default().unwrap_or(0);
        format!("{}:{port}", self.base.host_str().unwrap_or_default())
    }

    /// Sends one request and follows its redirects.
    ///
    /// # Errors
    /// When no answer comes, or not from where one may come.
    pub(super) fn get(&self, query: &str) -> Result<Answer, NoAnswer> {
        let started = Instant::now();
        let mut url = self.base.clone();
        add_query(&mut url, query);
        for hops in 0.. {
            let own = same_host(&url, &self.base);
            let mut request = self
                .agent
                .get(url.as_str())
                .header("User-Agent", &self.user_agent)
                .header("Accept", "text/xml, application/xml;q=0.9, */*;q=0.1")
                .header("Accept-Encoding", ACCEPT_ENCODING);
            if !self.contact.is_empty() {
                request = request.header("From", &self.contact);
            }
            if own {
                for (name, value) in &self.private_headers {
                    request = request.header(name, value);
                }
            }
            let response = request.call().map_err(|error| no_answer(&error, started))?;
            let (parts, body) = response.into_parts();
            let status = parts.status.as_u16();
            if matches!(status, 301 | 302 | 303 | 307 | 308) {
                if hops >= self.most_redirects {
                    return Err(NoAnswer::Permanent(format!(
                        "more than {hops} redirects, the last to {url}"
                    )));
                }
                url = self.redirected(&url, &parts.headers, query)?;
                continue;
            }
            let text = |name: &str| {
                parts
                    .headers
                    .get(name)
                    .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            };
            return Ok(Answer {
                status,
                retry_after: text("Retry-After"),
                says_gzip: text("Content-Encoding").is_some_and(|coding| coding.contains("gzip")),
                charset: text("Content-Type").as_deref().and_then(charset),
                redirected_to: (hops > 0).then(|| without_query(&url)),
                body: Unpacked::new(
                    Box::new(body.into_with_config().limit(u64::MAX).reader()),
                    self.most_bytes,
                    self.most_unpacking,
                ),
            });
        }
        Err(NoAnswer::Permanent("too many redirects".into()))
    }

    /// Where a redirect leads. One that drops the query gets it back: some servers forget it.
    fn redirected(&self, from: &Url, headers: &HeaderMap, query: &str) -> Result<Url, NoAnswer> {
        let location = headers.get("Location").and_then(|value| value.to_str().ok());
        let Some(location) = location.filter(|location| !location.is_empty()) else {
            return Err(NoAnswer::Permanent("a redirect that does not say where to".into()));
        };
        let mut to = from
            .join(location)
            .map_err(|error| NoAnswer::Permanent(format!("a redirect to {location:?}: {error}")))?;
        if !matches!(to.scheme(), "http" | "https") {
            return Err(NoAnswer::Permanent(format!(
                "a redirect to {location:?}, which is no web address"
            )));
        }
        if from.scheme() == "https" && to.scheme() == "http" {
            return Err(NoAnswer::Permanent(format!(
                "a redirect from https to the unprotected {location:?}"
            )));
        }
        if to.query().is_none() {
            add_query(&mut to, query);
        }
        Ok(to)
    }
}

fn same_host(one: &Url, other: &Url) -> bool {
    one.host_str() == other.host_str() && one.port_or_known_default() == other.port_or_known_default()
}

/// Behind the query the base URL may have of its own.
fn add_query(url: &mut Url, query: &str) {
    let joined = match url.query() {
        Some(own) if !own.is_empty() => format!("{own}&{query}"),
        _ => query.to_owned(),
    };
    url.set_query(Some(&joined));
}

fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.into()
}

fn charset(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches('"').to_owned())
    })
}

fn private_headers(source: &Source) -> Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    for header in &source.headers {
        let (name, value) = header
            .split_once(':')
            .ok_or_else(|| anyhow!("the header {header:?} has no colon\nTry: \"Name: value\""))?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    if !source.token.is_empty() {
        headers.push(("Authorization".into(), format!("Bearer {}", source.token)));
    } else if !source.user.is_empty() {
        let credentials = BASE64_STANDARD.encode(format!("{}:{}", source.user, source.password));
        headers.push(("Authorization".into(), format!("Basic {credentials}")));
    }
    Ok(headers)
}

fn tls(source: &Source) -> Result<TlsConfig> {
    let mut config = TlsConfig::builder().disable_verification(source.accept_bad_certificates);
    if !source.ca_file.is_empty() {
        let pem = std::fs::read(&source.ca_file).with_context(|| format!("reading ca_file {}", source.ca_file))?;
        let certificates: Vec<Certificate<'static>> = parse_pem(&pem)
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        if certificates.is_empty() {
            bail!(
                "{} holds no certificate\nTry: a file of certificates in PEM",
                source.ca_file
            );
        }
        config = config.root_certs(RootCerts::Specific(Arc::new(certificates)));
    }
    Ok(config.build())
}

fn proxy(source: &Source) -> Result<Option<Proxy>> {
    if source.proxy.is_empty() {
        return Ok(Proxy::try_from_env());
    }
    let proxy = Proxy::new(&source.proxy).map_err(|error| anyhow!("the setting proxy cannot be used: {error}"))?;
    Ok(Some(proxy))
}

fn no_answer(error: &ureq::Error, started: Instant) -> NoAnswer {
    let after = || format!("after {}", counted(started.elapsed().as_secs(), "second"));
    match error {
        ureq::Error::Timeout(_) => NoAnswer::TimedOut(after()),
        ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::TimedOut => NoAnswer::TimedOut(after()),
        ureq::Error::Io(io) if io.kind() == std::io::ErrorKind::InvalidData => {
            match io.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(error) => insecure(error),
                None => NoAnswer::Permanent(format!("the secure connection failed: {io}")),
            }
        }
        ureq::Error::Rustls(error) => insecure(error),
        ureq::Error::Tls(error) => NoAnswer::Permanent(format!("the secure connection failed: {error}")),
        ureq::Error::BadUri(error) => NoAnswer::Permanent(error.clone()),
        ureq::Error::LargeResponseHeader(..) => {
            NoAnswer::Permanent(format!("the answer has more than {MOST_HEADER_BYTES} bytes of headers"))
        }
        ureq::Error::Other(error) => NoAnswer::Permanent(error.to_string()),
        ureq::Error::Protocol(error) if error.to_string().contains("header") => {
            NoAnswer::Permanent(format!("the headers of the answer cannot be read: {error}"))
        }
        ureq::Error::HostNotFound => NoAnswer::Passing("its host is not known".into()),
        ureq::Error::Io(io) => NoAnswer::Passing(io_in_words(io)),
        other => NoAnswer::Passing(other.to_string()),
    }
}

/// Without the numbers that systems give to failures.
fn io_in_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

fn insecure(error: &rustls::Error) -> NoAnswer {
    let remedy = match error {
        rustls::Error::InvalidCertificate(_) => {
            ". Try: the setting ca_file with the certificate of its authority, or accept_bad_certificates=true"
        }
        _ => "",
    };
    NoAnswer::Permanent(format!("the secure connection failed: {error}{remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_keeps_the_query_and_never_leaves_the_web_or_its_protection() {
        let source = Source {
            url: "https://example.org/oai".into(),
            ..Source::default()
        };
        let client = Client::new(&source, "").unwrap();
        let to = |from: &str, location: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("Location", location.parse().unwrap());
            client.redirected(&Url::parse(from).unwrap(), &headers, "verb=Identify")
        };
        let https = "https://example.org/oai?verb=Identify";
        assert_eq!(
            to(https, "/new").unwrap().as_str(),
            "https://example.org/new?verb=Identify"
        );
        assert_eq!(to(https, "/new?a=b").unwrap().as_str(), "https://example.org/new?a=b");
        let http = "http://example.org/oai?verb=Identify";
        assert_eq!(to(http, https).unwrap().as_str(), https);
        for location in ["http://example.org/oai", "file:///etc/passwd", "gopher://x/", "http://"] {
            assert!(to(https, location).is_err(), "{location}");
        }
    }
}
