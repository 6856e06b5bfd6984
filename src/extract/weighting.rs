//! Which distinct terms of a document count, and how much.
//!
//! Weights are integers, so that sums of them are the same in any order. A term counts as often as
//! it occurs unless something else is asked for; the rarer of two is known by the
//! [`Frequencies`] of a collection.

use super::frequencies::{AHEAD, Frequencies};
use super::idf_band::IdfBand;
use crate::distinct_terms::DistinctTerms;
use crate::error::{Error, Result};
use crate::options::Options;
use std::cmp::Reverse;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// How much a term counts that occurs tf times in its document, and in df documents of its
/// collection; idf is [what that makes](super::frequencies::idf).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// tf.
    #[default]
    Tf,
    /// 1.
    Binary,
    /// 256 × (1 + log₂ tf), rounded half up.
    LogTf,
    /// idf.
    Idf,
    /// tf × idf.
    TfIdf,
    /// The product of the weights of these names.
    LogTfIdf,
    /// From 5 for the terms of the document with the greatest tf × idf down to 1, a fifth of them
    /// each; equal ones have the same.
    Levels,
}

impl Weight {
    const ALL: [Self; 7] =
        [Self::Tf, Self::Binary, Self::LogTf, Self::Idf, Self::TfIdf, Self::LogTfIdf, Self::Levels];

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::name)
    }

    /// The name that options use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tf => "tf",
            Self::Binary => "binary",
            Self::LogTf => "log-tf",
            Self::Idf => "idf",
            Self::TfIdf => "tf-idf",
            Self::LogTfIdf => "log-tf-idf",
            Self::Levels => "levels",
        }
    }

    /// Takes the option `weight`: tf if it was not given.
    ///
    /// # Errors
    ///
    /// It is the name of none.
    pub fn parse(options: &mut Options) -> Result<Self> {
        let Some(text) = options.take("weight") else { return Ok(Self::default()) };
        let named = Self::ALL.into_iter().find(|weight| weight.name() == text);
        let rule = || format!("must be one of {}", Self::names().collect::<Vec<_>>().join(", "));
        named.ok_or_else(|| Error::config("weight", &text, rule()))
    }

    /// Whether it depends on the collection.
    fn is_learned(self) -> bool {
        matches!(self, Self::Idf | Self::TfIdf | Self::LogTfIdf | Self::Levels)
    }
}

/// Which distinct terms of a document count, and how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weighting {
    /// How much each counts.
    pub weight: Weight,
    /// Only so many with the greatest tf × idf are terms of the document, of equal ones the smaller.
    pub top: Option<NonZeroUsize>,
    /// Terms that are rarer or more frequent in the collection weigh nothing.
    pub idf_band: Option<IdfBand>,
}

impl Weighting {
    /// Takes the options `top` and `idf_band`: all terms count if they were not given.
    ///
    /// # Errors
    ///
    /// A value is out of its range.
    pub fn parse(weight: Weight, options: &mut Options) -> Result<Self> {
        Ok(Self {
            weight,
            top: options.take_parsed("top", "must be a whole number from 1 on")?,
            idf_band: options.take_parsed("idf_band", IdfBand::RULE)?,
        })
    }

    /// Takes the option of that name for terms of which a set has each once: `binary`, which is meant
    /// if it was not given, or `idf`.
    ///
    /// # Errors
    ///
    /// It is neither.
    pub fn parse_of_sets(option: &'static str, options: &mut Options) -> Result<Self> {
        let weight = match options.take(option).as_deref() {
            None | Some("binary") => Weight::default(),
            Some("idf") => Weight::Idf,
            Some(other) => {
                let rule = "must be binary or idf: a set has each of its terms once";
                return Err(Error::config(option, other, rule));
            }
        };
        Ok(Self { weight, ..Self::default() })
    }

    /// Its options with their values, as far as they are others than the defaults.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let Self { weight, top, idf_band } = self;
        let weight = Some(weight).filter(|weight| **weight != Weight::default());
        let values = [
            weight.map(|weight| weight.name().to_owned()),
            top.map(|top| top.to_string()),
            idf_band.map(|band| band.to_string()),
        ];
        ["weight", "top", "idf_band"]
            .into_iter()
            .zip(values)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// All that it changes, in short.
    #[must_use]
    pub fn recipe(&self) -> String {
        let others = self.parameters().into_iter().filter(|(name, _)| *name != "weight");
        let others = others.map(|(name, value)| format!("/{name}={value}"));
        format!("weight={}{}", self.weight.name(), others.collect::<String>())
    }

