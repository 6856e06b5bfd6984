//! Estimates recall and precision, with intervals, from a sample of documents.
//!
//! Pairs with a common document are not independent, so documents are sampled and not pairs. Recall and
//! precision are ratio estimators over the sampled documents. A few documents of a large cluster can have
//! most of the pairs, so the interval counts the documents that effectively decide the ratio, and not the
//! sampled documents.
//!
//! # References
//! E. B. Wilson. Probable inference, the law of succession, and statistical inference. JASA 1927.
//!
//! E. L. Korn, B. I. Graubard. Confidence intervals for proportions with small expected number of positive
//! counts estimated from survey data. Survey Methodology 24, 1998.

/// Quantile of 97.5 % of the normal distribution, for a confidence interval of 95 %.
const Z: f64 = 1.959_964;
/// Maximum share of the pairs of a sample that one document is assumed to have when the error of the ratio without this
/// document is computed. Greater shares are reduced to it, because a share near 1 would make the error infinite.
const LARGEST_SHARE: f64 = 0.9;

/// Counts of the partners of one sampled document. A partner is another document that is its near-duplicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampledDocument {
    /// Number of partners that are true near-duplicates of the sampled document and that the method found.
    pub hits: u64,
    /// Number by which `hits` is divided. For recall, it is the number of all true partners. For precision,
    /// it is the number of all partners that the method found.
    pub partners: u64,
}

/// A confidence interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// Recall or precision, estimated from sampled documents. It is the sum of [`SampledDocument::hits`] divided by the
/// sum of [`SampledDocument::partners`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatioEstimate {
    /// Sum of [`SampledDocument::hits`] over all sampled documents: pairs that the method found and that are true
    /// near-duplicates.
    pub hits: u64,
    /// Sum of [`SampledDocument::partners`] over all sampled documents: for recall all true pairs, for precision all
    /// pairs that the method found.
    pub partners: u64,
    /// Number of sampled documents whose [`SampledDocument::partners`] is not 0.
    pub documents: u64,
    /// Number of sampled documents with partners for which the method is completely right: their `hits` equal their
    /// `partners`.
    pub whole_documents: u64,
    /// Estimated recall or precision: `hits / partners`, or 1 if `partners` is 0.
    pub ratio: f64,
    /// Standard error of `ratio`.
    pub standard_error: f64,
    /// Confidence interval of the ratio, which contains `ratio`. It is 0 to 1 if `partners` is 0.
    pub interval: Interval,
}

/// Estimates the recall or precision of a method for a collection of `all` documents from a sample of its
/// documents. [`SampledDocument`] explains the counts of each sampled document.
///
/// The interval is Wilson's interval of a sample whose size would give the same standard error. Its
/// quantile grows as fewer documents decide the ratio and its error. In generated collections whose largest
/// cluster is 1 to 25 % of the documents, it contains the true ratio in 89 to 98 of 100 samples.
///
/// ```
/// use simtool::evaluate::{SampledDocument, ratio_estimate};
///
/// let sample = [SampledDocument { hits: 3, partners: 4 }, SampledDocument { hits: 0, partners: 0 }];
/// let recall = ratio_estimate(&sample, 1000);
/// assert_eq!((recall.ratio, recall.documents), (0.75, 1));
/// ```
#[must_use]
pub fn ratio_estimate(sample: &[SampledDocument], all: u64) -> RatioEstimate {
    let (mut hits, mut partners, mut documents, mut whole_documents) = (0_u64, 0_u64, 0_u64, 0_u64);
    for document in sample.iter().filter(|document| document.partners > 0) {
        hits += document.hits;
        partners += document.partners;
        documents += 1;
        whole_documents += u64::from(document.hits == document.partners);
    }
    let ratio = if partners == 0 { 1.0 } else { hits as f64 / partners as f64 };
    // Correction for a finite population: a sample of all documents has no error.
    let left = (1.0 - sample.len() as f64 / (all.max(1) as f64)).max(0.0);
    let error = RatioError::new(sample, ratio, left);
    let interval = match partners {
        0 => Interval { low: 0.0, high: 1.0 },
        _ => error.interval(ratio, partners as f64),
    };
    let standard_error = error.standard_error;
    RatioEstimate { hits, partners, documents, whole_documents, ratio, standard_error, interval }
}

/// Error of a ratio that was estimated from a sample.
struct RatioError {
    standard_error: f64,
    /// Standard error by the jackknife, which leaves out one document at a time. It is larger than
    /// `standard_error` if some documents have a large share of the pairs.
    jackknife_error: f64,
    /// Share of the collection that is not in the sample.
    left: f64,
    /// Effective number of documents that decide the ratio (Kish). It is smaller than the number of sampled documents
    /// if a few documents have most of the partners.
    deciding: f64,
    /// Effective number of documents that decide the standard error. It is small if a few documents have most of the
    /// error.
    erring: f64,
}

