//! I-Match fingerprints: a hash of those terms of a document that are in a lexicon, which is a set of terms. With
//! several lexicons, a fingerprint has several hashes.
//!
//! The lexicon consists of the terms with a weight, which are neither rare nor frequent in the collection. Each
//! additional lexicon is a random subset of it. Two documents are near-duplicates if they have the same hash for at
//! least one lexicon. A changed term does not change the hashes of the lexicons that lack the term.
//!
//! A fingerprint consists of one 64-bit hash per lexicon, whose highest bit is always set. If a document has no term in
//! a random lexicon, the hash for that lexicon is made of all its terms in the whole lexicon. So equal documents have
//! the distance 0, and documents with other terms do not share that hash.
//!
//! # References
//! A. Chowdhury, O. Frieder, D. Grossman, M. C. `McCabe`. Collection statistics for fast duplicate
//! document detection. ACM TOIS 20(2), 2002.
//! A. Kołcz, A. Chowdhury. Lexicon randomization for near-duplicate detection with I-Match. J.
//! Supercomputing 45, 2008.

use super::random_lexicon::RandomLexicons;
use super::sketch::{Scratch, Sketch, SketchKind, SketchOption, Sketcher};
use super::term_weights::weighty_terms;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::stable_hash::{GAMMA, hash, mix};
use simtool_kernels::Isa;
use simtool_model::features::Features;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::similarity::Threshold;
use std::sync::Arc;

/// I-Match as an entry of [`SKETCHES`](super::SKETCHES), the table of kinds of fingerprints.
pub(crate) const KIND: SketchKind = SketchKind {
    name: "i-match",
    help: "All pairs with the same hash of all their words in a lexicon of words that are neither rare \
           nor frequent, or in one of `lexicons` random parts of it",
    options: &[
        SketchOption {
            name: "lexicons",
            value: "COUNT",
            help: "number of random lexicons in addition to the whole one [default: 0]",
        },
        SketchOption {
            name: "lexicon_share",
            value: "SHARE",
            help: "fraction of the whole lexicon in each random lexicon [default: 0.7]",
        },
        SketchOption {
            name: "least_terms",
            value: "COUNT",
            help: "minimum number of words of a document that must be in the lexicon; with fewer, a \
                   document is near only documents whose compared words are the same [default: 5]",
        },
        SketchOption {
            name: "least_share",
            value: "SHARE",
            help: "minimum fraction of a document's words that must be in the lexicon [default: 0.1]",
        },
    ],
    shared_options: &[],
    defaults: &[("shingle", "1"), ("idf_band", "0.2-0.8")],
    parse: |options| Ok(Arc::new(IMatch::parse(options)?)),
};

/// Maximum number of random lexicons in addition to the whole lexicon. A lexicon is a set of terms. From the terms of a
/// document that are in it, one hash of the document's fingerprint is computed.
const MOST_LEXICONS: u32 = 1000;
/// Fraction of the whole lexicon's terms that a random lexicon contains if the option
/// `lexicon_share` is missing, as numerator and denominator.
const KEEP: (u32, u32) = (7, 10);
/// Minimum number of a document's terms that must be in the lexicon if the option `least_terms` is
/// missing.
const LEAST_TERMS: usize = 5;
/// Minimum fraction of a document's terms that must be in the lexicon if the option `least_share`
/// is missing, as numerator and denominator.
const LEAST_SHARE: (u32, u32) = (1, 10);

/// Settings of I-Match fingerprints, which have one hash of a document's terms for each of several sets of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IMatch {
    lexicons: u32,
    random: RandomLexicons,
    /// Minimum number of a document's terms that must be in the whole lexicon, which is the set of
    /// terms with a weight. Documents with fewer terms in the lexicon have no fingerprint.
    least_terms: usize,
    /// Minimum fraction of a document's terms that must be in the whole lexicon, which is the set
    /// of terms with a weight. Documents with a smaller fraction have no fingerprint.
    least_share: Threshold,
}

