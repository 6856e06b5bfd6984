//! MinHash: the smallest hashes of a set of terms under many hash functions. The fraction of the
//! minima that two sets share estimates their Jaccard similarity.
//!
//! A lane is a group of adjacent bits that holds the lowest bits of one minimum. Lanes of β bits of
//! unrelated sets agree by chance in one of 2^β cases. How often a term occurs does not matter.
//!
//! If the row also stores the size of the set, a cosine can be estimated from two rows. For sets of different sizes,
//! the cosine is greater than the Jaccard similarity. So it distinguishes better between unrelated documents and
//! revisions that have become longer.
//!
//! # References
//! A. Broder. On the resemblance and containment of documents. SEQUENCES 1997.
//! P. Li, A. C. König. b-Bit minwise hashing. WWW 2010.
//! P. Li, A. Owen, C.-H. Zhang. One permutation hashing. NIPS 2012.
//! A. Shrivastava. Optimal densification for fast and accurate minwise hashing. ICML 2017.

use super::sketch::{Scratch, Sketch, SketchKind, SketchOption, Sketcher};
use super::term_weights::weighty_terms;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::stable_hash::{GAMMA, mix, row_word};
use simtool_kernels::Isa;
use simtool_kernels::min_hash::{EMPTY_BIN, HashFunctions, one_permutation};
use simtool_model::features::Features;
use simtool_model::fingerprint_rows::{SIZE_BITS, Shape, size_code};
use simtool_model::similarity::Threshold;
use std::sync::Arc;

/// MinHash as an entry of [`SKETCHES`](super::SKETCHES), the table of kinds of fingerprints.
pub(crate) const KIND: SketchKind = SketchKind {
    name: "minhash",
    help: "All pairs whose MinHash fingerprints are as similar as those of sets with `similarity` are \
           on average. Better than simhash of the same size if near-duplicates differ much",
    options: &[
        SketchOption {
            name: "lanes",
            value: "COUNT",
            help: "number of lanes, which hold one minimum each [default: as many as fit into 64 bytes]",
        },
        SketchOption {
            name: "bits",
            value: "BITS",
            help: "bits of a lane, 1, 2, 4, 8, 16 or 32 [default: 4]",
        },
        SketchOption {
            name: "hashing",
            value: "one-permutation|classical",
            help: "one-permutation computes one hash per shingle, classical one per shingle and lane \
                   [default: one-permutation]",
        },
        SketchOption {
            name: "measure",
            value: "jaccard|cosine",
            help: "what distances measure, jaccard (lanes that differ) or cosine (thousandths below \
                   1, estimated from the lanes and the sizes of the sets) [default: cosine, or jaccard where \
                   only that allows the lanes]",
        },
    ],
    shared_options: &["similarity"],
    defaults: &[("shingle", "chars:7")],
    parse: |options| Ok(Arc::new(MinHash::parse(options)?)),
};

/// Maximum number of lanes in a fingerprint. Each lane holds the smallest hash of one hash function
/// or of one bin.
const MOST_LANES: u32 = 4096;
/// Number of bits of a fingerprint if the option `lanes` is missing.
const ROW_BITS: u32 = 512;
/// Smallest usual distance of unrelated documents by [`EstimatedMeasure::Cosine`], in thousandths. Distances of
/// unrelated documents are rarely below it. 900 means a cosine of 0.1.
const COSINE_OF_STRANGERS: u32 = 900;
/// Number of bits per term in the bit field that [`distinct`] uses to count distinct terms.
const MARKS_A_TERM: usize = 16;
/// Number that is added to the state of a random generator for each bin that an empty bin tries. An empty bin takes the
/// value of the first tried bin that is not empty (see [`densify`]).
const DONOR_STEP: u64 = 0xBF58_476D_1CE4_E5B9;
/// State of the random generator for bin 0. If the bin is empty, [`densify`] computes from this state which other bins
/// it tries.
const DONOR_START: u64 = 0x1F83_D9AB_FB41_BD6B;

/// Way of computing the minimum of each lane, which is a group of bits that holds one minimum of hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// One hash function. Its range is divided into one bin per lane, and a lane holds the smallest
    /// hash in its bin. A bin without a hash takes the value of another bin. The number of the
    /// empty bin decides in which order other bins are tried.
    OnePermutation,
    /// One hash function for each lane, whose smallest hash the lane holds.
    Classical,
}

impl Hashing {
    fn name(self) -> &'static str {
        match self {
            Self::OnePermutation => "one-permutation",
            Self::Classical => "classical",
        }
    }
}

