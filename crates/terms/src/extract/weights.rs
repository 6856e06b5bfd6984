//! Weight functions, which decide how much each distinct term of a document counts.
//!
//! A weight depends on three numbers of a term:
//!
//! - tf, the term frequency: how often the term occurs in the document;
//! - df, the document frequency: how many documents of the collection contain the term;
//! - idf, an integer that [grows as df falls](super::frequencies::idf).
//!
//! Weights are integers, so that their sums are the same in any order. [`WEIGHTS`] lists all weight functions. The
//! parser of options, the help of the command line and error messages read this table. To add a weight function, add a
//! [`WeightKind`] and its function to this file.

use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use std::cmp::Reverse;
use std::fmt;

/// Number of levels of the weight `levels`. The weights are from 1 to `LEVELS`.
const LEVELS: usize = 5;

/// A weight function that options can select by name.
#[derive(Clone, Copy)]
pub struct WeightKind {
    /// Name of the weight in options, for example `tf-idf`.
    pub name: &'static str,
    /// Short description of the weight, for help texts.
    pub help: &'static str,
    /// Whether the weight depends on the idf of terms. If so, the document frequencies must first be learned from the
    /// collection.
    pub needs_idf: bool,
    /// Whether the weight depends on tf. If not, occurrences of terms need not be counted.
    pub(super) needs_tf: bool,
    /// Function that computes the weights. The slice has the tf of each term, which the function replaces by the weight
    /// of the term.
    pub(super) weigh: fn(&mut [u32], &mut DocumentNumbers<'_>),
}

/// Data of a document that a weight function may use in addition to tf.
pub(super) struct DocumentNumbers<'d> {
    /// The distinct terms, in the same order as the weights. Empty if the weight does not depend on idf.
    pub(super) terms: &'d [TermStatistics],
    /// Scratch buffer for ranking the terms. It is reused between documents.
    pub(super) ranked: &'d mut Vec<u64>,
}

/// A distinct term of a document with its tf and idf.
#[derive(Clone, Copy, Debug)]
pub(super) struct TermStatistics {
    pub(super) term: u64,
    pub(super) tf: u32,
    pub(super) idf: u32,
    /// Whether the document frequency of the term is inside the selected band. If not, the term has the weight 0.
    pub(super) is_in_band: bool,
}

impl TermStatistics {
    pub(super) fn tf_idf(&self) -> u64 {
        u64::from(self.tf) * u64::from(self.idf)
    }
}

/// The weight function `idf`. It is a separate constant because sets use it, too. The only other weight of sets is
/// `binary`.
const IDF: WeightKind = WeightKind {
    name: "idf",
    help: "more for terms that few documents of the collection contain (reads the input once \
           more)",
    needs_idf: true,
    needs_tf: false,
    weigh: weigh_by_idf,
};

/// All weights in the order of the help text. The first is the default.
pub const WEIGHTS: &[WeightKind] = &[
    WeightKind {
        name: "tf",
        help: "number of occurrences in the document",
        needs_idf: false,
        needs_tf: true,
        weigh: |_, _| {},
    },
    WeightKind {
        name: "binary",
        help: "1 for each distinct term",
        needs_idf: false,
        needs_tf: false,
        weigh: |weights, _| weights.fill(1),
    },
    WeightKind {
        name: "log-tf",
        help: "1 + log2 of the number of occurrences",
        needs_idf: false,
        needs_tf: true,
        weigh: |weights, _| weights.iter_mut().for_each(|weight| *weight = log_tf(*weight)),
    },
    IDF,
    WeightKind {
        name: "tf-idf",
        help: "tf times idf",
        needs_idf: true,
        needs_tf: true,
        weigh: weigh_by_tf_idf,
    },
    WeightKind {
        name: "log-tf-idf",
        help: "log-tf times idf",
        needs_idf: true,
        needs_tf: true,
        weigh: weigh_by_log_tf_idf,
    },
    WeightKind {
        name: "levels",
        help: "from 5 for the fifth of the document's terms with the greatest tf-idf down to 1 for \
               the last fifth",
        needs_idf: true,
        needs_tf: true,
        weigh: weigh_by_level,
    },
];

impl WeightKind {
    /// The weight that is used if the user chose none.
    pub const DEFAULT: &'static Self = &WEIGHTS[0];

    /// The weight function `idf`. For sets, it is the only one that needs the document frequencies of a collection.
    pub(super) const IDF: &'static Self = &IDF;

