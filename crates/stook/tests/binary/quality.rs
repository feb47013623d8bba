//! `stook quality` and `stook import --mapping`: what is found, what is offered, and that nothing happens unasked.

use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::{Repository, place, text};

#[test]
fn all_of_this_holds_on_a_server_too() {
    place::once_more_on_a_server(&["quality::"]);
}

/// One record with nothing amiss, whose elements are not in the order of a mapping, and three with something.
const TABLE: &str = "\
id,date,title,creator,language,type,subject,identifier,rights,set
fine,1893,Stadtplan,\"Weiß, Anna\",de,Image,Karten,https://example.org/1,CC0,maps
dates,17.5.1893,Stadtplan,\"Weiß, Anna\",German,Karte,Karten,https://example.org/2,CC0,maps
many,1901,Hafen &amp; Stadt,\"Weiß, Anna; Novák, Jan\",de; Czech,Image,\"Häfen; Städte\",https://example.org/3,CC0,
odd,um 1900,MÃ¼hlen,Novák,de,Image,Mühlen,https://example.org/4,,
";

fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("records.csv", TABLE);
    repository
}

fn exported(repository: &Repository) -> BTreeMap<String, Value> {
    let exported = repository.fine(&["export", "--prefix", "oai_dc"]);
    let records = exported
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    records
        .map(|record| {
            let identifier = record["identifier"].as_str().unwrap().replace("oai:example.org:", "");
            (identifier, record)
        })
        .collect()
}

fn report(repository: &Repository, code: i32, more: &[&str]) -> Value {
    let output = repository.run(&[&["quality", "--json"], more].concat());
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn counts(report: &Value) -> Vec<(String, u64)> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .map(|finding| {
            (
                finding["code"].as_str().unwrap().to_owned(),
                finding["records"].as_u64().unwrap(),
            )
        })
        .collect()
}

#[test]
fn what_is_off_is_told_offered_and_mended_only_when_asked() {
    let repository = repository();
    let summary = repository.fine(&["import", "records.csv"]);
    assert!(
        summary.contains("           3 could say some things better: see stook quality"),
        "{summary}"
    );
    let before = exported(&repository);
    assert!(
        before["dates"]["metadata"]["oai_dc"]
            .as_str()
            .unwrap()
            .contains("17.5.1893")
    );

    let told = repository.ends(1, &["quality", "--fix", "fixes.map"]);
    for expected in [
        "4 records looked at",
        "3 could say some things better, 75%",
        "date-form  in 2 records, 50% (2 values)",
        "oai:example.org:dates  date: 17.5.1893",
        "language-code  in 2 records, 50% (2 values)",
        "several-values  in 1 record, 25% (3 values)",
        "no-rights (a hint)  in 1 record",
        "oai:example.org:odd  no rights",
    ] {
        assert!(told.contains(expected), "{expected} is not in\n{told}");
    }
    assert_eq!(exported(&repository), before, "looking changes nothing");

    sleep(Duration::from_millis(1_100));
    let summary = repository.fine(&["import", "--mapping", "fixes.map", "records.csv"]);
    assert!(summary.contains("           3 rewritten by the mapping"), "{summary}");
    assert!(summary.contains("           1 unchanged"), "{summary}");
    let after = exported(&repository);
    assert_eq!(after["fine"], before["fine"], "to the byte, and to the datestamp");
    for changed in ["dates", "many", "odd"] {
        assert_ne!(after[changed]["datestamp"], before[changed]["datestamp"]);
    }
    let says = |id: &str, value: &str| {
        let metadata = after[id]["metadata"]["oai_dc"].as_str().unwrap();
        assert!(metadata.contains(value), "{value} is not in {metadata}");
    };
    says("dates", "<dc:date>1893-05-17</dc:date>");
    says("dates", "<dc:language>de</dc:language>");
    says("dates", "<dc:type>Karte</dc:type><dc:type>StillImage</dc:type>");
    says("many", "<dc:title>Hafen &amp; Stadt</dc:title>");
    says(
        "many",
        "<dc:creator>Weiß, Anna</dc:creator><dc:creator>Novák, Jan</dc:creator>",
    );
    says("many", "<dc:language>de</dc:language><dc:language>cs</dc:language>");
    says("odd", "<dc:title>Mühlen</dc:title>");
    assert_eq!(after["dates"]["sets"], before["dates"]["sets"]);

    // What nobody can mend but those who know is left, and the hint.
    let left = counts(&report(&repository, 1, &[]));
    assert_eq!(left, [("date-form".to_owned(), 1), ("no-rights".to_owned(), 1)]);

    sleep(Duration::from_millis(1_100));
    repository.fine(&["import", "--mapping", "fixes.map", "records.csv"]);
    assert_eq!(exported(&repository), after, "the same again changes nothing");
}

