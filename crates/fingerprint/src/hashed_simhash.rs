//! SimHash fingerprints of 64 bits or more, computed from hashed terms.
//!
//! Each term has a sequence of pseudorandom bits. Bit i of a fingerprint is 1 if the terms whose
//! bit i is set weigh more than half of all terms. An exact half gives 0.
//!
//! The first 64-bit word of a term's bits is the term itself, and word j is `mix(term + j ×
//! GAMMA)`. So a long fingerprint begins with the words of a shorter one. A term that occurs twice
//! counts twice, so occurrences need not be counted first.
//!
//! # References
//! M. Charikar. Similarity estimation techniques from rounding algorithms. STOC 2002.
//! G. Manku, A. Jain, A. Das Sarma. Detecting near-duplicates for web crawling. WWW 2007.

use super::sketch::{Scratch, Sketch, SketchKind, SketchOption, Sketcher};
use super::term_weights::{is_weighty, unequal_weights};
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_kernels::Isa;
use simtool_kernels::row_words::row_words;
use simtool_model::features::Features;
use simtool_model::fingerprint_rows::Shape;
use std::sync::Arc;

/// Widths in bits that a fingerprint can have.
pub const WIDTHS: [u32; 4] = [64, 128, 256, 512];

/// SimHash as an entry of [`SKETCHES`](super::SKETCHES), the table of kinds of fingerprints.
pub(crate) const KIND: SketchKind = SketchKind {
    name: "simhash",
    help: "All pairs whose SimHash fingerprints differ in at most `max_distance` bits. Needs only 16 \
           bytes per document and one reading, so it works for collections that are too large for \
           exact",
    options: &[SketchOption {
        name: "bits",
        value: "BITS",
        help: "bits of a fingerprint, 64, 128, 256 or 512 [default: 64]",
    }],
    shared_options: &["weight"],
    defaults: &[],
    parse: |options| Ok(Arc::new(HashedSimhash::parse(options)?)),
};

/// Number of terms whose pseudorandom bits are computed at once. These bits stay in the first-level
/// cache.
const BLOCK_TERMS: usize = 512;

/// SimHash with its one setting, the width of a fingerprint.
///
/// ```
/// use simtool_model::features::Features;
/// use simtool_fingerprint::hashed_simhash::HashedSimhash;
/// use simtool_kernels::Isa;
///
/// let terms = [13_352_372_148_217_134_600, 5_020_219_685_658_847_592];
/// let simhash = HashedSimhash::new(64)?;
/// let fingerprint = simhash.fingerprint(Isa::detected(), &Features::occurrences(&terms));
/// // The majority of two terms is their bitwise AND.
/// assert_eq!(fingerprint, Some(vec![terms[0] & terms[1]]));
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashedSimhash {
    bits: u32,
}

impl Default for HashedSimhash {
    /// Returns SimHash with a width of 64 bits.
    fn default() -> Self {
        Self { bits: WIDTHS[0] }
    }
}

impl HashedSimhash {
    /// Creates SimHash with fingerprints of `bits` bits.
    ///
    /// # Errors
    ///
    /// `bits` is not one of [`WIDTHS`].
    pub fn new(bits: u32) -> Result<Self> {
        if WIDTHS.contains(&bits) { Ok(Self { bits }) } else { Err(wrong_width(&bits.to_string())) }
    }

    /// Removes the option `bits` from `options` and creates SimHash with this width. Without the
    /// option, fingerprints have 64 bits.
    ///
    /// # Errors
    ///
    /// The value is not one of [`WIDTHS`].
    pub fn parse(options: &mut Options) -> Result<Self> {
        // The value is parsed here and not by `take_parsed`, so that a word and a wrong number get
        // the same message with the list of widths.
        let Some(bits) = options.take("bits") else { return Ok(Self::default()) };
        Self::new(bits.parse().map_err(|_| wrong_width(&bits))?)
    }

    /// Returns the fingerprint of a document with these features, or `None` if it has no features.
    /// It allocates buffers for each call, so it is meant for tests and for few texts.
    #[must_use]
    pub fn fingerprint(&self, isa: Isa, features: &Features<'_>) -> Option<Vec<u64>> {
        let mut row = vec![0; self.shape().words()];
        let has_terms = self.sketcher(isa).make(features, &mut row, &mut Scratch::default());
        has_terms.then_some(row)
    }
}