/// The similarity that distances between fingerprints measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EstimatedMeasure {
    /// The distance is the number of lanes that differ. It measures the Jaccard similarity.
    Jaccard,
    /// The distance is 1 minus the cosine, in thousandths. The cosine is estimated from the hashes and sizes of the two
    /// sets, which the fingerprints hold.
    Cosine,
}

impl EstimatedMeasure {
    fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Cosine => "cosine",
        }
    }

    /// Returns the measure if the user chooses none. It is the cosine, if `lanes` lanes of `bits` bits and the size of
    /// the set can fill whole 64-bit words. It is the Jaccard similarity if only lanes without the size can. Without
    /// `lanes`, their number is chosen later to fill the words.
    fn usual(lanes: Option<u32>, bits: u32) -> Self {
        let fills = |above: u32| {
            let bits_of = |lanes| u64::from(lanes) * u64::from(bits) + u64::from(above);
            lanes.is_none_or(|lanes| bits_of(lanes).is_multiple_of(u64::from(u64::BITS)))
        };
        // If neither measure allows the lanes, the error names the numbers of the usual one.
        if (bits <= SIZE_BITS && fills(SIZE_BITS)) || !fills(0) {
            Self::Cosine
        } else {
            Self::Jaccard
        }
    }
}

/// Settings of MinHash fingerprints, which hold the smallest hashes of a document's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MinHash {
    lanes: u32,
    bits: u32,
    hashing: Hashing,
    measure: EstimatedMeasure,
}

impl Default for MinHash {
    /// Returns the default settings: 124 lanes of 4 bits from one hash function, and 16 bits for
    /// the size of the set. A fingerprint then has 64 bytes.
    fn default() -> Self {
        let hashing = Hashing::OnePermutation;
        let measure = EstimatedMeasure::Cosine;
        Self { lanes: (ROW_BITS - SIZE_BITS) / 4, bits: 4, hashing, measure }
    }
}

impl MinHash {
    /// Creates MinHash from its options, and removes them from `options`. The options are `lanes` (their number),
    /// `bits` (of a lane), `hashing` (`one-permutation` or `classical`) and `measure` (`jaccard` or `cosine`).
    ///
    /// # Errors
    ///
    /// A value is outside its range, or a fingerprint would not consist of whole 64-bit words.
    pub(crate) fn parse(options: &mut Options) -> Result<Self> {
        let whole = "must be a whole number";
        let Self { bits, hashing, .. } = Self::default();
        let bits = options.take_parsed("bits", whole)?.unwrap_or(bits);
        let hashing = match options.take("hashing").as_deref() {
            None => hashing,
            Some("one-permutation") => Hashing::OnePermutation,
            Some("classical") => Hashing::Classical,
            Some(other) => {
                return Err(Error::config(
                    "hashing",
                    other,
                    "must be one-permutation or classical",
                ));
            }
        };
        let lanes = options.take_parsed("lanes", whole)?;
        let measure = match options.take("measure").as_deref() {
            None => EstimatedMeasure::usual(lanes, bits),
            Some("jaccard") => EstimatedMeasure::Jaccard,
            Some("cosine") => EstimatedMeasure::Cosine,
            Some(other) => {
                return Err(Error::config("measure", other, "must be jaccard or cosine"));
            }
        };
        // A row with the size of the set has less room for lanes.
        let (most_bits, above) = match measure {
            EstimatedMeasure::Jaccard => (u32::BITS, 0),
            EstimatedMeasure::Cosine => (SIZE_BITS, SIZE_BITS),
        };
        if !bits.is_power_of_two() || bits > most_bits {
            let rule =
                format!("must be 1, 2, 4 or another power of 2 up to {most_bits} for a lane");
            return Err(Error::config("bits", bits, rule));
        }
        let lanes = lanes.unwrap_or((ROW_BITS - above) / bits);
        // Rows must be whole words, because joins compare words.
        let fills = |lanes: u32| (lanes * bits + above).is_multiple_of(u64::BITS);
        if !(1..=MOST_LANES).contains(&lanes) || !fills(lanes) {
            return Err(Error::config("lanes", lanes, lanes_rule(lanes, bits, above)));
        }
        Ok(Self { lanes, bits, hashing, measure })
    }

    /// Returns the average fraction of lanes in which the fingerprints of two sets with this Jaccard similarity agree.
    fn agreement(&self, similarity: f64) -> f64 {
        let by_chance = 0.5_f64.powi(self.bits.cast_signed());
        by_chance + (1.0 - by_chance) * similarity
    }
}

