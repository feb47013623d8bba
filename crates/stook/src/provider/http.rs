//! The HTTP surface: method, path, body, access, flow control, compression.
//!
//! Enters: an HTTP request. Leaves: a complete HTTP response, never half a list. Protocol errors are HTTP 200 with an
//! `<error>`; HTTP codes speak only of the transport (section 3.1.2.2).

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::Body;
use stook_store::StoreError;
use tokio::runtime::Handle;
use tracing::{error, info, warn};

use super::access::{Verdict, judge};
use super::client::client_of;
use super::compress::{compress, negotiate};
use super::flow::{Busy, Gate, Turn};
use super::metrics::Metrics;
use super::stream::Reply;
use super::{Provider, answer::Answer};
use crate::config::{Coding, Explore, Server};
use crate::count::counted;
use crate::web::{self, checks::Links, explore::Explorer};

/// A POST body is a query; the longest legal ones are far below this.
const MOST_BODY_BYTES: usize = 64 * 1024;
/// When to come back to a repository whose store is away.
const RETRY_SECONDS: u64 = 30;
const XML: &str = "text/xml; charset=UTF-8";
const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";
/// What Prometheus expects of the text format.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Everything requests are answered from.
pub struct Site {
    providers: Vec<Arc<Provider>>,
    gate: Arc<Gate>,
    metrics: Arc<Metrics>,
    explorer: Explorer,
    settings: Server,
}

impl Site {
    /// A site of these repositories.
    pub fn new(providers: Vec<Provider>, settings: Server) -> Site {
        Site {
            providers: providers.into_iter().map(Arc::new).collect(),
            gate: Arc::new(Gate::new(&settings)),
            metrics: Arc::default(),
            explorer: Explorer::new(&settings),
            settings,
        }
    }

    /// The repositories.
    pub fn providers(&self) -> &[Arc<Provider>] {
        &self.providers
    }

    /// The settings.
    pub fn settings(&self) -> &Server {
        &self.settings
    }

    /// What visitors explore with.
    pub(crate) fn explorer(&self) -> &Explorer {
        &self.explorer
    }

