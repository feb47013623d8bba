//! What the words of a mapping do with one text.

use std::borrow::Cow;

use crate::dublin_core::Language;

/// Words that keep their full stop at the end of a name or title.
const ABBREVIATIONS: &[&str] = &[
    "al", "bd", "bros", "co", "corp", "dept", "dr", "ed", "eds", "etc", "hrsg", "ill", "inc", "jr", "ltd", "mr", "mrs",
    "no", "nr", "prof", "rev", "sr", "st", "tr", "vol",
];

/// Takes the punctuation that cataloguing rules put between areas off the end: `/ : ; , =`, blanks and one full stop,
/// but not that of an initial or an abbreviation.
pub(super) fn chop(text: &str) -> &str {
    let is_between = |sign: char| sign.is_whitespace() || matches!(sign, '/' | ':' | ';' | ',' | '=');
    let text = text.trim_end_matches(is_between);
    match text.strip_suffix('.') {
        // Not an ellipsis, and not the end of an abbreviated word.
        Some(before) if !before.ends_with('.') && !is_abbreviated(before) => before.trim_end_matches(is_between),
        _ => text,
    }
}

fn is_abbreviated(text: &str) -> bool {
    let start = text.rfind([' ', '-', '(', '[', '\'']).map_or(0, |at| at + 1);
    let word = &text[start..];
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    is_initial || (word.contains('.') && !word.ends_with([')', ']'])) || ABBREVIATIONS.contains(&&*word.to_lowercase())
}

/// The first date in a text: four digits, or eight of which the first four are the year, with what follows of month
/// and day in the manner of ISO 8601.
pub(super) fn date(text: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let start = rest.find(|sign: char| sign.is_ascii_digit())?;
        rest = &rest[start..];
        let (digits, after) = split_digits(rest);
        match digits.len() {
            4 => {
                let month = part_after(after);
                let day = month.and_then(|(_, after)| part_after(after));
                let parts = [Some(digits), month.map(|(month, _)| month), day.map(|(day, _)| day)];
                return Some(parts.into_iter().flatten().collect::<Vec<_>>().join("-"));
            }
            8 => return Some(format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..])),
            _ => rest = after,
        }
    }
}

/// The first year in a text.
pub(super) fn year(text: &str) -> Option<String> {
    date(text).map(|date| date[..4].to_owned())
}

/// The host of a URL from the top down, and its port if it names one: `cz:webarchiv:www`. None for any other text.
pub(super) fn domain(text: &str) -> Option<String> {
    let (_, after) = text.trim().split_once("://")?;
    let authority = after.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if let Some((address, rest)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return Some(address.replace(':', "-") + rest)
            .filter(|host| !address.is_empty() && !host.contains(char::is_whitespace));
    }
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let mut parts: Vec<&str> = name.split('.').filter(|part| !part.is_empty()).collect();
    // The numbers of an address stand from the top down already.
    if !parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        parts.reverse();
    }
    if parts.is_empty() || host.contains(char::is_whitespace) {
        return None;
    }
    parts.extend(Some(port).filter(|port| !port.is_empty()));
    Some(parts.join(":").to_lowercase())
}

/// What lies between the separators, with colons between. A colon in between is no level of its own.
pub(super) fn levels(text: &str, separator: &str) -> String {
    let parts = text.split(separator).map(|part| part.trim().replace(':', "-"));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(":")
}

/// A language tag, its first part in small letters: `de`, `ger`, `sr-Cyrl`. None for any other text.
///
/// The first part has two or three letters, as codes of languages have. A longer one would be allowed by the grammar of
/// tags, but is nearly always the name of a language, such as `German`.
pub(super) fn language(text: &str) -> Option<String> {
    let tag = Language::parse(text.trim()).ok()?;
    let (primary, _) = tag.as_str().split_once('-').unwrap_or((tag.as_str(), ""));
    let rest = &tag.as_str()[primary.len()..];
    (2..=3)
        .contains(&primary.len())
        .then(|| primary.to_ascii_lowercase() + rest)
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len()))
}

/// `-05` and what comes after it.
fn part_after(text: &str) -> Option<(&str, &str)> {
    let (digits, after) = split_digits(text.strip_prefix('-')?);
    (digits.len() == 2).then_some((digits, after))
}

/// The text without the first of these that it begins with. Case does not matter.
pub(super) fn without<'t>(text: &'t str, beginnings: &[String]) -> &'t str {
    let after = |beginning: &String| {
        let start = text.get(..beginning.len())?;
        start.eq_ignore_ascii_case(beginning).then(|| &text[beginning.len()..])
    };
    beginnings.iter().find_map(after).unwrap_or(text).trim_start()
}

