//! Estimates recall and precision, with intervals, from a sample of documents.
//!
//! Pairs with a common document are not independent, so documents are sampled and not pairs. Recall and
//! precision are ratio estimators over the sampled documents.
//!
//! # References
//! E. B. Wilson. Probable inference, the law of succession, and statistical inference. JASA 1927.

/// Factor of the standard error in a confidence interval of 95 %. It is the 97.5 % quantile of the normal
/// distribution.
const Z: f64 = 1.96;
/// Minimum number of sampled documents with partners for which a confidence interval is given. With fewer
/// documents, the standard error is unreliable. A partner of a document is a near-duplicate of it.
const FEWEST: usize = 30;

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

/// A share that was measured on a sample, with the confidence interval of the true share (Wilson's interval).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatedShare {
    /// Number of sampled things that have a property, for example of documents without a missed partner.
    pub part: u64,
    /// Number of all sampled things, with or without the property.
    pub whole: u64,
    /// Confidence interval of `part / whole`.
    pub interval: Interval,
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
    /// Estimated recall or precision: `hits / partners`, or 1 if `partners` is 0.
    pub ratio: f64,
    /// Standard error of `ratio`.
    pub standard_error: f64,
    /// Confidence interval of `ratio`. `None` if `documents` is below 30 or if `hits` equals `partners`.
    pub interval: Option<Interval>,
    /// Share of the sampled documents with partners for which no partner is wrong or missed, so that `hits`
    /// equals `partners`. Reports show this share if `interval` is `None`.
    pub whole: EstimatedShare,
}

/// Estimates the recall or precision of a method for a collection of `all` documents from a sample of its
/// documents. [`SampledDocument`] explains the counts of each sampled document.
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
    let (mut hits, mut partners, mut documents, mut whole) = (0_u64, 0_u64, 0_u64, 0_u64);
    for document in sample.iter().filter(|document| document.partners > 0) {
        hits += document.hits;
        partners += document.partners;
        documents += 1;
        whole += u64::from(document.hits == document.partners);
    }
    let ratio = if partners == 0 { 1.0 } else { hits as f64 / partners as f64 };
    let deviation = |d: &SampledDocument| (d.hits as f64 - ratio * d.partners as f64).powi(2);
    // Documents without partners add 0 to the sum, but they count in the size of the sample.
    let squares: f64 = sample.iter().map(deviation).sum();
    let size = sample.len() as f64;
    // Correction for a finite population: a sample of all documents has no error.
    let left = (1.0 - size / (all.max(1) as f64)).max(0.0);
    let variance = left * size / (size - 1.0).max(1.0) * squares / (partners.max(1) as f64).powi(2);
    let standard_error = variance.sqrt();
    let is_normal = documents as usize >= FEWEST && hits < partners;
    let interval = is_normal.then(|| Interval {
        low: (ratio - Z * standard_error).max(0.0),
        high: (ratio + Z * standard_error).min(1.0),
    });
    let whole = wilson(whole, documents);
    RatioEstimate { hits, partners, documents, ratio, standard_error, interval, whole }
}

/// Returns `part / whole` with Wilson's interval of 95 %. The interval is 0 to 1 if `whole` is 0.
#[must_use]
pub fn wilson(part: u64, whole: u64) -> EstimatedShare {
    let n = whole as f64;
    let interval = if whole == 0 {
        Interval { low: 0.0, high: 1.0 }
    } else {
        let share = part as f64 / n;
        let square = Z * Z;
        let middle = share + square / (2.0 * n);
        let reach = Z * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
        let scale = 1.0 + square / n;
        Interval {
            low: ((middle - reach) / scale).max(0.0),
            high: ((middle + reach) / scale).min(1.0),
        }
    };
    EstimatedShare { part, whole, interval }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(number: f64) -> String {
        format!("{number:.3}")
    }

    #[test]
    fn the_standard_error_is_that_of_the_worked_example() {
        let sample = [(2, 2), (1, 1), (0, 1), (3, 3), (0, 0), (1, 2)]
            .map(|(hits, partners)| SampledDocument { hits, partners });
        let estimate = ratio_estimate(&sample, u64::MAX);
        assert_eq!((estimate.hits, estimate.partners, estimate.documents), (7, 9, 5));
        assert_eq!(rounded(estimate.ratio), "0.778");
        assert_eq!(rounded(estimate.standard_error), "0.154");
        // Five documents are too few for an interval.
        assert_eq!((estimate.interval, estimate.whole.part), (None, 3));
        // If the sample is the whole collection, nothing is uncertain.
        assert!(ratio_estimate(&sample, 6).standard_error.abs() < 1e-12);
    }

    #[test]
    fn many_documents_have_an_interval_unless_nothing_was_missed() {
        let document = SampledDocument { hits: 1, partners: 2 };
        let interval = ratio_estimate(&[document; 40], 1000).interval.unwrap();
        assert_eq!((interval.low, interval.high), (0.5, 0.5));
        let all = SampledDocument { hits: 2, partners: 2 };
        assert_eq!(ratio_estimate(&[all; 40], 1000).interval, None);
        let nothing = ratio_estimate(&[], 0);
        assert_eq!((nothing.ratio, nothing.partners, nothing.interval), (1.0, 0, None));
    }

    #[test]
    fn wilsons_interval_is_that_of_the_worked_examples() {
        for (part, whole, low, high) in [(47, 50, "0.838", "0.979"), (50, 50, "0.929", "1.000")] {
            let Interval { low: found_low, high: found_high } = wilson(part, whole).interval;
            assert_eq!((rounded(found_low), rounded(found_high)), (low.into(), high.into()));
        }
        assert_eq!(wilson(0, 0).interval, Interval { low: 0.0, high: 1.0 });
    }
}
