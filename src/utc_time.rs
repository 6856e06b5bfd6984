//! A moment as people and programs write it down.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// A moment to the second, shown as the date and time of day in UTC by ISO 8601.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UtcTime {
    /// Seconds since 1970 began.
    seconds: u64,
}

impl From<SystemTime> for UtcTime {
    /// A clock before 1970 is one that was never set, and shows the beginning of that year.
    fn from(time: SystemTime) -> Self {
        Self { seconds: time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) }
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
        // From March on, five months have 153 days.
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
