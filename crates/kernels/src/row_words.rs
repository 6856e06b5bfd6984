//! Makes words of the pseudorandom rows of many terms.
//!
//! A term has a row of 64-bit words, as long as a fingerprint. Word `index` of the row is
//! [`row_word`]`(term, index)`. The loop is plain, and the compiler computes four words (AVX2) or eight
//! words (AVX-512) at once.

use super::Isa;
use super::vector::{Kernel, Level};
use simtool_base::stable_hash::row_word;

/// Replaces `words` by one word for each term: the word with index `index` in the term's row of pseudorandom words.
///
/// ```
/// use simtool_kernels::{Isa, row_words::row_words};
///
/// let mut words = Vec::new();
/// row_words(Isa::detected(), &[1, 2, 1], 0, &mut words);
/// // Equal terms have equal rows.
/// assert_eq!(words[0], words[2]);
/// ```
pub fn row_words(isa: Isa, terms: &[u64], index: u32, words: &mut Vec<u64>) {
    words.resize(terms.len(), 0);
    isa.run(RowWords { terms, index }, &mut words[..]);
}

struct RowWords<'a> {
    terms: &'a [u64],
    index: u32,
}

impl Kernel<&mut [u64]> for RowWords<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L, words: &mut [u64]) {
        for (word, &term) in words.iter_mut().zip(self.terms) {
            *word = row_word(term, self.index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    #[test]
    fn words_are_those_of_the_rows_at_every_length_around_a_block() {
        let terms: Vec<u64> = (1..70).map(mix).collect();
        for &isa in Isa::available() {
            for length in 0..terms.len() {
                for index in [0, 1, 2, 7] {
                    let mut words = vec![9];
                    row_words(isa, &terms[..length], index, &mut words);
                    let slowly = terms[..length].iter().map(|&term| row_word(term, index));
                    assert!(slowly.eq(words), "{isa}, {length} terms, word {index}");
                }
            }
        }
    }
}
