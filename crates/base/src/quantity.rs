//! Formats numbers for people: counts, sizes, percentages and times.
//!
//! Sizes are always in powers of 1000: kB, MB, GB.

use std::time::Duration;

/// Formats a number with commas between groups of three digits. For example, `1234567` becomes `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number followed by the noun for the counted things. The noun gets an `s` unless the number is 1.
///
/// ```
/// use simtool_base::quantity::counted;
///
/// assert_eq!(counted(1, "file"), "1 file");
/// assert_eq!(counted(1200, "file"), "1,200 files");
/// ```
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Formats ascending numbers as a list separated by commas, in which consecutive numbers are written as a range.
///
/// ```
/// use simtool_base::quantity::ranges;
///
/// assert_eq!(ranges(&[3, 4, 5, 9, 11, 12]), "3-5, 9, 11-12");
/// ```
#[must_use]
pub fn ranges(ascending: &[usize]) -> String {
    let runs = ascending.chunk_by(|number, next| number + 1 == *next);
    let written: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            _ => run.iter().map(usize::to_string).collect(),
        })
        .collect();
    written.join(", ")
}

/// Names of the units of sizes in bytes. Each unit is 1000 times the unit before it.
const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];

/// Returns the unit for a size of `bytes` bytes, and the number of bytes of that unit. In this unit, the size has one
/// to three digits before the decimal point. For example, returns `("MB", 1e6)` for 2.5 million bytes, which is 2.5 MB.
#[must_use]
pub fn unit(bytes: f64) -> (&'static str, f64) {
    let (mut at, mut size) = (0, 1.0);
    // A size that would be rounded to 1000.0 is shown as 1.0 in the next larger unit.
    while bytes / size >= 999.95 && at + 1 < UNITS.len() {
        (at, size) = (at + 1, size * 1e3);
    }
    (UNITS[at], size)
}

/// Formats a number of bytes, for example `1.5 MB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    match unit(number as f64) {
        ("B", _) => format!("{number} B"),
        (unit, size) => format!("{:.1} {unit}", number as f64 / size),
    }
}

/// End of the error message about a size that [`parse_bytes`] cannot parse.
pub const BYTES_EXPECTED: &str = "expected a whole number of bytes, or one with K, M, G or T for powers \
                                  of 1000, or with KiB, MiB, GiB or TiB for powers of 1024, such as \
                                  512M or 8GiB";

/// Parses a number of bytes. A number may have one of the units K, M, G and T for powers of 1000, or KiB, MiB, GiB and
/// TiB for powers of 1024. Returns `None` if the text has another form.
///
/// ```
/// use simtool_base::quantity::parse_bytes;
///
/// assert_eq!(parse_bytes("8M"), Some(8_000_000));
/// assert_eq!(parse_bytes("1KiB"), Some(1024));
/// assert_eq!(parse_bytes("much"), None);
/// ```
#[must_use]
pub fn parse_bytes(given: &str) -> Option<u64> {
    let digits = given.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match given[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" => 1000,
        "M" | "MB" => 1000_u64.pow(2),
        "G" | "GB" => 1000_u64.pow(3),
        "T" | "TB" => 1000_u64.pow(4),
        "KIB" => 1 << 10,
        "MIB" => 1 << 20,
        "GIB" => 1 << 30,
        "TIB" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Formats the rate of `bytes` bytes in `time`, for example `120 MB/s`. Returns a dash if `bytes`
/// or `time` is zero.
#[must_use]
pub fn rate(bytes: u64, time: Duration) -> String {
    match (bytes, time.as_secs_f64()) {
        (0, _) => "–".to_owned(),
        (_, seconds) if seconds <= 0.0 => "–".to_owned(),
        (bytes, seconds) => {
            let rate = bytes as f64 / seconds;
            let (unit, size) = unit(rate);
            format!("{:.0} {unit}/s", rate / size)
        }
    }
}

/// Formats `part` / `whole` in percent. A share above 0 is never shown as `0.0 %`, but as `< 0.1 %`. A share below 100
/// % is never shown as `100.0 %`, but as `> 99.9 %`.
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    match share {
        // A rounded "0.0 %" would say that there is nothing, and a rounded "100.0 %" that
        // everything is covered.
        share if part > 0 && share < 0.1 => "< 0.1 %".to_owned(),
        share if part < whole && share > 99.9 => "> 99.9 %".to_owned(),
        share => format!("{share:.1} %"),
    }
}

/// Formats a time, for example `1.50 s` or `2 h 5 min`.
#[must_use]
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_secs() {
        0 => format!("{:.1} ms", seconds * 1e3),
        1..60 => format!("{seconds:.2} s"),
        whole if whole < 3600 => format!("{} min {} s", whole / 60, whole % 60),
        whole => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([counted(1, "pair"), counted(2, "pair")], ["1 pair", "2 pairs"]);
        let sizes = [0, 999, 1000, 34_200_000, 999_949, 999_999, 8_000_000_000].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "34.2 MB", "999.9 kB", "1.0 MB", "8.0 GB"]);
        assert_eq!(bytes(u64::MAX), "18446.7 PB");
        assert_eq!(rate(3_000_000, Duration::from_millis(500)), "6 MB/s");
        assert_eq!([rate(0, Duration::from_secs(1)), rate(5, Duration::ZERO)], ["–", "–"]);
        assert_eq!(percent(1, 8), "12.5 %");
        assert_eq!(percent(1, 100_000), "< 0.1 %");
        assert_eq!(percent(99_999, 100_000), "> 99.9 %");
        assert_eq!(percent(0, 0), "0.0 %");
        let times = [12, 1_500, 61_000, 7_260_000].map(|ms| time(Duration::from_millis(ms)));
        assert_eq!(times, ["12.0 ms", "1.50 s", "1 min 1 s", "2 h 1 min"]);
    }

    #[test]
    fn sizes_have_units() {
        for (given, expected) in [
            ("17", 17),
            ("17B", 17),
            ("3K", 3000),
            ("700M", 700_000_000),
            ("700MB", 700_000_000),
            ("2g", 2_000_000_000),
            ("1T", 1_000_000_000_000),
            ("3KiB", 3 << 10),
            ("512MiB", 512 << 20),
            ("8gib", 8 << 30),
            ("1TiB", 1 << 40),
        ] {
            assert_eq!(parse_bytes(given), Some(expected), "{given}");
        }
        for wrong in ["", "M", "-1", "1.5M", "99999999999G", "1P", "1Ki", "1 M", "é"] {
            assert!(parse_bytes(wrong).is_none(), "{wrong}");
        }
    }
}