    /// Whether each term counts as often as it occurs, so that none need be counted.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it depends on the frequencies of a collection.
    #[must_use]
    pub fn is_learned(&self) -> bool {
        self.weight.is_learned() || self.top.is_some() || self.idf_band.is_some()
    }
}

/// Weighs the terms of documents; shared by all threads.
#[derive(Clone, Debug)]
pub struct Weigher {
    weighting: Weighting,
    frequencies: Arc<Frequencies>,
    /// In how many documents a term is that weighs something.
    band: RangeInclusive<u32>,
}

/// Weights of a document, and what a weigher reuses from document to document.
#[derive(Debug, Default)]
pub struct Weights {
    /// The weight of each term.
    pub weights: Vec<u32>,
    distinct: DistinctTerms,
    entries: Vec<Entry>,
    ranked: Vec<u64>,
}

/// A distinct term.
#[derive(Clone, Copy, Debug)]
struct Entry {
    term: u64,
    tf: u32,
    df: u32,
    idf: u32,
}

impl Entry {
    fn tf_idf(&self) -> u64 {
        u64::from(self.tf) * u64::from(self.idf)
    }
}

impl Weigher {
    /// Weighs by the frequencies of a collection, which matter only
    /// [where they do](Weighting::is_learned).
    #[must_use]
    pub fn new(weighting: Weighting, frequencies: Arc<Frequencies>) -> Self {
        let band = weighting.idf_band.map(|band| band.documents(frequencies.documents()));
        Self { weighting, frequencies, band: band.unwrap_or(0..=u32::MAX) }
    }

    /// Replaces the occurrences of terms by the distinct ones, and the weights by theirs.
    ///
    /// # Complexity
    ///
    /// O(m) for m occurrences of a text that is not very long, or O(m log m).
    pub fn weigh(&self, terms: &mut Vec<u64>, scratch: &mut Weights) {
        let Weights { weights, distinct, entries, ranked } = scratch;
        let weight = self.weighting.weight;
        if matches!(weight, Weight::Binary | Weight::Idf) && self.weighting.top.is_none() {
            distinct.deduplicate(terms);
            weights.clear();
            weights.resize(terms.len(), 1);
        } else {
            distinct.count_occurrences(terms, weights);
        }
        if !self.weighting.is_learned() {
            for tf in weights {
                *tf = of_occurrences(weight, *tf);
            }
            return;
        }
        entries.clear();
        entries.extend(terms.iter().zip(&*weights).enumerate().map(|(at, (&term, &tf))| {
            if let Some(&ahead) = terms.get(at + AHEAD) {
                self.frequencies.prefetch(ahead);
            }
            let (df, idf) = self.frequencies.of(term);
            Entry { term, tf, df, idf }
        }));
        if let Some(top) = self.weighting.top.map(NonZeroUsize::get)
            && top < entries.len()
        {
            entries.select_nth_unstable_by_key(top, |entry| (Reverse(entry.tf_idf()), entry.term));
            entries.truncate(top);
            terms.clear();
            terms.extend(entries.iter().map(|entry| entry.term));
        }
        let is_within = |entry: &Entry| self.band.contains(&entry.df);
        if weight == Weight::Levels {
            ranked.clear();
            ranked.extend(entries.iter().filter(|entry| is_within(entry)).map(Entry::tf_idf));
            ranked.sort_unstable_by_key(|&tf_idf| Reverse(tf_idf));
        }
        let weigh = |entry: &Entry| match weight {
            _ if !is_within(entry) => 0,
            Weight::Tf | Weight::Binary | Weight::LogTf => of_occurrences(weight, entry.tf),
            Weight::Idf => entry.idf,
            Weight::TfIdf => saturated(entry.tf_idf()),
            Weight::LogTfIdf => saturated(u64::from(log_tf(entry.tf)) * u64::from(entry.idf)),
            Weight::Levels => {
                let rank = ranked.partition_point(|&tf_idf| tf_idf > entry.tf_idf());
                5 - (5 * rank / ranked.len()) as u32
            }
        };
        weights.clear();
        weights.extend(entries.iter().map(weigh));
    }
}

/// The weight of a term that occurs so often, where no collection matters.
fn of_occurrences(weight: Weight, tf: u32) -> u32 {
    match weight {
        Weight::Binary => 1,
        Weight::LogTf => log_tf(tf),
        _ => tf,
    }
}