    /// Returns the weight with the name `name`, or `None` if there is no such weight.
    ///
    /// ```
    /// use simtool_terms::extract::weights::WeightKind;
    ///
    /// assert!(WeightKind::from_name("tf-idf").is_some_and(|weight| weight.needs_idf));
    /// assert_eq!(WeightKind::from_name("half"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        WEIGHTS.iter().find(|kind| kind.name == name)
    }

    /// Removes the option `weight` from `options`, and returns the weight with this name. Returns `tf` if the option is
    /// missing.
    ///
    /// # Errors
    ///
    /// No weight has this name.
    pub fn parse(options: &mut Options) -> Result<&'static Self> {
        let Some(name) = options.take("weight") else { return Ok(Self::DEFAULT) };
        Self::from_name(&name).ok_or_else(|| {
            let names: Vec<_> = WEIGHTS.iter().map(|kind| kind.name).collect();
            Error::config("weight", &name, format!("must be one of {}", names.join(", ")))
        })
    }
}

/// Two kinds are equal if their names are equal, because each name occurs once in [`WEIGHTS`].
impl PartialEq for WeightKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for WeightKind {}

impl fmt::Debug for WeightKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn weigh_by_idf(weights: &mut [u32], document: &mut DocumentNumbers<'_>) {
    for (weight, term) in weights.iter_mut().zip(document.terms) {
        *weight = term.idf;
    }
}

fn weigh_by_tf_idf(weights: &mut [u32], document: &mut DocumentNumbers<'_>) {
    for (weight, term) in weights.iter_mut().zip(document.terms) {
        *weight = saturated(term.tf_idf());
    }
}

fn weigh_by_log_tf_idf(weights: &mut [u32], document: &mut DocumentNumbers<'_>) {
    for (weight, term) in weights.iter_mut().zip(document.terms) {
        *weight = saturated(u64::from(log_tf(term.tf)) * u64::from(term.idf));
    }
}

/// Replaces each weight by a level from 5 to 1. The fifth of the terms with the greatest tf × idf gets level 5, the
/// next fifth level 4, and so on. Terms with equal tf × idf have the same rank, so the order of the terms does not
/// matter.
fn weigh_by_level(weights: &mut [u32], document: &mut DocumentNumbers<'_>) {
    // Terms outside the band weigh nothing, so they must not take a rank from the others.
    let counted = document.terms.iter().filter(|term| term.is_in_band);
    let ranked = &mut *document.ranked;
    ranked.clear();
    ranked.extend(counted.map(TermStatistics::tf_idf));
    ranked.sort_unstable_by_key(|&tf_idf| Reverse(tf_idf));
    for (weight, term) in weights.iter_mut().zip(document.terms) {
        if term.is_in_band {
            let rank = ranked.partition_point(|&tf_idf| tf_idf > term.tf_idf());
            *weight = (LEVELS - LEVELS * rank / ranked.len()) as u32;
        }
    }
}

fn saturated(weight: u64) -> u32 {
    u32::try_from(weight).unwrap_or(u32::MAX)
}

/// Values of [`log_tf`] for the small values of tf that most terms have.
const LOG_TF: [u32; 64] = {
    let mut table = [0; 64];
    let mut tf = 1;
    while tf < table.len() {
        table[tf] = exact_log_tf(tf as u32);
        tf += 1;
    }
    table
};

/// Returns 256 × (1 + log₂ tf), rounded half up. `tf` must be at least 1.
fn log_tf(tf: u32) -> u32 {
    LOG_TF.get(tf as usize).copied().unwrap_or_else(|| exact_log_tf(tf))
}

/// Computes the value of [`log_tf`] with integers, because the last bit of a floating-point
/// logarithm differs between platforms.
const fn exact_log_tf(tf: u32) -> u32 {
    let mut log = tf.ilog2();
    // A fixed-point number in [1, 2) with 63 binary places. Squaring it doubles its logarithm, so each
    // square yields the next binary digit of the logarithm: 1 if the square is 2 or more.
    let mut number = (tf as u64) << (63 - log);
    let mut digit = 0;
    while digit < 9 {
        let square = number as u128 * number as u128;
        let is_two = (square >> 127) as u32;
        number = (square >> (63 + is_two)) as u64;
        log = 2 * log + is_two;
        digit += 1;
    }
    // Nine digits are one more than the result has: rounding uses the last one.
    256 + log.div_ceil(2)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    #[expect(clippy::cast_sign_loss, reason = "tf is at least 1, so the logarithm is not negative")]
    pub(in crate::extract) fn slow_log_tf(tf: u32) -> u32 {
        (256.0 * (1.0 + f64::from(tf).log2())).round() as u32
    }

    #[test]
    fn log_tf_is_rounded_half_up() {
        assert_eq!([1, 2, 3, 4].map(log_tf), [256, 512, 662, 768]);
        for tf in (1..3000).chain([65_535, 1 << 20, u32::MAX]) {
            assert_eq!(log_tf(tf), slow_log_tf(tf), "{tf}");
        }
    }
}
