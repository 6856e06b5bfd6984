//! What a method reaches on a collection of which the near-duplicates are known.
//!
//! A method finds the pairs of documents that are within its threshold. Thresholds are numbered in
//! steps from the strictest one, which is 0, so that a step finds all that the steps below it find.

use std::cmp::Ordering;

/// Steps of similarity from 1 down to nothing.
pub const SIMILARITY_STEPS: u64 = 400;

/// What the steps of a curve are thresholds of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The greatest distance, from 0.
    Distance,
    /// The least similarity, from 1 down by 1/400.
    Similarity,
}

impl Scale {
    /// The threshold of a step.
    #[must_use]
    pub fn threshold(self, step: usize) -> f64 {
        match self {
            Self::Distance => step as f64,
            Self::Similarity => SIMILARITY_STEPS.saturating_sub(step as u64) as f64 / 400.0,
        }
    }

    /// The threshold of a step, as a method's text has it.
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

    /// What its thresholds are called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Similarity => "similarity",
        }
    }
}

/// Pairs that were found, and those that were to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// True pairs that were found.
    pub true_found: u64,
    /// Pairs that were found, and are neither true nor set aside.
    pub false_found: u64,
    /// True pairs.
    pub positives: u64,
}

impl Counts {
    /// The share of what was found that is true; 1 where nothing was found.
    #[must_use]
    pub fn precision(self) -> f64 {
        match self.true_found + self.false_found {
            0 => 1.0,
            found => self.true_found as f64 / found as f64,
        }
    }

    /// The share of what is true that was found; 0 where nothing is.
    #[must_use]
    pub fn recall(self) -> f64 {
        self.true_found as f64 / self.positives.max(1) as f64
    }

    /// The harmonic mean of precision and recall; 0 where nothing was found.
    #[must_use]
    pub fn f1(self) -> f64 {
        let (numerator, denominator) = self.f1_fraction();
        numerator as f64 / denominator.max(1) as f64
    }

    /// Orders by F1, as fractions of whole numbers.
    #[must_use]
    pub fn compare_f1(self, other: Self) -> Ordering {
        let ((a, b), (c, d)) = (self.f1_fraction(), other.f1_fraction());
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b.max(1));
        product(a, d).cmp(&product(c, b))
    }

    /// 2TP / (2TP + FP + FN).
    fn f1_fraction(self) -> (u64, u64) {
        (2 * self.true_found, self.true_found + self.false_found + self.positives)
    }
}

/// What is found at each threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// What the thresholds are.
    pub scale: Scale,
    /// What each step finds, all steps below included; at least one.
    pub counts: Vec<Counts>,
}

impl Curve {
    /// The step with the greatest F1; of equal ones the strictest.
    #[must_use]
    pub fn best(&self) -> usize {
        let better =
            |best: usize, step: usize| match self.counts[step].compare_f1(self.counts[best]) {
                Ordering::Greater => step,
                _ => best,
            };
        (0..self.counts.len()).fold(0, better)
    }

    /// The steps at which something is found that the one before does not find, with `always` among
    /// them.
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

/// A method on a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What is found at each threshold.
    pub curve: Curve,
    /// The step of the method's own threshold.
    pub own: usize,
    /// Bytes that are kept of a document, in the mean.
    pub bytes_per_document: u64,
    /// Seconds that all of it took.
    pub seconds: f64,
}

/// One threshold for all collections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    /// The step with the greatest mean F1; of equal ones the strictest.
    pub step: usize,
    /// That mean.
    pub mean_f1: f64,
    /// The mean F1 at the step that is best for the other collections; none of a single collection.
    pub left_out: Option<f64>,
}

/// A method on all collections.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// What the method was asked for as: the name of a preset, or its own.
    pub name: String,
    /// Its settings, complete.
    pub parameters: String,
    /// On each collection.
    pub measured: Vec<Measured>,
    /// With one threshold.
    pub common: Common,
}

impl Evaluated {
    /// The mean of the F1 at each collection's best threshold.
    #[must_use]
    pub fn mean_best_f1(&self) -> f64 {
        let best = |measured: &Measured| measured.curve.counts[measured.curve.best()].f1();
        self.measured.iter().map(best).sum::<f64>() / self.measured.len().max(1) as f64
    }

    /// Bytes that are kept of a document, in the mean over the collections.
    #[must_use]
    pub fn bytes_per_document(&self) -> u64 {
        let bytes: u64 = self.measured.iter().map(|measured| measured.bytes_per_document).sum();
        let count = (self.measured.len() as u64).max(1);
        (bytes + count / 2) / count
    }

    /// Seconds on all collections.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.measured.iter().map(|measured| measured.seconds).sum()
    }
}

/// All methods on all collections.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The collections.
    pub collections: Vec<LabelledName>,
    /// The methods, in the order in which they were asked for.
    pub methods: Vec<Evaluated>,
    /// What the best method gets wrong, the worst first.
    pub wrong: Vec<WrongPair>,
}

impl Evaluation {
    /// The method with the greatest mean of the best F1; of equal ones the first.
    #[must_use]
    pub fn best(&self) -> Option<usize> {
        let f1 = |at: usize| self.methods[at].mean_best_f1();
        let better = |best: usize, at: usize| if f1(at) > f1(best) { at } else { best };
        (0..self.methods.len()).reduce(better)
    }
}

/// A collection whose near-duplicates are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledName {
    /// What it is called.
    pub name: String,
    /// Its documents.
    pub documents: u64,
    /// True pairs.
    pub positives: u64,
    /// Pairs that do not count.
    pub set_aside: u64,
}

/// A pair that is found and not true, or true and not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPair {
    /// The number of the collection.
    pub collection: usize,
    /// Whether it is true.
    pub is_true: bool,
    /// The threshold at which it is found, if it is at any.
    pub closeness: String,
    /// How alike the documents are by the terms that the method compares.
    pub similarity: String,
    /// The documents' names.
    pub ids: [Vec<u8>; 2],
    /// Their texts.
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
