//! Compares a fingerprint of one word with many by AVX2: four words are a vector.

use super::bit_counts::bits_in_bytes;
use crate::own_loops::hamming_scan::plain;
use std::arch::x86_64::{
    __m256i, _mm256_and_si256, _mm256_cmpgt_epi64, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_sad_epu8, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_xor_si256,
};

/// Returns the number of set bits of each 64-bit word.
#[target_feature(enable = "avx2")]
fn count_ones(x: __m256i) -> __m256i {
    _mm256_sad_epu8(bits_in_bytes(x), _mm256_setzero_si256())
}

/// Appends a hit, `row << 32 | distance`, for each row of the corpus within `max_distance` of `query`. Rows have one
/// 64-bit word.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn scan_64(corpus: &[u64], query: u64, max_distance: u32, hits: &mut Vec<u64>) {
    let x = _mm256_set1_epi64x(query.cast_signed());
    let limit = _mm256_set1_epi64x(i64::from(max_distance));
    let (steps, rest) = corpus.as_chunks::<8>();
    for (step, lines) in steps.iter().enumerate() {
        // SAFETY: the chunk is eight words, and a vector is four.
        let a = unsafe { _mm256_loadu_si256(lines.as_ptr().cast()) };
        // SAFETY: the last four of the same eight words.
        let b = unsafe { _mm256_loadu_si256(lines.as_ptr().add(4).cast()) };
        let far_a = _mm256_cmpgt_epi64(count_ones(_mm256_xor_si256(a, x)), limit);
        let far_b = _mm256_cmpgt_epi64(count_ones(_mm256_xor_si256(b, x)), limit);
        if _mm256_movemask_epi8(_mm256_and_si256(far_a, far_b)) != -1 {
            plain(lines, query, step as u64 * 8, max_distance, hits);
        }
    }
    plain(rest, query, (corpus.len() - rest.len()) as u64, max_distance, hits);
}
