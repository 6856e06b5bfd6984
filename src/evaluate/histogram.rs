//! Pairs by the strictest threshold that finds them.

use crate::evaluation::{Counts, Curve, Scale};

/// Numbers of pairs by step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram(Vec<u64>);

impl Histogram {
    /// No pairs, at any of so many steps.
    #[must_use]
    pub fn new(steps: usize) -> Self {
        Self(vec![0; steps.max(1)])
    }

    /// Counts pairs that are found from `step` on; those beyond the last step are never found.
    #[inline]
    pub fn add(&mut self, step: usize, pairs: u64) {
        if let Some(count) = self.0.get_mut(step) {
            *count += pairs;
        }
    }

    /// Counts the pairs of another with as many steps.
    pub fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(count, more)| *count += more);
    }

    /// The pairs of each step.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    /// What each step finds, where `self` counts all pairs, `truth` the true ones, of which there are
    /// `positives`, and `set_aside` those that do not count.
    #[must_use]
    pub fn curve(&self, truth: &Self, set_aside: &Self, positives: u64, scale: Scale) -> Curve {
        let mut sum = Counts { positives, ..Counts::default() };
        let parts = self.0.iter().zip(&truth.0).zip(&set_aside.0);
        let counts = parts.map(|((all, truth), set_aside)| {
            sum.true_found += truth;
            sum.false_found += all.saturating_sub(truth + set_aside);
            sum
        });
        Curve { scale, counts: counts.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_what_each_step_and_those_below_find() {
        let histogram = |pairs: &[(usize, u64)]| {
            let mut histogram = Histogram::new(4);
            for &(step, count) in pairs {
                histogram.add(step, count);
            }
            histogram
        };
        // At step 1 the pairs of the worked example; DE is beyond all steps.
        let all = histogram(&[(0, 1), (1, 3), (2, 1), (4, 9)]);
        let truth = histogram(&[(0, 1), (1, 1), (2, 1), (4, 1)]);
        let curve = all.curve(&truth, &histogram(&[(1, 1)]), 4, Scale::Distance);
        let counts = |true_found, false_found| Counts { true_found, false_found, positives: 4 };
        assert_eq!(curve.counts, [counts(1, 0), counts(2, 1), counts(3, 1), counts(3, 1)]);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!(twice.counts(), [2, 6, 2, 0]);
    }
}
