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

/// What must hold for any record of a format that has a content model.
mod model {
    use proptest::prelude::*;
    use stook_metadata::model::{Model, all};
    use stook_metadata::{Fault, Problem, check, well_known};

    /// Elements and attributes of a model, thrown together: mostly wrong, but with names that are known.
    fn inside(model: &'static Model) -> impl Strategy<Value = String> {
        let elements: Vec<&str> = model
            .kinds
            .iter()
            .flat_map(|kind| &kind.children)
            .map(|child| &*child.name.shown)
            .chain(["nobody", "o:title"])
            .collect();
        let attributes: Vec<&str> = model
            .kinds
            .iter()
            .flat_map(|kind| &kind.attributes)
            .map(|attribute| &*attribute.name.shown)
            .chain(["xsi:type", "xsi:nil", "zzz"])
            .collect();
        let value = prop::sample::select(vec![
            "",
            "x",
            "2024",
            "é:é",
            "\u{1F600}",
            "&quot;a&quot;",
            "dcterms:W3CDTF",
            " 1\n",
        ]);
        let attribute = prop::option::of((prop::sample::select(attributes), value.clone()));
        let named = (prop::sample::select(elements), attribute).prop_map(|(name, attribute)| {
            let attribute = attribute
                .map(|(name, value)| format!(" {name}=\"{value}\""))
                .unwrap_or_default();
            (name, attribute)
        });
        let leaf = (named.clone(), value)
            .prop_map(|((name, attribute), value)| format!("<{name}{attribute}>{value}</{name}>"));
        leaf.prop_recursive(4, 24, 4, move |inner| {
            (named.clone(), prop::collection::vec(inner, 0..4))
                .prop_map(|((name, attribute), inner)| format!("<{name}{attribute}>{}</{name}>", inner.concat()))
        })
    }

    #[test]
    fn no_record_makes_a_model_panic_and_what_is_taken_is_taken_again() {
        for model in all() {
            let root = &model.root.name;
            let format = well_known()
                .iter()
                .find(|format| format.accepts_root(&root.namespace, &root.local));
            let format = format.expect("every model has a format");
            let prefixes: String = model
                .prefixes
                .iter()
                .map(|(prefix, uri)| format!(" xmlns:{prefix}=\"{uri}\""))
                .collect();
            proptest!(ProptestConfig::with_cases(300), |(inside in prop::collection::vec(inside(model), 0..4))| {
                let xml = format!(
                    "<{0} xmlns=\"{1}\" xmlns:o=\"urn:o\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"{prefixes}>{2}</{0}>",
                    root.local, root.namespace, inside.concat()
                );
                match check(&xml, format) {
                    Ok(checked) => prop_assert_eq!(check(&checked, format), Ok(checked)),
                    Err(Fault { problem: Problem::Several(several), .. }) => {
                        prop_assert!((2..=10).contains(&several.len()));
                        for one in several {
                            prop_assert!(one.to_string().chars().count() < 600, "{}", one);
                        }
                    }
                    Err(fault) => prop_assert!(fault.to_string().chars().count() < 600, "{}", fault),
                }
            });
        }
    }
}

/// What must hold for any record of MARC.
mod marc {
    use std::borrow::Cow;

    use proptest::prelude::*;
    use stook_metadata::crosswalk::built_in::between;
    use stook_metadata::marc::iso2709::{self, Cut, Reading};
    use stook_metadata::marc::{Charset, Dialect, Field, Leader, Record, Subfield, Tag, oai_marc, xml};
    use stook_metadata::{Formats, check};

    const SCHEMA: &str = "http://www.loc.gov/standards/marcxml/schema/MARC21slim.xsd";

