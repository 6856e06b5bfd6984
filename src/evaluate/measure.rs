//! The similarity of two sets in exact steps.

use crate::error::{Error, Result};
use crate::evaluation::SIMILARITY_STEPS;
use std::str::FromStr;

/// How similar two sets are of which it is known how many elements they share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Shared elements over those in either.
    #[default]
    Jaccard,
    /// Shared elements over those of the smaller set.
    Containment,
    /// Shared elements over the geometric mean of both sizes.
    Cosine,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Jaccard, Self::Containment, Self::Cosine];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Containment => "containment",
            Self::Cosine => "cosine",
        }
    }

    /// The strictest step whose threshold two sets of sizes `a` and `b` reach that share `shared`
    /// elements, at least one: step s asks for a similarity of at least 1 − s/400.
    #[inline]
    #[must_use]
    pub fn step(self, shared: u32, a: u32, b: u32) -> usize {
        let [x, a, b] = [shared, a, b].map(u64::from);
        let reached = match self {
            Self::Jaccard => SIMILARITY_STEPS * x / (a + b - x),
            Self::Containment => SIMILARITY_STEPS * x / a.min(b),
            Self::Cosine => {
                let square = u128::from(SIMILARITY_STEPS * x).pow(2) / u128::from(a * b);
                // At most the square of the number of steps; the root of the whole part is the whole
                // part of the root.
                (square as u64).isqrt()
            }
        };
        SIMILARITY_STEPS.saturating_sub(reached) as usize
    }
}

impl FromStr for Measure {
    type Err = Error;

    /// Reads a name.
    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|measure| measure.name() == text);
        let rule = "must be jaccard, containment or cosine";
        found.ok_or_else(|| Error::config("measure", text, rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_reached_exactly() {
        for a in 1..40_u32 {
            for b in 1..40_u32 {
                for shared in 1..=a.min(b) {
                    let [x, p, q] = [shared, a, b].map(u64::from);
                    for measure in Measure::ALL {
                        let reaches = |step: u64| {
                            let least = 400 - step;
                            match measure {
                                Measure::Jaccard => 400 * x >= least * (p + q - x),
                                Measure::Containment => 400 * x >= least * p.min(q),
                                Measure::Cosine => (400 * x).pow(2) >= least.pow(2) * p * q,
                            }
                        };
                        let step = measure.step(shared, a, b) as u64;
                        assert!(reaches(step), "{measure:?} {shared} {a} {b}");
                        assert!(step == 0 || !reaches(step - 1), "{measure:?} {shared} {a} {b}");
                    }
                }
            }
        }
        let most = u32::MAX;
        assert_eq!(Measure::ALL.map(|measure| measure.step(most, most, most)), [0; 3]);
    }

    #[test]
    fn names_are_read_as_they_are_shown() {
        for measure in Measure::ALL {
            assert_eq!(measure.name().parse::<Measure>().unwrap(), measure);
        }
        assert!("dice".parse::<Measure>().is_err());
    }
}
