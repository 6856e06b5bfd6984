//! Estimated numbers with bounds, and their text.

use simtool_base::quantity::unit;
use std::fmt;

/// Distance of the upper bound from the likely number, in standard deviations.
const DEVIATIONS: f64 = 2.0;
/// An estimate is printed with its bounds only if the upper bound exceeds the likely number by more
/// than this fraction of the likely number.
const SURE: f64 = 0.2;

/// An estimated number, with bounds for the true number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Guess {
    /// Most likely value of the true number.
    pub likely: f64,
    /// Lower bound. The true number is rarely smaller.
    pub least: f64,
    /// Upper bound. The true number is rarely larger.
    pub most: f64,
}

impl Guess {
    pub(super) fn new(likely: f64, variance: f64) -> Self {
        let off = DEVIATIONS * variance.sqrt();
        // If the variance is large, `likely - off` would be negative. Instead, `likely` is divided by
        // the factor by which the upper bound exceeds it, so the lower bound is never negative.
        let least = (likely - off).max(likely * likely / (likely + off).max(f64::MIN_POSITIVE));
        Self { likely, least, most: likely + off }
    }

    /// Returns a number as a guess whose bounds are equal.
    pub(crate) fn exactly(number: f64) -> Self {
        Self { likely: number, least: number, most: number }
    }

    /// Returns a guess with the likely number `likely`. Its bounds have the same ratios to `likely` as
    /// the bounds of `self` have to `self.likely`.
    pub(super) fn scaled_to(self, likely: f64) -> Self {
        let share = likely / self.likely.max(f64::MIN_POSITIVE);
        Self { likely, least: self.least * share, most: self.most * share }
    }

    /// Returns the guess with an upper bound of at most `limit`, unless the likely number exceeds it.
    pub(super) fn within(self, limit: f64) -> Self {
        Self { most: self.most.min(limit.max(self.likely)), ..self }
    }

    /// Converts the three numbers to another unit. `unit` is the size of the new unit, for example
    /// 1,000 for converting bytes to kB.
    fn per(self, unit: f64) -> Self {
        Self { likely: self.likely / unit, least: self.least / unit, most: self.most / unit }
    }

    /// Returns whether the number is known exactly, because the bounds allow only one whole number.
    fn is_known(self) -> bool {
        self.most - self.least < 0.5 && (self.likely - self.likely.round()).abs() < 1e-3
    }

    /// Returns whether the bounds are so far apart that they must be printed.
    pub(super) fn is_unsure(self) -> bool {
        self.most > self.likely * (1.0 + SURE)
    }
}

/// Writes a number that is known exactly as it is, for example `7`. Writes an estimate with `about`,
/// for example `about 7`. If the bounds are far apart, they are written instead, for example `about 5
/// to 9`.
impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unsure() {
            write!(f, "about {} to {}", rounded(self.least), rounded(self.most))
        } else if self.is_known() {
            write!(f, "{:.0}", self.likely)
        } else {
            write!(f, "about {}", rounded(self.likely))
        }
    }
}

/// Guessed number of bytes, written with a unit, for example `about 12 MB`.
#[derive(Clone, Copy, Debug)]
pub struct GuessedBytes(pub Guess);

impl fmt::Display for GuessedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, size) = unit(self.0.likely);
        write!(f, "{} {unit}", self.0.per(size))
    }
}

/// Guess of something that can only be counted in whole numbers, such as documents.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count(pub(super) Guess);

impl Count {
    /// Returns whether the guess is written as `1` or `about 1`, so that the noun after it must be singular.
    pub(super) fn is_one(self) -> bool {
        let text = self.to_string();
        text.strip_prefix("about ").unwrap_or(&text) == "1"
    }
}

/// Writes the guess like [`Guess`], but without fractions. The lower bound is rounded down and the upper bound up.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(guess) = *self;
        // Rounded to the nearest number, a bound could exclude the true number.
        let [least, most] = [guess.least.floor(), guess.most.ceil()].map(rounded_count);
        if guess.is_unsure() && least != most {
            write!(f, "about {least} to {most}")
        } else if guess.is_known() {
            write!(f, "{:.0}", guess.likely)
        } else {
            write!(f, "about {}", rounded_count(guess.likely))
        }
    }
}

/// Formats a number as [`rounded`] does, but without a fraction. A number above 0 is at least 1.
pub(super) fn rounded_count(number: f64) -> String {
    let whole = if number > 0.0 { number.round().max(1.0) } else { 0.0 };
    // Below 100, all digits are significant, and `rounded` would write digits behind the point.
    if whole < 100.0 { format!("{whole:.0}") } else { rounded(whole) }
}

/// Formats a number with two or three significant digits, because an estimate is not more exact.
pub(super) fn rounded(number: f64) -> String {
    let digits = number.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    if digits < 2 {
        let behind_point = (1 - digits).clamp(0, 2).unsigned_abs() as usize;
        return format!("{number:.behind_point$}");
    }
    let unit = 10_f64.powi(digits - 2);
    format!("{:.0}", (number / unit).round() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers() {
        let count = |likely: f64, deviation: f64| {
            Count(Guess::new(likely, deviation * deviation)).to_string()
        };
        for (likely, deviation, expected) in [
            (1.0, 0.0, "1"),
            (0.7, 0.0, "about 1"),
            (0.96, 0.01, "about 1"),
            (7.4, 0.1, "about 7"),
            (1.3, 0.6, "about 0 to 3"),
            (99.6, 0.5, "about 100"),
            (12_345.0, 9.0, "about 12300"),
            (0.0, 0.0, "0"),
        ] {
            assert_eq!(count(likely, deviation), expected, "{likely} ± {deviation}");
        }
        assert!(Count(Guess::new(0.7, 0.0)).is_one() && !Count(Guess::new(11.0, 0.0)).is_one());
    }

    #[test]
    fn an_upper_bound_ends_at_the_limit() {
        let within = |limit: f64| {
            let guess = Guess { likely: 100.0, least: 80.0, most: 150.0 }.within(limit);
            format!("{} {} {}", guess.least, guess.likely, guess.most)
        };
        let expected = ["80 100 150", "80 100 120", "80 100 100"];
        assert_eq!([200.0, 120.0, 90.0].map(within), expected);
    }

    #[test]
    fn a_scaled_guess_keeps_the_ratios_of_its_bounds() {
        let guess = Guess { likely: 100.0, least: 80.0, most: 150.0 };
        let Guess { likely, least, most } = guess.scaled_to(50.0);
        assert_eq!(format!("{least} {likely} {most}"), "40 50 75");
    }
}
