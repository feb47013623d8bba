//! Does the base URL lead here? Asked once at start-up, because harvesters compare it character by character.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tracing::{info, warn};
use url::Url;

const PATIENCE: Duration = Duration::from_secs(5);
/// Identify answers are far smaller.
const MOST_BYTES: u64 = 256 * 1024;

/// Asks `base_url` to identify itself and says in the log whether it is us.
pub async fn report(base_url: &str, path: &str) {
    let Ok(url) = Url::parse(base_url) else { return };
    if url.path() != path {
        info!(
            base_url,
            path, "base_url and path differ: the reverse proxy must pass the one to the other"
        );
    }
    if url.scheme() != "http" {
        info!(
            base_url,
            "not tried from here: open {base_url}?verb=Identify in a browser to see that it leads here"
        );
        return;
    }
    match timeout(PATIENCE, identify(&url)).await {
        Ok(Ok(answer)) if answer.contains(&format!("<baseURL>{}</baseURL>", base_url.replace('&', "&amp;"))) => {
            info!(base_url, "base_url leads here");
        }
        Ok(Ok(answer)) if answer.starts_with("HTTP/1.1 401") || answer.starts_with("HTTP/1.1 403") => info!(
            base_url,
            "base_url is answered, but asks for credentials: not known whether it leads here"
        ),
        Ok(Ok(_)) => warn!(
            base_url,
            "base_url is answered by something else. Try: mend base_url or the reverse proxy"
        ),
        Ok(Err(error)) => warn!(base_url, %error, "base_url is not reached from here. Try: mend base_url or the proxy"),
        Err(_) => warn!(
            base_url,
            "base_url gives no answer. Try: mend base_url or the reverse proxy"
        ),
    }
}

async fn identify(url: &Url) -> std::io::Result<String> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(80);
    let mut stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    let request = format!(
        "GET {}?verb=Identify HTTP/1.1\r\nHost: {host}:{port}\r\nUser-Agent: stook/{}\r\nConnection: close\r\n\r\n",
        url.path(),
        env!("CARGO_PKG_VERSION")
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
