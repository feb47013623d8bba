//! What the types of the settings cannot say: which values make answers that are valid and a server that works.
//!
//! Whatever passes here can stand in an answer; nothing in the configuration can make Identify invalid.

use anyhow::{Result, anyhow, bail};
use stook_oai::{OaiNamespace, any_uri_flaw, xml};
use url::Url;

use super::{HouseFormat, Repository, Rights, Server};

/// Paths that the server itself answers.
const OWN_PATHS: [&str; 4] = ["/healthz", "/metrics", "/favicon.ico", "/explore"];

impl Server {
    pub(super) fn check(&self) -> Result<()> {
        let listen = &self.listen;
        if listen
            .rsplit_once(':')
            .is_none_or(|(host, port)| host.is_empty() || port.parse::<u16>().is_err())
        {
            bail!("listen {listen:?} is not ADDRESS:PORT\nTry: 127.0.0.1:8080");
        }
        if self.max_connections == 0 || self.header_timeout_seconds == 0 || self.stall_timeout_seconds == 0 {
            bail!("[server] max_connections, header_timeout_seconds and stall_timeout_seconds must be at least 1");
        }
        if self.explore_concurrent_requests == 0 {
            bail!("[server] explore_concurrent_requests must be at least 1\nTry: explore = \"own\" to ask nobody else");
        }
        Ok(())
    }
}

impl HouseFormat {
    pub(super) fn check(&self) -> Result<()> {
        let prefix = &self.prefix;
        if self.namespace.is_empty() || self.schema.is_empty() || self.root.is_empty() {
            bail!("[[format]] {prefix} needs namespace, schema and root");
        }
        if prefix == "all" {
            bail!("[[format]] prefix \"all\" is reserved by the specification\nTry: another prefix");
        }
        check_uri(&format!("[[format]] {prefix} namespace"), &self.namespace)?;
        check_uri(&format!("[[format]] {prefix} schema"), &self.schema)
    }
}

impl Repository {
    /// Checks everything, and fills in the base URL if there is none.
    pub(super) fn check(&mut self, listen: &str) -> Result<()> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(is_plain) {
            bail!("name {:?}: use letters, digits, - and _", self.name);
        }
        self.check_path()?;
        if self.base_url.is_empty() {
            self.base_url = format!("http://{listen}{}", self.path);
        }
        check_base_url(&self.base_url)?;
        self.check_people()?;
        self.check_containers()?;
        if !self.namespace.is_empty() {
            OaiNamespace::parse(&self.namespace)
                .map_err(|error| anyhow!("namespace {:?}: {error}\nTry: your domain name", self.namespace))?;
        }
        for (name, value) in [("page_size", self.page_size), ("set_page_size", self.set_page_size)] {
            if !(1..=10_000).contains(&value) {
                bail!("{name} = {value}: use 1 to 10000");
            }
        }
        if !(64..=65_536).contains(&self.page_kilobytes) || !(1..=8_760).contains(&self.token_hours) {
            bail!("page_kilobytes must be 64 to 65536 and token_hours 1 to 8760");
        }
        if !(1..=86_400).contains(&self.watch_seconds) {
            bail!("watch_seconds = {}: use 1 to 86400", self.watch_seconds);
        }
        if !self.watch.is_empty() && self.namespace.is_empty() {
            bail!("watch needs a namespace for the identifiers\nTry: namespace = \"your.domain\"");
        }
        if self.watch.iter().any(|folder| folder.as_os_str().is_empty()) {
            bail!("watch has an empty name\nTry: watch = [\"inbox\"], or [\".\"] for the folder of this file");
        }
        self.check_access()
    }

    fn check_path(&self) -> Result<()> {
        let path = &self.path;
        if !path.starts_with('/') || path.len() < 2 || path.ends_with('/') {
            bail!("path {path:?}: begin with a slash and end without one, such as /oai");
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.~/".contains(c);
        if !path.chars().all(is_plain) || path.contains("//") || path.contains("/.") {
            bail!("path {path:?}: use letters, digits and - _ . ~ between single slashes");
        }
        if OWN_PATHS.contains(&path.as_str()) {
            bail!("path {path:?} is answered by the server itself\nTry: /oai");
        }
        Ok(())
    }

    /// What people read and write to.
    fn check_people(&self) -> Result<()> {
        if self.repository_name.trim().is_empty() {
            bail!("repository_name is empty\nTry: repository_name = \"Library of …\"");
        }
        check_text("repository_name", &self.repository_name)?;
        if self.admin_emails.is_empty() {
            bail!("admin_emails is empty\nTry: admin_emails = [\"oai@your.domain\"]");
        }
        for email in &self.admin_emails {
            if !stook_oai::admin_email_is_valid(email) {
                bail!("admin_emails: {email:?} is not an address such as oai@example.org");
            }
        }
        Ok(())
    }

    /// What stands in the descriptions of Identify.
    fn check_containers(&self) -> Result<()> {
        for friend in &self.friends {
            check_uri("friends", friend)?;
        }
        if let Some(branding) = &self.branding {
            check_uri("branding.icon", &branding.icon)?;
            branding
                .link
                .iter()
                .try_for_each(|link| check_uri("branding.link", link))?;
            branding
                .title
                .iter()
                .try_for_each(|title| check_text("branding.title", title))?;
        }
        if let Some(eprints) = &self.eprints {
            let policies = [&eprints.content, &eprints.submission_policy].into_iter().flatten();
            let policies = policies.chain([&eprints.metadata_policy, &eprints.data_policy]);
            for text in policies.chain(&eprints.comments) {
                check_text("eprints", text)?;
                if is_url(text) {
                    check_uri("eprints", text)?;
                }
            }
        }
        for rights in &self.rights {
            if let Rights::Reference(address) = rights {
                check_uri("rights.reference", address)?;
            }
        }
        let codings = &self.compression;
        if codings
            .iter()
            .enumerate()
            .any(|(at, coding)| codings[..at].contains(coding))
        {
            bail!("compression names a coding twice");
        }
        Ok(())
    }

    fn check_access(&self) -> Result<()> {
        if let Some(short) = self.access.tokens.iter().position(|token| token.len() < 16) {
            bail!(
                "access.tokens: number {} is shorter than 16 characters\nTry: openssl rand -hex 24",
                short + 1
            );
        }
        for user in &self.access.users {
            // In HTTP basic authentication the first colon ends the name.
            if user.name.is_empty() || user.name.contains(':') || user.password.is_empty() {
                bail!(
                    "access.users: {:?} needs a name without a colon, and a password",
                    user.name
                );
            }
        }
        Ok(())
    }
}

