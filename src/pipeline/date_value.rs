//! Dates of documents, by which `keep` newest and oldest choose.

use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use simtool_model::field_value::FieldValue;

/// Smallest and largest number that counts as a year.
const YEARS: (f64, f64) = (1000.0, 9999.0);
/// Units in which a number can count the time since 1970, from seconds to nanoseconds. Each entry has a limit and the
/// number of units in a second. A number below the limit is in this unit. Each limit is about the year 5138.
const UNITS: [(f64, f64); 4] = [(1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (f64::INFINITY, 1e9)];
/// Forms of dates that [`date_value`] parses after ISO 8601 and the other forms that it lists. The first list has dates
/// with a time, the second one dates without a time. Dates such as `01/02/2026` have none of these forms, because
/// people mean different days by them.
const FORMS: (&[&str], &[&str]) = (
    &[
        "%Y-%m-%d %H:%M:%S",
        "%Y/%m/%d %H:%M:%S",
        "%Y/%m/%d %H:%M",
        "%Y-%m-%d %H:%M",
        "%d.%m.%Y %H:%M:%S",
        "%d.%m.%Y %H:%M",
        "%b %d %H:%M:%S %Y",
        "%b %d %Y %H:%M:%S",
        "%B %d %Y %H:%M:%S",
        "%d %b %Y %H:%M:%S",
        "%d %b %Y %H:%M",
        "%d %B %Y %H:%M:%S",
        "%d %B %Y %H:%M",
        "%d-%b-%y %H:%M:%S",
        "%d-%b-%Y %H:%M:%S",
        "%d/%b/%Y:%H:%M:%S",
        "%Y-%m-%d %I:%M:%S %p",
        "%d %b %Y %I:%M:%S %p",
        "%b %d %Y %I:%M %p",
        "%B %d %Y %I:%M %p",
        "%b %d %Y at %I:%M %p",
        "%B %d %Y at %I:%M %p",
    ],
    &[
        "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y",
        "%d-%b-%Y", "%d-%B-%Y",
    ],
);
/// Names of days of the week, which a date may begin with. The first three letters are enough.
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// Number of microseconds of a second.
const MICROSECONDS: f64 = 1e6;

/// Parses the date of a document. The result is the number of microseconds since 1970, or
/// [`FieldValue::Missing`] if there is no date.
///
/// Dates can have these forms:
///
/// - as in ISO 8601 (`2026-01-02`, `2026-01-02T03:04:05Z`, `20260102`)
/// - as in mails and HTTP headers (`Fri, 02 Jan 2026 03:04:05 GMT`; a wrong day of the week does not matter)
/// - as the digits of a crawl (`20260102030405`)
/// - one of the [`FORMS`]
/// - a month or a year
/// - the number of seconds, milliseconds, microseconds or nanoseconds since 1970
///
/// A time without an offset counts as UTC.
pub(super) fn date_value(bytes: Option<&[u8]>) -> FieldValue {
    let text = bytes.and_then(|bytes| str::from_utf8(bytes).ok()).map(str::trim);
    let date = text.and_then(|text| parse_digits(text).or_else(|| parse_text(text)));
    date.map_or(FieldValue::Missing, FieldValue::Integer)
}

/// Parses a date that is a single number. Returns the microseconds since 1970, or `None` if it is no date.
fn parse_digits(text: &str) -> Option<i64> {
    if text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let (date, time) = text.split_at(8);
        return parse_text(&format!("{date}T{time}"));
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    if text.len() == 4 && (YEARS.0..=YEARS.1).contains(&number) {
        return parse_text(&format!("{text}-01-01"));
    }
    // Six or eight digits are a month or a day if they can be one. As seconds they would be in the year 1970.
    if let (6 | 8, true) = (text.len(), text.bytes().all(|byte| byte.is_ascii_digit())) {
        let day = format!("{text}{}", if text.len() == 6 { "01" } else { "" });
        if let Some(date) = parse_text(&day) {
            return Some(date);
        }
    }
    let (_, unit) = UNITS.iter().find(|(limit, _)| number.abs() < *limit)?;
    Some((number / unit * MICROSECONDS) as i64)
}

/// Parses a date that is written as year, month and day, with or without a time. Returns the microseconds since 1970,
/// or `None` if it is no date.
fn parse_text(text: &str) -> Option<i64> {
    let text = text.strip_suffix(" UTC").unwrap_or(text);
    let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let timestamp = text
        .parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(utc))
        .or_else(|| text.parse::<Date>().ok().and_then(|date| utc(date.into())))
        .or_else(|| rfc2822::parse(text).ok().map(|zoned| zoned.timestamp()))
        .or_else(|| utc(parse_form(text)?))?;
    Some(timestamp.as_microsecond())
}

/// Parses a date in one of the [`FORMS`]. The date may begin with the name of a day, and the difference from UTC may
/// follow its time. Returns the time in UTC.
fn parse_form(text: &str) -> Option<DateTime> {
    let (times, days) = FORMS;
    // The day of the week follows from the date, so it is not needed, and a wrong one does not matter.
    let text = without_weekday(text).replace(',', "");
    // A month begins with its first day.
    let month = || format!("{text}-01").parse::<Date>().ok();
    let day = || {
        let mut dates = days.iter().filter_map(|form| Date::strptime(form, &text).ok());
        dates.find(|date| is_near(date.year()))
    };
    if let Some(day) = day().or_else(month) {
        return Some(day.into());
    }
    let (text, offset) = split_offset(&text)?;
    let mut found = times.iter().filter_map(|form| DateTime::strptime(form, &text).ok());
    let time = found.find(|time| is_near(time.year()))?;
    time.checked_sub(offset).ok()
}

