//! Multi-lexicon SimHash makes several SimHash fingerprints of each document. A lexicon is a random
//! subset of all terms, and each fingerprint is made of the document's terms that belong to one
//! lexicon. The method combines shingles, I-Match and SimHash.
//!
//! A changed term affects only the fingerprints of the lexicons that contain the term. So two
//! documents are near-duplicates if enough of their fingerprints differ in few bits. Alternatively,
//! the differing bits of all fingerprints are added up.
//!
//! # References
//! Fan Jun. Document fingerprint and its application in near-duplicate document detection (thesis, in
//! Chinese).

use super::random_lexicon::RandomLexicons;
use super::sketch::{Scratch, Sketch, SketchKind, SketchOption, Sketcher};
use super::term_weights::unequal_weights;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_kernels::Isa;
use simtool_kernels::row_words::row_words;
use simtool_model::features::Features;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::similarity::Threshold;
use std::sync::Arc;

/// Multi-lexicon SimHash as an entry of [`SKETCHES`](super::SKETCHES), the table of kinds of fingerprints.
pub(crate) const KIND: SketchKind = SketchKind {
    name: "multi-lexicon",
    help: "All pairs for which at least `votes` of the `lexicons` SimHash fingerprints of 64 bits, each \
           over a random part of the shingles, differ in at most `max_distance` bits",
    options: &[
        SketchOption {
            name: "lexicons",
            value: "COUNT",
            help: "number of lexicons. A lexicon is a random set of shingles, and each gives one \
                   fingerprint of 64 bits [default: 8]",
        },
        SketchOption {
            name: "lexicon_share",
            value: "SHARE",
            help: "fraction of all shingles that each lexicon contains [default: 0.5]",
        },
        SketchOption {
            name: "votes",
            value: "VOTES",
            help: "number of fingerprints that must each differ in at most max_distance bits, or \
                   sum to add up the differing bits of all fingerprints [default: half of the \
                   lexicons]",
        },
        SketchOption {
            name: "lexicon_bits",
            value: "own|shared",
            help: "whether the random bits of shingles differ between lexicons (own) or not (shared) \
                   [default: own]",
        },
    ],
    shared_options: &["weight"],
    defaults: &[("shingle", "2"), ("weight", "binary")],
    parse: |options| Ok(Arc::new(MultiLexicon::parse(options)?)),
};

/// Maximum number of lexicons (random sets of terms). Each lexicon gives one 64-bit fingerprint of
/// a document.
const MOST_LEXICONS: u32 = 64;
/// Number of lexicons, which are random sets of terms, if the option `lexicons` is missing.
const LEXICONS: u32 = 8;
/// Fraction of all terms that each lexicon contains if the option `lexicon_share` is missing, as
/// numerator and denominator.
const KEEP: (u32, u32) = (5, 10);
/// Number of bits of the fingerprint for one lexicon.
const BITS: u32 = u64::BITS;

/// Rule that decides from the fingerprints of two documents, one for each lexicon, whether the documents
/// are near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Votes {
    /// For at least this number of lexicons (random sets of terms), the fingerprints of the two documents must be
    /// within the maximum distance.
    Needed(u32),
    /// The number of differing bits, added up over the fingerprints of all lexicons, must be within
    /// the maximum distance.
    Sum,
}

/// Whether the pseudorandom bits of a term differ between lexicons, which are random sets of terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowBits {
    /// A term has the same bits in all lexicons.
    Shared,
    /// A term has different bits in each lexicon, so that the fingerprints of the lexicons are less
    /// correlated.
    Own,
}

/// Settings of multi-lexicon SimHash, which makes one SimHash of a document's terms for each of several random sets of
/// terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MultiLexicon {
    lexicons: u32,
    random: RandomLexicons,
    votes: Votes,
    rows: RowBits,
}

