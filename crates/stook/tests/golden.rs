//! Golden answers: every verb and every error code, with a clock that stands still.
//!
//! Three repositories are made here and asked; the answers are compared with the files of `testdata/golden`, which are
//! valid by the official schemas. After an intended change run the tests with `STOOK_UPDATE_GOLDEN=1`, read the
//! difference line by line, and validate the files again (`cargo xtask schemas`). Tokens depend on the store's secret;
//! they stand in the files as TOKEN.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its values has failed")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use stook::provider::Provider;
use stook_metadata::{DublinCore, Element, Language};
use stook_oai::{CollectionIcon, Description};
use stook_store::{Change, Content};
use support::answer::ask;
use support::{Bench, as_format, deleted, described, dublin_core, encoded, mods, settings, titled, with_about};

/// Name of the file and query. `TOKEN` in a query is the last token that was given out before it.
type Case = (&'static str, &'static str);

#[rustfmt::skip]
const SECONDS: &[Case] = &[
    ("identify", "verb=Identify"),
    ("list_metadata_formats", "verb=ListMetadataFormats"),
    ("list_metadata_formats_of_an_item", "verb=ListMetadataFormats&identifier=oai%3Aferry.example.org%3Amap-001"),
    ("list_metadata_formats_of_an_item_deleted_in_one", "verb=ListMetadataFormats&identifier=oai%3Aferry.example.org%3Amap-002"),
    ("list_sets_1", "verb=ListSets"),
    ("list_sets_2", "verb=ListSets&resumptionToken=TOKEN"),
    ("list_identifiers_1", "verb=ListIdentifiers&metadataPrefix=oai_dc"),
    ("list_identifiers_2", "verb=ListIdentifiers&resumptionToken=TOKEN"),
    ("list_identifiers_3", "verb=ListIdentifiers&resumptionToken=TOKEN"),
    ("list_records_1", "verb=ListRecords&metadataPrefix=oai_dc"),
    ("error_bad_resumption_token_of_another_verb", "verb=ListIdentifiers&resumptionToken=TOKEN"),
    ("error_bad_argument_token_with_company", "verb=ListRecords&resumptionToken=TOKEN&metadataPrefix=oai_dc&set=maps"),
    ("list_records_2", "verb=ListRecords&resumptionToken=TOKEN"),
    ("list_records_3", "verb=ListRecords&resumptionToken=TOKEN"),
    ("list_records_mods", "verb=ListRecords&metadataPrefix=mods"),
    ("list_records_of_a_day", "verb=ListRecords&metadataPrefix=oai_dc&from=2024-03-15&until=2024-03-15"),
    ("list_records_of_a_second", "verb=ListRecords&metadataPrefix=oai_dc&from=2024-03-16T00%3A00%3A00Z&until=2024-03-16T00%3A00%3A00Z"),
    ("list_records_of_a_set", "verb=ListRecords&metadataPrefix=oai_dc&set=maps%3Acity"),
    ("list_identifiers_of_a_set", "verb=ListIdentifiers&metadataPrefix=oai_dc&set=photographs"),
    ("list_identifiers_of_a_set_since", "verb=ListIdentifiers&metadataPrefix=oai_dc&set=maps&from=2024-03-16&until=2024-12-31"),
    ("get_record", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3Amap-001"),
    ("get_record_mods", "verb=GetRecord&metadataPrefix=mods&identifier=oai%3Aferry.example.org%3Amap-001"),
    ("get_record_deleted", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3Aphoto-001"),
    ("get_record_with_about", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3Aarticle-001"),
    ("get_record_with_reserved_characters", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3Akat%2F7%3Fx%3D1%26y%3D'2'"),
    ("get_record_with_escaped_characters", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3APlan%2520Nr.%25207%2520(S%25C3%25BCd)"),
    ("error_bad_verb_missing", ""),
    ("error_bad_verb_unknown", "verb=Harvest&metadataPrefix=oai_dc"),
    ("error_bad_verb_repeated", "verb=Identify&verb=Identify"),
    ("error_bad_argument_unknown", "verb=Identify&identifier=oai%3Aferry.example.org%3Amap-001"),
    ("error_bad_argument_missing", "verb=GetRecord"),
    ("error_bad_argument_repeated", "verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc"),
    ("error_bad_argument_date", "verb=ListRecords&metadataPrefix=oai_dc&from=2024-02-30"),
    ("error_bad_argument_granularities", "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2024-01-01&until=2024-12-31T23%3A59%3A59Z"),
    ("error_bad_argument_from_after_until", "verb=ListRecords&metadataPrefix=oai_dc&from=2024-12-31&until=2024-01-01"),
    ("error_bad_argument_set", "verb=ListRecords&metadataPrefix=oai_dc&set=maps%3A%3Acity"),
    ("error_bad_argument_prefix", "verb=GetRecord&metadataPrefix=oai/dc&identifier=oai%3Aferry.example.org%3Amap-001"),
    ("error_bad_argument_encoding", "verb=ListRecords&metadataPrefix=oai_dc&set=%zz&until=%FF"),
    ("error_bad_argument_control_character", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aa%00b"),
    ("error_bad_argument_several", "verb=ListRecords&from=junk&until=2024&set=a%20b&colour=blue"),
    ("error_bad_resumption_token_forged", "verb=ListRecords&resumptionToken=made-up"),
    ("error_bad_resumption_token_of_sets", "verb=ListSets&resumptionToken=made%20up%20%22%3C%26%3E"),
    ("error_cannot_disseminate_format_unknown", "verb=ListIdentifiers&metadataPrefix=marcxml"),
    ("error_cannot_disseminate_format_of_the_item", "verb=GetRecord&metadataPrefix=mods&identifier=oai%3Aferry.example.org%3Aarticle-001"),
    ("error_id_does_not_exist", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3Anowhere"),
    ("error_id_does_not_exist_formats", "verb=ListMetadataFormats&identifier=invalid%22id"),
    ("error_id_does_not_exist_nor_the_format", "verb=GetRecord&metadataPrefix=marcxml&identifier=really_wrong_id"),
    ("error_no_records_match_dates", "verb=ListRecords&metadataPrefix=oai_dc&until=2001-01-01"),
    ("error_no_records_match_unknown_set", "verb=ListRecords&metadataPrefix=oai_dc&set=paintings"),
    ("error_no_records_match_empty_set", "verb=ListIdentifiers&metadataPrefix=oai_dc&set=posters"),
    ("error_no_metadata_formats", "verb=ListMetadataFormats&identifier=oai%3Aferry.example.org%3Aphoto-001"),
];

#[rustfmt::skip]
const DAYS: &[Case] = &[
    ("identify", "verb=Identify"),
    ("list_metadata_formats", "verb=ListMetadataFormats"),
    ("list_identifiers_1", "verb=ListIdentifiers&metadataPrefix=oai_dc"),
    ("list_identifiers_2", "verb=ListIdentifiers&resumptionToken=TOKEN"),
    ("list_records_1", "verb=ListRecords&metadataPrefix=oai_dc&from=2024-02-29"),
    ("list_records_2", "verb=ListRecords&resumptionToken=TOKEN"),
    ("list_records_of_a_day", "verb=ListRecords&metadataPrefix=oai_dc&from=2024-02-29&until=2024-02-29"),
    ("get_record", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3Aday-001"),
    ("get_record_deleted", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3Aday-002"),
    ("error_no_set_hierarchy", "verb=ListSets"),
    ("error_no_set_hierarchy_token", "verb=ListSets&resumptionToken=made-up"),
    ("error_no_set_hierarchy_records", "verb=ListRecords&metadataPrefix=oai_dc&set=maps"),
    ("error_no_set_hierarchy_nor_the_format", "verb=ListIdentifiers&metadataPrefix=mods&set=maps"),
    ("error_bad_argument_seconds", "verb=ListRecords&metadataPrefix=oai_dc&from=2024-02-29T00%3A00%3A00Z&until=2024-03-01T00%3A00%3A00Z"),
    ("error_no_records_match", "verb=ListIdentifiers&metadataPrefix=oai_dc&from=2024-03-05"),
];

#[rustfmt::skip]
const EMPTY: &[Case] = &[
    ("identify", "verb=Identify"),
    ("list_metadata_formats", "verb=ListMetadataFormats"),
    ("error_no_set_hierarchy", "verb=ListSets"),
    ("error_no_records_match_identifiers", "verb=ListIdentifiers&metadataPrefix=oai_dc"),
    ("error_no_records_match_records", "verb=ListRecords&metadataPrefix=oai_dc"),
    ("error_id_does_not_exist", "verb=GetRecord&metadataPrefix=oai_dc&identifier=oai%3Aferry.example.org%3A1"),
];

#[test]
fn a_repository_with_seconds_sets_and_two_formats() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = seconds(&bench);
    compare("seconds", SECONDS, &provider);
}

#[test]
fn a_repository_with_days_and_without_sets() {
    let bench = Bench::at("2024-02-28T23:00:00Z");
    let provider = days(&bench);
    compare("days", DAYS, &provider);
}

#[test]
fn an_empty_repository() {
    let bench = Bench::at("2024-03-01T08:00:00Z");
    let provider = bench.provider(settings(
        "[[repository]]
         base_url = \"https://ferry.example.org/empty\"
         repository_name = \"Empty Shelves\"
         admin_emails = [\"oai@ferry.example.org\"]
         compression = []",
    ));
    bench.hand.turn_to("2024-05-01T12:00:00Z");
    compare("empty", EMPTY, &provider);
}

/// Asks every case and compares with the files of the folder, which holds nothing else.
fn compare(folder: &str, cases: &[Case], provider: &Provider) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/golden")
        .join(folder);
    let update = std::env::var_os("STOOK_UPDATE_GOLDEN").is_some();
    let answers = answers(cases, provider);
    let expected: BTreeSet<PathBuf> = answers
        .iter()
        .map(|(name, _)| folder.join(format!("{name}.xml")))
        .collect();
    assert_eq!(expected.len(), cases.len(), "two cases share a name");
    if update {
        fs::create_dir_all(&folder).unwrap();
    }
    let mut complaints = String::new();
    for (name, answer) in &answers {
        let file = folder.join(format!("{name}.xml"));
        if update {
            fs::write(&file, answer).unwrap();
        }
        match fs::read_to_string(&file) {
            Ok(golden) if golden == *answer => {}
            Ok(golden) => complaints += &format!("\n{}\n{}", file.display(), difference(&golden, answer)),
            Err(error) => complaints += &format!("\n{}: {error}\n", file.display()),
        }
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let file = entry.unwrap().path();
        if !expected.contains(&file) {
            if update {
                fs::remove_file(&file).unwrap();
            } else {
                complaints += &format!("\n{} has no case\n", file.display());
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

fn answers(cases: &[Case], provider: &Provider) -> Vec<(&'static str, String)> {
    let mut tokens: Vec<String> = Vec::new();
    let mut answers = Vec::new();
    for (name, query) in cases {
        let query = match tokens.last() {
            Some(token) => query.replace("TOKEN", &encoded(token)),
            None => (*query).to_owned(),
        };
        assert!(!query.contains("TOKEN"), "{name} comes before any token");
        let seen = ask(provider, &query);
        if let Some(token) = seen.next_token() {
            tokens.push(token.to_owned());
        }
        let mut text = seen.document;
        for token in &tokens {
            text = text.replace(token.as_str(), "TOKEN");
        }
        answers.push((*name, text));
    }
    answers
}

/// The lines that differ, between the first and the last of them.
fn difference(golden: &str, answer: &str) -> String {
    let (golden, answer): (Vec<&str>, Vec<&str>) = (golden.lines().collect(), answer.lines().collect());
    let same_start = golden
        .iter()
        .zip(&answer)
        .take_while(|(one, other)| one == other)
        .count();
    let (golden_rest, answer_rest) = (&golden[same_start..], &answer[same_start..]);
    let same_end = golden_rest
        .iter()
        .rev()
        .zip(answer_rest.iter().rev())
        .take_while(|(one, other)| one == other)
        .count();
    let mut text = format!("  from line {}\n", same_start + 1);
    for line in &golden_rest[..golden_rest.len() - same_end] {
        text += &format!("- {line}\n");
    }
    for line in &answer_rest[..answer_rest.len() - same_end] {
        text += &format!("+ {line}\n");
    }
    text
}

/// Three levels of sets, two formats, deletions, about containers, every container of Identify.
fn seconds(bench: &Bench) -> Provider {
    let words = dublin_core(&[(
        Element::Description,
        "What the ferries of the town left behind: plans, pictures, papers.",
    )]);
    let description_file = bench.file(
        "about.xml",
        &format!("<?xml version=\"1.0\"?>\n<!-- For people. -->\n{words}\n"),
    );
    let provider = bench.provider(settings(&seconds_settings(&description_file)));
    bench.declare_format(&provider, "mods");
    define_sets(bench, &provider);
    publish(bench, &provider);
    bench.hand.turn_to("2024-05-01T12:00:00Z");
    provider
}

fn seconds_settings(description_file: &Path) -> String {
    let statement = dublin_core(&[(
        Element::Rights,
        "Metadata made by the museum may be used by anybody for anything.",
    )]);
    format!(
        r#"
[[repository]]
name = "ferry"
base_url = "https://ferry.example.org/oai"
repository_name = "Ferry Town Archive & Museum <Lower Quay>"
admin_emails = ["oai@ferry.example.org", "museum+oai@ferry.example.org"]
namespace = "ferry.example.org"
page_size = 3
set_page_size = 4
friends = ["https://hill.example.org/oai", "http://island.example.org:8080/cgi-bin/oai.pl"]
description_files = ['{file}']
[repository.branding]
icon = "https://ferry.example.org/icon.png?size=s&form=wide"
link = "https://ferry.example.org/"
title = "Fähre & Boot"
width = 88
height = 31
[repository.eprints]
content = "Papers on ferries, 1850 to 1990."
metadata_policy = "https://ferry.example.org/policies/metadata"
data_policy = "Full texts may be read & copied for study."
submission_policy = "https://ferry.example.org/policies/submission"
comments = ["The reading room opens on Tuesdays.", "Bring a coat."]
[[repository.rights]]
reference = "https://creativecommons.org/publicdomain/zero/1.0/"
[[repository.rights]]
definition = '{statement}'
"#,
        file = description_file.display()
    )
}

fn define_sets(bench: &Bench, provider: &Provider) {
    let words = |text: &str| dublin_core(&[(Element::Description, text)]);
    let icon = Description::Branding {
        icon: Some(CollectionIcon {
            url: "https://ferry.example.org/maps.png".to_owned(),
            ..CollectionIcon::default()
        }),
        renderings: vec![],
    };
    bench.define_set(
        provider,
        "maps",
        "Maps",
        vec![words("Maps & plans of any kind."), icon.to_xml()],
    );
    bench.define_set(provider, "maps:city", "City maps: \"Stadtpläne\" & <plans>", vec![]);
    bench.define_set(provider, "posters", "Posters", vec![words("None so far.")]);
}

fn publish(bench: &Bench, provider: &Provider) {
    let harbour = &["maps:city:harbour"];
    bench.apply_at(
        "2024-03-01T09:00:00Z",
        provider,
        vec![
            titled("map-001", harbour, "Harbour, first draft"),
            titled("map-002", &["maps:city"], "Plan der Neustadt"),
            titled("photo-001", &["photographs"], "The old ferry"),
        ],
    );
    bench.apply_at(
        "2024-03-01T09:00:07Z",
        provider,
        vec![
            mods("map-001", harbour, "Harbour of the Ferry Town"),
            mods("map-002", &["maps:city"], "Plan der Neustadt"),
        ],
    );
    bench.apply_at("2024-03-15T23:59:59Z", provider, vec![article()]);
    bench.apply_at(
        "2024-03-16T00:00:00Z",
        provider,
        vec![
            // In two sets, and named in a parent of one of them as well.
            titled(
                "map-003",
                &["photographs", "maps", "maps:island"],
                "Остров, карта 1:5 000",
            ),
            titled("kat/7?x=1&y='2'", &["map"], "Reserved: < > & \" ' ]]> \u{1F6A2}"),
            titled("Plan Nr. 7 (Süd)", &[], "港の地図"),
        ],
    );
    bench.apply_at(
        "2024-04-02T10:00:00Z",
        provider,
        vec![deleted("photo-001"), as_format("mods", deleted("map-002"))],
    );
    bench.apply_at(
        "2024-04-20T06:30:00Z",
        provider,
        vec![every_element("map-001", harbour)],
    );
}

/// A harvested article: whose it was, and what may be done with its record.
fn article() -> Change {
    let rights = "<rights xmlns=\"http://www.openarchives.org/OAI/2.0/rights/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/rights/ http://www.openarchives.org/OAI/2.0/rights.xsd\"><rightsReference ref=\"https://creativecommons.org/licenses/by/4.0/\"/></rights>";
    let provenance = "<provenance xmlns=\"http://www.openarchives.org/OAI/2.0/provenance\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/provenance http://www.openarchives.org/OAI/2.0/provenance.xsd\"><originDescription harvestDate=\"2024-02-01T14:10:02Z\" altered=\"true\"><baseURL>https://hill.example.org/oai</baseURL><identifier>oai:hill.example.org:17</identifier><datestamp>2024-01-30</datestamp><metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace><originDescription harvestDate=\"2023-11-05T01:00:00Z\" altered=\"false\"><baseURL>http://island.example.org/oai</baseURL><identifier>oai:island.example.org:x/17</identifier><datestamp>2023-10-31T08:00:00Z</datestamp><metadataNamespace>http://www.openarchives.org/OAI/2.0/oai_dc/</metadataNamespace></originDescription></originDescription></provenance>";
    let statements = [
        (Element::Title, "On the Drift of Cable Ferries"),
        (Element::Creator, "Nováková, Jana"),
        (Element::Identifier, "https://ferry.example.org/articles/1"),
    ];
    with_about(described("article-001", &[], &statements), &[rights, provenance])
}

/// All fifteen elements, some of them in several languages.
fn every_element(local: &str, sets: &[&str]) -> Change {
    let mut record = DublinCore::default();
    let mut say = |element, value: &'static str, language: Option<&'static str>| {
        record.push(element, value, language.map(|tag| Language::parse(tag).unwrap()));
    };
    say(Element::Title, "Harbour of the Ferry Town", Some("en"));
    say(Element::Title, "Přístav", Some("cs"));
    say(Element::Title, "Лука града", Some("sr-Cyrl"));
    say(Element::Creator, "Surveyors' Office", None);
    say(Element::Subject, "Häfen", Some("de"));
    say(Element::Description, "Soundings in feet.\nTwo sheets.", None);
    say(Element::Publisher, "Harbour & Dock Board", None);
    say(Element::Contributor, "山田, 花子", None);
    say(Element::Date, "1893", None);
    say(Element::Type, "Image", None);
    say(Element::Format, "image/tiff", None);
    say(
        Element::Identifier,
        "https://ferry.example.org/maps/1?sheet=1&of=2",
        None,
    );
    say(Element::Source, "Shelf <12>", None);
    say(Element::Language, "en", None);
    say(Element::Relation, "https://ferry.example.org/maps", None);
    say(Element::Coverage, "Lower Quay", None);
    say(
        Element::Rights,
        "https://creativecommons.org/publicdomain/zero/1.0/",
        None,
    );
    let content = Content::Live {
        metadata: record.write(),
        about: vec![],
    };
    Change {
        content,
        ..titled(local, sets, "")
    }
}

/// Days, no sets, two pages, a deletion, a leap day.
fn days(bench: &Bench) -> Provider {
    let provider = bench.provider(settings(
        "[[repository]]
         name = \"days\"
         path = \"/days\"
         base_url = \"http://ferry.example.org/days\"
         repository_name = \"Day Book\"
         admin_emails = [\"oai@ferry.example.org\"]
         namespace = \"ferry.example.org\"
         granularity = \"days\"
         page_size = 2
         token_hours = 1
         compression = [\"gzip\"]",
    ));
    let day = |time: &str, changes: Vec<Change>| bench.apply_at(time, &provider, changes);
    day("2024-02-28T23:59:59Z", vec![titled("day-001", &[], "Ice on the river")]);
    day("2024-02-29T00:00:00Z", vec![titled("day-002", &[], "No ferry")]);
    day("2024-02-29T23:59:59Z", vec![titled("day-003", &[], "One ferry")]);
    day(
        "2024-03-01T12:00:00Z",
        vec![deleted("day-002"), titled("day-004", &[], "Two ferries")],
    );
    bench.hand.turn_to("2024-03-04T07:08:09Z");
    provider
}
