//! A run of the validator that is told while it goes on: the page grows as findings are made.
//!
//! Enters: a repository. Leaves: a page in pieces. The run has a thread of its own and ends when nobody reads the page
//! any more.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Either;
use maud::{Markup, html};
use tokio::sync::mpsc::Sender;
use tracing::info;

use super::ask::{Refusal, Target, manners};
use super::frame::{Page, cut, short};
use super::state::{Place, State};
use super::words::{W, with};
use super::{Visitor, findings, trouble};
use crate::provider::access::{Verdict, judge};
use crate::provider::flow::network;
use crate::provider::http::{self, Site};
use crate::provider::stream::{Reply, Streamed};
use crate::validate::table::Family;
use crate::validate::{self, Asker, Manners, Options, Outside, Progress, Question};

/// Between two requests to a repository on this machine, and to others.
const PAUSE_HERE: Duration = Duration::from_millis(10);
const PAUSE: Duration = Duration::from_millis(200);
/// A "come back later" that is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A whole run.
const LONGEST_RUN: Duration = Duration::from_secs(15 * 60);
/// Of one answer: more than a page may show, so that large lists can be judged.
const MOST_BYTES: u64 = 20_000_000;

/// Why a run does not begin.
pub(super) enum NotNow {
    /// As for any page.
    Refused(Refusal),
    /// In words, for a 503.
    Busy(&'static str),
    /// In words, for a 403.
    Never(String),
}

/// The runs that are going on.
pub(super) struct Runs {
    most: usize,
    going: Mutex<HashMap<IpAddr, Arc<AtomicBool>>>,
}

impl Runs {
    pub(super) fn new(most: usize) -> Runs {
        Runs {
            most,
            going: Mutex::default(),
        }
    }

    /// A place for a run of this client.
    fn begin(self: &Arc<Self>, client: IpAddr) -> Result<Going, &'static str> {
        let client = network(client);
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        if going.contains_key(&client) {
            return Err(W.busy_own_run);
        }
        if going.len() >= self.most {
            return Err(W.busy_runs);
        }
        let stop = Arc::new(AtomicBool::new(false));
        going.insert(client, stop.clone());
        Ok(Going {
            runs: self.clone(),
            client,
            stop,
        })
    }

    /// Ends them all: the server stops.
    pub(super) fn stop(&self) {
        let going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        for stop in going.values() {
            stop.store(true, Relaxed);
        }
    }
}

/// A place among the runs, free again when it is dropped.
struct Going {
    runs: Arc<Runs>,
    client: IpAddr,
    stop: Arc<AtomicBool>,
}

impl Drop for Going {
    fn drop(&mut self) {
        let mut going = self.runs.going.lock().unwrap_or_else(PoisonError::into_inner);
        going.remove(&self.client);
    }
}

/// The form that starts a run: a POST, so that no crawler does.
pub(super) fn invitation(state: &State) -> Markup {
    let most = Options::default().most_requests.to_string();
    html! {
        section.card.test aria-labelledby="test" {
            div { h2 id="test" { (W.test_title) } p { (with(W.test_lead, &[&most])) } }
            (button(state, W.test_go))
        }
    }
}

fn button(state: &State, text: &str) -> Markup {
    html! {
        form action="explore" method="post" {
            @if let Some((name, value)) = state.place.as_ref().map(Place::field) {
                input type="hidden" name=(name) value=(value);
            }
            button type="submit" { (text) }
        }
    }
}

/// Begins a run; the answer is its page.
pub(super) fn begin(site: &Arc<Site>, visitor: &Visitor, state: &State) -> Result<::http::Response<Reply>, NotNow> {
    let place = state.place.as_ref().ok_or(NotNow::Refused(Refusal::Unknown))?;
    let target = Target::find(site, visitor, place).map_err(NotNow::Refused)?;
    if site.settings().explore_runs == 0 {
        return Err(NotNow::Never(with(W.no_runs, &[target.base_url()])));
    }
    let (url, options) = subject(site, visitor, &target)?;
    let going = site.explorer().runs.begin(visitor.client).map_err(NotNow::Busy)?;
    info!(client = %visitor.client, url, "testing a repository for a visitor");
    let (sender, body) = Streamed::new(going.stop.clone());
    let name = match &target {
        Target::Own(provider) => provider.settings.repository_name.clone(),
        Target::Other(url) => url.to_string(),
    };
    let state = State::at(place.clone());
    let thread = std::thread::Builder::new().name("validator".into());
    let telling = Telling {
        sender,
        stop: going.stop.clone(),
        began: Instant::now(),
    };
    let run = move || {
        let _going = going;
        telling.run(&url, &options, state, &name);
    };
    thread.spawn(run).map_err(|_| NotNow::Busy(W.busy_runs))?;
    Ok(http::html(String::new()).map(|_| Either::Right(body)))
}

