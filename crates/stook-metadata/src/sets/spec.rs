//! From a value to the element of a set spec, which has only letters, digits and `- _ . ! ~ * ' ( )`.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer values are cut: a set has a name, not a text.
const MAX_LENGTH: usize = 80;
/// More levels than these are cut off.
const MAX_LEVELS: usize = 20;

/// Letters that have no plain one inside.
const PLAIN: &[(char, &str)] = &[
    ('ß', "ss"),
    ('ẞ', "SS"),
    ('æ', "ae"),
    ('Æ', "AE"),
    ('œ', "oe"),
    ('Œ', "OE"),
    ('ø', "o"),
    ('Ø', "O"),
    ('ł', "l"),
    ('Ł', "L"),
    ('đ', "d"),
    ('Đ', "D"),
    ('ð', "d"),
    ('Ð', "D"),
    ('þ', "th"),
    ('Þ', "Th"),
    ('ı', "i"),
    ('’', "'"),
    ('‐', "-"),
    ('–', "-"),
];

/// A value as a part of a set spec; empty if nothing of it can stand in one.
pub(super) fn part(value: &str, has_levels: bool) -> Cow<'_, str> {
    if !has_levels {
        return element(value);
    }
    let levels = value.split(':').map(element).filter(|level| !level.is_empty());
    Cow::Owned(levels.take(MAX_LEVELS).collect::<Vec<_>>().join(":"))
}

/// Accents are dropped, and everything else that may not stand there becomes one `-`.
fn element(value: &str) -> Cow<'_, str> {
    if value.len() <= MAX_LENGTH && value.bytes().all(is_allowed) {
        return Cow::Borrowed(value);
    }
    let mut plain = String::new();
    let mut gap = false;
    for sign in value.nfkd().filter(|sign| !is_combining_mark(*sign)) {
        let known = PLAIN.iter().find(|(letter, _)| *letter == sign);
        let mut own = [0; 4];
        let text: &str = known.map_or_else(|| &*sign.encode_utf8(&mut own), |(_, plain)| plain);
        if text == "-" || !text.bytes().all(is_allowed) {
            gap = true;
            continue;
        }
        if gap && !plain.is_empty() {
            plain.push('-');
        }
        gap = false;
        plain.push_str(text);
        if plain.len() >= MAX_LENGTH {
            break;
        }
    }
    plain.truncate(MAX_LENGTH);
    Cow::Owned(plain)
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stook_oai::SetSpec;

    #[test]
    fn values_become_readable_parts() {
        for (value, expected) in [
            ("2026", "2026"),
            ("--a.b_c!~*'()", "--a.b_c!~*'()"),
            ("Österreichische Geschichte", "Osterreichische-Geschichte"),
            ("Straße  –  Łódź", "Strasse-Lodz"),
            ("R & D / maps:city", "R-D-maps-city"),
            ("ﬁne ①", "fine-1"),
            ("  a  ", "a"),
            ("物理", ""),
            ("物理 physics", "physics"),
            ("…", "..."),
            ("", ""),
        ] {
            assert_eq!(part(value, false), expected, "{value}");
        }
    }

    #[test]
    fn only_levels_that_a_change_made_are_levels() {
        assert_eq!(part("cz:webarchiv:www", false), "cz-webarchiv-www");
        assert_eq!(part("cz:webarchiv:www", true), "cz:webarchiv:www");
        assert_eq!(part("a:物理::b c", true), "a:b-c");
        assert_eq!(part(&"a:".repeat(100), true).split(':').count(), MAX_LEVELS);
    }

    proptest! {
        #[test]
        fn whatever_the_value_the_part_can_stand_in_a_set_spec(value in any::<String>(), has_levels: bool) {
            let part = part(&value, has_levels);
            prop_assert!(part.is_empty() || SetSpec::parse(&part).is_ok(), "{value:?} {part:?}");
            prop_assert!(part.split(':').all(|level| level.len() <= MAX_LENGTH));
            prop_assert_eq!(super::part(&part, has_levels), &*part, "what is plain stays");
        }
    }
}