impl RatioError {
    /// Computes the error of `ratio`. `left` is the share of the collection that is not in the sample.
    fn new(sample: &[SampledDocument], ratio: f64, left: f64) -> Self {
        let partners: f64 = sample.iter().map(|document| document.partners as f64).sum();
        // Documents without partners add 0 to the sums, but they count in the size of the sample.
        let (mut squares, mut fourths, mut without, mut weights) = (0.0, 0.0, 0.0, 0.0);
        for document in sample.iter().filter(|document| document.partners > 0) {
            let share = document.partners as f64 / partners;
            let square = (document.hits as f64 / partners - ratio * share).powi(2);
            squares += square;
            fourths += square * square;
            without += square / (1.0 - share.min(LARGEST_SHARE)).powi(2);
            weights += share * share;
        }
        let size = sample.len() as f64;
        let scale = left * size / (size - 1.0).max(1.0);
        let deciding = if weights > 0.0 { 1.0 / weights } else { 0.0 };
        let erring = if fourths > 0.0 { squares * squares / fourths } else { deciding };
        Self {
            standard_error: (scale * squares).sqrt(),
            jackknife_error: (scale * without).sqrt(),
            left,
            deciding,
            erring: erring.min(deciding),
        }
    }

    /// Returns the confidence interval of `ratio`, which was estimated from `partners` pairs.
    fn interval(&self, ratio: f64, partners: f64) -> Interval {
        if self.left == 0.0 {
            return Interval { low: ratio, high: ratio };
        }
        let variance = self.jackknife_error.powi(2);
        // Without a deviation in the sample, the number of deciding documents limits the certainty.
        let size = if variance > 0.0 && ratio < 1.0 && ratio > 0.0 {
            ratio * (1.0 - ratio) / variance
        } else {
            self.deciding / self.left
        };
        // The errors of few documents are less certain than the weights of many documents. The geometric
        // mean of both numbers gave the best coverage in simulations.
        let freedom = (self.deciding * self.erring).sqrt() - 1.0;
        wilson(ratio, size.min(partners / self.left), quantile(freedom))
    }
}

/// Returns Wilson's confidence interval of 95 % for a share that was measured on `size` independent documents or pairs.
#[must_use]
pub(crate) fn share_interval(share: f64, size: f64) -> Interval {
    wilson(share, size, Z)
}

/// Returns Wilson's confidence interval of a share that was measured on `size` documents or pairs. `quantile` is used
/// in place of the quantile of the normal distribution. The interval contains `share`.
fn wilson(share: f64, size: f64, quantile: f64) -> Interval {
    let square = quantile * quantile;
    let middle = share + square / (2.0 * size);
    let reach =
        quantile * (share * (1.0 - share) / size + square / (4.0 * size * size)).max(0.0).sqrt();
    let scale = 1.0 + square / size;
    // Rounding must not put the share outside its interval.
    Interval {
        low: ((middle - reach) / scale).clamp(0.0, share),
        high: ((middle + reach) / scale).clamp(share, 1.0),
    }
}

