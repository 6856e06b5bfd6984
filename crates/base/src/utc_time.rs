//! A time in UTC, in the form in which people and programs write it.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// A time with a precision of one second. It is printed as date and time of day in UTC (ISO 8601).
///
/// ```
/// use simtool_base::utc_time::UtcTime;
///
/// let time: UtcTime = "2026-11-22".parse().unwrap();
/// assert_eq!(time.to_string(), "2026-11-22T00:00:00Z");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UtcTime {
    /// Seconds since the beginning of 1970.
    seconds: u64,
}

impl From<SystemTime> for UtcTime {
    /// Converts the time of a clock. A time before 1970, which a clock that was never set can have, becomes the
    /// beginning of 1970.
    fn from(time: SystemTime) -> Self {
        Self { seconds: time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) }
    }
}

impl UtcTime {
    /// Creates a time from the seconds since the beginning of 1970.
    #[must_use]
    pub const fn from_seconds(seconds: u64) -> Self {
        Self { seconds }
    }

    /// Returns the seconds since the beginning of 1970.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.seconds
    }
}

impl FromStr for UtcTime {
    type Err = &'static str;

    /// Parses a date such as `2026-11-22`, which means the first second of that day, or a time such as
    /// `2026-11-22T18:05:00Z`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected =
            "a date such as 2026-11-22 or a time such as 2026-11-22T18:05:00Z, from 1970 on";
        let (date, time) = text.split_once('T').unwrap_or((text, "00:00:00Z"));
        let time = time.strip_suffix('Z').ok_or(expected)?;
        let numbers = |text: &str, between| {
            let mut parts = text.split(between).map(|part| part.parse::<u64>().ok());
            Some(([parts.next()??, parts.next()??, parts.next()??], parts.next().is_none()))
        };
        let (Some(([year, month, day], true)), Some(([hour, minute, second], true))) =
            (numbers(date, '-'), numbers(time, ':'))
        else {
            return Err(expected);
        };
        if !(1970..=9999).contains(&year) || month == 0 || hour > 23 || minute > 59 || second > 59 {
            return Err(expected);
        }
        // In this calculation, years begin in March, as in `Display`.
        let (from_march, years) = if month > 2 { (month - 3, year) } else { (month + 9, year - 1) };
        let (era, year) = (years / 400, years % 400);
        let days = era * 146_097 + year * 365 + year / 4 - year / 100;
        let days =
            (days + (153 * from_march + 2) / 5 + day).checked_sub(719_469).ok_or(expected)?;
        let found = Self { seconds: days * 86_400 + hour * 3600 + minute * 60 + second };
        // A date that does not exist, such as February 30, is printed as another date. So this
        // check refuses it.
        let is_same = found.to_string().starts_with(date);
        if is_same { Ok(found) } else { Err(expected) }
    }
}

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.seconds / 86_400, self.seconds % 86_400);
        // Years that begin in March have their leap day at the end, so months follow one rule. 400
        // of them have 146,097 days, and 719,468 lie between March of the year 0 and 1970.
        let days = days + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        // If months are counted from March on, every five months have 153 days.
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = 400 * era + year + next;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_are_dates_of_the_calendar() {
        for (seconds, shown) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_798_761_599, "2026-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            let time = UtcTime::from(UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(time.to_string(), shown);
        }
        assert_eq!(UtcTime::from(UNIX_EPOCH - Duration::from_secs(5)).to_string().len(), 20);
    }

    #[test]
    fn moments_are_read_as_they_are_written() {
        for seconds in (0..5_000_000_000).step_by(33_333_333) {
            let time = UtcTime::from_seconds(seconds);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        assert_eq!("2026-12-31".parse::<UtcTime>().unwrap().seconds(), 1_798_675_200);
        for wrong in
            ["", "2026", "2026-2-1", "2026-02-30", "2026-13-01", "1969-12-31", "2026-01-01T1"]
        {
            assert!(wrong.parse::<UtcTime>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut expected = (1970, 1, 1);
        for day in 0..60_000_u64 {
            let (year, month, date) = expected;
            let shown = UtcTime { seconds: day * 86_400 }.to_string();
            assert_eq!(shown, format!("{year:04}-{month:02}-{date:02}T00:00:00Z"));
            let is_leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
            let length = match month {
                2 if is_leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (month, date) {
                (12, 31) => (year + 1, 1, 1),
                (month, date) if date == length => (year, month + 1, 1),
                (month, date) => (year, month, date + 1),
            };
        }
    }
}
