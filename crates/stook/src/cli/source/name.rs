//! A name for a source that was given as a URL alone.

use anyhow::{Context, Result};
use url::Url;

use crate::config::check_web_address;

/// A name made of the URL that nothing else has: of its host, else of host and path, else with a number.
pub(in crate::cli) fn name_for(url: &str, mut is_free: impl FnMut(&str) -> Result<bool>) -> Result<String> {
    check_web_address(url)?;
    let url = Url::parse(url.trim())?;
    let mut short = plain(url.host_str().unwrap_or_default().trim_start_matches("www."));
    // The parser leaves a port out if it is the usual one.
    if let Some(port) = url.port() {
        short = format!("{short}-{port}");
    }
    let long = match plain(url.path()) {
        path if path.is_empty() => short.clone(),
        path => format!("{short}-{path}"),
    };
    let numbered = (2..).map(|number| format!("{long}-{number}"));
    for name in [short, long.clone()].into_iter().chain(numbered) {
        if is_free(&name)? {
            return Ok(name);
        }
    }
    None.context("no name is free")
}

/// Letters and digits, with one dash between.
fn plain(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_of_the_host_and_differ() {
        let mut taken: Vec<String> = Vec::new();
        for (url, expected) in [
            ("https://www.example.org/oai", "example-org"),
            ("https://example.org:443/oai/", "example-org-oai"),
            ("https://example.org/oai", "example-org-oai-2"),
            ("https://example.org/", "example-org-2"),
            ("http://127.0.0.1:8080/", "127-0-0-1-8080"),
            ("http://127.0.0.1:8081/", "127-0-0-1-8081"),
            ("http://127.0.0.1:8081", "127-0-0-1-8081-2"),
            ("http://127.0.0.1:8081/a//b_c/?x=y", "127-0-0-1-8081-a-b-c"),
            ("http://[::1]:9/", "1-9"),
        ] {
            let name = name_for(url, |name| Ok(taken.iter().all(|other| other != name))).unwrap();
            assert_eq!(name, expected, "{url}");
            taken.push(name);
        }
    }

    #[test]
    fn what_is_no_web_address_has_no_name() {
        let error = name_for("example.org/oai", |_| Ok(true)).unwrap_err();
        assert!(error.to_string().contains("Try: https://example.org/oai"), "{error}");
    }
}
