//! Reports in their four forms, also where a repository sends what would like to be more than text.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use stook::validate::Report;
use stook::validate::report::{
    Asked, Changes, Earlier, Finding, Outcome, to_coloured_text, to_html, to_json, to_junit, to_text,
};
use stook::validate::table::{self, Severity};

const HOSTILE: &str = "<script>alert(1)</script> ]]> \u{1b}[2J\u{0} \" & \u{202e}evil";

fn finding(check: &str, severity: Severity, came: &str) -> Finding {
    Finding {
        check: check.into(),
        severity,
        came: came.into(),
        asked: vec![Asked {
            method: "GET".into(),
            url: "https://example.org/oai?verb=junk".into(),
            curl: "curl -i 'https://example.org/oai?verb=junk'".into(),
            came: "badArgument".into(),
            file: Some("0007-request.http".into()),
        }],
        exchanges: vec![7],
        line: Some(3),
    }
}

fn report(came: &str) -> Report {
    let held = Outcome {
        held: 1,
        ..Outcome::default()
    };
    let outcomes = BTreeMap::from([
        (
            "E-3",
            Outcome {
                findings: vec![
                    finding("E-3", Severity::Error, came),
                    finding("E-3", Severity::Error, "HTTP 500 for IllegalVerb"),
                ],
                more: 2,
                ..Outcome::default()
            },
        ),
        (
            "E-11",
            Outcome {
                findings: vec![finding("E-11", Severity::Info, "HTTP 500")],
                ..Outcome::default()
            },
        ),
        ("E-1", held),
        (
            "E-7",
            Outcome {
                not_applicable: Some(came.to_owned()),
                ..Outcome::default()
            },
        ),
    ]);
    Report {
        subject: "https://example.org/oai".into(),
        repository_name: Some(came.to_owned()),
        began: "2024-05-17T08:00:00Z".into(),
        took: Duration::from_millis(2_500),
        seen: Vec::new(),
        requests: 12,
        outcomes,
        ended_early: None,
        evidence: Some(PathBuf::from("stook-evidence/example.org")),
        evidence_failure: None,
        could_test: true,
        changes: Some(Changes {
            since: "2024-05-16T08:00:00Z".into(),
            mended: vec!["E-1".into()],
            new: Vec::new(),
        }),
    }
}

#[test]
fn text_says_the_worst_first_and_the_summary_last() {
    let text = to_text(&report("badArgument instead of badVerb"));
    let wanted = "\
ERROR: a MUST of the specification is broken

  E-3   An unknown verb is answered with badVerb
    asked  GET https://example.org/oai?verb=junk
    came   badArgument instead of badVerb (line 3 of the answer)
    see    stook-evidence/example.org/0007-request.http
    came   HTTP 500 for IllegalVerb (line 3 of the answer)
    more   2 more like this
    says   section 3.6
    mend   Compare the verb with the six of the protocol and answer badVerb to all others.

INFO: worth knowing

  E-11  ";
    assert!(text.starts_with(wanted), "{text}");
    let (_, summary) = text.rsplit_once("\n\n").unwrap();
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(lines[0], "https://example.org/oai (badArgument instead of badVerb)");
    assert!(
        lines[1].starts_with("Checks: 1 held, 1 broken, 1 worth knowing, 1 did not apply, "),
        "{summary}"
    );
    assert_eq!(
        lines[2..],
        [
            "Requests and answers are in stook-evidence/example.org.",
            "Since 2024-05-16T08:00:00Z: mended E-1; newly broken nothing.",
            "Broken: 1 error.",
        ]
    );
    let long = to_text(&report(&"word ".repeat(100)));
    assert!(long.lines().all(|line| line.chars().count() <= 100), "{long}");
}

#[test]
fn nothing_that_came_commands_a_terminal() {
    let text = to_text(&report(HOSTILE));
    assert!(!text.contains(['\u{1b}', '\u{0}', '\u{202e}']), "{text:?}");
    let coloured = to_coloured_text(&report(HOSTILE));
    assert!(
        coloured.contains("\u{1b}[31mERROR\u{1b}[0m") && !coloured.contains("\u{1b}[2J"),
        "{coloured:?}"
    );
}

