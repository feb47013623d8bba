//! `stook format`, and what imports make of records beside what they are.

use super::Repository;

fn marc(records: &[(&str, &str)]) -> String {
    let record = |(id, title): &(&str, &str)| {
        format!(
            "<record><leader>00000nam a2200000 a 4500</leader><controlfield tag=\"001\">{id}</controlfield>\
             <datafield tag=\"245\" ind1=\"0\" ind2=\"0\"><subfield code=\"a\">{title}</subfield></datafield></record>"
        )
    };
    let records: String = records.iter().map(record).collect();
    format!("<collection xmlns=\"http://www.loc.gov/MARC21/slim\">{records}</collection>")
}

/// What a record says in a format, with its datestamp; none if it is deleted or not there.
fn said(repository: &Repository, prefix: &str, id: &str) -> Option<(String, String)> {
    let exported = repository.fine(&["export", "--prefix", prefix]);
    let wanted = format!("oai:example.org:{id}");
    exported
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .find(|record| record["identifier"] == *wanted && record["deleted"] == false)
        .map(|record| {
            let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
            (text(&record["metadata"][prefix]), text(&record["datestamp"]))
        })
}

fn contains(repository: &Repository, prefix: &str, id: &str, text: &str) -> bool {
    said(repository, prefix, id).is_some_and(|(metadata, _)| metadata.contains(text))
}

const MAPPING: &str = "map marc21 to mods\n245 => titleInfo\n    $a -> title\n";

#[test]
fn dublin_core_is_made_of_marc_and_goes_with_it() {
    let repository = Repository::new();
    repository.write("a.xml", marc(&[("1", "One"), ("2", "R &amp; D"), ("3", "Three")]));
    let told = repository.fine(&["import", "--sync", "a.xml"]);
    assert!(told.contains("3 new") && told.contains("3 made from these"), "{told}");
    assert!(contains(&repository, "oai_dc", "2", "<dc:title>R &amp; D</dc:title>"));
    // Again: nothing changes.
    let before = said(&repository, "oai_dc", "1");
    let told = repository.fine(&["import", "a.xml"]);
    assert!(!told.contains("made from these"), "{told}");
    assert_eq!(said(&repository, "oai_dc", "1"), before);
    // What is given counts more, whichever comes first.
    repository.write("b.jsonl", "{\"identifier\":\"1\",\"title\":\"Given\"}\n");
    repository.fine(&["import", "b.jsonl"]);
    repository.write("a.xml", marc(&[("1", "Uno"), ("2", "R &amp; D")]));
    repository.fine(&["import", "a.xml"]);
    assert!(contains(&repository, "oai_dc", "1", "Given") && contains(&repository, "marc21", "1", "Uno"));
    // What vanishes takes with it what was made of it, and nothing else.
    let told = repository.fine(&["import", "--sync", "a.xml"]);
    assert!(told.contains("deleted"), "{told}");
    for prefix in ["marc21", "oai_dc"] {
        assert!(said(&repository, prefix, "3").is_none(), "{prefix}");
        assert!(said(&repository, prefix, "1").is_some(), "{prefix}");
    }
}

#[test]
fn a_format_is_looked_at_added_and_made_again_where_it_differs() {
    let repository = Repository::new();
    repository.write("a.xml", marc(&[("1", "One"), ("2", "TWO")]));
    repository.fine(&["import", "a.xml"]);
    repository.write("my.map", MAPPING);
    let shown = repository.fine(&["format", "preview", "mods", "--from", "marc21", "--mapping", "my.map"]);
    assert!(shown.contains("<titleInfo><title>One</title></titleInfo>"), "{shown}");
    assert!(
        !repository.fine(&["status"]).contains("mods"),
        "a preview publishes nothing"
    );

    let told = repository.fine(&["format", "add", "mods", "--from", "marc21", "--mapping", "my.map"]);
    assert!(told.contains("[[crosswalk]]") && told.contains("2 new"), "{told}");
    let again = repository.ends(2, &["format", "add", "mods", "--from", "marc21", "--mapping", "my.map"]);
    assert!(again.contains("already"), "{again}");
    let before = said(&repository, "mods", "2").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1_100));

    repository.write("my.map", MAPPING.replace("title\n", "title upper\n"));
    let told = repository.fine(&["format", "refresh", "mods"]);
    assert!(told.contains("2 records read") && told.contains("1 changed"), "{told}");
    assert!(told.contains("1 unchanged"), "{told}");
    assert!(contains(&repository, "mods", "1", "ONE"));
    assert_eq!(
        said(&repository, "mods", "2").unwrap(),
        before,
        "what is the same keeps its datestamp"
    );
    // New records are made by the mapping too.
    repository.write("c.xml", marc(&[("3", "three")]));
    repository.fine(&["import", "c.xml"]);
    assert!(contains(&repository, "mods", "3", "THREE"));
    let listed = repository.fine(&["format", "list"]);
    assert!(
        listed.contains("marc21 -> mods") && listed.contains("my.map"),
        "{listed}"
    );
}