impl MultiLexicon {
    /// Creates multi-lexicon SimHash from its options, and removes them from `options`. `lexicons` is the number of
    /// random sets of terms, and `lexicon_share` the fraction of the terms in each. `votes` is the number of lexicons
    /// whose fingerprints must be near, or `sum`. `lexicon_bits` is `own` or `shared`.
    ///
    /// # Errors
    ///
    /// A value is outside its range.
    pub(crate) fn parse(options: &mut Options) -> Result<Self> {
        let whole = "must be a whole number";
        let lexicons: u32 = options.take_parsed("lexicons", whole)?.unwrap_or(LEXICONS);
        if !(1..=MOST_LEXICONS).contains(&lexicons) {
            let rule = format!("must be from 1 to {MOST_LEXICONS}");
            return Err(Error::config("lexicons", lexicons, rule));
        }
        let random = RandomLexicons::parse(options, Threshold::new(KEEP.0, KEEP.1)?)?;
        let votes = match options.take("votes") {
            None => Votes::Needed(lexicons.div_ceil(2)),
            Some(text) if text == "sum" => Votes::Sum,
            Some(text) => match text.parse() {
                Ok(needed) if (1..=lexicons).contains(&needed) => Votes::Needed(needed),
                _ => {
                    let rule = format!("must be from 1 to {lexicons}, or sum");
                    return Err(Error::config("votes", text, rule));
                }
            },
        };
        let rows = match options.take("lexicon_bits").as_deref() {
            None | Some("own") => RowBits::Own,
            Some("shared") => RowBits::Shared,
            Some(other) => {
                return Err(Error::config("lexicon_bits", other, "must be own or shared"));
            }
        };
        Ok(Self { lexicons, random, votes, rows })
    }

    fn rows_name(self) -> &'static str {
        match self.rows {
            RowBits::Own => "own",
            RowBits::Shared => "shared",
        }
    }

    /// Returns the index of the 64-bit word of pseudorandom bits that lexicon number `lexicon` uses. Each term has a
    /// row of such words.
    fn word(self, lexicon: u32) -> u32 {
        match self.rows {
            RowBits::Own => lexicon,
            RowBits::Shared => 0,
        }
    }
}

impl Sketch for MultiLexicon {
    fn shape(&self) -> Shape {
        match self.votes {
            Votes::Needed(needed) => Shape::votes(self.lexicons, needed),
            Votes::Sum => Shape::bits(self.lexicons * BITS),
        }
    }

    /// Returns the recipe without the option `votes`, because the same fingerprints can be compared
    /// with any number of votes.
    fn recipe(&self) -> String {
        let lexicons = self.lexicons;
        let keep = self.random.keep();
        format!("multi-lexicon{lexicons}-keep{keep}-{}", self.rows_name())
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        let votes = match self.votes {
            Votes::Needed(needed) => needed.to_string(),
            Votes::Sum => "sum".to_owned(),
        };
        vec![
            ("lexicons", self.lexicons.to_string()),
            ("lexicon_share", self.random.keep().to_string()),
            ("votes", votes),
            ("lexicon_bits", self.rows_name().to_owned()),
        ]
    }

    fn distance_of_strangers(&self) -> u32 {
        self.shape().units() / 2
    }

    fn meaning(&self, distance: u32, _features: &str) -> String {
        let lexicons = self.lexicons;
        match self.votes {
            Votes::Needed(needed) => format!(
                "Documents at distance {distance} have {needed} of {lexicons} fingerprints that differ \
                 in at most {distance} of {BITS} bits each."
            ),
            Votes::Sum => format!(
                "Documents at distance {distance} differ in {distance} of the {} bits of their {lexicons} \
                 fingerprints.",
                lexicons * BITS
            ),
        }
    }

    fn sketcher(&self, isa: Isa) -> Box<dyn Sketcher> {
        Box::new(LexiconSketcher { sketch: *self, isa })
    }
}

struct LexiconSketcher {
    sketch: MultiLexicon,
    isa: Isa,
}

