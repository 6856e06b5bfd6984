//! Numbers for people.

use std::time::Duration;

/// `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
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

/// A number with its noun, in the singular where it is one.
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// Bytes in the decimal unit that gives three or four digits.
pub(super) fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if number < 1000 {
        return format!("{number} B");
    }
    let (mut value, mut unit) = (number as f64 / 1e3, 0);
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A share in percent; what is little and not nothing does not read as nothing.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    match share {
        share if part > 0 && share < 0.1 => "< 0.1 %".to_owned(),
        share if part < whole && share > 99.9 => "> 99.9 %".to_owned(),
        share => format!("{share:.1} %"),
    }
}

/// A time in the unit that fits it.
pub(super) fn time(time: Duration) -> String {
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
        assert_eq!([999, 34_200_000, 999_999].map(bytes), ["999 B", "34.2 MB", "1.0 MB"]);
        assert_eq!(percent(1, 8), "12.5 %");
        assert_eq!(percent(1, 100_000), "< 0.1 %");
        assert_eq!(percent(99_999, 100_000), "> 99.9 %");
        assert_eq!(percent(0, 0), "0.0 %");
        let times = [12, 1_500, 61_000, 7_260_000].map(|ms| time(Duration::from_millis(ms)));
        assert_eq!(times, ["12.0 ms", "1.50 s", "1 min 1 s", "2 h 1 min"]);
    }
}
