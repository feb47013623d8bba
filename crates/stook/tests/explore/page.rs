//! What holds for every page, and how tests find their way around.

use std::collections::BTreeSet;

use misbehave::{Endpoint, Script, World};
use stook::config::{Explore, Server};

use crate::support::http::{Response, Running};
use crate::support::{Bench, deleted, encoded, plain_settings, titled};

/// Settings that let tests explore endpoints on this machine.
pub fn any() -> Server {
    Server {
        explore: Explore::Any,
        explore_private: true,
        explore_requests_per_minute: 0,
        ..Server::default()
    }
}

/// A repository of seven records in pages of three, one of them deleted.
pub fn small(server: Server) -> Running {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(plain_settings(3));
    bench.define_set(&provider, "maps", "Maps of the river", vec![]);
    let changes = (0..7).map(|number| titled(&number.to_string(), &["maps"], &format!("Map {number}")));
    bench.apply(&provider, changes.collect());
    bench.apply(&provider, vec![deleted("6")]);
    Running::start(bench, vec![provider], server)
}

/// A correct repository elsewhere.
pub fn elsewhere() -> Endpoint {
    Endpoint::start(World::of(50), Script::new().page_size(20)).unwrap()
}

/// The page about a repository elsewhere.
pub fn at(url: &str, more: &str) -> String {
    format!("/explore?url={}{more}", encoded(url))
}

/// A page, held to what holds for every one.
pub fn open(server: &Running, target: &str) -> Response {
    let page = server.get(target);
    assert_eq!(page.status, 200, "{target}\n{}", page.text());
    check(&page, target);
    page
}

/// What holds for every page: nothing runs, nothing is loaded, nothing leads astray.
pub fn check(page: &Response, target: &str) {
    let html = page.text();
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8"),
        "{target}"
    );
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("referrer-policy"), Some("no-referrer"));
    let policy = page.header("content-security-policy").unwrap();
    for word in [
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ] {
        assert!(policy.contains(word), "{policy}");
    }
    assert!(!policy.contains("script-src"), "{policy}");
    let ids = tags(html, target);
    for label in html
        .split("<label for=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
    {
        assert!(ids.contains(label), "{target}: a label for {label}, which is not there");
    }
    for (link, tag) in links(html) {
        let is_ours = ["explore", ".", "#main", "checks/"]
            .iter()
            .any(|start| link.starts_with(start));
        let is_web = link.starts_with("http://") || link.starts_with("https://");
        assert!(is_ours || is_web, "{target}: {link}");
        assert!(
            !is_web || tag.contains("rel=\"noreferrer nofollow noopener\""),
            "{target}: {tag}"
        );
    }
}

/// Start and end tags match, none of them is one that we do not use, and no name is given twice; the names.
fn tags<'a>(html: &'a str, target: &str) -> BTreeSet<&'a str> {
    const ALONE: [&str; 4] = ["meta", "input", "br", "hr"];
    const KNOWN: &str = "html head title style body header main footer nav section article div span p h1 h2 h3 a ol ul li \
        dl dt dd table thead tbody tr th td form label input select option datalist button details summary code pre strong \
        q meta";
    let known: Vec<&str> = KNOWN.split_whitespace().collect();
    let (mut open, mut ids) = (Vec::new(), BTreeSet::new());
    let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').unwrap() + start;
        let tag = &rest[start + 1..end];
        assert!(tag.matches('"').count().is_multiple_of(2), "{target}: {tag}");
        let name: &str = tag
            .trim_start_matches('/')
            .split(|sign: char| !sign.is_ascii_alphanumeric())
            .next()
            .unwrap();
        assert!(known.contains(&name), "{target}: <{tag}>");
        let attributes = tag.split('"').step_by(2);
        assert!(
            !attributes.clone().any(|name| name.trim().starts_with("on")),
            "{target}: <{tag}>"
        );
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{target}: <{tag}>");
        } else if !ALONE.contains(&name) {
            open.push(name);
        }
        if let Some((_, id)) = tag.split_once(" id=\"") {
            let id = id.split('"').next().unwrap();
            assert!(ids.insert(id), "{target}: two elements are called {id}");
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{target}: {open:?}");
    ids
}

/// Where the links of a page lead, and their tags.
pub fn links(html: &str) -> Vec<(String, &str)> {
    let tags = html.split("<a ").skip(1).map(|rest| rest.split('>').next().unwrap());
    tags.map(|tag| {
        let link = tag.split("href=\"").nth(1).unwrap().split('"').next().unwrap();
        (link.replace("&amp;", "&"), tag)
    })
    .collect()
}

/// The link with this text.
pub fn link_to(html: &str, text: &str) -> Option<String> {
    let before = html
        .split(&format!(">{text}</a>"))
        .next()
        .filter(|before| before.len() < html.len())?;
    let link = before.rsplit("href=\"").next()?.split('"').next()?;
    Some(format!("/{}", link.replace("&amp;", "&")))
}