impl Sketcher for LexiconSketcher {
    fn make(&self, features: &Features<'_>, row: &mut [u64], scratch: &mut Scratch) -> bool {
        let Scratch { words, counts, weights, kept_weights, .. } = scratch;
        let Self { sketch, isa } = *self;
        let unequal = unequal_weights(features);
        // A lexicon that contains no term of the document has no fingerprint. Then the document has
        // no fingerprint at all, because each lexicon needs one to be compared.
        (0..).zip(row).all(|(lexicon, lane)| {
            let part = sketch.random.part(lexicon);
            let word = sketch.word(lexicon);
            let Some(given) = unequal else {
                let kept = part.row_words(isa, features.terms, word, words);
                counts.add_some(isa, words, kept);
                *lane = counts.take_majority();
                return kept > 0;
            };
            // With weights, terms outside the lexicon get weight 0 instead of being removed.
            row_words(isa, features.terms, word, words);
            part.weights(isa, features.terms, given, kept_weights);
            weights.add(isa, words, kept_weights);
            let total = weights.total();
            *lane = weights.take_majority();
            total > 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rose::shingles;
    use crate::weighted_majority;
    use simtool_base::stable_hash::{mix, row_word};

    fn made(options: &str, terms: &[u64], weights: Option<&[u32]>) -> Option<Vec<u64>> {
        let sketch = MultiLexicon::parse(&mut Options::parse(options).unwrap()).unwrap();
        let made = |isa| {
            let mut row = vec![0; sketch.shape().words()];
            let sketcher = sketch.sketcher(isa);
            let features = Features { terms, weights };
            sketcher.make(&features, &mut row, &mut Scratch::default()).then_some(row)
        };
        let expected = made(Isa::PORTABLE);
        for &isa in Isa::available() {
            assert_eq!(made(isa), expected, "{isa}");
        }
        expected
    }

    #[test]
    fn fingerprints_have_their_frozen_values() {
        // The first two lexicons keep "a rose is" and "rose is a", the others "is a rose", too.
        let two = 0x4c00_0109_5a80_4080;
        let all = 0xcc71_252b_5aa7_6984;
        let made = made("lexicons=4,lexicon_share=0.7,lexicon_bits=shared", &shingles(), None);
        assert_eq!(made, Some(vec![two, two, all, all]));
    }

    #[test]
    fn a_lane_is_the_simhash_of_what_its_lexicon_keeps() {
        let terms: Vec<u64> = (1..200).map(mix).collect();
        let weights: Vec<u32> = (0..199).map(|at| at % 4).collect();
        for rows in ["own", "shared"] {
            let options = format!("lexicons=3,lexicon_share=0.3,votes=sum,lexicon_bits={rows}");
            let sketch = MultiLexicon::parse(&mut Options::parse(&options).unwrap()).unwrap();
            let slowly = |weights: &[u32]| -> Vec<u64> {
                let lane = |lexicon| {
                    let kept = terms.iter().zip(weights);
                    let kept = kept.filter(|&(&term, _)| sketch.random.part(lexicon).has(term));
                    let word = if rows == "own" { lexicon } else { 0 };
                    weighted_majority(kept.map(|(&term, &weight)| (row_word(term, word), weight)))
                };
                (0..3).map(lane).collect()
            };
            assert_eq!(made(&options, &terms, None), Some(slowly(&[1; 199])));
            assert_eq!(made(&options, &terms, Some(&weights)), Some(slowly(&weights)));
        }
    }

    #[test]
    fn a_lexicon_without_terms_leaves_no_fingerprint() {
        assert_eq!(made("lexicon_share=0.5", &[7], None), None);
        assert!(made("lexicon_share=1", &[7], None).is_some());
        assert_eq!(made("lexicon_share=1", &[7], Some(&[0])), None);
        assert_eq!(made("", &[], None), None);
    }

    #[test]
    fn options_out_of_range_are_refused() {
        let refused = |options: &str| {
            MultiLexicon::parse(&mut Options::parse(options).unwrap()).unwrap_err().to_string()
        };
        assert_eq!(refused("votes=9"), "votes 9: must be from 1 to 8, or sum");
        assert_eq!(refused("lexicons=65"), "lexicons 65: must be from 1 to 64");
        assert_eq!(refused("lexicon_bits=some"), "lexicon_bits some: must be own or shared");
        assert!(
            refused("lexicon_share=2")
                .starts_with("lexicon_share 2: must be above 0 and at most 1")
        );
    }
}
