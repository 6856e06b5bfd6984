//! Results of methods on labelled collections: precision, recall and F1 at each threshold.
//!
//! A method finds the pairs of documents that are within its threshold. The evaluation tries several thresholds and
//! numbers them from 0, the strictest. The number of a threshold is called a step. Each step finds all pairs that
//! earlier steps find.

use std::cmp::Ordering;

/// Number of steps in which the similarity threshold goes down from 1 to 0. Step `i` has the threshold `1 - i / 400`.
pub const SIMILARITY_STEPS: u64 = 400;

/// Kind of the thresholds that an evaluation tries: distances or similarities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Thresholds are distances. A pair is found if its distance is at most 0, 1, 2, …
    Distance,
    /// Thresholds are similarities. A pair is found if its similarity is at least 1, 399/400, 398/400, …
    Similarity,
}

impl Scale {
    /// Returns the threshold of step `step`. Step 0 is the strictest.
    #[must_use]
    pub fn threshold(self, step: usize) -> f64 {
        match self {
            Self::Distance => step as f64,
            Self::Similarity => SIMILARITY_STEPS.saturating_sub(step as u64) as f64 / 400.0,
        }
    }

    /// Returns the threshold of step `step` as text that options accept, for example `0.8`. Step 0 is the strictest.
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

    /// Returns the word that tables use for the thresholds: `distance` or `similarity`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Similarity => "similarity",
        }
    }
}

/// Counts of the pairs that a method found, and of the pairs that it should have found. They give precision and recall.
///
/// ```
/// use simtool_model::evaluation::Counts;
///
/// let counts = Counts { true_found: 3, false_found: 1, positives: 4 };
/// assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.75, 0.75, 0.75));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of found pairs that are labelled as similar.
    pub true_found: u64,
    /// Number of found pairs that are not labelled as similar. Pairs that the labels leave open are
    /// not counted.
    pub false_found: u64,
    /// Number of all pairs that are labelled as similar, found or not.
    pub positives: u64,
}

impl Counts {
    /// Returns the fraction of the found pairs that are labelled as similar. Returns 1 if no pair was found.
    #[must_use]
    pub fn precision(self) -> f64 {
        match self.true_found + self.false_found {
            0 => 1.0,
            found => self.true_found as f64 / found as f64,
        }
    }

    /// Returns the fraction of the pairs labelled as similar that the method found. Returns 0 if no pair is labelled as
    /// similar.
    #[must_use]
    pub fn recall(self) -> f64 {
        self.true_found as f64 / self.positives.max(1) as f64
    }

    /// Returns the harmonic mean of precision and recall. Returns 0 if no found pair is labelled as similar.
    #[must_use]
    pub fn f1(self) -> f64 {
        let (numerator, denominator) = self.f1_fraction();
        numerator as f64 / denominator.max(1) as f64
    }

    /// Compares the F1 of two counts exactly, as fractions of whole numbers.
    #[must_use]
    pub(crate) fn compare_f1(self, other: Self) -> Ordering {
        let ((a, b), (c, d)) = (self.f1_fraction(), other.f1_fraction());
        // Steps with equal F1 must compare as equal, so that the strictest of them wins. Floats of
        // equal fractions may differ in the last bit.
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b.max(1));
        product(a, d).cmp(&product(c, b))
    }

    /// Returns numerator and denominator of F1 = 2TP / (2TP + FP + FN). TP, FP and FN are the numbers of true
    /// positives, false positives and false negatives.
    fn f1_fraction(self) -> (u64, u64) {
        (2 * self.true_found, self.true_found + self.false_found + self.positives)
    }
}

/// Counts of the pairs that a method finds at each threshold that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Kind of the thresholds: distances or similarities.
    pub scale: Scale,
    /// Counts at each threshold, from the strictest on. The counts of a threshold include the pairs that stricter
    /// thresholds find. There is at least one element.
    pub counts: Vec<Counts>,
}