/// Returns the quantile of 97.5 % of Student's t-distribution with `freedom` degrees of freedom, but at least 1 degree.
/// It is computed by the first terms of the series of Cornish and Fisher, and is 1 % too small for 3 degrees.
fn quantile(freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    let power = |exponent: i32| Z.powi(exponent);
    let first = (power(3) + Z) / 4.0;
    let second = (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z) / 96.0;
    let third = (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z) / 384.0;
    Z + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    fn rounded(number: f64) -> String {
        format!("{number:.3}")
    }

    /// Random numbers from a seed.
    struct Random(u64);

    impl Random {
        /// Returns a number below `end`.
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            mix(self.0) % end
        }

        /// Returns the number of changes that made a document from the first one of its cluster: 0 to 5,
        /// mostly 1.
        fn changes(&mut self) -> u64 {
            [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 5][self.below(11) as usize]
        }
    }

    /// Generates the counts of all documents of a collection with clusters of these sizes, and one more document
    /// without partners for each document in a cluster. A method finds a pair if both documents together have at most
    /// three changes. For the recall, every pair of a cluster is true. For the precision, a pair is true if its
    /// documents have at most two changes.
    fn collection(
        sizes: &[usize],
        is_precision: bool,
        random: &mut Random,
    ) -> Vec<SampledDocument> {
        let mut documents = Vec::new();
        for &size in sizes {
            let changes: Vec<u64> = (0..size).map(|_| random.changes()).collect();
            let with = |count: u64| changes.iter().filter(|own| **own == count).count() as u64;
            let counts: Vec<u64> = (0..=5).map(with).collect();
            for &own in &changes {
                let within = |most: u64| {
                    let others = (0..=5).filter(|other| own + other <= most);
                    let near: u64 = others.map(|other| counts[other as usize]).sum();
                    // A document is not a partner of itself.
                    near - u64::from(2 * own <= most)
                };
                let [hits, partners] = if is_precision { [2, 3] } else { [3, 10] };
                documents.push(SampledDocument { hits: within(hits), partners: within(partners) });
            }
        }
        let alone = documents.len();
        documents.extend(vec![SampledDocument::default(); alone]);
        documents
    }

    /// Returns the percentage of the samples whose interval contains the true ratio.
    fn coverage(sizes: &[usize], sample: usize, is_precision: bool) -> f64 {
        let mut random = Random(1);
        let (mut covered, rounds) = (0_u32, 400_u32);
        for _ in 0..rounds {
            let mut documents = collection(sizes, is_precision, &mut random);
            let all = documents.len() as u64;
            let truth = ratio_estimate(&documents, all).ratio;
            // The first documents of a shuffled list are a random sample.
            for at in 0..sample {
                let other = at + random.below((documents.len() - at) as u64) as usize;
                documents.swap(at, other);
            }
            let found = ratio_estimate(&documents[..sample], all);
            let Interval { low, high } = found.interval;
            assert!(low <= found.ratio && found.ratio <= high, "{found:?}");
            covered += u32::from(low <= truth && truth <= high);
        }
        f64::from(covered) / f64::from(rounds) * 100.0
    }

    #[test]
    fn intervals_contain_the_true_ratio_in_most_samples() {
        let small = [2, 2, 2, 3, 3, 4, 5].repeat(30);
        let with = |large: &[usize]| [large, &small[..]].concat();
        for (sizes, sample) in [
            (small.clone(), 30),
            (small.clone(), 100),
            (with(&[200]), 60),
            (with(&[200]), 150),
            (with(&[400]), 60),
            (with(&[400]), 150),
            (with(&[60, 40]), 150),
        ] {
            for is_precision in [false, true] {
                let coverage = coverage(&sizes, sample, is_precision);
                let case = (sizes[0], sample, is_precision);
                assert!(coverage >= 90.0, "{case:?}: {coverage}");
            }
        }
    }

    #[test]
    fn the_standard_error_is_that_of_the_worked_example() {
        let sample = [(2, 2), (1, 1), (0, 1), (3, 3), (0, 0), (1, 2)]
            .map(|(hits, partners)| SampledDocument { hits, partners });
        let estimate = ratio_estimate(&sample, u64::MAX);
        assert_eq!((estimate.hits, estimate.partners, estimate.documents), (7, 9, 5));
        assert_eq!((rounded(estimate.ratio), estimate.whole_documents), ("0.778".to_owned(), 3));
        assert_eq!(rounded(estimate.standard_error), "0.154");
        // If the sample is the whole collection, the error is 0.
        let all = ratio_estimate(&sample, 6);
        assert_eq!((all.standard_error, all.interval.low), (0.0, all.ratio));
    }

    #[test]
    fn equal_documents_have_the_interval_of_as_many_independent_pairs() {
        // Wilson's interval of 47 of 50 is 0.838 to 0.979, and that of 50 of 50 begins at 0.929.
        let hits = |hits: usize| {
            let document = |at: usize| SampledDocument { hits: u64::from(at < hits), partners: 1 };
            (0..50).map(document).collect::<Vec<_>>()
        };
        let shown = |sample: &[SampledDocument]| {
            let Interval { low, high } = ratio_estimate(sample, u64::MAX).interval;
            (rounded(low), rounded(high))
        };
        // Three documents with errors make the interval a little wider.
        assert_eq!(shown(&hits(47)), ("0.817".into(), "0.982".into()));
        assert_eq!(shown(&hits(50)), ("0.925".into(), "1.000".into()));
        let half = SampledDocument { hits: 1, partners: 2 };
        assert_eq!(shown(&[half; 50]), ("0.363".into(), "0.637".into()));
        let nothing = ratio_estimate(&[], 0);
        assert_eq!((nothing.ratio, nothing.partners), (1.0, 0));
        assert_eq!(nothing.interval, Interval { low: 0.0, high: 1.0 });
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [(10.0, "2.228"), (30.0, "2.042"), (1e9, "1.960")] {
            assert_eq!(rounded(quantile(freedom)), expected);
        }
    }
}
