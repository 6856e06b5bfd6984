//! Dates of documents, by which `keep` newest and oldest choose.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::rfc2822;
use jiff::tz::TimeZone;
use simtool_model::field_value::FieldValue;

/// Smallest and largest number that counts as a year.
const YEARS: (f64, f64) = (1000.0, 9999.0);
/// Units in which points in time are counted since 1970, as parts of a second. A number below the limit
/// of a unit is counted in this unit. Each limit is about the year 5138.
const UNITS: [(f64, f64); 4] = [(1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (f64::INFINITY, 1e9)];
/// More forms of times and of days. Dates such as `01/02/2026` are in none of them, because people mean different
/// days by them.
const FORMS: (&[&str], &[&str]) = (
    &["%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M"],
    &["%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y"],
);
/// Number of microseconds of a second.
const MICROSECONDS: f64 = 1e6;

/// Parses the date of a document. The result is the number of microseconds since 1970, or
/// [`FieldValue::Missing`] if there is no date.
///
/// Dates are written as in ISO 8601 (`2026-01-02`, `2026-01-02T03:04:05Z`, `20260102`), as in mails and
/// HTTP headers (`Fri, 02 Jan 2026 03:04:05 GMT`), as the digits of a crawl (`20260102030405`), in one of the
/// [`FORMS`], as a month or a year, or as the number of seconds, milliseconds, microseconds or nanoseconds since 1970. A time without an
/// offset counts as UTC.
pub(super) fn date_value(bytes: Option<&[u8]>) -> FieldValue {
    let text = bytes.and_then(|bytes| str::from_utf8(bytes).ok()).map(str::trim);
    let date = text.and_then(|text| parse_digits(text).or_else(|| parse_text(text)));
    date.map_or(FieldValue::Missing, FieldValue::Integer)
}

/// Parses a date that is a single number. Returns the microseconds since 1970.
fn parse_digits(text: &str) -> Option<i64> {
    if text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let (date, time) = text.split_at(8);
        return parse_text(&format!("{date}T{time}"));
    }
    let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
    if text.len() == 4 && (YEARS.0..=YEARS.1).contains(&number) {
        return parse_text(&format!("{text}-01-01"));
    }
    // Eight digits are a date if they can be one. As seconds they would be in the year 1970.
    if text.len() == 8
        && let Some(date) = parse_text(text)
    {
        return Some(date);
    }
    let (_, unit) = UNITS.iter().find(|(limit, _)| number.abs() < *limit)?;
    Some((number / unit * MICROSECONDS) as i64)
}

/// Parses a date that is written with its parts. Returns the microseconds since 1970.
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

/// Parses a date in one of the [`FORMS`].
fn parse_form(text: &str) -> Option<DateTime> {
    let (times, days) = FORMS;
    let time = times.iter().find_map(|form| DateTime::strptime(form, text).ok());
    let day = || days.iter().find_map(|form| Date::strptime(form, text).ok());
    // A month begins with its first day.
    let month = || format!("{text}-01").parse::<Date>().ok();
    time.or_else(|| day().or_else(month).map(DateTime::from))
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
        ] {
            assert_eq!(parse(text), day, "{text}");
        }
        assert_eq!(parse("2026-01"), parse("2026-01-01"));
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
        ] {
            assert_eq!(parse(text), FieldValue::Missing, "{text}");
        }
        assert_eq!(date_value(None), FieldValue::Missing);
        assert_eq!(date_value(Some(b"\xFF")), FieldValue::Missing);
    }
}
