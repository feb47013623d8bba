//! Several values in one element, by the signs between them.

use super::languages;
use super::markup::is_end_of_reference;
use crate::dublin_core::Element;
use crate::find::find;

/// A sign between values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Separated {
    pub(super) sign: &'static str,
    /// Whether the sign stands between values only, so that splitting does no harm.
    pub(super) only_between: bool,
}

/// Signs that stand between values in the elements of which people are known to put several into one; the semicolon of
/// Chinese and of Arabic too.
pub(super) const SIGNS: [&str; 4] = [";", "；", "؛", "|"];

/// The sign that separates several values of this element, if there are several.
pub(super) fn separated(element: Element, text: &str) -> Option<Separated> {
    let may_be_several = matches!(
        element,
        Element::Subject | Element::Type | Element::Creator | Element::Contributor | Element::Language
    );
    // Every sign begins with one of these bytes; most values have none of them.
    let is_special =
        |byte| matches!(byte, b';' | b'|' | b'/' | 0xEF | 0xD8) || (byte == b',' && element == Element::Language);
    if !may_be_several || find(text.as_bytes(), is_special).is_none() || is_link(text) {
        return None;
    }
    let by_sign = || SIGNS.iter().find_map(|sign| between(text, sign));
    match element {
        Element::Subject | Element::Type => by_sign(),
        // A slash stands inside the names of bodies too: only names with a comma are surely several persons.
        Element::Creator | Element::Contributor => {
            by_sign().or_else(|| if_all(text, " / ", |name| name.contains(", ")))
        }
        Element::Language => by_sign().or_else(|| {
            let is_language = |part: &str| languages::is_recommended(part) || languages::mended(part).is_some();
            ["/", ","].iter().find_map(|sign| if_all(text, sign, is_language))
        }),
        _ => None,
    }
}

/// Whether splitting by a sign would take apart what belongs together: it stands inside brackets or in a link, or the
/// value is no list at all. A mapping cannot tell.
pub(super) fn is_torn_by(element: Element, text: &str, sign: &str) -> bool {
    let is_list = |separated: Separated| separated.sign == sign && separated.only_between;
    parts(text, sign).count() > 1 && !separated(element, text).is_some_and(is_list)
}

fn is_link(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// What is not empty between the signs.
pub(super) fn parts<'t>(text: &'t str, sign: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(sign).map(str::trim).filter(|part| !part.is_empty())
}

fn between(text: &str, sign: &'static str) -> Option<Separated> {
    if !text.contains(sign) {
        return None;
    }
    let (mut depth, mut inside, mut outside) = (0_usize, 0_usize, 0_usize);
    let mut before = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if text[at..].starts_with(sign) => {
                if depth > 0
                    || is_link(text[before..at].trim_start())
                    || (sign == ";" && is_end_of_reference(&text[..=at]))
                {
                    inside += 1;
                } else {
                    // Signs at the beginning and the end stand between nothing.
                    let is_between = !text[before..at].trim().is_empty() && !text[at + sign.len()..].trim().is_empty();
                    outside += usize::from(is_between);
                    before = at + sign.len();
                }
            }
            _ => {}
        }
    }
    (outside > 0).then_some(Separated {
        sign,
        only_between: inside == 0,
    })
}

fn if_all(text: &str, sign: &'static str, is_value: impl Fn(&str) -> bool) -> Option<Separated> {
    let is_several = parts(text, sign).count() > 1 && parts(text, sign).all(is_value);
    is_several.then_some(Separated {
        sign,
        only_between: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sign(element: Element, text: &str) -> Option<&'static str> {
        separated(element, text).map(|separated| separated.sign)
    }

    #[test]
    fn lists_are_recognised_by_their_signs() {
        for (element, text, between) in [
            (Element::Creator, "Weiß, Anna; Novák, Jan", ";"),
            (Element::Creator, "Weiß, Anna|Novák, Jan", "|"),
            (Element::Creator, "Weiß, Anna / Novák, Jan", " / "),
            (Element::Contributor, "王小明；李华", "；"),
            (Element::Contributor, "أحمد علي؛ محمد حسن", "؛"),
            (Element::Subject, "maps; cities; history", ";"),
            (Element::Subject, "Karten | Städte", "|"),
            (Element::Subject, "a (b; c); d", ";"),
            (Element::Subject, "05C10;05C15", ";"),
            (Element::Language, "ger; eng", ";"),
            (Element::Language, "de/en", "/"),
            (Element::Language, "German, English", ","),
            (Element::Type, "Text; Image", ";"),
        ] {
            assert_eq!(sign(element, text), Some(between), "{text}");
        }
        assert!(!separated(Element::Subject, "a (b; c); d").unwrap().only_between);
    }

    #[test]
    fn ordinary_values_are_one() {
        for (element, text) in [
            (Element::Creator, "Weiß, Anna"),
            (Element::Creator, "Weiß, Anna;"),
            (Element::Creator, "; Weiß, Anna"),
            (Element::Creator, "Universität Wien / Institut für Physik"),
            (Element::Creator, "AC/DC"),
            (Element::Creator, "Smith, John R., Jr."),
            (Element::Creator, "Dürer, Albrecht (1471-1528; Maler)"),
            (Element::Creator, "Procter &amp; Gamble"),
            (Element::Subject, "Cities and towns, Medieval -- Europe -- History"),
            (Element::Subject, "Arts / Humanities"),
            (Element::Subject, "info:eu-repo/classification/ddc/330"),
            (Element::Subject, "http://example.org/a;b|c"),
            (Element::Subject, "歴史、地図"),
            (Element::Title, "War; and peace | a novel / by somebody"),
            (Element::Description, "First; second; third"),
            (Element::Identifier, "http://example.org/;jsessionid=1"),
            (Element::Coverage, "name=Western Australia; northlimit=-13.5"),
            (Element::Language, "Greek, Modern (1453-)"),
            (Element::Language, "de"),
        ] {
            assert_eq!(sign(element, text), None, "{text}");
        }
    }

    #[test]
    fn what_splitting_would_tear_is_known() {
        assert!(is_torn_by(Element::Creator, "Dürer, Albrecht (1471-1528; Maler)", ";"));
        assert!(is_torn_by(
            Element::Creator,
            "Universität Wien / Institut für Physik",
            " / "
        ));
        assert!(!is_torn_by(Element::Creator, "Weiß, Anna; Novák, Jan", ";"));
        assert!(!is_torn_by(Element::Creator, "Weiß, Anna", ";"));
    }
}
