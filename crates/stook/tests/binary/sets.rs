//! Sets by rule: `stook set preview` and `refresh`, and what imports do by rules.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::{Repository, place};

#[test]
fn all_of_this_holds_on_a_server_too() {
    place::once_more_on_a_server(&["sets::"]);
}

const RULES: &str = "sets from oai_dc\n\
    type   -> theses     when . like \"*thesis*\"\n\
    date   -> year:{}    year\n\
    source -> domain:{}  domain\n\
    names\n    theses -> \"Doctoral theses\"\n    year:* -> \"Published in {}\"\n";

/// A repository with rules in `my.rules`.
fn repository(rules: &str) -> Repository {
    let repository = Repository::new();
    repository.write("my.rules", rules);
    configure(&repository, "set_rules = [\"my.rules\"]");
    repository
}

fn configure(repository: &Repository, line: &str) {
    let path = repository.path("stook.toml");
    let text = fs::read_to_string(&path).unwrap();
    let old = text.lines().find(|line| line.contains("set_rules = [")).unwrap();
    fs::write(path, text.replace(old, line)).unwrap();
}

/// So that a new datestamp differs.
fn wait() {
    sleep(Duration::from_millis(1_100));
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    sets: String,
    datestamp: String,
    deleted: bool,
}

/// The headers in a format, by local identifier; of one set, if there is one.
fn headers(repository: &Repository, prefix: &str, set: Option<&str>) -> BTreeMap<String, Header> {
    let mut arguments = vec!["export", "--prefix", prefix];
    if let Some(set) = set {
        arguments.extend(["--set", set]);
    }
    let exported = repository.fine(&arguments);
    let records = exported
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    records
        .map(|record| {
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            let sets: Vec<String> = record["sets"].as_array().unwrap().iter().map(text).collect();
            let header = Header {
                sets: sets.join(" "),
                datestamp: text(&record["datestamp"]),
                deleted: record["deleted"] == true,
            };
            (text(&record["identifier"]).replace("oai:example.org:", ""), header)
        })
        .collect()
}

fn sets(repository: &Repository, prefix: &str, id: &str) -> String {
    headers(repository, prefix, None).remove(id).unwrap().sets
}

fn members(repository: &Repository, set: &str) -> String {
    let members: Vec<String> = headers(repository, "oai_dc", Some(set)).into_keys().collect();
    members.join(" ")
}

fn import(repository: &Repository, lines: &str) -> String {
    repository.write("records.jsonl", lines);
    repository.fine(&["import", "records.jsonl"])
}

fn marc(records: &[(&str, &str)]) -> String {
    let record = |(id, year): &(&str, &str)| {
        format!(
            "<record><leader>00000nam a2200000 a 4500</leader><controlfield tag=\"001\">{id}</controlfield>\
             <controlfield tag=\"008\">240115s{year}    gw a          000 0 ger d</controlfield>\
             <datafield tag=\"245\" ind1=\"0\" ind2=\"0\"><subfield code=\"a\">Title</subfield></datafield>\
             <datafield tag=\"260\" ind1=\" \" ind2=\" \"><subfield code=\"c\">{year}</subfield></datafield></record>"
        )
    };
    let records: String = records.iter().map(record).collect();
    format!("<collection xmlns=\"http://www.loc.gov/MARC21/slim\">{records}</collection>")
}

#[test]
fn records_come_into_sets_by_what_they_say() {
    let repository = repository(RULES);
    let lines = "{\"identifier\":\"1\",\"type\":\"Doctoral Thesis\",\"date\":\"2026-05-17\",\"sets\":[\"maps\"]}\n\
                 {\"identifier\":\"2\",\"type\":\"Article\",\"date\":\"2025\",\"sets\":[\"theses\"],\"source\":\"http://www.webarchiv.cz/x\"}\n\
                 {\"identifier\":\"3\",\"title\":\"Nothing\",\"sets\":[\"year:1\",\"maps:city\"]}\n";
    import(&repository, lines);
    assert_eq!(sets(&repository, "oai_dc", "1"), "maps theses year:2026");
    assert_eq!(sets(&repository, "oai_dc", "2"), "domain:cz:webarchiv:www year:2025");
    assert_eq!(
        sets(&repository, "oai_dc", "3"),
        "maps:city",
        "sets of rules are not given"
    );
    assert_eq!(members(&repository, "year"), "1 2");
    assert_eq!(members(&repository, "year:2026"), "1");
    assert_eq!(members(&repository, "domain:cz"), "2");
    let listed = repository.fine(&["set", "list"]);
    assert!(listed.contains("Doctoral theses  (by rule)"), "{listed}");
    assert!(listed.contains("Published in 2026  (by rule)"), "{listed}");
    assert!(
        listed
            .lines()
            .any(|line| line.starts_with("maps ") && !line.contains("by rule")),
        "{listed}"
    );
    // A name that somebody gave stays, and nothing changes when the same comes again.
    repository.fine(&["set", "name", "theses", "Ours"]);
    let before = headers(&repository, "oai_dc", None);
    wait();
    let told = import(&repository, lines);
    assert!(told.contains("3 unchanged"), "{told}");
    assert_eq!(headers(&repository, "oai_dc", None), before);
    assert!(repository.fine(&["set", "list"]).contains("Ours"));
}

