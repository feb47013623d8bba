//! Dates: which are in the recommended form, and what others mean.

/// The names of months and their usual abbreviations, by month; a dot at the end does not count.
const MONTHS: [&str; 12] = [
    "january jan januar jänner janvier janv enero ene ledna leden gennaio janeiro stycznia styczeń januari",
    "february feb februar feber février févr fevrier febrero února únor febbraio fevereiro lutego luty februari",
    "march mar märz mrz mars marzo března březen março marca marzec maart",
    "april apr avril avr abril abr dubna duben aprile kwietnia kwiecień",
    "may mai mayo května květen maggio maio maja maj mei",
    "june jun juni juin junio června červen giugno junho czerwca czerwiec",
    "july jul juli juillet juil julio července červenec luglio julho lipca lipiec",
    "august aug août aout agosto srpna srpen sierpnia sierpień augustus augusti",
    "september sep sept septembre septiembre září settembre setembro września wrzesień",
    "october oct oktober okt octobre octubre října říjen ottobre outubro października październik",
    "november nov novembre noviembre listopadu listopad novembro listopada",
    "december dec dezember dez décembre déc decembre diciembre dic prosince prosinec dicembre dezembro grudnia grudzień",
];

/// What stands before the year of a copyright and says nothing about the date. A mere c may be circa.
const COPYRIGHT: [&str; 5] = ["©", "cop.", "copyright", "(c)", "℗"];

/// Whether a date is written by ISO 8601: as W3CDTF or EDTF have it, or as an interval of those. The forms in which
/// OpenAIRE tells the end of an embargo and DCMI a period count too.
pub(super) fn is_recommended(text: &str) -> bool {
    let text = match text.strip_prefix("info:eu-repo/date/") {
        Some(rest) => rest.split_once('/').map_or(rest, |(_, date)| date),
        None => text,
    };
    if is_date(text) {
        return true;
    }
    if text.contains('=') {
        let mut parts = text.split(';').map(str::trim);
        return parts.any(|part| part.starts_with("start=") || part.starts_with("end="));
    }
    match text.split_once('/') {
        Some(("" | "..", "" | "..")) | None => false,
        Some((from, until)) => [from, until]
            .into_iter()
            .all(|end| matches!(end, "" | "..") || is_date(end)),
    }
}