impl Curve {
    /// Returns the index in `counts` of the threshold with the greatest F1. If several thresholds have this F1, the
    /// strictest of them wins.
    #[must_use]
    pub fn best(&self) -> usize {
        let better =
            |best: usize, step: usize| match self.counts[step].compare_f1(self.counts[best]) {
                Ordering::Greater => step,
                _ => best,
            };
        (0..self.counts.len()).fold(0, better)
    }

    /// Returns the thresholds at which the counts change: the index in `counts` and the counts of each threshold that
    /// finds other pairs than the next stricter threshold. The threshold with index `always` is returned in any case.
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

/// Results of one method on one labelled collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Counts of the found pairs at each threshold.
    pub curve: Curve,
    /// Index in `curve.counts` of the threshold that the settings of the method have. If this threshold lies between
    /// two thresholds of the curve, it is the index of the stricter one.
    pub own: usize,
    /// Number of pairs that the method finds at the best threshold and that have no label. They count as wrongly found.
    pub unlisted: u64,
    /// Mean number of bytes that the method stores for a document.
    pub bytes_per_document: u64,
    /// Time in seconds that the whole evaluation of the method on the collection took.
    pub seconds: f64,
}

/// Results of a method with one threshold for all collections.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Common {
    /// Index of this threshold, where 0 is the strictest. It is the threshold with the greatest mean F1 over the
    /// collections. If several thresholds have this F1, the strictest of them wins.
    pub step: usize,
    /// Mean over the collections of the F1 at this threshold.
    pub mean_f1: f64,
    /// Mean F1 of leave-one-out validation. The F1 on each collection is taken at the threshold that is best for all
    /// other collections together. `None` if there is only one collection.
    pub left_out: Option<f64>,
}

/// Results of one method on all collections.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    /// Name with which the user requested the method: the name of a preset or of a method.
    pub name: String,
    /// All settings of the method, as text.
    pub parameters: String,
    /// Results on each collection, in the order of the collections.
    pub measured: Vec<Measured>,
    /// Results with one threshold for all collections.
    pub common: Common,
    /// F1 with other hash functions, one for each seed that the user requested. Empty without such seeds, and for a
    /// method without fingerprints, whose result does not depend on hash functions.
    pub by_seed: Vec<SeededF1>,
}

/// F1 of a method if its hash functions are created from another seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeededF1 {
    /// Seed of the hash functions.
    pub seed: u64,
    /// F1 with these hash functions, defined as in [`Evaluated::headline_f1`].
    pub f1: f64,
}

/// Mean, deviation and extremes of F1 over several hash functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Mean of F1 over the hash functions.
    pub mean: f64,
    /// Standard deviation of F1, computed with the divisor n - 1.
    pub deviation: f64,
    /// Smallest F1 with any of the hash functions.
    pub least: f64,
    /// Greatest F1 with any of the hash functions.
    pub most: f64,
}

impl Evaluated {
    /// Returns the mean over the collections of the F1 at the threshold that is best for each collection.
    #[must_use]
    pub fn mean_best_f1(&self) -> f64 {
        let best = |measured: &Measured| measured.curve.counts[measured.curve.best()].f1();
        self.measured.iter().map(best).sum::<f64>() / self.measured.len().max(1) as f64
    }

    /// Returns the F1 by which methods are compared. With several collections, the F1 on each collection is taken at
    /// the threshold that is best for the other collections, and the result is the mean. A threshold that is chosen on
    /// the same labels would give too good a value. With one collection, the result is the best F1.
    #[must_use]
    pub fn headline_f1(&self) -> f64 {
        self.common.left_out.unwrap_or_else(|| self.mean_best_f1())
    }

    /// Returns the spread of F1 over the usual hash functions and the hash functions of all seeds. Returns `None` if no
    /// seed was requested.
    #[must_use]
    pub fn spread(&self) -> Option<Spread> {
        if self.by_seed.is_empty() {
            return None;
        }
        let others = self.by_seed.iter().map(|seeded| seeded.f1);
        let all: Vec<f64> = std::iter::once(self.headline_f1()).chain(others).collect();
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let squares: f64 = all.iter().map(|f1| (f1 - mean).powi(2)).sum();
        Some(Spread {
            mean,
            deviation: (squares / (count - 1.0)).sqrt(),
            least: all.iter().copied().fold(f64::INFINITY, f64::min),
            most: all.iter().copied().fold(0.0, f64::max),
        })
    }

