//! `stook serve`: answer harvesters.

mod watch;

use std::io::IsTerminal;

use anyhow::{Context, Result};
use clap::Args;
use stook_store::{Clock, StoreAddress, is_private};
use tokio::net::TcpListener;
use tracing::{info, warn};
use tracing_subscriber::EnvFilter;

use super::Ending;
use super::session::{Place, existing_configuration};
use crate::config::{Config, LogFormat};
use crate::harvest::source;
use crate::provider::http::Site;
use crate::provider::{Provider, reach, replicas, serve};

/// Answer harvesters over HTTP until stopped
#[derive(Args)]
#[command(after_help = "\
Examples:
  stook serve
  stook serve --listen 0.0.0.0:8080
  STOOK_LOG=warn stook serve          fewer log lines (error, warn, info, debug)

Beside the repositories it serves:
  /          a page for people
  /explore   see what a repository says, in words and as XML, and test it
  /healthz   200 while the store can be read
  /metrics   counters for Prometheus
  /checks/   what `stook validate` checks, a page for each check

Folders that a [[repository]] names as watch = [\"inbox\"] are watched meanwhile: files that come, change and go there
become records, changes and deletions.

Ctrl-C or SIGTERM finishes the answers in flight and stops.")]
pub(super) struct Serve {
    /// Where to listen, instead of what the configuration says
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
}

impl Serve {
    pub(super) fn run(self, place: &Place) -> Result<Ending> {
        let config = existing_configuration(place, self.listen.as_deref())?;
        start_logging(config.server.log_format, "info");
        warn_about_secrets(&config, place);
        run_until_stopped(&config, |_| {})?;
        Ok(Ending::Fine)
    }
}

/// Serves a configuration until the process is asked to stop; `announce` hears the address.
pub(super) fn run_until_stopped(config: &Config, announce: impl FnOnce(&TcpListener)) -> Result<()> {
    let runtime = serve::runtime(&config.server).context("starting the server's threads")?;
    let mut watching = watch::Watching::prepare(config)?;
    let served = runtime.block_on(async {
        let listener = serve::bind(&config.server.listen).await?;
        let site = site(config)?;
        info!("listening on http://{}/", listener.local_addr()?);
        for provider in site.providers() {
            let (base_url, path) = (provider.settings.base_url.clone(), provider.settings.path.clone());
            info!(repository = provider.settings.name, base_url, "serving");
            tokio::spawn(async move { reach::report(&base_url, &path).await });
        }
        announce(&listener);
        watching.start()?;
        serve::run(listener, site, serve::asked_to_stop()).await
    });
    watching.finish();
    served
}

fn site(config: &Config) -> Result<Site> {
    let store = config.store.open_with_replicas(&config.read_urls, Clock::system())?;
    // Better no start than a server that fails at every request: giving out a date takes a right to write.
    store.read()?;
    replicas::watch(&store);
    let formats = config.formats()?;
    let open = |settings: &crate::config::Repository| {
        Provider::open(store.clone(), settings.clone(), &formats)
            .with_context(|| format!("repository {:?}", settings.name))
    };
    let mut repositories = config.repository.clone();
    let harvested = source::all(&store)?.into_iter().filter(|source| source.settings.serve);
    repositories.extend(harvested.map(|source| source.as_repository(config)));
    let providers = repositories.iter().map(open).collect::<Result<Vec<_>>>()?;
    Ok(Site::new(providers, config.server.clone()))
}

/// Log lines go to standard error; STOOK_LOG chooses how many.
pub(super) fn start_logging(format: LogFormat, default: &str) {
    // A word that is no level would be taken for the name of a module, and silence everything.
    let wanted = std::env::var("STOOK_LOG").unwrap_or_default();
    let is_level = ["off", "error", "warn", "info", "debug", "trace"].contains(&wanted.as_str());
    if !is_level && !wanted.is_empty() {
        eprintln!("stook: STOOK_LOG={wanted} is not a level; using {default}\nTry: error, warn, info or debug");
    }
    let filter = EnvFilter::new(if is_level { &wanted } else { default });
    let colours = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    let lines = lines.with_ansi(colours);
    match format {
        LogFormat::Text => lines.init(),
        LogFormat::Json => lines.json().flatten_event(true).init(),
    }
}

/// Passwords in a file that is not its owner's alone are worth a word.
fn warn_about_secrets(config: &Config, place: &Place) {
    let has_secrets = config
        .repository
        .iter()
        .any(|it| !it.access.users.is_empty() || !it.access.tokens.is_empty())
        || config.store.has_password()
        || config
            .read_urls
            .iter()
            .any(|url| StoreAddress::Server(url.clone()).has_password());
    if has_secrets && !is_private(&place.config) {
        let file = place.config.display();
        warn!("{file} holds passwords and others have access to it. Try: chmod 600 {file}");
    }
}
