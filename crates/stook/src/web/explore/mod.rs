//! The explorer, at `/explore`: any visitor can see what a repository says, follow its lists, and test it.
//!
//! ```text
//! state      what the URL says: which repository, which request, which view
//! ask        the repository is asked: in process, or over HTTP within limits
//! known      its formats and sets, for forms and links
//! start, overview, form, parsed, record, transport, highlight, trouble      what is shown
//! run, findings      a test, told while it goes on
//! frame, words       what all pages share; every text
//! ```
//! Nothing that a repository says is trusted: it is text, escaped, and its links lead to pages of ours or are plain web
//! addresses. There is no script on any page.

mod ask;
mod findings;
mod form;
mod frame;
mod highlight;
mod known;
mod overview;
mod parsed;
mod record;
mod run;
mod start;
mod state;
mod transport;
mod trouble;
mod words;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::http::header::{self, HeaderValue};
use ::http::{Method, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::Body;
use maud::{Markup, html};

use crate::config::Server;
use crate::provider::flow::{Gate, Limits};
use crate::provider::http::{self, Site};
use crate::provider::stream::Reply;
use crate::validate::{Document, Exchange};
use ask::{Asking, Refusal, Target};
use frame::{Page, size};
use known::{Known, Memory};
use run::{NotNow, Runs};
use state::{Place, Show, State};
use words::{W, with};

/// Where it is.
pub(crate) const PATH: &str = "/explore";
/// Requests of one client to others at the same time.
const MOST_OF_A_CLIENT: usize = 3;
/// How long a request to others may wait for its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// After an answer that took longer, its repository is not asked for more than was wanted.
const PATIENCE_FOR_MORE: Duration = Duration::from_secs(10);

/// What the explorer keeps between pages.
pub(crate) struct Explorer {
    /// Requests to others pass it.
    gate: Arc<Gate>,
    memory: Memory,
    runs: Arc<Runs>,
    /// Where this server reaches itself.
    own_address: OnceLock<SocketAddr>,
}

impl Explorer {
    pub(crate) fn new(settings: &Server) -> Explorer {
        let rate = settings.explore_requests_per_minute;
        Explorer {
            gate: Arc::new(Gate::with(Limits {
                turns: settings.explore_concurrent_requests,
                longest_wait: LONGEST_WAIT,
                interval: (rate > 0).then(|| Duration::from_secs(60) / rate),
                burst: rate,
                of_a_client: MOST_OF_A_CLIENT,
            })),
            memory: Memory::default(),
            runs: Arc::new(Runs::new(settings.explore_runs)),
            own_address: OnceLock::new(),
        }
    }

    /// Says where the server listens.
    pub(crate) fn listens_at(&self, address: SocketAddr) {
        self.own_address.get_or_init(|| run::own_address(address));
    }

    fn address(&self) -> SocketAddr {
        let unknown = SocketAddr::from(([127, 0, 0, 1], 80));
        *self.own_address.get_or_init(|| unknown)
    }

    /// Ends what would keep the server from stopping.
    pub(crate) fn stop(&self) {
        self.runs.stop();
    }
}

/// Who asks.
struct Visitor {
    client: IpAddr,
    authorization: Option<String>,
}

/// Answers a request for the explorer.
pub(crate) async fn respond<B>(site: Arc<Site>, request: Request<B>, client: IpAddr) -> Response<Reply>
where
    B: Body + Send,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let method = request.method().clone();
    if !matches!(method, Method::GET | Method::HEAD | Method::POST) {
        return http::method_not_allowed("GET, HEAD, POST").map(Either::Left);
    }
    let visitor = Visitor {
        client,
        authorization: http::text_of(request.headers(), header::AUTHORIZATION),
    };
    // Browsers say where a form was. A page elsewhere shall not make its readers start anything here.
    let is_foreign = request
        .headers()
        .get("sec-fetch-site")
        .is_some_and(|from| from == "cross-site");
    let query = match site.read_query(request).await {
        Ok(query) => query,
        Err(response) => return response.map(Either::Left),
    };
    let state = State::parse(&query);
    if method == Method::POST {
        if is_foreign {
            return refusal_page(StatusCode::FORBIDDEN, &state, W.refused_title, W.cross_site).map(Either::Left);
        }
        return start_run(&site, &visitor, &state);
    }
    let page = tokio::task::spawn_blocking(move || page(&site, &visitor, &state));
    page.await.unwrap_or_else(|_| http::internal_error()).map(Either::Left)
}