#[test]
fn a_record_that_says_something_else_moves_and_others_stay() {
    let repository = repository(RULES);
    import(
        &repository,
        "{\"identifier\":\"1\",\"date\":\"2025\"}\n{\"identifier\":\"2\",\"date\":\"2025\"}\n",
    );
    let before = headers(&repository, "oai_dc", None);
    wait();
    import(
        &repository,
        "{\"identifier\":\"1\",\"date\":\"2026\"}\n{\"identifier\":\"2\",\"date\":\"2025\"}\n",
    );
    let after = headers(&repository, "oai_dc", None);
    assert_eq!(before["2"], after["2"]);
    assert_eq!(after["1"].sets, "year:2026");
    assert!(after["1"].datestamp > before["1"].datestamp);
    assert_eq!(
        (members(&repository, "year:2025"), members(&repository, "year:2026")),
        ("2".into(), "1".into())
    );
    // A deletion that names sets is heard of in those of rules, too.
    import(
        &repository,
        "{\"identifier\":\"1\",\"deleted\":true,\"sets\":[\"maps\",\"year:1\"]}\n{\"identifier\":\"2\",\"deleted\":true}\n",
    );
    let deleted = headers(&repository, "oai_dc", Some("year"));
    assert_eq!(
        (deleted["1"].sets.as_str(), deleted["1"].deleted),
        ("maps year:2026", true)
    );
    assert_eq!((deleted["2"].sets.as_str(), deleted["2"].deleted), ("year:2025", true));
}

#[test]
fn edited_rules_move_exactly_those_that_come_out_differently() {
    let repository = repository("sets from oai_dc\ntype -> theses when . like \"*thesis*\"\n");
    let lines = "{\"identifier\":\"1\",\"type\":\"thesis\",\"sets\":[\"maps\"]}\n{\"identifier\":\"2\",\"type\":\"article\"}\n\
                 {\"identifier\":\"3\",\"type\":\"thesis\"}\n{\"identifier\":\"4\",\"deleted\":true}\n";
    import(&repository, lines);
    let before = headers(&repository, "oai_dc", None);
    let rules = "sets from oai_dc\ntype -> kind:{} when . = \"article\"\n@oai:identifier -> third when . like \"*:3\"\n\
                 names\n    kind:article -> Articles\n";
    repository.write("my.rules", rules);
    let told = import(&repository, "{\"identifier\":\"5\",\"type\":\"article\"}\n");
    assert!(!told.contains("refresh"), "{told}");
    let told = repository.ends(0, &["import", "records.jsonl"]);
    assert!(
        told.contains("the set rules have changed") && told.contains("Try: stook set refresh"),
        "{told}"
    );

    let shown = repository.fine(&["set", "preview"]);
    assert!(
        shown.contains("4 records looked at") && shown.contains("3 would be in other sets"),
        "{shown}"
    );
    assert!(shown.contains("kind:article          2  Articles"), "{shown}");
    assert!(
        shown.contains("oai:example.org:1\n  now    maps theses\n  then   maps\n"),
        "{shown}"
    );
    assert_eq!(
        headers(&repository, "oai_dc", None)["1"],
        before["1"],
        "a preview publishes nothing"
    );

    wait();
    let told = repository.fine(&["set", "refresh"]);
    assert!(
        told.contains("4 records read") && told.contains("3 put into other sets"),
        "{told}"
    );
    let after = headers(&repository, "oai_dc", None);
    let of = |id: &str| after[id].sets.as_str();
    assert_eq!(
        [of("1"), of("2"), of("3"), of("5")],
        ["maps", "kind:article", "third", "kind:article"]
    );
    assert_eq!(after["4"], before["4"]);
    assert!(
        ["1", "2", "3"]
            .iter()
            .all(|id| after[*id].datestamp > before[*id].datestamp)
    );
    assert!(repository.fine(&["set", "list"]).contains("Articles  (by rule)"));

    // Again, and an import: nothing to do, nothing to say.
    wait();
    let told = repository.fine(&["set", "refresh"]);
    assert!(told.contains("0 put into other sets"), "{told}");
    let told = repository.ends(0, &["import", "records.jsonl"]);
    assert!(!told.contains("have changed"), "{told}");
    assert_eq!(headers(&repository, "oai_dc", None), after);
    // Without rules what they made goes.
    configure(&repository, "# set_rules = []");
    repository.fine(&["set", "refresh"]);
    let sets: Vec<String> = headers(&repository, "oai_dc", None)
        .into_values()
        .map(|header| header.sets)
        .collect();
    assert_eq!(sets, ["maps", "", "", "", ""]);
}

