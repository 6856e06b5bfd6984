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
mod sketch;
pub mod table_simhash;
mod term_weights;

pub use sketch::{Scratch, Sketch, SketchKind, SketchOption, Sketcher};

/// All kinds of fingerprints.
pub const SKETCHES: &[SketchKind] =
    &[hashed_simhash::KIND, multi_lexicon::KIND, min_hash::KIND, i_match::KIND];

/// Returns the weighted majority of each bit of `words`, which are pairs of a word and its weight. A tie gives 0. This
/// simple and slow function checks the fast ones in tests.
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
