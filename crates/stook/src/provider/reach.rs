//! Does the base URL lead here? Asked once at start-up, because harvesters compare it character by character.

use std::time::Duration;

use tracing::{info, warn};
use ureq::Agent;
use url::Url;

const PATIENCE: Duration = Duration::from_secs(5);
/// Identify answers are far smaller.
const MOST_BYTES: u64 = 256 * 1024;

/// What the base URL answers.
struct Answer {
    status: u16,
    text: String,
}

/// Asks `base_url` to identify itself and says in the log whether it is us.
pub async fn report(base_url: &str, path: &str) {
    let Ok(url) = Url::parse(base_url) else { return };
    if url.path() != path {
        info!(
            base_url,
            path, "base_url and path differ: the reverse proxy must pass the one to the other"
        );
    }
    let asked = base_url.to_owned();
    let Ok(answer) = tokio::task::spawn_blocking(move || identify(&asked)).await else {
        return;
    };
    let ours = format!("<baseURL>{}</baseURL>", base_url.replace('&', "&amp;"));
    match answer {
        Ok(answer) if answer.text.contains(&ours) => info!(base_url, "base_url leads here"),
        Ok(answer) if matches!(answer.status, 401 | 403) => info!(
            base_url,
            "base_url is answered, but asks for credentials: not known whether it leads here"
        ),
        Ok(_) => warn!(
            base_url,
            "base_url is answered by something else. Try: mend base_url or the reverse proxy"
        ),
        Err(ureq::Error::Timeout(_)) => warn!(
            base_url,
            "base_url gives no answer. Try: mend base_url or the reverse proxy"
        ),
        Err(error) => warn!(base_url, %error, "base_url is not reached from here. Try: mend base_url or the proxy"),
    }
}

fn identify(base_url: &str) -> Result<Answer, ureq::Error> {
    let config = Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        .user_agent(concat!("stook/", env!("CARGO_PKG_VERSION")))
        .build();
    let mut answer = Agent::new_with_config(config)
        .get(format!("{base_url}?verb=Identify"))
        .call()?;
    Ok(Answer {
        status: answer.status().as_u16(),
        text: answer
            .body_mut()
            .with_config()
            .limit(MOST_BYTES)
            .lossy_utf8(true)
            .read_to_string()?,
    })
}