/// Returns whether a year has at least four digits. A year that was written with two digits would be in the first
/// century.
fn is_near(year: i16) -> bool {
    f64::from(year) >= YEARS.0
}

/// Returns a date without the name of the day that it begins with, as in `Fri, 2 Jan 2026`.
fn without_weekday(text: &str) -> &str {
    let (first, rest) = text.split_once([' ', ',']).unwrap_or((text, ""));
    let is_weekday = first.get(..3).is_some_and(|start| {
        WEEKDAYS.iter().any(|day| start.eq_ignore_ascii_case(day))
            && first.bytes().all(|byte| byte.is_ascii_alphabetic())
    });
    if is_weekday { rest.trim_start_matches([' ', ',']) } else { text }
}

/// Splits a time into the time without its zone and the difference of the zone from UTC. The zone is `UTC`, `GMT+0100`,
/// `UTC-5` or `+01:00`. It is the last word, or the word before the year at the end, as the program `date` writes it. A
/// name in brackets after the zone is left out. Returns `None` if the zone is written in another way.
fn split_offset(text: &str) -> Option<(String, Span)> {
    let text = text.split_once(" (").map_or(text, |(text, _)| text);
    let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_zone = |word: &&str| {
        let digits = word.trim_start_matches("UTC").trim_start_matches("GMT");
        digits.len() < word.len() || digits.starts_with(['+', '-'])
    };
    // Without a zone, the time is in UTC.
    let Some(at) = words.iter().position(is_zone) else {
        return Some((words.join(" "), Span::new()));
    };
    let zone = words.remove(at);
    let offset = zone.trim_start_matches("UTC").trim_start_matches("GMT");
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits = offset.strip_prefix(['+', '-']);
    // `UTC` alone has no difference.
    let digits = if offset.is_empty() { "" } else { digits? }.replace(':', "");
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) =
        if digits.len() > 2 { digits.split_at(digits.len() - 2) } else { (&digits[..], "") };
    let number = |part: &str| if part.is_empty() { Some(0) } else { part.parse::<i64>().ok() };
    let span = Span::new()
        .try_hours(sign * number(hours)?)
        .ok()?
        .try_minutes(sign * number(minutes)?)
        .ok()?;
    Some((words.join(" "), span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_forms_are_the_same_time() {
        let parse = |text: &str| date_value(Some(text.as_bytes()));
        let expected = FieldValue::Integer(1_767_323_045_000_000);
        for text in [
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05",
            "2026-01-02 03:04:05 UTC",
            "2026-01-02 03:04:05.000Z",
            " 2026-01-02T05:04:05+02:00 ",
            "20260102030405",
            "Fri, 02 Jan 2026 03:04:05 GMT",
            "Fri, 2 Jan 2026 04:04:05 +0100",
            "Mon, 02 Jan 2026 03:04:05 GMT",
            "Fri Jan  2 03:04:05 2026",
            "Fri Jan  2 03:04:05 UTC 2026",
            "Fri Jan 02 2026 04:04:05 GMT+0100 (Central European Standard Time)",
            "2 Jan 2026 04:04:05 UTC+1",
            "02/Jan/2026:04:04:05 +0100",
            "Friday, 02-Jan-26 03:04:05 GMT",
            "2026-01-02 08:34:05 +05:30",
            "2026-01-02 3:04:05 AM",
            "Fri 02 Jan 2026 03:04:05 AM UTC",
            "1767323045",
            "1767323045.0",
            "1767323045000",
            "1767323045000000",
            "1767323045000000000",
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
        let day = FieldValue::Integer(1_767_312_000_000_000);
        for text in [
            "2026-01-02",
            "20260102",
            "2026/01/02",
            "2026/1/2 00:00",
            "2026.01.02",
            "02.01.2026",
            "2.1.2026 00:00:00",
            "2 January 2026",
            "02 Jan 2026",
            "January 2, 2026",
            "Jan 02, 2026",
            "Friday, January 2, 2026",
            "2-Jan-2026",
        ] {
            assert_eq!(parse(text), day, "{text}");
        }
        assert_eq!(parse("2026-01"), parse("2026-01-01"));
        assert_eq!(parse("202601"), parse("2026-01-01"));
        assert_eq!(parse("2026"), parse("2026-01-01"));
        assert_eq!(parse("-1.5"), FieldValue::Integer(-1_500_000));
        for text in [
            "",
            "soon",
            "NaN",
            "inf",
            "2026-13-01",
            "99999999999999",
            "01/02/2026",
            "2026-1",
            "31.02.2026",
            "02.01.26",
            "Sat",
            "GMT",
            "2 Jan 2026 04:04:05 GMTé",
            "2 Jan 2026 04:04:05 +1é0",
        ] {
            assert_eq!(parse(text), FieldValue::Missing, "{text}");
        }
        assert_eq!(date_value(None), FieldValue::Missing);
        assert_eq!(date_value(Some(b"\xFF")), FieldValue::Missing);
    }
}
