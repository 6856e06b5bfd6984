//! Kinds of fingerprints: their names and options, their settings, and the computation of fingerprints.

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
    /// Options of this kind that methods without fingerprints do not have. Other kinds of fingerprints may have some of
    /// these options, too.
    pub options: &'static [SketchOption],
    /// Names of the other options of this kind, for example `weight` or `similarity`. Methods without fingerprints have
    /// these options, too.
    pub shared_options: &'static [&'static str],
    /// Default values that this kind gives to other options, for example `("shingle", "1")`.
    pub defaults: &'static [(&'static str, &'static str)],
    /// Removes the options of this kind from the argument, and creates the sketch (this kind of fingerprint with its
    /// settings) that they describe.
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
    /// Placeholder for the value in help texts, for example `COUNT`, or the only possible values, for example
    /// `own|shared`.
    pub value: &'static str,
    /// Description for help texts: a phrase that includes the default.
    pub help: &'static str,
}

/// Maximum number of bits in which near-duplicates may differ if the user gives no maximum distance.
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

    /// Returns the maximum distance of near-duplicates that is used if the user gives no maximum distance.
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
    pub(crate) words: Vec<u64>,
    pub(crate) counts: BitCounts,
    pub(crate) minima: Vec<u32>,
    pub(crate) marks: Vec<u64>,
    pub(crate) terms: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) distinct: DistinctTerms,
    pub(crate) weights: BitWeightSums,
    pub(crate) kept_weights: Vec<u32>,
    /// Hashes of the terms of a document and a seed. They replace the terms in a [`Seeded`](crate::seeded::Seeded)
    /// sketch.
    pub(crate) seeded: Vec<u64>,
}
