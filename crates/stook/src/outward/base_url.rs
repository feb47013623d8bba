//! The base URL of a repository, as somebody typed it.

use anyhow::{Result, anyhow, bail};
use url::Url;

/// The base URL as given, without a fragment. `credentials` says where a name and a password belong instead.
///
/// # Errors
/// When it is no base URL, with what to try.
pub(crate) fn base_url(text: &str, credentials: &str) -> Result<Url> {
    let mut url = Url::parse(text.trim()).map_err(|error| {
        anyhow!("{text:?} is not a URL: {error}\nTry: the base URL, such as https://example.org/oai")
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        bail!("{text:?} is not a web address\nTry: the base URL, such as https://example.org/oai");
    }
    url.set_fragment(None);
    if url.query_pairs().any(|(name, _)| name == "verb") {
        url.set_query(None);
        bail!("{text:?} is a request, not a base URL\nTry: {url}");
    }
    if url.username() != "" || url.password().is_some() {
        bail!("the URL holds a name or password\nTry: {credentials}");
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_told_from_requests_and_from_files() {
        assert!(base_url("https://example.org/oai?repository=a#top", "--user").is_ok());
        for (wrong, remedy) in [
            ("example.org/oai", "such as https://"),
            ("file:///etc/passwd", "such as https://"),
            ("http://example.org/oai?verb=Identify", "Try: http://example.org/oai"),
            ("http://me:secret@example.org/oai", "--user"),
        ] {
            let error = base_url(wrong, "--user").unwrap_err().to_string();
            assert!(error.contains(remedy), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