/// Returns the rule for the number of lanes, for error messages. It names two allowed numbers near `lanes`. A lane has
/// `bits` bits, and a row has `above` bits that belong to no lane.
fn lanes_rule(lanes: u32, bits: u32, above: u32) -> String {
    let of_words = |words: u32| (words * u64::BITS - above) / bits;
    let most = (MOST_LANES * bits + above) / u64::BITS;
    let row_bits = u64::from(lanes) * u64::from(bits) + u64::from(above);
    let below = u32::try_from(row_bits / u64::from(u64::BITS)).unwrap_or(most).clamp(1, most - 1);
    let [below, next] = [below, below + 1].map(of_words);
    format!(
        "must be {below}, {next} or another number up to {MOST_LANES} whose rows fill whole 64-bit words"
    )
}

impl Sketch for MinHash {
    fn shape(&self) -> Shape {
        let Self { lanes, bits, measure, .. } = *self;
        match measure {
            EstimatedMeasure::Jaccard => Shape::lanes(lanes, bits),
            EstimatedMeasure::Cosine => Shape::cosine((lanes * bits + SIZE_BITS) / u64::BITS, bits),
        }
    }

    fn recipe(&self) -> String {
        let Self { lanes, bits, hashing, measure } = self;
        format!("minhash{lanes}x{bits}-{}-{}", hashing.name(), measure.name())
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("lanes", self.lanes.to_string()),
            ("bits", self.bits.to_string()),
            ("hashing", self.hashing.name().to_owned()),
            ("measure", self.measure.name().to_owned()),
        ]
    }

    fn distance_of_strangers(&self) -> u32 {
        if self.measure == EstimatedMeasure::Cosine {
            return COSINE_OF_STRANGERS;
        }
        // Unrelated documents agree by chance in one of 2^bits lanes.
        // A shift by 32 bits would overflow, and no fingerprint has 2³¹ lanes.
        (self.lanes - (self.lanes >> self.bits.min(31))).max(1)
    }

    fn default_distance(&self) -> u32 {
        let least = match self.measure {
            EstimatedMeasure::Jaccard => Threshold::DEFAULT,
            EstimatedMeasure::Cosine => Threshold::DEFAULT_COSINE,
        };
        self.distance_at(least).unwrap_or(0)
    }

    /// Returns the average distance of two sets with this similarity. For Jaccard, the number of
    /// equal lanes is lanes × (2^-β + (1 - 2^-β) × similarity), rounded up, for lanes of β bits.
    /// Integer arithmetic makes it the same on every machine.
    fn distance_at(&self, similarity: Threshold) -> Option<u32> {
        let (numerator, denominator) = similarity.fraction();
        let lanes = u128::from(self.lanes);
        let values = 1_u128 << self.bits;
        let numerator = u128::from(numerator);
        let denominator = u128::from(denominator);
        if self.measure == EstimatedMeasure::Cosine {
            let units = self.shape().units();
            // The result is not above `units`, because the similarity is at most 1.
            return Some(units - (u128::from(units) * numerator).div_ceil(denominator) as u32);
        }
        let agreeing = lanes * (denominator + (values - 1) * numerator);
        // The result is not above `lanes`, because the similarity is at most 1.
        Some(self.lanes - agreeing.div_ceil(values * denominator) as u32)
    }

    fn meaning(&self, distance: u32, _features: &str) -> String {
        let Self { lanes, bits, measure, .. } = *self;
        if measure == EstimatedMeasure::Cosine {
            return format!(
                "Documents at distance {distance} have on average a cosine of {:.3} between their sets, \
                 by {lanes} lanes of {bits} bits and their sizes.",
                1.0 - f64::from(distance) / f64::from(self.shape().units())
            );
        }
        let agreement = 1.0 - f64::from(distance) / f64::from(lanes);
        let by_chance = self.agreement(0.0);
        let similarity = ((agreement - by_chance) / (1.0 - by_chance)).max(0.0);
        format!(
            "Documents that differ in {distance} of {lanes} lanes of {bits} bits have on average a \
             Jaccard similarity of {similarity:.3}."
        )
    }

    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher> {
        let functions = match self.hashing {
            Hashing::OnePermutation => None,
            Hashing::Classical => {
                // Each function has an odd factor and a summand, so it is a bijection.
                let step = |count| mix(GAMMA.wrapping_mul(count));
                let pair = |lane| (step(2 * lane + 1) | 1, step(2 * lane + 2));
                let pairs: Vec<_> = (0..u64::from(self.lanes)).map(pair).collect();
                Some(HashFunctions::new(&pairs))
            }
        };
        let has_size = self.measure == EstimatedMeasure::Cosine;
        Box::new(MinHasher {
            lanes: self.lanes as usize,
            bits: self.bits,
            has_size,
            functions,
            isa,
        })
    }
}

