//! Features → one fingerprint. One file per method.
//!
//! A method is a [`Sketch`]: what it is called, which rows it makes, and what their distances mean.
//! It reads its own options and makes a [`Sketcher`], which all threads share. To add one, write its
//! file and name it in [`SKETCHES`].

pub mod hash_table;
pub mod hashed_simhash;
pub mod i_match;
pub mod min_hash;
pub mod multi_lexicon;
mod random_lexicon;
pub mod table_simhash;

use crate::distinct_terms::DistinctTerms;
use crate::error::Result;
use crate::features::Features;
use crate::fingerprint_rows::Shape;
use crate::kernels::Isa;
use crate::kernels::bit_majority::BitCounts;
use crate::kernels::weighted_majority::BitWeights;
use crate::options::Options;
use crate::similarity::Threshold;
use std::fmt::Debug;
use std::sync::Arc;

/// A kind of fingerprint that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct SketchKind {
    /// Its name.
    pub name: &'static str,
    /// What it is good for, in a sentence.
    pub help: &'static str,
    /// The names of its options, with `weight` where it matters how much a term counts.
    pub options: &'static [&'static str],
    /// What other options are where they are not given: those of the terms that suit it.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Takes its options and makes the sketch.
    pub parse: fn(&mut Options) -> Result<Arc<dyn Sketch>>,
}

/// Every kind that can be asked for by name.
pub const SKETCHES: &[SketchKind] =
    &[hashed_simhash::KIND, multi_lexicon::KIND, min_hash::KIND, i_match::KIND];

/// Most differing units, where no limit is given.
const MAX_DISTANCE: u32 = 3;

/// How features become a row, with its settings.
pub trait Sketch: Debug + Send + Sync {
    /// What its rows look like and how they are compared.
    fn shape(&self) -> Shape;

    /// All that a row depends on beside the features, in short: rows of different recipes do not
    /// compare.
    fn recipe(&self) -> String;

    /// Its options with their values, as its kind reads them.
    fn parameters(&self) -> Vec<(&'static str, String)>;

    /// The distance from which unlike documents are no exception any more: limits are below it.
    fn distance_of_strangers(&self) -> u32;

    /// The distance of near-duplicates, where none is given.
    fn default_distance(&self) -> u32 {
        MAX_DISTANCE
    }

    /// The distance that documents of this similarity have on average, if it is similarity that
    /// distances measure.
    fn distance_at(&self, _similarity: Threshold) -> Option<u32> {
        None
    }

    /// What `distance` says of two documents, in a sentence; `features` is what they are made of.
    fn meaning(&self, distance: u32, features: &str) -> String;

    /// What makes the rows, on `isa`.
    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher>;
}

/// Makes rows; shared by all threads.
pub trait Sketcher: Send + Sync {
    /// Fills `row` and answers `true`; or answers `false` where the features have no fingerprint,
    /// and `row` then means nothing.
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool;
}

/// Memory of one thread, reused from document to document.
#[derive(Debug, Default)]
pub struct Scratch {
    words: Vec<u64>,
    counts: BitCounts,
    minima: Vec<u32>,
    marks: Vec<u64>,
    terms: Vec<u64>,
    bytes: Vec<u8>,
    distinct: DistinctTerms,
    weights: BitWeights,
    kept_weights: Vec<u32>,
}

/// The bits that words of more than half of the weight have, a tie giving 0: the slow way.
#[cfg(test)]
fn weighted_majority(words: impl Iterator<Item = (u64, u32)>) -> u64 {
    let (mut with_bit, mut total) = ([0_u64; 64], 0_u64);
    for (word, weight) in words {
        let weight = u64::from(weight);
        total += weight;
        for (bit, sum) in with_bit.iter_mut().enumerate() {
            *sum += weight * (word >> bit & 1);
        }
    }
    let bit = |(bit, &sum): (usize, &u64)| u64::from(2 * sum > total) << bit;
    with_bit.iter().enumerate().map(bit).sum()
}

/// The terms that weigh something, in `words` if those are not all.
fn weighty_terms<'t>(features: &Features<'t>, words: &'t mut Vec<u64>) -> &'t [u64] {
    let Some(weights) = features.weights else { return features.terms };
    let weighed = features.terms.iter().zip(weights).filter(|&(_, &weight)| weight > 0);
    words.clear();
    words.extend(weighed.map(|(&term, _)| term));
    words
}

/// The weights, unless each is 1: then there is nothing to weigh.
fn unequal_weights<'t>(features: &Features<'t>) -> Option<&'t [u32]> {
    features.weights.filter(|given| given.iter().any(|&weight| weight != 1))
}

/// Whether any term weighs something.
fn is_weighty(features: &Features<'_>) -> bool {
    match features.weights {
        None => !features.terms.is_empty(),
        Some(weights) => weights.iter().any(|&weight| weight > 0),
    }
}

/// The terms of "a rose is a rose is a rose", of which the golden values are.
#[cfg(test)]
mod rose {
    use crate::stable_hash::{SHINGLE_BASE, hash, mix};

    /// Its words.
    pub(super) fn tokens() -> Vec<u64> {
        "a rose is a rose is a rose".split(' ').map(|word| hash(word.as_bytes())).collect()
    }

    /// Its shingles of three words.
    pub(super) fn shingles() -> Vec<u64> {
        let sum = |run: &[u64]| {
            run.iter().fold(0_u64, |sum, &x| sum.wrapping_mul(SHINGLE_BASE).wrapping_add(x))
        };
        tokens().windows(3).map(|run| mix(sum(run))).collect()
    }
}
