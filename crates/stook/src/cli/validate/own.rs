//! One's own repository, served in this process for the time of a test, so that it can be tested before it is public.

use anyhow::{Context, Result};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::cli::serve;
use crate::cli::session::{Place, Session, existing_configuration, existing_store};
use crate::config::{Access, LogFormat, Server};
use crate::provider::http::Site;
use crate::provider::{Provider, serve as server};

/// A repository of the configuration, being served. It ends when this goes.
pub(super) struct Own {
    /// Its name in the configuration.
    pub(super) name: String,
    /// Where the configuration is.
    pub(super) configuration: String,
    /// Where it is asked.
    pub(super) url: String,
    /// What it calls itself.
    pub(super) base_url: String,
    /// Dropped first: whoever serves stops.
    _stop: oneshot::Sender<()>,
    runtime: Option<Runtime>,
}

impl Own {
    /// Serves the repository of a place on a free port of this machine.
    pub(super) fn serve(place: &Place) -> Result<Own> {
        serve::start_logging(LogFormat::Text, "error");
        let config = existing_configuration(place, None)?;
        let session = Session::of(&config, existing_store(&config)?, place.repository.as_deref())?;
        // Who may harvest it is another question; and nobody is kept waiting by this one client.
        let mut settings = session.settings.clone();
        settings.access = Access::default();
        let limits = Server {
            client_requests_per_second: 0,
            client_concurrent_requests: 0,
            ..config.server.clone()
        };
        let (name, path, base_url) = (settings.name.clone(), settings.path.clone(), settings.base_url.clone());
        let provider = Provider::open(session.store.clone(), settings, &session.formats)
            .with_context(|| format!("repository {name:?}"))?;
        let runtime = server::runtime(&limits).context("starting the server's threads")?;
        let listener = runtime.block_on(server::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        runtime.spawn(server::run(listener, Site::new(vec![provider], limits), async {
            let _ = stopped.await;
        }));
        Ok(Own {
            name,
            configuration: place.config.display().to_string(),
            url: format!("http://{address}{path}"),
            base_url,
            _stop: stop,
            runtime: Some(runtime),
        })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