struct MinHasher {
    lanes: usize,
    bits: u32,
    has_size: bool,
    /// One hash function for each lane, or `None` for [`Hashing::OnePermutation`].
    functions: Option<HashFunctions>,
    isa: Isa,
}

impl Sketcher for MinHasher {
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool {
        let Scratch { words, minima, marks, .. } = scratch;
        let terms = weighty_terms(features, words);
        if terms.is_empty() {
            return false;
        }
        // Both ways are defined for sets. A repeated term has the same hash and cannot change a
        // minimum, so terms need not be distinct.
        if let Some(functions) = &self.functions {
            functions.minima(self.isa, terms, minima);
        } else {
            minima.clear();
            minima.resize(self.lanes, EMPTY_BIN);
            if terms.iter().all(|term| *term == terms[0]) {
                fill_from_term(terms[0], minima);
            } else {
                one_permutation(terms, minima);
                densify(minima, marks);
            }
        }
        pack(minima, self.bits, row);
        if self.has_size
            && let Some(last) = row.last_mut()
        {
            // Weighed terms are distinct already. Otherwise occurrences repeat, and counting them
            // exactly would cost more than the minima.
            let is_set = features.weights.is_some();
            let size = if is_set { terms.len() as u64 } else { distinct(terms, marks) };
            *last |= size_code(size) << (u64::BITS - SIZE_BITS);
        }
        true
    }
}

/// Fills all bins with values that depend on `term`, the only term of a set. A bin holds the smallest hash in its range
/// of hash values, so one term fills only one bin. If the other bins copied its value, sets of one term would agree in
/// all lanes of 4 bits with one in sixteen other sets.
fn fill_from_term(term: u64, bins: &mut [u32]) {
    for (index, bin) in (1..).zip(bins) {
        // The values are below the value of an empty bin.
        *bin = (row_word(term, index) >> 33) as u32;
    }
}

/// Fills each empty bin with the value of a bin that is not empty. A bin holds the smallest hash in its range of hash
/// values, and is empty if there is none. At least one bin must not be empty. `filled` is a buffer that is reused
/// between calls.
///
/// The bins that are tried, and their order, depend only on the number of the empty bin. So the
/// same empty bins of two documents take their values from the same bins.
fn densify(bins: &mut [u32], filled: &mut Vec<u64>) {
    if !bins.contains(&EMPTY_BIN) {
        return;
    }
    filled.clear();
    filled.resize(bins.len().div_ceil(64), 0);
    for (bin, &value) in bins.iter().enumerate() {
        filled[bin / 64] |= u64::from(value != EMPTY_BIN) << (bin % 64);
    }
    let count = bins.len() as u128;
    for bin in 0..bins.len() {
        if bins[bin] != EMPTY_BIN {
            continue;
        }
        let start = GAMMA.wrapping_mul(bin as u64).wrapping_add(DONOR_START);
        let mut attempt = start;
        let donor = loop {
            attempt = attempt.wrapping_add(DONOR_STEP);
            // The result is below `count`, because the product is below `count` × 2⁶⁴.
            let donor = ((u128::from(mix(attempt)) * count) >> 64) as usize;
            if filled[donor / 64] >> (donor % 64) & 1 == 1 {
                break donor;
            }
        };
        bins[bin] = bins[donor];
    }
}

/// Estimates the number of distinct terms. Each term sets one bit of the bit field `marks`, and the result is the
/// number of set bits. The field is so large that two different terms rarely set the same bit.
fn distinct(terms: &[u64], marks: &mut Vec<u64>) -> u64 {
    let bits = (terms.len() * MARKS_A_TERM).next_power_of_two().max(64);
    marks.clear();
    marks.resize(bits / 64, 0);
    for term in terms {
        // The highest bits of the hash are below `bits`, which is a power of two.
        let bit = (term >> (64 - bits.ilog2())) as usize;
        marks[bit / 64] |= 1 << (bit % 64);
    }
    marks.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Packs the lowest `bits` bits of each value into `row`. The first value takes the lowest bits of
/// the first word.
fn pack(values: &[u32], bits: u32, row: &mut [u64]) {
    let lanes = (u64::BITS / bits) as usize;
    let mask = u32::MAX >> (u32::BITS - bits);
    for (word, values) in row.iter_mut().zip(values.chunks(lanes)) {
        let place = |word, (at, &value): (u32, &u32)| word | u64::from(value & mask) << (at * bits);
        *word = (0..).zip(values).fold(0, place);
    }
}

#[cfg(test)]
mod tests;
