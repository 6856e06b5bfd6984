//! Computes the weights of the distinct terms of documents, and selects the terms that count.
//!
//! [`Weighting`] holds the options of the user. A [`Weigher`] applies them to documents, with the
//! document [`Frequencies`] of the collection.

use super::frequencies::{AHEAD, Frequencies};
use super::idf_band::IdfBand;
use super::weights::{DocumentNumbers, TermStatistics, WeightKind};
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_model::distinct_terms::DistinctTerms;
use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Options that decide which distinct terms of a document count, and how much.
///
/// ```
/// use simtool_terms::extract::weighting::Weighting;
///
/// // Each term counts as often as it occurs.
/// assert!(Weighting::default().is_plain());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighting {
    /// Function that computes the weight of a term, for example tf × idf.
    pub weight: &'static WeightKind,
    /// If set, only this number of terms count in each document: the terms with the greatest tf × idf. If terms have
    /// equal tf × idf, the terms with lower hashes count.
    pub top: Option<NonZeroUsize>,
    /// If set, terms whose inverse document frequency (idf) is outside this band have the weight 0. They are very rare
    /// or very frequent in the collection.
    pub idf_band: Option<IdfBand>,
}

impl Default for Weighting {
    /// Returns the weighting in which each term counts as often as it occurs.
    fn default() -> Self {
        Self { weight: WeightKind::DEFAULT, top: None, idf_band: None }
    }
}

impl Weighting {
    /// Removes the options `top` and `idf_band` from `options`, and returns a weighting with their values and `weight`.
    /// If both options are missing, all terms count.
    ///
    /// # Errors
    ///
    /// A value is outside its range.
    pub fn parse(weight: &'static WeightKind, options: &mut Options) -> Result<Self> {
        Ok(Self {
            weight,
            top: options.take_parsed("top", "must be a whole number of at least 1")?,
            idf_band: options.take_parsed("idf_band", IdfBand::RULE)?,
        })
    }

    /// Removes the option with the name `option`, for example `verify_weight`, from `options`. Returns the weighting of
    /// sets that its value selects: `binary` (the default) or `idf`.
    ///
    /// Other weights are refused, because a set contains each term only once.
    ///
    /// # Errors
    ///
    /// The value is neither `binary` nor `idf`.
    pub fn parse_for_sets(option: &'static str, options: &mut Options) -> Result<Self> {
        match options.take(option).as_deref() {
            None | Some("binary") => Ok(Self::default()),
            Some("idf") => Ok(Self::SETS_BY_IDF),
            Some(other) => {
                let rule = "must be binary or idf, because a set contains each of its terms once";
                Err(Error::config(option, other, rule))
            }
        }
    }

    /// Weighting of sets in which terms count by their idf.
    const SETS_BY_IDF: Self = Self { weight: WeightKind::IDF, top: None, idf_band: None };

    /// Returns the names and values of all options that differ from their defaults.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = Vec::new();
        if self.weight != WeightKind::DEFAULT {
            parameters.push(("weight", self.weight.name.to_owned()));
        }
        parameters.extend(self.top.map(|top| ("top", top.to_string())));
        parameters.extend(self.idf_band.map(|band| ("idf_band", band.to_string())));
        parameters
    }

    /// Returns a short text that identifies these options. Fingerprints can be compared only if their recipes are
    /// equal.
    #[must_use]
    pub fn recipe(&self) -> String {
        let mut parts = vec![format!("weight={}", self.weight.name)];
        let others = self.parameters().into_iter().filter(|(name, _)| *name != "weight");
        parts.extend(others.map(|(name, value)| format!("{name}={value}")));
        parts.join("/")
    }

    /// Returns whether each term simply counts as often as it occurs. If so, no weights need to be computed.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the weights depend on the document frequencies of a collection.
    #[must_use]
    pub fn is_learned(&self) -> bool {
        self.weight.needs_idf || self.top.is_some() || self.idf_band.is_some()
    }

    /// Returns whether the weight of each term is its idf.
    #[must_use]
    pub fn is_idf(&self) -> bool {
        self.weight == WeightKind::IDF
    }
}

