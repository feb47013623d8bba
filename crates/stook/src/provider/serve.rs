//! Listening, accepting, and stopping without breaking off an answer.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tracing::{debug, info, warn};

use super::flow;
use super::http::Site;
use super::stall::Unstalled;
use crate::config::Server;

/// The threads to serve with: one for each answer in the making, as many as there are cores for everything else.
///
/// An answer is made on the thread that read its request and will send it: handing it to another one and back takes
/// about as long as a third of a page.
///
/// # Errors
/// When the system has no threads to give.
pub fn runtime(server: &Server) -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(flow::most_turns(server) + flow::cores())
        .enable_all()
        .build()
}

/// Listens on an address.
///
/// # Errors
/// When it is taken or not ours, with what to try.
pub async fn bind(listen: &str) -> Result<TcpListener> {
    TcpListener::bind(listen).await.map_err(|error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::AddrInUse => "stop the other program, or choose another port with --listen",
            std::io::ErrorKind::PermissionDenied => "choose a port above 1023 with --listen",
            std::io::ErrorKind::AddrNotAvailable => "choose an address of this machine, such as 0.0.0.0",
            _ => "write it as ADDRESS:PORT, such as 127.0.0.1:8080",
        };
        anyhow!("cannot listen on {listen}: {error}\nTry: {remedy}")
    })
}

/// Serves until `shutdown` is ready, then finishes the answers in flight.
///
/// # Errors
/// When it is not known where it listens. A failed connection concerns nobody else.
pub async fn run(listener: TcpListener, site: Site, shutdown: impl Future<Output = ()>) -> Result<()> {
    let site = Arc::new(site);
    site.explorer().listens_at(listener.local_addr()?);
    let settings = site.settings().clone();
    let connections = Arc::new(Semaphore::new(settings.max_connections));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(settings.header_timeout_seconds));
    let mut shutdown = pin!(shutdown);
    loop {
        let next = async {
            let permit = connections.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        // Both waits end with the shutdown: that of a server whose connections are all taken, too.
        let (permit, accepted) = tokio::select! {
            next = next => next,
            () = &mut shutdown => break,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: let some close.
                warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Answers are written whole, so there is nothing to gain by waiting for more.
        let _ = stream.set_nodelay(true);
        let serving = site.clone();
        let service = service_fn(move |request| {
            let site = serving.clone();
            async move { Ok::<_, Infallible>(site.respond(request, peer.ip()).await) }
        });
        let stream = Unstalled::new(stream, Duration::from_secs(settings.stall_timeout_seconds));
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                debug!(%peer, %error, "connection ended");
            }
            drop(permit);
        });
    }
    drop(listener);
    site.explorer().stop();
    info!("stopping; answers in flight are finished");
    let patience = Duration::from_secs(settings.shutdown_seconds);
    if tokio::time::timeout(patience, graceful.shutdown()).await.is_err() {
        warn!(
            "some answers were not taken in {} seconds and are given up",
            settings.shutdown_seconds
        );
    }
    Ok(())
}

/// Ready when the process is asked to stop: Ctrl-C, or SIGTERM from a service manager.
pub async fn asked_to_stop() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        let mut terminate = match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(terminate) => terminate,
            Err(_) => return interrupt.await.unwrap_or_default(),
        };
        tokio::select! {
            _ = interrupt => {}
            _ = terminate.recv() => {}
        }
    }
    #[cfg(not(unix))]
    let _ = interrupt.await;
}