#[test]
fn all_formats_of_an_item_are_in_the_same_sets() {
    let repository = repository(RULES);
    repository.write("a.xml", marc(&[("1", "2025"), ("2", "2026")]));
    repository.fine(&["import", "a.xml"]);
    for prefix in ["marc21", "oai_dc"] {
        assert_eq!(sets(&repository, prefix, "1"), "year:2025", "{prefix}");
        assert_eq!(sets(&repository, prefix, "2"), "year:2026", "{prefix}");
    }
    let before = [
        headers(&repository, "marc21", None),
        headers(&repository, "oai_dc", None),
    ];
    wait();
    let told = repository.fine(&["import", "a.xml"]);
    assert!(told.contains("2 unchanged") && !told.contains("made from"), "{told}");
    assert_eq!(
        [
            headers(&repository, "marc21", None),
            headers(&repository, "oai_dc", None)
        ],
        before
    );
    // What is given decides, and takes along what was there.
    let told = import(
        &repository,
        "{\"identifier\":\"1\",\"date\":\"1999\",\"sets\":[\"maps\"]}\n",
    );
    assert!(told.contains("1 there already in other formats"), "{told}");
    assert_eq!(sets(&repository, "oai_dc", "1"), "maps year:1999");
    assert_eq!(sets(&repository, "marc21", "1"), "year:1999");
    let after = headers(&repository, "marc21", None);
    assert!(after["1"].datestamp > before[0]["1"].datestamp);
    assert_eq!(after["2"], before[0]["2"]);
    // And keeps deciding when the other comes again.
    let before = [
        headers(&repository, "marc21", None),
        headers(&repository, "oai_dc", None),
    ];
    wait();
    let told = repository.fine(&["import", "a.xml"]);
    assert!(told.contains("2 unchanged") && !told.contains("other sets"), "{told}");
    assert_eq!(
        [
            headers(&repository, "marc21", None),
            headers(&repository, "oai_dc", None)
        ],
        before
    );
}

#[test]
fn formats_that_come_in_one_import_or_in_any_order_end_alike() {
    let house = "{\"identifier\":\"1\",\"date\":\"1999\"}\n";
    let ends: Vec<_> = [&["dc.jsonl", "a.xml"], &["a.xml", "dc.jsonl"]]
        .into_iter()
        .flat_map(|files| [true, false].map(|at_once| (files, at_once)))
        .map(|(files, at_once)| {
            let repository = repository(RULES);
            repository.write("a.xml", marc(&[("1", "2025"), ("2", "2026")]));
            repository.write("dc.jsonl", house);
            if at_once {
                repository.fine(&["import", files[0], files[1]]);
            } else {
                repository.fine(&["import", files[0]]);
                repository.fine(&["import", files[1]]);
            }
            let before = headers(&repository, "marc21", None);
            wait();
            repository.fine(&["import", files[0], files[1]]);
            assert_eq!(headers(&repository, "marc21", None), before, "{files:?}");
            [
                sets(&repository, "marc21", "1"),
                sets(&repository, "oai_dc", "1"),
                sets(&repository, "marc21", "2"),
            ]
        })
        .collect();
    for end in ends {
        assert_eq!(end, ["year:1999", "year:1999", "year:2026"]);
    }
}

