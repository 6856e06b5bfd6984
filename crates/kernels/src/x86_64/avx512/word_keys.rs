//! Makes the keys of words with AVX-512: a masked load reads the bytes of a word and no others.

use crate::own_loops::word_keys::{WordKey, WordSpans, hash_key};
use std::arch::x86_64::{
    _bzhi_u32, _mm_cvtsi128_si64, _mm_extract_epi64, _mm_maskz_loadu_epi8, _mm_maskz_set1_epi8,
    _mm_or_si128,
};

/// Writes the key of each word, which is its letters in lower case as two numbers, to `keys`.
/// Writes the hash of the key to `hashes`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,sse4.1")]
pub(super) fn word_keys(spans: WordSpans<'_>, keys: &mut [WordKey], hashes: &mut [u64]) {
    let WordSpans { text, starts, ends } = spans;
    let words = starts.iter().zip(ends);
    for ((&start, &end), (key, hash)) in words.zip(keys.iter_mut().zip(hashes)) {
        assert!(start <= end && end as usize <= text.len(), "a word lies in its text");
        let length = end - start;
        let mask = if length > 16 { 0 } else { _bzhi_u32(0xffff, length) as u16 };
        // SAFETY: the word starts inside the text or at its end.
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
