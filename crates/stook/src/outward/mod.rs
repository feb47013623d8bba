//! Requests that leave this machine: where they may go.

mod address;
mod base_url;

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use ureq::config::Config as HttpConfig;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use url::Url;

pub(crate) use address::is_public;
pub(crate) use base_url::base_url;

/// Looks names up, and keeps requests away from the inside of our network unless the source itself is there.
pub(crate) struct Guarded {
    own_host: String,
    /// The source's own addresses, if only we can reach them.
    own_inside: Vec<IpAddr>,
    /// Named by the operator, so it may be anywhere.
    proxy_host: Option<String>,
}

impl fmt::Debug for Guarded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Guarded")
    }
}

impl Resolver for Guarded {
    fn resolve(
        &self,
        uri: &Uri,
        config: &HttpConfig,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = DefaultResolver::default().resolve(uri, config, timeout)?;
        let host = uri.host().unwrap_or_default();
        let is_proxy = self
            .proxy_host
            .as_ref()
            .is_some_and(|proxy| host.eq_ignore_ascii_case(proxy));
        if is_proxy || !self.own_inside.is_empty() && host.eq_ignore_ascii_case(&self.own_host) {
            return Ok(found);
        }
        let mut allowed = self.empty();
        for address in found.iter().filter(|address| self.allows(address.ip())) {
            allowed.push(*address);
        }
        if allowed.is_empty() {
            let refusal = Inside(host.to_owned());
            return Err(ureq::Error::Other(Box::new(refusal)));
        }
        Ok(allowed)
    }
}

impl Guarded {
    /// A guard that lets nothing inside, not even where the base URL itself leads there.
    pub(crate) fn strict() -> Guarded {
        Guarded {
            own_host: String::new(),
            own_inside: Vec::new(),
            proxy_host: None,
        }
    }

    /// A guard for requests to a base URL.
    pub(crate) fn of(base: &Url, proxy_host: Option<&str>) -> Guarded {
        let host = base.host_str().unwrap_or_default();
        let port = base.port_or_known_default().unwrap_or(80);
        let found = (host.trim_matches(['[', ']']), port).to_socket_addrs();
        let inside = |address: SocketAddr| Some(address.ip()).filter(|ip| !is_public(*ip));
        Guarded {
            own_host: host.to_owned(),
            own_inside: found.map_or_else(|_| Vec::new(), |found| found.filter_map(inside).collect()),
            proxy_host: proxy_host.map(str::to_owned),
        }
    }

    /// A source inside may redirect within its own machine, nowhere else inside.
    fn allows(&self, address: IpAddr) -> bool {
        let is_loopback = |ip: &IpAddr| ip.to_canonical().is_loopback();
        let same_machine =
            self.own_inside.contains(&address) || is_loopback(&address) && self.own_inside.iter().any(is_loopback);
        same_machine || is_public(address)
    }
}

/// Whether a URL leads inside this network, or to this machine.
pub(crate) fn is_inside(url: &Url) -> bool {
    !Guarded::of(url, None).own_inside.is_empty()
}

/// A request that would have gone to the inside.
#[derive(Debug, thiserror::Error)]
#[error("{0} is an address inside this network, where a source elsewhere may not send us")]
struct Inside(String);

#[cfg(test)]
mod tests {
    use ureq::Agent;
    use ureq::unversioned::transport::DefaultConnector;

    use super::*;

    fn guard(base: &str) -> Guarded {
        Guarded::of(&Url::parse(base).unwrap(), None)
    }

    #[test]
    fn a_source_elsewhere_cannot_send_us_inside() {
        let outside = guard("http://93.184.215.14/oai");
        for address in [
            "10.0.0.1",
            "169.254.169.254",
            "127.0.0.1",
            "192.168.1.1",
            "::1",
            "fd00::1",
        ] {
            assert!(!outside.allows(address.parse().unwrap()), "{address}");
        }
        assert!(outside.allows("8.8.8.8".parse().unwrap()));
    }

    #[test]
    fn a_source_inside_can_send_us_to_its_own_machine_only() {
        let here = guard("http://127.0.0.1:8080/oai");
        assert!(here.allows("127.0.0.2".parse().unwrap()));
        assert!(here.allows("::1".parse().unwrap()));
        assert!(!here.allows("10.0.0.1".parse().unwrap()));
        let near = guard("http://[fd00::1]/oai");
        assert!(near.allows("fd00::1".parse().unwrap()));
        assert!(!near.allows("fd00::2".parse().unwrap()));
        assert!(!near.allows("127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn names_that_lead_inside_are_refused_before_anybody_is_asked() {
        let agent = Agent::with_parts(
            HttpConfig::builder().build(),
            DefaultConnector::default(),
            guard("http://93.184.215.14/oai"),
        );
        let error = agent.get("http://localhost:9/secrets").call().unwrap_err();
        assert!(error.to_string().contains("inside this network"), "{error}");
    }
}