impl IMatch {
    /// Creates I-Match from its options, and removes them from `options`. A lexicon is a set of terms, and the whole
    /// lexicon has all terms with a weight. The options are:
    ///
    /// - `lexicons`: number of random lexicons, in addition to the whole lexicon.
    /// - `lexicon_share`: fraction of the terms in each random lexicon.
    /// - `least_terms` and `least_share`: number and fraction of a document's terms that must be in
    ///   the whole lexicon.
    ///
    /// # Errors
    ///
    /// A value is outside its range.
    pub(crate) fn parse(options: &mut Options) -> Result<Self> {
        let whole = "must be a whole number";
        let lexicons = options.take_parsed("lexicons", whole)?.unwrap_or(0);
        if lexicons > MOST_LEXICONS {
            let rule = format!("must be at most {MOST_LEXICONS}");
            return Err(Error::config("lexicons", lexicons, rule));
        }
        let random = RandomLexicons::parse(options, Threshold::new(KEEP.0, KEEP.1)?)?;
        let least_terms = options.take_parsed("least_terms", whole)?.unwrap_or(LEAST_TERMS);
        let share = options.take("least_share");
        let share = share.map(|text| Threshold::parse("least_share", &text)).transpose()?;
        let least_share = share.map_or_else(|| Threshold::new(LEAST_SHARE.0, LEAST_SHARE.1), Ok)?;
        Ok(Self { lexicons, random, least_terms, least_share })
    }
}

impl Sketch for IMatch {
    fn shape(&self) -> Shape {
        Shape::lanes_or_null(1 + self.lexicons)
    }

    fn recipe(&self) -> String {
        let Self { lexicons, random, least_terms, least_share } = self;
        // Earlier fingerprints have null for a random lexicon without terms.
        let filled = if *lexicons > 0 { "-filled" } else { "" };
        let keep = random.keep();
        format!("i-match1+{lexicons}-keep{keep}-least{least_terms},{least_share}{filled}")
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("lexicons", self.lexicons.to_string()),
            ("lexicon_share", self.random.keep().to_string()),
            ("least_terms", self.least_terms.to_string()),
            ("least_share", self.least_share.to_string()),
        ]
    }

    /// Returns the number of random lexicons (sets of terms). A fingerprint has one hash for each of them, and one for
    /// the whole lexicon. Near-duplicates may differ in all hashes except one.
    fn default_distance(&self) -> u32 {
        self.lexicons
    }

    fn distance_of_strangers(&self) -> u32 {
        self.lexicons + 1
    }

    fn meaning(&self, distance: u32, features: &str) -> String {
        let hashes = self.lexicons + 1;
        format!(
            "Documents at distance {distance} have {} of {hashes} hashes of lexicons of {features} in \
             common.",
            hashes - distance
        )
    }

    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher> {
        Box::new(LexiconHasher { sketch: *self, isa })
    }
}

struct LexiconHasher {
    sketch: IMatch,
    isa: Isa,
}

impl Sketcher for LexiconHasher {
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool {
        let Scratch { words, terms, bytes, distinct, .. } = scratch;
        terms.clear();
        terms.extend_from_slice(weighty_terms(features, words));
        if features.weights.is_none() {
            distinct.deduplicate(terms);
        }
        // Terms with weights are distinct and include those outside the lexicon, which have weight
        // 0. Without weights every term belongs to the lexicon.
        let all = if features.weights.is_some() { features.terms.len() } else { terms.len() };
        let (numerator, denominator) = self.sketch.least_share.fraction();
        // The comparison multiplies whole numbers, so that rounding never decides whether a
        // document has a fingerprint.
        let share = terms.len() as u128 * u128::from(denominator);
        if terms.len() < self.sketch.least_terms.max(1)
            || share < all as u128 * u128::from(numerator)
        {
            return false;
        }
        // The hash must not depend on the order of terms in the text.
        terms.sort_unstable();
        let (whole, random) = row.split_at_mut(1);
        whole[0] = signature(terms, bytes);
        for (lexicon, lane) in (0..).zip(random) {
            self.sketch.random.part(lexicon).keep(self.isa, terms, words);
            *lane =
                if words.is_empty() { of_all(whole[0], lexicon) } else { signature(words, bytes) };
        }
        true
    }
}

/// Returns the hash for the random lexicon number `lexicon` if this lexicon contains no term of the document. It is
/// computed from `whole`, the hash of the document's terms in the whole lexicon.
fn of_all(whole: u64, lexicon: u32) -> u64 {
    mix(whole.wrapping_add(u64::from(lexicon + 1).wrapping_mul(GAMMA))) | 1 << 63
}