fn saturated(weight: u64) -> u32 {
    u32::try_from(weight).unwrap_or(u32::MAX)
}

/// [`log_tf`] of what most terms have.
const LOG_TF: [u32; 64] = {
    let mut table = [0; 64];
    let mut tf = 1;
    while tf < table.len() {
        table[tf] = exact_log_tf(tf as u32);
        tf += 1;
    }
    table
};

/// 256 × (1 + log₂ tf), rounded half up; tf is at least 1.
fn log_tf(tf: u32) -> u32 {
    LOG_TF.get(tf as usize).copied().unwrap_or_else(|| exact_log_tf(tf))
}

/// By integers, since the last bit of a logarithm differs between platforms.
const fn exact_log_tf(tf: u32) -> u32 {
    let mut log = tf.ilog2();
    // A number from 1 to 2 with 63 binary places, whose squares give a digit each.
    let mut number = (tf as u64) << (63 - log);
    let mut digit = 0;
    while digit < 9 {
        let square = number as u128 * number as u128;
        let is_two = (square >> 127) as u32;
        number = (square >> (63 + is_two)) as u64;
        log = 2 * log + is_two;
        digit += 1;
    }
    256 + log.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::hash;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn weighting(options: &str) -> Weighting {
        let mut options = Options::parse(options).unwrap();
        let weight = Weight::parse(&mut options).unwrap();
        let weighting = Weighting::parse(weight, &mut options).unwrap();
        assert_eq!(options.first(), None);
        weighting
    }

    fn weigh(options: &str, frequencies: Frequencies, terms: &[u64]) -> Vec<(u64, u32)> {
        let weigher = Weigher::new(weighting(options), Arc::new(frequencies));
        let (mut distinct, mut weights) = (terms.to_vec(), Weights::default());
        // What was left from another document does not matter.
        weigher.weigh(&mut vec![7, 7, 8], &mut weights);
        weigher.weigh(&mut distinct, &mut weights);
        assert_eq!(distinct.len(), weights.weights.len());
        let mut weighed: Vec<_> = distinct.into_iter().zip(weights.weights).collect();
        weighed.sort_unstable();
        weighed
    }

    #[expect(clippy::cast_sign_loss, reason = "tf is 1 or more")]
    fn slow_log_tf(tf: u32) -> u32 {
        (256.0 * (1.0 + f64::from(tf).log2())).round() as u32
    }

    #[test]
    fn logarithms_are_rounded() {
        assert_eq!([1, 2, 3, 4].map(log_tf), [256, 512, 662, 768]);
        for tf in (1..3000).chain([65_535, 1 << 20, u32::MAX]) {
            assert_eq!(log_tf(tf), slow_log_tf(tf), "{tf}");
        }
    }

    /// The words of a text of the tutorial, with what jieba's table makes of them.
    const TUTORIAL: [(&str, u32, u32); 6] = [
        ("指纹", 2, 10336),
        ("文本", 2, 9160),
        ("近似", 2, 7879),
        ("哈希", 1, 12242),
        ("重复", 1, 7083),
        ("检测", 1, 7018),
    ];

    /// The tutorial's words in its order, with their weights.
    fn tutorial(options: &str) -> Vec<u32> {
        let (mut terms, mut known) = (Vec::new(), Vec::new());
        for (word, tf, idf) in TUTORIAL {
            let term = hash(word.as_bytes());
            terms.extend(std::iter::repeat_n(term, tf as usize));
            known.push((term, 2, idf));
        }
        known.sort_unstable();
        let frequencies = Frequencies::of_known(100, &known);
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
        let frequencies = || Frequencies::of_known(10, &[(1, 2, 50), (2, 4, 40), (3, 9, 30)]);
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
            ("top=0", "top 0: must be a whole number from 1 on"),
            ("idf_band=3", "idf_band 3: must be"),
        ] {
            let mut options = Options::parse(text).unwrap();
            let weight = Weight::parse(&mut options);
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
            let frequencies = || Frequencies::of_known(1000, &known);
            let mut counts = BTreeMap::new();
            for &term in &terms {
                *counts.entry(term).or_insert(0_u32) += 1;
            }
            let all: Vec<(u64, u32)> = counts.iter().map(|(&term, &tf)| (term, tf)).collect();
            let idf = |term: u64| frequencies().of(term).1;
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
