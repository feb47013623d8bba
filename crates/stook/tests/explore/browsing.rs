//! The explorer in a real browser: what people do, and what a hostile repository does not get done.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::browser::Browser;
use crate::hostile;
use crate::page::{any, at, elsewhere, small};
use crate::runs::slow;
use crate::support::http::Running;

fn page(server: &Running, target: &str) -> String {
    format!("http://{}{target}", server.address)
}

#[test]
fn exploring_by_mouse() {
    let (server, endpoint) = (small(any()), elsewhere());
    let mut browser = Browser::start(1200, 900);
    browser.open(&page(&server, "/"));
    browser.picture("landing");
    browser.then_loads(|browser| browser.click("a.button"));
    browser.then_loads(|browser| browser.click("nav.crumbs li:nth-child(2) a"));
    browser.picture("start");
    browser.click("#url");
    browser.enter_text(&endpoint.url());
    browser.then_loads(|browser| browser.press("Enter"));
    browser.picture("overview");
    assert!(browser.text().contains("Test this repository"), "{}", browser.text());
    // A list, by its form, to its end.
    browser.value("document.querySelector('#ListRecords-metadataPrefix').value = 'oai_dc'");
    browser.then_loads(|browser| browser.click("form:has(#ListRecords-from) button"));
    browser.picture("list");
    let mut pages = 1;
    while browser.value("!!document.querySelector('a[rel=next]')") == json!(true) {
        assert!(pages < 5, "the list does not end");
        browser.then_loads(|browser| browser.click("a[rel=next]"));
        pages += 1;
    }
    assert_eq!(pages, 3);
    browser.picture("list-end");
    assert!(browser.text().contains("This is the end of the list."));
    // A record, in all views.
    browser.click(".records details summary");
    browser.then_loads(|browser| browser.click(".records details[open] p.ways a"));
    browser.picture("record");
    assert!(
        browser
            .value("location.search")
            .as_str()
            .unwrap()
            .contains("verb=GetRecord")
    );
    for (view, name) in [(2, "record-xml"), (3, "record-http")] {
        let selector = format!("nav[aria-label='Views of the answer'] a:nth-child({view})");
        browser.then_loads(|browser| browser.click(&selector));
        browser.picture(name);
    }
    assert!(browser.text().contains("to the first byte"));
    browser.open(&page(
        &server,
        "/explore?repository=main&verb=GetRecord&metadataPrefix=junk",
    ));
    browser.picture("errors");
    assert!(browser.text().contains("The repository refused the request"));
    browser.open(&page(&server, &at("http://127.0.0.1:9/oai", "")));
    browser.picture("unreachable");
    assert!(browser.text().contains("could not be reached"));
}