    /// Answers one request.
    pub async fn respond<B>(self: Arc<Self>, request: Request<B>, peer: IpAddr) -> Response<Reply>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        // RFC 9112, section 3.2: whoever stands between us may have understood another host than we would.
        let hosts = request.headers().get_all(header::HOST).iter().count();
        if hosts > 1 || hosts == 0 && request.version() == Version::HTTP_11 {
            return plain(StatusCode::BAD_REQUEST, TEXT, "A request names its host, once.\n").map(Either::Left);
        }
        let client = client_of(request.headers(), peer, &self.settings.trusted_proxies);
        if request.uri().path() == web::explore::PATH && self.settings.explore != Explore::Off {
            return web::explore::respond(self, request, client).await;
        }
        self.respond_at_once(request, client).await.map(Either::Left)
    }

    async fn respond_at_once<B>(self: Arc<Self>, request: Request<B>, client: IpAddr) -> Response<Full<Bytes>>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let path = request.uri().path();
        let provider = self
            .providers
            .iter()
            .find(|provider| path.trim_end_matches('/') == provider.settings.path);
        if let Some(provider) = provider.cloned() {
            return match self.oai(provider, request, client).await {
                Ok(response) | Err(response) => response,
            };
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return method_not_allowed("GET, HEAD");
        }
        match path {
            "/" => {
                let authorization = text_of(request.headers(), header::AUTHORIZATION);
                self.landing(client, authorization).await
            }
            "/healthz" => self.blocking_page(|site| site.health()).await,
            "/metrics" => match self.metrics.text() {
                Ok(text) => plain(StatusCode::OK, METRICS, text),
                Err(_) => plain(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    TEXT,
                    "The metrics could not be written.\n",
                ),
            },
            "/checks" => moved("checks/"),
            _ if path.starts_with("/checks/") => match web::checks::page(&path["/checks/".len()..], Links::Served) {
                Some(page) => html(page),
                None => self.not_found(),
            },
            "/favicon.ico" => plain(StatusCode::NOT_FOUND, TEXT, ""),
            _ => self.not_found(),
        }
    }

    async fn oai<B>(
        self: Arc<Self>,
        provider: Arc<Provider>,
        request: Request<B>,
        client: IpAddr,
    ) -> Result<Response<Full<Bytes>>, Response<Full<Bytes>>>
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        if !matches!(*request.method(), Method::GET | Method::HEAD | Method::POST) {
            return Err(method_not_allowed("GET, HEAD, POST"));
        }
        let authorization = text_of(request.headers(), header::AUTHORIZATION);
        let accepts = text_of(request.headers(), header::ACCEPT_ENCODING).unwrap_or_default();
        let coding = negotiate(&accepts, &provider.settings.compression);
        // The body comes before the turn: whoever is slow to send it keeps nobody waiting.
        let query = self.read_query(request).await?;
        let turn = self.turn(client).await?;
        // And the turn before the verdict: guessing passwords is limited like anything else.
        match judge(&provider.settings.access, client, authorization.as_deref()) {
            Verdict::Welcome => Ok(self.answer(&provider, &query, coding, client, turn)),
            Verdict::Challenge(scheme) => {
                self.keep_out(&provider, client, authorization.is_some());
                Err(challenge(scheme))
            }
            Verdict::Forbidden => {
                self.keep_out(&provider, client, authorization.is_some());
                let message = format!("This repository is not open to {client}.\n");
                Err(plain(StatusCode::FORBIDDEN, TEXT, message))
            }
        }
    }

    /// The query, if it comes in time.
    pub(crate) async fn read_query<B>(&self, request: Request<B>) -> Result<Vec<u8>, Response<Full<Bytes>>>
    where
        B: Body + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let patience = Duration::from_secs(self.settings.header_timeout_seconds);
        match tokio::time::timeout(patience, query_of(request)).await {
            Ok(query) => query,
            Err(_) => Err(too_slow()),
        }
    }

    /// A turn, for whoever may wait where it is.
    pub(crate) fn wait_for_turn(&self, client: IpAddr) -> Result<Turn, Busy> {
        let turn = Handle::current().block_on(self.gate.clone().enter(client));
        turn.inspect_err(|busy| self.metrics.refused(busy.limit))
    }

    fn keep_out(&self, provider: &Provider, client: IpAddr, had_credentials: bool) {
        self.metrics.refused("access");
        let repository = &provider.settings.name;
        info!(repository, %client, had_credentials, "kept out by the access rules");
    }

    async fn turn(&self, client: IpAddr) -> Result<Turn, Response<Full<Bytes>>> {
        let turn = self.gate.clone().enter(client).await;
        turn.map_err(|busy| self.come_back(client, busy))
    }

    /// The page for people. It shows a client no more of a repository than the repository itself would.
    async fn landing(self: Arc<Self>, client: IpAddr, authorization: Option<String>) -> Response<Full<Bytes>> {
        let turn = match self.turn(client).await {
            Ok(turn) => turn,
            Err(response) => return response,
        };
        let may_see = move |provider: &Provider| {
            judge(&provider.settings.access, client, authorization.as_deref()) == Verdict::Welcome
        };
        self.blocking_page(move |site| {
            let _turn = turn;
            web::landing::page(&site.providers, site.settings.explore != Explore::Off, may_see)
        })
        .await
    }

    /// Makes the answer on the thread this request came by; `serve::runtime` has enough of them.
    fn answer(
        &self,
        provider: &Provider,
        query: &[u8],
        coding: Option<Coding>,
        client: IpAddr,
        _turn: Turn,
    ) -> Response<Full<Bytes>> {
        let _in_flight = self.metrics.in_flight();
        let answered = catch_unwind(AssertUnwindSafe(|| self.answer_query(provider, query, coding, client)));
        answered.unwrap_or_else(|_| {
            error!("an answer failed; the panic is above");
            self.metrics.failed();
            internal_error()
        })
    }

    fn answer_query(
        &self,
        provider: &Provider,
        query: &[u8],
        coding: Option<Coding>,
        client: IpAddr,
    ) -> Response<Full<Bytes>> {
        let start = Instant::now();
        let repository = provider.settings.name.as_str();
        let mut answer = match provider.answer(query) {
            Ok(answer) => answer,
            Err(failure) => {
                self.metrics.failed();
                error!(repository, %client, query = ?String::from_utf8_lossy(query), "{failure}. Try: {}", failure.hint());
                return failed(&failure);
            }
        };
        let packed = coding.and_then(|coding| Some((coding, compress(&answer.xml, coding).ok().flatten()?)));
        let (body, coding) = match packed {
            Some((coding, body)) => (body, Some(coding)),
            None => (std::mem::take(&mut answer.xml), None),
        };
        let took = start.elapsed();
        self.metrics.answered(repository, &answer, body.len(), took);
        log(
            repository,
            client,
            &answer,
            body.len(),
            u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        );
        let mut response = plain(StatusCode::OK, XML, body);
        let headers = response.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Some(coding) = coding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.as_str()));
        }
        response
    }

    fn come_back(&self, client: IpAddr, busy: Busy) -> Response<Full<Bytes>> {
        self.metrics.refused(busy.limit);
        warn!(%client, limit = busy.limit, retry_after_seconds = busy.retry_after_seconds, "told to come back");
        retry_after(busy.retry_after_seconds)
    }

    fn health(&self) -> Response<Full<Bytes>> {
        match self
            .providers
            .iter()
            .try_for_each(|provider| provider.store().read_replica().map(drop))
        {
            Ok(()) => plain(StatusCode::OK, TEXT, "ok\n"),
            Err(failure) => {
                error!("{failure}. Try: {}", failure.hint());
                unavailable(RETRY_SECONDS, "The store cannot be read.\n".into())
            }
        }
    }

    fn not_found(&self) -> Response<Full<Bytes>> {
        let paths: Vec<&str> = self
            .providers
            .iter()
            .map(|provider| provider.settings.path.as_str())
            .collect();
        let message = format!("Nothing is here. OAI-PMH is answered at {}.\n", paths.join(", "));
        plain(StatusCode::NOT_FOUND, TEXT, message)
    }

    async fn blocking_page(
        self: Arc<Self>,
        page: impl FnOnce(&Site) -> Response<Full<Bytes>> + Send + 'static,
    ) -> Response<Full<Bytes>> {
        tokio::task::spawn_blocking(move || page(&self))
            .await
            .unwrap_or_else(|_| internal_error())
    }
}

