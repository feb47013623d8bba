//! Points in time, to the second, in UTC; and the calendar they are written in.

use std::fmt;
use std::time::Duration;

use super::utc_datetime::{InvalidDatetime, UtcDatetime};

const SECONDS_PER_DAY: i64 = 86_400;

/// The precision of a repository's datestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Granularity {
    /// `YYYY-MM-DD`
    Day,
    /// `YYYY-MM-DDThh:mm:ssZ`
    Second,
}

impl Granularity {
    /// The literal of `Identify/granularity`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "YYYY-MM-DD",
            Self::Second => "YYYY-MM-DDThh:mm:ssZ",
        }
    }

    /// Reads the literal of `Identify/granularity`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Day, Self::Second]
            .into_iter()
            .find(|granularity| granularity.as_str() == text)
    }
}

impl fmt::Display for Granularity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A second of UTC, from the year 0001 to the year 9999.
///
/// That is what the protocol can write: four digits of year, and XML Schema
/// has no year 0000. Displayed with seconds, as in `2002-06-01T19:20:30Z`.
///
/// ```
/// use stook_oai::{Datestamp, Granularity};
///
/// let datestamp = Datestamp::from_unix(1_022_959_230).unwrap();
/// assert_eq!(datestamp.to_string(), "2002-06-01T19:20:30Z");
/// assert_eq!(datestamp.format(Granularity::Day).to_string(), "2002-06-01");
/// ```
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Datestamp(i64);

impl Datestamp {
    /// `0001-01-01T00:00:00Z`
    pub const MIN: Self = Self(-62_135_596_800);
    /// `9999-12-31T23:59:59Z`
    pub const MAX: Self = Self(253_402_300_799);
    /// `1970-01-01T00:00:00Z`
    pub const UNIX_EPOCH: Self = Self(0);

    /// The datestamp so many seconds after the beginning of 1970, if its year
    /// can be written.
    #[must_use]
    pub fn from_unix(seconds: i64) -> Option<Self> {
        (Self::MIN.0..=Self::MAX.0).contains(&seconds).then_some(Self(seconds))
    }

    /// Reads the form with seconds, `2002-06-01T19:20:30Z`, and no other.
    ///
    /// # Errors
    ///
    /// The text, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidDatetime> {
        let datetime = UtcDatetime::parse(text).map_err(InvalidDatetime::of_second)?;
        match datetime.granularity() {
            Granularity::Second => Ok(datetime.first_second()),
            Granularity::Day => Err(InvalidDatetime::without_time(text)),
        }
    }

    /// Seconds since the beginning of 1970.
    #[must_use]
    pub fn unix(self) -> i64 {
        self.0
    }

    /// The first second of the same UTC day.
    #[must_use]
    pub fn start_of_day(self) -> Self {
        Self(self.0 - self.0.rem_euclid(SECONDS_PER_DAY))
    }

    /// The last second of the same UTC day.
    #[must_use]
    pub fn end_of_day(self) -> Self {
        Self(self.start_of_day().0 + SECONDS_PER_DAY - 1)
    }

    /// The first second of the granule: the second itself, or its day.
    #[must_use]
    pub fn truncate(self, granularity: Granularity) -> Self {
        match granularity {
            Granularity::Day => self.start_of_day(),
            Granularity::Second => self,
        }
    }

    /// Later by the whole seconds of `duration`, at most [`Datestamp::MAX`].
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add_unsigned(duration.as_secs()).min(Self::MAX.0))
    }

    /// Earlier by the whole seconds of `duration`, at least [`Datestamp::MIN`].
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub_unsigned(duration.as_secs()).max(Self::MIN.0))
    }

    /// The datestamp as text of the given granularity.
    #[must_use]
    pub fn format(self, granularity: Granularity) -> FormattedDatestamp {
        FormattedDatestamp {
            text: self.digits(),
            granularity,
        }
    }

    /// Appends the datestamp in the given granularity; allocates nothing but
    /// the room in `out`.
    pub fn push_to(&self, granularity: Granularity, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.digits()[..length_of(granularity)]);
    }

    fn digits(self) -> [u8; 20] {
        let (year, month, day) = civil_from_days(self.0.div_euclid(SECONDS_PER_DAY));
        let second_of_day = self.0.rem_euclid(SECONDS_PER_DAY);
        let mut text = *b"0000-00-00T00:00:00Z";
        write_number(&mut text[0..4], year);
        write_number(&mut text[5..7], month);
        write_number(&mut text[8..10], day);
        write_number(&mut text[11..13], second_of_day / 3600);
        write_number(&mut text[14..16], second_of_day / 60 % 60);
        write_number(&mut text[17..19], second_of_day % 60);
        text
    }

    /// The midnight that begins a day of the calendar; the day must exist.
    pub(super) fn from_civil(year: i64, month: i64, day: i64) -> Option<Self> {
        let exists = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        exists
            .then(|| days_from_civil(year, month, day) * SECONDS_PER_DAY)
            .and_then(Self::from_unix)
    }
}