/// The first so many characters, and the others. A number that leaves nothing is a mistake and counts as none, so that
/// no title is lost to a wrong indicator.
pub(super) fn cut_after(text: &str, count: usize) -> (&str, &str) {
    match text.char_indices().nth(count) {
        Some((at, _)) => text.split_at(at),
        None => ("", text),
    }
}

/// Without the two control characters that MARC puts around what does not count for sorting.
pub(super) fn without_sorting_marks(text: Cow<'_, str>) -> Cow<'_, str> {
    const MARKS: [char; 2] = ['\u{98}', '\u{9c}'];
    // Both begin with this byte; most texts have none.
    if !text.as_bytes().contains(&0xC2) || !text.contains(MARKS) {
        return text;
    }
    Cow::Owned(text.replace(MARKS, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_of_cataloguing_rules_is_chopped() {
        for (text, chopped) in [
            ("Die Karten :", "Die Karten"),
            ("R & D /", "R & D"),
            ("Maps.", "Maps"),
            ("Müller, Anna,", "Müller, Anna"),
            ("Smith, John R.", "Smith, John R."),
            ("Smith, John, Jr.,", "Smith, John, Jr."),
            ("Oil Co.", "Oil Co."),
            (
                "United States of America (U.S.A.).",
                "United States of America (U.S.A.)",
            ),
            ("U.S.", "U.S."),
            ("to be continued...", "to be continued..."),
            ("Art.", "Art"),
            ("é", "é"),
            (" / ", ""),
            (".", ""),
            ("", ""),
        ] {
            assert_eq!(chop(text), chopped, "{text}");
        }
    }

    #[test]
    fn dates_are_found_in_any_text() {
        for (text, found) in [
            ("2024", Some("2024")),
            ("c2004.", Some("2004")),
            ("[1990-1999]", Some("1990")),
            ("2024-05-17T10:00:00Z", Some("2024-05-17")),
            ("published 2024-05, revised", Some("2024-05")),
            ("20240517", Some("2024-05-17")),
            ("17.5.2024", Some("2024")),
            ("12345 and 1", None),
            ("n.d.", None),
            ("199?", None),
            ("٢٠٢٤", None),
        ] {
            assert_eq!(date(text).as_deref(), found, "{text}");
        }
        assert_eq!(year("May 2024-05-17").as_deref(), Some("2024"));
    }

    #[test]
    fn a_count_that_leaves_nothing_counts_as_none() {
        assert_eq!(cut_after("Die Karten", 4), ("Die ", "Karten"));
        assert_eq!(cut_after("Üb er", 3), ("Üb ", "er"));
        assert_eq!(cut_after("Die", 3), ("", "Die"));
        assert_eq!(cut_after("Die", 9), ("", "Die"));
        assert_eq!(cut_after("Die", 0), ("", "Die"));
    }

    #[test]
    fn hosts_are_told_from_the_top_down() {
        for (url, told) in [
            ("http://www.webarchiv.cz/x", Some("cz:webarchiv:www")),
            ("HTTPS://Example.ORG.", Some("org:example")),
            (
                "https://user:secret@example.org:8080/a?b=http://x.y",
                Some("org:example:8080"),
            ),
            ("ftp://192.0.2.1/", Some("192:0:2:1")),
            ("http://[2001:db8::1]:80/", Some("2001-db8--1:80")),
            ("http://localhost", Some("localhost")),
            ("http://a b.org/", None),
            ("http://", None),
            ("http://./", None),
            ("http://[]/", None),
            ("www.webarchiv.cz", None),
            ("", None),
        ] {
            assert_eq!(domain(url).as_deref(), told, "{url}");
        }
    }

    #[test]
    fn only_language_tags_are_languages() {
        for (text, tag) in [
            ("de", Some("de")),
            ("GER", Some("ger")),
            (" en-US ", Some("en-US")),
            ("SR-Cyrl-rs", Some("sr-Cyrl-rs")),
            ("es-419", Some("es-419")),
            ("de-", None),
            ("-de", None),
            ("en_US", None),
            ("e", None),
            ("x-klingon", None),
            ("de-abcdefghi", None),
            ("German", None),
            ("ger eng", None),
            ("g3r", None),
            ("中文", None),
            ("日本語", None),
            ("ñ", None),
            ("", None),
        ] {
            assert_eq!(language(text).as_deref(), tag, "{text}");
        }
    }

    #[test]
    fn levels_lie_between_separators() {
        assert_eq!(
            levels("Faculty / Physics//Optics: lasers/", "/"),
            "Faculty:Physics:Optics- lasers"
        );
        assert_eq!(levels("a:b", ":"), "a:b");
        assert_eq!(levels(" / ", "/"), "");
    }
}