    /// Text without the separators of ISO 2709 and without what XML cannot carry unchanged.
    fn text() -> impl Strategy<Value = Cow<'static, str>> {
        let odd = prop::sample::select(vec![
            "é",
            "e\u{301}",
            "Книга",
            "中",
            "&",
            "<",
            ">",
            "\"",
            "\u{1F600}",
            "a",
            " ",
            "4500",
        ]);
        prop_oneof![
            "[ -~]{0,20}".prop_map(Cow::Owned),
            prop::collection::vec(odd, 0..8).prop_map(|pieces| Cow::Owned(pieces.concat())),
        ]
    }

    fn field() -> impl Strategy<Value = Field<'static>> {
        let control = ("00[1-9A-Za-z]", text()).prop_map(|(tag, value)| Field::Control {
            tag: Tag::parse(tag.as_bytes()).expect("a tag"),
            value,
        });
        let subfield = ("[!-?A-Z\\[-{}~]", text()).prop_map(|(code, value)| Subfield {
            code: code.as_bytes()[0],
            value,
        });
        let subfields = prop::collection::vec(subfield, 1..5);
        let data = ("[1-9][0-9]{2}|[A-Z]{3}|[a-z]{3}|0[1-9][0-9]", "[0-9a-z ]{2}", subfields).prop_map(
            |(tag, indicators, subfields)| Field::Data {
                tag: Tag::parse(tag.as_bytes()).expect("a tag"),
                indicators: indicators.as_bytes().try_into().expect("two indicators"),
                subfields,
            },
        );
        prop_oneof![1 => control, 4 => data]
    }

    fn record() -> impl Strategy<Value = Record<'static>> {
        (
            "[a-z ][a-z][a-z ]{2}",
            "[a-z0-9 ]{3}",
            prop::collection::vec(field(), 0..12),
        )
            .prop_map(|(status, levels, fields)| {
                let mut leader = Leader::blank(Dialect::Marc21);
                leader.set(5, status.as_bytes());
                leader.set(17, levels.as_bytes());
                Record { leader, fields }
            })
    }

    /// Bytes made of what a reader of ISO 2709 looks for.
    fn record_like() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop::sample::select(vec![
            &b"00108nam a2200061 a 4500"[..],
            b"00108nam  2200061   450 ",
            b"001000700000",
            b"245003100007",
            b"650999999999",
            b"\x1E",
            b"\x1D",
            b"\x1F",
            b"\x1Fa",
            b"10",
            b"map-1 ",
            b"\xE8u",
            b"\x1B(N",
            b"\x1B$1!0!",
            b"\xDD\xDE",
            "é".as_bytes(),
            b"\xFF",
            b"\n",
            b"     ",
            b"&#x41;",
        ]);
        prop::collection::vec(pieces, 0..20).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn what_is_written_as_iso_2709_is_read_again(record in record()) {
            let mut bytes = Vec::new();
            iso2709::write(&record, Dialect::Marc21, &mut bytes).unwrap();
            prop_assert_eq!(iso2709::next(&bytes, true), Cut::Record(bytes.len()));
            let again = iso2709::read(&bytes, Reading::default()).unwrap();
            prop_assert_eq!(&again.fields, &record.fields);
            prop_assert_eq!(&again.leader.as_str()[5..12], &record.leader.as_str()[5..12]);
            let mut twice = Vec::new();
            iso2709::write(&again, Dialect::Marc21, &mut twice).unwrap();
            prop_assert_eq!(twice, bytes);
        }

        #[test]
        fn what_is_written_as_marcxml_is_valid_and_read_again(mut record in record()) {
            let written = xml::write(&record, Dialect::Marc21, SCHEMA).unwrap();
            let formats = Formats::default();
            let marc21 = formats.by_prefix("marc21").unwrap();
            prop_assert_eq!(check(&written.xml, marc21), Ok(written.xml.clone()));
            // Control fields come first there.
            record.fields.sort_by_key(|field| matches!(field, Field::Data { .. }));
            prop_assert_eq!(xml::read(&written.xml).unwrap(), record);
        }

        #[test]
        fn what_becomes_oai_marc_is_valid_and_read_again(record in record()) {
            let marcxml = xml::write(&record, Dialect::Marc21, SCHEMA).unwrap().xml;
            let mapping = between("marc21", "oai_marc").expect("a crosswalk that comes with the program");
            if let Some(made) = mapping.apply(&marcxml).unwrap() {
                let formats = Formats::default();
                let checked = check(&made, formats.by_prefix("oai_marc").unwrap());
                prop_assert!(checked.is_ok(), "{:?}: {}", checked, made);
                prop_assert!(oai_marc::read(&made).unwrap().fields.len() <= record.fields.len());
            }
        }

        #[test]
        fn no_bytes_make_a_reader_panic(bytes in prop_oneof![record_like(), prop::collection::vec(any::<u8>(), 0..200)]) {
            for dialect in [Dialect::Marc21, Dialect::Unimarc] {
                for charset in [None, Some(Charset::Utf8), Some(Charset::Marc8), Some(Charset::Iso5426)] {
                    if let Ok(record) = iso2709::read(&bytes, Reading { dialect, charset }) {
                        let mut again = Vec::new();
                        iso2709::write(&record, dialect, &mut again).unwrap();
                        if let Ok(written) = xml::write(&record, dialect, SCHEMA) {
                            xml::read(&written.xml).unwrap();
                        }
                    }
                }
            }
            let _ = xml::read(&String::from_utf8_lossy(&bytes));
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                match iso2709::next(rest, true) {
                    Cut::Between(length) | Cut::Record(length) => rest = &rest[length..],
                    Cut::Unfinished => panic!("nothing comes after the end"),
                }
            }
        }

        #[test]
        fn however_bytes_come_they_are_cut_alike(bytes in record_like(), seed in 1usize..40) {
            let cut = |step: usize| {
                let (mut ends, mut start, mut end) = (Vec::new(), 0, 0);
                while start < bytes.len() {
                    match iso2709::next(&bytes[start..end], end == bytes.len()) {
                        Cut::Between(length) => start += length,
                        Cut::Record(length) => {
                            start += length;
                            ends.push(start);
                        }
                        Cut::Unfinished => end = (end + step).min(bytes.len()),
                    }
                }
                ends
            };
            prop_assert_eq!(cut(seed), cut(usize::MAX >> 1));
        }
    }
}
