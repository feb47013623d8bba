//! What must hold for the crosswalks that come with the program, whatever the record: no panic, nothing invented, order
//! kept, escaping exact, and records that survive the way there and back as far as both formats reach.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use stook_metadata::crosswalk::Mapping;
use stook_metadata::crosswalk::built_in::{all, between};
use stook_metadata::crosswalk::tree::Element;
use stook_metadata::{Formats, check};

/// Applies a crosswalk and checks what it makes as every record is checked before it is published.
fn applied(mapping: &Mapping, record: &str) -> Option<String> {
    let formats = Formats::default();
    let made = mapping.apply(record).expect("a well-formed record")?;
    let checked = check(&made, formats.by_prefix(&mapping.to).expect("a well-known format"));
    if let Err(fault) = checked
        && !is_refused_there(mapping)
    {
        panic!("{} to {}: {fault}\n{made}", mapping.from, mapping.to);
    }
    Some(made)
}

/// What a crosswalk takes as it is may be wrong, and is refused in the other format as it would be in its own: tags and
/// codes that are none, and DataCite inside its wrapper.
fn is_refused_there(mapping: &Mapping) -> bool {
    matches!(
        (&*mapping.from, &*mapping.to),
        ("oai_marc", _) | ("datacite", "oai_datacite") | ("oai_datacite", "datacite")
    )
}

fn apply(from: &str, to: &str, record: &str) -> Option<String> {
    applied(
        between(from, to).expect("a crosswalk that comes with the program"),
        record,
    )
}

/// Text as XML writes it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\r', "&#13;")
}

const DC: [&str; 15] = [
    "title",
    "creator",
    "subject",
    "description",
    "publisher",
    "contributor",
    "date",
    "type",
    "format",
    "identifier",
    "source",
    "language",
    "relation",
    "coverage",
    "rights",
];

fn dublin_core(values: &[(&str, String)]) -> String {
    let inside: String = values
        .iter()
        .map(|(element, text)| format!("<dc:{element}>{}</dc:{element}>", escaped(text)))
        .collect();
    format!(
        "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\">{inside}</oai_dc:dc>"
    )
}

/// The values of each element, in their order.
fn by_element(record: &str) -> BTreeMap<String, Vec<String>> {
    let root = Element::read(record).expect("a well-formed record");
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for element in root.elements() {
        let text = element.text().into_owned();
        if !text.is_empty() {
            all.entry(element.local.to_owned()).or_default().push(text);
        }
    }
    all
}

/// Any text that XML can carry, markup among it.
fn any_text() -> impl Strategy<Value = String> {
    let any = any::<String>().prop_map(|text| stook_metadata::clean::text(&text).text.into_owned());
    prop_oneof![
        any,
        "[ -~]{0,20}",
        Just("]]>".to_owned()),
        Just("&amp;&#65;".to_owned()),
    ]
}

fn any_dublin_core() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    prop::collection::vec((prop::sample::select(&DC[..]), any_text()), 0..20)
}

/// A text of letters that no mapping has, or one that mappings look for.
fn told_apart() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[α-ω]{1,6}( [α-ω]{1,6}){0,2}[ .,:;/]{0,2}",
        1 => prop::sample::select(vec![
            "2023", "2023-05-17", "c1750", "10.5072/α", "https://doi.org/10.5072/β", "https://example.org/γ", "ger",
            "en", "text", "Text", "urn:isbn:123", "doi", "application/pdf", "a", "m", "0", "1", "7", "lcsh", "creator",
        ]).prop_map(String::from),
    ]
}

