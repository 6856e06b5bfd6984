//! Turns the features of documents into fingerprints. Each kind of fingerprint has a file of its
//! own.
//!
//! A [`Sketch`] is a kind of fingerprint with its settings. It knows the shape of its fingerprints
//! and the meaning of their distances. It creates the [`Sketcher`] that computes the fingerprints.
//! [`SKETCHES`] lists the kinds. The parser of options, the help of the command line and error
//! messages read this table. To add a kind, write its file with a [`SketchKind`] and add that value
//! to the table.

pub mod file;

pub mod hash_table;
pub mod hashed_simhash;
pub mod i_match;
pub mod min_hash;
pub mod multi_lexicon;
mod random_lexicon;
pub mod seeded;
pub mod table_simhash;

use simtool_base::error::Result;
use simtool_base::options::Options;
use simtool_kernels::Isa;
use simtool_kernels::bit_majority::BitCounts;
use simtool_kernels::weighted_majority::BitWeightSums;
use simtool_model::distinct_terms::DistinctTerms;
use simtool_model::features::Features;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::similarity::Threshold;
use std::fmt::Debug;
use std::sync::Arc;

/// A kind of fingerprint that can be selected by name.
#[derive(Clone, Copy, Debug)]
pub struct SketchKind {
    /// Name that options use, for example `simhash`.
    pub name: &'static str,
    /// Description for help texts. Option names are in backquotes.
    pub help: &'static str,
    /// Options of this kind that methods without fingerprints lack. Another kind may have some of
    /// these options, too.
    pub options: &'static [SketchOption],
    /// Names of the options of this kind that methods without fingerprints have, too: `weight` or
    /// `similarity`.
    pub shared_options: &'static [&'static str],
    /// Default values that this kind gives to other options, for example `("shingle", "1")`.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Removes the options of this kind from the argument, and creates the sketch that they
    /// describe.
    pub parse: fn(&mut Options) -> Result<Arc<dyn Sketch>>,
}

impl SketchKind {
    /// Whether this kind of fingerprint has an option called `name`.
    #[must_use]
    pub fn has_option(&self, name: &str) -> bool {
        self.option_names().any(|known| known == name)
    }

    /// Returns the names of all options of this kind of fingerprint.
    pub fn option_names(&self) -> impl Iterator<Item = &'static str> {
        let own = self.options.iter().map(|option| option.name);
        own.chain(self.shared_options.iter().copied())
    }
}

/// An option that belongs to one or several kinds of fingerprints.
#[derive(Clone, Copy, Debug)]
pub struct SketchOption {
    /// Name of the option, for example `lexicon_share`. Other kinds may have an option with this
    /// name, too.
    pub name: &'static str,
    /// Placeholder for the value in help texts, for example `COUNT`.
    pub value: &'static str,
    /// Description for help texts: a phrase that includes the default.
    pub help: &'static str,
}

/// All kinds of fingerprints.
pub const SKETCHES: &[SketchKind] =
    &[hashed_simhash::KIND, multi_lexicon::KIND, min_hash::KIND, i_match::KIND];

/// Maximum number of bits in which near-duplicates may differ if the user gives none.
const MAX_DISTANCE: u32 = 3;

/// A kind of fingerprint with its settings.
pub trait Sketch: Debug + Send + Sync {
    /// Returns the width of the fingerprints and the way in which they are compared.
    fn shape(&self) -> Shape;

    /// Returns a short text that identifies how fingerprints are made from features. Fingerprints
    /// can be compared only if their recipes are equal.
    fn recipe(&self) -> String;

    /// Returns the names and values of the options that describe this sketch.
    fn parameters(&self) -> Vec<(&'static str, String)>;

    /// Returns a distance that unrelated documents often have. The maximum distance of
    /// near-duplicates must be below it.
    fn distance_of_strangers(&self) -> u32;

    /// Returns the maximum distance of near-duplicates that is used if the user gives none.
    fn default_distance(&self) -> u32 {
        MAX_DISTANCE
    }

    /// Returns the average distance of two documents with this similarity. Returns `None` if
    /// distances of this kind do not measure a similarity.
    fn distance_at(&self, _similarity: Threshold) -> Option<u32> {
        None
    }

    /// Returns a sentence that explains a distance between two documents. `features` names their
    /// features, for example `shingles (words:3)`.
    fn meaning(&self, distance: u32, features: &str) -> String;

    /// Creates the value that computes fingerprints with the given instruction set.
    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher>;
}

/// Computes the fingerprints of documents. All threads share one sketcher.
pub trait Sketcher: Send + Sync {
    /// Writes the fingerprint of a document to `row` and returns `true`. Returns `false` if the
    /// document has no fingerprint, and then the content of `row` is undefined.
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool;
}

/// Buffers that a thread reuses between documents, to avoid allocations.
#[derive(Debug, Default)]
pub struct Scratch {
    words: Vec<u64>,
    counts: BitCounts,
    minima: Vec<u32>,
    marks: Vec<u64>,
    terms: Vec<u64>,
    bytes: Vec<u8>,
    distinct: DistinctTerms,
    weights: BitWeightSums,
    kept_weights: Vec<u32>,
    /// Terms that are hashed with a seed.
    seeded: Vec<u64>,
}

/// Slow twin of the weighted majority in fingerprints: returns the weighted majority of each bit of
/// `words`. A tie gives 0.
#[cfg(test)]
fn weighted_majority(words: impl Iterator<Item = (u64, u32)>) -> u64 {
    let mut with_bit = [0_u64; 64];
    let mut total = 0_u64;
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

/// Returns the terms with a weight above 0. If these are not all terms, they are copied to `words`.
fn weighty_terms<'t>(features: &Features<'t>, words: &'t mut Vec<u64>) -> &'t [u64] {
    let Some(weights) = features.weights else { return features.terms };
    let weighed = features.terms.iter().zip(weights).filter(|&(_, &weight)| weight > 0);
    words.clear();
    words.extend(weighed.map(|(&term, _)| term));
    words
}

/// Returns the weights of the terms, or `None` if every term counts with the weight 1.
fn unequal_weights<'t>(features: &Features<'t>) -> Option<&'t [u32]> {
    // Counting bits without weights is much faster, and weights of 1 give the same majority.
    features.weights.filter(|given| given.iter().any(|&weight| weight != 1))
}

/// Whether any term has a weight above 0.
fn is_weighty(features: &Features<'_>) -> bool {
    match features.weights {
        None => !features.terms.is_empty(),
        Some(weights) => weights.iter().any(|&weight| weight > 0),
    }
}

/// Terms of "a rose is a rose is a rose". Tests compare their fingerprints with known values.
#[cfg(test)]
mod rose {
    use simtool_base::stable_hash::{SHINGLE_BASE, hash, mix};

    /// Returns the hash of each word of the sentence.
    pub(super) fn tokens() -> Vec<u64> {
        "a rose is a rose is a rose".split(' ').map(|word| hash(word.as_bytes())).collect()
    }

    /// Returns the hashes of the sentence's shingles of three words.
    pub(super) fn shingles() -> Vec<u64> {
        let sum = |run: &[u64]| {
            run.iter().fold(0_u64, |sum, &x| sum.wrapping_mul(SHINGLE_BASE).wrapping_add(x))
        };
        tokens().windows(3).map(|run| mix(sum(run))).collect()
    }
}
