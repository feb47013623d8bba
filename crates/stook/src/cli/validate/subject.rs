//! What is tested: a URL, a file, or one's own repository; and how its server is addressed.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue};
use stook_oai::Datestamp;
use url::Url;

use super::own::Own;
use crate::cli::session::Place;
use crate::outward;
use crate::validate::Options;

const EVIDENCE: &str = "stook-evidence";

/// What is tested.
pub(super) enum Subject {
    /// A repository somewhere.
    Url(String),
    /// The file of a static repository.
    File(PathBuf),
    /// A repository of the configuration, served here for the time of the test.
    Own(Own),
}

impl Subject {
    /// What somebody means.
    pub(super) fn of(given: Option<&str>, place: &Place) -> Result<Subject> {
        let Some(given) = given else {
            let own = Own::serve(place).context("without a URL, the repository of the configuration is tested")?;
            return Ok(Subject::Own(own));
        };
        if place.repository.is_some() {
            bail!("-r names a repository of the configuration, and {given:?} another one\nTry: one of the two");
        }
        if given.contains("://") {
            return Ok(Subject::Url(given.to_owned()));
        }
        match Path::new(given).is_file() {
            true => Ok(Subject::File(given.into())),
            false => bail!(
                "{given:?} is neither a URL nor a file\nTry: the base URL with its beginning, such as https://{}",
                given.trim_start_matches('/')
            ),
        }
    }

    /// Where it is asked; a file is not.
    pub(super) fn url(&self) -> String {
        match self {
            Subject::Url(url) => url.clone(),
            Subject::File(path) => path.display().to_string(),
            Subject::Own(own) => own.url.clone(),
        }
    }

    /// How it is called when something goes wrong.
    pub(super) fn name(&self) -> String {
        match self {
            Subject::Own(own) => format!("the repository {:?}", own.name),
            other => other.url(),
        }
    }

    /// What it must call itself, if that is not where it is asked.
    pub(super) fn base_url(&self) -> Option<&str> {
        match self {
            Subject::Own(own) => Some(&own.base_url),
            _ => None,
        }
    }

    pub(super) fn is_own(&self) -> bool {
        matches!(self, Subject::Own(_))
    }

    /// Whether it is on this machine or in this network, where nobody minds many requests.
    pub(super) fn is_near(&self) -> bool {
        match self {
            Subject::Url(url) => Url::parse(url).is_ok_and(|url| outward::is_inside(&url)),
            Subject::File(_) | Subject::Own(_) => true,
        }
    }

    /// A folder that no other run has.
    pub(super) fn evidence_folder(&self) -> PathBuf {
        let host = match self {
            Subject::Url(url) => Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)),
            Subject::File(_) => None,
            Subject::Own(own) => Some(own.name.clone()),
        };
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '-' | '_');
        let host = host.unwrap_or_else(|| "file".to_owned());
        let host: String = host
            .chars()
            .map(|sign| if is_plain(sign) { sign } else { '-' })
            .collect();
        let seconds = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
        let now = i64::try_from(seconds).ok().and_then(Datestamp::from_unix);
        let now = now.unwrap_or(Datestamp::UNIX_EPOCH).to_string().replace(['-', ':'], "");
        Path::new(EVIDENCE).join(format!("{}-{now}", host.trim_matches(['.', '-'])))
    }

    /// Says what is done where that is not plain.
    pub(super) fn announce(&self, options: &Options) {
        let Subject::Own(own) = self else {
            return;
        };
        let hostile = match options.skip.iter().any(|name| name.eq_ignore_ascii_case("U")) {
            true => "",
            false => ", hostile requests too",
        };
        eprintln!(
            "Testing the repository {:?} of {} here, at {}, as if it were at {}: without its access rules{hostile}.",
            own.name, own.configuration, own.url, own.base_url
        );
    }
}

/// An address to write to, as it stands in headers.
pub(super) fn contact(text: &str) -> Result<String> {
    let text = text.trim();
    let is_address = text
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    if !is_address || HeaderValue::from_str(text).is_err() || text.contains(['(', ')', ' ']) {
        bail!("--contact {text:?} is no mail address\nTry: --contact you@example.org");
    }
    Ok(text.to_owned())
}

/// The headers that a name and a password, and headers as they are written, come to.
pub(super) fn headers(user: Option<&str>, written: &[String]) -> Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    if let Some(user) = user {
        if user.contains(':') {
            bail!("the name of --user has a colon\nTry: the password in STOOK_PASSWORD");
        }
        let credentials = format!("{user}:{}", password(user)?);
        headers.push((
            "Authorization".to_owned(),
            format!("Basic {}", STANDARD.encode(credentials)),
        ));
    }
    for header in written {
        headers.push(parse_header(header)?);
    }
    Ok(headers)
}

/// The value may be a secret, so it is not repeated.
fn parse_header(header: &str) -> Result<(String, String)> {
    let wrong = || anyhow!("a --header is not written as \"Name: value\"\nTry: --header \"X-Key: 12\"");
    let (name, value) = header.split_once(':').ok_or_else(wrong)?;
    let (name, value) = (name.trim(), value.trim());
    if HeaderName::try_from(name).is_err() || HeaderValue::from_str(value).is_err() {
        return Err(wrong());
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn password(user: &str) -> Result<String> {
    if let Ok(password) = std::env::var("STOOK_PASSWORD") {
        return Ok(password);
    }
    let terminal = console::Term::stderr();
    if !terminal.is_term() {
        bail!("there is no password for {user:?}\nTry: STOOK_PASSWORD=… stook validate --user {user} …");
    }
    terminal.write_str(&format!("Password of {user}: "))?;
    let password = terminal.read_secure_line().context("reading the password")?;
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_their_values_never_repeated() {
        let headers = headers(None, &["X-Key:  a: b ".to_owned()]).unwrap();
        assert_eq!(headers, [("X-Key".to_owned(), "a: b".to_owned())]);
        for wrong in ["secret", "X Key: secret", "X-Key: secret\nHost: x"] {
            let error = parse_header(wrong).unwrap_err().to_string();
            assert!(error.contains("Try: ") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn contacts_are_addresses() {
        assert_eq!(contact(" a@example.org ").unwrap(), "a@example.org");
        for wrong in ["", "a", "@b", "a@", "a@b\r\nX: y", "a (b)@c"] {
            assert!(contact(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn folders_of_evidence_stay_where_they_belong() {
        let folder = |url: &str| Subject::Url(url.to_owned()).evidence_folder().display().to_string();
        assert!(folder("https://example.org:8080/oai").starts_with("stook-evidence/example.org-2"));
        assert!(folder("http://[::1]/../../x").starts_with("stook-evidence/"));
        assert!(!folder("http://[::1]/").contains(".."));
        let file = Subject::File("../../records.xml".into()).evidence_folder();
        assert!(!file.display().to_string().contains(".."));
    }
}
