//! Repositories that attack whoever looks at them.

use misbehave::{Endpoint, Given, Heard, Script, World};

use crate::page::{any, at, check, links, small};

/// Markup as text: what a record says. And once more as elements of the record.
const EVIL: &str = "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#x202E;'";
const ELEMENTS: &str = "<script xmlns=\"http://www.w3.org/1999/xhtml\">alert(2)</script>\
    <x:a xmlns:x=\"javascript:alert(3)\" href=\"javascript:alert(4)\" onclick=\"alert(5)\" x:style=\"color:red\">javascript:alert(6)</x:a>\
    <iframe xmlns=\"\" src=\"http://127.0.0.1:9/stolen\"/><form xmlns=\"\" action=\"http://127.0.0.1:9/stolen\"/>";

/// A repository every text of which is an attack.
pub fn endpoint() -> Endpoint {
    Endpoint::start_bent(World::of(50), Script::new().page_size(20), attack).unwrap()
}

fn attack(_: &Heard<'_>, given: &mut Given) {
    for name in [
        "repositoryName",
        "adminEmail",
        "setName",
        "dc:title",
        "dc:identifier",
        "setSpec",
        "earliestDatestamp",
        "deletedRecord",
        "responseDate",
    ] {
        given.replace_between(&format!("<{name}>"), &format!("</{name}>"), EVIL);
    }
    given.replace("<dc:date>", &format!("{ELEMENTS}<dc:date>"));
    given.replace(
        "</oai_dc:dc>",
        &format!("{ELEMENTS}<huge>{}</huge></oai_dc:dc>", "A".repeat(5_000)),
    );
    given.replace("<datestamp>", &format!("<datestamp>{EVIL}"));
    given.replace("</error>", &format!("{EVIL}</error>"));
    given.replace("<error code=\"", &format!("<error code=\"{EVIL}"));
    given.replace("</resumptionToken>", &format!("{EVIL} \u{1}\u{1b}</resumptionToken>"));
    given.replace("cursor=\"", &format!("cursor=\"{EVIL}"));
    given.replace("</metadataPrefix>", "&quot;&gt;&lt;b&gt;</metadataPrefix>");
    given.replace("<schema>", "<schema>javascript:alert(7)//");
    given.set_header("X-Evil", "<script>alert(8)</script>");
    given.set_header("Refresh", "0; url=http://127.0.0.1:9/stolen");
    given.set_header("Link", "<http://127.0.0.1:9/stolen>; rel=preload; as=script");
}

#[test]
fn whatever_a_repository_says_is_text() {
    let (server, endpoint) = (small(any()), endpoint());
    let mut todo = std::collections::VecDeque::from([at(&endpoint.url(), "")]);
    let mut seen = std::collections::BTreeSet::new();
    while let Some(target) = todo.pop_front() {
        if seen.len() == 60 || !seen.insert(target.clone()) {
            continue;
        }
        let page = server.get(&target);
        // Answers of others are passed on as bodies, never as headers.
        for name in ["x-evil", "refresh", "link"] {
            assert_eq!(page.header(name), None, "{target}");
        }
        if target.contains("show=raw") {
            assert_eq!(page.header("content-type"), Some("text/plain; charset=utf-8"));
            assert!(
                page.header("content-security-policy")
                    .unwrap()
                    .contains("default-src 'none'")
            );
            continue;
        }
        check(&page, &target);
        let html = page.text();
        for smuggled in [
            "<script",
            "<img",
            "<iframe",
            "<b>",
            "href=\"javascript:",
            "href=\"http://127.0.0.1:9",
        ] {
            assert!(!html.contains(smuggled), "{target}: {smuggled}\n{html}");
        }
        assert!(
            !html.chars().any(|sign| sign.is_control() && !"\n\t".contains(sign)),
            "{target}"
        );
        let links = links(html).into_iter().map(|(link, _)| link);
        todo.extend(
            links
                .filter(|link| link.starts_with("explore?"))
                .map(|link| format!("/{link}")),
        );
    }
    assert!(seen.len() >= 20, "{seen:#?}");
}

#[test]
fn what_the_url_says_is_text_too() {
    let server = small(any());
    let evil = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E%00%1b";
    for target in [
        format!("/explore?repository={evil}"),
        format!("/explore?url={evil}"),
        format!("/explore?repository=main&verb={evil}"),
        format!("/explore?repository=main&verb=ListRecords&metadataPrefix={evil}&set={evil}&from={evil}&until={evil}"),
        format!("/explore?repository=main&verb=GetRecord&identifier={evil}&of={evil}"),
        format!("/explore?repository=main&verb=ListRecords&resumptionToken={evil}&of={evil}&show={evil}"),
    ] {
        let page = server.get(&target);
        check(&page, &target);
        assert!(!page.text().contains("<script"), "{target}");
    }
}

#[test]
fn huge_and_deep_answers_are_bounded() {
    let server = small(any());
    let bends: [fn(&mut Given); 4] = [
        |given| {
            given.replace(
                "</repositoryName>",
                &format!("{}</repositoryName>", "A".repeat(8_000_000)),
            )
        },
        |given| {
            given.replace(
                "</repositoryName>",
                &format!("{}</repositoryName>", "<a>".repeat(500_000)),
            )
        },
        |given| given.replace("<adminEmail>", &"<adminEmail>a</adminEmail>".repeat(100_000)),
        |given| {
            given.replace(
                "</Identify>",
                &format!("{}</Identify>", "<description><x/></description>".repeat(100_000)),
            )
        },
    ];
    for bend in bends {
        let endpoint = Endpoint::start_bent(World::of(5), Script::new(), move |_, given| bend(given)).unwrap();
        for more in ["", "&verb=Identify", "&verb=Identify&show=xml"] {
            let target = at(&endpoint.url(), more);
            let page = server.get(&target);
            check(&page, &target);
            assert!(page.body.len() < 2_000_000, "{target} {}", page.body.len());
        }
    }
}
