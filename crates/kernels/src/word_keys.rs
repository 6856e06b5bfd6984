//! Makes a fixed-size key of every word: its bytes in lower case, zero-padded to 16, and a hash.
//!
//! For example, "Cat" becomes the bytes `c a t 0 0 …`. Keys are compared as two machine words, so a
//! look-up never touches the text again. A word of more than 16 letters has [`NO_KEY`], and its user
//! must look at the text.

use super::{Isa, Kind};

/// Letters that a key holds.
pub const KEY_LETTERS: usize = 16;

/// A word of up to 16 letters: lower case, zero-padded, as two little-endian numbers.
pub type WordKey = [u64; 2];

/// The key of a word that is too long for one. No other word has it, nor one with a first half of
/// zero.
pub const NO_KEY: WordKey = [0; 2];

/// The in-memory hash of a key. Not stored, not printed: it may change with any version.
///
/// One 64 × 64 → 128 bit product, folded.
#[inline(always)]
pub fn hash_key(key: WordKey) -> u64 {
    // Two odd constants from the digits of the square roots of 2 and 3.
    let product =
        u128::from(key[0] ^ 0x6a09_e667_f3bc_c909) * u128::from(key[1] ^ 0xbb67_ae85_84ca_a73b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Replaces the contents of `keys` and `hashes` with the keys and hashes of the words
/// `text[starts[i]..ends[i]]`, which are runs of ASCII letters.
///
/// # Panics
///
/// If a word is not inside the text.
pub fn word_keys(
    isa: Isa,
    text: &[u8],
    starts: &[u32],
    ends: &[u32],
    keys: &mut Vec<WordKey>,
    hashes: &mut Vec<u64>,
) {
    assert_eq!(starts.len(), ends.len(), "every word has a start and an end");
    keys.resize(starts.len(), [0; 2]);
    hashes.resize(starts.len(), 0);
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `runnable` says that this processor has the instructions.
        Kind::Avx512 => unsafe { avx512::keys(text, starts, ends, keys, hashes) },
        _ => portable::keys(text, starts, ends, keys, hashes),
    }
}

/// Makes the key of one word, byte by byte.
pub fn word_key(word: &[u8]) -> WordKey {
    if word.len() > KEY_LETTERS {
        return NO_KEY;
    }
    let mut bytes = [0; KEY_LETTERS];
    for (to, from) in bytes.iter_mut().zip(word) {
        *to = from.to_ascii_lowercase();
    }
    let (low, high) = bytes.split_at(8);
    [low, high].map(|half| half.iter().rev().fold(0, |key, &byte| (key << 8) | u64::from(byte)))
}

/// Returns the letters of a key, and how many they are.
pub fn key_letters(key: WordKey) -> ([u8; KEY_LETTERS], usize) {
    let mut bytes = [0; KEY_LETTERS];
    bytes[..8].copy_from_slice(&key[0].to_le_bytes());
    bytes[8..].copy_from_slice(&key[1].to_le_bytes());
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(KEY_LETTERS);
    (bytes, length)
}

mod portable {
    use super::{KEY_LETTERS, NO_KEY, WordKey, hash_key, word_key};

    const CASE: u64 = 0x2020_2020_2020_2020;

    /// The lowest `letters` bytes of a number.
    #[inline(always)]
    fn low_bytes(letters: usize) -> u64 {
        if letters >= 8 { u64::MAX } else { !(u64::MAX << (8 * letters)) }
    }

    pub(super) fn keys(
        text: &[u8],
        starts: &[u32],
        ends: &[u32],
        keys: &mut [WordKey],
        hashes: &mut [u64],
    ) {
        let words = starts.iter().zip(ends);
        for ((&start, &end), (key, hash)) in words.zip(keys.iter_mut().zip(hashes)) {
            let (start, length) = (start as usize, (end - start) as usize);
            *key = match text[start..].first_chunk::<KEY_LETTERS>() {
                _ if length > KEY_LETTERS => NO_KEY,
                Some(bytes) => {
                    let whole = u128::from_le_bytes(*bytes);
                    let low = low_bytes(length);
                    let high = low_bytes(length.saturating_sub(8));
                    [(whole as u64 | CASE) & low, ((whole >> 64) as u64 | CASE) & high]
                }
                // The last bytes of the text.
                None => word_key(&text[start..start + length]),
            };
            *hash = hash_key(*key);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{WordKey, hash_key};
    use std::arch::x86_64::{
        _bzhi_u32, _mm_cvtsi128_si64, _mm_extract_epi64, _mm_maskz_loadu_epi8, _mm_maskz_set1_epi8,
        _mm_or_si128,
    };

    /// # Safety
    ///
    /// The processor has AVX-512 BW and VL, and BMI2.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,sse4.1")]
    pub(super) unsafe fn keys(
        text: &[u8],
        starts: &[u32],
        ends: &[u32],
        keys: &mut [WordKey],
        hashes: &mut [u64],
    ) {
        let words = starts.iter().zip(ends);
        for ((&start, &end), (key, hash)) in words.zip(keys.iter_mut().zip(hashes)) {
            assert!(start <= end && end as usize <= text.len(), "a word lies in its text");
            let length = end - start;
            let mask = if length > 16 { 0 } else { _bzhi_u32(0xffff, length) as u16 };
            // SAFETY: the word starts inside the text.
            let at = unsafe { text.as_ptr().add(start as usize) };
            // SAFETY: only the bytes under the mask are read, and those are the word's.
            let bytes = unsafe { _mm_maskz_loadu_epi8(mask, at.cast()) };
            let lower = _mm_or_si128(bytes, _mm_maskz_set1_epi8(mask, 0x20));
            *key = [
                _mm_cvtsi128_si64(lower).cast_unsigned(),
                _mm_extract_epi64::<1>(lower).cast_unsigned(),
            ];
            *hash = hash_key(*key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word_positions::word_positions;
    use proptest::prelude::*;

    fn check(text: &[u8]) {
        for &isa in Isa::available() {
            let (mut starts, mut ends) = (Vec::new(), Vec::new());
            word_positions(Isa::PORTABLE, text, &mut starts, &mut ends);
            let (mut keys, mut hashes) = (vec![[1; 2]; 2], Vec::new());
            word_keys(isa, text, &starts, &ends, &mut keys, &mut hashes);
            for (i, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
                let word = &text[start as usize..end as usize];
                assert_eq!(keys[i], word_key(word), "{isa}");
                assert_eq!(hashes[i], hash_key(keys[i]), "{isa}");
                let (letters, length) = key_letters(keys[i]);
                assert_eq!(length, if word.len() > KEY_LETTERS { 0 } else { word.len() });
                assert!(letters[..length].eq_ignore_ascii_case(&word[..length]));
            }
        }
    }

    #[test]
    fn every_length_at_every_distance_from_the_end() {
        for length in 0..40 {
            for after in 0..20 {
                check(&[b"Q".repeat(length), b"-".repeat(after)].concat());
            }
        }
    }

    #[test]
    fn keys_order_like_the_words_when_read_as_big_endian() {
        let order = |word: &[u8]| word_key(word).map(u64::swap_bytes);
        let words: [&[u8]; 6] = [b"a", b"aa", b"ab", b"abcdefgh", b"abcdefghi", b"b"];
        assert!(words.is_sorted_by_key(|word| order(word)));
    }

    proptest! {
        #[test]
        fn random_texts_are_the_same(text in "[a-zA-Z]{0,30}([ .]{0,2}[a-zA-Z]{1,20}){0,12}") {
            check(text.as_bytes());
        }
    }
}
