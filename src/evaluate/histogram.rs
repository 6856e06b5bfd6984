//! Counts pairs by the strictest threshold that finds them. Thresholds are numbered from 0, beginning with
//! the strictest.

use simtool_model::evaluation::{Counts, Curve, Scale};

/// Histogram of the thresholds at which pairs are found. A step is the number of a threshold, and step 0 is
/// the strictest threshold. Each pair is counted once, at the strictest threshold that finds it.
///
/// ```
/// use simtool::evaluate::Histogram;
/// use simtool::stages::evaluation::Scale;
///
/// // Three pairs at distance 1, two of which are true; two other true pairs are never found.
/// let (mut all, mut truth) = (Histogram::new(3), Histogram::new(3));
/// all.add(1, 3);
/// truth.add(1, 2);
/// let curve = all.curve(&truth, &Histogram::new(3), 4, Scale::Distance);
/// assert_eq!(curve.counts[0].recall(), 0.0);
/// assert_eq!(curve.counts[1].recall(), 0.5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram(Vec<u64>);

impl Histogram {
    /// Creates a histogram for `steps` thresholds. It has no pairs yet.
    #[must_use]
    pub fn new(steps: usize) -> Self {
        Self(vec![0; steps.max(1)])
    }

    /// Adds `pairs` pairs whose strictest threshold is `step`. Looser steps find these pairs, too. If `step` is beyond
    /// the last step of the histogram, the pairs are not counted, because no threshold finds them.
    #[inline]
    pub fn add(&mut self, step: usize, pairs: u64) {
        if let Some(count) = self.0.get_mut(step) {
            *count += pairs;
        }
    }

    /// Adds the pairs of another histogram with the same number of steps.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(count, more)| *count += more);
    }

    /// Returns for each step the number of pairs whose strictest threshold is this step.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    /// Returns how many true and false pairs are found at each threshold. `self` counts all found pairs.
    /// `truth` counts the true pairs among them, and `set_aside` the found pairs that count neither as true
    /// nor as false. `positives` is the number of all true pairs, found or not.
    #[must_use]
    pub fn curve(&self, truth: &Self, set_aside: &Self, positives: u64, scale: Scale) -> Curve {
        // A step finds everything that the steps before it find, so counts are added up.
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
        // Step 1 finds the pairs of the worked example. The pair DE is beyond all steps.
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
