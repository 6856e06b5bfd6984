//! XXH3-64 (seed 0) of many short words of one text.
//!
//! XXH3 has three classes of short words: 1 to 3, 4 to 8, and 9 to 16 bytes. In each class, it needs
//! only the eight bytes from the start of a word on and the eight bytes before its end. These are two
//! loads, which may overlap. The classes combine the loads in different ways, and with different
//! constants.
//!
//! A branch on the length of a word of natural text is mispredicted every few words. So words of mixed
//! lengths go through the same instructions, and the constants are selected for each word or lane. The
//! indices of longer words are stored, and these words are hashed one by one behind each block. On
//! levels without products of 64 bits in lanes, words from 9 bytes on count as longer words.
//!
//! # References
//! Y. Collet. xxHash, XXH3 algorithm, <https://github.com/Cyan4973/xxHash>.

pub use super::words::MARGIN;

use super::Isa;
use super::own_loops::xxh3_short::PlacedWords;
use super::vector::{Kernel, Level};

/// Appends the hash of each word to `hashes`. Word i is `text[starts[i]..ends[i]]`.
///
/// The words are hashed as they are: the caller has lower-cased them.
///
/// # Panics
/// If the two slices differ in length, or a word is empty, reversed or nearer than [`MARGIN`] to
/// either end of `text`.
pub fn hash_words(isa: Isa, text: &[u8], starts: &[u32], ends: &[u32], hashes: &mut Vec<u64>) {
    let words = PlacedWords::new(text, starts, ends);
    hashes.reserve(starts.len());
    isa.run(HashWords { words }, hashes);
}

struct HashWords<'t> {
    words: PlacedWords<'t>,
}

impl Kernel<&mut Vec<u64>> for HashWords<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, level: L, hashes: &mut Vec<u64>) {
        level.hash_words(self.words, hashes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_loops::xxh3_short::BLOCK;
    use simtool_base::stable_hash::mix;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn words_of_every_length_hash_as_the_crate_does() {
        let text: Vec<u8> = (0..400_u32).map(|i| (i.wrapping_mul(167) >> 3) as u8).collect();
        let mut starts = Vec::new();
        let mut ends = Vec::new();
        for length in 1..=64_u32 {
            for offset in 0..9 {
                starts.push(MARGIN as u32 + 5 * length + offset - 5);
                ends.push(MARGIN as u32 + 6 * length + offset - 5);
            }
        }
        let text = [text, vec![7; 100]].concat();
        for &isa in Isa::available() {
            for words in [0, 1, 7, 8, 9, 23, starts.len()] {
                let mut hashes = vec![1, 2];
                hash_words(isa, &text, &starts[..words], &ends[..words], &mut hashes);
                assert_eq!(hashes.len(), words + 2);
                for word in 0..words {
                    let bytes = &text[starts[word] as usize..ends[word] as usize];
                    assert_eq!(hashes[word + 2], xxh3_64(bytes), "{isa} {}", bytes.len());
                }
            }
        }
    }

    #[test]
    fn mixed_lengths_hash_as_the_crate_does_at_every_count_around_a_block() {
        let text: Vec<u8> = (0..10_000_u64).map(|at| mix(at) as u8).collect();
        let length = |word: u64| match mix(word + 7) % 8 {
            // Every second 50 words are short, except one of them.
            _ if word / 50 % 2 == 1 && word % 50 != 33 => 1 + (mix(word) % 3) as u32,
            0 => 9 + (mix(word) % 24) as u32,
            _ => 1 + (mix(word) % 16) as u32,
        };
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for word in 0..3 * BLOCK as u64 {
            let start = MARGIN as u32 + (mix(word + 99) % 9900) as u32;
            starts.push(start);
            ends.push(start + length(word));
        }
        for &isa in Isa::available() {
            for words in (0..20).chain(BLOCK - 9..BLOCK + 9).chain([2 * BLOCK, 3 * BLOCK]) {
                let mut hashes = Vec::new();
                hash_words(isa, &text, &starts[..words], &ends[..words], &mut hashes);
                let bytes = |word: usize| &text[starts[word] as usize..ends[word] as usize];
                let expected: Vec<u64> = (0..words).map(|word| xxh3_64(bytes(word))).collect();
                assert_eq!(hashes, expected, "{isa}, {words} words");
            }
        }
    }

    #[test]
    fn words_without_a_margin_are_refused() {
        let text = [7_u8; 40];
        for &isa in Isa::available() {
            for (start, end) in [(15, 17), (17, 25), (16, 16), (15, 15), (18, 17), (16, u32::MAX)] {
                let refused = std::panic::catch_unwind(|| {
                    hash_words(isa, &text, &[start], &[end], &mut Vec::new());
                });
                assert!(refused.is_err(), "{isa} {start}..{end}");
            }
        }
    }
}
