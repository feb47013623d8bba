//! Who is asking: what a trusted proxy says, else who is connected.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

use crate::config::Network;

/// The address of the client behind the connection of `peer`.
pub(super) fn client_of(headers: &HeaderMap, peer: IpAddr, trusted_proxies: &[Network]) -> IpAddr {
    let trusted = |address: &IpAddr| {
        let address = address.to_canonical();
        trusted_proxies.iter().any(|range| range.contains(&address))
    };
    if !trusted(&peer) {
        return peer;
    }
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let hops = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(',').map(address_of));
    for hop in hops {
        match hop {
            Some(address) if trusted(&address) => {}
            // The nearest hop that is not one of our own proxies: what stands before it, the client may have made up.
            Some(address) => return address,
            // Neither can what stands before something that is no address be believed.
            None => break,
        }
    }
    peer
}

/// The address of a hop, which some proxies write with a port.
fn address_of(hop: &str) -> Option<IpAddr> {
    let hop = hop.trim();
    let bare = hop.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = bare.unwrap_or(hop).parse().ok();
    address.or_else(|| hop.parse().ok().map(|with_port: SocketAddr| with_port.ip()))
}
