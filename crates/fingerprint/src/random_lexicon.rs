//! Random lexicons. Each is a random subset of all terms and the same for every document.
//!
//! No list of terms is stored. The hash of a term and the number of the lexicon decide whether the
//! lexicon contains the term.
//!
//! # References
//! A. Kołcz, A. Chowdhury, J. Alspector. Improved robustness of signature-based near-replica detection
//! via lexicon randomization. KDD 2004.

use simtool_base::error::Result;
use simtool_base::options::Options;
use simtool_base::stable_hash::GAMMA;
use simtool_kernels::kept_terms::RandomPart;
use simtool_model::similarity::Threshold;

/// Number that is added to a term before it is hashed for lexicon 0. A lexicon is a random set of terms. The numbers of
/// the other lexicons are computed from this one.
const START: u64 = 0x4528_21E6_38D0_1377;

/// Random lexicons, which are random subsets of all terms. All of them contain the same fraction of the terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RandomLexicons {
    keep: Threshold,
    /// A lexicon contains the terms whose 32-bit hash for this lexicon is below this value.
    below: u64,
}

impl RandomLexicons {
    /// Removes the option `lexicon_share` from `options` and creates the lexicons. The option is
    /// the fraction of the terms in each lexicon, and `default` is used if it is missing.
    pub(super) fn parse(options: &mut Options, default: Threshold) -> Result<Self> {
        let given =
            options.take("lexicon_share").map(|text| Threshold::parse("lexicon_share", &text));
        let keep = given.transpose()?.unwrap_or(default);
        let (numerator, denominator) = keep.fraction();
        let numerator = u64::from(numerator);
        let denominator = u64::from(denominator);
        // The share is rounded to the nearest multiple of 2⁻³² in whole numbers. So every machine
        // chooses the same terms, and fingerprints of several machines can be compared.
        let below = ((numerator << 32) + denominator / 2) / denominator;
        Ok(Self { keep, below })
    }

    /// Returns the fraction of the terms that each lexicon contains.
    pub(super) fn keep(self) -> Threshold {
        self.keep
    }

    /// Returns the rule that selects the terms of lexicon number `lexicon`, counted from 0.
    #[inline]
    pub(super) fn part(self, lexicon: u32) -> RandomPart {
        let start = START.wrapping_add(GAMMA.wrapping_mul(u64::from(lexicon)));
        RandomPart { start, below: self.below }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use simtool_kernels::Isa;

    #[test]
    fn a_lexicon_keeps_its_part_of_the_terms() {
        let terms: Vec<u64> = (0..10_000).map(mix).collect();
        for (text, part) in [("0.7", 0.7), ("1/2", 0.5), ("1", 1.0)] {
            let mut options = Options::parse(&format!("lexicon_share={text}")).unwrap();
            let lexicons = RandomLexicons::parse(&mut options, Threshold::DEFAULT).unwrap();
            let mut kept = vec![7];
            for lexicon in 0..3 {
                lexicons.part(lexicon).keep(Isa::detected(), &terms, &mut kept);
                assert!((kept.len() as f64 / 1e4 - part).abs() < 0.02, "{text}: {}", kept.len());
            }
        }
        let seven_tenths = RandomLexicons::parse(
            &mut Options::parse("lexicon_share=0.7").unwrap(),
            Threshold::DEFAULT,
        );
        assert_eq!(seven_tenths.unwrap().below, 3_006_477_107);
    }
}
