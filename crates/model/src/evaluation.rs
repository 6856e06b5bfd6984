//! Results of methods on labelled collections: precision, recall and F1 at each threshold.
//!
//! A method finds the pairs of documents that are within its threshold. Thresholds are numbered in
//! steps from 0, the strictest. So a step finds everything that the steps before it find.

use std::cmp::Ordering;

/// Number of steps of similarity from 1 down to 0.
pub const SIMILARITY_STEPS: u64 = 400;

/// The kind of thresholds of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Greatest distance: 0, 1, 2, …
    Distance,
    /// Least similarity: 1, 399/400, 398/400, …
    Similarity,
}

impl Scale {
    /// Returns the threshold of a step.
    #[must_use]
    pub fn threshold(self, step: usize) -> f64 {
        match self {
            Self::Distance => step as f64,
            Self::Similarity => SIMILARITY_STEPS.saturating_sub(step as u64) as f64 / 400.0,
        }
    }

    /// Returns the threshold of a step as text, in the form that options accept.
    #[must_use]
    pub fn shown(self, step: usize) -> String {
        match self {
            Self::Distance => step.to_string(),
            Self::Similarity => {
                let shown = format!("{:.4}", self.threshold(step));
                let shorter = shown.trim_end_matches('0').trim_end_matches('.');
                shorter.to_owned()
            }
        }
    }

    /// Returns the name of the thresholds.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Similarity => "similarity",
        }
    }
}

/// Numbers of pairs that were found, and of pairs that should have been found.
///
/// ```
/// use simtool_model::evaluation::Counts;
///
/// let counts = Counts { true_found: 3, false_found: 1, positives: 4 };
/// assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.75, 0.75, 0.75));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// True pairs that were found.
    pub true_found: u64,
    /// Found pairs that are neither true nor set aside.
    pub false_found: u64,
    /// All true pairs.
    pub positives: u64,
}

impl Counts {
    /// Share of the found pairs that are true; 1 if no pair was found.
    #[must_use]
    pub fn precision(self) -> f64 {
        match self.true_found + self.false_found {
            0 => 1.0,
            found => self.true_found as f64 / found as f64,
        }
    }

    /// Share of the true pairs that were found; 0 if no pair is true.
    #[must_use]
    pub fn recall(self) -> f64 {
        self.true_found as f64 / self.positives.max(1) as f64
    }

    /// Harmonic mean of precision and recall; 0 if no true pair was found.
    #[must_use]
    pub fn f1(self) -> f64 {
        let (numerator, denominator) = self.f1_fraction();
        numerator as f64 / denominator.max(1) as f64
    }

    /// Compares by F1, exactly: as fractions of whole numbers.
    #[must_use]
    pub(crate) fn compare_f1(self, other: Self) -> Ordering {
        let ((a, b), (c, d)) = (self.f1_fraction(), other.f1_fraction());
        // Steps with equal F1 must compare as equal, so that the strictest of them wins. Floats of
        // equal fractions may differ in the last bit.
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b.max(1));
        product(a, d).cmp(&product(c, b))
    }

    /// Returns F1 as the fraction 2TP / (2TP + FP + FN).
    fn f1_fraction(self) -> (u64, u64) {
        (2 * self.true_found, self.true_found + self.false_found + self.positives)
    }
}

/// The pairs found at each threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Kind of the thresholds.
    pub scale: Scale,
    /// Counts of each step, which include the pairs of stricter steps. There is at least one step.
    pub counts: Vec<Counts>,
}

impl Curve {
    /// Returns the step with the greatest F1. Among equal ones, the strictest wins.
    #[must_use]
    pub fn best(&self) -> usize {
        let better =
            |best: usize, step: usize| match self.counts[step].compare_f1(self.counts[best]) {
                Ordering::Greater => step,
                _ => best,
            };
        (0..self.counts.len()).fold(0, better)
    }

    /// Returns the steps whose counts differ from those of the step before. The step `always` is
    /// included in any case.
    pub fn changes(&self, always: usize) -> impl Iterator<Item = (usize, Counts)> {
        let is_change = move |step: usize| {
            let before = if step == 0 {
                Counts { positives: self.counts[0].positives, ..Counts::default() }
            } else {
                self.counts[step - 1]
            };
            step == always || self.counts[step] != before
        };
        (0..self.counts.len())
            .filter(move |&step| is_change(step))
            .map(|step| (step, self.counts[step]))
    }
}

/// Results of a method on a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The pairs found at each threshold.
    pub curve: Curve,
    /// Step of the threshold that the method has by default.
    pub own: usize,
    /// Mean number of bytes stored for a document.
    pub bytes_per_document: u64,
    /// Total time in seconds.
    pub seconds: f64,
}