#[test]
fn nothing_amiss_is_exit_code_0_and_no_mapping() {
    let repository = Repository::new();
    repository.fine(&["migrate"]);
    let told = repository.fine(&["quality"]);
    assert!(told.contains("0 records looked at"), "{told}");
    repository.write("fine.csv", TABLE.lines().take(2).collect::<Vec<_>>().join("\n"));
    let summary = repository.fine(&["import", "fine.csv"]);
    assert!(!summary.contains("stook quality"), "{summary}");
    let told = repository.ends(0, &["quality", "--fix", "fixes.map"]);
    assert!(told.contains("None of them could say anything better"), "{told}");
    assert!(told.contains("There is no mapping to write"), "{told}");
    assert!(!repository.path("fixes.map").exists());
    let report = report(&repository, 0, &[]);
    assert_eq!((&report["records"], &report["improvable"]), (&1.into(), &0.into()));
    assert_eq!(report["mapping"], Value::Null);
}

#[test]
fn a_report_can_be_narrowed() {
    let repository = repository();
    repository.fine(&["import", "records.csv"]);
    let dates = report(&repository, 1, &["--only", "date-form", "-n", "1"]);
    assert_eq!(counts(&dates), [("date-form".to_owned(), 2)]);
    assert_eq!(dates["findings"][0]["examples"].as_array().unwrap().len(), 1);
    assert!(!dates["mapping"].as_str().unwrap().contains("table languages"));
    let maps = report(&repository, 1, &["--set", "maps"]);
    assert_eq!((&maps["records"], &maps["improvable"]), (&2.into(), &1.into()));
    let hints = report(&repository, 0, &["--only", "no-rights"]);
    assert_eq!(hints["findings"][0]["hint"], true);
    let refused = repository.ends(2, &["quality", "--only", "date"]);
    assert!(refused.contains("use one of no-title"), "{refused}");
    let refused = repository.ends(2, &["quality", "--set", "nowhere"]);
    assert!(refused.contains("there is no set nowhere"), "{refused}");
}

#[test]
fn a_mapping_that_somebody_has_is_not_overwritten() {
    let repository = repository();
    repository.fine(&["import", "records.csv"]);
    repository.write("fixes.map", "mine");
    let refused = repository.ends(2, &["quality", "--fix", "fixes.map"]);
    assert!(refused.contains("fixes.map is there already"), "{refused}");
    assert_eq!(fs::read_to_string(repository.path("fixes.map")).unwrap(), "mine");
}

#[test]
fn mappings_that_cannot_be_meant_are_refused_before_anything_is_imported() {
    let repository = repository();
    repository.write("other.map", "map oai_dc to mods\ntitle -> titleInfo/title\n");
    let refused = repository.ends(2, &["import", "--mapping", "other.map", "records.csv"]);
    assert!(
        refused.contains("records can only be rewritten in their own format"),
        "{refused}"
    );
    repository.write("broken.map", "map oai_dc to oai_dc\ntitle => \n");
    let refused = repository.ends(2, &["import", "--mapping", "broken.map", "records.csv"]);
    assert!(
        refused.contains("broken.map") && refused.contains("line 2"),
        "{refused}"
    );
    let refused = repository.ends(2, &["import", "--mapping", "none.map", "records.csv"]);
    assert!(
        refused.contains("reading none.map") && refused.contains("Try: "),
        "{refused}"
    );
    assert!(exported_nothing(&repository));
}

fn exported_nothing(repository: &Repository) -> bool {
    repository.fine(&["export"]).is_empty()
}