fn start_run(site: &Arc<Site>, visitor: &Visitor, state: &State) -> Response<Reply> {
    match run::begin(site, visitor, state) {
        Ok(mut response) => {
            let headers = response.headers_mut();
            // Proxies that wait for the whole page would hide that it grows.
            headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(NotNow::Refused(refusal)) => refused(&refusal, state).map(Either::Left),
        Err(NotNow::Never(why)) => refusal_page(StatusCode::FORBIDDEN, state, W.refused_title, &why).map(Either::Left),
        Err(NotNow::Busy(why)) => busy_page(state, why, 60).map(Either::Left),
    }
}

/// A page that is known at once.
fn page(site: &Site, visitor: &Visitor, state: &State) -> Response<Full<Bytes>> {
    let Some(place) = &state.place else {
        return write(W.start_title, &State::default(), None, start::page(site, visitor));
    };
    let shown = Target::find(site, visitor, place).and_then(|target| {
        let mut asking = Asking::new(site, visitor, &target);
        match &state.verb {
            None => overview_page(site, &mut asking, state),
            Some(verb) if state.show == Show::Form => form_page(site, &mut asking, state, verb),
            Some(verb) => answer_page(site, &mut asking, state, verb),
        }
    });
    shown.unwrap_or_else(|refusal| refused(&refusal, state))
}

fn overview_page(site: &Site, asking: &mut Asking<'_>, state: &State) -> Result<Response<Full<Bytes>>, Refusal> {
    let identify = asking.ask("verb=Identify")?;
    if !identify.succeeded() {
        let body = html! {
            h1 { (frame::short(asking.target.base_url())) }
            (trouble::told(&identify))
            (request(&identify))
            @if let Some(Place::Other(url)) = &state.place { (start::other(url)) }
        };
        return Ok(write(asking.target.base_url(), state, None, body));
    }
    let known = Known::of_identify(&identify).ask_more(asking)?;
    let known = site.explorer().memory.keep(asking.target, known);
    let may_run = site.settings().explore_runs > 0;
    let body = overview::page(&identify, state, &known, may_run);
    Ok(write(&known.name, state, Some(&known.name), body))
}

fn form_page(
    site: &Site,
    asking: &mut Asking<'_>,
    state: &State,
    verb: &str,
) -> Result<Response<Full<Bytes>>, Refusal> {
    let known = Known::of(asking, &site.explorer().memory)?;
    let body = html! { h1 { (frame::short(verb)) } (form::of_answer(state, &known, true)) };
    Ok(write(verb, state, Some(&known.name), body))
}

fn answer_page(
    site: &Site,
    asking: &mut Asking<'_>,
    state: &State,
    verb: &str,
) -> Result<Response<Full<Bytes>>, Refusal> {
    let exchange = asking.ask(&state.query())?;
    if state.show == Show::Raw {
        return Ok(raw(&exchange));
    }
    // Without formats and sets the page is poorer, but a page.
    let is_quick = exchange.answer().is_some_and(|answer| answer.took < PATIENCE_FOR_MORE);
    let known = match is_quick {
        true => Known::of(asking, &site.explorer().memory).unwrap_or_default(),
        false => Arc::default(),
    };
    let body = html! {
        h1 { (frame::short(verb)) }
        (form::of_answer(state, &known, !exchange.succeeded()))
        h2 { (W.answer_title) }
        (status_line(&exchange))
        (views(state))
        @match (state.show, exchange.answer()) {
            (Show::Xml, Some(answer)) => (transport::body(answer, state)),
            (Show::Http, _) => (transport::http(&exchange, asking.target)),
            (_, answer) => {
                (trouble::told(&exchange))
                @if let Some(answer) = answer { (parsed::answer(&answer.document, state, &known)) }
            }
        }
        (request(&exchange))
    };
    let title = format!("{} – {}", frame::short(verb), frame::short(&known.name));
    Ok(write(&title, state, Some(&known.name), body))
}

/// Links to the views of the answer.
fn views(state: &State) -> Markup {
    let views = [
        (Show::Parsed, W.show_parsed),
        (Show::Xml, W.show_xml),
        (Show::Http, W.show_http),
    ];
    html! {
        nav.tabs aria-label=(W.views) {
            @for (show, text) in views {
                a href=(state.showing(show).href()) aria-current=[(show == state.show).then_some("page")] { (text) }
            }
        }
    }
}

/// Status, size and time in one line.
fn status_line(exchange: &Exchange) -> Markup {
    let date = exchange.document().and_then(Document::response_date);
    html! {
        @if let Some(answer) = exchange.answer() {
            p.status {
                span class={ "badge " (if answer.status == 200 { "good" } else { "error" }) } { "HTTP " (answer.status) } " "
                span { (size(answer.body.len())) } " " span { (transport::milliseconds(answer)) } " "
                @if let Some(date) = date { span { (W.response_date) " " (frame::short(&date)) } }
            }
        }
    }
}

/// The request, to be copied.
fn request(exchange: &Exchange) -> Markup {
    html! {
        h2 { (W.request_title) }
        div.fields.card {
            div.field.wide { label for="as-url" { (W.as_url) } input.copy id="as-url" readonly value=(exchange.url); }
            div.field.wide { label for="as-curl" { (W.as_curl) } input.copy id="as-curl" readonly value=(exchange.as_curl()); }
            p.soft { (W.copy_hint) }
        }
    }
}

/// The body alone, as text that no browser takes for anything else.
fn raw(exchange: &Exchange) -> Response<Full<Bytes>> {
    let body = match &exchange.outcome {
        Ok(answer) => String::from_utf8_lossy(&answer.body).into_owned(),
        Err(nothing) => nothing.to_string(),
    };
    let mut response = http::html(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert("x-robots-tag", HeaderValue::from_static("noindex, nofollow"));
    response
}

fn write(title: &str, state: &State, name: Option<&str>, body: Markup) -> Response<Full<Bytes>> {
    let page = Page {
        title: title.to_owned(),
        state: state.clone(),
        name: name.map(str::to_owned),
        body,
    };
    http::html(page.write())
}

fn refused(refusal: &Refusal, state: &State) -> Response<Full<Bytes>> {
    let page = |status, why: &str| refusal_page(status, state, W.refused_title, why);
    match refusal {
        Refusal::Unknown => page(StatusCode::NOT_FOUND, W.unknown_repository),
        Refusal::OnlyOwn => page(StatusCode::FORBIDDEN, W.only_own),
        Refusal::Forbidden => page(StatusCode::FORBIDDEN, W.not_for_you),
        Refusal::BadUrl(why) => page(StatusCode::BAD_REQUEST, &with(W.bad_url, &[why])),
        Refusal::Challenge(scheme) => {
            let mut response = page(StatusCode::UNAUTHORIZED, W.needs_credentials);
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
            response
        }
        Refusal::Busy(busy) => {
            let text = if busy.limit == "server" { W.busy } else { W.busy_client };
            let seconds = busy.retry_after_seconds;
            busy_page(state, &with(text, &[&seconds.to_string()]), seconds)
        }
        Refusal::Store(failure) if failure.is_passing() => busy_page(state, W.store_failed, 60),
        Refusal::Store(_) => page(StatusCode::INTERNAL_SERVER_ERROR, W.store_broken),
    }
}

fn busy_page(state: &State, why: &str, seconds: u64) -> Response<Full<Bytes>> {
    let mut response = refusal_page(StatusCode::SERVICE_UNAVAILABLE, state, W.busy_title, why);
    response
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

fn refusal_page(status: StatusCode, state: &State, title: &str, why: &str) -> Response<Full<Bytes>> {
    // A remedy comes on a line of its own.
    let body = html! {
        h1 { (title) }
        section.trouble { @for line in why.lines() { p { (frame::cut(line)) } } }
        @if status == StatusCode::BAD_REQUEST && let Some(Place::Other(url)) = &state.place { (start::other(url)) }
    };
    let mut response = write(title, state, None, body);
    *response.status_mut() = status;
    response
}