impl fmt::Display for Datestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.format(Granularity::Second).fmt(formatter)
    }
}

impl std::str::FromStr for Datestamp {
    type Err = InvalidDatetime;

    fn from_str(text: &str) -> Result<Self, InvalidDatetime> {
        Self::parse(text)
    }
}

/// A datestamp ready to be displayed; made by [`Datestamp::format`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormattedDatestamp {
    text: [u8; 20],
    granularity: Granularity,
}

impl FormattedDatestamp {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // The digits are ASCII, so the fallback is never taken.
        std::str::from_utf8(&self.text[..length_of(self.granularity)]).unwrap_or_default()
    }
}

impl fmt::Display for FormattedDatestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

fn length_of(granularity: Granularity) -> usize {
    match granularity {
        Granularity::Day => 10,
        Granularity::Second => 20,
    }
}

fn write_number(digits: &mut [u8], mut number: i64) {
    for digit in digits.iter_mut().rev() {
        // A remainder of ten always fits.
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar.
///
/// Years begin in March here, so that the leap day is the last of a year, and
/// are counted in eras of 400 years, which all have 146 097 days.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_civil`]: year, month, day.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_seconds_are_written_as_known_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_022_959_230, "2002-06-01T19:20:30Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (Datestamp::MIN.unix(), "0001-01-01T00:00:00Z"),
            (Datestamp::MAX.unix(), "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(Datestamp::from_unix(seconds).unwrap().to_string(), text);
            assert_eq!(Datestamp::parse(text).unwrap().unix(), seconds);
        }
    }

    #[test]
    fn years_that_cannot_be_written_do_not_exist() {
        assert_eq!(Datestamp::from_unix(Datestamp::MIN.unix() - 1), None);
        assert_eq!(Datestamp::from_unix(Datestamp::MAX.unix() + 1), None);
        assert_eq!(Datestamp::from_unix(i64::MIN), None);
        assert_eq!(Datestamp::from_unix(i64::MAX), None);
    }

    #[test]
    fn every_day_of_the_calendar_follows_the_day_before() {
        let last_day = Datestamp::MAX.unix().div_euclid(SECONDS_PER_DAY);
        let mut days = Datestamp::MIN.unix().div_euclid(SECONDS_PER_DAY);
        let (mut year, mut month, mut day) = (1, 1, 1);
        while days <= last_day {
            assert_eq!(civil_from_days(days), (year, month, day));
            assert_eq!(days_from_civil(year, month, day), days);
            days += 1;
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month, day), (10_000, 1, 1));
    }

    #[test]
    fn a_day_has_86400_seconds() {
        let noon = Datestamp::parse("1969-07-20T12:00:00Z").unwrap();
        assert_eq!(noon.start_of_day().to_string(), "1969-07-20T00:00:00Z");
        assert_eq!(noon.end_of_day().to_string(), "1969-07-20T23:59:59Z");
        assert_eq!(noon.truncate(Granularity::Day), noon.start_of_day());
        assert_eq!(noon.truncate(Granularity::Second), noon);
    }

    #[test]
    fn sums_stay_inside_the_calendar() {
        let long = Duration::from_secs(u64::MAX);
        assert_eq!(Datestamp::UNIX_EPOCH.saturating_add(long), Datestamp::MAX);
        assert_eq!(Datestamp::UNIX_EPOCH.saturating_sub(long), Datestamp::MIN);
        let minute = Datestamp::UNIX_EPOCH.saturating_add(Duration::from_secs(60));
        assert_eq!(minute.unix(), 60);
        assert_eq!(minute.saturating_sub(Duration::from_secs(60)), Datestamp::UNIX_EPOCH);
    }

    #[test]
    fn a_date_alone_is_no_datestamp_with_seconds() {
        assert!(Datestamp::parse("2002-06-01").is_err());
    }

    #[test]
    fn pushing_and_displaying_agree() {
        let datestamp = Datestamp::parse("2024-02-29T01:02:03Z").unwrap();
        for granularity in [Granularity::Day, Granularity::Second] {
            let mut out = Vec::new();
            datestamp.push_to(granularity, &mut out);
            assert_eq!(out, datestamp.format(granularity).to_string().into_bytes());
        }
    }

    #[test]
    fn granularities_have_the_literals_of_identify() {
        for granularity in [Granularity::Day, Granularity::Second] {
            assert_eq!(Granularity::parse(granularity.as_str()), Some(granularity));
        }
        assert_eq!(Granularity::parse("YYYY-MM-DDThh:mm:ss"), None);
    }
}
