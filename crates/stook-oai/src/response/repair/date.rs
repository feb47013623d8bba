//! Dates as repositories write them → dates of the protocol.

use crate::types::{Datestamp, Granularity, UtcDatetime};

/// The date or second that is closest to what was written; nothing if it
/// cannot be told.
///
/// Understood are the two forms of the protocol and, beyond them: other
/// separators or none, missing parts at the end, a fraction of a second, an
/// offset from UTC, a missing `Z`. Fractions are cut off, a time without
/// offset is taken for UTC, and a date without day for its first.
pub(in crate::response) fn lenient_datetime(text: &str) -> Option<UtcDatetime> {
    if let Ok(datetime) = UtcDatetime::parse(text) {
        return Some(datetime);
    }
    let mut rest = Scanner(text.trim().as_bytes());
    let year = rest.number(4, 4)?;
    let (mut month, mut day) = (1, 1);
    rest.skip(b"-/.");
    if let Some(number) = rest.number(1, 2) {
        month = number;
        rest.skip(b"-/.");
        if let Some(number) = rest.number(1, 2) {
            day = number;
        }
    }
    let midnight = Datestamp::parse(&format!("{year:04}-{month:02}-{day:02}T00:00:00Z")).ok()?;
    let Some(time) = time(&mut rest)? else {
        return Some(UtcDatetime::new(midnight, Granularity::Day));
    };
    let second = Datestamp::from_unix(midnight.unix() + time)?;
    Some(UtcDatetime::new(second, Granularity::Second))
}

/// Seconds since midnight in UTC; nothing inside if there is no time. The text
/// must end with it.
fn time(rest: &mut Scanner<'_>) -> Option<Option<i64>> {
    let separated = rest.skip(b"Tt \t_");
    if rest.is_at_end() || (!separated && zone(rest).is_some() && rest.is_at_end()) {
        return Some(None);
    }
    let hour = rest.number(2, 2).or_else(|| rest.number(1, 1))?;
    rest.skip(b":.");
    let minute = rest.number(2, 2).unwrap_or(0);
    rest.skip(b":.");
    let second = rest.number(2, 2).unwrap_or(0);
    if rest.skip(b".,") {
        while rest.number(1, 1).is_some() {}
    }
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    rest.skip(b" ");
    let offset = zone(rest)?;
    // A leap second is the end of its minute.
    let second = i64::from(second.min(59));
    rest.is_at_end()
        .then_some(Some(i64::from(hour) * 3600 + i64::from(minute) * 60 + second - offset))
}

/// The offset from UTC in seconds; none written is none.
fn zone(rest: &mut Scanner<'_>) -> Option<i64> {
    for name in ["UTC", "GMT", "Z"] {
        if rest.skip_word(name) {
            return Some(0);
        }
    }
    let sign = match rest.0.first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Some(0),
    };
    rest.0 = &rest.0[1..];
    let hours = rest.number(2, 2).or_else(|| rest.number(1, 1))?;
    rest.skip(b":");
    let minutes = rest.number(2, 2).unwrap_or(0);
    (hours < 24 && minutes < 60).then_some(sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
}

/// The granularity meant by something else than its two literals.
pub(in crate::response) fn lenient_granularity(text: &str) -> Option<Granularity> {
    let folded: String = text
        .to_ascii_lowercase()
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let has_time = folded.contains("hh") || folded.contains("ss") || folded.contains("second");
    let has_day = folded.contains("dd") || folded.contains("day");
    match (has_time, has_day) {
        (true, _) => Some(Granularity::Second),
        (false, true) => Some(Granularity::Day),
        (false, false) => None,
    }
}

/// What is left of a text.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Passes any of these bytes.
    fn skip(&mut self, bytes: &[u8]) -> bool {
        let length = self.0.iter().take_while(|byte| bytes.contains(byte)).count();
        self.0 = &self.0[length..];
        length > 0
    }

    fn skip_word(&mut self, word: &str) -> bool {
        let found = self.0.len() >= word.len() && self.0[..word.len()].eq_ignore_ascii_case(word.as_bytes());
        if found {
            self.0 = &self.0[word.len()..];
        }
        found
    }

    /// As many digits as there are, at least `least` and at most `most`.
    fn number(&mut self, least: usize, most: usize) -> Option<u32> {
        let digits = self
            .0
            .iter()
            .take(most)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if digits < least {
            return None;
        }
        let number = self.0[..digits]
            .iter()
            .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        self.0 = &self.0[digits..];
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_the_closest_of_the_protocol() {
        for (text, expected) in [
            ("2002-06-01", "2002-06-01"),
            ("2002-06-01T19:20:30Z", "2002-06-01T19:20:30Z"),
            ("2002-06-01T19:20:30.999Z", "2002-06-01T19:20:30Z"),
            ("2002-06-01T19:20:30.5+02:00", "2002-06-01T17:20:30Z"),
            ("2002-06-01T00:00:00+0200", "2002-05-31T22:00:00Z"),
            ("2002-06-01T19:20:30-05", "2002-06-02T00:20:30Z"),
            ("2002-06-01T19:20:30", "2002-06-01T19:20:30Z"),
            ("2002-06-01 19:20:30", "2002-06-01T19:20:30Z"),
            (" 2002-06-01t19:20:30 UTC ", "2002-06-01T19:20:30Z"),
            ("2002-06-01T19:20Z", "2002-06-01T19:20:00Z"),
            ("2002-06-01T24:00:00Z", "2002-06-02T00:00:00Z"),
            ("2002-06-01T23:59:60Z", "2002-06-01T23:59:59Z"),
            ("2002-06-01Z", "2002-06-01"),
            ("2002-06-01+02:00", "2002-06-01"),
            ("2002-6-1", "2002-06-01"),
            ("2002/06/01", "2002-06-01"),
            ("20020601", "2002-06-01"),
            ("20020601T192030Z", "2002-06-01T19:20:30Z"),
            ("2002-06", "2002-06-01"),
            ("2002", "2002-01-01"),
        ] {
            let read = lenient_datetime(text).map(|datetime| datetime.to_string());
            assert_eq!(read.as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_not_guessed() {
        for text in [
            "",
            "yesterday",
            "0000-00-00",
            "2002-02-30",
            "2002-13-01",
            "2002-06-01T25:00:00Z",
            "2002-06-01T19:20:30Z and more",
            "01.06.2002",
            "2002-06-01T19:20:30+99:00",
            "9999-12-31T23:59:59-01:00",
            "20",
            "2002-06-01x",
        ] {
            assert_eq!(lenient_datetime(text), None, "{text}");
        }
    }

    #[test]
    fn granularities_are_folded() {
        for (text, expected) in [
            ("yyyy-mm-ddThh:mm:ssZ", Some(Granularity::Second)),
            ("YYYY-MM-DDThh:mm:ss.sssZ", Some(Granularity::Second)),
            ("YYYY-MM-DD hh:mm:ss", Some(Granularity::Second)),
            ("seconds", Some(Granularity::Second)),
            ("yyyy-mm-dd", Some(Granularity::Day)),
            ("Day", Some(Granularity::Day)),
            ("YYYY", None),
            ("", None),
        ] {
            assert_eq!(lenient_granularity(text), expected, "{text}");
        }
    }
}