    /// Returns the mean over the collections of the number of bytes that the method stores for a document.
    #[must_use]
    pub fn bytes_per_document(&self) -> u64 {
        let bytes: u64 = self.measured.iter().map(|measured| measured.bytes_per_document).sum();
        let count = (self.measured.len() as u64).max(1);
        (bytes + count / 2) / count
    }

    /// Returns the total time on all collections, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.measured.iter().map(|measured| measured.seconds).sum()
    }
}

/// Results of all methods on all collections.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// Names and sizes of the collections.
    pub collections: Vec<LabelledName>,
    /// Results of the methods, in the order in which they were requested.
    pub methods: Vec<Evaluated>,
    /// Mistakes of the best method. For each collection, first come wrongly found pairs, closest first, and then missed
    /// pairs, most distant first.
    pub wrong: Vec<WrongPair>,
}

impl Evaluation {
    /// Returns the index of the method with the greatest [`headline_f1`](Evaluated::headline_f1). If several methods
    /// have this F1, the first of them wins. Returns `None` if there are no methods.
    #[must_use]
    pub fn best(&self) -> Option<usize> {
        let f1 = |at: usize| self.methods[at].headline_f1();
        let better = |best: usize, at: usize| if f1(at) > f1(best) { at } else { best };
        (0..self.methods.len()).reduce(better)
    }
}

/// Name and size of a labelled collection: documents with a list of the pairs that are similar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledName {
    /// Name of the collection.
    pub name: String,
    /// Number of documents of the collection.
    pub documents: u64,
    /// Number of pairs of documents that are labelled as similar.
    pub positives: u64,
    /// Number of pairs whose label leaves open whether the documents are similar. Finding such a pair counts neither as
    /// right nor as wrong.
    pub set_aside: u64,
}

/// A mistake of a method: a pair that was found but is not labelled as similar, or a pair that is
/// labelled as similar but was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPair {
    /// Index of the collection in [`Evaluation::collections`].
    pub collection: usize,
    /// `true` if the pair is labelled as similar and the method missed it. `false` if the method found the pair
    /// wrongly.
    pub is_true: bool,
    /// Strictest threshold at which the method finds the pair, as text, for example `distance 4`. If no threshold finds
    /// the pair, the text is `no distance at all`, `no similarity at all`, or `other own words or titles`. The last one
    /// means that the method does not compare the two documents.
    pub closeness: String,
    /// Jaccard similarity of the sets of terms of the two documents, with three decimals. Empty if neither document has
    /// a term.
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
        // Labelled as similar: AB, AC, BC, DE. Left open: AF. Found: AB, AC, AF, DG.
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
    fn methods_are_compared_at_thresholds_of_other_collections() {
        let method = |best_true: u64, left_out: Option<f64>| Evaluated {
            name: String::new(),
            parameters: String::new(),
            measured: vec![Measured {
                curve: Curve { scale: Scale::Distance, counts: vec![counts(best_true, 0, 4)] },
                own: 0,
                unlisted: 0,
                bytes_per_document: 0,
                seconds: 0.0,
            }],
            common: Common { step: 0, mean_f1: 0.0, left_out },
            by_seed: Vec::new(),
        };
        let of = |methods: [Evaluated; 2]| {
            let evaluation = Evaluation {
                collections: Vec::new(),
                methods: methods.to_vec(),
                wrong: Vec::new(),
            };
            evaluation.best()
        };
        assert_eq!(of([method(2, None), method(4, None)]), Some(1));
        assert_eq!(of([method(2, Some(0.9)), method(4, Some(0.3))]), Some(0));
    }

    #[test]
    fn thresholds_are_shown_as_methods_have_them() {
        assert_eq!(Scale::Distance.shown(3), "3");
        let shown = [0, 80, 297, 300, 399].map(|step| Scale::Similarity.shown(step));
        assert_eq!(shown, ["1", "0.8", "0.2575", "0.25", "0.0025"]);
    }
}
