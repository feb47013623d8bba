//! Who may harvest: public, by address, by name and password, by bearer token.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;

use crate::config::Access;

/// What to do with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Let it in.
    Welcome,
    /// Ask for credentials: 401 with this WWW-Authenticate.
    Challenge(&'static str),
    /// No credentials would help: 403.
    Forbidden,
}

/// Judges a client by its address and its Authorization header. Meeting any one rule is enough; no rules, no limits.
pub fn judge(access: &Access, client: IpAddr, authorization: Option<&str>) -> Verdict {
    let Access {
        addresses,
        users,
        tokens,
    } = access;
    if addresses.is_empty() && users.is_empty() && tokens.is_empty() {
        return Verdict::Welcome;
    }
    // An IPv4 client on an IPv6 socket is still an IPv4 client.
    let client = client.to_canonical();
    if addresses.iter().any(|range| range.contains(&client)) || authorization.is_some_and(|it| knows(access, it)) {
        return Verdict::Welcome;
    }
    match (users.is_empty(), tokens.is_empty()) {
        (true, true) => Verdict::Forbidden,
        (true, false) => Verdict::Challenge("Bearer realm=\"OAI-PMH\""),
        (false, _) => Verdict::Challenge("Basic realm=\"OAI-PMH\", charset=\"UTF-8\""),
    }
}

fn knows(access: &Access, authorization: &str) -> bool {
    let Some((scheme, credentials)) = authorization.split_once(' ') else {
        return false;
    };
    let credentials = credentials.trim();
    if scheme.eq_ignore_ascii_case("Bearer") {
        return any_equal(access.tokens.iter().map(String::as_bytes), credentials.as_bytes());
    }
    if !scheme.eq_ignore_ascii_case("Basic") {
        return false;
    }
    let Ok(given) = STANDARD.decode(credentials) else {
        return false;
    };
    let known: Vec<String> = access
        .users
        .iter()
        .map(|user| format!("{}:{}", user.name, user.password))
        .collect();
    any_equal(known.iter().map(String::as_bytes), &given)
}

/// Compares with every one, in constant time, so that timing tells nothing of which came close.
fn any_equal<'a>(known: impl Iterator<Item = &'a [u8]>, given: &[u8]) -> bool {
    known.fold(false, |found, one| found | bool::from(one.ct_eq(given)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::User;

    fn client(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn without_rules_everybody_is_welcome() {
        assert_eq!(judge(&Access::default(), client("203.0.113.9"), None), Verdict::Welcome);
    }

    #[test]
    fn an_address_range_lets_in_its_own_and_forbids_others() {
        let access = Access {
            addresses: vec!["192.0.2.0/24".parse().unwrap()],
            ..Access::default()
        };
        assert_eq!(judge(&access, client("192.0.2.7"), None), Verdict::Welcome);
        assert_eq!(judge(&access, client("::ffff:192.0.2.7"), None), Verdict::Welcome);
        assert_eq!(judge(&access, client("198.51.100.1"), None), Verdict::Forbidden);
    }

    #[test]
    fn credentials_are_compared_whole() {
        let access = Access {
            users: vec![User {
                name: "a".into(),
                password: "b:c".into(),
            }],
            tokens: vec!["0123456789abcdef".into()],
            ..Access::default()
        };
        let at = client("203.0.113.9");
        let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
        for good in [basic("a:b:c"), "bearer 0123456789abcdef".to_owned()] {
            assert_eq!(judge(&access, at, Some(&good)), Verdict::Welcome, "{good}");
        }
        for bad in [
            basic("a:b"),
            basic(""),
            "Bearer 0123456789abcde".into(),
            "Basic ???".into(),
            "Bearer".into(),
        ] {
            assert!(matches!(judge(&access, at, Some(&bad)), Verdict::Challenge(_)), "{bad}");
        }
    }
}