/// Returns the hash of `terms`, the sorted terms of a document that are in one lexicon. The highest bit of the hash is
/// set, because a value without this bit is null, which equals no other value. `bytes` is a buffer.
fn signature(terms: &[u64], bytes: &mut Vec<u8>) -> u64 {
    bytes.clear();
    // A fixed byte order gives the same hash on every machine.
    bytes.extend(terms.iter().flat_map(|term| term.to_le_bytes()));
    // A lane whose highest bit is 0 is null and equals no other lane. The set bit keeps every hash
    // apart from null.
    hash(bytes) | 1 << 63
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the terms of the words of `text` in ascending order, and their weights: 1 if the
    /// word is in the lexicon, otherwise 0.
    fn features(text: &str, lexicon: &[&str]) -> (Vec<u64>, Vec<u32>) {
        let mut words: Vec<_> = text.split(' ').map(|word| (hash(word.as_bytes()), word)).collect();
        words.sort_unstable();
        words.dedup();
        words.iter().map(|(term, word)| (term, u32::from(lexicon.contains(word)))).unzip()
    }

    fn made(options: &str, (terms, weights): &(Vec<u64>, Vec<u32>)) -> Option<Vec<u64>> {
        let sketch = IMatch::parse(&mut Options::parse(options).unwrap()).unwrap();
        let mut row = vec![0; sketch.shape().words()];
        let features = Features { terms, weights: Some(weights) };
        let sketcher = sketch.sketcher(Isa::PORTABLE);
        sketcher.make(&features, &mut row, &mut Scratch::default()).then_some(row)
    }

    #[test]
    fn signatures_have_their_frozen_values() {
        let lexicon = ["a", "dog", "mat", "on"];
        let signatures = [
            ("the cat sat on the mat", 0x928b_cb8a_3c0c_8abc),
            ("the cat sat on a mat", 0xe2c4_3e13_c3a1_3818),
            ("the dog ate the cat food", 0xa4c0_9e2d_0fbc_61b3),
            ("a dog sat", 0x9663_26ab_2b87_8d42),
        ];
        for (text, signature) in signatures {
            assert_eq!(made("least_terms=1", &features(text, &lexicon)), Some(vec![signature]));
        }
        // The first random lexicon keeps a. The second keeps a, mat and on, the third keeps all
        // words, and the fourth keeps a, dog and mat.
        let rows: Vec<_> = (signatures.iter())
            .map(|(text, _)| made("least_terms=1,lexicons=4", &features(text, &lexicon)).unwrap())
            .collect();
        // No other document has the hash of a lexicon that has none of the terms.
        assert_eq!(rows[0][1], of_all(rows[0][0], 0));
        assert!(rows[1..].iter().all(|row| row[1] != rows[0][1]));
        assert_eq!([rows[0][2], rows[0][3]], [rows[0][0]; 2]);
        assert_eq!(rows[1][1], rows[3][1]);
        assert_eq!(rows[3][4], rows[3][0]);
        assert_ne!(rows[0][4], rows[1][4]);
    }

    #[test]
    fn a_document_with_little_of_the_lexicon_has_no_fingerprint() {
        let text = features("a b c d e f g h i j", &["a", "b"]);
        assert!(made("least_terms=2", &text).is_some());
        assert!(made("least_terms=3", &text).is_none());
        assert!(made("least_terms=1,least_share=0.2", &text).is_some());
        assert!(made("least_terms=1,least_share=0.21", &text).is_none());
        assert!(made("least_terms=0", &features("a b", &[])).is_none());
    }

    #[test]
    fn terms_without_weights_are_all_of_the_lexicon_however_often_they_come() {
        let sketcher = IMatch::parse(&mut Options::new()).unwrap().sketcher(Isa::detected());
        let made = |terms: &[u64]| {
            let mut row = [0];
            let features = Features::occurrences(terms);
            sketcher.make(&features, &mut row, &mut Scratch::default()).then_some(row[0])
        };
        assert!(made(&[5, 1, 3, 2, 4]).is_some_and(|signature| signature >> 63 == 1));
        assert_eq!(made(&[5, 1, 3, 2, 4]), made(&[1, 2, 3, 3, 1, 4, 5]));
        assert_eq!(made(&[1, 2, 3, 3, 4]), None);
    }

    #[test]
    fn only_the_recipe_of_random_lexicons_says_that_none_is_empty() {
        let recipe =
            |options| IMatch::parse(&mut Options::parse(options).unwrap()).unwrap().recipe();
        assert_eq!(recipe("lexicons=0"), "i-match1+0-keep0.7-least5,0.1");
        assert_eq!(recipe("lexicons=4"), "i-match1+4-keep0.7-least5,0.1-filled");
    }
}
