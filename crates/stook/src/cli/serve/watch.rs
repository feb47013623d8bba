//! The folders that `stook serve` watches: a thread for each repository that has some.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use stook_store::Clock;
use tracing::{error, info, warn};

use crate::cli::in_words;
use crate::cli::session::Session;
use crate::config::{self, Config};
use crate::import::Options;
use crate::import::watch::{Told, Watch, Watcher};

/// What may be deleted at once, in percent: as much as with `stook import --watch` that is not told otherwise.
const MAX_DELETIONS: u8 = 10;

/// What is watched, and the threads at work.
#[derive(Default)]
pub(super) struct Watching {
    stop: Arc<AtomicBool>,
    watchers: Vec<(config::Repository, Watcher)>,
    threads: Vec<JoinHandle<()>>,
}

impl Watching {
    /// Gets ready to watch what the configuration names. A mistake in it is better told before anybody is answered.
    pub(super) fn prepare(config: &Config) -> Result<Watching> {
        let mut watching = Watching::default();
        for settings in config.repository.iter().filter(|settings| !settings.watch.is_empty()) {
            let name = &settings.name;
            let watcher = watcher(config, name, &watching.stop)
                .with_context(|| format!("watching folders for the repository {name:?}"))?;
            watching.watchers.push((settings.clone(), watcher));
        }
        Ok(watching)
    }

    /// Begins to watch.
    pub(super) fn start(&mut self) -> Result<()> {
        for (settings, mut watcher) in self.watchers.drain(..) {
            let name = settings.name;
            let (every, stop) = (Duration::from_secs(settings.watch_seconds), self.stop.clone());
            for folder in &settings.watch {
                info!(repository = name, folder = %folder.display(), "watching");
            }
            let thread = std::thread::Builder::new().name("watch".into());
            let thread = thread.spawn(move || watcher.keep(every, &stop, &mut |told| log(&name, told)))?;
            self.threads.push(thread);
        }
        Ok(())
    }

    /// Ends after the batches in hand.
    pub(super) fn finish(self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads {
            if thread.join().is_err() {
                error!("a thread that watched folders died; what it had published is safe");
            }
        }
    }
}

/// With a store of its own: what it writes is not to wait for answers, nor they for it.
fn watcher(config: &Config, name: &str, stop: &Arc<AtomicBool>) -> Result<Watcher> {
    let store = config.store.open(Clock::system())?;
    let stop = stop.clone();
    store.on_wait(move |_| match stop.load(Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    let session = Session::of(config, store, Some(name))?;
    let mut options = Options::new(session.namespace()?);
    options.formats = session.formats.clone();
    options.crosswalks = session.crosswalks()?;
    options.set_rules = Arc::new(session.set_rules()?);
    let watch = Watch {
        folders: session.settings.watch.clone(),
        forget: vec![],
        max_deletions: MAX_DELETIONS,
        repository: (config.repository.len() > 1).then(|| name.to_owned()),
        is_server: true,
    };
    Watcher::new(&session.store, session.repository, watch, options)
}

fn log(repository: &str, told: Told) {
    let in_one_line = |text: &str| text.replace("\nTry: ", ". Try: ");
    match told {
        Told::News(text) => info!(repository, "watched folders: {text}"),
        Told::Trouble(text) => warn!(repository, "watched folders: {}", in_one_line(&text)),
        Told::Failed(failure) => {
            let text = in_one_line(&in_words(&failure));
            error!(repository, "watched folders: {text}. It is tried again");
        }
    }
}
