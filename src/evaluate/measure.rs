//! Expresses the similarity of two sets in whole steps of 1/400.

use simtool_model::evaluation::SIMILARITY_STEPS;
use simtool_model::similarity::{Formula, Measure};

/// Converts the similarity of two sets to a step: the similarity is rounded down to a multiple of 1/400, and step s is
/// a similarity of 1 − s/400. So step 0 means equal sets. The sets have `a` and `b` elements, and `shared` elements in
/// common, at least one.
#[inline]
#[must_use]
pub fn step(measure: &Measure, shared: u64, a: u64, b: u64) -> usize {
    let reached = match measure.formula {
        Formula::Ratio(ratio) => {
            let similarity = ratio.similarity(shared, a, b);
            SIMILARITY_STEPS * similarity.shared / similarity.union
        }
        Formula::Cosine => {
            let square =
                u128::from(SIMILARITY_STEPS * shared).pow(2) / (u128::from(a) * u128::from(b));
            // The quotient is at most 400², so it fits. Rounding down before the root gives the same
            // whole number as rounding down after it.
            (square as u64).isqrt()
        }
    };
    SIMILARITY_STEPS.saturating_sub(reached) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::similarity::MEASURES;

    #[test]
    fn steps_are_reached_exactly() {
        for p in 1..40_u64 {
            for q in 1..40_u64 {
                for x in 1..=p.min(q) {
                    for &measure in MEASURES {
                        let reaches = |step: u64| {
                            let least = 400 - step;
                            match measure.formula {
                                Formula::Ratio(ratio) => {
                                    let similarity = ratio.similarity(x, p, q);
                                    400 * similarity.shared >= least * similarity.union
                                }
                                Formula::Cosine => (400 * x).pow(2) >= least.pow(2) * p * q,
                            }
                        };
                        let reached = step(measure, x, p, q) as u64;
                        assert!(reaches(reached), "{measure:?} {x} {p} {q}");
                        assert!(reached == 0 || !reaches(reached - 1), "{measure:?} {x} {p} {q}");
                    }
                }
            }
        }
        let most = 1 << 46;
        assert!(MEASURES.iter().all(|measure| step(measure, most, most, most) == 0));
    }
}
