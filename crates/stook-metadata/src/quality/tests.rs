//! Whole records: what is found in them, and whether the mapping that is offered puts it right.

use std::fs;
use std::path::Path;

use super::*;
use crate::crosswalk::Mapping;
use crate::{DublinCore, Formats, check};

fn record(statements: &[(&str, &str)]) -> String {
    let mut record = DublinCore::default();
    for (element, value) in statements {
        record.push(Element::from_name(element).unwrap(), *value, None);
    }
    record.write()
}

/// A record with nothing amiss, and these statements.
fn with(statements: &[(&str, &str)]) -> String {
    let fine = [
        ("title", "Stadtplan"),
        ("identifier", "https://example.org/1"),
        ("type", "Image"),
        ("rights", "CC0"),
    ];
    record(&[&fine, statements].concat())
}

fn codes(record: &str) -> Vec<&'static str> {
    let mut codes = Vec::new();
    let _ = look(record, &mut |finding| {
        codes.push(finding.code.as_str());
        ControlFlow::Continue(())
    });
    codes
}

/// A record after the mapping that is offered for it.
fn mended(record: &str) -> String {
    let mut report = Report::new(3, None);
    report.look_at("oai:example.org:1", record);
    let text = report
        .fixes
        .mapping()
        .unwrap_or_else(|| panic!("nothing is offered for {record}"));
    let formats = Formats::default();
    let mapping = Mapping::read(&text, &formats).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let made = mapping.apply(record).unwrap().unwrap();
    check(&made, formats.by_prefix("oai_dc").unwrap()).unwrap()
}

fn values(record: &str, element: &str) -> Vec<String> {
    let of_element = Statements::of(record).filter(|(known, _)| known.as_str() == element);
    of_element.map(|(_, value)| value.into_owned()).collect()
}

#[test]
fn the_table_is_in_the_order_of_the_codes() {
    for (at, known) in RECOMMENDATIONS.iter().enumerate() {
        assert_eq!(known.code as usize, at);
        assert_eq!(Code::from_name(known.name), Some(known.code));
    }
}

#[test]
fn the_guide_lists_every_recommendation_as_it_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/quality.md");
    let text = fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = RECOMMENDATIONS
        .iter()
        .map(|known| {
            let hint = if known.is_hint { " (a hint)" } else { "" };
            let Recommendation {
                name,
                elements,
                sentence,
                by,
                ..
            } = known;
            let offered = known.offered.unwrap_or("—");
            format!("| `{name}` | {elements} | {sentence}{hint} | {by} | {offered} |")
        })
        .collect();
    assert_eq!(
        rows,
        expected,
        "write these rows into docs/quality.md:\n{}",
        expected.join("\n")
    );
}

#[test]
fn an_ordinary_record_is_fine() {
    let fine = with(&[
        ("creator", "Weiß, Anna"),
        ("creator", "Петровић, Јован"),
        ("subject", "Cities and towns, Medieval -- Europe"),
        (
            "description",
            "First; second | third / 2 < 3 & so on: SÃO PAULO, 10\u{A0}°C",
        ),
        ("date", "1893"),
        ("language", "de"),
        ("type", "Karte"),
        ("identifier", "K 17"),
    ]);
    assert_eq!(codes(&fine), Vec::<&str>::new());
    assert!(!could_be_better(&fine));
    let mut report = Report::new(3, None);
    report.look_at("a", &fine);
    assert_eq!((report.records, report.improvable), (1, 0));
    assert_eq!(report.fixes.mapping(), None);
}

#[test]
fn each_recommendation_is_looked_for() {
    let wanting = record(&[("creator", "Weiß, Anna")]);
    assert_eq!(
        codes(&wanting),
        ["no-title", "identifier-link", "type-word", "no-rights"]
    );
    for (element, value, expected) in [
        ("date", "17.5.2024", "date-form"),
        ("language", "German", "language-code"),
        ("subject", "maps; cities", "several-values"),
        ("publisher", "N/A", "empty-value"),
        ("title", "Research &amp; Development", "markup"),
        ("creator", "MÃ¼ller", "characters"),
    ] {
        assert_eq!(codes(&with(&[(element, value)])), [expected], "{value}");
        assert!(could_be_better(&with(&[(element, value)])));
    }
    let empty = with(&[]).replace("</oai_dc:dc>", "<dc:subject/><dc:date> </dc:date></oai_dc:dc>");
    assert_eq!(codes(&empty), ["empty-value", "empty-value"]);
}

#[test]
fn a_hint_alone_is_nothing_to_better() {
    let record = with(&[]).replace("<dc:rights>CC0</dc:rights>", "");
    assert_eq!(codes(&record), ["no-rights"]);
    assert!(!could_be_better(&record));
}

#[test]
fn identifiers_that_lead_somewhere_are_known() {
    for fine in [
        "https://example.org/1",
        "HTTP://EXAMPLE.ORG",
        "10.1234/abc",
        "doi:10.1/2",
        "DOI: 10.1/2",
        "urn:nbn:de:101:1-2",
        "hdl:1/2",
        "ark:/1/2",
        "ISBN 978-3-16-148410-0",
    ] {
        assert!(is_link(fine), "{fine}");
    }
    for other in ["K 17", "10.5", "www.example.org", "1/2", "é", ""] {
        assert!(!is_link(other), "{other}");
    }
}

