//! Number of words that a removal loses, and the option `lose`: the most words that a removal may lose.

use std::fmt;
use std::str::FromStr;

/// Description of valid values of the option, for error messages.
pub const RULE: &str = "must be a number of words, such as 3, or a percentage of the words up to 100, such as 1% or 0.5%";

/// Number of units of a share that are one percent. So shares have up to three decimals.
const UNITS_A_PERCENT: u32 = 1000;

/// Number of words of a removed document, and number of its words that are lost because its kept document lacks them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostWords {
    /// Number of words of the removed document. 0 if they were not counted, because the two documents are equal.
    pub words: u32,
    /// Number of the words that are lost.
    pub lost: u32,
}

impl LostWords {
    /// Returns the share of the words that are lost. It is 0 if no word is lost.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.lost) / f64::from(self.words.max(1))
    }
}

/// Most words of a removed document that its kept document may lack. A document that would lose more stays.
///
/// ```
/// use simtool_coverage::{LoseLimit, LostWords};
///
/// let one_percent: LoseLimit = "1%".parse().unwrap();
/// assert!(one_percent.allows(LostWords { words: 200, lost: 2 }));
/// assert!(!one_percent.allows(LostWords { words: 200, lost: 3 }));
/// assert_eq!(one_percent.to_string(), "1%");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoseLimit {
    /// Number of words.
    Words(u32),
    /// Share of the words of the removed document, in thousandths of a percent.
    Share(u32),
}

impl LoseLimit {
    /// Returns whether no word may be lost.
    #[must_use]
    pub fn is_zero(self) -> bool {
        matches!(self, Self::Words(0) | Self::Share(0))
    }

    /// Returns whether a document may be removed although these words are lost.
    #[must_use]
    pub fn allows(self, LostWords { words, lost }: LostWords) -> bool {
        match self {
            Self::Words(most) => lost <= most,
            Self::Share(most) => {
                // Whole numbers are compared, so that the decision is the same on every machine.
                let all = u64::from(100 * UNITS_A_PERCENT);
                u64::from(lost) * all <= u64::from(most) * u64::from(words)
            }
        }
    }
}

impl FromStr for LoseLimit {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let Some(percent) = text.strip_suffix('%') else {
            return text.parse().map(Self::Words).map_err(drop);
        };
        let (whole, decimals) = percent.split_once('.').unwrap_or((percent, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || decimals.len() > 3 || !is_number(whole) || !is_number(decimals) {
            return Err(());
        }
        let units: u32 = format!("{whole}{decimals:0<3}").parse().map_err(drop)?;
        Some(units).filter(|units| *units <= 100 * UNITS_A_PERCENT).map(Self::Share).ok_or(())
    }
}

impl fmt::Display for LoseLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Words(most) => write!(f, "{most}"),
            Self::Share(most) => {
                let (whole, rest) = (most / UNITS_A_PERCENT, most % UNITS_A_PERCENT);
                let decimals = format!("{rest:03}");
                let decimals = decimals.trim_end_matches('0');
                let point = if decimals.is_empty() { "" } else { "." };
                write!(f, "{whole}{point}{decimals}%")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_words_or_percentages() {
        for (text, limit) in [
            ("0", LoseLimit::Words(0)),
            ("12", LoseLimit::Words(12)),
            ("0%", LoseLimit::Share(0)),
            ("0.5%", LoseLimit::Share(500)),
            ("2.125%", LoseLimit::Share(2125)),
            ("100%", LoseLimit::Share(100_000)),
        ] {
            let read: LoseLimit = text.parse().unwrap();
            assert_eq!((read, &*read.to_string()), (limit, text));
        }
        for text in ["", "%", "-1", "x", "100.1%", "1.2345%", ".5%", "1 %", "5000000000", "1e3%"] {
            assert!(text.parse::<LoseLimit>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_limit_holds_for_the_words_of_the_removed_document() {
        let loss = |words, lost| LostWords { words, lost };
        assert!(
            LoseLimit::Words(3).allows(loss(4, 3)) && !LoseLimit::Words(3).allows(loss(400, 4))
        );
        // One word of a thousand is exactly 0.1 percent.
        let tenth = LoseLimit::Share(100);
        assert!(tenth.allows(loss(1000, 1)) && !tenth.allows(loss(999, 1)));
        assert!(tenth.allows(loss(0, 0)) && LoseLimit::Share(0).allows(loss(9, 0)));
        assert!(LoseLimit::Share(100_000).allows(loss(u32::MAX, u32::MAX)));
    }
}