#[test]
fn mistakes_are_told_with_what_to_try() {
    let repository = Repository::new();
    repository.write("a.xml", marc(&[("1", "One")]));
    repository.fine(&["import", "a.xml"]);
    let told = repository.ends(2, &["format", "preview", "house", "--from", "marc21"]);
    assert!(told.contains("house") && told.contains("Try:"), "{told}");
    repository.write("bad.map", "map marc21 to mods\n\n245$a title\n");
    let told = repository.ends(
        2,
        &["format", "preview", "mods", "--from", "marc21", "--mapping", "bad.map"],
    );
    assert!(told.contains("bad.map") && told.contains("line 3"), "{told}");
    repository.write("other.map", "map oai_dc to mods\ntitle -> titleInfo/title\n");
    let told = repository.ends(
        2,
        &[
            "format",
            "preview",
            "mods",
            "--from",
            "marc21",
            "--mapping",
            "other.map",
        ],
    );
    assert!(told.contains("oai_dc to mods"), "{told}");
    let told = repository.ends(2, &["format", "refresh", "nosuch"]);
    assert!(told.contains("Try:"), "{told}");
}

#[test]
fn a_format_that_nothing_makes_any_more_is_withdrawn_and_a_mistake_stops_only_who_asks() {
    let repository = Repository::new();
    repository.write("a.xml", marc(&[("1", "One"), ("2", "Two")]));
    repository.fine(&["import", "a.xml"]);
    let before = std::fs::read_to_string(repository.path("stook.toml")).unwrap();
    repository.write("my.map", MAPPING);
    let told = repository.fine(&["format", "add", "mods", "--from", "marc21", "--mapping", "my.map"]);
    // So that the folder can be moved.
    assert!(told.contains("mapping = \"my.map\""), "{told}");
    repository.write("my.map", "map marc21 to mods\n245 =>\n");
    for looking in ["status", "quarantine", "export"] {
        repository.fine(&[looking]);
    }
    repository.ends(2, &["import", "a.xml"]);
    repository.write("stook.toml", before);
    let told = repository.fine(&["format", "refresh", "mods"]);
    assert!(told.contains("2 deleted"), "{told}");
    assert!(said(&repository, "mods", "1").is_none() && said(&repository, "marc21", "1").is_some());
    let told = repository.fine(&["format", "refresh", "marc21"]);
    assert!(
        told.contains("0 deleted") && said(&repository, "marc21", "1").is_some(),
        "{told}"
    );
    repository.ends(2, &["format", "refresh", "nothing"]);
}

/// A saved harvest that says of an item, in a format, that it is deleted.
fn deletion(prefix: &str, id: &str) -> String {
    format!(
        "<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\"><responseDate>2026-01-01T00:00:00Z</responseDate>\
         <request verb=\"ListRecords\" metadataPrefix=\"{prefix}\">http://example.org/</request><ListRecords>\
         <record><header status=\"deleted\"><identifier>oai:example.org:{id}</identifier>\
         <datestamp>2026-01-01</datestamp></header></record></ListRecords></OAI-PMH>"
    )
}

