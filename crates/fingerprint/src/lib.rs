//! Turns features into fingerprints. Each kind of fingerprint has a file of its own.
//!
//! A [`Sketch`] is a kind of fingerprint with its settings. It knows the shape of its rows and the
//! meaning of their distances, and it creates the [`Sketcher`] that makes the rows. [`SKETCHES`]
//! lists the kinds. The parser of options, the help of the command line and error messages read
//! this table. To add a kind, write its file with a [`SketchKind`] and add that kind to the table.

pub mod file;

pub mod hash_table;
pub mod hashed_simhash;
pub mod i_match;
pub mod min_hash;
pub mod multi_lexicon;
mod random_lexicon;
pub mod table_simhash;

use simtool_base::error::Result;
use simtool_base::options::Options;
use simtool_kernels::Isa;
use simtool_kernels::bit_majority::BitCounts;
use simtool_kernels::weighted_majority::BitWeights;
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
    /// Options that only kinds of fingerprints have.
    pub options: &'static [SketchOption],
    /// Names of options of other methods that this kind has, too: `weight` or `similarity`.
    pub shared_options: &'static [&'static str],
    /// Defaults of options of the terms that suit this kind.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Takes the options of this kind and creates the sketch.
    pub parse: fn(&mut Options) -> Result<Arc<dyn Sketch>>,
}

impl SketchKind {
    /// Whether the kind has an option called `name`.
    #[must_use]
    pub fn has_option(&self, name: &str) -> bool {
        self.option_names().any(|known| known == name)
    }

    /// Names of all options of the kind.
    pub fn option_names(&self) -> impl Iterator<Item = &'static str> {
        let own = self.options.iter().map(|option| option.name);
        own.chain(self.shared_options.iter().copied())
    }
}

/// An option of a kind of fingerprint.
#[derive(Clone, Copy, Debug)]
pub struct SketchOption {
    /// Name of the option, for example `lexicon_share`. Several kinds may have an option of this name.
    pub name: &'static str,
    /// Word for the value in help texts, for example `COUNT`.
    pub value: &'static str,
    /// Description for help texts: a phrase that includes the default.
    pub help: &'static str,
}

/// All kinds of fingerprints.
pub const SKETCHES: &[SketchKind] =
    &[hashed_simhash::KIND, multi_lexicon::KIND, min_hash::KIND, i_match::KIND];

/// Maximum distance of near-duplicates if the user gives none.
const MAX_DISTANCE: u32 = 3;

/// A kind of fingerprint with its settings.
pub trait Sketch: Debug + Send + Sync {
    /// Returns the shape of the rows, which includes how they are compared.
    fn shape(&self) -> Shape;

    /// Returns a short text that identifies how rows are made from features. Rows with different
    /// recipes cannot be compared.
    fn recipe(&self) -> String;

    /// Returns the options and values from which the kind makes the same sketch.
    fn parameters(&self) -> Vec<(&'static str, String)>;

    /// Returns the distance that unrelated documents often have. Limits must be below it.
    fn distance_of_strangers(&self) -> u32;

    /// Returns the maximum distance of near-duplicates if the user gives none.
    fn default_distance(&self) -> u32 {
        MAX_DISTANCE
    }

    /// Returns the average distance of documents with this similarity, if distances of this kind
    /// measure similarity.
    fn distance_at(&self, _similarity: Threshold) -> Option<u32> {
        None
    }

    /// Describes in a sentence what `distance` means for two documents. `features` describes their
    /// features.
    fn meaning(&self, distance: u32, features: &str) -> String;

    /// Creates the maker of rows for an instruction set.
    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher>;
}

/// Makes rows from features. All threads share one sketcher.
pub trait Sketcher: Send + Sync {
    /// Fills `row` and returns `true`. Returns `false` if the features have no fingerprint; the
    /// content of `row` is then undefined.
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool;
}

/// Buffers of one thread that are reused between documents.
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

/// Computes the weighted majority of each bit slowly. A tie gives 0.
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

/// Returns the terms with a weight above 0. Uses `words` as the buffer if these are not all terms.
fn weighty_terms<'t>(features: &Features<'t>, words: &'t mut Vec<u64>) -> &'t [u64] {
    let Some(weights) = features.weights else { return features.terms };
    let weighed = features.terms.iter().zip(weights).filter(|&(_, &weight)| weight > 0);
    words.clear();
    words.extend(weighed.map(|(&term, _)| term));
    words
}

/// Returns the weights, unless all are 1.
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

/// Terms of "a rose is a rose is a rose", from which the golden values are made.
#[cfg(test)]
mod rose {
    use simtool_base::stable_hash::{SHINGLE_BASE, hash, mix};

    /// Returns the hashes of its words.
    pub(super) fn tokens() -> Vec<u64> {
        "a rose is a rose is a rose".split(' ').map(|word| hash(word.as_bytes())).collect()
    }

    /// Returns its shingles of three words.
    pub(super) fn shingles() -> Vec<u64> {
        let sum = |run: &[u64]| {
            run.iter().fold(0_u64, |sum, &x| sum.wrapping_mul(SHINGLE_BASE).wrapping_add(x))
        };
        tokens().windows(3).map(|run| mix(sum(run))).collect()
    }
}
