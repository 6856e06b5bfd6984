//! Words of the pseudorandom rows of many terms.
//!
//! The code is plain: compiled for AVX2 and AVX-512 it makes four and eight words at once.

use super::Isa;
use simtool_base::stable_hash::row_word;

/// Replaces `words` by word `index` of the row of each term.
pub fn row_words(isa: Isa, terms: &[u64], index: u32, words: &mut Vec<u64>) {
    words.clear();
    match isa.runnable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `runnable` says that this processor has the instructions.
        Isa::Avx512 => unsafe { avx512(terms, index, words) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { avx2(terms, index, words) },
        _ => portable(terms, index, words),
    }
}

// Always inlined, so that it is compiled for the instructions of its caller.
#[inline(always)]
fn portable(terms: &[u64], index: u32, words: &mut Vec<u64>) {
    words.extend(terms.iter().map(|&term| row_word(term, index)));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn avx2(terms: &[u64], index: u32, words: &mut Vec<u64>) {
    portable(terms, index, words);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn avx512(terms: &[u64], index: u32, words: &mut Vec<u64>) {
    portable(terms, index, words);
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