#[test]
fn what_is_made_stays_when_one_of_two_that_it_can_be_made_of_goes() {
    let repository = Repository::new();
    repository.write("old.xml", marc(&[("1", "Same"), ("2", "Old"), ("3", "Old")]));
    repository.write("new.xml", marc(&[("1", "Same"), ("2", "New"), ("3", "New")]));
    repository.fine(&["import", "--prefix", "marcxml", "old.xml"]);
    repository.fine(&["import", "new.xml"]);
    let before = said(&repository, "oai_dc", "1");
    assert!(contains(&repository, "oai_dc", "2", "New"));
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    // What it was not made of goes, then what it was: it is made of the other.
    repository.write("gone.xml", deletion("marcxml", "2"));
    repository.fine(&["import", "gone.xml"]);
    assert!(contains(&repository, "oai_dc", "2", "New"), "made of what is left");
    for id in ["1", "3"] {
        repository.write("gone.xml", deletion("marc21", id));
        repository.fine(&["import", "gone.xml"]);
        assert!(said(&repository, "marc21", id).is_none());
    }
    assert!(contains(&repository, "oai_dc", "3", "Old"), "made of what is left");
    assert_eq!(
        said(&repository, "oai_dc", "1"),
        before,
        "it says the same, so nothing moves"
    );
    // When nothing is left, it goes.
    repository.write("gone.xml", deletion("marcxml", "3"));
    repository.fine(&["import", "gone.xml"]);
    assert!(said(&repository, "oai_dc", "3").is_none());
    // Both at once.
    repository.fine(&["import", "new.xml"]);
    repository.write("gone.xml", deletion("marcxml", "1"));
    repository.write("gone-too.xml", deletion("marc21", "1"));
    repository.fine(&["import", "gone.xml", "gone-too.xml"]);
    assert!(said(&repository, "oai_dc", "1").is_none());
}

#[test]
fn a_sync_and_a_refresh_make_records_of_what_is_left() {
    let repository = Repository::new();
    repository.write("old.xml", marc(&[("1", "Old"), ("2", "Old")]));
    repository.write("new.xml", marc(&[("1", "New"), ("2", "New")]));
    repository.fine(&["import", "--prefix", "marcxml", "old.xml"]);
    repository.fine(&["import", "new.xml"]);
    repository.write("new.xml", marc(&[("1", "New")]));
    repository.fine(&["import", "--sync", "new.xml"]);
    assert!(contains(&repository, "oai_dc", "1", "New") && contains(&repository, "oai_dc", "2", "Old"));
    // A refresh by one crosswalk does not take away what another makes.
    repository.fine(&["format", "refresh", "oai_dc", "--from", "marc21"]);
    assert!(contains(&repository, "oai_dc", "2", "Old"));
}

#[test]
fn what_no_source_says_any_more_is_withdrawn_and_sets_follow_what_is_left() {
    let repository = Repository::new();
    let untitled = || {
        marc(&[("1", "")])
            .replace("245", "500")
            .replace("\"a\"></", "\"a\">x</")
    };
    let mut settings = std::fs::read_to_string(repository.path("stook.toml")).unwrap();
    settings = settings.replace("# set_rules = []", "set_rules = [\"my.rules\"]");
    for from in ["marc21", "marcxml"] {
        repository.write(&format!("{from}.map"), MAPPING.replace("marc21", from));
        settings += &format!("\n[[crosswalk]]\nfrom = \"{from}\"\nto = \"mods\"\nmapping = \"{from}.map\"\n");
    }
    repository.write("stook.toml", settings);
    repository.write("my.rules", "sets from mods\ntitleInfo/title -> t:{}\n");
    repository.write("a.xml", marc(&[("1", "Old")]));
    repository.fine(&["import", "--prefix", "marcxml", "a.xml"]);
    repository.write("a.xml", marc(&[("1", "New")]));
    repository.fine(&["import", "a.xml"]);
    let sets = |prefix: &str| {
        let exported = repository.fine(&["export", "--prefix", prefix]);
        let record: serde_json::Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
        record["sets"].to_string()
    };
    assert_eq!(["mods", "marcxml", "oai_dc"].map(sets), ["[\"t:New\"]"; 3]);
    repository.write("a.xml", untitled());
    repository.fine(&["import", "a.xml"]);
    assert!(contains(&repository, "mods", "1", "Old"));
    assert_eq!(["mods", "marcxml", "oai_dc", "marc21"].map(sets), ["[\"t:Old\"]"; 4]);
    // Made by one crosswalk or the other, as long as one of them has something to say.
    for from in ["marc21", "marcxml", "marc21"] {
        repository.fine(&["format", "refresh", "mods", "--from", from]);
        assert!(contains(&repository, "mods", "1", "Old"), "{from}");
    }
    repository.fine(&["import", "--prefix", "marcxml", "a.xml"]);
    assert!(said(&repository, "mods", "1").is_none());
    assert_eq!(["marcxml", "oai_dc", "marc21"].map(sets), ["[]"; 3]);
}
