//! What must hold for any text: no panic, exact escaping, and agreement with
//! an XML parser that somebody else wrote.

use proptest::prelude::*;
use quick_xml::NsReader;
use quick_xml::events::Event;
use stook_metadata::{DublinCore, Element, Format, Formats, Language, Namespaces, check, check_about, clean};

fn oai_dc() -> Format {
    Formats::default()
        .by_prefix("oai_dc")
        .expect("oai_dc is well known")
        .clone()
}

/// Text made of what breaks parsers, so that markup is hit often.
fn markup_like() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<",
        ">",
        "</",
        "/>",
        "&",
        ";",
        "#",
        "x",
        "&#",
        "&amp;",
        "&#38;",
        "&#1;",
        "\"",
        "'",
        "=",
        " ",
        "\n",
        "<a>",
        "</a>",
        "<a/>",
        "<a b='c'",
        "<!--",
        "-->",
        "--",
        "<![CDATA[",
        "]]>",
        "]",
        "<?",
        "?>",
        "<?xml ",
        "<!DOCTYPE a>",
        "xmlns",
        "xmlns:a='b'",
        "xmlns='urn:x'",
        "a:b",
        ":",
        "é",
        "中",
        "\u{FFFE}",
        "\u{1}",
        "<dc:title>",
        "</dc:title>",
        "<dc:title xml:lang='de'>",
        "<b xmlns='urn:b'>",
        "</b>",
    ]);
    prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
}

/// A second parser reads the text to its end and finds every prefix declared.
fn reads_elsewhere(xml: &str) -> Result<(), String> {
    let mut reader = NsReader::from_str(xml);
    reader.config_mut().check_comments = true;
    loop {
        let (namespace, event) = reader.read_resolved_event().map_err(|error| format!("{error}"))?;
        if let quick_xml::name::ResolveResult::Unknown(prefix) = namespace {
            return Err(format!("unknown prefix {prefix:?}"));
        }
        match event {
            Event::Start(tag) | Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    attribute.map_err(|error| format!("{error}"))?;
                }
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// The text of the one child of the root, read by the second parser.
fn value_elsewhere(xml: &str) -> String {
    let mut reader = NsReader::from_str(xml);
    let mut value = String::new();
    loop {
        match reader.read_event().expect("written XML is read") {
            Event::Text(text) => value.push_str(&text),
            Event::GeneralRef(reference) => {
                let character = match reference.resolve_char_ref().expect("a legal reference") {
                    Some(character) => character,
                    None => match &*reference {
                        "amp" => '&',
                        "lt" => '<',
                        "gt" => '>',
                        "quot" => '"',
                        other => panic!("unexpected &{other};"),
                    },
                };
                value.push(character);
            }
            Event::Eof => return value,
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_the_check_panic(xml in any::<String>()) {
        let _ = check(&xml, &oai_dc());
        let _ = check_about(&xml, &Namespaces::none());
        let _ = clean::markup(&xml);
    }

    #[test]
    fn accepted_markup_is_read_by_another_parser_and_accepted_again(inside in markup_like()) {
        let xml = format!("<b xmlns='urn:b' xmlns:dc='urn:dc'>{inside}</b>");
        if let Ok(checked) = check_about(&xml, &Namespaces::none()) {
            prop_assert_eq!(reads_elsewhere(&checked), Ok(()), "{}", checked);
            prop_assert_eq!(check_about(&checked, &Namespaces::none()), Ok(checked));
        }
    }

    #[test]
    fn accepted_dublin_core_is_read_by_another_parser_and_accepted_again(inside in markup_like()) {
        let xml = format!(
            "<o:dc xmlns:o='http://www.openarchives.org/OAI/2.0/oai_dc/' \
             xmlns:dc='http://purl.org/dc/elements/1.1/'>{inside}</o:dc>"
        );
        if let Ok(checked) = check(&xml, &oai_dc()) {
            prop_assert_eq!(reads_elsewhere(&checked), Ok(()), "{}", checked);
            prop_assert_eq!(check(&checked, &oai_dc()), Ok(checked));
        }
    }

    #[test]
    fn cleaned_markup_has_no_illegal_characters_left(xml in markup_like()) {
        let cleaned = clean::markup(&xml);
        let illegal = cleaned.text.contains(['\u{1}', '\u{FFFE}']);
        prop_assert!(!illegal);
        prop_assert!(cleaned.dropped > 0 || cleaned.text == xml);
    }

    #[test]
    fn written_dublin_core_passes_the_check_unchanged(
        values in prop::collection::vec((0usize..15, any::<String>(), prop::option::of("[a-z]{2}(-[A-Z]{2})?")), 0..12)
    ) {
        let mut record = DublinCore::default();
        for (element, value, language) in &values {
            let language = language.as_deref().map(|tag| Language::parse(tag).unwrap());
            record.push(Element::ALL[*element], value.as_str(), language);
        }
        let written = record.write();
        prop_assert_eq!(check(&written, &oai_dc()), Ok(written));
    }

    #[test]
    fn escaping_is_exact(value in any::<String>()) {
        let mut record = DublinCore::default();
        record.push(Element::Title, value.as_str(), None);
        let expected = clean::text(&value).text.into_owned();
        if !record.is_empty() {
            prop_assert_eq!(value_elsewhere(&record.write()), expected);
        }
    }
}

#[test]
fn no_bytes_make_the_check_panic() {
    proptest!(|(bytes in prop::collection::vec(any::<u8>(), 0..200))| {
        let _ = check(&String::from_utf8_lossy(&bytes), &oai_dc());
    });
}
