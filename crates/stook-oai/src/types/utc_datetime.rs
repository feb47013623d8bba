//! Dates and times as the protocol writes them: a day or a second of UTC.

use std::fmt;

use super::datestamp::{Datestamp, Granularity};
use super::excerpt::Excerpt;

/// A `from`, `until` or `datestamp` value, with the granularity it was written
/// in.
///
/// Exactly two forms exist: `YYYY-MM-DD`, which stands for the whole UTC day,
/// and `YYYY-MM-DDThh:mm:ssZ`.
///
/// ```
/// use stook_oai::UtcDatetime;
///
/// let day = UtcDatetime::parse("2002-06-01")?;
/// assert_eq!(day.first_second().to_string(), "2002-06-01T00:00:00Z");
/// assert_eq!(day.last_second().to_string(), "2002-06-01T23:59:59Z");
/// assert!(UtcDatetime::parse("2002-02-30").is_err());
/// assert!(UtcDatetime::parse("2002-06-01T12:00:00+02:00").is_err());
/// # Ok::<(), stook_oai::InvalidDatetime>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcDatetime {
    first_second: Datestamp,
    granularity: Granularity,
}

impl UtcDatetime {
    /// The granule that `datestamp` falls into: the second itself or its day.
    #[must_use]
    pub fn new(datestamp: Datestamp, granularity: Granularity) -> Self {
        Self {
            first_second: datestamp.truncate(granularity),
            granularity,
        }
    }

    /// `1970-01-01`, which stands for dates that nobody knows.
    pub(crate) const fn first_day_of_1970() -> Self {
        Self {
            first_second: Datestamp::UNIX_EPOCH,
            granularity: Granularity::Day,
        }
    }

    /// Reads one of the two forms.
    ///
    /// # Errors
    ///
    /// Anything else: other precisions, fractions, offsets, a lower-case `z`,
    /// surrounding space, days and times that do not exist.
    pub fn parse(text: &str) -> Result<Self, InvalidDatetime> {
        parse(text.as_bytes()).map_err(|problem| InvalidDatetime {
            value: text.to_owned(),
            problem,
        })
    }

    /// The form it was written in.
    #[must_use]
    pub fn granularity(self) -> Granularity {
        self.granularity
    }

    /// The first second it covers: what `from` means.
    #[must_use]
    pub fn first_second(self) -> Datestamp {
        self.first_second
    }

    /// The last second it covers: what `until` means.
    #[must_use]
    pub fn last_second(self) -> Datestamp {
        match self.granularity {
            Granularity::Day => self.first_second.end_of_day(),
            Granularity::Second => self.first_second,
        }
    }
}

impl fmt::Display for UtcDatetime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first_second.format(self.granularity).fmt(formatter)
    }
}

impl std::str::FromStr for UtcDatetime {
    type Err = InvalidDatetime;

    fn from_str(text: &str) -> Result<Self, InvalidDatetime> {
        Self::parse(text)
    }
}

/// Text that is not a date or time of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} is not a UTC date: {problem}", Excerpt(value))]
pub struct InvalidDatetime {
    /// The text that was refused.
    pub value: String,
    problem: Problem,
}

impl InvalidDatetime {
    /// The same fault where only the form with seconds was asked for.
    pub(super) fn of_second(self) -> Self {
        let problem = match self.problem {
            Problem::Form => Problem::NoTime,
            problem => problem,
        };
        Self { problem, ..self }
    }

    /// A well-formed day where a second was asked for.
    pub(super) fn without_time(text: &str) -> Self {
        Self {
            value: text.to_owned(),
            problem: Problem::NoTime,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("it must have the form YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ")]
    Form,
    #[error("it must have the form YYYY-MM-DDThh:mm:ssZ")]
    NoTime,
    #[error("there is no such day")]
    Day,
    #[error("there is no such time of day")]
    Time,
}

fn parse(text: &[u8]) -> Result<UtcDatetime, Problem> {
    let granularity = match text.len() {
        10 => Granularity::Day,
        20 => Granularity::Second,
        _ => return Err(Problem::Form),
    };
    let matches_form = text.iter().zip(b"0000-00-00T00:00:00Z").all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == form,
    });
    if !matches_form {
        return Err(Problem::Form);
    }
    let day =
        Datestamp::from_civil(number(&text[0..4]), number(&text[5..7]), number(&text[8..10])).ok_or(Problem::Day)?;
    let second_of_day = match granularity {
        Granularity::Day => 0,
        Granularity::Second => second_of_day(&text[11..19]).ok_or(Problem::Time)?,
    };
    let first_second = Datestamp::from_unix(day.unix() + second_of_day).ok_or(Problem::Day)?;
    Ok(UtcDatetime {
        first_second,
        granularity,
    })
}

/// Seconds since midnight of `hh:mm:ss`, whose digits were checked.
///
/// Neither `24:00:00` nor a leap second `23:59:60` is accepted: the schema's
/// dateTime has no 60th second, and two names for one midnight would compare
/// as different datestamps.
fn second_of_day(text: &[u8]) -> Option<i64> {
    let (hour, minute, second) = (number(&text[0..2]), number(&text[3..5]), number(&text[6..8]));
    (hour < 24 && minute < 60 && second < 60).then_some(hour * 3600 + minute * 60 + second)
}

fn number(digits: &[u8]) -> i64 {
    digits
        .iter()
        .fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_forms_are_read_and_written_back() {
        for text in [
            "2002-06-01",
            "2002-06-01T19:20:30Z",
            "2000-02-29",
            "0001-01-01",
            "9999-12-31",
        ] {
            assert_eq!(UtcDatetime::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn every_other_form_is_refused() {
        for bad in [
            "",
            "2002",
            "2002-06",
            "2002-6-1",
            "20020601",
            "2002-06-01Z",
            "2002-06-01T",
            "2002-06-01T19:20Z",
            "2002-06-01T19:20:30",
            "2002-06-01T19:20:30z",
            "2002-06-01t19:20:30Z",
            "2002-06-01 19:20:30Z",
            "2002-06-01T19:20:30.0Z",
            "2002-06-01T19:20:30+00:00",
            "2002-06-01T19:20:30ZZ",
            " 2002-06-01",
            "2002-06-01 ",
            "2002-06-01\n",
            "+002-06-01",
            "-002-06-01",
            "2002/06/01",
            "2002-06-0١",
            "12002-06-01",
        ] {
            assert!(UtcDatetime::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn days_and_times_that_do_not_exist_are_refused() {
        for bad in [
            "0000-01-01",
            "2002-00-01",
            "2002-13-01",
            "2002-01-00",
            "2002-01-32",
            "2002-02-29",
            "1900-02-29",
            "2002-04-31",
            "2002-06-01T24:00:00Z",
            "2002-06-01T23:60:00Z",
            "2002-06-01T23:59:60Z",
        ] {
            assert!(UtcDatetime::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_day_covers_its_24_hours_and_a_second_itself() {
        let day = UtcDatetime::parse("2002-06-01").unwrap();
        assert_eq!(day.last_second().unix() - day.first_second().unix(), 86_399);
        let second = UtcDatetime::parse("2002-06-01T19:20:30Z").unwrap();
        assert_eq!(second.first_second(), second.last_second());
    }

    #[test]
    fn a_datestamp_falls_into_its_day() {
        let noon = Datestamp::parse("2002-06-01T12:00:00Z").unwrap();
        let day = UtcDatetime::new(noon, Granularity::Day);
        assert_eq!(day, UtcDatetime::parse("2002-06-01").unwrap());
        assert_eq!(UtcDatetime::new(noon, Granularity::Second).first_second(), noon);
    }
}