/// Names of elements and attributes in each format, so that rules are met often.
#[rustfmt::skip]
fn words(format: &str) -> (&'static str, &'static [&'static str], &'static [&'static str]) {
    match format {
        "mods" => (
            "http://www.loc.gov/mods/v3",
            &[
                "mods", "titleInfo", "title", "subTitle", "nonSort", "partNumber", "name", "namePart", "role",
                "roleTerm", "subject", "topic", "geographic", "temporal", "originInfo", "publisher", "dateIssued",
                "language", "languageTerm", "identifier", "relatedItem", "location", "url", "note", "abstract",
                "accessCondition", "typeOfResource", "genre", "recordInfo", "recordIdentifier", "classification",
                "hierarchicalGeographic", "country", "place", "placeTerm", "issuance", "physicalDescription",
                "extent",
            ],
            &[
                "type",
                "authority",
                "usage",
                "point",
                "invalid",
                "encoding",
                "displayLabel",
                "source",
                "eventType",
            ],
        ),
        "datacite" | "oai_datacite" => (
            "http://datacite.org/schema/kernel-4",
            &[
                "resource", "identifier", "creators", "creator", "creatorName", "titles", "title", "publisher",
                "publicationYear", "resourceType", "subjects", "subject", "dates", "date", "relatedIdentifiers",
                "relatedIdentifier", "geoLocations", "geoLocation", "geoLocationPoint", "pointLongitude",
                "rightsList", "rights", "descriptions", "description",
            ],
            &[
                "identifierType",
                "resourceTypeGeneral",
                "relatedIdentifierType",
                "relationType",
                "rightsURI",
            ],
        ),
        "etdms" => (
            "http://www.ndltd.org/standards/metadata/etdms/1.0/",
            &[
                "thesis",
                "title",
                "alternativeTitle",
                "creator",
                "subject",
                "date",
                "degree",
                "name",
                "level",
                "grantor",
            ],
            &["role", "scheme"],
        ),
        "rfc1807" => (
            "http://info.internet.isi.edu:80/in-notes/rfc/files/rfc1807.txt",
            &[
                "rfc1807",
                "title",
                "author",
                "keyword",
                "abstract",
                "id",
                "handle",
                "other_access",
                "date",
                "notes",
            ],
            &["x"],
        ),
        "qdc" => (
            "http://purl.org/dc/terms/",
            &[
                "title",
                "alternative",
                "abstract",
                "issued",
                "extent",
                "isPartOf",
                "spatial",
                "license",
                "audience",
            ],
            &["x"],
        ),
        "oai_marc" => (
            "http://www.openarchives.org/OAI/1.1/oai_marc",
            &["oai_marc", "fixfield", "varfield", "subfield"],
            &["id", "i1", "i2", "label", "status", "type", "level"],
        ),
        "oai_dc" => ("http://purl.org/dc/elements/1.1/", &DC, &["x"]),
        "unimarc" => (
            "info:lc/xmlns/marcxchange-v2",
            &["record", "leader", "controlfield", "datafield", "subfield"],
            &["tag", "ind1", "ind2", "code"],
        ),
        _ => (
            "http://www.loc.gov/MARC21/slim",
            &["record", "leader", "controlfield", "datafield", "subfield"],
            &["tag", "ind1", "ind2", "code"],
        ),
    }
}

/// The root a record of a format has, around elements of its namespace.
fn in_root(format: &str, inside: &str) -> String {
    let formats = Formats::default();
    let root = &formats.by_prefix(format).expect("a well-known format").roots[0];
    let (namespace, ..) = words(format);
    let inside = match format {
        "oai_datacite" => {
            format!("<r:payload><resource>{inside}</resource></r:payload>")
        }
        _ => inside.to_owned(),
    };
    format!(
        "<r:{0} xmlns:r=\"{1}\" xmlns=\"{namespace}\">{inside}</r:{0}>",
        root.name, root.namespace
    )
}

/// Elements of a format in any order and depth, well formed but seldom valid.
fn any_elements(format: &'static str, text: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    let (_, elements, attributes) = words(format);
    let attribute = (prop::sample::select(attributes), text.clone());
    let attribute = prop::option::of(attribute.prop_map(|(name, value)| format!(" {name}=\"{}\"", escaped(&value))));
    let named = (
        prop::sample::select(elements),
        attribute.prop_map(Option::unwrap_or_default),
    );
    let leaf = (named.clone(), text)
        .prop_map(|((name, attribute), text)| format!("<{name}{attribute}>{}</{name}>", escaped(&text)));
    leaf.prop_recursive(4, 40, 6, move |inner| {
        (named.clone(), prop::collection::vec(inner, 0..6))
            .prop_map(|((name, attribute), inside)| format!("<{name}{attribute}>{}</{name}>", inside.concat()))
    })
    .boxed()
}

/// Fields of MARC as they are, with tags that mappings look for.
fn any_fields(text: impl Strategy<Value = String> + Clone) -> impl Strategy<Value = String> {
    #[rustfmt::skip]
    let tags = [
        "010", "020", "022", "024", "040", "041", "043", "050", "082", "084", "100", "110", "111", "130", "200",
        "210", "240", "245", "246", "250", "260", "264", "300", "490", "500", "505", "506", "520", "534", "540",
        "600", "606", "610", "630", "650", "651", "653", "655", "700", "701", "710", "720", "752", "773", "776",
        "780", "830", "852", "856", "880", "590",
    ];
    let subfield = ("[a-z0-4]", text.clone())
        .prop_map(|(code, text)| format!("<subfield code=\"{code}\">{}</subfield>", escaped(&text)));
    let field = (
        prop::sample::select(tags.to_vec()),
        "[ 0-9]",
        "[ 0-9]",
        prop::collection::vec(subfield, 1..5),
    )
        .prop_map(|(tag, ind1, ind2, subfields)| {
            format!(
                "<datafield tag=\"{tag}\" ind1=\"{ind1}\" ind2=\"{ind2}\">{}</datafield>",
                subfields.concat()
            )
        });
    let fixed = prop::option::of("[0-9]{6}[a-z|][0-9u|]{4}[0-9 ]{4}[a-z ]{20}[a-z|]{3}[a-z ]{2}");
    let leader = prop::option::of("[ 0]{5}[a-z ][a-z][a-z ]{3}22[ ]{5}[a-z0-9 ]{3}4500");
    (leader, fixed, prop::collection::vec(field, 0..20)).prop_map(|(leader, fixed, fields)| {
        let leader = leader
            .map(|leader| format!("<leader>{leader}</leader>"))
            .unwrap_or_default();
        let fixed = fixed
            .map(|fixed| format!("<controlfield tag=\"008\">{fixed}</controlfield>"))
            .unwrap_or_default();
        format!("{leader}{fixed}{}", fields.concat())
    })
}

fn any_record(format: &'static str) -> BoxedStrategy<String> {
    record_of(format, any_text().boxed())
}

fn record_of(format: &'static str, text: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let elements = prop::collection::vec(any_elements(format, text.clone()), 0..12).prop_map(|them| them.concat());
    match format {
        "marc21" | "unimarc" => prop_oneof![3 => any_fields(text), 1 => elements]
            .prop_map(move |inside| in_root(format, &inside))
            .boxed(),
        _ => elements.prop_map(move |inside| in_root(format, &inside)).boxed(),
    }
}

fn every_pair(text: fn(&'static str) -> BoxedStrategy<String>) -> impl Strategy<Value = (&'static Mapping, String)> {
    prop::sample::select(all()).prop_flat_map(move |mapping| {
        let mapping = between(&mapping.from, &mapping.to).expect("it is one of them");
        (Just(mapping), text(&mapping.from))
    })
}

/// Every text and every value of an attribute; `read`, as a mapping reads them: the text of an element is then also that
/// of the elements in it.
fn all_texts(element: &Element<'_>, read: bool, texts: &mut Vec<String>) {
    texts.extend(element.attributes.iter().map(|attribute| attribute.value.to_string()));
    if read || element.elements().next().is_none() {
        texts.push(element.text().into_owned());
    }
    for inner in element.elements() {
        all_texts(inner, read, texts);
    }
}

/// A text in pieces: runs of Greek letters, and what is between them.
fn pieces(text: &str) -> Vec<&str> {
    let is_greek = |sign: char| ('α'..='ω').contains(&sign);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, sign) in text.char_indices() {
        if before.is_some_and(|before| is_greek(before) != is_greek(sign)) {
            pieces.push(&text[start..at]);
            start = at;
        }
        before = Some(sign);
    }
    pieces.push(&text[start..]);
    pieces
}

/// The text of a mapping that comes with the program.
fn written(mapping: &Mapping) -> String {
    let name = format!("src/crosswalk/built_in/{}-{}.map", mapping.from, mapping.to);
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("the mapping can be read");
    text.replace("\"\"\"", "\"")
}

/// The paths of all texts that are told apart by a number, in the order of the record.
fn numbered(element: &Element<'_>, path: &str, found: &mut Vec<(String, usize)>) {
    for inner in element.elements() {
        let kind = inner.attributes.iter().map(|it| format!("[{}={}]", it.local, it.value));
        let path = format!("{path}/{}{}", inner.local, kind.collect::<String>());
        if let Some(number) = inner.text().strip_prefix("ν").and_then(|number| number.parse().ok())
            && inner.elements().next().is_none()
        {
            found.push((path.clone(), number));
        }
        numbered(inner, &path, found);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_record_makes_a_crosswalk_panic_or_write_what_cannot_be_published(
        (mapping, record) in every_pair(any_record)
    ) {
        if let Some(made) = applied(mapping, &record) {
            prop_assert!(Element::read(&made).is_ok(), "{}", made);
        }
    }

    #[test]
    fn nothing_is_said_that_the_record_or_the_mapping_does_not_say(
        (mapping, record) in every_pair(|format| record_of(format, told_apart().boxed()))
    ) {
        let Some(made) = applied(mapping, &record) else { return Ok(()) };
        let (from, to) = (Element::read(&record).unwrap(), Element::read(&made).unwrap());
        let (mut said, mut made_of) = (Vec::new(), Vec::new());
        all_texts(&from, true, &mut said);
        all_texts(&to, false, &mut made_of);
        let constants = written(mapping);
        for piece in made_of.iter().flat_map(|text| pieces(text)) {
            let known = said.iter().any(|text| text.contains(piece)) || constants.contains(piece);
            // Between two values: the end of one, something constant, the beginning of another.
            let put_together = || piece.chars().all(|sign| constants.contains(sign) || record.contains(sign));
            let is_greek = piece.starts_with(|sign: char| ('α'..='ω').contains(&sign));
            prop_assert!(known || (!is_greek && put_together()), "{piece:?} in {made}\nof {record}");
        }
    }

    #[test]
    fn values_of_one_element_keep_their_order(elements in prop::collection::vec(prop::sample::select(&DC[..]), 0..30)) {
        let mut values: Vec<(&str, String)> = elements
            .iter()
            .enumerate()
            .map(|(number, element)| (*element, format!("ν{number}")))
            .collect();
        // What some formats demand.
        for (element, text) in [("title", "τ"), ("creator", "κ"), ("subject", "σ"), ("date", "2024"), ("type", "τ"), ("identifier", "ι")] {
            values.push((element, text.to_owned()));
        }
        let record = dublin_core(&values);
        for to in ["qdc", "mods", "marc21", "datacite", "etdms", "rfc1807"] {
            let made = apply("oai_dc", to, &record).unwrap();
            let mut found = Vec::new();
            numbered(&Element::read(&made).unwrap(), "", &mut found);
            let mut last: BTreeMap<(String, &str), usize> = BTreeMap::new();
            for (path, number) in found {
                let before = last.insert((path.clone(), elements[number]), number);
                prop_assert!(before < Some(number), "{path} in {made}");
            }
        }
    }

    #[test]
    fn dublin_core_survives_qualified_dublin_core(values in any_dublin_core()) {
        let record = dublin_core(&values);
        match apply("oai_dc", "qdc", &record) {
            None => prop_assert!(by_element(&record).is_empty()),
            Some(qualified) => {
                prop_assert_eq!(by_element(&qualified), by_element(&record), "escaping is exact");
                let back = apply("qdc", "oai_dc", &qualified).unwrap();
                prop_assert_eq!(by_element(&back), by_element(&record));
            }
        }
    }

    #[test]
    fn dublin_core_survives_formats_as_far_as_they_reach(values in any_dublin_core()) {
        let mut values = values;
        values.retain(|(element, _)| *element != "date");
        for element in ["title", "creator", "subject", "type", "identifier"] {
            values.push((element, format!("a {element}")));
        }
        values.push(("date", "2024-05-17".to_owned()));
        let record = dublin_core(&values);
        for (through, without) in [
            ("etdms", &["source", "relation"][..]),
            // Notes are where the rest goes, so they come back as descriptions.
            ("rfc1807", &["source", "contributor", "coverage", "format", "description", "identifier"][..]),
            ("mods", &["type", "identifier", "rights", "source", "relation", "coverage", "format", "language"][..]),
        ] {
            let there = apply("oai_dc", through, &record).unwrap();
            let back = apply(through, "oai_dc", &there).unwrap();
            let (mut expected, mut found) = (by_element(&record), by_element(&back));
            for element in without {
                expected.remove(*element);
                found.remove(*element);
            }
            prop_assert_eq!(found, expected, "through {}: {}", through, there);
        }
    }

    #[test]
    fn marc_survives_oai_marc(
        status in "[ a-z]",
        kind in "[a-z]",
        level in "[a-z]",
        fixed in "[0-9a-z|][ 0-9a-z|]{0,39}",
        fields in prop::collection::vec(
            ("[1-9][0-9]{2}", "[ 0-9a-z]", "[ 0-9a-z]", prop::collection::vec(("[a-z0-9]", any_text()), 1..4)),
            0..8,
        ),
    ) {
        let mut inside = format!("<leader>     {status}{kind}{level} a22     3u 4500</leader>");
        inside += &format!("<controlfield tag=\"008\">{fixed}</controlfield>");
        for (tag, ind1, ind2, subfields) in &fields {
            // What says nothing is not carried over.
            let subfields = subfields.iter().filter(|(_, text)| !text.trim().is_empty());
            let subfields: String = subfields
                .map(|(code, text)| format!("<subfield code=\"{code}\">{}</subfield>", escaped(text)))
                .collect();
            if !subfields.is_empty() {
                inside += &format!("<datafield tag=\"{tag}\" ind1=\"{ind1}\" ind2=\"{ind2}\">{subfields}</datafield>");
            }
        }
        let record = in_root("marc21", &inside);
        let there = apply("marc21", "oai_marc", &record).unwrap();
        let back = apply("oai_marc", "marc21", &there).unwrap();
        let told = |record: &str| -> Vec<String> {
            let root = Element::read(record).unwrap();
            root.elements()
                .map(|field| {
                    let mut attributes: Vec<_> = field.attributes.iter().map(|it| (it.local, it.value.to_string())).collect();
                    attributes.sort();
                    let subfields: Vec<_> = field.elements().map(|it| (it.attributes[0].value.to_string(), it.text())).collect();
                    let text = if subfields.is_empty() { field.exact_text() } else { "".into() };
                    format!("{} {attributes:?} {subfields:?} {text:?}", field.local)
                })
                .collect()
        };
        prop_assert_eq!(told(&back), told(&record), "{}", there);
    }

    #[test]
    fn datacite_survives_its_wrapper(record in any_record("datacite")) {
        let Some(wrapped) = apply("datacite", "oai_datacite", &record) else { return Ok(()) };
        let Some(back) = apply("oai_datacite", "datacite", &wrapped) else { return Ok(()) };
        let (record, back) = (Element::read(&record).unwrap(), Element::read(&back).unwrap());
        let told = |root: &Element<'_>| root.elements().map(|it| format!("{} {}", it.local, it.text())).collect::<Vec<_>>();
        prop_assert_eq!(told(&back), told(&record));
    }
}

#[test]
fn a_place_of_which_only_an_address_is_given_is_none() {
    let record = |subfields: &str| {
        format!(
            "<record xmlns=\"http://www.loc.gov/MARC21/slim\"><leader>00000nam a2200000 a 4500</leader>\
             <datafield tag=\"245\" ind1=\"0\" ind2=\"0\"><subfield code=\"a\">Plan</subfield></datafield>\
             <datafield tag=\"752\" ind1=\" \" ind2=\" \">{subfields}\
             <subfield code=\"0\">https://example.org/1</subfield></datafield></record>"
        )
    };
    assert!(!apply("marc21", "mods", &record("")).unwrap().contains("Geographic"));
    let made = apply("marc21", "mods", &record("<subfield code=\"d\">Prag</subfield>")).unwrap();
    assert!(
        made.contains("valueURI=\"https://example.org/1\"><city>Prag</city>"),
        "{made}"
    );
}