#[test]
fn a_record_of_which_nothing_is_left_is_quarantined() {
    let repository = repository();
    repository.fine(&["import", "records.csv"]);
    repository.write("only.map", "map oai_dc to oai_dc\nrights -> rights\n");
    let summary = repository.ends(1, &["import", "--mapping", "only.map", "records.csv"]);
    assert!(summary.contains("1 quarantined"), "{summary}");
    let why = repository.fine(&["quarantine"]);
    assert!(
        why.contains("nothing of it is left as oai_dc; by the mapping only.map"),
        "{why}"
    );
    let odd = &exported(&repository)["odd"];
    assert!(
        odd["metadata"]["oai_dc"].as_str().unwrap().contains("MÃ¼hlen"),
        "what was published before stays"
    );
}

#[test]
fn records_of_other_formats_are_left_alone_and_counted() {
    let repository = Repository::new();
    repository.write("fixes.map", "map oai_dc to oai_dc\ntitle -> title  upper\n");
    repository.write(
        "book.xml",
        "<mods xmlns=\"http://www.loc.gov/mods/v3\"><titleInfo><title>Boats</title></titleInfo></mods>",
    );
    let told = repository.ends(1, &["import", "--mapping", "fixes.map", "book.xml"]);
    assert!(
        told.contains("1 of other formats than the mapping, and left as they are"),
        "{told}"
    );
    assert!(told.contains("No record has the format of the mapping"), "{told}");
    let made = &exported(&repository)["book"]["metadata"]["oai_dc"];
    assert!(made.as_str().unwrap().contains("<dc:title>Boats</dc:title>"), "{made}");
}

#[test]
fn a_preview_shows_what_a_mapping_does_and_publishes_nothing() {
    let repository = repository();
    repository.write("big.map", "map oai_dc to oai_dc\ntitle -> title  upper\n");
    let shown = repository.fine(&["import", "--mapping", "big.map", "--preview", "1", "records.csv"]);
    assert!(shown.contains("STADTPLAN"), "{shown}");
    assert!(exported_nothing(&repository));
}

#[test]
fn records_that_are_made_are_counted_and_not_offered_to_be_rewritten() {
    let repository = Repository::new();
    let mods = "<mods xmlns=\"http://www.loc.gov/mods/v3\" version=\"3.8\"><titleInfo><title>T</title></titleInfo>\
                <originInfo><dateIssued>17.5.1893</dateIssued></originInfo></mods>";
    let file = repository.write("m-1.xml", mods);
    repository.fine(&["import", file.to_str().unwrap()]);
    let told = repository.ends(1, &["quality", "--only", "date-form", "--fix", "f.map"]);
    assert!(
        told.contains("           1 of these are made of other formats"),
        "{told}"
    );
    assert!(told.contains("There is no mapping to write"), "{told}");
    assert!(!repository.path("f.map").exists());
    repository.write("records.csv", TABLE);
    repository.fine(&["import", "records.csv"]);
    let report = report(&repository, 1, &["--only", "date-form"]);
    assert_eq!(
        (&report["improvable"], &report["made"]),
        (&Value::from(3), &Value::from(1))
    );
    assert!(report["mapping"].as_str().unwrap().contains("17.5.1893"));
}

#[test]
fn a_hint_is_not_said_to_be_nothing() {
    let repository = repository();
    repository.fine(&["import", "records.csv"]);
    let told = repository.fine(&["quality", "--only", "no-rights"]);
    assert!(told.contains("Nothing is amiss, but there are hints."), "{told}");
    assert!(!told.contains("None of them"), "{told}");
}

#[test]
fn a_mapping_that_cannot_be_read_says_what_to_try_in_a_line_of_its_own() {
    let repository = repository();
    repository.write("empty.map", "# nothing yet\n\n");
    let told = repository.ends(2, &["import", "--mapping", "empty.map", "records.csv"]);
    assert!(
        told.contains("\nTry: remove it, then stook quality --fix empty.map"),
        "{told}"
    );
    repository.write("wrong.map", "map oai_dc to oai_dc\ncpoy title\n");
    let told = repository.ends(2, &["import", "--mapping", "wrong.map", "records.csv"]);
    assert!(
        told.contains("line 2: ") && told.contains("\nTry: title, creator"),
        "{told}"
    );
}
