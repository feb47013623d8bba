//! Which addresses a request may go to.
//!
//! A source is trusted to name itself, not to send us elsewhere: by a redirect or a name that resolves to the inside of
//! our network, it could make us ask machines that only we can reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether anybody on the internet could have been asked there.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// By the IANA registry of special-purpose IPv4 addresses.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocol_assignments = (a, b, c) == (192, 0, 0);
    let benchmarking = a == 198 && (18..20).contains(&b);
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || shared
        || protocol_assignments
        || benchmarking)
}

/// By the IANA registry of special-purpose IPv6 addresses.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded_v4 = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        // 6to4 and NAT64 lead to the IPv4 address inside.
        [0x2002, high, low, ..] => is_public_v4(embedded_v4(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => is_public_v4(embedded_v4(high, low)),
        // Documentation.
        [0x2001, 0xdb8, ..] => false,
        // Global unicast is all that is assigned for talking to strangers.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_anybody_can_reach_are_public() {
        for (address, expected) in [
            ("8.8.8.8", true),
            ("195.113.0.2", true),
            ("2001:718:1::5", true),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("172.32.0.1", true),
            ("192.168.1.1", false),
            ("127.0.0.1", false),
            ("127.255.0.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("100.128.0.1", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("198.18.0.1", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("fe80::1", false),
            ("fc00::1", false),
            ("fd12::1", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("::ffff:10.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("2002:0a00:0001::1", false),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::808:808", true),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), expected, "{address}");
        }
    }
}
