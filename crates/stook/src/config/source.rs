//! The settings of a source: which values can work, and which are secret.
//!
//! Enters: settings as somebody wrote them. Leaves: a sentence that names the setting, what was given and what is
//! wanted; or the settings without what only we and the source may know. Nobody is asked for anything here.

use anyhow::{Result, anyhow, bail};
use http::{HeaderName, HeaderValue};
use stook_oai::{MetadataPrefix, SetSpec, UtcDatetime};
use url::{ParseError, Url};

use super::Source;

/// What stands in the place of a secret that is there and not shown.
const MASK: &str = "(secret)";

impl Source {
    /// Whether the settings can be used at all.
    ///
    /// # Errors
    /// With the setting, what is wrong about it and what to try.
    pub fn check(&self) -> Result<()> {
        check_web_address(&self.url)?;
        if self.prefixes.is_empty() {
            bail!("prefixes names no format\nTry: prefixes=oai_dc");
        }
        for prefix in &self.prefixes {
            MetadataPrefix::parse(prefix).map_err(|error| anyhow!("prefixes: {error}\nTry: prefixes=oai_dc,marc21"))?;
        }
        for set in &self.sets {
            SetSpec::parse(set).map_err(|error| anyhow!("sets: {error}\nTry: sets=maps,photos:old"))?;
        }
        self.check_dates()?;
        if self.max_deletions > 100 {
            bail!(
                "max_deletions={}: it is a percentage\nTry: 0 to 100",
                self.max_deletions
            );
        }
        self.check_headers()?;
        self.check_proxy()
    }

    fn check_dates(&self) -> Result<()> {
        let read = |name: &str, text: &str| match text {
            "" => Ok(None),
            text => UtcDatetime::parse(text)
                .map(Some)
                .map_err(|error| anyhow!("{name}: {error}\nTry: {name}=2024-01-31 or {name}=2024-01-31T23:59:59Z")),
        };
        let (from, until) = (read("from", &self.from)?, read("until", &self.until)?);
        if let (Some(from), Some(until)) = (from, until)
            && from.first_second() > until.last_second()
        {
            bail!(
                "from={from} is later than until={until}: no record can match\nTry: an earlier from, or a later until"
            );
        }
        Ok(())
    }

    /// What a request carries for this source alone. Values are not repeated: they are secrets.
    fn check_headers(&self) -> Result<()> {
        for (at, header) in self.headers.iter().enumerate() {
            let fits = header.split_once(':').is_some_and(|(name, value)| {
                HeaderName::from_bytes(name.trim().as_bytes()).is_ok() && HeaderValue::from_str(value.trim()).is_ok()
            });
            if !fits {
                bail!(
                    "headers: number {} is not a name, a colon and a value\nTry: headers='Name: value', or \
                     headers='[\"Name: value, with a comma\"]'",
                    at + 1
                );
            }
        }
        // In HTTP basic authentication the first colon ends the name.
        if self.user.contains(':') {
            bail!("user={:?} has a colon\nTry: the settings user and password", self.user);
        }
        if HeaderValue::from_str(&self.token).is_err() {
            bail!("token holds a character that a request cannot carry\nTry: the token alone, without line breaks");
        }
        Ok(())
    }

    fn check_proxy(&self) -> Result<()> {
        if self.proxy.is_empty() {
            return Ok(());
        }
        // What cannot be read may hold a password anywhere before an @.
        let given = match (self.proxy.split_once("://"), self.proxy.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
            (None, Some((_, host))) => format!("…@{host}"),
            (_, None) => self.proxy.clone(),
        };
        let is_web = self.proxy.starts_with("http://") || self.proxy.starts_with("https://");
        if !is_web || Url::parse(&self.proxy).is_err() {
            bail!(
                "proxy={given:?}: only proxies at http:// and https:// are supported\nTry: proxy=http://proxy.example.org:3128"
            );
        }
        Ok(())
    }

