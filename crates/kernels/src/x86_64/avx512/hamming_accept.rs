//! Checks candidate pairs with AVX-512: eight pairs of words are two gathers.

use crate::own_loops::hamming_accept::{PairTest, plain};
use std::arch::x86_64::{
    _MM_CMPINT_LT, _mm256_loadu_si256, _mm256_mask_cmp_epu32_mask, _mm256_set1_epi32,
    _mm512_i32gather_epi64, _mm512_mask_cmple_epu64_mask, _mm512_mask_test_epi64_mask,
    _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_storeu_si512, _mm512_testn_epi64_mask,
    _mm512_xor_si512,
};

/// Tests the candidate pairs of the fingerprints `words[rows[i]]` and `words[columns[i]]`, which have one 64-bit word
/// each. Calls `sink` with `rows[i]`, `columns[i]` and the number of differing bits of each pair that meets the
/// conditions of `test`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,popcnt")]
pub(super) fn accept_64(
    words: &[u64],
    rows: &[u32],
    columns: &[u32],
    test: &PairTest<'_, u64>,
    sink: &mut impl FnMut(u32, u32, u32),
) {
    let limit = _mm512_set1_epi64(test.reach.max_distance.into());
    let equal = _mm512_set1_epi64(test.equal.cast_signed());
    // The instruction reads indices as signed numbers, so longer arrays are compared by the plain loop.
    let length = if words.len() > i32::MAX as usize { 0 } else { words.len() as u32 };
    let end = _mm256_set1_epi32(length.cast_signed());
    let (row_steps, rest_rows) = rows.as_chunks::<8>();
    let (column_steps, rest_columns) = columns.as_chunks::<8>();
    for (rows, columns) in row_steps.iter().zip(column_steps) {
        // SAFETY: the chunk is a vector of eight numbers.
        let row = unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) };
        // SAFETY: as above.
        let column = unsafe { _mm256_loadu_si256(columns.as_ptr().cast()) };
        let inside = _mm256_mask_cmp_epu32_mask::<_MM_CMPINT_LT>(0xFF, row, end);
        if _mm256_mask_cmp_epu32_mask::<_MM_CMPINT_LT>(inside, column, end) != 0xFF {
            plain(words, rows, columns, test, sink);
            continue;
        }
        // SAFETY: the eight indices are below the length, which was checked above.
        let a = unsafe { _mm512_i32gather_epi64::<8>(row, words.as_ptr().cast()) };
        // SAFETY: as above.
        let b = unsafe { _mm512_i32gather_epi64::<8>(column, words.as_ptr().cast()) };
        let difference = _mm512_xor_si512(a, b);
        let distance = _mm512_popcnt_epi64(difference);
        let agree = _mm512_testn_epi64_mask(difference, equal);
        let mut accepted = _mm512_mask_cmple_epu64_mask(agree, distance, limit);
        for &mask in test.unequal {
            let mask = _mm512_set1_epi64(mask.cast_signed());
            accepted = _mm512_mask_test_epi64_mask(accepted, difference, mask);
        }
        if accepted == 0 {
            continue;
        }
        let mut distances = [0u64; 8];
        // SAFETY: the array is as long as the vector.
        unsafe { _mm512_storeu_si512(distances.as_mut_ptr().cast(), distance) };
        while accepted != 0 {
            let lane = accepted.trailing_zeros() as usize & 7;
            sink(rows[lane], columns[lane], distances[lane] as u32);
            accepted &= accepted - 1;
        }
    }
    plain(words, rest_rows, rest_columns, test, sink);
}