/// Computes the weights of the terms of documents. All threads share one weigher.
#[derive(Clone, Debug)]
pub struct Weigher {
    weighting: Weighting,
    frequencies: Arc<Frequencies>,
    /// Range of the document frequencies of the terms that count. A term whose document frequency is outside this range
    /// has the weight 0.
    band: RangeInclusive<u32>,
}

/// Weights of the terms of one document, and buffers that are reused for the next document.
#[derive(Debug, Default)]
pub struct Weights {
    /// Weight of each distinct term of the document.
    pub weights: Vec<u32>,
    distinct: DistinctTerms,
    statistics: Vec<TermStatistics>,
    ranked: Vec<u64>,
}

impl Weigher {
    /// Creates a weigher. `frequencies` are the document frequencies of the collection. They are used only if [the
    /// weighting is learned](Weighting::is_learned).
    #[must_use]
    pub fn new(weighting: Weighting, frequencies: Arc<Frequencies>) -> Self {
        let band = weighting.idf_band.map(|band| band.documents(frequencies.documents()));
        Self { weighting, frequencies, band: band.unwrap_or(0..=u32::MAX) }
    }

    /// Replaces `terms`, which has every occurrence of a term, by the distinct terms that count. Writes the weights of
    /// these terms to `scratch.weights`.
    ///
    /// # Complexity
    ///
    /// O(m) for m occurrences in a text that is not very long, otherwise O(m log m).
    pub fn weigh(&self, terms: &mut Vec<u64>, scratch: &mut Weights) {
        self.count(terms, scratch);
        if self.weighting.is_learned() {
            self.look_up(terms, scratch);
            self.keep_top(terms, scratch);
        } else {
            scratch.statistics.clear();
        }
        let Weights { weights, statistics, ranked, .. } = scratch;
        (self.weighting.weight.weigh)(weights, &mut DocumentNumbers { terms: statistics, ranked });
        for (weight, term) in weights.iter_mut().zip(statistics) {
            if !term.is_in_band {
                *weight = 0;
            }
        }
    }

    /// Removes repeated terms from `terms`, and sets the weight of each term to the number of its occurrences. If no
    /// option depends on this number, sets all weights to 1 instead.
    fn count(&self, terms: &mut Vec<u64>, scratch: &mut Weights) {
        let Weights { weights, distinct, .. } = scratch;
        // To select the top terms takes tf, too.
        if self.weighting.weight.needs_tf || self.weighting.top.is_some() {
            distinct.count_occurrences(terms, weights);
        } else {
            distinct.deduplicate(terms);
            weights.clear();
            weights.resize(terms.len(), 1);
        }
    }

    /// Looks up the document frequency and the inverse document frequency of each term, and stores them in `scratch`.
    fn look_up(&self, terms: &[u64], scratch: &mut Weights) {
        let Weights { weights, statistics, .. } = scratch;
        statistics.clear();
        statistics.extend(terms.iter().zip(weights).enumerate().map(|(at, (&term, &mut tf))| {
            // The table is larger than the caches, so its entries are fetched before they are needed.
            if let Some(&ahead) = terms.get(at + AHEAD) {
                self.frequencies.prefetch(ahead);
            }
            let (df, idf) = self.frequencies.get(term);
            TermStatistics { term, tf, idf, is_in_band: self.band.contains(&df) }
        }));
    }

