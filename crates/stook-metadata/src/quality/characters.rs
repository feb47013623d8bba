//! Characters that were decoded wrongly on their way: UTF-8 taken for Windows-1252, and what nobody could decode.

use crate::find::find;

/// What Windows-1252 has from 0x80 to 0x9F; 0 where it has nothing.
const WINDOWS: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•',
    '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

/// A few characters that should be one.
pub(super) struct Garbled {
    /// As they stand, with a neighbour where they could also stand there rightly.
    pub(super) text: String,
    /// As it should be, with the same neighbour.
    pub(super) meant: String,
}

/// Whether there are any.
pub(super) fn are_broken(text: &str) -> bool {
    let mut rest = text;
    // All that is looked for begins with one of these bytes; most texts have none of them.
    while let Some(at) = find(rest.as_bytes(), |byte| matches!(byte, 0xC3 | 0xEF)) {
        if rest[at..].starts_with('\u{FFFD}') || garbled_at(text, text.len() - rest.len() + at).is_some() {
            return true;
        }
        let length = rest[at..].chars().next().map_or(1, char::len_utf8);
        rest = &rest[at + length..];
    }
    false
}

/// What can be put right.
pub(super) fn garbled(text: &str) -> Vec<Garbled> {
    let starts = text.char_indices().filter_map(|(at, _)| garbled_at(text, at));
    starts.collect()
}

fn garbled_at(text: &str, at: usize) -> Option<Garbled> {
    let mut characters = text[at..].chars();
    let (lead, second) = (characters.next()?, characters.next()?);
    let length = match lead {
        'Â' | 'Ã' | 'Ä' | 'Å' | 'Ð' | 'Ñ' => 2,
        // Dashes, quotation marks, ligatures: nothing else is frequent, and nothing else is so sure.
        'â' if matches!(second, '€' | '‚' | '„' | '\u{80}' | '\u{82}' | '\u{84}') => 3,
        _ => return None,
    };
    let taken: Vec<char> = text[at..].chars().take(length).collect();
    let bytes: Vec<u8> = taken.iter().copied().map(byte_of).collect::<Option<_>>()?;
    let meant = std::str::from_utf8(&bytes).ok()?;
    if meant.chars().any(|character| character < '\u{A0}') {
        return None;
    }
    let garbled: String = taken.iter().collect();
    if length == 3 || !may_follow_a_letter(second) {
        return Some(Garbled {
            text: garbled,
            meant: meant.to_owned(),
        });
    }
    // In the middle of small letters it is no capital at the end of a word.
    let is_small = |character: &char| character.is_lowercase() && !('\u{80}'..'\u{C0}').contains(character);
    let before = text[..at].chars().next_back().filter(is_small).map(String::from);
    let after = text[at + garbled.len()..]
        .chars()
        .next()
        .filter(is_small)
        .map(String::from);
    let (before, after) = match (before, after) {
        (Some(before), _) => (before, String::new()),
        (None, Some(after)) => (String::new(), after),
        (None, None) => return None,
    };
    Some(Garbled {
        text: format!("{before}{garbled}{after}"),
        meant: format!("{before}{meant}{after}"),
    })
}

/// What may stand behind a word in capitals that ends with such a letter: «IRMÃ», A–Å–Ö, ‘Ä’.
fn may_follow_a_letter(character: char) -> bool {
    matches!(
        character,
        '\u{A0}' | '«' | '»' | '‹' | '›' | '‘' | '’' | '“' | '”' | '–' | '—' | '…' | '•' | '·'
    )
}

/// The byte of a character in Windows-1252, or in ISO 8859-1 where that has control characters.
fn byte_of(character: char) -> Option<u8> {
    if let Ok(byte) = u8::try_from(u32::from(character)) {
        return (byte >= 0x80).then_some(byte);
    }
    let at = WINDOWS.iter().position(|&known| known == character)?;
    u8::try_from(0x80 + at).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(text: &str) -> String {
        garbled(text)
            .iter()
            .fold(text.to_owned(), |text, pair| text.replace(&pair.text, &pair.meant))
    }

    #[test]
    fn garbled_characters_are_found_and_mended() {
        for (text, meant) in [
            ("MÃ¼ller", "Müller"),
            ("Ã–sterreich", "Österreich"),
            ("cafÃ©", "café"),
            ("dÃ©jÃ\u{A0} vu", "déjà vu"),
            ("StraÃŸe", "Straße"),
            ("dvoÅ™Ã¡k", "dvořák"),
            ("mÄ›sto", "město"),
            ("itâ€™s â€“ well", "it’s – well"),
            ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "привет"),
            ("10\u{A0}Â°C", "10\u{A0}°C"),
        ] {
            assert!(are_broken(text), "{text}");
            assert_eq!(mended(text), meant, "{text}");
        }
        assert!(are_broken("M\u{FFFD}ller"));
    }

    #[test]
    fn real_letters_are_left_alone() {
        for text in [
            "Müller, Österreich, Straße, Ångström, Ärger, Çelik, Ñandú",
            "SÃO PAULO, IRMÃ, «IRMÃ» e irmão, CORAÇÃO",
            "LIBERTÉ\u{A0}! « CAFÉ\u{A0}»",
            "„Ä“ und „Ö“, A–Å–Ö",
            "România, ÎNTÂMPLARE, â, în Â",
            "Đà Nẵng, Tiếng Việt, ÂM NHẠC",
            "Příliš žluťoučký kůň, Łódź, Ðe, Norðurland",
            "Петровић, Јован; мапа",
            "中文：地图，日本語。한국어",
            "العربية ελληνικά עברית",
            "Åäö ÄÖÅ Ñuñoa",
            "3 × 5 µm ± 2 °C",
            "",
        ] {
            assert!(!are_broken(text), "{text}");
            assert_eq!(mended(text), text);
        }
    }
}
