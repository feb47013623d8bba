//! Asks for a visitor: a repository of this server in process, any other one over HTTP and within limits.
//!
//! Enters: where, and a query. Leaves: an [`Exchange`], or why nobody was asked.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use stook_store::StoreError;
use tokio::runtime::Handle;
use tracing::{error, info};
use url::Url;

use super::Visitor;
use super::state::Place;
use crate::config::Explore;
use crate::provider::Provider;
use crate::provider::access::{Verdict, judge};
use crate::provider::flow::{Busy, Turn};
use crate::provider::http::Site;
use crate::validate::{Answer, Asker, Document, Exchange, Manners, Question};

/// For one answer.
const PATIENCE: Duration = Duration::from_secs(20);
/// Of one answer.
const MOST_BYTES: u64 = 5_000_000;
/// No base URL is longer.
const MOST_URL_BYTES: usize = 2_000;

/// Nobody stops a page halfway: what it asks is bounded.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Why nobody was asked.
#[derive(Debug)]
pub(super) enum Refusal {
    /// There is no such repository.
    Unknown,
    /// Only repositories of this server may be explored.
    OnlyOwn,
    /// Credentials are wanted, in this way.
    Challenge(&'static str),
    /// The visitor is not let in.
    Forbidden,
    /// It is no base URL: why, and what to try.
    BadUrl(String),
    /// A limit is met.
    Busy(Busy),
    /// The store failed.
    Store(StoreError),
}

/// The repository that is asked.
pub(super) enum Target {
    Own(Arc<Provider>),
    Other(Url),
}

impl Target {
    /// The repository at a place, if this visitor may see it.
    pub(super) fn find(site: &Site, visitor: &Visitor, place: &Place) -> Result<Target, Refusal> {
        let own = site.providers().iter().find(|provider| match place {
            Place::Own(name) => provider.settings.name == *name,
            // Who names one of ours by its URL means it.
            Place::Other(url) => provider.settings.base_url == *url,
        });
        if let Some(provider) = own {
            let access = &provider.settings.access;
            return match judge(access, visitor.client, visitor.authorization.as_deref()) {
                Verdict::Welcome => Ok(Target::Own(provider.clone())),
                Verdict::Challenge(scheme) => Err(Refusal::Challenge(scheme)),
                Verdict::Forbidden => Err(Refusal::Forbidden),
            };
        }
        match place {
            Place::Own(_) => Err(Refusal::Unknown),
            Place::Other(_) if site.settings().explore != Explore::Any => Err(Refusal::OnlyOwn),
            Place::Other(url) if url.len() > MOST_URL_BYTES => {
                Err(Refusal::BadUrl(format!("it has more than {MOST_URL_BYTES} bytes")))
            }
            Place::Other(url) => {
                let asker = Asker::new(url, manners(site), &NEVER);
                let asker = asker.map_err(|error| Refusal::BadUrl(error.to_string()))?;
                Ok(Target::Other(asker.base().clone()))
            }
        }
    }

    /// Its base URL.
    pub(super) fn base_url(&self) -> &str {
        match self {
            Target::Own(provider) => &provider.settings.base_url,
            Target::Other(url) => url.as_str(),
        }
    }
}

/// How others are asked for visitors.
pub(super) fn manners(site: &Site) -> Manners {
    let emails = site.providers().iter().flat_map(|it| &it.settings.admin_emails);
    Manners {
        pause: Duration::ZERO,
        longest_wait: Duration::ZERO,
        timeout: PATIENCE,
        most_bytes: MOST_BYTES,
        contact: emails.into_iter().next().cloned().unwrap_or_default(),
        inside: site.settings().explore_private,
        ..Manners::default()
    }
}

/// Asks one repository for one page.
pub(super) struct Asking<'a> {
    site: &'a Site,
    visitor: &'a Visitor,
    pub(super) target: &'a Target,
    /// Of the provider: a page about an own repository is a request like any other.
    turn: Option<Turn>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(site: &'a Site, visitor: &'a Visitor, target: &'a Target) -> Asking<'a> {
        Asking {
            site,
            visitor,
            target,
            turn: None,
        }
    }

    /// Asks. To be called where waiting is allowed.
    pub(super) fn ask(&mut self, query: &str) -> Result<Exchange, Refusal> {
        match self.target {
            Target::Own(provider) => self.ask_own(provider, query),
            Target::Other(url) => self.ask_other(url, query),
        }
    }

    fn ask_own(&mut self, provider: &Provider, query: &str) -> Result<Exchange, Refusal> {
        if self.turn.is_none() {
            self.turn = Some(self.site.wait_for_turn(self.visitor.client).map_err(Refusal::Busy)?);
        }
        let started = Instant::now();
        let answer = provider.answer(query.as_bytes()).map_err(|failure| {
            error!("{failure}. Try: {}", failure.hint());
            Refusal::Store(failure)
        })?;
        let took = started.elapsed();
        Ok(Exchange {
            number: 1,
            question: Question::get(query),
            url: format!("{}?{query}", provider.settings.base_url),
            hops: Vec::new(),
            outcome: Ok(Answer {
                status: 200,
                headers: Vec::new(),
                received: answer.xml.len(),
                document: Document::read(&answer.xml),
                body: answer.xml,
                incomplete: None,
                first_byte: took,
                took,
            }),
        })
    }

    fn ask_other(&self, url: &Url, query: &str) -> Result<Exchange, Refusal> {
        let client = self.visitor.client;
        let gate = self.site.explorer().gate.clone();
        let _turn = Handle::current().block_on(gate.enter(client)).map_err(Refusal::Busy)?;
        let asker = Asker::new(url.as_str(), manners(self.site), &NEVER);
        let mut asker = asker.map_err(|error| Refusal::BadUrl(error.to_string()))?;
        info!(%client, url = url.as_str(), query, "asked for a visitor");
        Ok(asker.ask(Question::get(query)))
    }
}