    /// Drops all terms except those with the greatest tf × idf, if the option `top` is set.
    fn keep_top(&self, terms: &mut Vec<u64>, scratch: &mut Weights) {
        let Weights { weights, statistics, .. } = scratch;
        let Some(top) = self.weighting.top.map(NonZeroUsize::get) else { return };
        if top >= statistics.len() {
            return;
        }
        statistics.select_nth_unstable_by_key(top, |term| (Reverse(term.tf_idf()), term.term));
        statistics.truncate(top);
        // The selection changed the order, so both lists are written again.
        terms.clear();
        terms.extend(statistics.iter().map(|term| term.term));
        weights.clear();
        weights.extend(statistics.iter().map(|term| term.tf));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::weights::tests::slow_log_tf;
    use proptest::prelude::*;
    use simtool_base::stable_hash::hash;
    use std::collections::BTreeMap;

    fn weighting(options: &str) -> Weighting {
        let mut options = Options::parse(options).unwrap();
        let weight = WeightKind::parse(&mut options).unwrap();
        let weighting = Weighting::parse(weight, &mut options).unwrap();
        assert_eq!(options.first(), None);
        weighting
    }

    fn weigh(options: &str, frequencies: Frequencies, terms: &[u64]) -> Vec<(u64, u32)> {
        let weigher = Weigher::new(weighting(options), Arc::new(frequencies));
        let mut distinct = terms.to_vec();
        let mut weights = Weights::default();
        // Content that is left from another document must not change the result.
        weigher.weigh(&mut vec![7, 7, 8], &mut weights);
        weigher.weigh(&mut distinct, &mut weights);
        assert_eq!(distinct.len(), weights.weights.len());
        let mut weighed: Vec<_> = distinct.into_iter().zip(weights.weights).collect();
        weighed.sort_unstable();
        weighed
    }

    /// Words of an example text in a tutorial. Each word has the number of its occurrences (tf) and
    /// its idf in the table of jieba.
    const TUTORIAL: [(&str, u32, u32); 6] = [
        ("指纹", 2, 10336),
        ("文本", 2, 9160),
        ("近似", 2, 7879),
        ("哈希", 1, 12242),
        ("重复", 1, 7083),
        ("检测", 1, 7018),
    ];

    /// Returns the weights that `options` give to the words in [`TUTORIAL`], in the order of that
    /// list.
    fn tutorial(options: &str) -> Vec<u32> {
        let mut terms = Vec::new();
        let mut known = Vec::new();
        for (word, tf, idf) in TUTORIAL {
            let term = hash(word.as_bytes());
            terms.extend(std::iter::repeat_n(term, tf as usize));
            known.push((term, 2, idf));
        }
        known.sort_unstable();
        let frequencies = Frequencies::from_known(100, &known);
        let weights: BTreeMap<u64, u32> = weigh(options, frequencies, &terms).into_iter().collect();
        let kept = TUTORIAL.iter().filter_map(|(word, ..)| weights.get(&hash(word.as_bytes())));
        kept.copied().collect()
    }

    #[test]
    fn the_words_of_the_tutorial_weigh_what_they_weigh_there() {
        let tf_idf = tutorial("weight=tf-idf");
        assert_eq!(tf_idf, [20672, 18320, 15758, 12242, 7083, 7018]);
        let shown: Vec<u32> = tf_idf.iter().map(|weight| weight * 200 / (9 * 1024)).collect();
        assert_eq!(shown, [448, 397, 341, 265, 153, 152]);
        assert_eq!(tutorial("weight=idf"), [10336, 9160, 7879, 12242, 7083, 7018]);
        assert_eq!(tutorial("weight=levels"), [5, 5, 4, 3, 2, 1]);
        assert_eq!(tutorial("weight=tf,top=4"), [2, 2, 2, 1]);
        assert_eq!(tutorial("weight=log-tf-idf,top=1"), [512 * 10336]);
        assert_eq!(tutorial("weight=levels,top=3"), [5, 4, 2]);
    }

    #[test]
    fn equal_terms_have_equal_levels_and_the_smaller_one_stays() {
        let terms = [9, 5, 7, 7, 3];
        let weighed = |options| weigh(options, Frequencies::default(), &terms);
        assert_eq!(weighed("weight=levels"), [(3, 4), (5, 4), (7, 5), (9, 4)]);
        assert_eq!(weighed("top=2"), [(3, 1), (7, 2)]);
        assert_eq!(weighed("top=9,weight=binary"), [(3, 1), (5, 1), (7, 1), (9, 1)]);
    }

    #[test]
    fn terms_outside_the_band_weigh_nothing() {
        let frequencies = || Frequencies::from_known(10, &[(1, 2, 50), (2, 4, 40), (3, 9, 30)]);
        // From 2 documents to 10^0.8 = 6.3.
        let weighed = |options| weigh(options, frequencies(), &[3, 1, 2, 2, 4]);
        assert_eq!(weighed("idf_band=0.2-0.8"), [(1, 1), (2, 2), (3, 0), (4, 0)]);
        let levels = weighed("idf_band=0.2-0.8,weight=levels");
        assert_eq!(levels, [(1, 3), (2, 5), (3, 0), (4, 0)]);
    }

    #[test]
    fn options_are_read_as_they_are_shown() {
        for text in ["", "weight=binary", "weight=log-tf-idf,top=200,idf_band=0.25-0.8"] {
            let shown = weighting(text).parameters();
            let shown: Vec<_> =
                shown.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(shown.join(","), text);
        }
        assert_eq!(weighting("top=5,weight=idf").recipe(), "weight=idf/top=5");
        assert!(weighting("weight=tf").is_plain() && !weighting("weight=log-tf").is_learned());
        for (text, message) in [
            ("weight=half", "weight half: must be one of tf, binary, log-tf, idf, tf-idf"),
            ("top=0", "top 0: must be a whole number of at least 1"),
            ("idf_band=3", "idf_band 3: must be"),
        ] {
            let mut options = Options::parse(text).unwrap();
            let weight = WeightKind::parse(&mut options);
            let error = weight.and_then(|w| Weighting::parse(w, &mut options)).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }

    proptest! {
        #[test]
        fn features_are_those_of_an_ordered_map(
            terms in proptest::collection::vec(0..30_u64, 0..200), top in 1..40_usize,
        ) {
            let known: Vec<_> = (0..20).map(|term| (term, 2 + term as u32, 100 + 7 * term as u32 % 11)).collect();
            let frequencies = || Frequencies::from_known(1000, &known);
            let mut counts = BTreeMap::new();
            for &term in &terms {
                *counts.entry(term).or_insert(0_u32) += 1;
            }
            let all: Vec<(u64, u32)> = counts.iter().map(|(&term, &tf)| (term, tf)).collect();
            let idf = |term: u64| frequencies().get(term).1;
            let expected = |weigh: &dyn Fn(u64, u32) -> u32| -> Vec<(u64, u32)> {
                all.iter().map(|&(term, tf)| (term, weigh(term, tf))).collect()
            };
            let weighed = |options: &str| weigh(options, frequencies(), &terms);
            prop_assert_eq!(weighed("weight=tf"), all.clone());
            prop_assert_eq!(weighed("weight=binary"), expected(&|_, _| 1));
            prop_assert_eq!(weighed("weight=log-tf"), expected(&|_, tf| slow_log_tf(tf)));
            prop_assert_eq!(weighed("weight=idf"), expected(&|term, _| idf(term)));
            prop_assert_eq!(weighed("weight=tf-idf"), expected(&|term, tf| tf * idf(term)));
            prop_assert_eq!(weighed("weight=log-tf-idf"), expected(&|term, tf| slow_log_tf(tf) * idf(term)));
            let tf_idf = expected(&|term, tf| tf * idf(term));
            let level = |term: u64| {
                let own = tf_idf.iter().find(|&&(other, _)| other == term).map_or(0, |e| e.1);
                let rank = tf_idf.iter().filter(|&&(_, weight)| weight > own).count();
                5 - (5 * rank / tf_idf.len()) as u32
            };
            prop_assert_eq!(weighed("weight=levels"), expected(&|term, _| level(term)));
            let mut best = tf_idf.clone();
            best.sort_by_key(|&(term, weight)| (Reverse(weight), term));
            best.truncate(top);
            best.sort_unstable();
            prop_assert_eq!(weighed(&format!("weight=tf-idf,top={top}")), best);
        }
    }
}
