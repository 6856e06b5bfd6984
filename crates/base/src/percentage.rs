//! A share of a whole, in the form in which users write it, such as `30%`.

use std::fmt;
use std::str::FromStr;

/// Number of units in one percent. A percentage is stored as a number of units, so it has up to three decimals.
const UNITS: u32 = 1000;

/// Share of a whole, from 0 % to 100 %, in steps of a thousandth of a percent.
///
/// ```
/// use simtool_base::percentage::Percentage;
///
/// let third: Percentage = "33.333%".parse().unwrap();
/// assert!(third.allows(33_333, 100_000) && !third.allows(1, 3));
/// assert_eq!(third.to_string(), "33.333%");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentage(u32);

impl Percentage {
    /// Creates a percentage without decimals. A value above 100 becomes 100.
    #[must_use]
    pub const fn whole(percent: u32) -> Self {
        Self(if percent > 100 { 100 * UNITS } else { percent * UNITS })
    }

    /// Returns whether `part` is at most this share of `whole`.
    #[must_use]
    pub fn allows(self, part: u64, whole: u64) -> bool {
        // Whole numbers are compared, so that the decision is the same on every machine.
        let all = u128::from(100 * UNITS);
        u128::from(part) * all <= u128::from(self.0) * u128::from(whole)
    }
}

impl FromStr for Percentage {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let percent = text.strip_suffix('%').ok_or(())?;
        let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || decimals.len() > 3 || !is_number(whole) || !is_number(decimals) {
            return Err(());
        }
        let units: u32 = format!("{whole}{decimals:0<3}").parse().map_err(drop)?;
        Some(units).filter(|units| *units <= 100 * UNITS).map(Self).ok_or(())
    }
}

impl fmt::Display for Percentage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / UNITS, self.0 % UNITS);
        let decimals = format!("{rest:03}");
        let decimals = decimals.trim_end_matches('0');
        let point = if decimals.is_empty() { "" } else { "." };
        write!(f, "{whole}{point}{decimals}%")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_up_to_three_decimals() {
        for (text, units) in
            [("0%", 0), ("0.5%", 500), ("2.125%", 2125), ("30%", 30_000), ("100%", 100_000)]
        {
            let read: Percentage = text.parse().unwrap();
            assert_eq!((read, &*read.to_string()), (Percentage(units), text));
        }
        for text in ["", "%", "3", "-1%", "100.1%", "1.2345%", ".5%", "1 %", "1e3%", "x%"] {
            assert!(text.parse::<Percentage>().is_err(), "{text}");
        }
        assert_eq!(Percentage::whole(90).to_string(), "90%");
    }

    #[test]
    fn a_share_is_compared_exactly() {
        // One of a thousand is exactly 0.1 percent.
        let tenth: Percentage = "0.1%".parse().unwrap();
        assert!(tenth.allows(1, 1000) && !tenth.allows(1, 999) && tenth.allows(0, 0));
        assert!(Percentage::whole(0).allows(0, 9) && !Percentage::whole(0).allows(1, u64::MAX));
        assert!(Percentage::whole(100).allows(u64::MAX, u64::MAX));
    }
}