/// Results of one threshold for all collections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    /// Step with the greatest mean F1. Among equal ones, the strictest.
    pub step: usize,
    /// Mean F1 at that step.
    pub mean_f1: f64,
    /// Mean F1 if each collection is measured at the step that is best for the other collections.
    /// `None` if there is only one collection.
    pub left_out: Option<f64>,
}

/// Results of a method on all collections.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Name under which the method was requested: the name of a preset or of a method.
    pub name: String,
    /// All settings of the method, as text.
    pub parameters: String,
    /// Results on each collection.
    pub measured: Vec<Measured>,
    /// Results of one threshold for all collections.
    pub common: Common,
}

impl Evaluated {
    /// Mean over the collections of the F1 at the best threshold of each.
    #[must_use]
    pub fn mean_best_f1(&self) -> f64 {
        let best = |measured: &Measured| measured.curve.counts[measured.curve.best()].f1();
        self.measured.iter().map(best).sum::<f64>() / self.measured.len().max(1) as f64
    }

    /// Mean over the collections of the bytes stored for a document.
    #[must_use]
    pub fn bytes_per_document(&self) -> u64 {
        let bytes: u64 = self.measured.iter().map(|measured| measured.bytes_per_document).sum();
        let count = (self.measured.len() as u64).max(1);
        (bytes + count / 2) / count
    }

    /// Total time on all collections, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.measured.iter().map(|measured| measured.seconds).sum()
    }
}

/// Results of all methods on all collections.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The collections.
    pub collections: Vec<LabelledName>,
    /// The methods, in the order in which they were requested.
    pub methods: Vec<Evaluated>,
    /// Mistakes of the best method, worst first.
    pub wrong: Vec<WrongPair>,
}

impl Evaluation {
    /// Returns the method with the greatest [`mean_best_f1`](Evaluated::mean_best_f1). Among equal
    /// ones, the first wins.
    #[must_use]
    pub fn best(&self) -> Option<usize> {
        let f1 = |at: usize| self.methods[at].mean_best_f1();
        let better = |best: usize, at: usize| if f1(at) > f1(best) { at } else { best };
        (0..self.methods.len()).reduce(better)
    }
}

/// A labelled collection: its name and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledName {
    /// Name of the collection.
    pub name: String,
    /// Number of documents.
    pub documents: u64,
    /// Number of true pairs.
    pub positives: u64,
    /// Number of pairs that count neither as true nor as false.
    pub set_aside: u64,
}

/// A mistake: a pair that was found but is not true, or is true but was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPair {
    /// Number of the collection.
    pub collection: usize,
    /// Whether the pair is true.
    pub is_true: bool,
    /// Threshold at which the pair is found; empty if it is found at none.
    pub closeness: String,
    /// Similarity of the terms that the method compares.
    pub similarity: String,
    /// IDs of the two documents.
    pub ids: [Vec<u8>; 2],
    /// Texts of the two documents.
    pub texts: [Vec<u8>; 2],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(true_found: u64, false_found: u64, positives: u64) -> Counts {
        Counts { true_found, false_found, positives }
    }

    #[test]
    fn measures_are_those_of_the_worked_example() {
        // True AB, AC, BC, DE; set aside AF; found AB, AC, AF, DG.
        let found = counts(2, 1, 4);
        assert_eq!((found.precision(), found.recall()), (2.0 / 3.0, 0.5));
        assert_eq!((found.f1(), found.f1_fraction()), (4.0 / 7.0, (4, 7)));
        let nothing = counts(0, 0, 4);
        assert_eq!((nothing.precision(), nothing.recall(), nothing.f1()), (1.0, 0.0, 0.0));
        assert_eq!(counts(1, 0, 3).compare_f1(counts(2, 0, 6)), Ordering::Equal);
        assert_eq!(counts(u64::MAX / 8, 0, u64::MAX / 4).compare_f1(found), Ordering::Greater);
    }

    #[test]
    fn the_strictest_of_equal_thresholds_is_the_best() {
        let counts = [(1, 0), (2, 0), (2, 0), (4, 4)].map(|(t, f)| counts(t, f, 4)).to_vec();
        let curve = Curve { scale: Scale::Distance, counts };
        assert_eq!(curve.best(), 1);
        assert_eq!(curve.changes(2).map(|(step, _)| step).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(curve.changes(0).map(|(step, _)| step).collect::<Vec<_>>(), [0, 1, 3]);
    }

    #[test]
    fn thresholds_are_shown_as_methods_have_them() {
        assert_eq!(Scale::Distance.shown(3), "3");
        let shown = [0, 80, 297, 300, 399].map(|step| Scale::Similarity.shown(step));
        assert_eq!(shown, ["1", "0.8", "0.2575", "0.25", "0.0025"]);
    }
}
