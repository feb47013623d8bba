//! Hostile requests: group U. Whatever is sent, the answer is well-formed, prompt, and says nothing of the inside.

use std::time::{Duration, Instant};

use stook_oai::{ErrorCode, Verb};

use crate::scene::Scene;
use crate::support::answer::Seen;
use crate::support::{encoded, envelope};

/// The checks made here.
pub const MADE: &[&str] = &["U-1", "U-2", "U-4", "U-5"];

const ARGUMENTS: [&str; 6] = [
    "identifier",
    "metadataPrefix",
    "from",
    "until",
    "set",
    "resumptionToken",
];

/// Texts to be sent percent-encoded.
const TEXTS: &[&str] = &[
    "' OR '1'='1",
    "'; DROP TABLE record; --",
    "1 UNION SELECT secret FROM meta",
    "\" OR 1=1 --",
    "%' AND sleep(5) AND '%'='",
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "; cat /etc/passwd",
    "$(reboot)",
    "`id`",
    "../../../../etc/passwd",
    "file:///etc/passwd",
    "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
    "<?xml version=\"1.0\"?>",
    "]]>",
    "<![CDATA[",
    "<!-- --",
    "&lt;&#0;&nbsp;",
    "\0",
    "a\0b",
    "\u{1}\u{8}\u{b}\u{1f}",
    "\r\nSet-Cookie: a=b",
    "\t\n\r",
    "\u{7f}\u{85}",
    "\u{202e}desrever",
    "\u{200d}\u{feff}",
    "\u{fffe}",
    "\u{ffff}",
    "\u{10ffff}",
    "e\u{301}\u{301}\u{301}",
    "{{7*7}}",
    "${jndi:ldap://example.org/a}",
    "%s%n%x",
    "oai:",
    ":",
    "oai:a:b:c",
    "http://[::1",
    "#",
];

/// What is sent as it stands.
const RAW: &[&[u8]] = &[
    b"%",
    b"%4",
    b"%zz",
    b"%%34%31",
    b"%ff",
    b"%c0%af",
    b"%e0%80%80",
    b"%ed%a0%80",
    b"%f5%80%80%80",
    b"%u0041",
    b"%00",
    b"+%2B+",
    b"\xff\xfe",
    b"\x00",
    b"a=b=c",
    b";",
    b"%2e%2e%2f",
    b"%0d%0aX: y",
];

fn payloads() -> Vec<Vec<u8>> {
    let texts = TEXTS.iter().map(|text| encoded(text).into_bytes());
    let mut payloads: Vec<Vec<u8>> = texts.chain(RAW.iter().map(|raw| raw.to_vec())).collect();
    payloads.push("A".repeat(64 * 1024).into_bytes());
    payloads.push("%F0%9F%9A%A2".repeat(5_000).into_bytes());
    payloads
}

/// Asks, and looks at what is true of any answer.
fn ask(scene: &Scene, query: &[u8]) -> Seen {
    let shown = String::from_utf8_lossy(&query[..query.len().min(200)]).into_owned();
    let began = Instant::now();
    let answer = scene
        .provider
        .answer(query)
        .unwrap_or_else(|error| panic!("U-1 {shown}: {error}"));
    assert!(began.elapsed() < Duration::from_secs(2), "U-4 {shown}");
    let seen = Seen::read(&answer.xml);
    for inside in ["SELECT ", "sqlite", "panicked", "/crates/", ".rs:", "records.db"] {
        let sent = String::from_utf8_lossy(query).contains(&encoded(inside));
        assert!(sent || !seen.document.contains(inside), "U-1 {shown}: {inside}");
    }
    let mut names = Vec::new();
    seen.root.visit(&mut |node| names.push(node.name.clone()));
    for smuggled in ["script", "img", "a", "b"] {
        assert!(!names.iter().any(|name| name == smuggled), "U-2 {shown}");
    }
    seen
}

#[test]
fn hostile_values_of_every_argument_of_every_verb_are_refused() {
    let scene = Scene::new(false, true);
    for verb in Verb::ALL {
        for argument in ARGUMENTS {
            for payload in payloads() {
                let mut query = format!("verb={verb}&{argument}=").into_bytes();
                query.extend_from_slice(&payload);
                if verb == Verb::GetRecord && argument == "identifier" {
                    query.extend_from_slice(b"&metadataPrefix=oai_dc");
                }
                let seen = ask(&scene, &query);
                assert!(!seen.codes.is_empty(), "U-5 {}", String::from_utf8_lossy(&query));
                assert!(
                    !seen.codes.contains(&ErrorCode::BadVerb),
                    "U-5 {}",
                    String::from_utf8_lossy(&query)
                );
                if let Ok(query) = std::str::from_utf8(&query)
                    && !seen.codes.contains(&ErrorCode::BadArgument)
                {
                    envelope::check(&scene.provider, query, &seen);
                }
            }
        }
    }
}

#[test]
fn hostile_verbs_and_names_are_refused() {
    for scene in [Scene::new(false, true), Scene::new(true, false)] {
        for payload in payloads() {
            for (before, after, code) in [
                (&b"verb="[..], &b""[..], ErrorCode::BadVerb),
                (b"", b"", ErrorCode::BadVerb),
                (b"verb=Identify&", b"=1", ErrorCode::BadArgument),
                (b"verb=ListRecords&metadataPrefix=oai_dc&", b"", ErrorCode::BadArgument),
            ] {
                let query = [before, &payload, after].concat();
                let codes = ask(&scene, &query).codes;
                let shown = String::from_utf8_lossy(&query);
                assert!(codes.iter().all(|known| *known == code), "U-5 {codes:?} {shown}");
            }
        }
    }
}

#[test]
fn thousands_of_arguments_are_refused() {
    let scene = Scene::new(false, true);
    for query in [
        format!("verb=Identify{}", "&a=1".repeat(10_000)),
        "verb=Identify&".repeat(10_000),
        "&".repeat(100_000),
        "=".repeat(100_000),
        "=&".repeat(50_000),
        format!("verb=ListRecords&metadataPrefix=oai_dc{}", "&set=a".repeat(10_000)),
    ] {
        let seen = ask(&scene, query.as_bytes());
        assert!(!seen.codes.is_empty() && seen.codes.len() <= 21);
        assert!(seen.document.len() < 16 * 1024, "a long request gets a short answer");
    }
}