#[test]
fn a_page_shows_what_came_as_text() {
    let page = to_html(&report(HOSTILE));
    assert!(
        !page.contains("<script") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"),
        "{page}"
    );
    assert!(
        !page.contains(" src=") && !page.contains("@import") && !page.contains("url("),
        "{page}"
    );
    for text in [
        "E-3",
        "An unknown verb",
        "How to mend it",
        "curl -i",
        "2 more like this",
        "mended E-1",
        "Broken: 1 error.",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Every check is somewhere.
    let missing: Vec<&str> = table::all()
        .map(|check| check.id.as_str())
        .filter(|id| !page.contains(&format!(">{id}<")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn build_servers_get_a_suite_for_each_family_and_a_case_for_each_check() {
    let xml = to_junit(&report(HOSTILE));
    let mut reader = quick_xml::Reader::from_str(&xml);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {xml}")) {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                assert!(tag.attributes().all(|attribute| attribute.is_ok()), "{xml}");
                let name: String = tag.name().as_ref().to_owned();
                *counts.entry(name).or_default() += 1;
            }
            _ => {}
        }
    }
    assert!(!xml.contains(['\u{1b}', '\u{0}']), "{xml}");
    let families = table::families()
        .iter()
        .filter(|family| !family.checks.is_empty())
        .count();
    let all = table::all().count();
    // E-11 is merely worth knowing, so it is no failure.
    assert_eq!(
        (counts["testsuite"], counts["testcase"], counts["failure"]),
        (families, all, 1)
    );
    assert_eq!(counts["skipped"], all - 3);
    assert!(
        xml.contains(&format!(
            "tests=\"{all}\" failures=\"1\" errors=\"0\" skipped=\"{}\"",
            all - 3
        )),
        "{xml}"
    );
    assert!(xml.contains("it takes more than asking"), "{xml}");
}

#[test]
fn json_holds_everything_and_can_be_compared_with() {
    let before = report(HOSTILE);
    let json: Value = serde_json::from_str(&to_json(&before)).unwrap();
    assert_eq!(json["subject"], "https://example.org/oai");
    assert_eq!((&json["clean"], &json["could_test"]), (&false.into(), &true.into()));
    assert_eq!(
        (&json["broken"]["error"], &json["broken"]["info"]),
        (&1.into(), &1.into())
    );
    let checks = json["checks"].as_array().unwrap();
    assert_eq!(checks.len(), table::all().count());
    let broken = checks.iter().find(|check| check["id"] == "E-3").unwrap();
    assert_eq!(broken["status"], "broken");
    assert_eq!(broken["findings"][0]["came"], HOSTILE);
    assert_eq!(broken["more_findings"], 2);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("earlier.json");
    std::fs::write(&path, to_json(&before)).unwrap();
    let mut after = report("x");
    after.outcomes.insert("E-3", after.outcomes["E-1"].clone());
    after.outcomes.insert("E-1", before.outcomes["E-11"].clone());
    let changes = Earlier::read(&path).unwrap().compare(&after);
    assert_eq!(
        (changes.mended, changes.new),
        (vec!["E-3".to_owned()], vec!["E-1".to_owned()])
    );
    std::fs::write(&path, "{}").unwrap();
    let error = Earlier::read(&path).unwrap_err().to_string();
    assert!(
        error.contains("is no report of stook validate") && error.contains("Try: "),
        "{error}"
    );
}

#[test]
fn only_what_is_worth_mending_keeps_a_report_from_being_clean() {
    let mut report = report("x");
    report.outcomes.remove("E-3");
    assert!(report.is_clean());
    assert!(to_text(&report).ends_with("Nothing is wrong.\n"));
    report.ended_early = Some("it was stopped".into());
    assert!(!report.is_clean());
    assert!(to_text(&report).contains("The run ended early: it was stopped."));
}