/// The query as received: of the URL, and of the body of a POST.
///
/// Arguments in both places are read together, so that a verb in each is a repeated verb.
async fn query_of<B>(request: Request<B>) -> Result<Vec<u8>, Response<Full<Bytes>>>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut query = request.uri().query().unwrap_or_default().as_bytes().to_vec();
    if request.method() != Method::POST {
        return Ok(query);
    }
    let media_type = text_of(request.headers(), header::CONTENT_TYPE).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        let message = "A POST to OAI-PMH has the type application/x-www-form-urlencoded.\n";
        return Err(plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, TEXT, message));
    }
    match Limited::new(request.into_body(), MOST_BODY_BYTES).collect().await {
        Ok(body) => {
            let body = body.to_bytes();
            if !query.is_empty() && !body.is_empty() {
                query.push(b'&');
            }
            query.extend_from_slice(&body);
            Ok(query)
        }
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("A request has at most {MOST_BODY_BYTES} bytes.\n");
            Err(plain(StatusCode::PAYLOAD_TOO_LARGE, TEXT, message))
        }
        Err(_) => Err(plain(StatusCode::BAD_REQUEST, TEXT, "The request broke off.\n")),
    }
}

fn log(repository: &str, client: IpAddr, answer: &Answer, bytes: usize, micros: u64) {
    let verb = answer.verb.map_or("none", |verb| verb.as_str());
    let errors: Vec<&str> = answer.errors.iter().map(|code| code.as_str()).collect();
    info!(repository, %client, verb, errors = errors.join(","), bytes, micros, "answered");
}

/// The value of a header; of several, one after the other (RFC 9110, section 5.3).
pub(crate) fn text_of(headers: &HeaderMap, name: header::HeaderName) -> Option<String> {
    let values: Vec<&str> = headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// A page for people: no scripts, nothing from elsewhere.
pub(crate) fn html(markup: String) -> Response<Full<Bytes>> {
    let mut response = plain(StatusCode::OK, HTML, markup);
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// What is answered when the store fails: come back, if that may help.
pub(crate) fn failed(failure: &StoreError) -> Response<Full<Bytes>> {
    match failure.is_passing() {
        true => retry_after(RETRY_SECONDS),
        false => internal_error(),
    }
}

pub(crate) fn internal_error() -> Response<Full<Bytes>> {
    let message = "The repository has a problem; its operator finds it in the log.\n";
    plain(StatusCode::INTERNAL_SERVER_ERROR, TEXT, message)
}

fn retry_after(seconds: u64) -> Response<Full<Bytes>> {
    let message = format!(
        "The repository is busy. Please try again in {}.\n",
        counted(seconds, "second")
    );
    unavailable(seconds, message)
}

fn unavailable(seconds: u64, message: String) -> Response<Full<Bytes>> {
    let mut response = plain(StatusCode::SERVICE_UNAVAILABLE, TEXT, message);
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// The rest of the request is not waited for, so nothing more can be asked on this connection.
fn too_slow() -> Response<Full<Bytes>> {
    let mut response = plain(
        StatusCode::REQUEST_TIMEOUT,
        TEXT,
        "The request took too long to arrive.\n",
    );
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

fn challenge(scheme: &'static str) -> Response<Full<Bytes>> {
    let mut response = plain(
        StatusCode::UNAUTHORIZED,
        TEXT,
        "This repository asks for credentials.\n",
    );
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
    response
}

/// To where a page has its links from; beside it, whatever a proxy calls the place.
fn moved(to: &'static str) -> Response<Full<Bytes>> {
    let mut response = plain(StatusCode::PERMANENT_REDIRECT, TEXT, "");
    response
        .headers_mut()
        .insert(header::LOCATION, HeaderValue::from_static(to));
    response
}

pub(crate) fn method_not_allowed(allowed: &'static str) -> Response<Full<Bytes>> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, TEXT, format!("Use one of {allowed}.\n"));
    response
        .headers_mut()
        .insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

fn plain(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