    /// The settings as they may be shown: a mask where a secret is.
    #[must_use]
    pub fn masked(&self) -> Source {
        let mut masked = self.clone();
        for secret in [&mut masked.password, &mut masked.token] {
            if !secret.is_empty() {
                MASK.clone_into(secret);
            }
        }
        for header in &mut masked.headers {
            *header = format!("{}: {MASK}", header_name(header));
        }
        if let Some((before, behind)) = around_password(&self.proxy) {
            masked.proxy = format!("{before}:{MASK}@{behind}");
        }
        masked
    }

    /// The settings without their secrets, and which those are: `password`, `token`, `header NAME`, `proxy`.
    #[must_use]
    pub fn without_secrets(&self) -> (Source, Vec<String>) {
        let mut plain = Source {
            password: String::new(),
            token: String::new(),
            headers: Vec::new(),
            ..self.clone()
        };
        let mut secrets = Vec::new();
        for (name, value) in [("password", &self.password), ("token", &self.token)] {
            if !value.is_empty() {
                secrets.push(name.to_owned());
            }
        }
        let headers = self.headers.iter().map(|header| header_name(header));
        secrets.extend(headers.map(|name| format!("header {name}")));
        if let Some((before, behind)) = around_password(&self.proxy) {
            plain.proxy = format!("{before}@{behind}");
            secrets.push("proxy".to_owned());
        }
        (plain, secrets)
    }

    /// The settings to give again, as one would type them, of those secrets that are not there.
    #[must_use]
    pub fn missing(&self, secrets: &[String]) -> Vec<String> {
        let (_, present) = self.without_secrets();
        let mut assignments = Vec::new();
        let mut headers = Vec::new();
        for secret in secrets.iter().filter(|secret| !present.contains(secret)) {
            match (secret.as_str(), self.proxy.split_once('@')) {
                (name @ ("password" | "token"), _) => assignments.push(format!("{name}=…")),
                ("proxy", Some((before, behind))) => assignments.push(format!("'proxy={before}:…@{behind}'")),
                ("proxy", None) => assignments.push("proxy=…".to_owned()),
                (header, _) => headers.push(format!("{}: …", header.strip_prefix("header ").unwrap_or(header))),
            }
        }
        if !headers.is_empty() {
            assignments.push(format!("'headers={}'", headers.join(", ")));
        }
        assignments
    }
}

fn header_name(header: &str) -> &str {
    header.split(':').next().unwrap_or_default().trim()
}

/// What stands before and behind `:PASSWORD@` in an address that has one.
fn around_password(address: &str) -> Option<(&str, &str)> {
    let authority = address.find("://")? + 3;
    let end = address[authority..]
        .find(['/', '?', '#'])
        .map_or(address.len(), |end| authority + end);
    let at = authority + address[authority..end].rfind('@')?;
    let colon = authority + address[authority..at].find(':')?;
    (colon + 1 < at).then(|| (&address[..colon], &address[at + 1..]))
}