#[test]
fn what_is_offered_puts_it_right() {
    for (element, value, becomes) in [
        ("date", "17.5.2024", vec!["2024-05-17"]),
        ("language", "German; Englisch", vec!["de", "en"]),
        ("creator", "Weiß, Anna; Novák, Jan", vec!["Weiß, Anna", "Novák, Jan"]),
        ("subject", "Karten | Städte|", vec!["Karten", "Städte"]),
        ("publisher", "n/a", vec![]),
        (
            "description",
            "&lt;p&gt;R&amp;amp;D &quot;x&quot;&lt;/p&gt;",
            vec!["R&amp;D \"x\""],
        ),
        ("description", "<p>One</p><p>two</p>", vec!["One two"]),
        ("description", "<p>One</p> <p>two</p> three", vec!["One two three"]),
        (
            "subject",
            "Procter &amp; Gamble; Müller",
            vec!["Procter & Gamble", "Müller"],
        ),
        ("creator", "MÃ¼ller; dÃ©jÃ\u{A0} vu", vec!["Müller", "déjà vu"]),
    ] {
        let after = mended(&with(&[(element, value)]));
        assert_eq!(values(&after, element), becomes, "{value}");
    }
}

#[test]
fn a_type_is_added_and_the_words_stay() {
    let untyped = with(&[("type", "Karte"), ("type", "Plan")]).replace("<dc:type>Image</dc:type>", "");
    assert_eq!(codes(&untyped), ["type-word"]);
    let after = mended(&untyped);
    assert_eq!(values(&after, "type"), ["Karte", "Plan", "StillImage"]);
    assert_eq!(codes(&after), Vec::<&str>::new());
}

#[test]
fn a_record_that_is_fine_is_not_changed_by_what_is_offered_for_others() {
    let fine = with(&[
        ("type", "Karte"),
        ("date", "1893"),
        ("language", "de"),
        ("subject", "a"),
    ]);
    let other = with(&[
        ("type", "Karte"),
        ("date", "1.1.1893"),
        ("language", "deutsch"),
        ("subject", "a; b"),
    ])
    .replace("<dc:type>Image</dc:type>", "");
    let mut report = Report::new(3, None);
    report.look_at("1", &fine);
    report.look_at("2", &other);
    let mapping = Mapping::read(&report.fixes.mapping().unwrap(), &Formats::default()).unwrap();
    let after = mapping.apply(&fine).unwrap().unwrap();
    for element in Element::ALL {
        assert_eq!(values(&after, element.as_str()), values(&fine, element.as_str()));
    }
}

#[test]
fn nothing_is_split_by_a_sign_that_stands_inside_values_too() {
    let mut report = Report::new(3, None);
    report.look_at("1", &with(&[("creator", "Weiß, Anna; Novák, Jan")]));
    report.look_at(
        "2",
        &with(&[("creator", "Dürer, Albrecht (1471-1528; Maler)"), ("date", "[1893]")]),
    );
    let mapping = report.fixes.mapping().unwrap();
    assert!(mapping.contains("copy creator"), "{mapping}");
    assert!(mapping.contains("# creator is not split by \";\""), "{mapping}");
    Mapping::read(&mapping, &Formats::default()).unwrap();
}

#[test]
fn values_that_look_like_the_language_of_mappings_are_quoted() {
    for value in ["\"17\" May 2024\"", "German # comment", "n/a -> \"x\"", "May * 2024"] {
        let mut report = Report::new(3, None);
        for element in ["date", "language", "type", "subject"] {
            report.look_at(
                "1",
                &record(&[(element, value), (element, "n/a"), (element, "a; \"b\" &quot;")]),
            );
        }
        let mapping = report.fixes.mapping().unwrap();
        Mapping::read(&mapping, &Formats::default()).unwrap_or_else(|error| panic!("{error} in\n{mapping}"));
    }
}

#[test]
fn only_one_kind_is_looked_for_if_asked() {
    let record = record(&[("date", "17.5.2024"), ("language", "German")]);
    let mut report = Report::new(3, Some(Code::DateForm));
    report.look_at("1", &record);
    let found: Vec<_> = report
        .tallies()
        .map(|(code, tally)| (code.as_str(), tally.values))
        .collect();
    assert_eq!(found, [("date-form", 1)]);
    let mapping = report.fixes.mapping().unwrap();
    assert!(
        mapping.contains("table dates") && !mapping.contains("table languages"),
        "{mapping}"
    );
}

#[test]
fn examples_differ_and_are_bounded() {
    let mut report = Report::new(2, None);
    for (at, date) in ["1.1.2024", "1.1.2024", "2.1.2024", "3.1.2024"].into_iter().enumerate() {
        report.look_at(
            &at.to_string(),
            &with(&[("date", date), ("description", &"<p></p>é".repeat(200))]),
        );
    }
    for (_, tally) in report.tallies() {
        assert!(tally.examples.len() <= 2);
        let longest = tally.examples.iter().filter_map(|example| example.value.as_deref());
        assert!(longest.map(|value| value.chars().count()).max().unwrap() <= 201);
    }
    let (_, dates) = report.tallies().next().unwrap();
    let identifiers: Vec<&str> = dates.examples.iter().map(|example| &*example.identifier).collect();
    assert_eq!((dates.records, dates.values, identifiers), (4, 4, vec!["0", "2"]));
}

#[test]
fn nothing_is_offered_for_what_is_made_of_another_format() {
    let record = "<dc><title>T</title><date>17.5.1893</date></dc>";
    let mut report = Report::new(3, Some(Code::DateForm));
    report.look_at_made("one", record);
    assert_eq!((report.improvable, report.made), (1, 1));
    assert_eq!(report.fixes.mapping(), None);
    report.look_at("two", record);
    assert_eq!((report.improvable, report.made), (2, 1));
    assert!(report.fixes.mapping().is_some());
}
