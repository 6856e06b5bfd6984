//! Counts bits with AVX2, which has no instruction for it.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_set1_epi8, _mm256_setr_epi8,
    _mm256_shuffle_epi8, _mm256_srli_epi16,
};

/// Returns the number of set bits of each byte of `x`. It is the sum of the numbers for the lower and the upper four
/// bits, which a shuffle looks up.
#[target_feature(enable = "avx2")]
pub(super) fn bits_in_bytes(x: __m256i) -> __m256i {
    let counts = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let nibble = _mm256_set1_epi8(15);
    let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(x, nibble));
    let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(x), nibble));
    _mm256_add_epi8(low, high)
}