/// Returns the error for a width that is not supported.
fn wrong_width(given: &str) -> Error {
    let widths: Vec<String> = WIDTHS.iter().map(u32::to_string).collect();
    let (last, others) = widths.split_last().map_or(("", &[][..]), |(l, o)| (l.as_str(), o));
    Error::config("bits", given, format!("must be {} or {last}", others.join(", ")))
}

impl Sketch for HashedSimhash {
    fn shape(&self) -> Shape {
        Shape::bits(self.bits)
    }

    fn recipe(&self) -> String {
        format!("simhash{}", self.bits)
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![("bits", self.bits.to_string())]
    }

    fn distance_of_strangers(&self) -> u32 {
        self.bits.div_ceil(2)
    }

    fn meaning(&self, distance: u32, _features: &str) -> String {
        format!(
            "Documents at distance {distance} of {bits} bits have on average a Jaccard similarity \
             of {:.3}, if they have equally many shingles.",
            similarity_at(distance, self.bits),
            bits = self.bits,
        )
    }

    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher> {
        Box::new(HashedSketcher { isa })
    }
}

struct HashedSketcher {
    isa: Isa,
}

impl Sketcher for HashedSketcher {
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool {
        let Scratch { words, counts, weights, .. } = scratch;
        let unequal = unequal_weights(features);
        for (index, word) in (0..).zip(row) {
            // The first word of a term's row is the term itself, so the terms are counted without a
            // copy.
            if index == 0 {
                match unequal {
                    None => counts.add(self.isa, features.terms),
                    Some(given) => weights.add(self.isa, features.terms, given),
                }
            } else {
                // Words beyond the first one are pseudorandom functions of the terms. They are
                // computed block by block, so that they stay in the cache until they are counted.
                let blocks = features.terms.chunks(BLOCK_TERMS);
                for (at, block) in (0..).step_by(BLOCK_TERMS).zip(blocks) {
                    row_words(self.isa, block, index, words);
                    match unequal {
                        None => counts.add(self.isa, words),
                        Some(given) => weights.add(self.isa, words, &given[at..at + block.len()]),
                    }
                }
            }
            *word = match unequal {
                None => counts.take_majority(),
                Some(_) => weights.take_majority(),
            };
        }
        is_weighty(features)
    }
}

/// Returns the average Jaccard similarity of two sets of equal size whose SimHash fingerprints of
/// `bits` bits differ in `distance` bits. Individual pairs vary, because the distance is a random
/// sample of the angle between the sets.
///
/// Each bit differs with probability θ / π for an angle of θ, whose cosine is 2J / (1 + J).
///
/// # References
///
/// M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
#[must_use]
pub(crate) fn similarity_at(distance: u32, bits: u32) -> f64 {
    let cosine = cosine_at(distance, bits);
    cosine / (2.0 - cosine)
}