/// Where to ask, and how.
fn subject(site: &Site, visitor: &Visitor, target: &Target) -> Result<(String, Options), NotNow> {
    let manners = Manners {
        longest_wait: LONGEST_WAIT,
        most_bytes: MOST_BYTES,
        ..manners(site)
    };
    match target {
        Target::Other(url) => {
            let host = url.host_str().unwrap_or_default();
            let is_here = host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
            let options = Options {
                manners: Manners {
                    pause: if is_here { PAUSE_HERE } else { PAUSE },
                    ..manners
                },
                ..Options::default()
            };
            Ok((url.to_string(), options))
        }
        Target::Own(provider) => {
            let address = site.explorer().address();
            let authorization = visitor.authorization.clone();
            let verdict = judge(&provider.settings.access, address.ip(), authorization.as_deref());
            if verdict != Verdict::Welcome {
                return Err(NotNow::Never(with(W.run_closed, &[&provider.settings.base_url])));
            }
            let options = Options {
                manners: Manners {
                    pause: PAUSE_HERE,
                    inside: true,
                    headers: authorization
                        .map(|it| ("Authorization".to_owned(), it))
                        .into_iter()
                        .collect(),
                    ..manners
                },
                base_url: Some(provider.settings.base_url.clone()),
                ..Options::default()
            };
            Ok((format!("http://{address}{}", provider.settings.path), options))
        }
    }
}

/// Where this server reaches itself when it listens at an address.
pub(super) fn own_address(listens: SocketAddr) -> SocketAddr {
    let ip = match listens.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
        ip => ip,
    };
    SocketAddr::new(ip, listens.port())
}

/// Writes the page of a run.
struct Telling {
    sender: Sender<Bytes>,
    stop: Arc<AtomicBool>,
    began: Instant,
}

impl Telling {
    fn run(self, url: &str, options: &Options, state: State, name: &str) {
        let title = with(W.run_title, &[name]);
        let before = html! {
            h1 { (short(&title)) }
            p.lead { (W.run_lead) }
            p.running role="status" { (W.run_running) }
        };
        let page = Page {
            title,
            state: state.clone(),
            name: Some(name.to_owned()),
            body: html! {},
        };
        let (start, end) = page.around(&before);
        self.tell(start);
        let outcome = match self.first_trouble(url, options) {
            Some(trouble) => html! { div id="done" { (trouble) } },
            None => self.test(url, options, &state),
        };
        let ways = html! {
            (outcome)
            div.ways { (button(&state, W.run_again)) p { a href=(state.href()) { (W.run_back) } } }
        };
        self.tell(ways.into_string() + &end);
    }

    /// What keeps the very first request from being answered: then there is nothing to test, and words help more.
    fn first_trouble(&self, url: &str, options: &Options) -> Option<Markup> {
        let mut asker = Asker::new(url, options.manners.clone(), &self.stop).ok()?;
        let identify = asker.ask(Question::get("verb=Identify"));
        identify.answer().is_none().then(|| trouble::told(&identify))
    }

    /// Tells the test itself; what came of it.
    fn test(&self, url: &str, options: &Options, state: &State) -> Markup {
        self.tell(findings::family_begins(W.run_first));
        let is_made = |family: &Family| family.checks.iter().any(|check| options.wants(check));
        let mut tell = |progress: Progress<'_>| {
            self.tell(match progress {
                Progress::Family(family) if !is_made(family) => return,
                Progress::Family(family) => findings::family_ends() + &findings::family_begins(&family.title),
                Progress::Asked { .. } | Progress::Walked { .. } => findings::tick(),
                Progress::Found(finding) => findings::finding(finding, state),
            });
        };
        let outside = Outside {
            progress: &mut tell,
            stop: &self.stop,
        };
        let report = validate::repository(url, options, outside);
        self.tell(findings::family_ends());
        match &report {
            Ok(report) => findings::summary(report),
            Err(error) => {
                html! { section.trouble id="done" { p { (cut(&with(W.run_failed, &[&error.to_string()]))) } } }
            }
        }
    }

    /// Tells a piece, if anybody still reads: leaving the page stops the run. So does taking too long.
    fn tell(&self, piece: String) {
        let _ = self.sender.blocking_send(Bytes::from(piece));
        if self.began.elapsed() > LONGEST_RUN {
            self.stop.store(true, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_one_run_and_all_together_a_few() {
        let runs = Arc::new(Runs::new(2));
        let client = |last: u8| IpAddr::from([192, 0, 2, last]);
        let first = runs.begin(client(1)).ok().unwrap();
        assert_eq!(runs.begin(client(1)).err(), Some(W.busy_own_run));
        let second = runs.begin(client(2)).ok().unwrap();
        assert_eq!(runs.begin(client(3)).err(), Some(W.busy_runs));
        runs.stop();
        assert!(first.stop.load(Relaxed) && second.stop.load(Relaxed));
        drop(first);
        assert!(runs.begin(client(3)).is_ok());
    }

    #[test]
    fn the_server_reaches_itself_wherever_it_listens() {
        for (listens, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.0.2.1:8080", "192.0.2.1:8080"),
        ] {
            assert_eq!(own_address(listens.parse().unwrap()), expected.parse().unwrap());
        }
    }
}
