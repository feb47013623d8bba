//! Languages: which values are codes, and which code somebody means.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Codes and names, one language to a line; the file says how.
const TABLE: &str = include_str!("languages.txt");

/// Codes of countries that are often taken for those of their languages, where no language has them.
const COUNTRIES: [(&str, &str); 9] = [
    ("cz", "cs"),
    ("jp", "ja"),
    ("dk", "da"),
    ("cn", "zh"),
    ("gr", "el"),
    ("ua", "uk"),
    ("sp", "es"),
    ("en-uk", "en-GB"),
    ("gb", "en"),
];

struct Known {
    /// Every code of ISO 639-1.
    short: Vec<&'static str>,
    /// The code of each name in small letters: of part 1 where there is one.
    by_name: HashMap<String, &'static str>,
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut known = Known {
            short: Vec::new(),
            by_name: HashMap::new(),
        };
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let mut parts = line.splitn(3, ' ');
            let (Some(short), Some(long), Some(names)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            let code = match short {
                "-" => long,
                short => {
                    known.short.push(short);
                    short
                }
            };
            for name in names.split('|') {
                known.by_name.entry(name.to_lowercase()).or_insert(code);
            }
        }
        known.short.sort_unstable();
        known
    })
}

/// Whether a value is a code of ISO 639, a tag of RFC 5646, or the URI of such a code. Of codes of three letters only the
/// form is looked at: ISO 639-3 has thousands, and gets new ones every year.
pub(super) fn is_recommended(text: &str) -> bool {
    let code = match text.starts_with("http") {
        true => text.rsplit('/').next().unwrap_or_default(),
        false => text,
    };
    let mut parts = code.split('-');
    let is_language = parts.next().is_some_and(is_code);
    is_language
        && parts.all(|part| matches!(part.len(), 1..=8) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn is_code(text: &str) -> bool {
    match text.as_bytes() {
        // Two small letters, as nearly always.
        [first, second] if first.is_ascii_lowercase() && second.is_ascii_lowercase() => is_short(text),
        [_, _] => is_short(&text.to_ascii_lowercase()),
        letters @ [_, _, _] => letters.iter().all(u8::is_ascii_alphabetic),
        _ => false,
    }
}

/// Two that were withdrawn are still tags by RFC 5646.
fn is_short(code: &str) -> bool {
    known().short.binary_search(&code).is_ok() || matches!(code, "sh" | "mo")
}

/// The code that somebody means who writes a name, or a code in another way.
pub(super) fn mended(text: &str) -> Option<String> {
    let bare = text.trim_matches(|sign: char| sign.is_whitespace() || matches!(sign, '.' | ',' | ';' | '[' | ']'));
    let tag = bare.replace('_', "-");
    if is_recommended(&tag) && !tag.starts_with("http") {
        return Some(tag);
    }
    let lower = bare.to_lowercase();
    let by_country = COUNTRIES
        .iter()
        .find(|(country, _)| *country == lower)
        .map(|(_, code)| *code);
    let by_name = || known().by_name.get(&lower).copied();
    by_country.or_else(by_name).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_complete() {
        assert_eq!(known().short.len(), 183, "codes of ISO 639-1");
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let parts: Vec<&str> = line.splitn(3, ' ').collect();
            let [short, long, names] = parts[..] else {
                panic!("{line}")
            };
            assert!(short == "-" || short.len() == 2, "{line}");
            assert!(long.split('/').all(|code| code.len() == 3), "{line}");
            assert!(names.split('|').all(|name| !name.trim().is_empty()), "{line}");
        }
    }

    #[test]
    fn codes_and_tags_are_fine() {
        for text in [
            "de",
            "deu",
            "ger",
            "DE",
            "Eng",
            "nds",
            "mul",
            "und",
            "zxx",
            "en-US",
            "sr-Cyrl",
            "zh-Hans-CN",
            "de-1996",
            "cmn",
            "tlh",
            "http://id.loc.gov/vocabulary/iso639-2/ger",
            "http://lexvo.org/id/iso639-3/deu",
        ] {
            assert!(is_recommended(text), "{text}");
        }
    }

    #[test]
    fn names_are_not_and_mean_a_code() {
        for (text, code) in [
            ("German", Some("de")),
            ("deutsch", Some("de")),
            ("Němčina", Some("de")),
            ("Français", Some("fr")),
            ("español", Some("es")),
            ("ČEŠTINA", Some("cs")),
            ("русский", Some("ru")),
            ("日本語", Some("ja")),
            ("العربية", Some("ar")),
            ("Ancient Greek", Some("grc")),
            ("Plattdeutsch", Some("nds")),
            ("en_US", Some("en-US")),
            ("ger.", Some("ger")),
            ("cz", Some("cs")),
            ("jp", Some("ja")),
            ("xx", None),
            ("Elvish", None),
            ("de-", None),
            ("1", None),
            ("german?", None),
        ] {
            assert!(!is_recommended(text), "{text}");
            assert_eq!(mended(text).as_deref(), code, "{text}");
        }
    }
}