/// A base URL: http or https, a host, no credentials.
///
/// # Errors
/// With what is wrong and what to try.
pub fn check_web_address(text: &str) -> Result<()> {
    const EXAMPLE: &str = "the base URL, such as https://example.org/oai";
    let text = text.trim();
    if text.is_empty() {
        bail!("the url is missing\nTry: {EXAMPLE}");
    }
    if !text.contains("://") {
        bail!("{text:?} does not begin with http:// or https://\nTry: https://{text}");
    }
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(ParseError::RelativeUrlWithoutBase) => bail!("{text:?} is not a web address\nTry: {EXAMPLE}"),
        Err(error) => bail!("{text:?} is not a web address: {error}\nTry: {EXAMPLE}"),
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        bail!("{text:?} is not at http:// or https://\nTry: {EXAMPLE}");
    }
    if url.query_pairs().any(|(name, _)| name == "verb") {
        let (base, _) = text.split_once('?').unwrap_or((text, ""));
        bail!("{text:?} is a request, not a base URL\nTry: {base}");
    }
    if url.username() != "" || url.password().is_some() {
        bail!("the url holds a name or password\nTry: the settings user and password");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(change: impl FnOnce(&mut Source)) -> Source {
        let mut source = Source {
            url: "https://example.org/oai".into(),
            ..Source::default()
        };
        change(&mut source);
        source
    }

    #[test]
    fn what_cannot_work_is_refused_with_a_remedy() {
        for (wrong, expected) in [
            (source(|it| it.url = String::new()), "url is missing"),
            (
                source(|it| it.url = "example.org/oai".into()),
                "Try: https://example.org/oai",
            ),
            (source(|it| it.url = "ftp://example.org/".into()), "not at http://"),
            (source(|it| it.url = "http://:80/".into()), "not a web address"),
            (
                source(|it| it.url = "http://u:p@example.org/".into()),
                "user and password",
            ),
            (
                source(|it| it.url = "http://example.org/oai?verb=Identify".into()),
                "Try: http://example.org/oai",
            ),
            (source(|it| it.prefixes = vec![]), "names no format"),
            (source(|it| it.prefixes = vec!["a b".into()]), "prefixes"),
            (source(|it| it.sets = vec!["a::b".into()]), "sets"),
            (source(|it| it.from = "yesterday".into()), "from=2024-01-31"),
            (
                source(|it| (it.from, it.until) = ("2024-02-01".into(), "2024-01-31T23:59:59Z".into())),
                "later than until",
            ),
            (source(|it| it.max_deletions = 101), "max_deletions=101"),
            (source(|it| it.headers = vec!["A: b".into(), "c".into()]), "number 2"),
            (source(|it| it.headers = vec!["A b: c".into()]), "number 1"),
            (source(|it| it.user = "a:b".into()), "user"),
            (source(|it| it.token = "a\nb".into()), "token"),
            (source(|it| it.proxy = "junk".into()), "proxy=\"junk\""),
            (source(|it| it.proxy = "socks5://localhost:1080".into()), "socks5://"),
            (source(|it| it.proxy = "http://".into()), "only proxies"),
        ] {
            let error = wrong.check().unwrap_err().to_string();
            assert!(
                error.contains(expected) && error.contains("\nTry: "),
                "{expected}: {error}"
            );
        }
        let bad = source(|it| it.proxy = "http://u:pass/word@host".into());
        assert!(!bad.check().unwrap_err().to_string().contains("pass"));
        for fine in [
            source(|it| (it.from, it.until) = ("2024-01-31T12:00:00Z".into(), "2024-01-31".into())),
            source(|it| it.proxy = "http://u:pw@proxy.example.org:3128".into()),
            source(|it| it.headers = vec!["X-Key: a: b, c".into()]),
            source(|it| it.max_deletions = 100),
        ] {
            fine.check().unwrap();
        }
    }

    #[test]
    fn secrets_are_masked_taken_out_and_asked_for_again() {
        let full = source(|it| {
            it.user = "me".into();
            it.password = "pw1".into();
            it.token = "pw2".into();
            it.headers = vec!["X-Key: pw3".into(), "X-Two: pw4".into()];
            it.proxy = "http://u:pw5@host:3128/".into();
        });
        let text = |source: &Source| serde_json::to_string(source).unwrap();
        let (plain, secrets) = full.without_secrets();
        assert!(!text(&full.masked()).contains("pw") && !text(&plain).contains("pw"));
        assert_eq!(full.masked().proxy, "http://u:(secret)@host:3128/");
        assert_eq!(plain.proxy, "http://u@host:3128/");
        assert_eq!(secrets, ["password", "token", "header X-Key", "header X-Two", "proxy"]);
        assert_eq!(
            plain.missing(&secrets),
            [
                "password=…",
                "token=…",
                "'proxy=http://u:…@host:3128/'",
                "'headers=X-Key: …, X-Two: …'"
            ]
        );
        assert!(full.missing(&secrets).is_empty());
        let open = source(|it| it.proxy = "http://host:3128/a:b@c".into());
        assert_eq!(open.masked().proxy, open.proxy);
    }
}