#[test]
fn the_profile_of_the_dini_certificate_is_there() {
    let repository = Repository::new();
    configure(&repository, "set_rules = [\"dini\"]");
    import(
        &repository,
        "{\"identifier\":\"1\",\"subject\":[\"ddc:333.79\",\"330 Economics\",\"Other\"],\"type\":[\"info:eu-repo/semantics/doctoralThesis\",\
         \"info:eu-repo/semantics/acceptedVersion\"],\"rights\":\"info:eu-repo/semantics/openAccess\",\
         \"relation\":\"info:eu-repo/grantAgreement/EC/FP7/1\"}\n",
    );
    assert_eq!(
        sets(&repository, "oai_dc", "1"),
        "ddc:330 ddc:333.7 doc-type:doctoralThesis ec_fundedresources open_access openaire status-type:acceptedVersion"
    );
    let listed = repository.fine(&["set", "list"]);
    assert!(
        listed.contains("Economics  (by rule)") && listed.contains("Open Access Documents"),
        "{listed}"
    );
}

#[test]
fn mistakes_in_rules_are_told_with_file_line_and_what_to_try() {
    let repository = repository("sets from oai_dc\n\ntype -> theses shout\n");
    repository.write("records.jsonl", "{\"identifier\":\"1\",\"type\":\"thesis\"}\n");
    for arguments in [
        &["import", "records.jsonl"][..],
        &["set", "refresh"],
        &["set", "preview"],
    ] {
        let told = repository.ends(2, arguments);
        assert!(
            told.contains("my.rules") && told.contains("line 3") && told.contains("\nTry: trim"),
            "{told}"
        );
    }
    configure(&repository, "set_rules = [\"nosuch.rules\"]");
    let told = repository.ends(2, &["import", "records.jsonl"]);
    assert!(told.contains("nosuch.rules") && told.contains("dini"), "{told}");
    configure(&repository, "# set_rules = []");
    repository.fine(&["import", "records.jsonl"]);
    let told = repository.ends(2, &["set", "preview"]);
    assert!(told.contains("no rules") && told.contains("Try: --rules"), "{told}");
}

#[test]
fn a_preview_shows_single_records_and_rules_to_try() {
    let repository = Repository::new();
    import(
        &repository,
        "{\"identifier\":\"1\",\"date\":\"2026\",\"sets\":[\"maps\"]}\n{\"identifier\":\"2\",\"title\":\"x\"}\n",
    );
    repository.write("try.rules", RULES);
    let shown = repository.fine(&["set", "preview", "--rules", "try.rules", "1", "2"]);
    assert_eq!(
        shown,
        "oai:example.org:1\n  now    maps\n  then   maps year:2026\noai:example.org:2\n  now    no sets\n  then   the same\n"
    );
    let shown = repository.fine(&["set", "preview", "--rules", "try.rules", "--all", "-n", "1"]);
    assert!(
        shown.contains("2 records looked at (all there are)") && shown.contains("1 would be"),
        "{shown}"
    );
    assert!(shown.contains("year:2026          1  Published in 2026"), "{shown}");
    assert!(!shown.contains("oai:example.org:2"), "{shown}");
    assert!(!repository.fine(&["set", "list"]).contains("year"));
    let told = repository.ends(2, &["set", "preview", "--rules", "try.rules", "3"]);
    assert!(told.contains("oai:example.org:3") && told.contains("Try:"), "{told}");
}

#[test]
fn a_record_of_too_many_sets_is_published_without_and_told() {
    let repository = repository("sets from oai_dc\ndescription -> word:{} split \" \"\n");
    let words: Vec<String> = (0..1_001).map(|number| format!("w{number}")).collect();
    let line = format!(
        "{{\"identifier\":\"1\",\"description\":\"{}\",\"sets\":[\"maps\"]}}\n",
        words.join(" ")
    );
    repository.write("records.jsonl", line);
    let told = repository.ends(1, &["import", "records.jsonl"]);
    assert!(told.contains("1 new") && told.contains("1 quarantined"), "{told}");
    assert_eq!(sets(&repository, "oai_dc", "1"), "maps");
    let told = repository.fine(&["quarantine"]);
    assert!(told.contains("more than 1000 sets"), "{told}");
    let told = repository.ends(1, &["set", "refresh"]);
    assert!(
        told.contains("1 left as they are") && told.contains("more than 1000 sets"),
        "{told}"
    );
    repository.ends(1, &["set", "preview"]);
}

#[test]
fn the_example_in_the_documentation_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sets.md");
    let text = fs::read_to_string(path).unwrap();
    let block = |kind: &str| {
        let after = text
            .split(&format!("```{kind}\n"))
            .nth(1)
            .unwrap_or_else(|| panic!("no {kind}"));
        after.split("```").next().unwrap().to_owned()
    };
    let repository = repository(&block("text"));
    configure(&repository, block("toml").trim());
    repository.write("records.csv", block("csv"));
    repository.fine(&["import", "records.csv"]);
    assert_eq!(repository.fine(&["set", "list"]), block("console"));
}
