//! The similarity of two sets in exact steps.

use crate::evaluation::SIMILARITY_STEPS;
use crate::similarity::Measure;

/// The strictest step whose threshold two sets of sizes `a` and `b` reach that share `shared` elements,
/// at least one: step s asks for a similarity of at least 1 − s/400.
#[inline]
#[must_use]
pub fn step(measure: Measure, shared: u32, a: u32, b: u32) -> usize {
    let [x, a, b] = [shared, a, b].map(u64::from);
    let reached = match measure {
        Measure::Jaccard => SIMILARITY_STEPS * x / (a + b - x),
        Measure::Containment => SIMILARITY_STEPS * x / a.min(b),
        Measure::Cosine => {
            let square = u128::from(SIMILARITY_STEPS * x).pow(2) / u128::from(a * b);
            // At most the square of the number of steps; the root of the whole part is the whole
            // part of the root.
            (square as u64).isqrt()
        }
    };
    SIMILARITY_STEPS.saturating_sub(reached) as usize
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
                        let reached = step(measure, shared, a, b) as u64;
                        assert!(reaches(reached), "{measure:?} {shared} {a} {b}");
                        assert!(
                            reached == 0 || !reaches(reached - 1),
                            "{measure:?} {shared} {a} {b}"
                        );
                    }
                }
            }
        }
        let most = u32::MAX;
        assert_eq!(Measure::ALL.map(|measure| step(measure, most, most, most)), [0; 3]);
    }
}
