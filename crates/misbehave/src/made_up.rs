//! Metadata of made-up records: a function of a number and a revision alone.
//!
//! Several scripts, so that nothing that counts bytes as characters survives;
//! markup characters in every fifth title, so that nothing that forgets to
//! escape does.

use stook_oai::xml;

use crate::dice::Dice;

/// The formats that made-up records have: metadataPrefix, schema, namespace.
pub(crate) const FORMATS: [(&str, &str, &str); 2] = [
    (
        "oai_dc",
        "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
        "http://www.openarchives.org/OAI/2.0/oai_dc/",
    ),
    (
        "mods",
        "http://www.loc.gov/standards/mods/v3/mods-3-8.xsd",
        "http://www.loc.gov/mods/v3",
    ),
];

/// The sets of made-up records: setSpec and setName.
pub(crate) const SETS: [(&str, &str); 6] = [
    ("maps", "Maps"),
    ("maps:city", "City maps"),
    ("maps:sea", "Sea charts"),
    ("theses", "Theses"),
    ("theses:law", "Theses in law"),
    ("photographs", "Photographs"),
];

const OAI_DC_START: &str = "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
    xmlns:dc=\"http://purl.org/dc/elements/1.1/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
    xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
    http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">";

const MODS_START: &str = "<mods xmlns=\"http://www.loc.gov/mods/v3\" \
    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" version=\"3.8\" \
    xsi:schemaLocation=\"http://www.loc.gov/mods/v3 \
    http://www.loc.gov/standards/mods/v3/mods-3-8.xsd\"><titleInfo>";

struct Language {
    code: &'static str,
    words: &'static [&'static str],
    names: &'static [&'static str],
}

const LANGUAGES: [Language; 6] = [
    Language {
        code: "eng",
        words: &[
            "river", "archive", "winter", "harbour", "glacier", "letters", "copper", "survey",
        ],
        names: &["Ashworth, Clara", "O'Brien, Walter", "Quill, Ida"],
    },
    Language {
        code: "deu",
        words: &[
            "Straße", "Größe", "Übung", "Wälder", "Müller", "Fluß", "Gemälde", "Köln",
        ],
        names: &["Weiß, Jörg", "Schäfer, Käthe", "Öhler, Max"],
    },
    Language {
        code: "ces",
        words: &["řeka", "žluť", "kůň", "město", "příběh", "ďábel", "hvězda", "louže"],
        names: &["Novák, Jiří", "Dvořáková, Anežka", "Říha, Ondřej"],
    },
    Language {
        code: "ell",
        words: &[
            "ποτάμι",
            "χειμώνας",
            "θάλασσα",
            "γράμμα",
            "νησί",
            "πέτρα",
            "φως",
            "ψυχή",
        ],
        names: &["Παπαδόπουλος, Νίκος", "Ιωάννου, Ελένη", "Γεωργίου, Άννα"],
    },
    Language {
        code: "ara",
        words: &["نهر", "شتاء", "بحر", "رسالة", "مدينة", "حجر", "ضوء", "كتاب"],
        names: &["العلي، سارة", "حسن، عمر", "خليل، ليلى"],
    },
    Language {
        code: "jpn",
        words: &["川", "冬", "海図", "手紙", "都市", "石", "𠮷野", "書物"],
        names: &["山田 花子", "鈴木 一郎", "髙橋 桜"],
    },
];

/// The metadata of record `number` in a format, as one element that declares
/// its namespaces. Another `revision` is another text.
pub(crate) fn metadata(prefix: &str, number: u64, revision: u64) -> String {
    let mut dice = Dice::new(number ^ (revision << 40));
    let language = &LANGUAGES[usize::try_from(number % 6).unwrap_or(0)];
    let title = title(&mut dice, language, number, revision);
    let creator = dice.pick(language.names);
    if prefix == "mods" {
        mods(&title, creator)
    } else {
        oai_dc(&title, creator, language, number, &mut dice)
    }
}

fn title(dice: &mut Dice, language: &Language, number: u64, revision: u64) -> String {
    let words: Vec<&str> = (0..4).map(|_| dice.pick(language.words)).collect();
    let mut title = words.join(" ");
    if number.is_multiple_of(5) {
        title.push_str(" <1> & 2");
    }
    if revision > 0 {
        title.push_str(&format!(" ({revision})"));
    }
    title
}

fn oai_dc(title: &str, creator: &str, language: &Language, number: u64, dice: &mut Dice) -> String {
    let mut out = OAI_DC_START.as_bytes().to_vec();
    let year = 1500 + dice.below(520);
    let description: Vec<&str> = (0..12).map(|_| dice.pick(language.words)).collect();
    for (name, value) in [
        ("dc:title", title),
        ("dc:creator", creator),
        ("dc:description", &description.join(" ")),
        ("dc:date", &year.to_string()),
        ("dc:type", "Text"),
        (
            "dc:identifier",
            &format!("https://misbehave.example.org/{number}?a=1&b=2"),
        ),
        ("dc:language", language.code),
    ] {
        xml::push_element(&mut out, name, value);
    }
    xml::push_end(&mut out, "oai_dc:dc");
    // Only UTF-8 was written.
    String::from_utf8(out).unwrap_or_default()
}

fn mods(title: &str, creator: &str) -> String {
    let mut out = MODS_START.as_bytes().to_vec();
    xml::push_element(&mut out, "title", title);
    out.extend_from_slice(b"</titleInfo><name>");
    xml::push_element(&mut out, "namePart", creator);
    out.extend_from_slice(b"</name></mods>");
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_a_function_of_number_and_revision() {
        for prefix in ["oai_dc", "mods"] {
            assert_eq!(metadata(prefix, 5, 0), metadata(prefix, 5, 0));
            assert_ne!(metadata(prefix, 5, 0), metadata(prefix, 5, 1));
            assert_ne!(metadata(prefix, 5, 0), metadata(prefix, 6, 0));
        }
        assert!(metadata("oai_dc", 5, 0).contains("&lt;1&gt; &amp; 2"));
    }
}