/// Whether a policy is an address rather than a text.
pub(crate) fn is_url(text: &str) -> bool {
    let begins = text.starts_with("http://") || text.starts_with("https://");
    begins && !text.contains(char::is_whitespace)
}

/// A base URL is absolute, http or https, without query and fragment (sections 3.1.1 and 4.2 of the specification).
fn check_base_url(text: &str) -> Result<()> {
    let url = Url::parse(text).map_err(|error| anyhow!("base_url {text:?}: {error}"))?;
    if !(text.starts_with("http://") || text.starts_with("https://")) || url.host().is_none() {
        bail!("base_url {text:?} must begin with http:// or https://");
    }
    if url.query().is_some() || url.fragment().is_some() || text.contains(char::is_whitespace) {
        bail!("base_url {text:?} must have no ?, # or white space");
    }
    check_uri("base_url", text)
}

/// What the schemas accept as an address.
fn check_uri(name: &str, text: &str) -> Result<()> {
    if let Some(flaw) = any_uri_flaw(text) {
        bail!("{name} {text:?}: {flaw}");
    }
    if text.contains(char::is_whitespace) || !xml::is_xml_text(text) || Url::parse(text).is_err() {
        bail!("{name} {text:?} is not an address such as https://example.org/");
    }
    Ok(())
}