/// Returns the average cosine of the angle between two vectors whose SimHash fingerprints of `bits`
/// bits differ in `distance` bits. Returns 0 for angles above 90 degrees.
#[must_use]
pub(crate) fn cosine_at(distance: u32, bits: u32) -> f64 {
    // Sets have no negative coordinates, so their angle is at most 90 degrees. A larger one is an
    // error of the estimate.
    (std::f64::consts::PI * f64::from(distance) / f64::from(bits)).cos().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rose::{shingles, tokens};
    use simtool_base::stable_hash::{mix, row_word};

    /// Returns the fingerprint of `terms`. Checks that every instruction set gives the same
    /// fingerprint.
    fn made(bits: u32, terms: &[u64]) -> Option<Vec<u64>> {
        let simhash = HashedSimhash::new(bits).unwrap();
        let made = |isa| simhash.fingerprint(isa, &Features::occurrences(terms));
        let expected = made(Isa::PORTABLE);
        for &isa in Isa::available() {
            assert_eq!(made(isa), expected, "{isa}");
        }
        expected
    }

    /// Returns the fingerprint of `terms` like [`HashedSimhash::fingerprint`], in a slow and simple way for comparison:
    /// computes each bit separately, directly from the definition.
    fn slow(bits: u32, terms: &[u64]) -> Vec<u64> {
        let mut row = vec![0; bits as usize / 64];
        for bit in 0..bits {
            let has = |&&term: &&u64| row_word(term, bit / 64) >> (bit % 64) & 1 == 1;
            let ones = terms.iter().filter(has).count();
            row[bit as usize / 64] |= u64::from(2 * ones > terms.len()) << (bit % 64);
        }
        row
    }

    #[test]
    fn fingerprints_have_their_frozen_values() {
        let mut set = shingles();
        set.sort_unstable();
        set.dedup();
        let words = [
            0xc6ee_3282_0a12_4caf,
            0xeb65_1c17_5e0f_c248,
            0xaa8c_ce8c_44a0_0ef3,
            0x036b_0702_0415_bca5,
            0x6da3_ad3c_6720_f63d,
            0x01a2_7cab_6ab4_3634,
            0xc8db_80f0_a22d_43f3,
            0xec57_cefe_be2c_d1d3,
        ];
        for bits in WIDTHS {
            assert_eq!(made(bits, &tokens()).unwrap(), words[..bits as usize / 64]);
        }
        assert_eq!(made(64, &shingles()).unwrap(), [0xcc71_252b_5aa7_6984]);
        assert_eq!(made(64, &set).unwrap(), [0xcc71_252b_5aa7_6984]);
        // Two terms are a bitwise AND.
        let two = [13_352_372_148_217_134_600, 5_020_219_685_658_847_592];
        assert_eq!(made(64, &two).unwrap(), [74_633_958_390_507_528]);
    }

    #[test]
    fn every_width_is_its_definition_and_begins_with_the_shorter_ones() {
        for terms in [0, 1, 2, 7, 255, 256, 3000] {
            let terms: Vec<u64> = (0..terms).map(|term| mix(term + 1)).collect();
            let widest = slow(WIDTHS[WIDTHS.len() - 1], &terms);
            for bits in WIDTHS {
                let expected = &widest[..bits as usize / 64];
                assert_eq!(made(bits, &terms).as_deref(), (!terms.is_empty()).then_some(expected));
            }
        }
    }

    #[test]
    fn a_weight_counts_like_occurrences() {
        let terms: Vec<u64> = (1..=2000).map(mix).collect();
        let weights: Vec<u32> = (0..2000).map(|at| at % 5).collect();
        let occurrences: Vec<u64> = (terms.iter().zip(&weights))
            .flat_map(|(&term, &weight)| std::iter::repeat_n(term, weight as usize))
            .collect();
        let simhash = HashedSimhash::new(128).unwrap();
        for &isa in Isa::available() {
            let features = Features { terms: &terms, weights: Some(&weights) };
            assert_eq!(simhash.fingerprint(isa, &features), made(128, &occurrences));
            let once = Features { terms: &terms, weights: Some(&[1; 2000]) };
            assert_eq!(simhash.fingerprint(isa, &once), made(128, &terms));
        }
        let nothing = Features { terms: &terms, weights: Some(&[0; 2000]) };
        assert_eq!(simhash.fingerprint(Isa::PORTABLE, &nothing), None);
    }

    #[test]
    fn a_distance_means_a_similarity() {
        // Sets of these similarities have average distances of 17.1, 9.7, 4.6 and 2.9.
        for (distance, similarity) in [(17, 0.5), (9, 0.8), (4, 0.95), (2, 0.98)] {
            let range = similarity_at(distance + 1, 64)..similarity_at(distance, 64);
            assert!(range.contains(&similarity), "{range:?}");
            assert!(range.contains(&similarity_at(2 * distance + 1, 128)), "{range:?}");
        }
        let ends = [0, 32, 40].map(|distance| format!("{:.6}", similarity_at(distance, 64)));
        assert_eq!(ends, ["1.000000", "0.000000", "0.000000"]);
    }

    #[test]
    fn other_widths_are_refused() {
        let mut options = Options::parse("bits=96").unwrap();
        let error = HashedSimhash::parse(&mut options).unwrap_err().to_string();
        assert!(error.starts_with("bits 96: must be 64"), "{error}");
        assert_eq!(HashedSimhash::parse(&mut Options::new()).unwrap(), HashedSimhash::default());
    }
}