#[test]
fn a_test_is_watched_as_it_goes() {
    let (server, endpoint) = (small(any()), slow(20));
    let mut browser = Browser::start(1200, 900);
    browser.open(&page(&server, &at(&endpoint.url(), "")));
    browser.click("form[method=post] button");
    let deadline = Instant::now() + Duration::from_secs(180);
    let count =
        "[document.querySelectorAll('.finding').length, !!document.querySelector('#done'), document.readyState]";
    let mut seen_running = false;
    loop {
        let state = browser.value(count);
        let found = state[0].as_u64().unwrap_or_default();
        if found > 0 && state[1] == json!(false) && !seen_running {
            assert_eq!(state[2], "loading");
            browser.picture("run-running");
            seen_running = true;
        }
        if state[1] == json!(true) && state[2] == "complete" {
            break;
        }
        assert!(Instant::now() < deadline, "{state}");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(seen_running, "findings appear while the test goes on");
    assert_eq!(
        browser.value("getComputedStyle(document.querySelector('.running')).display"),
        "none"
    );
    browser.picture("run-top");
    browser.value("document.querySelector('#done').scrollIntoView()");
    browser.picture("run-done");
    browser.then_loads(|browser| browser.click(".ways a"));
    assert!(browser.text().contains("Test this repository"));
}

#[test]
fn a_hostile_repository_gets_nothing_done() {
    let (server, endpoint) = (small(any()), hostile::endpoint());
    let mut browser = Browser::start(1200, 900);
    for more in [
        "",
        "&verb=Identify",
        "&verb=Identify&show=xml",
        "&verb=Identify&show=http",
        "&verb=Identify&show=raw",
        "&verb=ListSets",
        "&verb=ListMetadataFormats",
        "&verb=ListIdentifiers&metadataPrefix=oai_dc",
        "&verb=ListRecords&metadataPrefix=oai_dc",
        "&verb=ListRecords&metadataPrefix=oai_dc&show=xml",
        "&verb=ListRecords&metadataPrefix=oai_dc&show=raw",
        "&verb=ListRecords&metadataPrefix=junk",
    ] {
        browser.open(&page(&server, &at(&endpoint.url(), more)));
        let odd = "document.querySelectorAll('script, img, iframe, object, embed, svg, base, link, [onclick], [onerror], a[href^=javascript]').length";
        assert_eq!(browser.value(odd), json!(0), "{more}");
        browser.value("document.querySelectorAll('details').forEach(d => d.open = true)");
        assert!(!browser.overflows(), "{more}");
        if more.contains("ListRecords") && !more.contains("show") {
            browser.picture("hostile");
        }
    }
    // The icon of a date field is the browser's own, and comes with it.
    let is_ours = |url: &&String| url.starts_with(&page(&server, "/")) || url.starts_with("data:");
    let elsewhere: Vec<&String> = browser
        .requested
        .iter()
        .filter(|url| !is_ours(url) && *url != "about:blank")
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    assert!(browser.dialogs.is_empty(), "{:?}", browser.dialogs);
}

#[test]
fn everything_is_reached_by_keyboard() {
    let (server, endpoint) = (small(any()), elsewhere());
    let mut browser = Browser::start(1200, 900);
    browser.open(&page(&server, "/explore"));
    // The first stop is the way past the navigation; it shows itself.
    browser.press("Tab");
    assert_eq!(browser.value("document.activeElement.className"), "skip");
    assert_eq!(
        browser.value("document.activeElement.getBoundingClientRect().left >= 0"),
        json!(true)
    );
    browser.picture("keyboard-skip");
    browser.press("Enter");
    assert_eq!(browser.value("location.hash"), "#main");
    browser.tab_to("e.id === 'url'");
    browser.enter_text(&endpoint.url());
    browser.then_loads(|browser| browser.press("Enter"));
    // Every link, field and button is reached, in the order of the page, and shows that it has the focus.
    let stops =
        browser.value("document.querySelectorAll('a[href], input:not([type=hidden]), select, button, summary').length");
    let passed = browser.tab_to("e.innerText === 'Ask GetRecord'");
    assert!(
        passed
            .iter()
            .any(|stop| stop.starts_with("BUTTON Test this repository")),
        "{passed:#?}"
    );
    assert!(stops.as_u64().unwrap() > 20);
    let outline = browser.value("getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, "solid");
    browser.picture("keyboard-focus");
    let order = "(() => { const all = [...document.querySelectorAll('a[href], input:not([type=hidden]), select, button, summary')]; \
        return all.every(e => e.tabIndex === 0); })()";
    assert_eq!(browser.value(order), json!(true));
    browser.open(&page(&server, &at(&endpoint.url(), "")));
    browser.tab_to("e.innerText === 'Ask ListIdentifiers'");
    browser.then_loads(|browser| browser.press("Enter"));
    browser.tab_to("e.innerText === 'XML'");
    browser.then_loads(|browser| browser.press("Enter"));
    browser.tab_to("e.tagName === 'PRE'");
    browser.tab_to("e.id === 'as-curl'");
    browser.open(&page(
        &server,
        &at(&endpoint.url(), "&verb=ListRecords&metadataPrefix=oai_dc"),
    ));
    browser.tab_to("e.tagName === 'SUMMARY' && e.parentElement.className !== 'request'");
    browser.press("Enter");
    assert_eq!(
        browser.value("document.querySelector('.records details').open"),
        json!(true)
    );
    browser.tab_to("e.innerText === 'Next page'");
    browser.then_loads(|browser| browser.press("Enter"));
    assert!(
        browser.text().contains("after 20 on pages before"),
        "{}",
        browser.text()
    );
}

#[test]
fn everything_works_without_scripts() {
    let (server, endpoint) = (small(any()), elsewhere());
    let mut browser = Browser::start(1200, 900);
    browser.disable_scripts();
    browser.open(&page(&server, "/explore"));
    browser.click("#url");
    browser.enter_text(&endpoint.url());
    browser.then_loads(|browser| browser.press("Enter"));
    browser.then_loads(|browser| browser.click("form:has(#ListIdentifiers-from) button"));
    browser.then_loads(|browser| browser.click("a[rel=next]"));
    assert!(browser.text().contains("after 20 on pages before"));
    browser.open(&page(&server, "/explore?repository=main"));
    browser.then_loads(|browser| browser.click("form[method=post] button"));
    assert!(browser.text().contains("What came of it"), "{}", browser.text());
}

#[test]
fn it_fits_a_telephone_by_day_and_by_night() {
    let (server, endpoint) = (small(any()), hostile::endpoint());
    let other = elsewhere();
    let mut browser = Browser::start(360, 740);
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        for (name, target) in [
            ("start", "/explore".to_owned()),
            ("overview", at(&other.url(), "")),
            (
                "headers",
                at(&other.url(), "&verb=ListIdentifiers&metadataPrefix=oai_dc"),
            ),
            ("records", at(&other.url(), "&verb=ListRecords&metadataPrefix=oai_dc")),
            (
                "record",
                at(
                    &other.url(),
                    "&verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Amisbehave.example.org%3A3",
                ),
            ),
            ("xml", at(&other.url(), "&verb=Identify&show=xml")),
            ("http", at(&other.url(), "&verb=Identify&show=http")),
            ("errors", at(&other.url(), "&verb=ListRecords")),
            ("hostile-overview", at(&endpoint.url(), "")),
            (
                "hostile-records",
                at(&endpoint.url(), "&verb=ListRecords&metadataPrefix=oai_dc"),
            ),
            (
                "hostile-headers",
                at(&endpoint.url(), "&verb=ListIdentifiers&metadataPrefix=oai_dc"),
            ),
            ("hostile-http", at(&endpoint.url(), "&verb=Identify&show=http")),
        ] {
            browser.open(&page(&server, &target));
            browser.value("document.querySelectorAll('.records details').forEach(d => d.open = true)");
            assert!(!browser.overflows(), "{name}: {target}");
            browser.picture(&format!("phone-{scheme}-{name}"));
        }
    }
    browser.open(&page(&server, "/explore?repository=main"));
    browser.then_loads(|browser| browser.click("form[method=post] button"));
    assert!(!browser.overflows());
    browser.picture("phone-dark-run");
}