fn check_text(name: &str, text: &str) -> Result<()> {
    if !xml::is_xml_text(text) {
        bail!("{name} {text:?} holds a control character, which XML cannot carry");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    const BASE: &str = "[[repository]]\nrepository_name = \"T\"\nadmin_emails = [\"a@example.org\"]\n";

    #[test]
    fn mistakes_name_the_place() {
        for (more, expected) in [
            ("page_sise = 3", "page_sise"),
            ("page_size = 0", "page_size"),
            ("base_url = \"example.org/oai\"", "base_url"),
            ("base_url = \"https://example.org/oai?x=1\"", "base_url"),
            ("base_url = \"https://example.org/%zz\"", "base_url"),
            ("base_url = \"https://example.org/[a]\"", "base_url"),
            ("base_url = 'http:\\\\example.org\\oai'", "base_url"),
            ("path = \"oai\"", "path"),
            ("path = \"/a b\"", "path"),
            ("path = \"/oai?x\"", "path"),
            ("path = \"/%6Fai\"", "path"),
            ("path = \"/a//b\"", "path"),
            ("path = \"/a/../b\"", "path"),
            ("path = \"/metrics\"", "path"),
            ("namespace = \"localhost\"", "namespace"),
            ("watch = [\"inbox\"]", "namespace"),
            ("watch_seconds = 0", "watch_seconds"),
            ("namespace = \"a.example\"\nwatch = [\"\"]", "watch"),
            ("granularity = \"minutes\"", "granularity"),
            ("compression = [\"gzip\", \"gzip\"]", "compression"),
            ("friends = [\"hill.example.org\"]", "friends"),
            ("friends = [\"https://hill.example.org/%zz\"]", "friends"),
            ("[repository.branding]\nicon = \"icon.png\"", "branding.icon"),
            (
                "[repository.eprints]\nmetadata_policy = \"https://a/%zz\"\ndata_policy = \"x\"",
                "eprints",
            ),
            (
                "[repository.eprints]\nmetadata_policy = \"a\\u0001\"\ndata_policy = \"x\"",
                "eprints",
            ),
            ("[[repository.rights]]\nreference = \"free\"", "rights.reference"),
            ("[repository.access]\ntokens = [\"short\"]", "access.tokens"),
            (
                "[repository.access]\nusers = [{ name = \"a:b\", password = \"c\" }]",
                "access.users",
            ),
            (
                "[repository.access]\nusers = [{ name = \"a\", password = \"\" }]",
                "access.users",
            ),
            ("[[repository]]\nname = \"main\"", "share a name"),
            ("[server]\nmax_connections = 0", "max_connections"),
            ("[server]\nexplore = \"all\"", "explore"),
            (
                "[server]\nexplore_concurrent_requests = 0",
                "explore_concurrent_requests",
            ),
            ("path = \"/explore\"", "path"),
            (
                "[[format]]\nprefix = \"all\"\nnamespace = \"n:n\"\nschema = \"s:s\"\nroot = \"r\"",
                "reserved",
            ),
            (
                "[[format]]\nprefix = \"a\"\nnamespace = \"n:%\"\nschema = \"s:s\"\nroot = \"r\"",
                "namespace",
            ),
        ] {
            let error = Config::parse(&format!("{BASE}{more}\n")).unwrap_err();
            assert!(format!("{error:#}").contains(expected), "{more}: {error:#}");
        }
        let odd = "[[repository]]\nrepository_name = \"T\\u0007\"\nadmin_emails = [\"a@example.org\"]\n";
        assert!(format!("{:#}", Config::parse(odd).unwrap_err()).contains("repository_name"));
        let secret = Config::parse(&format!("read_urls = \"postgres://joe:pw@db/x\"\n{BASE}")).unwrap_err();
        let text = format!("{secret:#}");
        assert!(text.contains("joe:…@db") && !text.contains("pw"), "{text}");
        for replicas in [
            "read_urls = [\"postgres://db/stook\"]",
            "store = \"postgres://db/stook\"\nread_urls = [\"db\"]",
        ] {
            let error = Config::parse(&format!("{replicas}\n{BASE}")).unwrap_err();
            assert!(format!("{error:#}").contains("read_urls"), "{replicas}: {error:#}");
        }
    }

    #[test]
    fn what_is_usual_is_accepted() {
        for more in [
            "base_url = \"http://127.0.0.1:8080/oai\"\npath = \"/a/b-c_d.e~f\"",
            "base_url = \"https://xn--bcher-kva.example/Übersicht\"",
            "friends = [\"http://ojs.example.org/index.php?page=oai\"]",
            "[repository.eprints]\nmetadata_policy = \"https://a.example/ says it all\"\ndata_policy = \"urn:x\"",
            "[[format]]\nprefix = \"h\"\nnamespace = \"info:x/y\"\nschema = \"http://a.example/h.xsd\"\nroot = \"r\"",
        ] {
            Config::parse(&format!("{BASE}{more}\n")).unwrap_or_else(|error| panic!("{more}: {error:#}"));
        }
    }
}