fn is_date(text: &str) -> bool {
    let text = text.strip_suffix(['?', '~', '%']).unwrap_or(text);
    let text = text.strip_prefix('-').unwrap_or(text);
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (Some(year), month, day, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let digits = year.trim_end_matches('X');
    // The year 0000 is that before the year 1, but nobody who writes it means that.
    if year.len() != 4 || digits.is_empty() || !is_number(digits) || year == "0000" {
        return false;
    }
    match (month, day, time) {
        (None, None, None) => true,
        (Some(month), None, None) => is_month(month) || matches!(month, "21" | "22" | "23" | "24" | "XX"),
        (Some(month), Some("XX"), None) => is_month(month) || month == "XX",
        (Some(month), Some(day), None) => is_day(year, month, day),
        (Some(month), Some(day), Some(time)) => is_day(year, month, day) && is_time(time),
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of two digits within bounds.
fn is_within(text: &str, least: u32, most: u32) -> bool {
    text.len() == 2 && is_number(text) && text.parse().is_ok_and(|number: u32| (least..=most).contains(&number))
}

fn is_month(month: &str) -> bool {
    is_within(month, 1, 12)
}

fn is_day(year: &str, month: &str, day: &str) -> bool {
    let days = match month {
        "04" | "06" | "09" | "11" => 30,
        "02" => {
            let is_leap = year.parse().is_ok_and(|year: u32| {
                year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
            });
            if is_leap { 29 } else { 28 }
        }
        _ => 31,
    };
    is_month(month) && is_within(day, 1, days)
}

/// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.s`, and perhaps a zone.
fn is_time(text: &str) -> bool {
    let (time, zone) = match text.find(['Z', '+', '-']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let zone_is_fine = match zone.strip_prefix(['+', '-']) {
        Some(offset) => match offset.split_once(':') {
            Some((hours, minutes)) => is_within(hours, 0, 14) && is_within(minutes, 0, 59),
            None => is_within(offset, 0, 14),
        },
        None => matches!(zone, "" | "Z"),
    };
    let mut parts = time.split(':');
    let (Some(hours), Some(minutes), seconds, None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let seconds_are_fine = seconds.is_none_or(|seconds| match seconds.split_once('.') {
        Some((whole, fraction)) => is_within(whole, 0, 60) && is_number(fraction),
        None => is_within(seconds, 0, 60),
    });
    zone_is_fine && is_within(hours, 0, 24) && is_within(minutes, 0, 59) && seconds_are_fine
}

/// The same date in the recommended form, where there is no doubt which it is.
pub(super) fn mended(text: &str) -> Option<String> {
    let text = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    let text = text.trim().trim_end_matches(['.', ',', ';']);
    let text = COPYRIGHT
        .iter()
        .find_map(|sign| {
            text.strip_prefix(sign)
                .map(str::trim_start)
                .filter(|year| is_number(year))
        })
        .unwrap_or(text);
    let mended = if is_recommended(text) {
        Some(text.to_owned())
    } else if text.len() == 8 && is_number(text) {
        Some(format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..]))
    } else {
        with_a_blank(text)
            .or_else(|| in_words(text))
            .or_else(|| in_numbers(text))
    };
    mended.filter(|date| is_recommended(date))
}

/// `2024-05-17 10:00:00`: only the T is missing.
fn with_a_blank(text: &str) -> Option<String> {
    let (date, time) = text.split_once(' ')?;
    (is_date(date) && is_time(time)).then(|| format!("{date}T{time}"))
}

/// `17. Mai 2024`, `May 17, 2024`, `květen 2024`.
fn in_words(text: &str) -> Option<String> {
    let words = text
        .split([' ', ',', '-', '/', '\u{a0}'])
        .map(|word| word.trim_end_matches('.'));
    let (mut year, mut month, mut day) = (None, None, None);
    for word in words.filter(|word| !word.is_empty() && !matches!(*word, "de" | "of" | "del")) {
        let digits = word.trim_end_matches(['s', 't', 'h', 'n', 'd', 'r', 'e']);
        let place = match (is_number(digits), digits.len()) {
            (true, 4) if digits.len() == word.len() => (&mut year, digits.to_owned()),
            (true, 1 | 2) => (&mut day, format!("{digits:0>2}")),
            (true, _) => return None,
            (false, _) => (&mut month, format!("{:02}", month_of(word)?)),
        };
        if place.0.replace(place.1).is_some() {
            return None;
        }
    }
    match (year?, month?, day) {
        (year, month, Some(day)) => Some(format!("{year}-{month}-{day}")),
        (year, month, None) => Some(format!("{year}-{month}")),
    }
}

fn month_of(word: &str) -> Option<usize> {
    let word = word.to_lowercase();
    let at = MONTHS
        .iter()
        .position(|names| names.split(' ').any(|name| name == word))?;
    Some(at + 1)
}

/// `17.5.2024`, `2024/05/17`, `5/2024`, `1990-1999`. `3/4/2024` is one date here and another there, so it is none.
fn in_numbers(text: &str) -> Option<String> {
    let sign = text.chars().find(|sign| matches!(sign, '.' | '/' | '-' | '–'));
    let sign = sign.or(text.contains(' ').then_some(' '))?;
    let parts: Vec<&str> = text.split(sign).map(str::trim).collect();
    if !parts
        .iter()
        .all(|part| is_number(part) && matches!(part.len(), 1 | 2 | 4))
    {
        return None;
    }
    let day = |year: &str, month: &str, day: &str| Some(format!("{year}-{month:0>2}-{day:0>2}"));
    let is_no_month = |part: &str| part.parse().is_ok_and(|number: u32| number > 12);
    match parts[..] {
        [from, until] if from.len() == 4 && until.len() == 4 && from < until => Some(format!("{from}/{until}")),
        [year, month] | [month, year] if year.len() == 4 && month.len() < 3 => Some(format!("{year}-{month:0>2}")),
        [year, month, of_month] if year.len() == 4 => day(year, month, of_month),
        [of_month, month, year] if year.len() == 4 && sign == '.' => day(year, month, of_month),
        [of_month, month, year] if year.len() == 4 && is_no_month(of_month) => day(year, month, of_month),
        [month, of_month, year] if year.len() == 4 && is_no_month(of_month) => day(year, month, of_month),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_iso_8601_are_fine() {
        for text in [
            "2024",
            "2024-05",
            "2024-05-17",
            "2024-02-29",
            "2024-05-17T10:00Z",
            "2024-05-17T10:00:00+02:00",
            "2024-05-17T10:00:00.25Z",
            "2024-05-17T10:00:00",
            "1990/1999",
            "2020-01-01/2020-12-31",
            "1914/..",
            "/1914",
            "1893~",
            "1893?",
            "189X",
            "18XX",
            "2024-XX-XX",
            "-0044",
            "0962",
            "info:eu-repo/date/embargoEnd/2030-01-31",
            "start=1914; end=1918; scheme=W3C-DTF",
            "name=The Great War; start=1914; end=1918",
        ] {
            assert!(is_recommended(text), "{text}");
        }
    }

    #[test]
    fn other_dates_are_not_and_mended_where_there_is_no_doubt() {
        for (text, better) in [
            ("17.5.2024", Some("2024-05-17")),
            ("17. 5. 2024", Some("2024-05-17")),
            ("17.05.2024", Some("2024-05-17")),
            ("17. Mai 2024", Some("2024-05-17")),
            ("17 May 2024", Some("2024-05-17")),
            ("May 17th, 2024", Some("2024-05-17")),
            ("Sept. 2024", Some("2024-09")),
            ("1er août 1914", Some("1914-08-01")),
            ("4 de julio de 1776", Some("1776-07-04")),
            ("28. října 1918", Some("1918-10-28")),
            ("20240517", Some("2024-05-17")),
            ("2024/05/17", Some("2024-05-17")),
            ("2024/05", Some("2024-05")),
            ("2024-5-7", Some("2024-05-07")),
            ("5/2024", Some("2024-05")),
            ("17/05/2024", Some("2024-05-17")),
            ("05/17/2024", Some("2024-05-17")),
            ("03/04/2024", None),
            ("2024-05-17 10:00:00", Some("2024-05-17T10:00:00")),
            ("1990-1999", Some("1990/1999")),
            ("1990 – 1999", Some("1990/1999")),
            ("[1893]", Some("1893")),
            ("c1990", None),
            ("cop. 1990", Some("1990")),
            ("0000", None),
            ("0000/1999", None),
            ("©2004", Some("2004")),
            ("1893.", Some("1893")),
            ("30.2.2024", None),
            ("2024-02-30", None),
            ("2024-13-01", None),
            ("1990-91", None),
            ("ca. 1890", None),
            ("19. Jahrhundert", None),
            ("n.d.", None),
            ("s. a.", None),
            ("昭和5年", None),
            ("٢٠٢٤", None),
            ("99", None),
            ("99999", None),
            ("T", None),
            ("/", None),
            ("../..", None),
            ("20240599", None),
            ("17 May 2024 2025", None),
        ] {
            assert!(!is_recommended(text), "{text}");
            assert_eq!(mended(text).as_deref(), better, "{text}");
        }
    }
}
