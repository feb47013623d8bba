//! Types: which words are of a vocabulary, and which of the DCMI Type Vocabulary somebody means.

/// The DCMI Type Vocabulary.
pub(super) const DCMI_TYPES: [&str; 12] = [
    "Collection",
    "Dataset",
    "Event",
    "Image",
    "InteractiveResource",
    "MovingImage",
    "PhysicalObject",
    "Service",
    "Software",
    "Sound",
    "StillImage",
    "Text",
];

/// How values of other vocabularies begin that communities agreed on: OpenAIRE and DRIVER, DINI, COAR; and the URIs of
/// the DCMI types.
pub(super) const VOCABULARIES: [&str; 8] = [
    "info:eu-repo/semantics/",
    "doc-type:",
    "http://purl.org/coar/resource_type/",
    "https://purl.org/coar/resource_type/",
    "http://purl.org/dc/dcmitype/",
    "https://purl.org/dc/dcmitype/",
    "http://purl.org/info:eu-repo/semantics/",
    "http://purl.org/eprint/type/",
];

/// Words people write in the place of each, in small letters.
const WORDS: [(&str, &str); 10] = [
    (
        "Text",
        "article|journal article|aufsatz|artikel|zeitschriftenartikel|článek|artículo|book|buch|monograph|monographie|\
         kniha|livre|libro|book chapter|chapter|buchkapitel|book part|thesis|dissertation|doctoral thesis|phd thesis|\
         master thesis|master's thesis|masters thesis|bachelor thesis|hochschulschrift|doktorarbeit|masterarbeit|\
         diplomarbeit|disertace|disertační práce|diplomová práce|bakalářská práce|these|thèse|tesis|habilitation|report|\
         technical report|bericht|zpráva|rapport|working paper|arbeitspapier|preprint|conference paper|\
         conference object|conference proceedings|proceedings|lecture|vortrag|review|rezension|recenze|newspaper|zeitung|\
         noviny|journal|zeitschrift|časopis|periodical|serial|letter|brief|dopis|manuscript|handschrift|rukopis|\
         peer-reviewed article|peer reviewed|texts|text document|document|e-book|ebook|print|poem|patent",
    ),
    (
        "StillImage",
        "photograph|photo|photography|fotografie|foto|fotografia|photographie|map|karte|mapa|carte|plan|drawing|zeichnung|\
         kresba|painting|gemälde|obraz|print graphic|poster|plakát|plakat|postcard|postkarte|pohlednice|cartographic|\
         cartographic material|engraving|still images|picture|bild",
    ),
    ("Image", "images|graphic|graphics|grafik|grafika"),
    (
        "MovingImage",
        "video|film|movie|moving images|videorecording|animation|motion picture",
    ),
    (
        "Sound",
        "audio|sound recording|recording|tonaufnahme|zvukový záznam|music|musik|hudba|audiobook|hörbuch|podcast|sounds",
    ),
    (
        "Dataset",
        "data|data set|research data|forschungsdaten|datasets|database|datenbank|table",
    ),
    ("Software", "computer program|source code|computer software|programm"),
    ("Collection", "collections|sammlung|sbírka|kolekce|archive"),
    (
        "PhysicalObject",
        "object|objekt|objekte|předmět|museum object|artefact|artifact|specimen|sculpture",
    ),
    (
        "InteractiveResource",
        "website|web site|web page|webpage|learning object|online course|game",
    ),
];

/// Whether a value is of a vocabulary.
pub(super) fn is_recommended(text: &str) -> bool {
    DCMI_TYPES.contains(&text) || VOCABULARIES.iter().any(|beginning| text.starts_with(beginning))
}

/// The DCMI type that is meant.
pub(super) fn mended(text: &str) -> Option<&'static str> {
    let lower = text.trim().to_lowercase();
    let bare: String = lower.chars().filter(|sign| sign.is_alphanumeric()).collect();
    let by_spelling = DCMI_TYPES.into_iter().find(|known| known.to_lowercase() == bare);
    by_spelling.or_else(|| {
        let means = |words: &str| words.split('|').any(|word| word == lower);
        WORDS.iter().find(|(_, words)| means(words)).map(|(known, _)| *known)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_vocabularies_are_fine() {
        for text in [
            "Text",
            "StillImage",
            "http://purl.org/dc/dcmitype/Sound",
            "info:eu-repo/semantics/article",
            "doc-type:doctoralThesis",
            "http://purl.org/coar/resource_type/c_6501",
        ] {
            assert!(is_recommended(text), "{text}");
        }
    }

    #[test]
    fn other_words_mean_a_dcmi_type() {
        for (text, meant) in [
            ("text", Some("Text")),
            ("Still Image", Some("StillImage")),
            ("still-image", Some("StillImage")),
            ("Article", Some("Text")),
            ("Kniha", Some("Text")),
            ("Dissertation", Some("Text")),
            ("Karte", Some("StillImage")),
            ("Film", Some("MovingImage")),
            ("Forschungsdaten", Some("Dataset")),
            ("論文", None),
            ("PeerReviewed", None),
            ("", None),
        ] {
            assert!(!is_recommended(text), "{text}");
            assert_eq!(mended(text), meant, "{text}");
        }
    }

    #[test]
    fn every_word_stands_once_and_for_a_dcmi_type() {
        let mut seen = std::collections::HashSet::new();
        for (known, words) in WORDS {
            assert!(DCMI_TYPES.contains(&known), "{known}");
            for word in words.split('|') {
                assert!(seen.insert(word), "{word}");
                assert_eq!(word, word.trim().to_lowercase());
            }
        }
    }
}
