//! Band of inverse document frequencies (idf). I-Match fingerprints use only the terms whose idf is inside the band.
//! The set of these terms is called a lexicon.
//!
//! A term in df of n documents has the normalized idf ln(n / df) / ln n. The normalized idf is 0 for a term in all
//! documents, and 1 for a term in one document.
//!
//! # References
//!
//! A. Chowdhury, O. Frieder, D. Grossman, M. C. `McCabe`. Collection statistics for fast duplicate
//! document detection. ACM TOIS 20(2), 2002.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Number of steps between 0 and 1. The ends of a band are whole numbers of such steps of 1/1000.
const PARTS: u16 = 1000;

/// Maximum relative error with which a computed number still counts as a whole number. Floating-point arithmetic is not
/// exact.
const ROUNDING: f64 = 1e-9;

/// Range of the normalized idf, for example 0.2 to 0.8, with both ends included. The ends are
/// stored in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdfBand {
    low: u16,
    high: u16,
}

impl IdfBand {
    /// The rule for a valid band, as the end of an error message.
    pub(crate) const RULE: &str =
        "must be LOW-HIGH within 0 and 1, with up to three decimals, for example 0.2-0.8";

    /// Returns the range of document frequencies that belongs to this band in a collection of `documents` documents.
    /// The range never begins below 2, because a word in only one document is usually a typing error.
    #[must_use]
    #[expect(clippy::cast_sign_loss, reason = "powers are above 0")]
    pub(crate) fn documents(self, documents: u64) -> RangeInclusive<u32> {
        let power = |end: u16| (documents as f64).powf(f64::from(PARTS - end) / f64::from(PARTS));
        // A result that is a whole number up to rounding errors counts as that number.
        let least = (power(self.high) * (1.0 - ROUNDING)).ceil() as u32;
        let most = (power(self.low) * (1.0 + ROUNDING)).floor() as u32;
        least.max(2)..=most
    }
}

impl FromStr for IdfBand {
    type Err = ();

    #[expect(clippy::cast_sign_loss, reason = "its range is checked")]
    fn from_str(text: &str) -> Result<Self, ()> {
        let end = |text: &str| {
            let parts = text.parse::<f64>().ok()? * f64::from(PARTS);
            let whole = parts.round();
            let is_exact = (parts - whole).abs() < ROUNDING * f64::from(PARTS);
            (is_exact && (0.0..=f64::from(PARTS)).contains(&whole)).then_some(whole as u16)
        };
        let (low, high) = text.split_once('-').ok_or(())?;
        match (end(low), end(high)) {
            (Some(low), Some(high)) if low <= high => Ok(Self { low, high }),
            _ => Err(()),
        }
    }
}

impl fmt::Display for IdfBand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = [self.low, self.high].map(|end| f64::from(end) / f64::from(PARTS));
        write!(f, "{low}-{high}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_a_range_of_documents() {
        for (band, documents, expected) in [
            ("0.2-0.8", 10_000, 7..=1584),
            ("0.5-0.5", 10_000, 100..=100),
            ("0.25-0.75", 10_000, 10..=1000),
            ("0-1", 10_000, 2..=10_000),
            ("0.5-0.8", 4, 2..=2),
        ] {
            let read: IdfBand = band.parse().unwrap();
            assert_eq!(read.documents(documents), expected, "{band}");
            assert_eq!(read.to_string(), band);
        }
        assert!("0.9-1".parse::<IdfBand>().unwrap().documents(100).is_empty());
        for wrong in ["", "0.2", "0.8-0.2", "0.2-1.1", "-1-0.5", "0.1234-0.5", "a-b", "nan-1"] {
            assert!(wrong.parse::<IdfBand>().is_err(), "{wrong}");
        }
    }
}
